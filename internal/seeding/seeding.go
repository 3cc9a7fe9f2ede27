// Package seeding fills a database with made data that has the shapes which hurt lists: ties, nulls, missing fields,
// missing and null parents, names in every writing. The same seed gives the same documents, ids included; only the
// stamps are those of the moment at which they are written. On request it leaves absent values out instead of storing
// them as nulls, for servers that keep null and missing apart in an index.
//
// It writes without the package changes, the one writer of everything else: nulls and half-missing parents are what
// that writer never stores. So it sets the stamps itself.
package seeding

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/history"
	"catalogue/internal/mongodb"
	"catalogue/tasks"
)

// Limits of a seed.
const (
	MaxDocuments = 10_000_000 // of creatives or tasks; the counter in their ids has room for 16 million
	batchSize    = 1000       // documents an insert
)

// epoch is the moment that all made times lie before. It is fixed so that a seed gives the same data on any day.
func epoch() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// Options say how much to make.
type Options struct {
	Creatives int
	Tasks     int // each with its comments and history
	Seed      uint64
	// FirstCreative is the number of the first creative, so that several seeders can share the making of one set.
	FirstCreative int
	// OmitAbsent leaves out what is null, and parents with nothing in them. Everything else of a seed stays the same.
	OmitAbsent bool
}

// Summary counts what was done by collection.
type Summary struct {
	Inserted map[string]int
	Present  int // documents of this seed that were there already
}

// Total is the number of documents inserted.
func (s Summary) Total() int {
	n := 0
	for _, c := range s.Inserted {
		n += c
	}
	return n
}

// Seeder writes made data into a database.
type Seeder struct {
	db       *mongo.Database
	options  Options
	progress func(documents int)
	summary  Summary
	batches  map[string][]bson.D
}

// New makes a seeder. progress is told of each batch that was written.
func New(db *mongo.Database, o Options, progress func(documents int)) (*Seeder, error) {
	if o.Creatives < 0 || o.Tasks < 0 || o.Creatives > MaxDocuments || o.Tasks > MaxDocuments ||
		o.FirstCreative < 0 || o.FirstCreative > MaxDocuments-o.Creatives {
		return nil, fmt.Errorf("creatives and tasks must each be from 0 to %d", MaxDocuments)
	}
	return &Seeder{
		db: db, options: o, progress: progress,
		summary: Summary{Inserted: map[string]int{}}, batches: map[string][]bson.D{},
	}, nil
}

// Empty reports whether the database has neither creatives nor tasks.
func Empty(ctx context.Context, db *mongo.Database) (bool, error) {
	for _, name := range []string{creatives.Collection, tasks.Collection} {
		n, err := db.Collection(name).CountDocuments(ctx, bson.D{}, options.Count().SetLimit(1))
		if err != nil || n > 0 {
			return false, mongodb.Convert(err)
		}
	}
	return true, nil
}

// Run writes everything in batches. Documents of the same seed that are there already are left as they are, so a run
// that was interrupted can be run again.
func (s *Seeder) Run(ctx context.Context) (Summary, error) {
	for i := range s.options.Creatives {
		if err := s.add(ctx, creatives.Collection, s.maker(creatives.Collection, s.options.FirstCreative+i).creative()); err != nil {
			return s.summary, err
		}
	}
	for i := range s.options.Tasks {
		if err := s.addTask(ctx, i); err != nil {
			return s.summary, err
		}
	}
	for name := range s.batches {
		if err := s.flush(ctx, name); err != nil {
			return s.summary, err
		}
	}
	return s.summary, nil
}

func (s *Seeder) addTask(ctx context.Context, i int) error {
	m := s.maker(tasks.Collection, i)
	task := m.task(s.options)
	if err := s.add(ctx, tasks.Collection, task); err != nil {
		return err
	}
	for _, c := range m.comments() {
		if err := s.add(ctx, comments.Collection, c); err != nil {
			return err
		}
	}
	for _, h := range m.history() {
		if err := s.add(ctx, history.Collection, h); err != nil {
			return err
		}
	}
	return nil
}

func (s *Seeder) add(ctx context.Context, collection string, doc bson.D) error {
	if s.options.OmitAbsent {
		doc = present(doc)
	}
	s.batches[collection] = append(s.batches[collection], doc)
	if len(s.batches[collection]) < batchSize {
		return nil
	}
	return s.flush(ctx, collection)
}

func (s *Seeder) flush(ctx context.Context, collection string) error {
	docs := s.batches[collection]
	if len(docs) == 0 {
		return nil
	}
	if collection != history.Collection {
		now, err := mongodb.ServerTime(ctx, s.db)
		if err != nil {
			return mongodb.Convert(err)
		}
		for i := range docs {
			docs[i] = stamped(docs[i], now)
		}
	}
	_, err := s.db.Collection(collection).InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	present, err := alreadyThere(err)
	if err != nil {
		return mongodb.Convert(err)
	}
	s.summary.Inserted[collection] += len(docs) - present
	s.summary.Present += present
	s.batches[collection] = docs[:0]
	s.progress(len(docs))
	return nil
}

// alreadyThere counts the documents that an insert found in the database. Any other error comes back.
func alreadyThere(err error) (int, error) {
	bulk, ok := errors.AsType[mongo.BulkWriteException](err)
	if !ok || bulk.WriteConcernError != nil {
		return 0, err
	}
	for _, e := range bulk.WriteErrors {
		if !mongodb.IsDuplicateKey(e) {
			return 0, err
		}
	}
	return len(bulk.WriteErrors), nil
}

// maker makes one document and those below it. Its random numbers depend on the seed, the collection and
// the number of the document alone, so that document 7 is the same in a set of ten and of a million.
type maker struct {
	*rand.Rand
	number int
	id     bson.ObjectID
	seed   uint64
	// ownMode is the task's mode, once it is made: its comments have the same one.
	ownMode string
}

func (s *Seeder) maker(collection string, number int) *maker {
	h := fnv.New64a()
	_, _ = h.Write([]byte(collection)) // a hash never fails
	stream := h.Sum64() + uint64(number)
	return &maker{
		Rand:   rand.New(rand.NewPCG(s.options.Seed, stream)), //nolint:gosec // made data, no secret
		number: number, seed: s.options.Seed, id: objectID(collection, s.options.Seed, number),
	}
}

// objectID is a stable id: time, then five bytes of collection and seed, then the number, as real ids have it.
func objectID(collection string, seed uint64, number int) bson.ObjectID {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, collection, seed)
	sum := h.Sum64()
	id := bson.NewObjectIDFromTimestamp(epoch())
	for i := range 5 {
		id[4+i] = byte(sum >> (8 * i))
	}
	id[9], id[10], id[11] = byte(number>>16), byte(number>>8), byte(number)
	return id
}
