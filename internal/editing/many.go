package editing

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/httpserver"
	"catalogue/internal/idempotency"
	"catalogue/internal/problem"
	"catalogue/internal/strictjson"
)

// Item is one of a request of many.
type Item struct {
	User  string
	Value strictjson.Value
	keep  func(ctx context.Context, o Outcome) error // nil where the request has no key
}

// Outcome is what became of an item that was not refused.
type Outcome struct {
	Status int
	ID     bson.ObjectID
	Rev    int64 // 0 where the object is gone, or has none
	// Changed says that something was written, and so Inside has run.
	Changed bool
}

// Inside keeps an item's change of an object in the transaction that makes it, where the request has a key.
func Inside[T any](i Item) changes.Inside[T] { return inside[T](i, http.StatusOK) }

func inside[T any](i Item, status int) changes.Inside[T] {
	if i.keep == nil {
		return nil
	}
	return func(ctx context.Context, saved changes.Saved[T]) error { return i.keep(ctx, outcome(status, saved)) }
}

func outcome[T any](status int, saved changes.Saved[T]) Outcome {
	return Outcome{Status: status, ID: saved.ID, Rev: saved.Rev, Changed: saved.Changed}
}

// Patched is the outcome of an item that changed an object.
func Patched[T any](saved changes.Saved[T]) Outcome { return outcome(http.StatusOK, saved) }

// many is a route of requests of many items.
type many struct {
	Services
	path    string
	do      func(ctx context.Context, i Item) (Outcome, error)
	decoder *strictjson.Decoder[batch]
}

// batch is the body of a request of many.
type batch struct {
	Items []strictjson.Value `json:"items"`
}

// RegisterMany serves requests of many items at path. Each item is done by do, one after the other in their order; one
// that is refused spoils none of the others. do hands Inside on to the write.
func RegisterMany(r gin.IRoutes, s Services, path string, do func(ctx context.Context, i Item) (Outcome, error)) {
	m := &many{Services: s, path: path, do: do, decoder: strictjson.New[batch]()}
	r.POST(path, httpserver.Handle(m.post))
}

// post answers 200 where all went well, else 207.
func (m *many) post(c *gin.Context) error {
	in, err := m.read(c, batchBody)
	if err != nil {
		return err
	}
	items, err := m.items(in.body)
	if err != nil {
		return err
	}
	return m.once(c, in, m.path, func(ctx context.Context, claim *idempotency.Claim) (answer, bool, error) {
		results, err := m.run(ctx, in.user, items, claim)
		if err != nil {
			return answer{}, false, err
		}
		complete := len(results) == len(items)
		out, err := batchAnswer(results, len(items))
		if err != nil || claim == nil || !complete {
			return out, false, err
		}
		err = claim.Finish(ctx, out)
		return out, err == nil, err
	})
}

func (m *many) items(body strictjson.Value) ([]strictjson.Value, error) {
	b, wrong := m.decoder.Create(body)
	for i := range wrong {
		if wrong[i].Field == "items" && wrong[i].Code == problem.FieldType {
			wrong[i].Code = problem.ItemsInvalid
		}
	}
	if n := len(b.Items); len(wrong) == 0 && (n == 0 || n > maxItems) {
		wrong = append(wrong, problem.FieldError{
			Field: "items", Code: problem.ItemsInvalid, Message: "items must be an array of 1 to 1000 items",
		})
	}
	return b.Items, problem.Invalid(wrong)
}

// run does the items behind those that an earlier holder of the key has done, as far as the time suffices. It returns the
// results of all that are done.
func (m *many) run(ctx context.Context, user string, items []strictjson.Value, claim *idempotency.Claim) ([][]byte, error) {
	j := &journal{claim: claim}
	if claim != nil {
		j.results = claim.Results()
		j.kept = len(j.results)
	}
	for i := len(j.results); i < len(items) && timeLeft(ctx); i++ {
		err := m.one(ctx, i, Item{User: user, Value: items[i]}, j)
		if err != nil && stops(ctx, err) {
			m.Log.WarnContext(ctx, "a request of many stops before its end", slog.Int("item", i), slog.Any("error", err))
			break // the same key goes on here
		}
		if err != nil {
			return nil, err
		}
	}
	if len(j.results) < len(items) {
		if err := j.keep(ctx, nil); err != nil {
			m.Log.WarnContext(ctx, "refusals are looked at again under the same key", slog.Any("error", err))
		}
	}
	return j.results, nil
}

// journal holds the results of the items that are done. Under a key they are kept with the next write: an item that
// wrote nothing can be done again.
type journal struct {
	claim   *idempotency.Claim // nil where the request has no key
	results [][]byte
	kept    int // how many of them the key has
}

// keep records what is not yet kept, and next behind it where that is not nil. Where ctx carries a transaction it is
// part of it.
func (j *journal) keep(ctx context.Context, next []byte) error {
	pending := slices.Clone(j.results[j.kept:])
	if next != nil {
		pending = append(pending, next)
	}
	if j.claim == nil || len(pending) == 0 {
		return nil
	}
	if err := j.claim.Record(ctx, j.kept, pending...); err != nil {
		return &keyError{err: err}
	}
	return nil
}

// timeLeft reports whether another item may begin.
func timeLeft(ctx context.Context) bool {
	end, bounded := ctx.Deadline()
	return ctx.Err() == nil && (!bounded || time.Until(end) > lastMoment)
}

// stops reports whether an error says that the time is up, or the database away: the items that are left would fail alike.
func stops(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded) || problem.Of(err).Status() == http.StatusServiceUnavailable
}

// one does an item. Its errors are those that are not the item's own.
func (m *many) one(ctx context.Context, index int, item Item, j *journal) error {
	if j.claim != nil {
		item.keep = func(ctx context.Context, o Outcome) error {
			r, err := encode(resultOf(o))
			if err != nil {
				return err
			}
			return j.keep(ctx, r)
		}
	}
	done, err := m.do(ctx, item)
	r := resultOf(done)
	if err != nil {
		if r, err = m.refusal(ctx, index, err); err != nil {
			return err
		}
	}
	out, err := encode(r)
	if err != nil {
		return err
	}
	if j.results = append(j.results, out); r.Error == nil && done.Changed {
		j.kept = len(j.results)
	}
	return nil
}

// refusal is the result of an item that failed by itself. Other errors come back as they are.
func (m *many) refusal(ctx context.Context, index int, err error) (result, error) {
	if _, ok := errors.AsType[*keyError](err); ok || ctx.Err() != nil || stops(ctx, err) {
		return result{}, err
	}
	p := problem.Of(err)
	if p.Code == problem.Internal {
		m.Log.ErrorContext(ctx, "an item of many failed", slog.Int("item", index), slog.Any("error", p.Cause))
	}
	return result{Status: p.Status(), Error: &itemError{
		Code: p.Code, Detail: p.Detail, Errors: p.Errors[:min(len(p.Errors), maxItemErrors)],
	}}, nil
}

// result is how an item's outcome is answered.
type result struct {
	Status int        `json:"status"`
	ID     string     `json:"id,omitempty"`
	Rev    int64      `json:"rev,omitempty"`
	Error  *itemError `json:"error,omitempty"`
}

type itemError struct {
	Code   problem.Code         `json:"code"`
	Detail string               `json:"detail"`
	Errors []problem.FieldError `json:"errors,omitempty"`
}

func resultOf(o Outcome) result { return result{Status: o.Status, ID: o.ID.Hex(), Rev: o.Rev} }

// batchAnswer joins the results of n items. Those that the time did not suffice for say so.
func batchAnswer(results [][]byte, n int) (answer, error) {
	data := make([]json.RawMessage, 0, n)
	status := http.StatusOK
	for _, r := range results {
		var read result
		if err := json.Unmarshal(r, &read); err != nil {
			return answer{}, err
		}
		if read.Error != nil {
			status = http.StatusMultiStatus
		}
		data = append(data, r)
	}
	if len(results) < n {
		late, err := encode(result{Status: http.StatusServiceUnavailable, Error: &itemError{
			Code: problem.QueryTimeout, Detail: "The time did not suffice; send the item again.",
		}})
		if err != nil {
			return answer{}, err
		}
		status = http.StatusMultiStatus
		for len(data) < n {
			data = append(data, late)
		}
	}
	body, err := encode(struct {
		Data []json.RawMessage `json:"data"`
	}{data})
	return answer{Status: status, Header: http.Header{}, Body: body}, err
}
