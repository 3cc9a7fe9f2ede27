package groups

import (
	"fmt"
	"time"

	"catalogue/creatives"
	"catalogue/indexes"
	"catalogue/querybuilder"
)

// The ways to choose the index of a page under a filter.
const (
	byPlanner = "planner"
	bySort    = "index of the sort"
	byPair    = "index of the pair"
)

// hintCase is a filter with a sort.
type hintCase struct {
	name  string
	sort  string
	rules string // of the filter, as a screen sends them; all must match
	pair  string // the field of a declared pair that the filter has a condition on, or empty
}

// hintCases are filters of every kind that the rule tells apart, of different selectivity.
func hintCases() []hintCase {
	const (
		newest, spent  = "-created_at", "metrics.spend"
		active         = `{"field":"status","operator":"=","value":"active"}`
		either         = `{"field":"status","operator":"in","value":"draft,paused"}`
		video          = `{"field":"format","operator":"=","value":"video"}`
		brand          = `{"field":"tags","operator":"=","value":"brand"}`
		noTag          = `{"field":"tags","operator":"=","value":"no such tag"}`
		noSource       = `{"field":"source.id","operator":"=","value":"none"},{"field":"source.system","operator":"=","value":"none"}`
		anHour         = `{"field":"created_at","operator":"between","value":["2025-06-01T00:00:00Z","2025-06-01T02:00:00Z"]}`
		months         = `{"field":"created_at","operator":"between","value":["2025-01-01","2025-05-31"]}`
		rareName       = `{"field":"name","operator":"contains","value":"#471"}`
		commonName     = `{"field":"name","operator":"contains","value":"sale"}`
		someSpend      = `{"field":"metrics.spend","operator":"between","value":["5000","5001.7"]}`
		moreSpend      = `{"field":"metrics.spend","operator":"between","value":["5000","5167"]}`
		muchSpend      = `{"field":"metrics.spend","operator":"between","value":["5000","8333"]}`
		anyRate        = `{"field":"metrics.ctr","operator":"notNull"}`
		nearlyAnySpend = `{"field":"metrics.spend","operator":"between","value":["200","10000"]}`
	)
	return []hintCase{
		{"status is active", newest, active, "status"},
		{"format is video", newest, video, "format"},
		{"status is active, created within two hours", newest, active + "," + anHour, "status"},
		{"status is active, created within five months", newest, active + "," + months, "status"},
		{"status is active, name contains “sale”", newest, active + "," + commonName, "status"},
		{"status is active, there is a click-through rate", newest, active + "," + anyRate, "status"},
		{"created within two hours", newest, anHour, ""},
		{"created within five months", newest, months, ""},
		{"spend within 3,333", spent, muchSpend, ""},
		{"status is active, spend within 1.7", newest, active + "," + someSpend, "status"},
		{"status is one of two", newest, either, "status"},
		{"tagged brand", newest, brand, "tags"},
		{"tagged with a tag of no row", newest, noTag, "tags"},
		{"source of no row", newest, noSource, ""},
		{"spend within 1.7", newest, someSpend, ""},
		{"spend within 167", newest, moreSpend, ""},
		{"spend within 3,333", newest, muchSpend, ""},
		{"spend from 200 on", newest, nearlyAnySpend, ""},
		{"name contains “#471”", newest, rareName, ""},
		{"name contains “sale”", newest, commonName, ""},
		{"status is active", spent, active, ""},
		{"created within two hours", spent, anHour, ""},
		{"created within five months", spent, months, ""},
	}
}

// list is the list of the case as the catalogue reads it without a hint, with the filter that it has.
func (c hintCase) list() (list, querybuilder.Filter, error) {
	l, err := newList(creatives.List(), c.sort)
	if err != nil {
		return list{}, querybuilder.Filter{}, err
	}
	filter, err := creatives.Fields().Parse([]byte(`{"combinator":"and","rules":[`+c.rules+`]}`), time.UTC)
	if err != nil {
		return list{}, filter, fmt.Errorf("the filter %s: %w", c.name, err)
	}
	l.filter, l.digest, l.hint = filter.Compile(time.Time{}), filter.Digest(), ""
	return l, filter, nil
}

// ruled is the way that the catalogue chooses.
func ruled(l list, filter querybuilder.Filter) string {
	index, chosen := creatives.List().IndexFor(l.order, filter)
	switch {
	case !chosen:
		return byPlanner
	case index.Name() == creatives.List().Index(l.order.Sort).Name():
		return bySort
	default:
		return byPair
	}
}

// ways are the hints to measure, the planner's choice first.
func (c hintCase) ways(l list) []hintWay {
	out := []hintWay{{name: byPlanner}, {name: bySort, hint: creatives.List().Index(l.order.Sort).Name()}}
	if c.pair != "" {
		pair := indexes.ForSort(creatives.Collection, []string{c.pair}, l.order.Field, "")
		out = append(out, hintWay{name: byPair, hint: pair.Name()})
	}
	return out
}

// hintWay is one way to choose the index, with the name that is hinted.
type hintWay struct{ name, hint string }
