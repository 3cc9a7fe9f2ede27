package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// BenchmarkPatch changes one field of a creative through HTTP and with the driver alone, one after the other in one run.
// It reports the median of each, and the share of the driver's speed that the API has. The driver's update is guarded by
// the rev and says what the API says: read, then write. It is as little as a program could do that loses no change.
//
//	scripts/test -race=false -run '^$' -bench Patch ./cmd/catalogue
func BenchmarkPatch(b *testing.B) {
	a := editable(b)
	path := a.create(b, "/creatives", aCreative)
	id, err := bson.ObjectIDFromHex(path[len("/creatives/"):])
	require.NoError(b, err)
	coll := a.db.Collection("creatives")
	var through, raw []time.Duration
	for n := 0; b.Loop(); n++ {
		began := time.Now()
		res := a.patch(b, path, fmt.Sprintf(`{"name": "api %d"}`, n))
		through = append(through, time.Since(began))
		require.Equal(b, http.StatusOK, res.status)

		began = time.Now()
		var doc struct {
			Rev int64 `bson:"rev"`
		}
		require.NoError(b, coll.FindOne(b.Context(), bson.D{{Key: "_id", Value: id}}).Decode(&doc))
		done, err := coll.UpdateOne(b.Context(), bson.D{{Key: "_id", Value: id}, {Key: "rev", Value: doc.Rev}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: fmt.Sprintf("driver %d", n)}}}, {Key: "$inc", Value: bson.D{{Key: "rev", Value: int64(1)}}}})
		raw = append(raw, time.Since(began))
		require.NoError(b, err)
		require.EqualValues(b, 1, done.ModifiedCount)
	}
	b.ReportMetric(milliseconds(median(through)), "p50-api-ms")
	b.ReportMetric(milliseconds(median(raw)), "p50-driver-ms")
	b.ReportMetric(float64(median(raw))/float64(median(through)), "api/driver")
	b.ReportMetric(1000/milliseconds(median(through)), "api-writes/s")
}
