// Package importing reads files of rows into entities.
//
// A file is read twice. The first pass converts and checks every row without writing: it refuses what is no such file
// at all, and learns for each key which line is the last good one. The second pass writes that line and counts the
// others as duplicates or as superseded. So a run is the same however often it is begun: rows are applied by their
// key and the digest of their content, never by their position, each object is written in one step, and a run that
// was killed anywhere is made good by another one.
package importing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"catalogue/internal/changes"
)

const (
	// batchRows and batchBytes bound what is written at once. A batch ends with the record that crosses the bound, and
	// two are in memory: the one that is written and the next one.
	batchRows  = 500
	batchBytes = 8 << 20
	// defaultWriteTimeout is what a batch has to be written in. Ctrl-C does not cut it: the batch ends, then the run.
	defaultWriteTimeout = time.Minute
)

// ErrFileChanged says that the file was written to while it was read. What is in already stays.
var ErrFileChanged = errors.New("the file changes while it is read: import it again when it is at rest")

// Store writes imported objects.
type Store interface {
	// Apply inserts, updates or leaves alone, and says which, item by item.
	Apply(ctx context.Context, collection string, items []changes.Item) ([]changes.Outcome, error)
}

// Resolver finds objects of one collection by where they came from. Where it finds deleted ones, too, a file whose
// references were deleted is imported again as it was.
type Resolver interface {
	// IDsBySource returns the ids of those objects of a system that are known, by source.id.
	IDsBySource(ctx context.Context, system string, ids []string) (map[string]bson.ObjectID, error)
}

// Options are what a run needs.
type Options struct {
	Path      string // of the file
	Plan      *Plan
	Rejects   string   // path of the rejects file
	Inputs    []string // other files that the run reads: the rejects file is none of them
	Store     Store
	Resolvers map[string]Resolver // by collection
	// EnsureIndexes makes sure that (source.system, source.id) is unique in the collection: it is called before the
	// first write. Without that index two imports at once could double a row.
	EnsureIndexes func(context.Context) error
	// WriteTimeout is what a batch has to be written in. Defaults to one minute.
	WriteTimeout time.Duration
	Progress     func(Progress)
	Now          func() time.Time
}

// Run imports a file. The summary is that of what was done, also where an error ends the run: a *RefusedError before
// the first write, the context's error between two batches. Rejected rows are no error.
func Run(ctx context.Context, o Options) (Summary, error) {
	r := &run{Options: o, keys: keyTable{}}
	r.summary.Warnings, r.summary.WarningLines = map[Warning]int64{}, map[Warning][]int64{}
	started := o.Now()
	err := r.all(ctx)
	r.summary.Elapsed = o.Now().Sub(started)
	return r.summary, err
}

type run struct {
	Options
	file     *os.File
	info     os.FileInfo
	bom      int64 // its length
	rejects  *rejectsFile
	keys     keyTable
	encoding encodingCount
	summary  Summary
}

func (r *run) all(ctx context.Context) (err error) {
	if err := r.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.file.Close()) }()
	if r.rejects, err = newRejectsFile(r.Rejects, slices.Concat(r.Inputs, []string{r.Path})...); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.rejects.close()) }()

	if err := r.scan(ctx, PhaseCheck, r.learn); err != nil {
		return err
	}
	if err := r.encoding.check(); err != nil {
		return err
	}
	if err := r.EnsureIndexes(ctx); err != nil {
		return err
	}
	if err := r.scan(ctx, PhaseWrite, r.write); err != nil {
		return err
	}
	if r.summary.Read != r.encoding.rows {
		return ErrFileChanged
	}
	return r.unchanged()
}

// open refuses what cannot be read twice, and what is no UTF-8 text.
func (r *run) open(ctx context.Context) error {
	info, err := os.Stat(r.Path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return refuse("%s is no regular file: an import reads its file twice, so a pipe must be saved first", r.Path)
	}
	if r.file, err = os.Open(r.Path); err != nil {
		return err
	}
	if r.info, err = r.file.Stat(); err != nil {
		return errors.Join(err, r.file.Close())
	}
	if r.bom, err = checkHead(interruptible{file: r.file, interrupted: ctx.Err}); err != nil {
		return errors.Join(err, r.file.Close())
	}
	return nil
}

// text is the file behind its byte order mark, as long as ctx is.
func (r *run) text(ctx context.Context) *io.SectionReader {
	return io.NewSectionReader(interruptible{file: r.file, interrupted: ctx.Err}, r.bom, r.info.Size()-r.bom)
}

// interruptible is a file that cannot be read any more once the run is interrupted. Ctrl-C is heard so inside a long
// stretch without a record, too: blank lines, or a quote that is never closed.
type interruptible struct {
	file        io.ReaderAt
	interrupted func() error
}

// ReadAt reads as io.ReaderAt says.
func (f interruptible) ReadAt(p []byte, offset int64) (int, error) {
	if err := f.interrupted(); err != nil {
		return 0, err
	}
	return f.file.ReadAt(p, offset)
}

// unchanged makes sure that the file is still the one that the first pass has read.
func (r *run) unchanged() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != r.info.Size() || !info.ModTime().Equal(r.info.ModTime()) {
		return ErrFileChanged
	}
	return nil
}

// batch is what is written at once.
type batch struct {
	rows  []row
	bytes int64 // of the file, up to its end
}

// scan reads the file from its beginning and hands it on in batches of converted rows. Reading is one batch ahead of
// what is done with the rows, so that the database and this process work at the same time.
func (r *run) scan(ctx context.Context, phase Phase, each func(context.Context, []row) error) error {
	batches := make(chan batch)
	group, ctx := errgroup.WithContext(ctx)
	text := r.text(ctx)
	src, err := r.Plan.open(text)
	if err != nil {
		return err
	}
	group.Go(func() error {
		defer close(batches)
		return r.read(ctx, src, batches)
	})
	group.Go(func() error {
		p := Progress{Phase: phase, Total: text.Size()}
		for b := range batches {
			if err := r.handle(ctx, b.rows, each); err != nil {
				return err
			}
			p.Bytes, p.Rows, p.Rejected = b.bytes, p.Rows+int64(len(b.rows)), r.summary.Rejected
			r.Progress(p)
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	r.summary.Unseen = src.neverPresent()
	return nil
}

// read converts the rows of the file, batch by batch.
func (r *run) read(ctx context.Context, src source, batches chan<- batch) error {
	for end := false; !end; {
		var b batch
		for size := 0; len(b.rows) < batchRows && size < batchBytes; {
			rec, err := src.next()
			if end = errors.Is(err, io.EOF); end {
				break
			}
			if err != nil {
				return fmt.Errorf("read the file: %w", err)
			}
			b.rows = append(b.rows, r.Plan.convert(rec))
			size += len(rec.raw)
		}
		b.bytes = src.offset()
		select {
		case batches <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// handle completes the rows of a batch with what the database knows, and passes them on.
func (r *run) handle(ctx context.Context, batch []row, each func(context.Context, []row) error) error {
	if err := ctx.Err(); err != nil { // not its cause, which would be the signal
		return err
	}
	if err := r.unchanged(); err != nil {
		return err
	}
	known, err := r.references(ctx, batch)
	if err != nil {
		return err
	}
	for i := range batch {
		r.Plan.resolve(&batch[i], known)
		r.Plan.complete(&batch[i])
	}
	return each(ctx, batch)
}
