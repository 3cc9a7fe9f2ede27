package feed

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"catalogue/internal/problem"
)

// The parameters of a feed. Others are accepted and mean nothing.
const (
	paramOffset     = "offset"
	paramLimit      = "limit"
	paramDescending = "descending"
	paramFields     = "opt_fields"
	paramMode       = "mode"
)

// The values of the parameter mode that are not the default.
const (
	modeTest = "test"
	modeAll  = "_all_"
)

var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

// request is a page that a client asks for.
type request struct {
	offset     offset
	sent       string // the offset as it came
	descending bool
	limit      int
	limitSent  bool
	mode       string // as it came
	fields     []field
}

// parse reads the parameters; choose finds the fields that a client names. A wrong offset is reported before a wrong limit.
func parse(query url.Values, choose func(names string) []field) (request, *failure) {
	r := request{
		sent: last(query, paramOffset), descending: last(query, paramDescending) != "", limit: defaultLimit,
		mode: last(query, paramMode), fields: choose(last(query, paramFields)),
	}
	var ok bool
	if r.offset, ok = parseOffset(r.sent); !ok {
		return request{}, invalidOffset(r.sent)
	}
	if text := last(query, paramLimit); text != "" {
		if r.limit, ok = parseLimit(text); !ok {
			return request{}, &failure{
				status: http.StatusBadRequest, location: inQuery, name: paramLimit,
				description: "The limit is not a whole number: " + problem.Short(text),
			}
		}
		r.limitSent = true
	}
	return r, nil
}

// last is the value that counts where a parameter is repeated. One that is empty is absent.
func last(query url.Values, name string) string {
	values := query[name]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// parseLimit brings any whole number, however large, into the bounds of a page.
func parseLimit(text string) (int, bool) {
	if !wholeNumber.MatchString(text) {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil { // its digits are checked: it is too large
		n = maxLimit
		if text[0] == '-' {
			n = 1
		}
	}
	return min(max(n, 1), maxLimit), true
}

// feeds are what the mode asks for.
func (r request) feeds() []string {
	switch r.mode {
	case modeTest:
		return []string{feedTest}
	case modeAll:
		return []string{feedLive, feedTest}
	default:
		return []string{feedLive}
	}
}

// question is the request without its form.
func (r request) question(horizon float64) question {
	return question{from: r.offset, descending: r.descending, limit: r.limit, horizon: horizon}
}

// link is a page that the answer leads to.
type link struct {
	Offset string `json:"offset"`
	Path   string `json:"path"`
	URI    string `json:"uri"`
}

// link makes the link to the page at an offset, with the parameters that are in force. path is that of the feed, base
// what stands before it.
func (r request) link(base, path, offset string, descending bool) *link {
	query := url.Values{}
	if r.mode != "" {
		query.Set(paramMode, r.mode)
	}
	if offset != "" {
		query.Set(paramOffset, offset)
	}
	if r.limitSent {
		query.Set(paramLimit, strconv.Itoa(r.limit))
	}
	if descending {
		query.Set(paramDescending, "1")
	}
	if len(r.fields) > 0 {
		names := make([]string, len(r.fields))
		for i, f := range r.fields {
			names[i] = f.name
		}
		query.Set(paramFields, strings.Join(names, ","))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return &link{Offset: offset, Path: path, URI: base + path}
}

// links are the pages on both sides: nil where there is none. A page without rows keeps the offset as it came, but on a
// walk backward it is the end.
func (r request) links(base, path string, p page) (next, prev *link) {
	nextOffset, prevOffset := r.sent, r.sent
	if len(p.rows) > 0 {
		nextOffset, prevOffset = p.next.String(), p.prev.String()
	}
	if len(p.rows) > 0 || !r.descending {
		next = r.link(base, path, nextOffset, r.descending)
	}
	if r.descending || r.sent != "" {
		prev = r.link(base, path, prevOffset, !r.descending)
	}
	return next, prev
}
