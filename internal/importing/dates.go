package importing

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"catalogue/internal/importing/cell"
	"catalogue/internal/instant"
)

// The layouts that have a name. Every other layout is one of Go's, such as "02.01.2006 15:04".
const (
	LayoutRFC3339 = "rfc3339" // the default
	LayoutDate    = "date"    // 2026-01-31
	LayoutYear    = "year"    // 2026: the beginning of its 1 January
)

// dateFormat is how a column writes times.
type dateFormat struct {
	written string   // as the mapping has it, for the reasons of rejects
	layout  string   // Go's; "" is RFC 3339
	exact   []string // layout with each length that its fraction of a second may have
	zoned   bool     // the text itself names its zone or offset
	named   bool     // by an abbreviation
	zone    *time.Location
}

// newDateFormat checks a layout. zone is nil where none is named.
func newDateFormat(written string, zone *time.Location) (dateFormat, error) {
	layout := written
	switch layout {
	case "", LayoutRFC3339:
		return dateFormat{zoned: true}, nil
	case LayoutDate:
		layout = time.DateOnly
	case LayoutYear:
		layout = "2006"
	}
	f := dateFormat{written: written, layout: layout, zone: zone}
	if !strings.Contains(layout, "2006") {
		return f, fmt.Errorf("the layout %q has no four-digit year: a layout is rfc3339, date, year or one of Go's, "+
			`such as "02.01.2006 15:04"`, layout)
	}
	f.named = strings.Contains(layout, "MST")
	f.zoned = f.named || strings.Contains(layout, "Z07") || strings.Contains(layout, "-07")
	// A fixed zone has Z in its place, so that one pattern reads the three abbreviations that are the same everywhere.
	f.layout = strings.ReplaceAll(layout, "MST", "Z07:00")
	f.exact = fractions(f.layout)
	if word := zoneAsText(layout); word != "" && !f.zoned {
		return f, fmt.Errorf("the layout %q has %s as mere text, so that it would not be read as a zone: write Z07:00, "+
			"-07:00 or MST", layout, word)
	}
	if !f.zoned && zone == nil {
		return f, fmt.Errorf("times of the layout %q carry no zone: name the zone that they are meant in", layout)
	}
	return f, nil
}

// zoneText finds what people read as a zone, and Go does not, in a layout.
var zoneText = regexp.MustCompile(`(?:^|[^A-Za-z])(Z|UTC|GMT|MSK|[A-Z]{2,4}T|\+\d\d(?::?\d\d)?)(?:[^A-Za-z]|$)`)

func zoneAsText(layout string) string {
	if found := zoneText.FindStringSubmatch(layout); found != nil {
		return found[1]
	}
	return ""
}

// optionalFraction is a fraction of a second that a layout takes in any length up to its own, and that may be missing.
var optionalFraction = regexp.MustCompile(`([.,])(9+)(?:\D|$)`)

// fractions writes a layout with an optional fraction as those with a fixed one: Go itself takes the other sign and
// any number of digits.
func fractions(layout string) []string {
	at := optionalFraction.FindStringSubmatchIndex(layout)
	if at == nil {
		return []string{layout}
	}
	before, sign, behind := layout[:at[2]], layout[at[2]:at[3]], layout[at[5]:]
	out := []string{before + behind}
	for digits := 1; digits <= at[5]-at[4]; digits++ {
		out = append(out, before+sign+strings.Repeat("0", digits)+behind)
	}
	return out
}

// parse reads a time. adjusted says that a clock change skips or repeats it.
func (f dateFormat) parse(s string) (at instant.Instant, adjusted bool, err error) {
	if f.layout == "" {
		at, err = instant.Parse(s)
		return at, false, err
	}
	text := s
	if f.named {
		if text, err = zoneAsZ(s); err != nil {
			return at, false, err
		}
	}
	t, err := time.ParseInLocation(f.layout, text, time.UTC)
	if err != nil || !f.same(t, text) {
		return at, false, fmt.Errorf("%s is no time of the layout %q", cell.Quote(s), f.written)
	}
	if f.zoned {
		if err := checkOffset(t, f.named); err != nil {
			return at, false, err
		}
	} else {
		t, adjusted = inZone(t, f.zone)
	}
	at, err = instant.FromTime(t)
	return at, adjusted, err
}

var utcOffset = regexp.MustCompile(`\+00:?00`)

// same reports whether t written by the layout is the text again. Go reads more than a layout says: one-digit hours,
// a fraction behind the seconds, names of months in any case.
func (f dateFormat) same(t time.Time, text string) bool {
	zero := func(s string) string { return s }
	if !f.named { // Go writes an offset of zero as Z where the layout has a Z
		zero = func(s string) string { return utcOffset.ReplaceAllString(s, "Z") }
	}
	text = zero(text)
	return slices.ContainsFunc(f.exact, func(layout string) bool { return zero(t.Format(layout)) == text })
}

func checkOffset(t time.Time, named bool) error {
	_, offset := t.Zone()
	switch {
	case named && offset != 0:
		return errors.New("the time has an offset where the layout has a zone's abbreviation")
	case (time.Duration(offset) * time.Second).Abs() > instant.MaxOffset:
		return errors.New("the offset is outside ±18:00")
	default:
		return nil
	}
}

var capitals = regexp.MustCompile(`\b[A-Z]{1,5}\b`)

// zoneAsZ puts Z in the place of the abbreviations that mean one zone only. Go would read all others, EST too, as
// UTC under another name.
func zoneAsZ(s string) (string, error) {
	var unknown string
	text := capitals.ReplaceAllStringFunc(s, func(word string) string {
		switch word {
		case "UTC", "GMT", "Z":
			return "Z"
		case "AM", "PM", "T":
		default:
			unknown = word
		}
		return word
	})
	if unknown != "" {
		return "", fmt.Errorf("the zone abbreviation %s means several zones: only UTC, GMT and Z are read", unknown)
	}
	return text, nil
}

// inZone finds the moment at which clocks in zone show what t shows in UTC. Where a clock change skips or repeats
// that time, the offset in force before the change counts, and changed is true.
func inZone(t time.Time, zone *time.Location) (at time.Time, changed bool) {
	near := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
	// Whatever Go chose for a time that is none or two, it lies beside the change in question.
	start, end := near.ZoneBounds()
	for _, change := range []time.Time{start, end} {
		if change.IsZero() {
			continue // the zone has no earlier, or no later change
		}
		before, after := offsetAt(change.Add(-1)), offsetAt(change)
		byBefore, byAfter := t.Add(-before), t.Add(-after)
		skipped := !byBefore.Before(change) && byAfter.Before(change)
		repeated := byBefore.Before(change) && !byAfter.Before(change)
		if skipped || repeated {
			return byBefore, true
		}
	}
	return near, false
}

func offsetAt(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}
