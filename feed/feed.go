// Package feed serves the synchronisation feed: public objects in the order in which they last changed, in pages that
// outside systems follow by an offset. The wire format is that of the ProZorro public API, so that its crawlers work
// unchanged. docs/feed.md says what it promises.
package feed

import (
	"catalogue/indexes"
	"catalogue/internal/strictbson"
)

// Prefix begins the path of every feed.
const Prefix = "/api/v1"

// The limits of a page.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// The fields that stored objects have for the feed. Other packages write them.
const (
	fieldFeed           = "feed" // feedLive or feedTest; absent where the object is not public
	fieldPublicModified = "public_modified"
	fieldDateModified   = "dateModified"

	feedLive = "live"
	feedTest = "test"
)

// The timestamps that the feed shows, in Unix seconds: from 1970 to the last millisecond that a date can be written for.
// What other programs store outside of them is in no page.
const (
	minTimestamp = 0
	maxTimestamp = 253402300799.999

	millisPerSecond = 1000
)

// Resource is one feed.
type Resource[T any] struct {
	Path       string // below Prefix: "tasks"
	Collection string
	// Decoder says which fields there are: by their JSON names they can be asked for, public_modified besides.
	Decoder *strictbson.Decoder[T]
}

// Index is the index that a collection's feed is read by, in both directions.
func Index(collection string) indexes.Index {
	return indexes.ForSort(collection, []string{fieldFeed}, fieldPublicModified, "feed of "+collection)
}

// Indexes are the indexes that the feeds of these collections need.
func Indexes(collections ...string) []indexes.Index {
	out := make([]indexes.Index, len(collections))
	for i, collection := range collections {
		out[i] = Index(collection)
	}
	return out
}
