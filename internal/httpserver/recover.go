package httpserver

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"
)

// panicError is a panic on its way to the log.
type panicError struct {
	value any
	stack []byte
}

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// recoverPanics turns a panic into an internal error. Where a part of the answer is out already net/http cuts the
// connection, since less was written than Content-Length says.
func recoverPanics() gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			value := recover()
			if value == nil {
				return
			}
			if err, ok := value.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(value) // net/http's own way to cut a connection
			}
			Fail(c, panicError{value: value, stack: debug.Stack()})
		}()
		c.Next()
	}
}
