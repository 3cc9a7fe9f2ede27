package instant

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// accepted are texts and what they mean.
var accepted = map[string]string{
	"2026-01-31T12:00:00Z":                                   "2026-01-31T12:00:00.000Z",
	"2026-01-31T12:00:00+02:00":                              "2026-01-31T10:00:00.000Z",
	"2026-01-31T12:00:00-00:00":                              "2026-01-31T12:00:00.000Z",
	"2026-01-31T12:00:00+00:00":                              "2026-01-31T12:00:00.000Z",
	"2026-01-31T12:00:00+18:00":                              "2026-01-30T18:00:00.000Z",
	"2026-01-31T12:00:00-18:00":                              "2026-02-01T06:00:00.000Z",
	"2026-01-31T12:00:00+05:45":                              "2026-01-31T06:15:00.000Z",
	"2026-01-31T12:00:00.1Z":                                 "2026-01-31T12:00:00.100Z",
	"2026-01-31T12:00:00.12Z":                                "2026-01-31T12:00:00.120Z",
	"2026-01-31T12:00:00.123999999Z":                         "2026-01-31T12:00:00.123Z",
	"2026-01-31T12:00:00.9999999999999Z":                     "2026-01-31T12:00:00.999Z",
	"2026-01-31T12:00:00." + strings.Repeat("9", 1000) + "Z": "2026-01-31T12:00:00.999Z",
	"2026-01-31T12:00:00.0000000001+01:00":                   "2026-01-31T11:00:00.000Z",
	"1969-12-31T23:59:59.9999Z":                              "1969-12-31T23:59:59.999Z",
	"1969-12-31T23:59:59.0009Z":                              "1969-12-31T23:59:59.000Z",
	"1900-03-01T00:00:00.0005Z":                              "1900-03-01T00:00:00.000Z",
	"2024-02-29T00:00:00Z":                                   "2024-02-29T00:00:00.000Z",
	"2000-02-29T00:00:00Z":                                   "2000-02-29T00:00:00.000Z",
	"0001-01-01T00:00:00Z":                                   "0001-01-01T00:00:00.000Z",
	"9999-12-31T23:59:59.999999Z":                            "9999-12-31T23:59:59.999Z",
	// The moment counts, not the year that is written.
	"0000-12-31T23:00:00-01:00": "0001-01-01T00:00:00.000Z",
	"9999-12-31T23:59:59+18:00": "9999-12-31T05:59:59.000Z",
}

var refused = map[string]string{
	"empty":                        "",
	"lower-case t":                 "2026-01-31t12:00:00Z",
	"lower-case z":                 "2026-01-31T12:00:00z",
	"space for T":                  "2026-01-31 12:00:00Z",
	"underscore for T":             "2026-01-31_12:00:00Z",
	"comma before the fraction":    "2026-01-31T12:00:00,5Z",
	"no fraction after the point":  "2026-01-31T12:00:00.Z",
	"sign in the fraction":         "2026-01-31T12:00:00.-5Z",
	"no zone":                      "2026-01-31T12:00:00",
	"no seconds":                   "2026-01-31T12:00Z",
	"date only":                    "2026-01-31",
	"basic form":                   "20260131T120000Z",
	"hour 24":                      "2026-01-31T24:00:00Z",
	"hour 25":                      "2026-01-31T25:00:00Z",
	"one-digit hour":               "2026-01-31T1:00:00Z",
	"minute 60":                    "2026-01-31T12:60:00Z",
	"leap second":                  "2016-12-31T23:59:60Z",
	"leap second of another zone":  "2017-01-01T00:59:60+01:00",
	"second 61":                    "2026-01-31T12:00:61Z",
	"month 0":                      "2026-00-31T12:00:00Z",
	"month 13":                     "2026-13-31T12:00:00Z",
	"day 0":                        "2026-01-00T12:00:00Z",
	"30 February":                  "2026-02-30T12:00:00Z",
	"29 February of no leap year":  "2026-02-29T12:00:00Z",
	"29 February 1900":             "1900-02-29T12:00:00Z",
	"31 April":                     "2026-04-31T12:00:00Z",
	"offset beyond 18 hours":       "2026-01-31T12:00:00+18:01",
	"offset beyond -18 hours":      "2026-01-31T12:00:00-18:01",
	"offset of 24 hours":           "2026-01-31T12:00:00+24:00",
	"offset of 99 hours":           "2026-01-31T12:00:00+99:00",
	"minute 60 of an offset":       "2026-01-31T12:00:00+01:60",
	"offset without colon":         "2026-01-31T12:00:00+0200",
	"offset of hours":              "2026-01-31T12:00:00+02",
	"offset with seconds":          "2026-01-31T12:00:00+02:00:00",
	"Z and an offset":              "2026-01-31T12:00:00Z+02:00",
	"offset with a minus sign":     "2026-01-31T12:00:00\u221202:00",
	"abbreviation":                 "2026-01-31T12:00:00EST",
	"UTC":                          "2026-01-31T12:00:00UTC",
	"year of three digits":         "999-01-31T12:00:00Z",
	"year of five digits":          "10000-01-01T00:00:00Z",
	"signed year":                  "+2026-01-31T12:00:00Z",
	"negative year":                "-0001-01-31T12:00:00Z",
	"year 0000":                    "0000-12-31T23:59:59Z",
	"year 0001, in UTC year 0000":  "0001-01-01T00:00:00+00:01",
	"year 9999, in UTC year 10000": "9999-12-31T23:59:59-00:01",
	"leading space":                " 2026-01-31T12:00:00Z",
	"line break behind":            "2026-01-31T12:00:00Z\n",
	"NUL behind":                   "2026-01-31T12:00:00Z\x00",
	"full-width digits":            "２０２６-01-31T12:00:00Z",
	"Arabic digits":                "٢٠٢٦-01-31T12:00:00Z",
	"letters for digits":           "2026-O1-31T12:00:00Z",
	"no UTF-8":                     "2026-01-31T12:00:00\xffZ",
	"a number":                     "1760598968123",
	"Go's own form":                "2026-01-31 12:00:00 +0000 UTC",
	"RFC 1123":                     "Sat, 31 Jan 2026 12:00:00 GMT",
	"week date":                    "2026-W05-6T12:00:00Z",
	"very long":                    strings.Repeat("2", 1<<20),
}

func TestParseReadsTheWholeGrammarAndCutsBelowTheMillisecond(t *testing.T) {
	t.Parallel()
	for text, want := range accepted {
		got, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String(), text)
	}
}

func TestParseRefusesWhatIsNotStrictlyRFC3339(t *testing.T) {
	t.Parallel()
	for name, text := range refused {
		got, err := Parse(text)
		require.Error(t, err, name)
		require.Less(t, len(err.Error()), 150, name)
		require.Zero(t, got, name)
	}
}

func TestParseTellsTheRangeFromTheGrammar(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"} {
		_, err := Parse(text)
		require.ErrorIs(t, err, ErrRange, text)
	}
	_, err := Parse("2026-02-30T00:00:00.123456789012Z")
	require.EqualError(t, err, "the time has a part out of range: 2026-02-30T00:00:00.123456789Z")
	_, err = Parse("2026-01-31T12:00:00+18:01")
	require.EqualError(t, err, "the offset +18:01 is outside ±18:00")
}

func TestMustParsePanicsOnWhatIsNoTime(t *testing.T) {
	t.Parallel()
	require.Equal(t, "2026-01-31T12:00:00.000Z", MustParse("2026-01-31T12:00:00Z").String())
	require.Panics(t, func() { MustParse("today") })
}

func drawInstant(t *rapid.T) Instant {
	i, err := FromMillis(rapid.Int64Range(minMillis, maxMillis).Draw(t, "millis"))
	require.NoError(t, err)
	return i
}

// A model that shares nothing with Parse: the moment is written by package time, in a drawn zone and precision.
func TestParseReadsBackWhatTimeWritesProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawInstant(t)
		minutes := rapid.IntRange(-18*60, 18*60).Draw(t, "offset")
		below := time.Duration(rapid.IntRange(0, 999_999).Draw(t, "below the millisecond"))
		local := want.Time().Add(below).In(time.FixedZone("", minutes*60))
		if y := local.Year(); y < 0 || y > 9999 {
			t.Skip("cannot be written with four digits")
		}
		got, err := Parse(local.Format(time.RFC3339Nano))
		require.NoError(t, err)
		require.Equal(t, want, got)

		again, err := Parse(got.String())
		require.NoError(t, err)
		require.Equal(t, want, again)
	})
}

func FuzzParse(f *testing.F) {
	for text := range accepted {
		f.Add(text)
	}
	for _, text := range refused {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text)
		if err != nil {
			require.Zero(t, got)
			return
		}
		require.GreaterOrEqual(t, got.Millis(), minMillis)
		require.LessOrEqual(t, got.Millis(), maxMillis)
		// Whatever is read here is read by Go's lax parser with the same meaning.
		lax, err := time.Parse(time.RFC3339Nano, text)
		require.NoError(t, err)
		require.Equal(t, lax.UnixMilli(), got.Millis())
		again, err := Parse(got.String())
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
