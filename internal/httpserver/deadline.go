package httpserver

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"
)

// answerMargin is what is left of the request's time when its context ends: the answer that the time is up has to be
// out inside it.
const answerMargin = 250 * time.Millisecond

// deadline ends the context of each request a little before its time is up. Handlers hand that context to the
// database, which keeps it.
func deadline(timeout time.Duration) gin.HandlerFunc {
	timeout -= min(answerMargin, timeout/4)
	return func(c *gin.Context) {
		whole := c.Request
		ctx, cancel := context.WithTimeout(whole.Context(), timeout)
		defer func() {
			cancel()
			c.Request = whole // whoever looks later shall see whether the client left, not that we are done
		}()
		c.Request = whole.WithContext(ctx)
		c.Next()
	}
}
