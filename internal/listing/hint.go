package listing

import (
	"slices"

	"catalogue/indexes"
	"catalogue/pagination"
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

// IndexFor is the index that a page is to be read from. It reports false where the choice is left to the planner.
//
// Without a filter that is the index of the sort. With one, it is that of a pair where the filter asks for a single value
// of the pair's field, and of no other field anything but of the sort's: the page is one range of the index then, and no
// other index could serve it better. Any other filter may match few rows of many, which a hinted index would be searched
// through for; how many they are, only the planner can tell. docs/performance.md has the figures.
func (l List[T]) IndexFor(order pagination.Order, filter querybuilder.Filter) (indexes.Index, bool) {
	return chosen(l.choices(), order, filter)
}

func chosen(among map[choice]indexes.Index, order pagination.Order, filter querybuilder.Filter) (indexes.Index, bool) {
	wanted := choice{sort: order.Field}
	if !filter.Empty() {
		conditions, all := filter.Conditions()
		conditions = slices.DeleteFunc(conditions, func(c querybuilder.Condition) bool { return c.Field == order.Field })
		if !all || len(conditions) != 1 || !conditions[0].Single {
			return indexes.Index{}, false
		}
		wanted.filter = conditions[0].Field
	}
	index, declared := among[wanted]
	return index, declared
}

// hint names the index that a page is read from, empty where there is none to name.
func (e *endpoint[T]) hint(req request) string {
	index, ok := chosen(e.hinted, req.order, req.filter)
	if !ok {
		return ""
	}
	return e.Hints.Hint(index)
}
