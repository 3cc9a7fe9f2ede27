package feed

import (
	"bytes"
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// row is an object's entry in the feed: its place, and the stored document.
type row struct {
	at  float64 // public_modified, in Unix seconds
	id  bson.ObjectID
	doc bson.Raw
}

// span is one range of the index (feed, public_modified, _id): the rows of a range of timestamps in Unix seconds,
// inclusive unless open, in the order of the walk.
type span struct {
	low, high         float64
	lowOpen, highOpen bool
	descending        bool
	behind            *bson.ObjectID // only rows behind this one, where low and high are one timestamp; else nil
}

func (s span) empty() bool { return s.low > s.high || s.low == s.high && (s.lowOpen || s.highOpen) }

// reader reads at most n rows of a span. With placesOnly nothing but their places is needed.
type reader func(s span, n int, placesOnly bool) ([]row, error)

// question is what a page is asked for.
type question struct {
	from       offset
	descending bool
	limit      int     // 1 to maxLimit
	horizon    float64 // no row with a larger timestamp is shown
}

// page is the answer. The offsets mean something where there are rows only.
type page struct {
	rows       []row
	next, prev offset
}

// spans are the ranges that hold the rows from q.from on, one after the other.
func (q question) spans() []span {
	whole := span{low: minTimestamp, high: min(q.horizon, maxTimestamp), descending: q.descending}
	rest := whole
	if q.from.form != formBegin {
		open := q.from.form != formGroup
		switch {
		case q.descending && q.from.at <= rest.high:
			rest.high, rest.highOpen = q.from.at, open
		case !q.descending && q.from.at >= rest.low:
			rest.low, rest.lowOpen = q.from.at, open
		}
	}
	var out []span
	if q.from.form == formWithin && q.from.at <= whole.high {
		out = append(out, span{low: q.from.at, high: q.from.at, descending: q.descending, behind: &q.from.id})
	}
	if !rest.empty() {
		out = append(out, rest)
	}
	return out
}

// readPage reads one page: as a rule one range, two where the offset lies inside a large group, and a short look
// further where the page ends inside a group whose size has to be known.
func readPage(q question, read reader) (page, error) {
	want := q.from.n + q.limit + 1 // the rows to hide, the page, and the first row behind it
	var rows []row
	for _, s := range q.spans() {
		found, err := read(s, want-len(rows), false)
		if err != nil {
			return page{}, err
		}
		if rows = append(rows, found...); len(rows) >= want {
			break
		}
	}
	ended := len(rows) < want
	hidden, rows := hide(q.from, rows)
	end := min(q.limit, len(rows))
	if end == 0 {
		return page{}, nil
	}
	b := boundaries{question: q, hidden: hidden, shown: rows[:end], rest: rows[end:], ended: ended}
	next, err := b.next(read)
	if err != nil {
		return page{}, err
	}
	return page{rows: b.shown, next: next, prev: b.prev()}, nil
}

// hide takes off the rows that the client has, where those at the timestamp still begin with exactly these. Where they
// do not, it hides none: the whole group is served again.
func hide(from offset, rows []row) (hidden, rest []row) {
	if from.form != formGroup || len(rows) < from.n {
		return nil, rows
	}
	served := rows[:from.n]
	if served[from.n-1].at != from.at || hashIDs(idsOf(served)) != from.hash {
		return nil, rows
	}
	return served, rows[from.n:]
}

// boundaries makes the offsets at both ends of a page.
type boundaries struct {
	question
	hidden []row // of the timestamp of the question's offset
	shown  []row // at least one
	rest   []row // what was read behind the page
	ended  bool  // nothing is behind rest
}

// next is the offset behind the last row. It names that row where its group is larger than the limit, since a client
// could not take such a group whole; else it counts the rows of the group that were served, the hidden ones included.
func (b boundaries) next(read reader) (offset, error) {
	last := b.shown[len(b.shown)-1]
	inside := offset{form: formWithin, at: last.at, id: last.id}
	if b.insideOf(last.at) {
		return inside, nil
	}
	group := b.shown[len(b.shown)-runBack(b.shown, last.at):]
	served := append(b.hiddenAt(last.at), idsOf(group)...)
	size, err := b.size(len(served), last, read)
	if err != nil {
		return offset{}, err
	}
	if size > b.limit {
		return inside, nil
	}
	return offset{form: formGroup, at: last.at, n: len(served), hash: hashIDs(served)}, nil
}

// size is how many rows the group of the last row has, of which served are known. It is exact up to the limit: beyond
// that it does not matter by how much.
func (b boundaries) size(served int, last row, read reader) (int, error) {
	more := runFront(b.rest, last.at)
	size := served + more
	if size > b.limit || more < len(b.rest) || b.ended {
		return size, nil
	}
	if more > 0 {
		last = b.rest[more-1]
	}
	further := span{low: last.at, high: last.at, descending: b.descending, behind: &last.id}
	found, err := read(further, b.limit+1-size, true)
	return size + len(found), err
}

// prev is the offset before the first row, for a walk in the other direction. It counts the rows of this page: what was
// hidden lies on the other side of it.
func (b boundaries) prev() offset {
	first := b.shown[0]
	inside := offset{form: formWithin, at: first.at, id: first.id}
	if b.insideOf(first.at) {
		return inside
	}
	group := b.shown[:runFront(b.shown, first.at)]
	size := len(b.hiddenAt(first.at)) + len(group)
	if len(group) == len(b.shown) {
		size += runFront(b.rest, first.at) // more than the limit, if there is one
	}
	if size > b.limit {
		return inside
	}
	return offset{form: formGroup, at: first.at, n: len(group), hash: hashIDs(idsOf(group))}
}

// insideOf reports whether the page goes on inside the group at a timestamp, so that nobody has counted the rows before.
func (b boundaries) insideOf(at float64) bool { return b.from.form == formWithin && b.from.at == at }

func (b boundaries) hiddenAt(at float64) []bson.ObjectID {
	if len(b.hidden) == 0 || b.from.at != at {
		return nil
	}
	return idsOf(b.hidden)
}

// runFront counts the rows at the front that have a timestamp.
func runFront(rows []row, at float64) int {
	n := 0
	for n < len(rows) && rows[n].at == at {
		n++
	}
	return n
}

// runBack counts the rows at the back that have a timestamp.
func runBack(rows []row, at float64) int {
	n := 0
	for n < len(rows) && rows[len(rows)-1-n].at == at {
		n++
	}
	return n
}

func idsOf(rows []row) []bson.ObjectID {
	out := make([]bson.ObjectID, len(rows))
	for i, r := range rows {
		out[i] = r.id
	}
	return out
}

// mergeRows makes one sequence of two, at most n rows.
func mergeRows(a, b []row, descending bool, n int) []row {
	out := make([]row, 0, min(n, len(a)+len(b)))
	for len(out) < n && len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && before(a[0], b[0], descending) {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

func before(a, b row, descending bool) bool {
	c := cmp.Or(cmp.Compare(a.at, b.at), bytes.Compare(a.id[:], b.id[:]))
	if descending {
		return c > 0
	}
	return c < 0
}
