package instant

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MaxOffset bounds the offsets of times. Real zones reach from -12:00 to +14:00; ISO 8601 data in the wild goes to ±18:00, as java.time does.
const MaxOffset = 18 * time.Hour

// rfc3339 is the grammar of RFC 3339, section 5.6, with its upper-case letters only. time.Parse is laxer: it takes
// a comma before the fraction, one-digit hours and offsets such as +24:00.
var rfc3339 = regexp.MustCompile(
	`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$`)

// Parse reads a time in RFC 3339, strictly: offsets within ±18:00, no leap seconds, no hour 24, and a moment that lies
// in the years 0001 to 9999 of UTC, whatever the year that is written. Digits beyond the millisecond are cut, not
// rounded.
func Parse(s string) (Instant, error) {
	m := rfc3339.FindStringSubmatch(s)
	if m == nil {
		return Instant{}, errors.New("the time is not in RFC 3339, such as 2026-01-31T12:00:00Z")
	}
	if m[2] != "Z" {
		if _, err := offset(m[2]); err != nil {
			return Instant{}, err
		}
	}
	// Only the first nine digits of a fraction are Go's to read; the rest is below the millisecond anyway.
	if len(m[1]) > 10 {
		s = strings.Replace(s, m[1], m[1][:10], 1)
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return Instant{}, fmt.Errorf("the time has a part out of range: %s", s)
	}
	return FromTime(t)
}

// offset reads ±hh:mm, digits that the grammar has checked, as seconds east of UTC.
func offset(s string) (int, error) {
	hours, _ := strconv.Atoi(s[1:3])
	minutes, _ := strconv.Atoi(s[4:6])
	d := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if minutes > 59 || d > MaxOffset {
		return 0, fmt.Errorf("the offset %s is outside ±18:00", s)
	}
	if s[0] == '-' {
		d = -d
	}
	return int(d / time.Second), nil
}
