package editing

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"catalogue/internal/changes"
	"catalogue/internal/httpserver"
	"catalogue/internal/idempotency"
	"catalogue/internal/listing"
)

// answer is what a client gets, in the form in which it may be kept.
type answer = idempotency.Answer

// createdAnswer shows an object that was created at a place.
func (e *endpoint[T]) createdAnswer(at place, saved changes.Saved[T]) (answer, error) {
	out, err := objectAnswer(http.StatusCreated, saved)
	if err != nil {
		return answer{}, err
	}
	out.Header.Set("Location", e.PublicURL+at.path+"/"+saved.ID.Hex())
	return out, nil
}

func objectAnswer[T any](status int, saved changes.Saved[T]) (answer, error) {
	body, err := encode(listing.Single[T]{Data: saved.Item})
	if err != nil {
		return answer{}, err
	}
	out := answer{Status: status, Header: http.Header{}, Body: body}
	if saved.Rev > 0 {
		out.Header.Set("ETag", listing.ETag(&saved.Rev))
	}
	return out, nil
}

// encode writes JSON as answers have it, without their line feed: it may become a part of another.
func encode(v any) ([]byte, error) {
	body, err := httpserver.EncodeJSON(v)
	return bytes.TrimSuffix(body, []byte("\n")), err
}

func respond(c *gin.Context, a answer) error {
	for name, values := range a.Header {
		c.Writer.Header()[name] = values
	}
	httpserver.WriteBody(c.Writer, a.Status, append(slices.Clip(a.Body), '\n'))
	return nil
}
