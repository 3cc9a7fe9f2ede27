package migrations_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongotest"
	"catalogue/migrations"
	"catalogue/pagination"
)

func testFields() migrations.Fields {
	return migrations.Fields{"rows": {
		{Field: "at", Kind: pagination.Date},
		{Field: "name", Kind: pagination.String},
		{Field: "metrics.spend", Kind: pagination.Number},
		{Field: "metrics.clicks", Kind: pagination.Number},
	}}
}

// row is a document of the collection rows.
func row(id any, fields ...bson.E) bson.D { return append(bson.D{{Key: "_id", Value: id}}, fields...) }

func insert(t *testing.T, db *mongo.Database, rows ...bson.D) {
	t.Helper()
	_, err := db.Collection("rows").InsertMany(t.Context(), rows)
	require.NoError(t, err)
}

func check(t *testing.T, db *mongo.Database, fields migrations.Fields) (lines []string) {
	t.Helper()
	for p, err := range migrations.Check(t.Context(), db, fields) {
		require.NoError(t, err)
		lines = append(lines, p.String())
	}
	return lines
}

func TestCheckFindsWhatWouldBeServedStrangely(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	id := bson.NewObjectIDFromTimestamp(time.Unix(0, 0))
	insert(t, db,
		row(1, bson.E{Key: "at", Value: "2026"}, bson.E{Key: "name", Value: "fine"}),
		row(2, bson.E{Key: "at", Value: bson.A{bson.DateTime(0)}}),
		row(3, bson.E{Key: "at", Value: bson.DateTime(math.MaxInt64)}),
		row(4, bson.E{Key: "metrics", Value: bson.D{{Key: "spend", Value: math.NaN()}, {Key: "clicks", Value: "5"}}}),
		row(5, bson.E{Key: "metrics", Value: bson.A{bson.D{{Key: "spend", Value: 1}}}}),
		row(6, bson.E{Key: "metrics", Value: 5}),
		row(7, bson.E{Key: "name", Value: "a"}, bson.E{Key: "name", Value: "b"}),
		row(8, bson.E{Key: "other", Value: bson.A{1, bson.D{{Key: "x", Value: 1}, {Key: "x", Value: 1}, {Key: "x", Value: 1}}}}),
		row(9, bson.E{Key: "rev", Value: "1"}, bson.E{Key: "feed", Value: true}),
		row("text", bson.E{Key: "name", Value: bson.Symbol("s")}),
		row(id, bson.E{Key: "name", Value: bson.Undefined{}}),
		row(12, bson.E{Key: "at", Value: nil}, bson.E{Key: "metrics", Value: bson.D{{Key: "spend", Value: nil}}}),
		row(13, bson.E{Key: "metrics", Value: nil}, bson.E{Key: "tags", Value: bson.A{"x", "x"}}),
		row(14, bson.E{Key: "metrics", Value: bson.D{{Key: "spend", Value: bson.NewDecimal128(0, 5)}, {Key: "clicks", Value: int32(5)}}}),
		row(15),
	)
	require.ElementsMatch(t, []string{
		`rows {"$numberInt":"1"}: at: stray type: string "2026"`,
		`rows {"$numberInt":"2"}: at: array: array`,
		`rows {"$numberInt":"3"}: at: date out of range: UTC datetime {"$date":{"$numberLong":"9223372036854775807"}}`,
		`rows {"$numberInt":"4"}: metrics.clicks: stray type: string "5"`,
		`rows {"$numberInt":"4"}: metrics.spend: not finite: double {"$numberDouble":"NaN"}`,
		`rows {"$numberInt":"5"}: metrics: array: array`,
		`rows {"$numberInt":"6"}: metrics: stray type: 32-bit integer {"$numberInt":"5"}`,
		`rows {"$numberInt":"7"}: name: named twice`,
		`rows {"$numberInt":"8"}: other.1.x: named twice`,
		`rows {"$numberInt":"9"}: rev: stray type: string "1"`,
		`rows {"$numberInt":"9"}: feed: stray type: boolean true`,
		`rows "text": name: stray type: symbol {"$symbol":"s"}`,
		`rows 000000000000000000000000: name: stray type: undefined`,
	}, shortened(check(t, db, testFields())))
}

// shortened has the time and the process cut out of the one id that is not made by the test.
func shortened(lines []string) []string {
	for i, line := range lines {
		if len(line) > 29 && line[:13] == "rows 00000000" {
			lines[i] = line[:13] + "0000000000000000" + line[29:]
		}
	}
	return lines
}

func TestCheckEndsWhereItIsToldTo(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	insert(t, db, row(1, bson.E{Key: "at", Value: 1}), row(2, bson.E{Key: "at", Value: 1}))
	for _, err := range migrations.Check(t.Context(), db, testFields()) {
		require.NoError(t, err)
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failed := 0
	for _, err := range migrations.Check(ctx, db, testFields()) {
		require.ErrorIs(t, err, context.Canceled)
		failed++
	}
	require.Equal(t, 1, failed)
}
