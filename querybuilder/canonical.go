package querybuilder

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// canonicalVersion changes with the form: digests of another version must not be taken for those of this one.
const canonicalVersion = "1 "

// Canonical is the meaning of the filter as text: two documents that say the same in other words have one. Dates are
// instants; the zone is in it only where an operator depends on it, and the time of the query never. It is empty for
// a filter that matches everything.
func (f Filter) Canonical() []byte {
	if f.Empty() {
		return nil
	}
	return []byte(canonicalVersion + f.root.key)
}

// Digest is a short text that stands for Canonical, empty for a filter that matches everything.
func (f Filter) Digest() string {
	if f.Empty() {
		return ""
	}
	sum := sha256.Sum256(f.Canonical())
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// canonical writes a value so that no two have one form.
func canonical(v any) string {
	switch x := v.(type) {
	case string:
		return strconv.Quote(x)
	case bson.DateTime:
		return "@" + strconv.FormatInt(int64(x), 10)
	case bson.ObjectID:
		return "#" + hex.EncodeToString(x[:])
	case bool:
		return strconv.FormatBool(x)
	case float64:
		return strconv.FormatFloat(x, 'e', -1, 64)
	case int64:
		return strconv.FormatInt(x, 10)
	default:
		return "null"
	}
}
