package feed

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the wire format says so; it tells groups apart and guards nothing
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
)

const (
	// maxOffset is the longest offset that is read, in bytes. The longest that is given out has a timestamp of 326.
	maxOffset = 512
	// withinMark stands before an id in the last part of an offset, to fill it up to the length of a hash.
	withinMark = "00000000"
	// behindCut is where a date with digits below the millisecond points to, in seconds behind that millisecond: behind
	// every row of it and before the next.
	behindCut = 0.0005
)

// form tells what the timestamp of an offset means.
type form int

const (
	formBegin  form = iota // no offset: the end of the feed that the walk begins at
	formAfter              // behind every row of the timestamp; clients make these, no page gives them out
	formGroup              // at the timestamp, less the rows that were served
	formWithin             // at the timestamp, behind a row
)

// offset is a place in the feed, between two rows, as a client keeps it. The zero value is the beginning.
type offset struct {
	form form
	at   float64       // Unix seconds, as stored in public_modified; for every form but formBegin
	n    int           // for formGroup: how many rows of the timestamp were served
	hash string        // for formGroup: the MD5 of their ids, 32 lower-case hex digits
	id   bson.ObjectID // for formWithin: the row
}

var (
	fourParts   = regexp.MustCompile(`^([0-9]+\.[0-9]+)\.([0-9]{1,4})\.([0-9a-fA-F]{32})$`)
	plainNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	plainDate   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	// zoneBySpace is a time whose zone lost its + in a URL.
	zoneBySpace = regexp.MustCompile(`^([0-9-]{10}T[0-9:.]+) ([0-9]{2}:[0-9]{2})$`)
	zoneless    = regexp.MustCompile(`^[0-9-]{10}T[0-9:.]+$`)
	belowMillis = regexp.MustCompile(`\.[0-9]{3}0*[1-9]`)
)

// parseOffset reads an offset. It reports false for everything that is none: the client has to begin anew.
func parseOffset(s string) (offset, bool) {
	switch {
	case s == "":
		return offset{}, true
	case len(s) > maxOffset:
		return offset{}, false
	}
	if m := fourParts.FindStringSubmatch(s); m != nil {
		return parseParts(m[1], m[2], m[3])
	}
	if plainNumber.MatchString(s) {
		at, ok := parseSeconds(s)
		return offset{form: formAfter, at: at}, ok
	}
	return parseDate(s)
}

// parseParts reads timestamp, skip_len and skip_hash, whose digits the grammar has checked.
func parseParts(timestamp, length, hash string) (offset, bool) {
	at, ok := parseSeconds(timestamp)
	if !ok {
		return offset{}, false
	}
	n, err := strconv.Atoi(length)
	if err != nil || n > maxLimit { // a larger group is told by its last id
		return offset{}, false
	}
	if n > 0 {
		return offset{form: formGroup, at: at, n: n, hash: strings.ToLower(hash)}, true
	}
	text, ok := strings.CutPrefix(hash, withinMark)
	if !ok {
		return offset{}, false
	}
	id, err := bson.ObjectIDFromHex(text)
	return offset{form: formWithin, at: at, id: id}, err == nil
}

// parseSeconds reads plain decimal digits. It reports false beyond what a double holds.
func parseSeconds(digits string) (float64, bool) {
	at, err := strconv.ParseFloat(digits, 64)
	return at, err == nil
}

// parseDate reads a date, or a time in RFC 3339 whose zone may be missing: then it is UTC.
func parseDate(s string) (offset, bool) {
	switch {
	case plainDate.MatchString(s):
		s += "T00:00:00Z"
	case zoneless.MatchString(s):
		s += "Z"
	default:
		s = zoneBySpace.ReplaceAllString(s, "$1+$2")
	}
	moment, err := instant.Parse(s)
	if err != nil {
		return offset{}, false
	}
	at := float64(moment.Millis()) / millisPerSecond
	if belowMillis.MatchString(s) {
		at += behindCut
	}
	return offset{form: formAfter, at: at}, true
}

// String writes the offset so that parseOffset reads the same: the timestamp in plain decimal digits and, where more
// parts follow, always with a fraction, since clients split at the dots.
func (o offset) String() string {
	switch o.form {
	case formGroup:
		return fractioned(o.at) + "." + strconv.Itoa(o.n) + "." + o.hash
	case formWithin:
		return fractioned(o.at) + ".0." + withinMark + o.id.Hex()
	case formAfter:
		return plainDecimal(o.at)
	case formBegin:
		return ""
	default:
		return ""
	}
}

func fractioned(at float64) string {
	s := plainDecimal(at)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// plainDecimal writes the shortest digits that read back as the same double, never with an exponent.
func plainDecimal(at float64) string { return strconv.FormatFloat(at, 'f', -1, 64) }

// hashIDs is the hex MD5 of the sorted ids, with nothing between them.
func hashIDs(ids []bson.ObjectID) string {
	sorted := slices.SortedFunc(slices.Values(ids), func(a, b bson.ObjectID) int { return bytes.Compare(a[:], b[:]) })
	text := make([]byte, 0, hex.EncodedLen(len(sorted)*len(bson.NilObjectID)))
	for _, id := range sorted {
		text = hex.AppendEncode(text, id[:])
	}
	sum := md5.Sum(text) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}
