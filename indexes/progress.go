package indexes

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	// progressInterval is how often a build that goes on is looked at.
	progressInterval = time.Second
	// progressTimeout ends a look at a server that is too busy with the build to answer.
	progressTimeout = 2 * time.Second
)

// Progress is how far an action on an index is.
type Progress struct {
	Finding Finding
	Elapsed time.Duration // by this host's clock; zero when the action begins
	// Phase, Done and Total are of the phase that the server shows; without Total it shows none.
	Phase       string
	Done, Total int64
}

func (b *builder) tell(p Progress) {
	if b.progress != nil {
		b.progress(p)
	}
}

// watch runs a build, and tells of its progress until it ends.
func (b *builder) watch(ctx context.Context, f Finding, run func(context.Context) error) error {
	b.tell(Progress{Finding: f})
	begun := time.Now()
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ticker.C:
			p := b.shown(ctx, f)
			p.Finding, p.Elapsed = f, time.Since(begun)
			b.tell(p)
		}
	}
}

// shown asks, on another connection than that of the build, what the server shows of it. A server that does not let
// itself be asked is not asked again.
func (b *builder) shown(ctx context.Context, f Finding) Progress {
	if b.progress == nil || b.blind {
		return Progress{}
	}
	ctx, cancel := context.WithTimeout(ctx, progressTimeout)
	defer cancel()
	answer, err := b.db.Client().Database("admin").RunCommand(ctx, bson.D{{Key: "currentOp", Value: int32(1)}}).Raw()
	if err != nil {
		b.blind = refused(err)
		return Progress{}
	}
	return progressOf(documents(answer.Lookup("inprog")), b.db.Name(), f.Collection)
}

// progressOf finds the build of a collection's index among the operations of a server. Of several phases and nodes, it
// takes the one that is behind.
func progressOf(operations []bson.Raw, database, collection string) Progress {
	var out Progress
	for _, op := range operations {
		namespace, _ := op.Lookup("ns").StringValueOK()
		target, _ := op.Lookup("command", "createIndexes").StringValueOK()
		if target != collection || (namespace != database+"."+collection && namespace != database+".$cmd") {
			continue
		}
		done, ok := op.Lookup("progress", "done").AsInt64OK()
		total, ok2 := op.Lookup("progress", "total").AsInt64OK()
		if !ok || !ok2 || total <= 0 {
			continue
		}
		if out.Total == 0 || float64(done)/float64(total) < float64(out.Done)/float64(out.Total) {
			out.Done, out.Total = done, total
			out.Phase, _ = op.Lookup("msg").StringValueOK()
		}
	}
	return out
}
