package indexes

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
	"catalogue/pagination"
)

func TestEveryReadIsExplainedOnce(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.ExplainPlans)
	db := mongotest.Database(t)
	rows := []any{}
	for n := range 200 {
		rows = append(rows, bson.D{{Key: "name", Value: strconv.Itoa(n)}, {Key: "kind", Value: "x"}, {Key: "other", Value: n}})
	}
	_, err := db.Collection("rows").InsertMany(t.Context(), rows)
	require.NoError(t, err)
	pair := ForSort("rows", []string{"kind"}, "name", "both")
	buildAll(t, db, byName, pair)
	reads := func(order pagination.Order, filter, hint string) []Read {
		list, err := ReadsOf("/rows", filter, "rows", order, func(from pagination.RowPosition) pagination.Query {
			q := pagination.Query{Order: order, From: from, Limit: 50, Hint: hint}
			if filter != "" {
				q.Filter = bson.D{{Key: filter, Value: "x"}}
			}
			return q
		})
		require.NoError(t, err)
		return list
	}
	for _, kind := range []pagination.Kind{pagination.Number, pagination.String, pagination.Date} {
		sort := pagination.Sort{Field: "name", Kind: kind}
		for _, order := range []pagination.Order{pagination.Asc(sort), pagination.Desc(sort)} {
			explained, err := Explained(t.Context(), db, reads(order, "", byName.Name()))
			require.NoError(t, err)
			var kinds []string
			for _, e := range explained {
				kinds = append(kinds, e.Read.Read)
				require.Equal(t, byName.Name(), e.Index, e)
				require.False(t, e.Blocks, e)
				require.Contains(t, e.Plan, "IXSCAN")
				require.Equal(t, map[bool]string{false: "asc", true: "desc"}[order.Descending], e.Direction)
			}
			require.ElementsMatch(t, []string{"first", "first nulls", "strays", "ties", "values", "tie and values", "nulls"}, kinds)
		}
	}

	byPair, err := Explained(t.Context(), db, reads(pagination.Asc(pagination.Sort{Field: "name", Kind: pagination.String}), "kind", ""))
	require.NoError(t, err)
	require.Equal(t, pair.Name(), byPair[0].Index)
	require.Equal(t, "kind", byPair[0].Filter)
	require.False(t, byPair[0].Blocks)

	unserved, err := Explained(t.Context(), db, reads(pagination.Asc(pagination.Sort{Field: "other", Kind: pagination.Number}), "", ""))
	require.NoError(t, err)
	require.True(t, unserved[0].Blocks)
	require.Empty(t, unserved[0].Index)

	_, err = Explained(t.Context(), db, reads(pagination.Asc(pagination.Sort{Field: "name", Kind: pagination.String}), "", "gone"))
	require.ErrorContains(t, err, `the read "first" of /rows by name asc`)
}
