package importing

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/importing/cell"
	"catalogue/internal/instant"
)

// digestSize is what is stored of a row's SHA-256, in bytes: 128 bits tell rows apart, and 32 digits are enough to
// store with each object.
const digestSize = 16

// assignment is one target field with the value that a row gives it.
type assignment struct {
	target string
	field  *targetField
	value  any
}

// contentDigest is the digest of what a row makes of its object: the mapped fields that are present, constants and
// resolved references included, sorted by name. It is taken of converted values, so that it is the same for LF and
// CRLF, for any order of columns, and for 5.0 and 5; a changed constant or enum table gives another one.
func contentDigest(values []assignment) string {
	sorted := slices.SortedFunc(slices.Values(values), func(a, b assignment) int {
		return strings.Compare(a.target, b.target)
	})
	h := sha256.New()
	for _, v := range sorted {
		writePart(h, v.target)
		if items, ok := v.value.([]string); ok {
			writeList(h, items)
			continue
		}
		writePart(h, canonical(v.value))
	}
	return hex.EncodeToString(h.Sum(nil)[:digestSize])
}

// rowDigest identifies a row of a file without a key. It is taken of the columns as the file has them: where a mistake
// in the mapping (a wrong zone, an enum table) is corrected, the rows stay the same objects and are updated.
func rowDigest(names []string, cells []cell.Cell) string {
	h := sha256.New()
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	for _, i := range order {
		c := cells[i]
		if c.Kind == cell.Absent {
			continue
		}
		writePart(h, names[i])
		writePart(h, strconv.Itoa(int(c.Kind)))
		if c.Kind == cell.List || c.Kind == cell.Nested {
			writeList(h, c.Items)
			continue
		}
		writePart(h, c.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writePart writes a text behind its length, so that no two lists of texts have the same bytes.
func writePart(h hash.Hash, s string) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(s)))
	h.Write(size[:])
	h.Write([]byte(s))
}

// writeList writes texts behind their number, so that the last of them is not taken for what follows the list.
func writeList(h hash.Hash, items []string) {
	writePart(h, strconv.Itoa(len(items)))
	for _, item := range items {
		writePart(h, item)
	}
}

// canonical is the one way to write a value as text.
func canonical(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case instant.Instant:
		return v.String()
	case bson.ObjectID:
		return v.Hex()
	default:
		panic("importing: a conversion made a value of an unknown type")
	}
}

// joinKey makes one source.id of the texts of a key. Several are parted by slashes, escaped inside the parts so that
// ("a/b", "c") and ("a", "b/c") stay two keys. Nothing else is: the id is read by people, and has a greatest length.
func joinKey(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	escape := strings.NewReplacer("%", "%25", "/", "%2F")
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = escape.Replace(p)
	}
	return strings.Join(escaped, "/")
}
