package listing

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/indexes"
	"catalogue/internal/counting"
	"catalogue/internal/httpserver"
	"catalogue/internal/problem"
	"catalogue/pagination"
)

// Parents knows the entities that a list may stand below.
type Parents interface {
	Exists(ctx context.Context, id bson.ObjectID) (bool, error)
}

// Hints knows the name under which an index can be hinted: empty where it cannot.
type Hints interface {
	Hint(i indexes.Index) string
}

// Counter counts lists.
type Counter interface {
	Count(ctx context.Context, r counting.Request) pagination.Total
}

// Services are what all lists share.
type Services struct {
	Keys    pagination.Keyring
	Counter Counter
	Hints   Hints
	Now     func() time.Time
	// PublicURL is the address that clients reach the service at, without a slash at its end. Empty: the request's Host
	// over http.
	PublicURL string
}

type endpoint[T any] struct {
	Services
	list    List[T]
	pages   *pagination.Repository[json.RawMessage]
	parents Parents // nil for a list of its own
	words   vocabulary
	hinted  map[choice]indexes.Index
}

// Register serves a list, whose pages come as the JSON of their items. parents is nil for a list that stands below no
// entity.
func Register[T any](
	r gin.IRoutes, s Services, list List[T], pages *pagination.Repository[json.RawMessage], parents Parents,
) {
	e := &endpoint[T]{Services: s, list: list, pages: pages, parents: parents, words: newVocabulary(list.Fields)}
	e.hinted = list.choices()
	r.GET(list.Path, httpserver.Handle(e.get))
	if list.SearchPath != "" {
		r.POST(list.SearchPath, httpserver.Handle(e.search))
	}
}

func (e *endpoint[T]) get(c *gin.Context) error {
	return e.answer(c, e.words.fromQuery(c.Request.URL.Query()))
}

// search is get with the parameters in the body.
func (e *endpoint[T]) search(c *gin.Context) error {
	if query := c.Request.URL.Query(); len(query) > 0 {
		return problem.Invalid(vocabulary{}.fromQuery(query).wrong)
	}
	q, err := e.words.fromBody(c.Writer, c.Request.Body)
	if err != nil {
		return err
	}
	return e.answer(c, q)
}

func (e *endpoint[T]) answer(c *gin.Context, q question) error {
	ctx := c.Request.Context()
	req, err := e.understand(q)
	if err != nil {
		return err
	}
	parent, scope := e.scope(c)
	if err := checkCursor(req, scope); err != nil {
		return err
	}
	if err := e.checkParent(ctx, parent, scope); err != nil {
		return err
	}
	now := req.now(e.Now)
	page, total, err := e.read(ctx, parent, req, now)
	if err != nil {
		return err
	}
	next, err := e.next(page, scope, req, now)
	if err != nil {
		return err
	}
	body, err := newEnvelope(page.Items, next, total).encode()
	if err != nil {
		return err
	}
	if c.Request.Method == http.MethodGet {
		e.link(c, scope, next)
	}
	httpserver.WriteBody(c.Writer, http.StatusOK, body)
	return nil
}

// scope names the list in cursors. Ids are folded to lower case, so that one entity has one name.
func (e *endpoint[T]) scope(c *gin.Context) (bson.ObjectID, pagination.Scope) {
	scope := pagination.Scope{List: e.list.Name}
	if e.parents == nil {
		return bson.NilObjectID, scope
	}
	scope.Entity = strings.ToLower(c.Param("id"))
	parent, _ := parseID(scope.Entity) // an id that is none is no entity: zero is never one of ours
	return parent, scope
}

func (e *endpoint[T]) checkParent(ctx context.Context, parent bson.ObjectID, scope pagination.Scope) error {
	if e.parents == nil {
		return nil
	}
	if parent.IsZero() {
		return problem.NoObject(scope.Entity)
	}
	exists, err := e.parents.Exists(ctx, parent)
	if err != nil {
		return err
	}
	if !exists {
		return problem.NoObject(scope.Entity)
	}
	return nil
}

// read reads the page, on the first one with the total.
func (e *endpoint[T]) read(
	ctx context.Context, parent bson.ObjectID, req request, now time.Time,
) (pagination.Page[json.RawMessage], *pagination.Total, error) {
	from := pagination.Start[bson.RawValue]()
	if req.cursor != nil {
		from = req.cursor.Position()
	}
	query := e.list.Query(parent, req.order, from, req.limit)
	query.Hint = e.hint(req)
	if !req.filter.Empty() {
		query.Filter = req.filter.Compile(now)
	}
	readPage := func(ctx context.Context) (pagination.Page[json.RawMessage], error) {
		return e.pages.KeysetPage(ctx, query)
	}
	if req.cursor != nil {
		page, err := readPage(ctx)
		return page, nil, err
	}
	count := counting.Request{
		Collection: e.pages.Collection(), Fixed: query.Fixed, Filter: query.Filter, Digest: req.digest, Now: now,
	}
	if req.filter.Empty() {
		count.Hint = query.Hint // with a filter, counting every match is another question than finding a page of them
	}
	headStart := pagination.CountHeadStart
	if len(query.Fixed) == 0 && len(query.Filter) == 0 {
		headStart = 0 // the total is an estimate
	}
	page, total, err := pagination.First(ctx, readPage, func(ctx context.Context) pagination.Total {
		return e.Counter.Count(ctx, count)
	}, headStart)
	return page, &total, err
}

// next is the cursor of the page behind this one, empty where this is the last.
func (e *endpoint[T]) next(
	page pagination.Page[json.RawMessage], scope pagination.Scope, req request, now time.Time,
) (string, error) {
	if page.Next == nil {
		return "", nil
	}
	moment := int64(0)
	if !now.IsZero() {
		moment = now.UnixMilli()
	}
	return e.Keys.Encode(pagination.NewCursor(scope, req.order, req.digest, moment, *page.Next))
}
