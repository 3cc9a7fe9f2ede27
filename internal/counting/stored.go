package counting

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/pagination"
)

const (
	// keyPrefix has the version of what a key means and a value holds: another form has another version.
	keyPrefix = "catalogue:count:1:"
	// longestName bounds the names in a key, which are there for people. The digest covers them whole.
	longestName = 64
	// mostDocuments is more than any collection holds.
	mostDocuments = 1 << 50
	// clockSkew is how far the clocks of two replicas may be apart.
	clockSkew = time.Minute
	// relativeStep is the precision of relative filters: their now is rounded down to it.
	relativeStep = time.Minute
)

var (
	errForm  = errors.New("a stored count has another form")
	errRange = errors.New("a stored count is none: negative, absurdly large, from the future, or older than it may be")
)

// key names the count: equal for equal meanings, also of two lists of one collection. It reports false for a count
// that is not shared.
func (r Request) key() (string, bool) {
	if r.Digest == "" || len(r.Fixed)+len(r.Filter) == 0 {
		return "", false
	}
	fixed, err := bson.Marshal(append(bson.D{}, r.Fixed...)) // nil is no document
	if err != nil {
		return "", false // the count will say so, too
	}
	database, collection := r.Collection.Database().Name(), r.Collection.Name()
	now := ""
	if !r.Now.IsZero() {
		now = strconv.FormatInt(r.Now.Truncate(relativeStep).Unix(), 10)
	}
	hash := sha256.New()
	for _, part := range []string{database, collection, string(fixed), r.Digest, now} {
		hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		hash.Write([]byte(part))
	}
	return keyPrefix + short(database) + ":" + short(collection) + ":" +
		base64.RawURLEncoding.EncodeToString(hash.Sum(nil)), true
}

func short(name string) string { return name[:min(len(name), longestName)] }

// stored is a count in the cache: the number and the millisecond it was taken, both in plain decimals.
type stored struct {
	count int64
	taken time.Time
}

func (s stored) String() string {
	return strconv.FormatInt(s.count, 10) + " " + strconv.FormatInt(s.taken.UnixMilli(), 10)
}

func (s stored) total() pagination.Total { return pagination.CachedTotal(s.count, s.taken) }

// parse takes only what String makes, of a count that can be one and a moment at which it could have been kept.
func parse(value []byte, now time.Time, ttl time.Duration) (stored, error) {
	first, second, ok := strings.Cut(string(value), " ")
	count, countErr := strconv.ParseInt(first, 10, 64)
	taken, takenErr := strconv.ParseInt(second, 10, 64)
	s := stored{count: count, taken: time.UnixMilli(taken).UTC()}
	if !ok || countErr != nil || takenErr != nil || s.String() != string(value) {
		return stored{}, errForm
	}
	age := now.Sub(s.taken)
	if count < 0 || count > mostDocuments || age < -clockSkew || age > ttl+clockSkew {
		return stored{}, errRange
	}
	return s, nil
}

// kept looks into the cache.
func (c *Counts) kept(ctx context.Context, key string) (stored, bool) {
	if c.cache == nil {
		return stored{}, false
	}
	value, found := c.cache.Get(ctx, key)
	if !found {
		return stored{}, false
	}
	s, err := parse(value, c.now(), c.ttl)
	if err != nil {
		c.cache.Reject(ctx, err) // it will be overwritten
		return stored{}, false
	}
	return s, true
}

func (c *Counts) keep(ctx context.Context, key string, s stored) {
	if c.cache != nil {
		c.cache.Set(ctx, key, []byte(s.String()), c.ttl)
	}
}
