package listing

import (
	"slices"

	"catalogue/indexes"
	"catalogue/querybuilder"
)

// choice is an index by what a page needs it for: its sort field, and the field of a filter that stands before that.
type choice struct{ filter, sort string }

// choices are the indexes that may be hinted: those of the sorts, and of the pairs whose filter field holds one value.
// An index on a field that holds several has no order that the page could be read in.
func (l List[T]) choices() map[choice]indexes.Index {
	out := make(map[choice]indexes.Index, len(l.Sorts)+len(l.Pairs))
	for _, sort := range l.Sorts {
		out[choice{sort: sort.Field}] = l.Index(sort)
	}
	for _, p := range l.Pairs {
		if field, _ := l.Fields.Field(p.Filter); field.Kind != querybuilder.StringList {
			out[choice{filter: p.Filter, sort: p.Sort}] = l.pairIndex(p)
		}
	}
	return out
}

// hint names the index that a page is read from, or nothing where the choice is left to the planner.
//
// Without a filter that is the index of the sort. With one, it is that of a pair where the filter binds the pair's field
// to a single value, and no field beside it but that of the sort: the page is one range of the index then, and no other index
// could serve the filter better. Every other filter may match few rows of many, which a hinted index would be searched
// through for; how many they are, only the planner can tell. docs/performance.md has the figures.
func (e *endpoint[T]) hint(req request) string {
	wanted := choice{sort: req.order.Field}
	if !req.filter.Empty() {
		bounds, complete := req.filter.Bounds()
		bounds = slices.DeleteFunc(bounds, func(b querybuilder.Bound) bool { return b.Field == req.order.Field })
		if !complete || len(bounds) != 1 || !bounds[0].Single {
			return ""
		}
		wanted.filter = bounds[0].Field
	}
	index, declared := e.hinted[wanted]
	if !declared {
		return ""
	}
	return e.Hints.Hint(index)
}
