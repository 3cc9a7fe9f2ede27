package feed

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/sync/errgroup"

	"catalogue/internal/mongodb"
)

// Store reads the feed of one collection, on the primary: its client sees to that.
type Store struct {
	coll    *mongo.Collection
	hint    func() string
	refused func(index string)
}

// NewStore makes a store. hint names the index of Index where it can be hinted, else it is empty; refused is told of a
// name that the database would not take, and may be nil.
func NewStore(coll *mongo.Collection, hint func() string, refused func(index string)) *Store {
	if refused == nil {
		refused = func(string) {}
	}
	return &Store{coll: coll, hint: hint, refused: refused}
}

func (s *Store) name() string { return s.coll.Name() }

// DatabaseClock is the clock of the primary.
func DatabaseClock(db *mongo.Database) Clock {
	return func(ctx context.Context) (time.Time, error) {
		now, err := mongodb.ServerTime(ctx, db)
		return now, mongodb.Convert(err)
	}
}

// read reads at most n rows of a span from each of feeds, merged in the order of the walk. fields are what is read of a
// document beyond its place. Errors are those of mongodb.Convert.
func (s *Store) read(ctx context.Context, feeds []string, sp span, n int, fields bson.D) ([]row, error) {
	if len(feeds) == 1 {
		return s.readOne(ctx, feeds[0], sp, n, fields)
	}
	found := make([][]row, len(feeds))
	group, ctx := errgroup.WithContext(ctx)
	for i, feed := range feeds {
		group.Go(func() (err error) {
			found[i], err = s.readOne(ctx, feed, sp, n, fields)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var rows []row
	for _, more := range found {
		rows = mergeRows(rows, more, sp.descending, n)
	}
	return rows, nil
}

func (s *Store) readOne(ctx context.Context, feed string, sp span, n int, fields bson.D) ([]row, error) {
	find := s.command(feed, sp, n, fields)
	rows, placed, err := s.find(ctx, find)
	if err != nil || placed {
		return rows, err
	}
	// A row without a place has been stored by another program. To leave such rows out costs the index its tight range, so
	// it is done only where one was met; a page that was short for it would make a client believe that it is at the end.
	find.filter = append(find.filter, placeable()...)
	rows, _, err = s.find(ctx, find)
	return rows, err
}

// find runs a command. placed reports that every row had a place; the others are left out.
func (s *Store) find(ctx context.Context, find command) (rows []row, placed bool, err error) {
	db := s.coll.Database()
	docs, err := mongodb.Find(ctx, db, find.document(s.coll.Name()))
	if err != nil && find.hint != "" && mongodb.IsBadValue(err) { // dropped or hidden since the last look
		s.refused(find.hint)
		find.hint = ""
		docs, err = mongodb.Find(ctx, db, find.document(s.coll.Name()))
	}
	if err != nil {
		return nil, false, mongodb.Convert(err)
	}
	rows, placed = make([]row, 0, len(docs)), true
	for _, doc := range docs {
		at, fits := timestamp(doc.Lookup(fieldPublicModified))
		id, ok := doc.Lookup("_id").ObjectIDOK()
		if !fits || !ok {
			placed = false
			continue
		}
		rows = append(rows, row{at: at, id: id, doc: doc})
	}
	return rows, placed, nil
}

// byID reads the fields of one public object. It reports false where there is none. Errors are those of mongodb.Convert.
func (s *Store) byID(ctx context.Context, id bson.ObjectID, fields bson.D) (row, bool, error) {
	find := command{
		filter: bson.D{
			{Key: "_id", Value: id},
			{Key: fieldFeed, Value: bson.D{{Key: "$in", Value: bson.A{feedLive, feedTest}}}},
		},
		projection: fields, limit: 1,
	}
	docs, err := mongodb.Find(ctx, s.coll.Database(), find.document(s.coll.Name()))
	if err != nil || len(docs) == 0 {
		return row{}, false, mongodb.Convert(err)
	}
	at, placed := timestamp(docs[0].Lookup(fieldPublicModified))
	return row{at: at, id: id, doc: docs[0]}, placed, nil
}

// timestamp takes the numbers that a double holds. It reports false for anything else.
func timestamp(v bson.RawValue) (float64, bool) {
	var at float64
	switch v.Type {
	case bson.TypeDouble:
		at = v.Double()
	case bson.TypeInt32, bson.TypeInt64:
		at = float64(v.AsInt64())
	default:
		return 0, false
	}
	return at + 0, at >= minTimestamp && at <= maxTimestamp // -0 becomes 0
}

// command is a find command in the making.
type command struct {
	filter, sort, projection bson.D
	limit                    int
	hint                     string
}

func (s *Store) command(feed string, sp span, n int, fields bson.D) command {
	direction := int32(1)
	if sp.descending {
		direction = -1
	}
	filter := bson.D{{Key: fieldFeed, Value: feed}}
	if sp.behind != nil {
		beyond := "$gt"
		if sp.descending {
			beyond = "$lt"
		}
		filter = append(filter,
			bson.E{Key: fieldPublicModified, Value: sp.low},
			bson.E{Key: "_id", Value: bson.D{{Key: beyond, Value: *sp.behind}}})
	} else {
		low, high := "$gte", "$lte"
		if sp.lowOpen {
			low = "$gt"
		}
		if sp.highOpen {
			high = "$lt"
		}
		filter = append(filter, bson.E{Key: fieldPublicModified, Value: bson.D{{Key: low, Value: sp.low}, {Key: high, Value: sp.high}}})
	}
	return command{
		filter: filter, projection: fields, limit: n, hint: s.hint(),
		sort: bson.D{{Key: fieldPublicModified, Value: direction}, {Key: "_id", Value: direction}},
	}
}

// placeable matches the rows that have a place in the order.
func placeable() bson.D {
	numbers := bson.A{"double", "int", "long"}
	return bson.D{{Key: "$and", Value: bson.A{
		bson.D{{Key: fieldPublicModified, Value: bson.D{{Key: "$type", Value: numbers}}}},
		bson.D{{Key: fieldPublicModified, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$type", Value: "array"}}}}}},
		bson.D{{Key: "_id", Value: bson.D{{Key: "$type", Value: "objectId"}}}},
	}}}
}

// document writes the command. The batch is as large as the limit, so that the server closes its cursor at once. The
// driver adds maxTimeMS from the context's deadline.
func (c command) document(collection string) bson.D {
	doc := bson.D{
		{Key: "find", Value: collection},
		{Key: "filter", Value: c.filter},
		{Key: "limit", Value: int64(c.limit)},
		{Key: "batchSize", Value: int64(c.limit)},
		{Key: "projection", Value: c.projection},
	}
	if len(c.sort) > 0 {
		doc = append(doc, bson.E{Key: "sort", Value: c.sort})
	}
	if c.hint != "" {
		doc = append(doc, bson.E{Key: "hint", Value: c.hint})
	}
	return doc
}
