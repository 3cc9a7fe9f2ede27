package changes

import (
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The fields of an object that only the stamp sets.
const (
	fieldRev      = "rev"
	fieldModified = "dateModified"
	fieldPosition = "public_modified" // Unix seconds, a double; the object's place in the feed
	fieldFeed     = "feed"            // which feed the object is in; absent where it is in none
)

// Fields of objects that the stamp reads, and that the writers set.
const (
	fieldID        = "_id"
	fieldMode      = "mode"
	fieldSource    = "source"
	fieldStatus    = "status"
	fieldCreatedAt = "created_at"
	fieldUpdatedAt = "updated_at"
)

// What the stamp makes of the fields that it reads.
const (
	statusDraft = "draft"
	modeLive    = "live"
	modeTest    = "test"
	feedLive    = "live"
	feedTest    = "test"
)

const (
	// maxAhead is how far in the future a stored position may lie and still be one that an object must stay behind, in
	// seconds. Anything further is no position but a mistake of another program, such as milliseconds for seconds: the
	// object would never come back to the present.
	maxAhead = 24 * 60 * 60
	// maxExact is up to where a double holds every whole number.
	maxExact = int64(1) << 53
	// maxRev is the first number that is too great for a rev. Whatever type it has, the next one of a lesser one fits 64 bits.
	maxRev = int64(1) << 62
	// millisPerSecond leads from positions to dates.
	millisPerSecond = int64(1000)
)

// stamp is how every pipeline ends that saves an object: the object has a new rev, a moment by the database's clock
// and its place in the feed, as the fields say that the stages before have set.
func stamp() bson.A {
	return bson.A{
		set(bson.D{{Key: fieldPosition, Value: position()}, {Key: fieldRev, Value: nextRev()}}),
		set(bson.D{{Key: fieldModified, Value: modified()}, {Key: fieldFeed, Value: feed()}}),
	}
}

// position is now, and at least a millisecond after the position so far: two changes within a millisecond, or across
// a step of the clock, are two positions. What cannot be a position is passed over.
func position() bson.D {
	old, now := "$"+fieldPosition, op("$toLong", "$$NOW")
	latest := op("$add", bson.A{op("$divide", bson.A{now, millisPerSecond}), maxAhead})
	possible := op("$and", bson.A{
		op("$isNumber", old), op("$gte", bson.A{old, 0}), op("$lte", bson.A{old, latest}),
	})
	following := op("$add", bson.A{millis(old), int64(1)})
	ms := op("$max", bson.A{now, op("$cond", bson.A{possible, following, now})})
	return op("$divide", bson.A{ms, millisPerSecond})
}

// modified is the position as a date.
func modified() bson.D { return op("$toDate", millis("$"+fieldPosition)) }

// millis turns seconds into whole milliseconds. A double's seconds are a hair off the millisecond that they were
// divided from.
func millis(seconds string) bson.D {
	return op("$toLong", op("$round", op("$multiply", bson.A{seconds, millisPerSecond})))
}

// nextRev goes up by one, and begins anew where there is no rev that could.
func nextRev() bson.D {
	old := "$" + fieldRev
	possible := op("$and", bson.A{op("$isNumber", old), op("$gte", bson.A{old, 0}), op("$lt", bson.A{old, maxRev})})
	return op("$cond", bson.A{possible, op("$add", bson.A{op("$toLong", old), int64(1)}), int64(1)})
}

// feed leaves out drafts, and objects with ids that the feed's offsets cannot carry.
func feed() bson.D {
	shown := op("$and", bson.A{
		op("$eq", bson.A{op("$type", "$"+fieldID), "objectId"}),
		op("$ne", bson.A{"$" + fieldStatus, statusDraft}),
	})
	which := op("$cond", bson.A{op("$eq", bson.A{"$" + fieldMode, modeTest}), feedTest, feedLive})
	return op("$cond", bson.A{shown, which, remove})
}

// remove takes a field away, as the value that a stage sets it to.
const remove = "$$REMOVE"

// set is a stage that sets fields to expressions.
func set(fields bson.D) bson.D { return bson.D{{Key: "$set", Value: fields}} }

// op is an expression of one operator.
func op(name string, operand any) bson.D { return bson.D{{Key: name, Value: operand}} }

// literal is a value as it is: a text that begins with a dollar sign is no path, and a document replaces what stands in
// its place.
func literal(value any) bson.D { return op("$literal", value) }
