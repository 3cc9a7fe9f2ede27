package httpserver

import (
	"context"
	"net/http"
)

type headKey struct{}

// headAsGet answers HEAD by the handler of GET, for every route. net/http drops the body itself, as it looks at the
// request that came in, and keeps the Content-Length.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(context.WithValue(r.Context(), headKey{}, true))
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// isHead tells the log the method that came in.
func isHead(ctx context.Context) bool { return ctx.Value(headKey{}) != nil }
