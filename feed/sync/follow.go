package follower

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Follow brings the copy up to date and keeps it so until ctx ends, or with Once until it has caught up. It goes on
// where an earlier one stopped. It fails with ErrOffset where the server refuses an offset that it gave out.
func (f *Follower) Follow(ctx context.Context) error {
	if !f.store.at().Begun {
		if err := f.begin(ctx); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	backwardEnded := make(chan struct{})
	if f.store.at().BackwardDone {
		close(backwardEnded)
	} else {
		group.Go(func() error {
			if err := f.backward(ctx); err != nil {
				return fmt.Errorf("backward walk: %w", err)
			}
			close(backwardEnded)
			return nil
		})
	}
	group.Go(func() error {
		if err := f.forward(ctx, backwardEnded); err != nil {
			return fmt.Errorf("forward walk: %w", err)
		}
		return nil
	})
	return group.Wait()
}

// begin asks for the newest page: the backward walk goes on behind it, the forward walk starts before it.
func (f *Follower) begin(ctx context.Context) error {
	first, err := f.client.page(ctx, "", true)
	if err != nil {
		return err
	}
	if first.prev == nil {
		return fmt.Errorf("%s does not answer as a feed: its first page has no prev_page.offset", f.client.base)
	}
	return f.keep(first, false, func(p *position) {
		p.Begun, p.Forward = true, *first.prev
		p.BackwardDone = len(first.rows) == 0
		if !p.BackwardDone {
			p.Backward = *first.next
		}
	})
}

// backward walks over what there was at the beginning, down to the oldest. A page without rows is its end.
func (f *Follower) backward(ctx context.Context) error {
	for at := f.store.at(); !at.BackwardDone; at = f.store.at() {
		older, err := f.client.page(ctx, at.Backward, true)
		if err != nil {
			return err
		}
		err = f.keep(older, false, func(p *position) {
			p.BackwardDone = len(older.rows) == 0
			if !p.BackwardDone {
				p.Backward = *older.next
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// forward walks over what changed. With Once it ends at a page that is not full and was asked for after the backward
// walk had ended: what changed before that walk came by is on the forward walk's way.
func (f *Follower) forward(ctx context.Context, backwardEnded <-chan struct{}) error {
	var wake <-chan struct{} // with Once, the end of the backward walk is what there is to wait for
	if f.options.Once {
		wake = backwardEnded
	}
	for {
		last := f.options.Once && hasEnded(backwardEnded)
		newer, err := f.client.page(ctx, f.store.at().Forward, false)
		if err != nil {
			return err
		}
		caughtUp := !newer.full(f.options.Limit)
		if err := f.keep(newer, caughtUp, func(p *position) { p.Forward = *newer.next }); err != nil {
			return err
		}
		switch {
		case !caughtUp:
			continue
		case last:
			return nil
		}
		if err := rest(ctx, f.options.Interval, wake); err != nil {
			return err
		}
	}
}

func hasEnded(signal <-chan struct{}) bool {
	select {
	case <-signal:
		return true
	default:
		return false
	}
}

// keep puts a page into the copy. An older state of an object never replaces a newer one: the backward walk may bring
// it after the forward walk has brought the change.
func (f *Follower) keep(p page, caughtUp bool, move func(*position)) error {
	_, err := f.commit(p, caughtUp, (*copyFile).newer, move)
	return err
}

func (f *Follower) commit(p page, caughtUp bool, wins choice, move func(*position)) (change, error) {
	done, err := f.store.commit(p.rows, wins, move)
	if err != nil {
		return done, err
	}
	f.progress.Lock()
	defer f.progress.Unlock()
	f.options.Progress(Progress{Rows: len(p.rows), Entries: done.entries, CaughtUp: caughtUp})
	return done, nil
}
