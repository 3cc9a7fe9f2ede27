package seeding

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/creatives"
)

// stamped adds what the writer of all other objects keeps with them: the revision, the moment of the last change by
// the database's clock, and the feed that shows the object. Drafts are in none.
func stamped(doc bson.D, now time.Time) bson.D {
	doc = append(doc,
		bson.E{Key: "rev", Value: int64(1)},
		bson.E{Key: "dateModified", Value: now},
		bson.E{Key: "public_modified", Value: float64(now.UnixMilli()) / 1000})
	feed := creatives.ModeLive
	for _, e := range doc {
		switch {
		case e.Key == "status" && e.Value == creatives.StatusDraft:
			return doc
		case e.Key == "mode" && e.Value == creatives.ModeTest:
			feed = creatives.ModeTest
		}
	}
	return append(doc, bson.E{Key: "feed", Value: feed})
}
