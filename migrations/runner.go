package migrations

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// declared is a migration and its checksum.
type declared struct {
	Migration

	checksum string
}

// Runner brings a database from the migrations that it has to those that are declared.
type Runner struct {
	db   *mongo.Database
	list []declared
}

// NewRunner returns a runner of the migrations in list. It fails where their numbers do not rise from 1 on, or where
// one says too little of itself.
func NewRunner(db *mongo.Database, list []Migration) (*Runner, error) {
	r := &Runner{db: db}
	last := 0
	for _, m := range list {
		if m.Number <= last || m.Name == "" || m.Run == nil || m.Count == nil {
			return nil, fmt.Errorf("migration %s needs a number above %d, a name, Run and Count", m, last)
		}
		last = m.Number
		sum, err := m.Checksum()
		if err != nil {
			return nil, err
		}
		r.list = append(r.list, declared{Migration: m, checksum: sum})
	}
	return r, nil
}

// Status tells how every migration stands, those included that only another version of the program knows.
func (r *Runner) Status(ctx context.Context) ([]Standing, error) {
	found, live, err := look(ctx, r.db)
	if err != nil {
		return nil, err
	}
	return standings(r.list, found, live), nil
}

// Plan lists what Up would run, in order. It fails with a ChangedError where applied migrations have changed.
func (r *Runner) Plan(ctx context.Context) ([]Standing, error) {
	all, err := r.Status(ctx)
	if err != nil {
		return nil, err
	}
	var open, changed []Standing
	for _, s := range all {
		switch s.State {
		case Pending, Running, Interrupted, Failed:
			open = append(open, s)
		case Changed:
			changed = append(changed, s)
		case Applied, Unknown:
		}
	}
	if len(changed) > 0 {
		return nil, &ChangedError{Migrations: changed}
	}
	return open, nil
}

// Forecast is a migration that Up would run, and about how many documents it would change as they are now.
type Forecast struct {
	Standing

	Changes int64
}

// DryRun counts what Up would change, without a change and without the lock.
func (r *Runner) DryRun(ctx context.Context) ([]Forecast, error) {
	open, err := r.Plan(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Forecast, 0, len(open))
	for _, s := range open {
		n, err := r.find(s.Number).Count(ctx, r.db)
		if err != nil {
			return nil, fmt.Errorf("count what migration %s would change: %w", s, err)
		}
		out = append(out, Forecast{Standing: s, Changes: n})
	}
	return out, nil
}

func (r *Runner) find(number int) declared {
	for _, m := range r.list {
		if m.Number == number {
			return m
		}
	}
	return declared{}
}

// Up runs what is not applied, in order, up to the first that fails. ctx is the one that came with the lock.
func (r *Runner) Up(ctx context.Context, held *Held, report func(Event)) error {
	open, err := r.Plan(ctx)
	if err != nil {
		return err
	}
	for _, s := range open {
		if err := r.run(ctx, held, s, report); err != nil {
			return fmt.Errorf("migration %s: %w", s, err)
		}
	}
	return nil
}

// run runs one migration. A position belongs to the checksum under which it was saved: a migration that is declared
// anew begins anew.
func (r *Runner) run(ctx context.Context, held *Held, s Standing, report func(Event)) error {
	m := r.find(s.Number)
	step := &Step{
		db: r.db, held: held, key: recordKey(m.Number), report: report, event: Event{Migration: m.Migration},
	}
	resumed := s.State != Pending && s.Record.Checksum == m.checksum
	if err := held.started(ctx, m, resumed); err != nil {
		return err
	}
	if resumed {
		step.position, step.done = s.Record.Position, s.Record.Done
		step.tell(Resumed, "")
	} else {
		step.tell(Started, "")
	}
	if err := m.Run(ctx, step); err != nil {
		return r.fail(ctx, held, m, step, err)
	}
	if err := held.applied(ctx, m); err != nil {
		return err
	}
	step.tell(Ended, "")
	return nil
}

// fail records the end of a migration that has failed by itself. One that was stopped from outside is seen to be
// interrupted, since its holder is gone.
func (r *Runner) fail(ctx context.Context, held *Held, m declared, step *Step, reason error) error {
	if errors.Is(context.Cause(ctx), ErrLost) {
		return errors.Join(ErrLost, reason)
	}
	if ctx.Err() != nil || errors.Is(reason, ErrLost) {
		return reason
	}
	e := step.event
	e.Kind, e.Done, e.Err = Broken, step.done, reason
	step.report(e)
	return errors.Join(reason, held.failed(ctx, m, reason))
}
