package listing

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/indexes"
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

// Services are what all lists share.
type Services struct {
	Keys    pagination.Keyring
	Counter pagination.Counter
	Hints   Hints
	// PublicURL is the address that clients reach the service at, without a slash at its end. Empty: the request's Host
	// over http.
	PublicURL string
}

type endpoint[T any] struct {
	Services
	list    List[T]
	pages   *pagination.Repository[T]
	parents Parents // nil for a list of its own
}

// Register serves a list. parents is nil for a list that stands below no entity.
func Register[T any](r gin.IRoutes, s Services, list List[T], pages *pagination.Repository[T], parents Parents) {
	e := &endpoint[T]{Services: s, list: list, pages: pages, parents: parents}
	r.GET(list.Path, httpserver.Handle(e.get))
}

// envelope is the answer of every list.
type envelope[T any] struct {
	Data []T  `json:"data"`
	Meta meta `json:"meta"`
}

// meta has its three keys always; the totals are set on the first page only.
type meta struct {
	NextCursor *string               `json:"next_cursor"`
	Total      *int64                `json:"total"`
	TotalKind  *pagination.TotalKind `json:"total_kind"`
}

func (e *endpoint[T]) get(c *gin.Context) error {
	ctx := c.Request.Context()
	req, err := parse(c.Request.URL.Query(), e.list.Sorts, e.list.Default, e.Keys)
	if err != nil {
		return err
	}
	parent, scope := e.scope(c)
	if err := checkCursor(req.cursor, scope, req.order); err != nil {
		return err
	}
	if err := e.checkParent(ctx, parent, scope); err != nil {
		return err
	}
	page, total, err := e.read(ctx, parent, req)
	if err != nil {
		return err
	}
	out, err := e.envelope(page, total, scope, req.order)
	if err != nil {
		return err
	}
	e.link(c, scope, out.Meta.NextCursor)
	return httpserver.WriteJSON(c, http.StatusOK, out)
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
		return notFound(scope.Entity)
	}
	exists, err := e.parents.Exists(ctx, parent)
	if err != nil {
		return err
	}
	if !exists {
		return notFound(scope.Entity)
	}
	return nil
}

// read reads the page, on the first one with the total.
func (e *endpoint[T]) read(
	ctx context.Context, parent bson.ObjectID, req request,
) (pagination.Page[T], *pagination.Total, error) {
	from := pagination.Start[bson.RawValue]()
	if req.cursor != nil {
		from = req.cursor.Position()
	}
	query := e.list.Query(parent, req.order, from, req.limit)
	query.Hint = e.Hints.Hint(e.list.Index(req.order.Sort))
	readPage := func(ctx context.Context) (pagination.Page[T], error) { return e.pages.KeysetPage(ctx, query) }
	if req.cursor != nil {
		page, err := readPage(ctx)
		return page, nil, err
	}
	page, total, err := pagination.First(ctx, readPage, func(ctx context.Context) pagination.Total {
		return e.Counter.Count(ctx, e.pages.Collection(), query.Fixed)
	})
	return page, &total, err
}

func (e *endpoint[T]) envelope(
	page pagination.Page[T], total *pagination.Total, scope pagination.Scope, order pagination.Order,
) (envelope[T], error) {
	out := envelope[T]{Data: page.Items}
	if total != nil {
		out.Meta.Total, out.Meta.TotalKind = total.Count, &total.Kind
	}
	if page.Next != nil {
		cursor, err := e.Keys.Encode(pagination.NewCursor(scope, order, "", 0, *page.Next))
		if err != nil {
			return envelope[T]{}, err
		}
		out.Meta.NextCursor = &cursor
	}
	return out, nil
}

func notFound(id string) error {
	return problem.New(problem.NotFound, "there is no object with the id %q", id)
}
