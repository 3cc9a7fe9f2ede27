package migrations

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// documentID is the _id of the one document.
const documentID = "migrate"

// The fields of the document.
const (
	fieldToken   = "token"   // int64, one higher each time that the lock is taken: the fencing token
	fieldUntil   = "until"   // date, when the lease ends; null where nobody holds the lock
	fieldHolder  = "holder"  // document, null where nobody holds the lock
	fieldWrites  = "writes"  // int64, the number of the holder's last write: tells it whether that has happened
	fieldRecords = "records" // document, the records of the migrations by recordKey
)

// state is the document as it is stored.
type state struct {
	Token   int64             `bson:"token"`
	Until   time.Time         `bson:"until"`
	Holder  holder            `bson:"holder"`
	Writes  int64             `bson:"writes"`
	Records map[string]Record `bson:"records"`
}

type holder struct {
	Holder `bson:",inline"`

	Mark  bson.ObjectID `bson:"mark"` // of the attempt that took the lock
	Since time.Time     `bson:"since"`
}

func (s state) holding() Holding {
	return Holding{Holder: s.Holder.Holder, Since: s.Holder.Since, Until: s.Until}
}

// alive is true while the lease runs. Null and missing are below every date.
func alive() bson.D { return op("$gt", bson.A{"$" + fieldUntil, "$$NOW"}) }

// leaseEnd is the moment at which a lease ends that begins now.
func leaseEnd(lease time.Duration) bson.D {
	return op("$toDate", op("$add", bson.A{op("$toLong", "$$NOW"), lease.Milliseconds()}))
}

// changeIf is a stage that sets fields of the document where condition holds, and leaves it alone where not.
func changeIf(condition, fields bson.D) bson.D {
	changed := op("$mergeObjects", bson.A{"$$ROOT", fields})
	return bson.D{{Key: "$replaceWith", Value: op("$cond", bson.A{condition, changed, "$$ROOT"})}}
}

// op is an expression of one operator.
func op(name string, operand any) bson.D { return bson.D{{Key: name, Value: operand}} }

// literal is a value as it is: a text that begins with a dollar sign is no path.
func literal(value any) bson.D { return op("$literal", value) }
