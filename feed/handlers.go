package feed

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/httpserver"
	"catalogue/internal/strictbson"
)

// itemSize is about how long an item is, in bytes, so that an answer is allocated once.
const itemSize = 128

// Services are what all feeds share.
type Services struct {
	Ordering Ordering
	Limiter  *Limiter // nil for none
	// PublicURL is the address that clients reach the service at, without a slash at its end. Empty: the request's Host
	// over http.
	PublicURL string
	Logger    *slog.Logger
}

// endpoint is one feed.
type endpoint[T any] struct {
	Services
	shape shape[T]
	path  string
	store *Store
}

// Register serves a feed and its single objects, at Prefix/{Path} and Prefix/{Path}/:id.
func Register[T any](r gin.IRoutes, s Services, resource Resource[T], store *Store) {
	e := &endpoint[T]{Services: s, shape: newShape(resource.Decoder), path: Prefix + "/" + resource.Path, store: store}
	r.GET(e.path, e.handle(e.list))
	r.GET(e.path+"/:id", e.handle(e.detail))
}

// handle answers with the body that answer makes, or with the failure. The rate limit comes first, before any work.
func (e *endpoint[T]) handle(answer func(c *gin.Context, query url.Values) ([]byte, *failure)) gin.HandlerFunc {
	return func(c *gin.Context) {
		if wait, ok := e.Limiter.allow(c.ClientIP()); !ok {
			tooMany(wait).write(c.Writer)
			return
		}
		body, failure := e.parsed(c, answer)
		if failure == nil {
			httpserver.WriteBody(c.Writer, http.StatusOK, body)
			return
		}
		fail(c, failure)
	}
}

// Fail answers with an error in the feed's shape, for what stands before its handlers.
func Fail(c *gin.Context, err error) { fail(c, failed(err)) }

func fail(c *gin.Context, f *failure) {
	if f.cause != nil {
		_ = c.Error(f.cause) // for the log; it returns its argument
	}
	f.write(c.Writer)
}

func (e *endpoint[T]) parsed(
	c *gin.Context, answer func(c *gin.Context, query url.Values) ([]byte, *failure),
) ([]byte, *failure) {
	query, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return nil, malformedQuery()
	}
	return answer(c, query)
}

// list answers with a page.
func (e *endpoint[T]) list(c *gin.Context, query url.Values) ([]byte, *failure) {
	req, wrong := parse(query, e.shape.choose)
	if wrong != nil {
		return nil, wrong
	}
	ctx := c.Request.Context()
	page, err := e.read(ctx, req)
	if err != nil {
		return nil, failed(err)
	}
	next, prev := req.links(e.base(c.Request), e.path, page)
	body, err := e.encode(ctx, req.fields, page.rows, next, prev)
	if err != nil {
		return nil, failed(err)
	}
	return body, nil
}

func (e *endpoint[T]) read(ctx context.Context, req request) (page, error) {
	horizon, err := e.Ordering.Horizon(ctx, Walk{Descending: req.descending, First: req.offset.form == formBegin})
	if err != nil {
		return page{}, err
	}
	feeds, fields := req.feeds(), projection(req.fields)
	return readPage(req.question(horizon), func(s span, n int, placesOnly bool) ([]row, error) {
		if placesOnly {
			return e.store.read(ctx, feeds, s, n, places())
		}
		return e.store.read(ctx, feeds, s, n, fields)
	})
}

// encode writes {"data": [...], "next_page": {...}, "prev_page": {...}}, the items straight from their rows.
func (e *endpoint[T]) encode(ctx context.Context, fields []field, rows []row, next, prev *link) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(itemSize * (len(rows) + 1) * (1 + len(fields)))
	out.WriteString(`{"data":[`)
	items := e.shape.writer(&out, fields)
	for i, r := range rows {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := e.item(ctx, items, r); err != nil {
			return nil, err
		}
	}
	out.WriteByte(']')
	for _, l := range []struct {
		name string
		link *link
	}{{`,"next_page":`, next}, {`,"prev_page":`, prev}} {
		if l.link == nil {
			continue
		}
		out.WriteString(l.name)
		if err := items.json.Encode(l.link); err != nil {
			return nil, fmt.Errorf("encode a link: %w", err)
		}
		out.Truncate(out.Len() - 1) // the encoder ends each value with a newline
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// item writes one item, and logs what does not fit.
func (e *endpoint[T]) item(ctx context.Context, items itemWriter[T], r row) error {
	misfits, err := items.write(r)
	if err != nil {
		return err
	}
	strictbson.Warn(ctx, e.Logger, e.store.name(), r.id, misfits)
	return nil
}

// detail answers with one object: whole, or the fields that are asked for.
func (e *endpoint[T]) detail(c *gin.Context, query url.Values) ([]byte, *failure) {
	id, err := bson.ObjectIDFromHex(c.Param("id"))
	if err != nil {
		return nil, notFound()
	}
	fields := e.shape.everything()
	if names := last(query, paramFields); names != "" {
		fields = e.shape.choose(names)
	}
	ctx := c.Request.Context()
	found, ok, err := e.store.byID(ctx, id, projection(fields))
	switch {
	case err != nil:
		return nil, failed(err)
	case !ok:
		return nil, notFound()
	}
	var out bytes.Buffer
	out.WriteString(`{"data":`)
	if err := e.item(ctx, e.shape.writer(&out, fields), found); err != nil {
		return nil, failed(err)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// base is what stands before the path in an absolute address.
func (e *endpoint[T]) base(r *http.Request) string {
	if e.PublicURL != "" {
		return e.PublicURL
	}
	return "http://" + r.Host
}
