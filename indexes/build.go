package indexes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
)

// maxSteps is how often one index is acted on before Build gives it up: to build it under a name that was free a
// moment ago, to unhide it, to change its expiry, each once more where others change indexes at the same time.
const maxSteps = 6

// BuildOptions say who is told of a build. Everything may be nil.
type BuildOptions struct {
	Guard    Guard
	Progress func(Progress) // when an action begins, and each second while it goes on
	Report   func(Outcome)  // when an index is done with
}

// Outcome is what Build did about one declared index.
type Outcome struct {
	Before  Finding
	After   Finding       // of the last look, where something was done or went wrong
	Done    []Action      // what was done, in order
	Elapsed time.Duration // by this host's clock
	Note    string        // for people: empty, or why the index that was built does not serve
	Err     error         // why an action failed; the others went on
}

// Build makes the declared indexes ready, one after the other: it builds what is missing, waits for builds that go on
// without their client, brings back what Retire hid, and changes when rows expire. It hides and drops nothing and
// leaves to a person what Finding.ForPerson names, so it is safe at any time and in several processes at once.
//
// It goes on after an index that cannot be built: each outcome has its own error. The error of Build itself is that of
// a run which ended before the last index: the guard failed, the context is over or the database is away.
func Build(ctx context.Context, db *mongo.Database, declared []Index, o BuildOptions) ([]Outcome, error) {
	b := builder{db: db, ledger: ledger{db, o.Guard}, progress: o.Progress}
	outcomes := make([]Outcome, 0, len(declared))
	for _, want := range declared {
		begun := time.Now()
		out, err := b.settle(ctx, want)
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return outcomes, fmt.Errorf("index %s: %w", want, err)
		}
		out.Elapsed = time.Since(begun)
		outcomes = append(outcomes, out)
		if o.Report != nil {
			o.Report(out)
		}
	}
	return outcomes, nil
}

// Failures joins the errors of outcomes.
func Failures(outcomes []Outcome) error {
	var failed []error
	for _, out := range outcomes {
		failed = append(failed, out.Err)
	}
	return errors.Join(failed...)
}

// builder builds for one caller.
type builder struct {
	db       *mongo.Database
	ledger   ledger
	progress func(Progress)
	blind    bool // the server shows no progress
}

// settle acts on one index until there is nothing to do. Its error ends the run.
func (b *builder) settle(ctx context.Context, want Index) (Outcome, error) {
	var out Outcome
	for step := range maxSteps {
		f, err := b.look(ctx, want)
		if err != nil {
			return out, err
		}
		if out.After, out.Err = f, nil; step == 0 {
			out.Before = f
		}
		if f.Action == "" {
			out.Note = b.note(ctx, out)
			return out, b.tidy(ctx, f)
		}
		err = b.act(ctx, f)
		switch {
		case err == nil:
			out.Done = append(out.Done, f.Action)
		case ctx.Err() != nil || errors.Is(err, errGuard):
			return out, err
		case hasCode(err, codeIndexOptionsConflict, codeIndexKeySpecsConflict, codeIndexNotFound):
			out.Err = err // others were quicker: look again
		default:
			out.Err = err
			return out, nil
		}
	}
	if out.Err == nil {
		out.Err = fmt.Errorf("index %s is %s after everything was done for it", want, out.After.Status)
	}
	return out, nil
}

// look finds what the database has of one index now.
func (b *builder) look(ctx context.Context, want Index) (Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	recorded, err := b.ledger.load(ctx)
	if err != nil {
		return Finding{}, err
	}
	have, err := listIndexes(ctx, b.db, want.Collection)
	if err != nil {
		return Finding{}, fmt.Errorf("list the indexes of %s: %w", want.Collection, err)
	}
	return judge(want, have, recorded), nil
}

func (b *builder) act(ctx context.Context, f Finding) error {
	switch f.Action {
	case ActionBuild:
		return b.build(ctx, f)
	case ActionWait:
		if err := b.ledger.guard.check(ctx); err != nil {
			return err
		}
		return b.watch(ctx, f, func(ctx context.Context) error { return b.finish(ctx, f) })
	case ActionUnhide:
		b.tell(Progress{Finding: f})
		return b.change(ctx, f, bson.E{Key: "hidden", Value: false}) // tidy completes the record
	case ActionExpire:
		b.tell(Progress{Finding: f})
		return b.change(ctx, f, bson.E{Key: "expireAfterSeconds", Value: int64(f.Index.ExpireAfter / time.Second)})
	default:
		return nil
	}
}

// build builds a missing index, between two records: that it will be ours, and that it is.
func (b *builder) build(ctx context.Context, f Finding) error {
	if err := b.ledger.intend(ctx, f.Index, f.Name); err != nil {
		return err
	}
	if err := b.ledger.guard.check(ctx); err != nil {
		return err
	}
	err := b.watch(ctx, f, func(ctx context.Context) error { return b.finish(ctx, f) })
	if err != nil {
		if ctx.Err() == nil && refused(err) {
			err = errors.Join(err, b.ledger.forget(ctx, f.Collection, f.Name, true))
		}
		return err
	}
	return b.ledger.built(ctx, f.Index, f.Name)
}

// finish asks for an index, joins the build of it that is under way, and waits until it is finished.
func (b *builder) finish(ctx context.Context, f Finding) error {
	if err := build(ctx, b.db, Standing{f.Index, f.Status, f.Name}); err != nil {
		return fmt.Errorf("build index %s: %w%s", f.Index, err, clash(ctx, b.db, f.Index, err))
	}
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		now, err := b.look(ctx, f.Index)
		if err != nil || now.Status != Building {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// change changes one property of an index in place.
func (b *builder) change(ctx context.Context, f Finding, property bson.E) error {
	if err := b.ledger.guard.check(ctx); err != nil {
		return err
	}
	if err := collMod(ctx, b.db, f.Collection, f.Name, property); err != nil {
		return fmt.Errorf("change index %s: %w", f.Index, err)
	}
	return nil
}

// tidy completes the record of an index that is as it should be: the process that built it may have died before it
// wrote that, and it may have been brought back.
func (b *builder) tidy(ctx context.Context, f Finding) error {
	if f.record == nil || f.Status != Ready {
		return nil
	}
	if f.record.BuiltAt == nil {
		if err := b.ledger.built(ctx, f.Index, f.Name); err != nil {
			return err
		}
	}
	if f.record.HiddenAt != nil {
		return b.ledger.shown(ctx, f.Collection, f.Name)
	}
	return nil
}

// note says, of an index that was built now, why an explain with its hint does not show that it serves.
func (b *builder) note(ctx context.Context, out Outcome) string {
	if out.After.Status != Ready || len(out.Done) == 0 {
		return ""
	}
	want, name := out.After.Index, out.After.Name
	for _, k := range want.Keys {
		if n, ok := plain(k.Value).(float64); !ok || n*n != 1 {
			return "" // a text or a hashed index has no order to show
		}
	}
	filter := want.Partial
	if filter == nil {
		filter = bson.D{}
	}
	plan, err := Explain(ctx, b.db, bson.D{
		{Key: "find", Value: want.Collection},
		{Key: "filter", Value: filter},
		{Key: "sort", Value: want.Keys},
		{Key: "limit", Value: int64(1)},
		{Key: "hint", Value: name},
	})
	switch {
	case ctx.Err() != nil:
		return "" // the run ends: that says nothing of the index
	case err != nil:
		return "an explain with its hint does not show whether it serves: " + err.Error()
	case plan.Blocks() || len(plan.Indexes) != 1 || plan.Indexes[0] != name:
		return "an explain with its hint shows that it does not serve: " + plan.String()
	default:
		return ""
	}
}

// refused reports whether the server turned a command down, so that nothing of it goes on.
func refused(err error) bool {
	_, ok := errors.AsType[mongo.ServerError](err)
	return ok && !mongo.IsTimeout(err) && !mongo.IsNetworkError(err) && !mongodb.IsTransient(err)
}

// collMod changes one property of an index in place.
func collMod(ctx context.Context, db *mongo.Database, collection, name string, property bson.E) error {
	return db.RunCommand(ctx, bson.D{
		{Key: "collMod", Value: collection},
		{Key: "index", Value: bson.D{{Key: "name", Value: name}, property}},
	}).Err()
}

// String writes the plan from the outermost stage in, with the indexes that it reads.
func (e Explanation) String() string {
	return strings.Join(e.Stages, " < ") + " " + strings.Join(e.Indexes, ", ")
}
