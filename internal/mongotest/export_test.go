package mongotest

import (
	"maps"
	"slices"
)

// Decide is what Needs does about the needs that are missing.
var Decide = decide

// EveryNeed lists all needs.
func EveryNeed() []Need { return slices.Sorted(maps.Keys(tries)) }
