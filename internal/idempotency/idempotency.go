// Package idempotency lets a request be sent again without being done again: it keeps the answers of writes under the
// keys that clients chose.
package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/indexes"
	"catalogue/internal/problem"
)

// Collection is the name of the collection that holds claims and answers.
const Collection = "idempotency_keys"

const (
	// lifetime is how long an answer is given again, and how long the results of a request that was not ended are kept.
	lifetime = 24 * time.Hour
	// removedAfter is how long after its end a row is removed: the least that an index can say. It counts as missing from
	// its end on.
	removedAfter = time.Second

	maxKey = 255 // characters

	// margin is how long before its caller's deadline a wait for another request ends, so that there is time to say so.
	margin = 250 * time.Millisecond
	// Between two looks at a key that another holds: at first, and at most.
	firstPause, longestPause = 5 * time.Millisecond, 250 * time.Millisecond

	retryAfter     = time.Second
	releaseTimeout = 2 * time.Second
	// lateTimeout is what a release may take where its request has no time left: the client waits for the answer.
	lateTimeout = 100 * time.Millisecond
)

// Request is what a client sent under a key.
type Request struct {
	Caller string // the user
	Route  string // method and pattern, such as POST /creatives, and the ids in the path
	Key    string // 1 to 255 visible characters of ASCII
	Digest string // of the body's meaning
}

// Answer is what a client gets. With its names it is stored in a document, which the database bounds at 16 MB.
type Answer struct {
	Status int         `bson:"status"`
	Header http.Header `bson:"header"` // those that belong to the answer: Location, ETag
	Body   []byte      `bson:"body"`
}

// Indexes are those of the collection.
func Indexes() []indexes.Index {
	return []indexes.Index{{
		Collection:  Collection,
		Keys:        bson.D{{Key: "expires_at", Value: int32(1)}},
		ExpireAfter: removedAfter,
		Reason:      "idempotency keys are kept for a day",
	}}
}

// CheckKey says what is wrong with the value of an Idempotency-Key header. Its error is a problem with the code
// idempotency_key_malformed.
func CheckKey(key string) error {
	ok := key != "" && len(key) <= maxKey
	for i := range len(key) {
		ok = ok && key[i] > ' ' && key[i] < 0x7f
	}
	if !ok {
		return problem.New(problem.KeyMalformed, "Idempotency-Key must be 1 to %d visible characters of ASCII, without blanks.", maxKey)
	}
	return nil
}

// id is what the row of a request is found by: a digest of who asks for what under which key. The key itself is not
// stored, since who knows it may ask for the answer.
func (r Request) id() string {
	h := sha256.New()
	for _, part := range []string{r.Caller, r.Route, r.Key} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // so that no two lists of parts read alike
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// inUse says that another works on the request. It is also what one hears who has lost its claim: by now another does.
func inUse() error {
	return &problem.Problem{
		Code:       problem.KeyInUse,
		Detail:     "A request with this Idempotency-Key is being worked on. Send it again in a moment to get its answer.",
		RetryAfter: retryAfter,
	}
}

func reused() error {
	return problem.New(problem.KeyReused,
		"This Idempotency-Key was used with another body. Use a new key, or send the body that it was first used with.")
}
