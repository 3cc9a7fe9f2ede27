package instant

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zone names mean the same on every machine, also in images without a zone database
)

// Real zones reach from -12:00 to +14:00; ISO 8601 data in the wild goes to ±18:00, as java.time does.
const maxOffset = 18 * time.Hour

// rfc3339 is the grammar of RFC 3339, section 5.6, with its upper-case letters only. time.Parse is laxer: it takes
// a comma before the fraction, one-digit hours and offsets such as +24:00.
var rfc3339 = regexp.MustCompile(
	`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,18})?(Z|[+-]\d{2}:\d{2})$`)

// Parse reads a time in RFC 3339, strictly: years 0001 to 9999, offsets within ±18:00, no leap seconds. Digits
// beyond the millisecond are cut, not rounded.
func Parse(s string) (Instant, error) {
	m := rfc3339.FindStringSubmatch(s)
	if m == nil {
		return Instant{}, errors.New("the time is not in RFC 3339, such as 2026-01-31T12:00:00Z")
	}
	if err := checkOffset(m[2]); err != nil {
		return Instant{}, err
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

func checkOffset(s string) error {
	if s == "Z" {
		return nil
	}
	hours, _ := strconv.Atoi(s[1:3]) // the grammar has made them digits
	minutes, _ := strconv.Atoi(s[4:6])
	if minutes > 59 || time.Duration(hours)*time.Hour+time.Duration(minutes)*time.Minute > maxOffset {
		return fmt.Errorf("the offset %s is outside ±18:00", s)
	}
	return nil
}

var fixedOffset = regexp.MustCompile(`^[+-]\d{2}:\d{2}$`)

// ParseZone reads a time zone: a name of the zone database ("Europe/Kyiv"), "UTC", or a fixed offset ("+02:00").
// The empty text, "Local" and abbreviations ("EST", "CET") are refused: they mean another zone on another machine.
func ParseZone(s string) (*time.Location, error) {
	if s == "UTC" {
		return time.UTC, nil
	}
	if fixedOffset.MatchString(s) {
		if err := checkOffset(s); err != nil {
			return nil, err
		}
		t, err := time.Parse("-07:00", s)
		if err != nil {
			return nil, fmt.Errorf("the offset %s is out of range", s)
		}
		_, seconds := t.Zone()
		return time.FixedZone(s, seconds), nil
	}
	// Names of the database that are not abbreviations all have an area ("Europe/…", "Etc/…").
	if !strings.Contains(s, "/") {
		return nil, fmt.Errorf("%q is no zone name of the zone database, UTC or fixed offset", s)
	}
	loc, err := time.LoadLocation(s)
	if err != nil {
		return nil, fmt.Errorf("%q is no zone name of the zone database, UTC or fixed offset", s)
	}
	return loc, nil
}
