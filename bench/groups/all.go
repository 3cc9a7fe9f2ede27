package groups

// All are the groups in the order of the page: what is promised first, then what explains it.
func All() []Group {
	return []Group{
		{ID: "depth", Title: "Cost at depth", Run: Depth},
		{ID: "peers", Title: "What it replaces", Run: Peers},
		{ID: "overhead", Title: "What the catalogue adds to the database", Run: Overhead},
		{ID: "firstpage", Title: "First pages and their totals", Run: FirstPage},
		{ID: "load", Title: "Many clients at once", Run: Load},
		{ID: "writes", Title: "Reads while others write", Run: Writes},
		{ID: "hints", Title: "Hints under a filter", Run: Hints},
		{ID: "micro", Title: "Single steps", Run: Micro},
		{ID: "scale", Title: "Scale on paper", Run: Scale},
	}
}
