// Package instant holds the one time type of the catalogue and the one parser for times from outside.
package instant

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Layout is how an Instant is written: RFC 3339 in UTC with milliseconds.
const Layout = "2006-01-02T15:04:05.000Z"

// The years that RFC 3339 can write. Dates outside them are stored by other programs only.
const (
	minMillis int64 = -62135596800000 // 0001-01-01T00:00:00.000Z
	maxMillis int64 = 253402300799999 // 9999-12-31T23:59:59.999Z
)

// ErrRange says that a time lies outside the years 0001 to 9999.
var ErrRange = errors.New("the time is outside the years 0001 to 9999")

// Instant is a moment in whole milliseconds since 1970-01-01 UTC, the resolution that BSON dates have.
// The zero value is 1970-01-01T00:00:00.000Z, a valid moment: absent times are nil pointers.
type Instant struct{ millis int64 }

// FromMillis converts milliseconds since 1970. It fails with ErrRange outside the years 0001 to 9999.
func FromMillis(ms int64) (Instant, error) {
	if ms < minMillis || ms > maxMillis {
		return Instant{}, ErrRange
	}
	return Instant{millis: ms}, nil
}

// FromTime cuts t to its millisecond (towards the past, as a clock shows it, never rounding up).
// It fails with ErrRange outside the years 0001 to 9999 in UTC.
func FromTime(t time.Time) (Instant, error) {
	// Checked in seconds first: some 292 million years from now, milliseconds overflow and could end up within range.
	if s := t.Unix(); s < minMillis/1000 || s > maxMillis/1000 {
		return Instant{}, ErrRange
	}
	// Go keeps nanoseconds in [0, 1e9) beside floored seconds, so this is a floor before 1970, too.
	return FromMillis(t.UnixMilli())
}

// MustParse is Parse for literals in tests and seeds. It panics on a text that is no time.
func MustParse(s string) Instant {
	i, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return i
}

// Time returns the moment as a time.Time in UTC.
func (i Instant) Time() time.Time { return time.UnixMilli(i.millis).UTC() }

// Millis returns the milliseconds since 1970-01-01 UTC.
func (i Instant) Millis() int64 { return i.millis }

// Before reports whether i is earlier than other.
func (i Instant) Before(other Instant) bool { return i.millis < other.millis }

// String writes the moment as the API shows it.
func (i Instant) String() string { return i.Time().Format(Layout) }

// MarshalJSON writes the moment as a string in RFC 3339, UTC, with milliseconds.
func (i Instant) MarshalJSON() ([]byte, error) { return []byte(`"` + i.String() + `"`), nil }

// UnmarshalJSON reads a string as Parse does. Anything else is an error.
func (i *Instant) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return errors.New("a time is a string in RFC 3339")
	}
	parsed, err := Parse(s)
	if err != nil {
		return err
	}
	*i = parsed
	return nil
}

// MarshalBSONValue stores the moment as a BSON date.
func (i Instant) MarshalBSONValue() (byte, []byte, error) {
	t, data, err := bson.MarshalValue(bson.DateTime(i.millis))
	return byte(t), data, err
}

// UnmarshalBSONValue reads a BSON date within the years 0001 to 9999. Any other type is an error.
func (i *Instant) UnmarshalBSONValue(t byte, data []byte) error {
	ms, ok := bson.RawValue{Type: bson.Type(t), Value: data}.DateTimeOK()
	if !ok {
		return fmt.Errorf("a time is stored as a date, not as %s", bson.Type(t))
	}
	parsed, err := FromMillis(ms)
	if err != nil {
		return err
	}
	*i = parsed
	return nil
}
