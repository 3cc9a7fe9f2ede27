package httpserver

import (
	"net/url"

	"github.com/gin-gonic/gin"

	"catalogue/internal/problem"
)

// strictQuery refuses a query that Go cannot parse. The standard library would drop the parts that it does not
// understand without a word, and a list would answer with its first page.
// Handlers of foreign routes look for themselves.
func strictQuery(foreign Foreign) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.FullPath() == "" {
			return // an unknown route or method is the first thing to tell
		}
		if foreign.covers(c.FullPath()) {
			return
		}
		if _, err := url.ParseQuery(c.Request.URL.RawQuery); err != nil {
			Fail(c, &problem.Problem{
				Code: problem.QueryMalformed, Cause: err,
				Detail: "The query cannot be read: parameters are separated by & and percent-encoded.",
			})
		}
	}
}
