// Package problem holds the errors that clients see: RFC 9457 problem documents with a stable code.
package problem

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// ContentType is the media type of a problem document.
const ContentType = "application/problem+json"

// Code names a kind of problem for programs. Codes never change their meaning.
type Code string

// The codes; Status has the HTTP status of each.
const (
	Internal            Code = "internal"
	NotFound            Code = "not_found"
	MethodNotAllowed    Code = "method_not_allowed"
	QueryMalformed      Code = "query_malformed"
	ParameterUnknown    Code = "parameter_unknown"
	ParameterRepeated   Code = "parameter_repeated"
	ParameterEmpty      Code = "parameter_empty"
	LimitInvalid        Code = "limit_invalid"
	SortUnknown         Code = "sort_unknown"
	CursorMalformed     Code = "cursor_malformed"
	CursorMismatch      Code = "cursor_mismatch"
	ZoneInvalid         Code = "tz_invalid"
	FormatUnknown       Code = "format_unknown"
	BodyMalformed       Code = "body_malformed"
	BodyTooLarge        Code = "body_too_large"
	BodyMemberInvalid   Code = "body_member_invalid"
	DatabaseUnavailable Code = "database_unavailable"
	QueryTimeout        Code = "query_timeout"
	NotReady            Code = "not_ready"
	ClientClosedRequest Code = "client_closed_request"
)

// rulePrefix begins the codes of mistakes in a filter, which package querybuilder names.
const rulePrefix = "rule_"

// StatusClientClosed is answered, to the log only, where the client left before the answer (as nginx does).
const StatusClientClosed = 499

// FieldError is one wrong parameter or field.
type FieldError struct {
	Field   string   `json:"field"`
	Code    Code     `json:"code"`
	Message string   `json:"message"`
	Allowed []string `json:"allowed,omitempty"` // what would have been right, where that is a list
}

// Problem is an error that a client may see. Its cause is for the log alone.
type Problem struct {
	Code       Code
	Detail     string        // for people: what is wrong and what to do
	Errors     []FieldError  // every wrong parameter or field, the first of them giving Code
	RetryAfter time.Duration // zero where trying again does not help
	Cause      error         // never shown to clients
}

// maxShort is how much of a text from outside is said back, in bytes.
const maxShort = 100

// Short cuts a text from outside to what a message can hold.
func Short(s string) string {
	if len(s) <= maxShort {
		return s
	}
	end := maxShort
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// New makes a problem with a text for people.
func New(code Code, format string, args ...any) *Problem {
	return &Problem{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Invalid makes one problem of all wrong fields. It returns nil where there are none.
func Invalid(fields []FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	detail := fields[0].Message
	if len(fields) > 1 {
		detail = fmt.Sprintf("%d parameters are wrong. The first: %s", len(fields), detail)
	}
	return &Problem{Code: fields[0].Code, Detail: detail, Errors: fields}
}

// Of finds the problem in err, or wraps err as an internal one with a fixed text, so that no cause leaks out.
func Of(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return &Problem{Code: Internal, Detail: "The server failed to answer; the log has the cause under this request id.", Cause: err}
}

// Status is the HTTP status of the problem: the one table from code to status.
func (p *Problem) Status() int {
	switch p.Code {
	case NotFound:
		return http.StatusNotFound
	case MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case QueryMalformed, ParameterUnknown, ParameterRepeated, ParameterEmpty,
		LimitInvalid, SortUnknown, CursorMalformed, CursorMismatch, ZoneInvalid, FormatUnknown, BodyMemberInvalid:
		return http.StatusUnprocessableEntity
	case BodyMalformed:
		return http.StatusBadRequest
	case BodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case DatabaseUnavailable, QueryTimeout, NotReady:
		return http.StatusServiceUnavailable
	case ClientClosedRequest:
		return StatusClientClosed
	case Internal:
		return http.StatusInternalServerError
	}
	if strings.HasPrefix(string(p.Code), rulePrefix) {
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

func (p *Problem) Error() string {
	if p.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", p.Code, p.Detail, p.Cause)
	}
	return fmt.Sprintf("%s: %s", p.Code, p.Detail)
}

// Unwrap gives the cause.
func (p *Problem) Unwrap() error { return p.Cause }
