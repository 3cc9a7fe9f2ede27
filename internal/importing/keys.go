package importing

import (
	"crypto/sha256"
	"strconv"
)

// keyTable remembers for each key of a file which line decides, and what it says. It is the only part of an import
// that grows with the file: 32 bytes an entry, 55 to 85 bytes a row with the map around them (measured at one to five
// million rows), so that ten million rows take less than 1 GB. Keys and contents are kept as digests: 128 bits do not
// collide by accident; of contents 64 bits are enough, since they only tell a duplicate from another row of its key.
type keyTable map[[16]byte]keyEntry

type keyEntry struct {
	line    int64
	content uint64
}

// role is what a line is among the lines of its key.
type role int

const (
	decides    role = iota // the last good line of its key: it is applied
	duplicate              // it says what the deciding line says
	superseded             // it says something else
	late                   // it was not good when the keys were learnt: it is not known what it should do to the others
)

func keyHash(id string) [16]byte {
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:16])
}

// contentHash takes the first half of a row's digest, which is 32 hex digits.
func contentHash(digest string) uint64 {
	out, err := strconv.ParseUint(digest[:16], 16, 64)
	if err != nil {
		panic("importing: a digest is not in hex: " + digest)
	}
	return out
}

// put makes a line the deciding one of its key.
func (t keyTable) put(id, digest string, line int64) {
	t[keyHash(id)] = keyEntry{line: line, content: contentHash(digest)}
}

// role says what a good line is among those of its key.
func (t keyTable) role(id, digest string, line int64) role {
	entry, ok := t[keyHash(id)]
	switch {
	case !ok, entry.line < line:
		return late
	case entry.line == line:
		return decides
	case entry.content == contentHash(digest):
		return duplicate
	default:
		return superseded
	}
}
