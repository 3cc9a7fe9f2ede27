package listing

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"catalogue/indexes"
	"catalogue/internal/httpserver"
	"catalogue/internal/problem"
	"catalogue/querybuilder"
)

const paramFormat = "format"

// The forms in which a schema is shown.
const (
	formatReact  = "react"
	formatJQuery = "jquery"
)

// document is an answer that is the same as long as the process lives.
type document struct {
	body []byte
	etag string
}

// RegisterFields serves what a list may be filtered by, at path: as the array that react-querybuilder takes as its
// fields, or with format=jquery as the filters of jQuery QueryBuilder. declared tells which fields an index serves.
func RegisterFields(r gin.IRoutes, path string, schema querybuilder.Schema, declared []indexes.Index) error {
	indexed := func(field string) bool {
		for _, i := range declared {
			if i.Keys[0].Key == field {
				return true
			}
		}
		return false
	}
	react, err := newDocument(schema.ReactFields(indexed))
	if err != nil {
		return err
	}
	jquery, err := newDocument(schema.JQueryFilters(indexed))
	if err != nil {
		return err
	}
	forms := map[string]document{"": react, formatReact: react, formatJQuery: jquery}
	r.GET(path, httpserver.Handle(func(c *gin.Context) error { return serveFields(c, forms) }))
	return nil
}

func newDocument(v any) (document, error) {
	body, err := httpserver.EncodeJSON(v)
	if err != nil {
		return document{}, err
	}
	sum := sha256.Sum256(body)
	return document{body: body, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}, nil
}

func serveFields(c *gin.Context, forms map[string]document) error {
	q := vocabulary{plain: []string{paramFormat}}.fromQuery(c.Request.URL.Query())
	doc, known := forms[q.texts[paramFormat]]
	if !known {
		q.wrong = append(q.wrong, problem.FieldError{
			Field: paramFormat, Code: problem.FormatUnknown, Allowed: []string{formatReact, formatJQuery},
			Message: "format must be react or jquery.",
		})
	}
	if err := problem.Invalid(q.wrong); err != nil {
		return err
	}
	c.Header("ETag", doc.etag)
	c.Header("Cache-Control", "no-cache") // keep it, but ask
	if matches(c.GetHeader("If-None-Match"), doc.etag) {
		c.Status(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return nil
	}
	c.Data(http.StatusOK, "application/json", doc.body)
	return nil
}

// matches compares weakly (RFC 9110, 13.1.2): proxies that compress mark tags as weak.
func matches(header, etag string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == etag || tag == "*" {
			return true
		}
	}
	return false
}
