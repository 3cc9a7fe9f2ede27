package editing

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/problem"
	"catalogue/internal/strictjson"
)

// What an item of a bulk request does.
const (
	opCreate = "create"
	opPatch  = "patch"
	opDelete = "delete"
)

// operation is an item of a bulk request.
type operation struct {
	Op   *string          `json:"op"`
	ID   bson.ObjectID    `json:"id"`
	Rev  *int64           `json:"rev"`
	Data strictjson.Value `json:"data"`
}

// bulk does many creations, changes and deletions of one resource.
type bulk[T any] struct {
	*endpoint[T]
	operations *strictjson.Decoder[operation]
}

// RegisterBulk serves requests of many creations, changes and deletions of objects that stand alone, at the resource's
// path with /bulk behind it.
func RegisterBulk[T any](r gin.IRoutes, s Services, res Resource[T]) {
	b := &bulk[T]{endpoint: newEndpoint(s, res), operations: strictjson.New[operation]()}
	RegisterMany(r, s, res.Path+"/bulk", b.do)
}

func (b *bulk[T]) do(ctx context.Context, i Item) (Outcome, error) {
	op, wrong := b.operations.Create(i.Value)
	if wrong = append(wrong, op.check(wrong)...); len(wrong) > 0 {
		return Outcome{}, problem.Invalid(wrong)
	}
	switch *op.Op {
	case opCreate:
		return b.createOne(ctx, i, op)
	case opPatch:
		return b.patchOne(ctx, i, op)
	default:
		return b.removeOne(ctx, i, op)
	}
}

// check tells which members an operation lacks or does not take. unread are those that could not be read.
func (op operation) check(unread []problem.FieldError) []problem.FieldError {
	if len(unread) > 0 && unread[0].Field == "" {
		return nil // no operation at all
	}
	ops := []string{opCreate, opPatch, opDelete}
	if op.Op == nil || !slices.Contains(ops, *op.Op) {
		return add(nil, unread, "op", "op must be one of "+strings.Join(ops, ", "), ops...)
	}
	var wrong []problem.FieldError
	for _, m := range []struct {
		name             string
		given            bool
		needed, possible bool
	}{
		{"id", !op.ID.IsZero(), *op.Op != opCreate, *op.Op != opCreate},
		{"rev", op.Rev != nil, false, *op.Op != opCreate},
		{"data", !op.Data.IsZero(), *op.Op != opDelete, *op.Op != opDelete},
	} {
		switch {
		case m.needed && !m.given:
			wrong = add(wrong, unread, m.name, m.name+" is required to "+*op.Op)
		case m.given && !m.possible:
			wrong = add(wrong, unread, m.name, m.name+" does not belong to "+*op.Op)
		}
	}
	if op.Rev != nil && *op.Rev < 1 {
		wrong = add(wrong, unread, "rev", "rev must be at least 1")
	}
	return wrong
}

// add adds what is wrong with a member, but for one that could not be read, which is told already.
func add(wrong, unread []problem.FieldError, field, message string, allowed ...string) []problem.FieldError {
	told := func(e problem.FieldError) bool { return e.Field == field }
	if slices.ContainsFunc(unread, told) || slices.ContainsFunc(wrong, told) {
		return wrong
	}
	return append(wrong, problem.FieldError{Field: field, Code: problem.FieldInvalid, Message: message, Allowed: allowed})
}

func (b *bulk[T]) createOne(ctx context.Context, i Item, op operation) (Outcome, error) {
	item, err := b.newItem(op.Data)
	if err != nil {
		return Outcome{}, WithinError("data", err)
	}
	saved, err := b.Writer.Create(ctx, i.User, item, inside[T](i, http.StatusCreated))
	return outcome(http.StatusCreated, saved), WithinError("data", err)
}

func (b *bulk[T]) patchOne(ctx context.Context, i Item, op operation) (Outcome, error) {
	patch, err := b.newPatch(op.Data)
	if err != nil {
		return Outcome{}, WithinError("data", err)
	}
	saved, err := b.Writer.Patch(ctx, changes.Change[T]{
		ID: op.ID, By: i.User, Check: b.check(i.User, bson.NilObjectID, op.condition()),
		Apply: func(next *T) error { return Apply(patch, next) }, Removes: patch.Removes(), Inside: Inside[T](i),
	})
	return Patched(saved), WithinError("data", err)
}

func (b *bulk[T]) removeOne(ctx context.Context, i Item, op operation) (Outcome, error) {
	gone := Outcome{Status: http.StatusNoContent, ID: op.ID, Changed: true}
	removal := changes.Removal[T]{
		ID: op.ID, By: i.User, Check: b.check(i.User, bson.NilObjectID, op.condition()),
	}
	if i.keep != nil {
		removal.Inside = func(ctx context.Context) error { return i.keep(ctx, gone) }
	}
	return gone, b.Writer.Delete(ctx, removal)
}

func (op operation) condition() condition {
	if op.Rev == nil {
		return condition{}
	}
	return ofRev(*op.Rev)
}
