package importing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/instant"
)

func dateFormatOf(t testing.TB, layout, zone string) dateFormat {
	t.Helper()
	var loc *time.Location
	if zone != "" {
		var err error
		loc, err = instant.ParseZone(zone)
		require.NoError(t, err)
	}
	f, err := newDateFormat(layout, loc)
	require.NoError(t, err)
	return f
}

func TestDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ layout, zone, text, want string }{
		{"", "", "2015-10-25T06:28:33-07:00", "2015-10-25T13:28:33.000Z"},
		{"rfc3339", "", "2025-11-02T21:58:07.295958-08:00", "2025-11-03T05:58:07.295Z"}, // cut, not rounded
		{"year", "UTC", "1922", "1922-01-01T00:00:00.000Z"},
		{"date", "Europe/Kyiv", "2026-07-01", "2026-06-30T21:00:00.000Z"},
		{"02.01.2006 15:04", "+02:00", "01.07.2026 12:30", "2026-07-01T10:30:00.000Z"},
		{"2006-01-02 15:04:05.999", "UTC", "2026-07-01 12:30:00.120", "2026-07-01T12:30:00.120Z"},
		{"2006-01-02 15:04 MST", "", "2026-07-01 12:30 UTC", "2026-07-01T12:30:00.000Z"},
		{"2006-01-02 15:04 MST", "", "2026-07-01 12:30 GMT", "2026-07-01T12:30:00.000Z"},
		{"2006-01-02 15:04 MST", "", "2026-07-01 12:30 Z", "2026-07-01T12:30:00.000Z"},
		{"2006-01-02 15:04Z07:00", "", "2026-07-01 12:30+00:00", "2026-07-01T12:30:00.000Z"},
		{"2006-01-02 15:04 -0700", "", "2026-07-01 12:30 +0130", "2026-07-01T11:00:00.000Z"},
		{"Jan 2, 2006 3:04 PM", "UTC", "Jul 1, 2026 1:30 PM", "2026-07-01T13:30:00.000Z"},
	} {
		got, adjusted, err := dateFormatOf(t, c.layout, c.zone).parse(c.text)
		require.NoError(t, err, c)
		require.False(t, adjusted, c)
		require.Equal(t, c.want, got.String(), c)
	}
}

func TestDatesThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ layout, zone, text string }{
		{"", "", "2026-07-01"},
		{"", "", "2026-07-01T12:00:00"},
		{"", "", "2026-07-01T12:00:00 EST"},
		{"date", "UTC", "2026-1-1"},
		{"date", "UTC", "2026-02-30"},
		{"date", "UTC", " 2026-02-03"},
		{"year", "UTC", "26"},
		{"year", "UTC", "0000"}, // before the year 1
		{"2006-01-02 15:04:05", "UTC", "2026-07-01 12:30:00.5"},
		{"2006-01-02 15:04:05", "UTC", "2026-07-01 1:30:00"},
		{"2 Jan 2006", "UTC", "1 july 2026"},
		{"2006-01-02 15:04 -0700", "", "2026-07-01 12:30 +1900"},
	} {
		_, _, err := dateFormatOf(t, c.layout, c.zone).parse(c.text)
		require.Error(t, err, c)
	}
}

// A fraction is what the layout says: its sign, and its number of digits or fewer. Nothing else is left out of the
// comparison.
func TestFractionsAreExact(t *testing.T) {
	t.Parallel()
	const layout = "02.01.2006 15:04:05.999"
	f := dateFormatOf(t, layout, "UTC")
	for text, want := range map[string]string{
		"01.07.2026 12:30:00":     "2026-07-01T12:30:00.000Z",
		"01.07.2026 12:30:00.5":   "2026-07-01T12:30:00.500Z",
		"01.07.2026 12:30:00.050": "2026-07-01T12:30:00.050Z",
		"01.07.2026 12:30:00.123": "2026-07-01T12:30:00.123Z",
	} {
		got, _, err := f.parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String(), text)
	}
	for _, text := range []string{
		"01.07.2026 12:30:00,5", "01.07.2026 12:30:00.1234", "01.07.2026 12:30:00.", "1.07.2026 12:30:00.5", "01.7.2026 12:30:00.5",
	} {
		_, _, err := f.parse(text)
		require.EqualError(t, err, `"`+text+`" is no time of the layout "`+layout+`"`)
	}
	_, _, err := dateFormatOf(t, "2006-01-02 15:04:05,000", "UTC").parse("2026-07-01 12:30:00.500")
	require.Error(t, err)
}

func TestReasonShowsTheLayoutAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"date", "year", "2006-01-02 15:04 MST"} {
		_, _, err := dateFormatOf(t, layout, "UTC").parse("x")
		require.EqualError(t, err, `"x" is no time of the layout "`+layout+`"`)
	}
}

func TestZoneAbbreviationsAreRejected(t *testing.T) {
	t.Parallel()
	f := dateFormatOf(t, "2006-01-02 15:04 MST", "")
	for _, zone := range []string{"EST", "CET", "PDT", "MSK", "IST"} {
		_, _, err := f.parse("2026-07-01 12:30 " + zone)
		require.EqualError(t, err, "the zone abbreviation "+zone+" means several zones: only UTC, GMT and Z are read")
	}
	_, _, err := f.parse("2026-07-01 12:30 +02:00")
	require.Error(t, err)
}

func TestClockChangesTakeTheOffsetBefore(t *testing.T) {
	t.Parallel()
	const layout = "2006-01-02 15:04"
	for _, c := range []struct {
		zone, text, want string
		adjusted         bool
	}{
		// Kyiv: 29 March 2026 03:00 +02:00 becomes 04:00 +03:00; 25 October 04:00 +03:00 becomes 03:00 +02:00.
		{"Europe/Kyiv", "2026-03-29 02:59", "2026-03-29T00:59:00.000Z", false},
		{"Europe/Kyiv", "2026-03-29 03:00", "2026-03-29T01:00:00.000Z", true},
		{"Europe/Kyiv", "2026-03-29 03:30", "2026-03-29T01:30:00.000Z", true},
		{"Europe/Kyiv", "2026-03-29 04:00", "2026-03-29T01:00:00.000Z", false},
		{"Europe/Kyiv", "2026-10-25 02:59", "2026-10-24T23:59:00.000Z", false},
		{"Europe/Kyiv", "2026-10-25 03:00", "2026-10-25T00:00:00.000Z", true},
		{"Europe/Kyiv", "2026-10-25 03:59", "2026-10-25T00:59:00.000Z", true},
		{"Europe/Kyiv", "2026-10-25 04:00", "2026-10-25T02:00:00.000Z", false},
		// A change of half an hour, and one that skips a whole day.
		{"Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-03T15:45:00.000Z", true},
		{"Pacific/Apia", "2011-12-30 12:00", "2011-12-30T22:00:00.000Z", true},
		{"America/New_York", "2026-11-01 01:30", "2026-11-01T05:30:00.000Z", true},
		{"UTC", "2026-03-29 03:30", "2026-03-29T03:30:00.000Z", false},
	} {
		got, adjusted, err := dateFormatOf(t, layout, c.zone).parse(c.text)
		require.NoError(t, err, c)
		require.Equal(t, c.want, got.String(), c)
		require.Equal(t, c.adjusted, adjusted, c)
	}
}

func TestLayoutsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"YYYY-MM-DD", "02.01.06", "15:04"} {
		_, err := newDateFormat(layout, time.UTC)
		require.ErrorContains(t, err, "four-digit year", layout)
	}
	for layout, word := range map[string]string{
		"2006-01-02T15:04:05Z": "Z", "2006-01-02 15:04 Z": "Z", "2006-01-02 15:04 UTC": "UTC", "2006-01-02 15:04 GMT": "GMT",
		"2006-01-02 15:04 EST": "EST", "2006-01-02T15:04+02:00": "+02:00", "Z 2006": "Z",
	} {
		_, err := newDateFormat(layout, time.UTC)
		require.ErrorContains(t, err, "has "+word+" as mere text", layout)
	}
	for _, layout := range []string{"2006-01-02T15H04", "2006-01-02T15:04:05", "3:04 PM 2006", "Zeit 2006", "2006-01-02 15 UHR"} {
		_, err := newDateFormat(layout, time.UTC)
		require.NoError(t, err, layout)
	}
	_, err := newDateFormat("2006-01-02", nil)
	require.ErrorContains(t, err, "carry no zone")
}

// Outside clock changes, a time read in a zone shows the text again on that zone's clocks.
func FuzzDates(f *testing.F) {
	for _, seed := range []string{
		"2026-03-29 03:30:00", "2026-10-25 03:30:00", "0001-01-01 00:00:00", "9999-12-31 23:59:59", "2026-02-30 00:00:00",
		"1900-01-01 00:00:00",
	} {
		f.Add(seed)
	}
	format := dateFormatOf(f, "2006-01-02 15:04:05", "Europe/Kyiv")
	f.Fuzz(func(t *testing.T, text string) {
		at, adjusted, err := format.parse(text)
		if err != nil {
			return
		}
		again := at.Time().In(format.zone).Format(format.layout)
		if !adjusted {
			require.Equal(t, text, again)
		}
	})
}
