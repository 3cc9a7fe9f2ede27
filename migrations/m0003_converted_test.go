package migrations

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/pagination"
)

func value(t *testing.T, v any) bson.RawValue {
	t.Helper()
	kind, data, err := bson.MarshalValue(v)
	require.NoError(t, err)
	return bson.RawValue{Type: kind, Value: data}
}

func TestTypesAreConvertedWhereNothingIsLost(t *testing.T) {
	t.Parallel()
	const noon = 1767268800000 // 2026-01-01T12:00:00Z
	for name, c := range map[string]struct {
		kind pagination.Kind
		from any
		to   any // nil where the value stays
	}{
		"a time":                          {pagination.Date, "2026-01-01T12:00:00Z", bson.DateTime(noon)},
		"a time of a zone":                {pagination.Date, "2026-01-01T14:00:00+02:00", bson.DateTime(noon)},
		"milliseconds":                    {pagination.Date, "2026-01-01T12:00:00.120Z", bson.DateTime(noon + 120)},
		"tenths":                          {pagination.Date, "2026-01-01T12:00:00.1Z", bson.DateTime(noon + 100)},
		"zeros below the millisecond":     {pagination.Date, "2026-01-01T12:00:00.120000Z", bson.DateTime(noon + 120)},
		"something below the millisecond": {pagination.Date, "2026-01-01T12:00:00.1200001Z", nil},
		"the first year":                  {pagination.Date, "0001-01-01T00:00:00Z", bson.DateTime(-62135596800000)},
		"before the first year":           {pagination.Date, "0001-01-01T00:00:00+01:00", nil},
		"a date without a time":           {pagination.Date, "2026-01-01", nil},
		"a time without a zone":           {pagination.Date, "2026-01-01T12:00:00", nil},
		"a time in words":                 {pagination.Date, "noon", nil},
		"nothing":                         {pagination.Date, "", nil},
		"a time with spaces":              {pagination.Date, " 2026-01-01T12:00:00Z", nil},
		"seconds or milliseconds":         {pagination.Date, int64(noon), nil},
		"a timestamp":                     {pagination.Date, bson.Timestamp{T: noon / 1000}, bson.DateTime(noon)},
		"a timestamp beyond 2038":         {pagination.Date, bson.Timestamp{T: 1<<32 - 1}, bson.DateTime(4294967295000)},
		"a timestamp with an ordinal":     {pagination.Date, bson.Timestamp{T: noon / 1000, I: 1}, nil},
		"times in an array":               {pagination.Date, bson.A{"2026-01-01T12:00:00Z"}, nil},
		"a document":                      {pagination.Date, bson.D{}, nil},
		"digits":                          {pagination.Number, "5", nil},
		"true":                            {pagination.Number, true, nil},
		"a date for a number":             {pagination.Number, bson.DateTime(noon), nil},
		"a symbol":                        {pagination.String, bson.Symbol("Ärlig $x"), "Ärlig $x"},
		"a number for a text":             {pagination.String, 5, nil},
		"an id for a text":                {pagination.String, bson.NilObjectID, nil},
	} {
		got := converted(c.kind, value(t, c.from))
		if c.to == nil {
			require.True(t, got.IsZero(), "%s: %s", name, got)
			continue
		}
		require.True(t, got.Equal(value(t, c.to)), "%s: %s", name, got)
	}
}
