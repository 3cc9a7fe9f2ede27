// Package shards simulates the pages of a keyset list whose rows lie on several shards: how many rows the shards read for
// one that is served, and how long a page waits for the slowest of them. The reads and cursors are those of package
// pagination; what is simulated is the router, which asks shards and merges their answers.
package shards

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sort"

	"catalogue/pagination"
)

// Row is a row of the list: its place in the order is all that matters.
type Row = pagination.Key[int]

// Position is where a page begins.
type Position = pagination.Position[int]

// Arm is a way to spread rows over shards and to gather a page from them.
type Arm int

// The arms.
const (
	// HashedWhole: rows are spread by a hash of _id. Every shard is asked for the whole page at once. This is what a router
	// does with a batch as large as the limit.
	HashedWhole Arm = iota + 1
	// HashedBatched: spread alike. Every shard is asked for its share of the page and half as much again, and the one whose
	// answer is used up is asked once more.
	HashedBatched
	// RangedWhole: rows are spread by ranges of the sort field and _id. Every shard that holds rows behind the cursor is asked
	// for the whole page at once, as a router does: it does not know how many of them it will need.
	RangedWhole
	// RangedInTurn: spread alike. The shard that the cursor points into is asked, and the next one for what is missing.
	RangedInTurn
)

// Arms lists them all.
func Arms() []Arm { return []Arm{HashedWhole, HashedBatched, RangedWhole, RangedInTurn} }

// String names the arm on the page of results.
func (a Arm) String() string {
	switch a {
	case HashedWhole:
		return "hash of _id, whole page of each shard"
	case HashedBatched:
		return "hash of _id, batches"
	case RangedWhole:
		return "ranges of the sort, whole page of each shard behind the cursor"
	default:
		return "ranges of the sort, one shard after the other"
	}
}

func (a Arm) hashed() bool { return a == HashedWhole || a == HashedBatched }

// Cluster is a list on several shards.
type Cluster struct {
	arm        Arm
	descending bool
	shards     [][]Row // each in the order of the list
}

// New spreads rows over k shards, at least one. The rows are not changed.
func New(arm Arm, rows []Row, k int, descending bool) *Cluster {
	c := &Cluster{arm: arm, descending: descending, shards: make([][]Row, k)}
	list := slices.Clone(rows)
	slices.SortFunc(list, c.compare)
	for i, row := range list {
		shard := i * k / len(list)
		if arm.hashed() {
			shard = int(hash(row.ID) % uint64(k)) //nolint:gosec // less than k, which is an int
		}
		c.shards[shard] = append(c.shards[shard], row)
	}
	return c
}

func hash(id pagination.ID) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(id[:]) // a hash never fails
	return h.Sum64()
}

// compare is the order of the list: phases in their sequence, then value and id in the list's direction.
func (c *Cluster) compare(a, b Row) int {
	if a.Phase != b.Phase {
		return int(a.Phase - b.Phase)
	}
	order := a.Value - b.Value
	if order == 0 {
		order = slices.Compare(a.ID[:], b.ID[:])
	}
	if c.descending {
		return -order
	}
	return order
}

// Page is a page and what it took.
type Page struct {
	Rows []Row
	Next *Position // nil on the last page
	Read int       // rows that the shards answered with
	// Rounds says for each time that the router waited how many shards it waited for.
	Rounds []int
}

// Page reads the page that begins at from, in the way in which pagination reads it.
func (c *Cluster) Page(from Position, limit int) Page {
	var page Page
	rows, _ := pagination.Collect(from, limit+1, func(read pagination.Read[int], n int) ([]Row, error) {
		return c.gather(read, n, &page), nil
	})
	end := min(limit, len(rows))
	page.Rows = rows[:end]
	if end < len(rows) {
		page.Next = new(pagination.Next(rows[end-1], rows[end], func(a, b int) bool { return a == b }))
	}
	return page
}

// Walk reads every page from the first to the last.
func (c *Cluster) Walk(limit int, visit func(Page)) {
	from := pagination.Start[int]()
	for {
		page := c.Page(from, limit)
		visit(page)
		if page.Next == nil {
			return
		}
		from = *page.Next
	}
}

// gather gets n rows of a read, or all where there are fewer, and adds what it took to page.
func (c *Cluster) gather(read pagination.Read[int], n int, page *Page) []Row {
	found := make([][]Row, 0, len(c.shards))
	for _, shard := range c.shards {
		if rows := c.within(read, shard); c.arm.hashed() || len(rows) > 0 {
			found = append(found, rows)
		}
	}
	switch c.arm {
	case RangedInTurn:
		return inTurn(found, n, page)
	case HashedBatched:
		return c.merge(found, n, batch(n, len(found)), page)
	default:
		return c.merge(found, n, n, page)
	}
}

// batch is the share of one of k shards in n rows, half as much again, and one.
func batch(n, k int) int { return min(n, (3*n+2*k-1)/(2*k)+1) }

// within cuts out of a shard the rows of a read: they are neighbours.
func (c *Cluster) within(read pagination.Read[int], shard []Row) []Row {
	place := Row{Phase: read.Phase(), Value: read.Value, ID: read.ID}
	behind := func(row Row) bool { return c.compare(row, place) > 0 }
	ended := func(row Row) bool { return row.Phase > place.Phase }
	tied := func(row Row) bool { return row.Phase == pagination.Values && row.Value == read.Value }
	switch {
	case !read.Bounded:
		behind = func(row Row) bool { return row.Phase >= place.Phase }
	case read.Kind == pagination.ReadTies:
		ended = func(row Row) bool { return behind(row) && !tied(row) }
	case read.Kind == pagination.ReadValues:
		place.ID = pagination.ID{} // before or behind all that are tied, by the direction
		behind = func(row Row) bool { return c.compare(row, place) > 0 && !tied(row) }
	}
	first := sort.Search(len(shard), func(i int) bool { return behind(shard[i]) })
	rest := shard[first:]
	return rest[:sort.Search(len(rest), func(i int) bool { return ended(rest[i]) })]
}

// inTurn asks one shard after the other.
func inTurn(found [][]Row, n int, page *Page) []Row {
	var out []Row
	for _, rows := range found {
		if len(out) == n {
			break
		}
		take := min(n-len(out), len(rows))
		out = append(out, rows[:take]...)
		page.Read += take
		page.Rounds = append(page.Rounds, 1)
	}
	if len(found) == 0 {
		page.Rounds = append(page.Rounds, 1) // the shard that would hold such rows says that there are none
	}
	return out
}

// merge asks all shards at once for batch rows each, takes the least row again and again, and asks a shard once more
// where all that it has answered was taken.
func (c *Cluster) merge(found [][]Row, n, batch int, page *Page) []Row {
	page.Rounds = append(page.Rounds, max(1, len(found)))
	answered := make([]int, len(found)) // rows of each shard that the router has
	taken := make([]int, len(found))
	for i, rows := range found {
		answered[i] = min(batch, len(rows))
		page.Read += answered[i]
	}
	var out []Row
	for len(out) < n {
		least := -1
		for i, rows := range found {
			if taken[i] == answered[i] && answered[i] < len(rows) {
				more := min(batch, len(rows)-answered[i])
				answered[i] += more
				page.Read += more
				page.Rounds = append(page.Rounds, 1)
			}
			if taken[i] < answered[i] && (least < 0 || c.compare(rows[taken[i]], found[least][taken[least]]) < 0) {
				least = i
			}
		}
		if least < 0 {
			break
		}
		out = append(out, found[least][taken[least]])
		taken[least]++
	}
	return out
}

// id makes the id of a number: larger numbers have larger ids.
func id(n int) pagination.ID {
	var out pagination.ID
	binary.BigEndian.PutUint64(out[4:], uint64(n)) //nolint:gosec // never negative
	return out
}
