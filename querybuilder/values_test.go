package querybuilder

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
)

func TestNumbersAreRead(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]any{
		"10":                   int64(10),
		"1e3":                  int64(1000),
		"1.0":                  int64(1),
		"-0":                   int64(0),
		"0e99999999999":        int64(0),
		"1.50":                 1.5,
		"12.5e1":               int64(125),
		"1250e-1":              int64(125),
		"9007199254740993":     int64(9007199254740993),
		"9007199254740993.0":   int64(9007199254740993),
		"90071992547409930e-1": int64(9007199254740993),
		"9223372036854775807":  int64(math.MaxInt64),
		"-9223372036854775808": int64(math.MinInt64),
		"9007199254740992.5":   int64(9007199254740992), // as near as a float64 comes
		"1e20":                 1e20,
		"-1.5e300":             -1.5e300,
		"1e-400":               int64(0),
		"0.1":                  0.1,
		"9223372036854775808":  errTooLarge,
		"-9223372036854775809": errTooLarge,
		"1e400":                errTooLarge,
		"1e99999999999":        errTooLarge,
		"":                     errNoNumber,
		"-":                    errNoNumber,
		"1.":                   errNoNumber,
		".5":                   errNoNumber,
		"1e":                   errNoNumber,
		"1e+":                  errNoNumber,
		"01":                   errNoNumber,
		"+1":                   errNoNumber,
		" 1":                   errNoNumber,
		"1 ":                   errNoNumber,
		"1_000":                errNoNumber,
		"1,000":                errNoNumber,
		"0x10":                 errNoNumber,
		"Inf":                  errNoNumber,
		"NaN":                  errNoNumber,
		"\u0661":               errNoNumber,
		"--1":                  errNoNumber,
		"1e1.5":                errNoNumber,
	} {
		got, err := parseNumber(literal)
		if wantErr, bad := want.(error); bad {
			require.ErrorIs(t, err, wantErr, literal)
			continue
		}
		require.NoError(t, err, literal)
		require.Equal(t, want, got, literal)
	}
}

func compileIn(t *testing.T, zone, document string) bson.D {
	t.Helper()
	loc, err := instant.ParseZone(zone)
	require.NoError(t, err)
	filter, err := everyKind().Parse([]byte(document), loc)
	require.NoError(t, err, document)
	return filter.Compile(now)
}

func date(s string) bson.DateTime { return bson.DateTime(instant.MustParse(s).Millis()) }

func TestADateWithoutATimeIsTheWholeDayInTheZone(t *testing.T) {
	t.Parallel()
	const zone = "Europe/Kyiv" // 2026-03-29 has 23 hours there, 2026-10-25 has 25
	start, end := date("2026-03-28T22:00:00Z"), date("2026-03-29T21:00:00Z")
	type d = bson.D
	field := func(conditions ...bson.E) d { return d{{Key: "created_at", Value: d(conditions)}} }
	for document, want := range map[string]bson.D{
		`{"field":"created_at","operator":"<","value":"2026-03-29"}`:  field(bson.E{Key: "$lt", Value: start}),
		`{"field":"created_at","operator":">=","value":"2026-03-29"}`: field(bson.E{Key: "$gte", Value: start}),
		`{"field":"created_at","operator":"<=","value":"2026-03-29"}`: field(bson.E{Key: "$lt", Value: end}),
		`{"field":"created_at","operator":">","value":"2026-03-29"}`:  field(bson.E{Key: "$gte", Value: end}),
		`{"field":"created_at","operator":"=","value":"2026-03-29"}`:  field(bson.E{Key: "$gte", Value: start}, bson.E{Key: "$lt", Value: end}),
		`{"field":"created_at","operator":"!=","value":"2026-03-29"}`: field(
			bson.E{Key: "$not", Value: d{{Key: "$gte", Value: start}, {Key: "$lt", Value: end}}}),
		`{"field":"created_at","operator":"between","value":"2026-03-29,2026-10-25"}`: field(
			bson.E{Key: "$gte", Value: start}, bson.E{Key: "$lt", Value: date("2026-10-25T22:00:00Z")}),
		`{"field":"created_at","operator":"between","value":["2026-10-25","2026-03-29"]}`: field(
			bson.E{Key: "$gte", Value: start}, bson.E{Key: "$lt", Value: date("2026-10-25T22:00:00Z")}),
		`{"field":"created_at","operator":"between","value":["2026-03-29","2026-03-29"]}`: field(
			bson.E{Key: "$gte", Value: start}, bson.E{Key: "$lt", Value: end}),
		`{"field":"created_at","operator":"between","value":["2026-03-29T10:00:00Z","2026-03-29"]}`: field(
			bson.E{Key: "$gte", Value: date("2026-03-29T10:00:00Z")}, bson.E{Key: "$lt", Value: end}),
		`{"field":"created_at","operator":"between","value":["2026-03-29T12:00:00+02:00","2026-03-29T10:00:00.0019Z"]}`: field(
			bson.E{Key: "$gte", Value: date("2026-03-29T10:00:00Z")}, bson.E{Key: "$lte", Value: date("2026-03-29T10:00:00.001Z")}),
		`{"field":"created_at","operator":"in","value":"2026-03-29"}`: field(bson.E{Key: "$gte", Value: start}, bson.E{Key: "$lt", Value: end}),
		`{"field":"created_at","operator":"notBetween","value":"2026-03-29,2026-03-29"}`: {{Key: "$or", Value: bson.A{
			field(bson.E{Key: "$gte", Value: end}), field(bson.E{Key: "$lt", Value: start}),
		}}},
		`{"field":"created_at","operator":"<=","value":"2026-03-29T00:00:00Z"}`: field(bson.E{Key: "$lte", Value: date("2026-03-29T00:00:00Z")}),
		`{"field":"created_at","operator":"<=","value":"9999-12-31"}`:           field(bson.E{Key: "$lt", Value: bson.DateTime(253402293600000)}),
	} {
		require.Equal(t, want, compileIn(t, zone, document), document)
	}
}

func TestRelativeOperators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, now, operator, from, until string }{
		{"UTC", "2026-03-11T15:04:00Z", "today", "2026-03-11T00:00:00Z", "2026-03-12T00:00:00Z"},
		{"UTC", "2026-03-11T00:00:00Z", "today", "2026-03-11T00:00:00Z", "2026-03-12T00:00:00Z"},
		{"UTC", "2026-03-11T15:04:00Z", "yesterday", "2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z"},
		{"UTC", "2026-03-11T15:04:00Z", "this_week", "2026-03-09T00:00:00Z", "2026-03-16T00:00:00Z"},
		{"UTC", "2026-03-09T00:00:00Z", "this_week", "2026-03-09T00:00:00Z", "2026-03-16T00:00:00Z"},
		{"UTC", "2026-03-15T23:59:00Z", "this_week", "2026-03-09T00:00:00Z", "2026-03-16T00:00:00Z"},
		{"UTC", "2026-03-15T23:59:00Z", "last_week", "2026-03-02T00:00:00Z", "2026-03-09T00:00:00Z"},
		{"UTC", "2026-03-31T15:04:00Z", "this_month", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"},
		{"UTC", "2026-03-31T15:04:00Z", "last_month", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"UTC", "2026-01-01T00:00:00Z", "last_month", "2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		{"+02:00", "2026-03-11T22:30:00Z", "today", "2026-03-11T22:00:00Z", "2026-03-12T22:00:00Z"},
		{"America/New_York", "2026-03-09T03:00:00Z", "today", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"}, // 23 hours
		{"America/New_York", "2026-11-02T04:00:00Z", "today", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"}, // 25 hours
		{"Europe/Kyiv", "2026-03-31T12:00:00Z", "this_month", "2026-02-28T22:00:00Z", "2026-03-31T21:00:00Z"},
		{"Africa/Cairo", "2026-04-24T12:00:00Z", "today", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"}, // no midnight: 0:00 is 1:00
		{"Africa/Cairo", "2026-10-29T12:00:00Z", "today", "2026-10-28T21:00:00Z", "2026-10-29T22:00:00Z"},
		{"Asia/Beirut", "2026-10-25T12:00:00Z", "yesterday", "2026-10-23T21:00:00Z", "2026-10-24T22:00:00Z"},
		{"America/Havana", "2026-11-01T12:00:00Z", "today", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"}, // 0:00 twice
	} {
		t.Run(c.zone+" "+c.now+" "+c.operator, func(t *testing.T) {
			t.Parallel()
			zone, err := instant.ParseZone(c.zone)
			require.NoError(t, err)
			filter, err := everyKind().Parse([]byte(`{"field":"created_at","operator":"`+c.operator+`","value":""}`), zone)
			require.NoError(t, err)
			require.True(t, filter.Relative())
			want := bson.D{{Key: "created_at", Value: bson.D{{Key: "$gte", Value: date(c.from)}, {Key: "$lt", Value: date(c.until)}}}}
			require.Equal(t, want, filter.Compile(instant.MustParse(c.now).Time()))
		})
	}
	require.Equal(t,
		bson.D{{Key: "created_at", Value: bson.D{{Key: "$gte", Value: date("2026-02-11T15:04:00Z")}}}},
		compileIn(t, "America/New_York", `{"field":"created_at","operator":"last_days_interval","value":"28"}`))
	require.Equal(t,
		bson.D{{Key: "created_at", Value: bson.D{
			{Key: "$gte", Value: date("2026-03-11T15:04:00Z")}, {Key: "$lte", Value: date("2026-03-12T15:04:00Z")},
		}}},
		compileIn(t, "UTC", `{"condition":"AND","rules":[{"field":"created_at","operator":"next_days_interval","value":[1]}]}`))
}

// Days follow each other without gap or overlap, also where clocks skip or repeat midnight, or whole days.
func TestDaysTileEveryZone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"UTC", "Europe/Kyiv", "America/Sao_Paulo", "America/Havana", "Africa/Cairo", "Asia/Beirut", "Pacific/Apia", "America/St_Johns",
		"Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Kwajalein", "America/Scoresbysund",
	} {
		zone, err := instant.ParseZone(name)
		require.NoError(t, err)
		for day := time.Date(1985, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2030; day = day.AddDate(0, 0, 1) {
			s := daySpan(day.Year(), day.Month(), day.Day(), zone)
			length := s.until.Time().Sub(s.from.Time())
			require.GreaterOrEqual(t, length, time.Duration(0), "%s %s", name, day)
			require.LessOrEqual(t, length, 26*time.Hour, "%s %s", name, day)
			if length == 0 {
				continue // a day that the zone never had
			}
			require.Equal(t, day.Format(time.DateOnly), s.from.Time().In(zone).Format(time.DateOnly), name)
			before := s.from.Time().Add(-time.Millisecond).In(zone)
			require.Less(t, before.Format(time.DateOnly), day.Format(time.DateOnly), name)
		}
	}
}
