package listing

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"catalogue/internal/instant"
	"catalogue/internal/problem"
	"catalogue/pagination"
	"catalogue/querybuilder"
)

// request is a question that was understood.
type request struct {
	order  pagination.Order
	limit  int
	cursor *pagination.Cursor // nil on the first page
	filter querybuilder.Filter
	digest string // of the filter's meaning, empty without one
}

// now is the moment that the filter is compiled for: a relative one keeps that of its first page throughout a walk. It
// is zero for a filter that does not depend on it.
func (r request) now(clock func() time.Time) time.Time {
	switch {
	case !r.filter.Relative():
		return time.Time{}
	case r.cursor != nil:
		return time.UnixMilli(r.cursor.Now()).UTC()
	default:
		return clock().UTC().Truncate(time.Minute)
	}
}

// understand reads the texts of a question. The error names every mistake.
func (e *endpoint[T]) understand(q question) (request, error) {
	req := request{order: e.list.Default, limit: pagination.DefaultLimit}
	wrong := mistakes{vocabulary: e.words, list: q.wrong}
	if text, ok := q.texts[paramSort]; ok {
		wrong.add(readSort(text, e.list.Sorts, &req.order))
	}
	if text, ok := q.texts[paramLimit]; ok {
		wrong.add(readLimit(text, &req.limit))
	}
	if text, ok := q.texts[paramCursor]; ok {
		wrong.add(readCursor(text, e.Keys, &req.cursor))
	}
	zone := time.UTC
	if text, ok := q.texts[paramZone]; ok {
		wrong.add(readZone(text, &zone))
	}
	wrong.addAll(e.readFilter(q, zone, &req.filter))
	req.digest = req.filter.Digest()
	return req, wrong.err()
}

// readFilter puts the filter and the short forms of a question together.
func (e *endpoint[T]) readFilter(q question, zone *time.Location, into *querybuilder.Filter) []problem.FieldError {
	size := len(q.texts[paramFilter])
	for _, name := range q.short {
		size += len(q.texts[name])
	}
	if size > querybuilder.MaxBytes {
		return []problem.FieldError{{
			Field: paramFilter, Code: problem.Code(querybuilder.CodeLimit),
			Message: fmt.Sprintf("The filter and the short parameters are longer than %d bytes together.", querybuilder.MaxBytes),
		}}
	}
	var rules []querybuilder.Rule
	var faults querybuilder.Errors
	if text, ok := q.texts[paramFilter]; ok {
		rule, err := querybuilder.Decode([]byte(text))
		faults = append(faults, faultsOf(err)...)
		rules = append(rules, rule)
	}
	for _, name := range q.short {
		rule, err := e.list.Fields.Short(name, q.texts[name])
		faults = append(faults, faultsOf(err)...)
		rules = append(rules, rule)
	}
	filter, err := e.list.Fields.Check(querybuilder.Join(rules...), zone)
	faults = append(faults, faultsOf(err)...)
	*into = filter
	out := make([]problem.FieldError, 0, len(faults))
	for _, f := range faults {
		field := f.Path
		if field == "" {
			field = paramFilter
		}
		out = append(out, problem.FieldError{Field: field, Code: problem.Code(f.Code), Message: f.Message, Allowed: f.Allowed})
	}
	return out
}

func faultsOf(err error) querybuilder.Errors {
	faults, _ := errors.AsType[querybuilder.Errors](err)
	return faults
}

func readSort(text string, sorts pagination.Sorts, into *pagination.Order) *problem.FieldError {
	order, ok := sorts.Parse(text)
	if !ok {
		return &problem.FieldError{
			Field: paramSort, Code: problem.SortUnknown, Allowed: sorts.Allowed(),
			Message: fmt.Sprintf("There is no sort %q; see the allowed ones.", problem.Short(text)),
		}
	}
	*into = order
	return nil
}

// readLimit takes plain digits only: no sign, no leading zero, no other spelling of a number.
func readLimit(text string, into *int) *problem.FieldError {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < 1 || n > pagination.MaxLimit {
		return &problem.FieldError{
			Field: paramLimit, Code: problem.LimitInvalid,
			Message: fmt.Sprintf("limit must be a whole number from 1 to %d.", pagination.MaxLimit),
		}
	}
	*into = n
	return nil
}

func readCursor(text string, keys pagination.Keyring, into **pagination.Cursor) *problem.FieldError {
	cursor, err := keys.Decode(text)
	if err != nil {
		return &problem.FieldError{
			Field: paramCursor, Code: problem.CursorMalformed,
			Message: "This service did not issue the cursor; start again without one.",
		}
	}
	*into = &cursor
	return nil
}

func readZone(text string, into **time.Location) *problem.FieldError {
	zone, err := instant.ParseZone(text)
	if err != nil {
		return &problem.FieldError{
			Field: paramZone, Code: problem.ZoneInvalid,
			Message: "tz must be a name of the zone database such as Europe/Kyiv, UTC, or an offset such as +02:00.",
		}
	}
	*into = zone
	return nil
}

// checkCursor refuses a cursor that was issued for something else than this request.
func checkCursor(req request, scope pagination.Scope) error {
	if req.cursor == nil {
		return nil
	}
	differs := req.cursor.Mismatches(scope, req.order, req.digest)
	if len(differs) == 0 && req.cursor.Fits(req.order.Kind) {
		return nil
	}
	if len(differs) == 0 {
		differs = []string{paramSort}
	}
	return problem.Invalid([]problem.FieldError{{
		Field: paramCursor, Code: problem.CursorMismatch,
		Message: fmt.Sprintf("The cursor was issued for another %s; repeat the parameters of its page, or start again without it.",
			strings.Join(differs, " and another ")),
	}})
}
