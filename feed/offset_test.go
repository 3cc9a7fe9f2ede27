package feed

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

const (
	someHash = "9e107d9d372bb6826bd81d3542a419d6"
	someID   = "65f0a1b2c3d4e5f60718293a"
)

// validOffsets are offsets of every kind, and what they mean.
func validOffsets(t require.TestingT) map[string]offset {
	id, err := bson.ObjectIDFromHex(someID)
	require.NoError(t, err)
	after := func(at float64) offset { return offset{form: formAfter, at: at} }
	return map[string]offset{
		"":                             {},
		"1760598968.0.1." + someHash:   {form: formGroup, at: 1760598968, n: 1, hash: someHash},
		"1760598968.123.7." + someHash: {form: formGroup, at: 1760598968.123, n: 7, hash: someHash},
		"1760598968.5.1000." + strings.ToUpper(someHash): {form: formGroup, at: 1760598968.5, n: 1000, hash: someHash},
		"0.0.1." + someHash:                     {form: formGroup, n: 1, hash: someHash},
		"1760598968.123.0.00000000" + someID:    {form: formWithin, at: 1760598968.123, id: id},
		"1760598968":                            after(1760598968),
		"1760598968.123":                        after(1760598968.123),
		"20260101":                              after(20260101),
		"2025-10-16T07:16:08Z":                  after(1760598968),
		"2025-10-16T07:16:08.123Z":              after(1760598968.123),
		"2025-10-16T07:16:08.1230Z":             after(1760598968.123),
		"2025-10-16T07:16:08.123456Z":           after(1760598968.1235),
		"2025-10-16T07:16:08":                   after(1760598968),
		"2025-10-16T07:16:08.123":               after(1760598968.123),
		"2025-10-16T10:16:08+03:00":             after(1760598968),
		"2025-10-16T10:16:08.123456 03:00":      after(1760598968.1235),
		"2025-10-16T04:16:08-03:00":             after(1760598968),
		"2025-10-16":                            after(1760572800),
		"1969-12-31T23:59:59Z":                  after(-1),
		"253402300799.999.1." + someHash:        {form: formGroup, at: maxTimestamp, n: 1, hash: someHash},
		"99999999999999.0":                      after(99999999999999),
		"0." + strings.Repeat("0", 323) + "5.0": {},
	}
}

func TestParseOffset(t *testing.T) {
	t.Parallel()
	for text, want := range validOffsets(t) {
		if text != "" && want == (offset{}) {
			continue // of the fuzz seeds only
		}
		got, ok := parseOffset(text)
		require.True(t, ok, "%q", text)
		require.Equal(t, want.form, got.form, "%q", text)
		require.InDelta(t, want.at, got.at, 1e-6, "%q", text)
		require.Equal(t, want.n, got.n, "%q", text)
		require.Equal(t, want.hash, got.hash, "%q", text)
		require.Equal(t, want.id, got.id, "%q", text)
	}
}

// invalidOffsets are none, each for a reason of its own.
func invalidOffsets() []string {
	return []string{
		"latest", "nan", "NaN", "inf", "-inf", "Infinity", "1e9", "1.5e9", "0x10", "1_000", "+5", " 5", "5 ", "-5", ".", ".5", "5.",
		"1760598968,5", "٥", "５", "1760598968.٥", "1 760", "\x00", "5\x00", "\xff",
		"1760598968.1." + someHash,             // a formatter dropped the fraction
		"1760598968.0.1",                       // no hash
		"1760598968.0.1." + someHash + ".",     // five parts
		"1760598968.0.1.1." + someHash,         // five parts
		"1760598968.0.1." + someHash[1:],       // 31 digits
		"1760598968.0.1." + someHash + "0",     // 33 digits
		"1760598968.0.1.g" + someHash[1:],      // no hex
		"1760598968.0.-1." + someHash,          // negative
		"1760598968.0.+1." + someHash,          // a sign
		"1760598968.0.1.5." + someHash,         // no whole number
		"1760598968.0.1001." + someHash,        // more than a page
		"1760598968.0.99999999999." + someHash, // huge
		"1760598968.0.." + someHash,
		"nan.0.1." + someHash, "inf.0.1." + someHash, "-1.0.1." + someHash, "1e3.0.1." + someHash, ".0.1." + someHash,
		"1760598968.0.0." + someHash,            // nothing served, and no id either
		"1760598968.0.0.0000000" + someID + "0", // seven zeros
		"2026-02-30", "2026-13-01T00:00:00Z", "2026-1-1", "2026-01-31T25:00:00Z", "2026-01-31T12:00:00 99:00",
		"2026-01-31 12:00:00", "2026-01-31T12:00", "20260131T120000Z", "31.01.2026", "10000-01-01T00:00:00Z",
		strings.Repeat("9", maxOffset+1), strings.Repeat("9", 400), "0." + strings.Repeat("1", maxOffset),
	}
}

func TestParseOffsetRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range invalidOffsets() {
		got, ok := parseOffset(text)
		require.False(t, ok, "%q is read as %+v", text, got)
	}
}

func TestTimestampsArePlainDecimals(t *testing.T) {
	t.Parallel()
	for at, want := range map[float64]string{
		1760598968.123: "1760598968.123.1." + someHash,
		1760598968:     "1760598968.0.1." + someHash,
		0:              "0.0.1." + someHash,
		0.001:          "0.001.1." + someHash,
		maxTimestamp:   "253402300799.999.1." + someHash,
	} {
		require.Equal(t, want, offset{form: formGroup, at: at, n: 1, hash: someHash}.String())
	}
}

// TestOffsetsReadBack: whatever is given out is accepted, and means the same.
func TestOffsetsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := offset{form: formGroup, at: drawTimestamp(t), n: rapid.IntRange(1, maxLimit).Draw(t, "n"), hash: someHash}
		if rapid.Bool().Draw(t, "within") {
			given = offset{form: formWithin, at: given.at, id: bson.ObjectID([]byte(rapid.StringN(12, 12, 12).Draw(t, "id")))}
		}
		got, ok := parseOffset(given.String())
		require.True(t, ok, "%s", given)
		require.Equal(t, given, got)
	})
}

// drawTimestamp makes any timestamp that a row can be shown with: whole milliseconds, and doubles of every size.
func drawTimestamp(t *rapid.T) float64 {
	if rapid.Bool().Draw(t, "stamped") {
		return float64(rapid.Int64Range(0, 253402300799999).Draw(t, "ms")) / millisPerSecond
	}
	return rapid.OneOf(
		rapid.Float64Range(0, maxTimestamp), rapid.Just(math.SmallestNonzeroFloat64), rapid.Just(0.0), rapid.Just(maxTimestamp),
	).Draw(t, "at")
}

func FuzzOffset(f *testing.F) {
	for text := range validOffsets(f) {
		f.Add(text)
	}
	for _, text := range invalidOffsets() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := parseOffset(text)
		if !ok {
			return
		}
		require.False(t, math.IsNaN(got.at) || math.IsInf(got.at, 0), "%q", text)
		require.LessOrEqual(t, got.n, maxLimit)
		if got.form == formGroup || got.form == formWithin {
			require.GreaterOrEqual(t, got.at, 0.0)
			again, ok := parseOffset(got.String())
			if len(got.String()) <= maxOffset { // leading zeros make up for longer digits elsewhere
				require.True(t, ok, "%q prints as %q", text, got)
				require.Equal(t, got, again)
			}
		}
	})
}

func TestHashIsOfSortedIDs(t *testing.T) {
	t.Parallel()
	a, b := bson.ObjectID{1}, bson.ObjectID{2}
	// md5 of "010000000000000000000000" + "020000000000000000000000"
	require.Equal(t, "40498a01ca803e3edc7265ba8169e957", hashIDs([]bson.ObjectID{b, a}))
	require.Equal(t, hashIDs([]bson.ObjectID{a, b}), hashIDs([]bson.ObjectID{b, a}))
	require.NotEqual(t, hashIDs([]bson.ObjectID{a}), hashIDs([]bson.ObjectID{a, b}))
}
