package dataset

import (
	"context"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/sync/errgroup"

	"catalogue/indexes"
	"catalogue/internal/seeding"
)

const (
	// part is how many creatives one seeder makes. It holds one batch of them in memory at a time.
	part = 5_000
	// loaders is how many seeders write at once.
	loaders = 4
)

// tally adds up what goroutines have done, and tells step one at a time.
type tally struct {
	mu   sync.Mutex
	done int
	step func(done int)
}

func (t *tally) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done += n
	t.step(t.done)
}

// load writes the creatives. step is told how many are written.
func load(ctx context.Context, db *mongo.Database, rows int, step func(done int)) error {
	written := tally{step: step}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(loaders)
	for first := 0; first < rows && ctx.Err() == nil; first += part {
		group.Go(func() error {
			seeder, err := seeding.New(db, seeding.Options{
				FirstCreative: first, Creatives: min(part, rows-first), Seed: seed, OmitAbsent: true,
			}, written.add)
			if err != nil {
				return err
			}
			_, err = seeder.Run(ctx)
			return err
		})
	}
	return group.Wait()
}

// index builds the declared indexes, one after the other: not every server builds several of one collection at once.
// step is told how many are built.
func index(ctx context.Context, db *mongo.Database, step func(built, of int)) error {
	wanted := declared()
	for n, i := range wanted {
		if err := indexes.Apply(ctx, db, []indexes.Index{i}, func(indexes.Standing) {}); err != nil {
			return err
		}
		step(n+1, len(wanted))
	}
	return nil
}
