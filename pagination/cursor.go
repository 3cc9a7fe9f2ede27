package pagination

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Limits of cursors.
const (
	// MaxCursorLength is the longest text that is looked at; anything longer is refused before it is decoded.
	MaxCursorLength = 96 << 10
	// maxCursorValue is the longest sort value, in bytes, that a cursor carries whole: with everything else in it the
	// text stays under MaxCursorLength. See long.go for longer ones.
	maxCursorValue = 64 << 10
	// cutAllowance is what BSON adds to a text: a cut one with it is still within maxCursorValue.
	cutAllowance = 5
	// MinKeyLength is the least length of a signing key in bytes, that of HMAC-SHA-256's own output (RFC 2104).
	MinKeyLength = sha256.Size
)

const cursorVersion = 1

// ErrCursorMalformed says that a text is no cursor that this service issued: garbage, cut, edited, too long, or
// signed with an unknown key. Which of them is nobody's business outside.
var ErrCursorMalformed = errors.New("the cursor is malformed")

// Scope is the list that a cursor belongs to: its name and, for lists below an entity, the entity's id.
type Scope struct {
	List   string
	Entity string
}

// Cursor is what a client hands back to get the next page. It is bound to one list, order and filter.
type Cursor struct {
	scope    Scope
	order    string
	filter   string // digest of the canonical filter, empty without one
	now      int64  // of a relative filter, in milliseconds since 1970; 0 without one
	position RowPosition
}

// NewCursor makes the cursor of a position in a list. filter is the digest of the canonical filter and now the moment
// that a relative filter was compiled for, in milliseconds since 1970; both are zero where there is none.
func NewCursor(scope Scope, order Order, filter string, now int64, at RowPosition) Cursor {
	return Cursor{scope: scope, order: order.String(), filter: filter, now: now, position: at}
}

// Position is where the page of the cursor begins.
func (c Cursor) Position() RowPosition { return c.position }

// Now is the moment of a relative filter, in milliseconds since 1970, or 0.
func (c Cursor) Now() int64 { return c.now }

// Mismatches names what differs between the cursor and the request that it came with: "list", "entity", "sort",
// "direction", "filter". It is empty where the cursor fits.
func (c Cursor) Mismatches(scope Scope, order Order, filter string) []string {
	var out []string
	if c.scope.List != scope.List {
		out = append(out, "list")
	} else if c.scope.Entity != scope.Entity {
		out = append(out, "entity")
	}
	field, descending := strings.CutPrefix(c.order, "-")
	if field != order.Field {
		out = append(out, "sort")
	} else if descending != order.Descending {
		out = append(out, "direction")
	}
	if c.filter != filter {
		out = append(out, "filter")
	}
	return out
}

// Fits reports whether the cursor's value is of the kind that the sort is declared to have. The signature shows that the
// cursor is ours, but an older version may have declared the field otherwise.
func (c Cursor) Fits(kind Kind) bool {
	return !c.position.After || c.position.Phase != Values || kind.holds(c.position.Value.Type)
}

// Keyring signs cursors with its first key and takes those signed with any of them, so that keys can be rotated.
type Keyring struct{ keys [][]byte }

// NewKeyring makes a keyring. Each key has at least MinKeyLength bytes.
func NewKeyring(keys ...string) (Keyring, error) {
	if len(keys) == 0 {
		return Keyring{}, errors.New("a keyring needs a key")
	}
	ring := Keyring{}
	for _, k := range keys {
		if len(k) < MinKeyLength {
			return Keyring{}, errors.New("a cursor key needs at least 32 characters")
		}
		ring.keys = append(ring.keys, []byte(k))
	}
	return ring, nil
}

// strictBase64 refuses padding and stray bits, so that one cursor has one spelling.
var strictBase64 = base64.RawURLEncoding.Strict()

// Encode writes the cursor as URL-safe text: base64url of the BSON document followed by its HMAC-SHA-256.
func (r Keyring) Encode(c Cursor) (string, error) {
	payload, err := bson.Marshal(toPayload(c))
	if err != nil {
		return "", err
	}
	return strictBase64.EncodeToString(append(payload, sign(r.keys[0], payload)...)), nil
}

// Decode reads a cursor that Encode wrote. Everything else is ErrCursorMalformed.
func (r Keyring) Decode(text string) (Cursor, error) {
	// Go's decoder skips line breaks; a cursor has none.
	if len(text) > MaxCursorLength || strings.ContainsAny(text, "\r\n") {
		return Cursor{}, ErrCursorMalformed
	}
	data, err := strictBase64.DecodeString(text)
	if err != nil || len(data) <= sha256.Size {
		return Cursor{}, ErrCursorMalformed
	}
	payload, tag := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if !r.verifies(payload, tag) {
		return Cursor{}, ErrCursorMalformed
	}
	return fromPayload(payload)
}

func (r Keyring) verifies(payload, tag []byte) bool {
	for _, key := range r.keys {
		if hmac.Equal(tag, sign(key, payload)) {
			return true
		}
	}
	return false
}

// sign binds the tag to its purpose, so that a tag made for something else under the same key is worth nothing here.
func sign(key, payload []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("catalogue cursor\n"))
	mac.Write(payload)
	return mac.Sum(nil)
}
