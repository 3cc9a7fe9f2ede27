package instant

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

func TestInstantCutsTowardsThePastAlsoBefore1970(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		t    time.Time
		want int64
	}{
		{time.Unix(0, 999_999), 0},
		{time.Unix(0, 1_999_999), 1},
		{time.Unix(0, -1), -1},
		{time.Unix(0, -1_000_000), -1},
		{time.Unix(0, -1_000_001), -2},
		{time.Unix(-1, 999_999_999), -1},
		{time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), maxMillis},
		{time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), minMillis},
		{time.Date(0, 12, 31, 19, 0, 0, 0, time.FixedZone("", -5*3600)), minMillis},
	} {
		got, err := FromTime(c.t)
		require.NoError(t, err, c.t)
		require.Equal(t, c.want, got.Millis(), c.t)
	}
}

func TestInstantsOutsideTheYears1To9999AreRefused(t *testing.T) {
	t.Parallel()
	for _, outside := range []time.Time{
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(0, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
		time.Date(1, 1, 1, 0, 0, 0, 0, time.FixedZone("", 60)),
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -60)),
		// Milliseconds of these overflow; the first ones wrap round to the year 1970.
		time.Unix(math.MaxInt64/1000*2+2, 0), time.Unix(math.MinInt64/1000*2, 0),
		time.Unix(1<<61, 0), time.Unix(-1<<61, 0), time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0),
	} {
		got, err := FromTime(outside)
		require.ErrorIs(t, err, ErrRange, outside.Unix())
		require.Zero(t, got)
	}
	for _, ms := range []int64{minMillis - 1, maxMillis + 1, math.MinInt64, math.MaxInt64} {
		_, err := FromMillis(ms)
		require.ErrorIs(t, err, ErrRange, ms)
	}
	for _, ms := range []int64{minMillis, maxMillis, 0, -1} {
		_, err := FromMillis(ms)
		require.NoError(t, err, ms)
	}
}

func TestInstantIsWrittenInUTCWithMilliseconds(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{
		0: "1970-01-01T00:00:00.000Z", -1: "1969-12-31T23:59:59.999Z",
		minMillis: "0001-01-01T00:00:00.000Z", maxMillis: "9999-12-31T23:59:59.999Z", 1760598968120: "2025-10-16T07:16:08.120Z",
	} {
		i, err := FromMillis(ms)
		require.NoError(t, err)
		require.Equal(t, want, i.String())
		require.Equal(t, time.UTC, i.Time().Location())
		data, err := json.Marshal(i)
		require.NoError(t, err)
		require.Equal(t, `"`+want+`"`, string(data))
	}
	require.Equal(t, "1970-01-01T00:00:00.000Z", Instant{}.String(), "the zero value is a moment")
}

func TestInstantOrder(t *testing.T) {
	t.Parallel()
	early, late := MustParse("1969-12-31T23:59:59.999Z"), MustParse("1970-01-01T00:00:00Z")
	require.True(t, early.Before(late))
	require.False(t, late.Before(early))
	require.False(t, late.Before(late))
}

type holder struct {
	At    *Instant `bson:"at,omitempty" json:"at,omitempty"`
	Plain Instant  `bson:"plain"        json:"plain"`
}

func TestInstantRefusesOtherJSONThanAStringInRFC3339(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"null": `null`, "number": `1760598968123`, "empty": `""`, "object": `{"$date":"2026-01-31T12:00:00Z"}`, "array": `[]`,
		"boolean": `true`, "date only": `"2026-01-31"`, "lower case": `"2026-01-31t12:00:00z"`, "hour 24": `"2026-01-31T24:00:00Z"`,
		"lone surrogate": `"2026-01-31T12:00:00Z\ud800"`, "no UTF-8": "\"2026-01-31T12:00:00Z\xff\"",
	} {
		got := MustParse("2026-01-01T00:00:00Z")
		require.Error(t, json.Unmarshal([]byte(text), &got), name)
		require.Equal(t, MustParse("2026-01-01T00:00:00Z"), got, name)
	}
	var h holder
	require.NoError(t, json.Unmarshal([]byte(`{"at":null,"plain":"\u0032026-01-31T12:00:00+02:00"}`), &h))
	require.Nil(t, h.At)
	require.Equal(t, "2026-01-31T10:00:00.000Z", h.Plain.String())
}

func TestInstantIsStoredAsADateAndReadFromADateOnly(t *testing.T) {
	t.Parallel()
	data, err := bson.Marshal(holder{Plain: MustParse("1969-12-31T23:59:59.999Z")})
	require.NoError(t, err)
	require.Equal(t, bson.DateTime(-1), bson.DateTime(bson.Raw(data).Lookup("plain").DateTime()))
	require.Empty(t, bson.Raw(data).Lookup("at"), "absent, not null")

	for name, value := range map[string]any{
		"null": nil, "string": "2026-01-31T12:00:00Z", "int64": int64(0), "double": 0.0, "timestamp": bson.Timestamp{T: 1},
		"id": bson.NewObjectID(), "boolean": true, "document": bson.D{}, "year 10000": bson.DateTime(maxMillis + 1),
		"year 0": bson.DateTime(minMillis - 1), "least": bson.DateTime(math.MinInt64), "greatest": bson.DateTime(math.MaxInt64),
	} {
		doc, err := bson.Marshal(bson.D{{Key: "plain", Value: value}})
		require.NoError(t, err)
		var h holder
		require.Error(t, bson.Unmarshal(doc, &h), name)
		require.Zero(t, h, name)
	}
	require.Error(t, new(Instant).UnmarshalBSONValue(byte(bson.TypeDateTime), []byte{1, 2, 3}), "cut short")
}

func TestInstantRoundTripsProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at, plain := drawInstant(t), drawInstant(t)
		want := holder{At: &at, Plain: plain}

		text, err := json.Marshal(want)
		require.NoError(t, err)
		var fromJSON holder
		require.NoError(t, json.Unmarshal(text, &fromJSON))
		require.Equal(t, want, fromJSON)

		doc, err := bson.Marshal(want)
		require.NoError(t, err)
		var fromBSON holder
		require.NoError(t, bson.Unmarshal(doc, &fromBSON))
		require.Equal(t, want, fromBSON)

		fromTime, err := FromTime(at.Time())
		require.NoError(t, err)
		require.Equal(t, at, fromTime)
	})
}
