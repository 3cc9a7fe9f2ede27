// Package problem holds the errors that clients see: RFC 9457 problem documents with a stable code.
package problem

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	Internal             Code = "internal"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	QueryMalformed       Code = "query_malformed"
	ParameterUnknown     Code = "parameter_unknown"
	ParameterRepeated    Code = "parameter_repeated"
	ParameterEmpty       Code = "parameter_empty"
	LimitInvalid         Code = "limit_invalid"
	SortUnknown          Code = "sort_unknown"
	CursorMalformed      Code = "cursor_malformed"
	CursorMismatch       Code = "cursor_mismatch"
	ZoneInvalid          Code = "tz_invalid"
	FormatUnknown        Code = "format_unknown"
	BodyMalformed        Code = "body_malformed"
	BodyTooLarge         Code = "body_too_large"
	BodyMemberInvalid    Code = "body_member_invalid"
	FieldUnknown         Code = "field_unknown"
	FieldRepeated        Code = "field_repeated"
	FieldReadOnly        Code = "field_read_only"
	FieldType            Code = "field_type"    // a value of another type, or none that the type can hold
	FieldInvalid         Code = "field_invalid" // a value that breaks a rule
	FieldText            Code = "field_text"    // a text with NUL or a lone surrogate
	ItemsInvalid         Code = "items_invalid" // of a request of many
	UserRequired         Code = "user_required"
	NotYours             Code = "not_yours"
	MediaTypeUnsupported Code = "media_type_unsupported"
	PreconditionRequired Code = "precondition_required"
	PreconditionFailed   Code = "precondition_failed"
	IfMatchMalformed     Code = "if_match_malformed"
	StatusMoveNotAllowed Code = "status_move_not_allowed"
	SourceTaken          Code = "source_taken"
	KeyMalformed         Code = "idempotency_key_malformed"
	KeyReused            Code = "idempotency_key_reused"
	KeyInUse             Code = "idempotency_key_in_use"
	Contended            Code = "contended"
	NotSupported         Code = "not_supported" // by the database
	DatabaseUnavailable  Code = "database_unavailable"
	QueryTimeout         Code = "query_timeout"
	NotReady             Code = "not_ready"
	ClientClosedRequest  Code = "client_closed_request"
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
	Detail     string            // for people: what is wrong and what to do
	Errors     []FieldError      // every wrong parameter or field, the first of them giving Code
	Header     map[string]string // more of the answer's headers, such as ETag; nil where there are none
	RetryAfter time.Duration     // zero where trying again does not help
	Cause      error             // never shown to clients
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

// NoObject is the problem of an id under which there is nothing.
func NoObject(id string) *Problem {
	return New(NotFound, "There is no object with the id %q.", Short(id))
}

// Invalid makes one problem of all wrong fields. It returns nil where there are none.
func Invalid(fields []FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	detail := fields[0].Message
	if len(fields) > 1 {
		detail = fmt.Sprintf("%d things are wrong. The first: %s", len(fields), detail)
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

// statuses is the one table from code to HTTP status.
var statuses = [...]struct {
	status int
	codes  []Code
}{
	{http.StatusBadRequest, []Code{BodyMalformed, IfMatchMalformed, KeyMalformed}},
	{http.StatusForbidden, []Code{UserRequired, NotYours}},
	{http.StatusNotFound, []Code{NotFound}},
	{http.StatusMethodNotAllowed, []Code{MethodNotAllowed}},
	{http.StatusConflict, []Code{StatusMoveNotAllowed, SourceTaken, KeyInUse, Contended}},
	{http.StatusPreconditionFailed, []Code{PreconditionFailed}},
	{http.StatusRequestEntityTooLarge, []Code{BodyTooLarge}},
	{http.StatusUnsupportedMediaType, []Code{MediaTypeUnsupported}},
	{http.StatusUnprocessableEntity, []Code{
		QueryMalformed, ParameterUnknown, ParameterRepeated, ParameterEmpty, LimitInvalid, SortUnknown, CursorMalformed,
		CursorMismatch, ZoneInvalid, FormatUnknown, BodyMemberInvalid, FieldUnknown, FieldRepeated, FieldReadOnly,
		FieldType, FieldInvalid, FieldText, ItemsInvalid, KeyReused,
	}},
	{http.StatusPreconditionRequired, []Code{PreconditionRequired}},
	{StatusClientClosed, []Code{ClientClosedRequest}},
	{http.StatusNotImplemented, []Code{NotSupported}},
	{http.StatusServiceUnavailable, []Code{DatabaseUnavailable, QueryTimeout, NotReady}},
}

// Status is the HTTP status of the problem.
func (p *Problem) Status() int {
	for _, group := range statuses {
		if slices.Contains(group.codes, p.Code) {
			return group.status
		}
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
