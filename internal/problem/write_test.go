package problem_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/problem"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	p := problem.Invalid([]problem.FieldError{
		{Field: "sort", Code: problem.SortUnknown, Message: `"<b>" & more`, Allowed: []string{"name", "-name"}},
		{Field: "limit", Code: problem.LimitInvalid, Message: "no"},
	})
	w := httptest.NewRecorder()

	problem.Write(w, problem.Of(p), "/creatives", "r1")

	require.Equal(t, http.StatusUnprocessableEntity, w.Code)
	require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	require.Equal(t, strconv.Itoa(w.Body.Len()), w.Header().Get("Content-Length"))
	require.Empty(t, w.Header().Get("Retry-After"))
	require.JSONEq(t, `{
		"type": "about:blank", "title": "Unprocessable Entity", "status": 422, "code": "sort_unknown",
		"detail": "2 things are wrong. The first: \"<b>\" & more", "instance": "/creatives", "request_id": "r1",
		"errors": [
			{"field": "sort", "code": "sort_unknown", "message": "\"<b>\" & more", "allowed": ["name", "-name"]},
			{"field": "limit", "code": "limit_invalid", "message": "no"}
		]}`, w.Body.String())
	require.Contains(t, w.Body.String(), "<b>", "HTML escaping is off")
}

func TestWriteHidesTheCause(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	problem.Write(w, problem.Of(errors.New("dial tcp 10.1.2.3: refused")), "/creatives", "r1")
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.NotContains(t, w.Body.String(), "10.1.2.3")
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	problem.Write(w, &problem.Problem{Code: problem.QueryTimeout, RetryAfter: 1100 * time.Millisecond}, "/", "")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "2", w.Header().Get("Retry-After"))
}

func TestWriteStatusKeepsTheCode(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	problem.WriteStatus(w, problem.New(problem.Internal, "x"), http.StatusServiceUnavailable, "/readyz", "")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.JSONEq(t, `{"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": "x",
		"instance": "/readyz", "code": "internal"}`, w.Body.String())
}
