package listing

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"catalogue/internal/problem"
	"catalogue/pagination"
)

// maxUnknown is how many unknown parameters are named.
const maxUnknown = 20

// The parameters of every list.
const (
	paramSort   = "sort"
	paramLimit  = "limit"
	paramCursor = "cursor"
)

var parameters = [...]string{paramSort, paramLimit, paramCursor}

// request is what the parameters of a request ask for.
type request struct {
	order  pagination.Order
	limit  int
	cursor *pagination.Cursor // nil on the first page
}

// parse reads the parameters. The error names every wrong one.
func parse(query url.Values, sorts pagination.Sorts, standard pagination.Order, keys pagination.Keyring) (request, error) {
	req := request{order: standard, limit: pagination.DefaultLimit}
	wrong := unusable(query)
	check := func(name string, read func(value string) *problem.FieldError) {
		values, given := query[name]
		if !given || len(values) != 1 || values[0] == "" {
			return // absent, or reported already
		}
		if e := read(values[0]); e != nil {
			wrong = append(wrong, *e)
		}
	}
	check(paramSort, func(v string) *problem.FieldError { return readSort(v, sorts, &req.order) })
	check(paramLimit, func(v string) *problem.FieldError { return readLimit(v, &req.limit) })
	check(paramCursor, func(v string) *problem.FieldError { return readCursor(v, keys, &req.cursor) })
	slices.SortStableFunc(wrong, func(a, b problem.FieldError) int { return rank(a.Field) - rank(b.Field) })
	return req, problem.Invalid(wrong)
}

// rank puts errors into the order of the documentation, unknown parameters last.
func rank(field string) int {
	if i := slices.Index(parameters[:], field); i >= 0 {
		return i
	}
	return len(parameters)
}

// unusable finds the parameters that are unknown, repeated or empty.
func unusable(query url.Values) []problem.FieldError {
	var wrong []problem.FieldError
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	slices.Sort(names)
	unknown := 0
	for _, name := range names {
		values := query[name]
		e := problem.FieldError{Field: name}
		switch {
		case !slices.Contains(parameters[:], name):
			if unknown++; unknown > maxUnknown {
				continue
			}
			e.Field = problem.Short(name)
			e.Code = problem.ParameterUnknown
			e.Message = fmt.Sprintf("There is no parameter %q; this list has %s.", problem.Short(name), strings.Join(parameters[:], ", "))
			e.Allowed = parameters[:]
		case len(values) > 1:
			e.Code = problem.ParameterRepeated
			e.Message = fmt.Sprintf("%s is given %d times; give it once.", name, len(values))
		case values[0] == "":
			e.Code = problem.ParameterEmpty
			e.Message = name + " is empty; leave it out or give it a value."
		default:
			continue
		}
		wrong = append(wrong, e)
	}
	return wrong
}

func readSort(value string, sorts pagination.Sorts, into *pagination.Order) *problem.FieldError {
	order, ok := sorts.Parse(value)
	if !ok {
		return &problem.FieldError{
			Field: paramSort, Code: problem.SortUnknown, Allowed: sorts.Allowed(),
			Message: fmt.Sprintf("There is no sort %q; see the allowed ones.", problem.Short(value)),
		}
	}
	*into = order
	return nil
}

// readLimit takes plain digits only: no sign, no leading zero, no other spelling of a number.
func readLimit(value string, into *int) *problem.FieldError {
	n, err := strconv.Atoi(value)
	if err != nil || strconv.Itoa(n) != value || n < 1 || n > pagination.MaxLimit {
		return &problem.FieldError{
			Field: paramLimit, Code: problem.LimitInvalid,
			Message: fmt.Sprintf("limit must be a whole number from 1 to %d.", pagination.MaxLimit),
		}
	}
	*into = n
	return nil
}

func readCursor(value string, keys pagination.Keyring, into **pagination.Cursor) *problem.FieldError {
	cursor, err := keys.Decode(value)
	if err != nil {
		return &problem.FieldError{
			Field: paramCursor, Code: problem.CursorMalformed,
			Message: "This service did not issue the cursor; start again without one.",
		}
	}
	*into = &cursor
	return nil
}

// checkCursor refuses a cursor that was issued for something else than this request.
func checkCursor(cursor *pagination.Cursor, scope pagination.Scope, order pagination.Order) error {
	if cursor == nil {
		return nil
	}
	differs := cursor.Mismatches(scope, order, "")
	if len(differs) == 0 && cursor.Fits(order.Kind) {
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
