package groups

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/creatives"
	"catalogue/internal/listing"
	"catalogue/internal/mongodb"
	"catalogue/pagination"
	"catalogue/querybuilder"
)

// CursorKey signs the cursors of the catalogue under test, so that the groups can make cursors of any depth themselves.
const CursorKey = "a key for the cursors of benchmarks that is no secret"

const (
	// stretch is the part of a phase that the pages of one place are drawn from: neighbours alone may all lie in one tie.
	stretch = 0.02
	// fewestPages is how many different pages a place must offer to be measured.
	fewestPages = 10
	// shuffles decides in which order pages are taken and which objects are written: the same in every run.
	shuffles = 1
)

// place is how far into a phase of a list a page begins: 0 is the start of the phase, 1 its end.
type place struct {
	phase pagination.Phase
	depth float64
}

// first is the place of a list's first page.
func first() place { return place{phase: pagination.Values} }

func (p place) String() string {
	if p.depth == 0 {
		return phaseName(p.phase) + ", start"
	}
	return fmt.Sprintf("%s, %.0f %%", phaseName(p.phase), 100*p.depth)
}

func phaseName(p pagination.Phase) string {
	if p == pagination.Nulls {
		return "nulls"
	}
	return "values"
}

// list is a list of creatives in one order and under one filter.
type list struct {
	name, path string
	order      pagination.Order
	parameters url.Values // what a request repeats besides limit and cursor
	filter     bson.D     // compiled, nil without one
	digest     string     // of the filter, empty without one
	hint       string     // the index that the catalogue names, empty under a filter
	query      func(from pagination.RowPosition, limit int) pagination.Query
	// lengths are those that were counted, since a count of a million rows takes its time. They are for one goroutine.
	lengths map[part]int
}

// part is one phase of a list in one database.
type part struct {
	database, digest string
	phase            pagination.Phase
}

// newList makes the list in an order as clients write it. What the catalogue gives to a page, index and projection, is
// taken from its own declaration.
func newList[T any](l listing.List[T], sort string) (list, error) {
	order, ok := l.Sorts.Parse(sort)
	if !ok {
		return list{}, fmt.Errorf("%s has no sort %q", l.Path, sort)
	}
	return list{
		name: l.Name, path: l.Path, order: order, parameters: url.Values{"sort": {sort}}, hint: l.Index(order.Sort).Name(),
		query: func(from pagination.RowPosition, limit int) pagination.Query {
			return l.Query(bson.NilObjectID, order, from, limit)
		},
		lengths: map[part]int{},
	}, nil
}

// filtered is the list under a short filter, such as status=active.
func (l list) filtered(name, value string) (list, error) {
	fields := creatives.Fields()
	rule, err := fields.Short(name, value)
	if err != nil {
		return list{}, err
	}
	filter, err := fields.Check(querybuilder.Join(rule), time.UTC)
	if err != nil {
		return list{}, err
	}
	l.filter, l.digest, l.hint = filter.Compile(time.Time{}), filter.Digest(), ""
	l.parameters = url.Values{"sort": l.parameters["sort"], name: {value}}
	return l, nil
}

// target is the path and query of a page; cursor is empty for the first one.
func (l list) target(limit int, cursor string) string {
	parameters := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, values := range l.parameters {
		parameters[name] = values
	}
	if cursor != "" {
		parameters.Set("cursor", cursor)
	}
	return l.path + "?" + parameters.Encode()
}

// mint makes the cursor of a position, as the catalogue itself would hand it out.
func (l list) mint(at pagination.RowPosition) (string, error) {
	keys, err := pagination.NewKeyring(CursorKey)
	if err != nil {
		return "", err
	}
	return keys.Encode(pagination.NewCursor(pagination.Scope{List: l.name}, l.order, l.digest, 0, at))
}

// reads are the find commands that a page may take, in the order in which they would run.
func (l list) reads(from pagination.RowPosition, limit int) []bson.D {
	query := l.query(from, limit)
	query.Filter, query.Hint = l.filter, l.hint
	var out []bson.D
	for _, find := range pagination.Finds(creatives.Collection, query) {
		out = append(out, find.Command)
	}
	return out
}

// positions finds where pages about a place begin, at most n, so that no single page is read again and again. Behind each
// there is a whole page and a row more. The start of a phase is one position. It answers with none where the
// phase is too short for that.
func (l list) positions(ctx context.Context, db *mongo.Database, at place, limit, n int) ([]pagination.RowPosition, error) {
	start := pagination.RowPosition{Phase: at.phase}
	whole := l.reads(start, limit)[0] // the read of the whole phase
	rows, err := l.length(ctx, db, at.phase, whole)
	if err != nil {
		return nil, err
	}
	latest := rows - (limit + 1) // the last row count behind which there is a whole page
	switch {
	case latest < 0:
		return nil, nil
	case at.depth == 0:
		return []pagination.RowPosition{start}, nil
	case latest < fewestPages:
		return nil, nil
	}
	wide := max(n, int(stretch*float64(rows)))
	behind := min(int(at.depth*float64(rows))-wide/2, latest-fewestPages+1)
	behind = max(behind, 1)
	out, err := l.window(ctx, db, whole, at.phase, behind, min(wide, latest-behind+1), limit)
	return out[:min(n, len(out))], err
}

// length is how many rows a phase has.
func (l list) length(ctx context.Context, db *mongo.Database, phase pagination.Phase, whole bson.D) (int, error) {
	p := part{db.Name(), l.digest, phase}
	if n, known := l.lengths[p]; known {
		return n, nil
	}
	n, err := count(ctx, db, whole)
	if err == nil {
		l.lengths[p] = n
	}
	return n, err
}

// window reads the rows from number behind-1 on, with those of the pages before them, and makes the positions between each
// and the next.
func (l list) window(
	ctx context.Context, db *mongo.Database, phase bson.D, which pagination.Phase, behind, n, limit int,
) ([]pagination.RowPosition, error) {
	before := min(limit, behind) // rows of the page that ends at the first position
	rows := int64(before + n)
	find := with(phase, "projection", bson.D{{Key: l.order.Field, Value: int32(1)}})
	find = with(with(with(find, "limit", rows), "batchSize", rows), "skip", int64(behind-before))
	docs, err := mongodb.Find(ctx, db, find)
	if err != nil {
		return nil, fmt.Errorf("read the rows about %d of %s: %w", behind, l.order, err)
	}
	keys := make([]pagination.RowKey, len(docs))
	for i, doc := range docs {
		keys[i] = pagination.RowKey{Phase: which, ID: doc.Lookup("_id").ObjectID()}
		if which == pagination.Values {
			keys[i].Value = doc.Lookup(strings.Split(l.order.Field, ".")...)
		}
	}
	out := make([]pagination.RowPosition, 0, n)
	for end := before; end < len(keys); end++ {
		out = append(out, pagination.PositionBehind(keys[max(0, end-limit):end], keys[end], func(k pagination.RowKey) pagination.RowKey { return k }))
	}
	dice(0).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out, nil
}

// count counts the rows of a find command.
func count(ctx context.Context, db *mongo.Database, find bson.D) (int, error) {
	command := bson.D{{Key: "count", Value: creatives.Collection}}
	for _, e := range find {
		switch e.Key {
		case "filter":
			command = append(command, bson.E{Key: "query", Value: e.Value})
		case "hint":
			command = append(command, e)
		}
	}
	var answer struct{ N float64 }
	if err := db.RunCommand(ctx, command).Decode(&answer); err != nil {
		return 0, fmt.Errorf("count the rows of a phase: %w", err)
	}
	return int(answer.N), nil
}

// with is a command with one of its fields set.
func with(command bson.D, key string, value any) bson.D {
	out := make(bson.D, 0, len(command)+1)
	for _, e := range command {
		if e.Key != key {
			out = append(out, e)
		}
	}
	return append(out, bson.E{Key: key, Value: value})
}

// dice are one of many sequences of random numbers.
func dice(sequence uint64) *rand.Rand {
	return rand.New(rand.NewPCG(shuffles, sequence)) //nolint:gosec // what is measured next is no secret
}
