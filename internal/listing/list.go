// Package listing serves every list of the catalogue through one handler. A domain declares its lists as values.
package listing

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/indexes"
	"catalogue/internal/strictbson"
	"catalogue/pagination"
	"catalogue/querybuilder"
)

// List declares a list: what is in it, how it may be ordered and what an item shows.
type List[T any] struct {
	Name       string // part of every cursor, so it never changes its meaning
	Path       string // route; a list below an entity has the parameter :id
	Collection string
	// Fixed gives the equalities that hold for every item, in the order of the index. parent is the entity's id for a
	// list below one, else zero. Nil for a whole collection.
	Fixed   func(parent bson.ObjectID) bson.D
	Sorts   pagination.Sorts
	Default pagination.Order
	Decoder *strictbson.Decoder[T] // also says which fields are fetched
	// Fields are what the list may be filtered by; the zero value for a list that cannot be.
	Fields querybuilder.Schema
	// SearchPath is the route of the same list for filters too long for a URL; empty where there is none.
	SearchPath string
	// Pairs are indexes for filters that many use. They are kept few: every one costs each write.
	Pairs []Pair
}

// Pair is a filter field and a sort that are used together often enough for an index of their own.
type Pair struct {
	Filter, Sort string
	Reason       string
}

// fixed is Fixed where there is one.
func (l List[T]) fixed(parent bson.ObjectID) bson.D {
	if l.Fixed == nil {
		return nil
	}
	return l.Fixed(parent)
}

// Index is the index that serves one sort of the list in both directions.
func (l List[T]) Index(sort pagination.Sort) indexes.Index {
	var equalities []string
	for _, e := range l.fixed(bson.NilObjectID) {
		equalities = append(equalities, e.Key)
	}
	return indexes.ForSort(l.Collection, equalities, sort.Field,
		fmt.Sprintf("sort %s of %s", sort.Field, strings.Replace(l.Path, ":id", "{id}", 1)))
}

// Indexes are the indexes that the list's sorts and filters need.
func (l List[T]) Indexes() []indexes.Index {
	out := make([]indexes.Index, 0, len(l.Sorts))
	for _, sort := range l.Sorts {
		out = append(out, l.Index(sort))
	}
	for _, p := range l.Pairs {
		out = append(out, l.pairIndex(p))
	}
	return out
}

func (l List[T]) pairIndex(p Pair) indexes.Index {
	return indexes.ForSort(l.Collection, []string{p.Filter}, p.Sort, p.Reason)
}

// projection is what items show, and the sort field, without which a page has no place in the order.
func (l List[T]) projection(order pagination.Order) bson.D {
	shown := l.Decoder.Projection()
	field, _, _ := strings.Cut(order.Field, ".") // its parent, where that is shown too: one cannot ask for both
	if slices.ContainsFunc(shown, func(e bson.E) bool { return e.Key == field }) {
		return shown
	}
	return append(slices.Clone(shown), bson.E{Key: order.Field, Value: int32(1)})
}

// Query makes the query of a page.
func (l List[T]) Query(parent bson.ObjectID, order pagination.Order, from pagination.RowPosition, limit int) pagination.Query {
	return pagination.Query{
		Fixed: l.fixed(parent), Projection: l.projection(order), Order: order, From: from, Limit: limit,
	}
}
