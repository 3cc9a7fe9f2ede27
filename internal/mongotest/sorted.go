package mongotest

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Everything reads all documents of a collection that match.
func Everything(t require.TestingT, coll *mongo.Collection, filter bson.D) []bson.Raw {
	cursor, err := coll.Find(context.Background(), filter)
	require.NoError(t, err)
	var docs []bson.Raw
	require.NoError(t, cursor.All(context.Background(), &docs))
	return docs
}

// SortedIDs is the model of every list: the ids of docs, sorted in memory. Documents whose value at the path is of a
// type that holds accepts come first by (value, _id), then those without one by _id, then the rest by _id, each in
// the direction asked for. It shares no code with what it is compared with.
func SortedIDs(t require.TestingT, docs []bson.Raw, path string, holds func(bson.Type) bool, descending bool) []bson.ObjectID {
	type placed struct {
		phase int
		value bson.RawValue
		id    bson.ObjectID
	}
	rows := make([]placed, 0, len(docs))
	for _, doc := range docs {
		row := placed{phase: 3, id: doc.Lookup("_id").ObjectID()}
		value, err := doc.LookupErr(strings.Split(path, ".")...)
		switch {
		case err != nil || value.Type == bson.TypeNull:
			row.phase = 2
		case holds(value.Type) && !isNaN(value):
			row.phase, row.value = 1, value
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b placed) int {
		if c := cmp.Compare(a.phase, b.phase); c != 0 {
			return c
		}
		c := 0
		if a.phase == 1 {
			c = compareValues(t, a.value, b.value)
		}
		c = cmp.Or(c, bytes.Compare(a.id[:], b.id[:]))
		if descending {
			return -c
		}
		return c
	})
	var ids []bson.ObjectID
	for _, r := range rows {
		ids = append(ids, r.id)
	}
	return ids
}

func isNaN(v bson.RawValue) bool {
	if f, ok := v.DoubleOK(); ok {
		return math.IsNaN(f)
	}
	d, ok := v.Decimal128OK()
	return ok && d.IsNaN()
}

func compareValues(t require.TestingT, a, b bson.RawValue) int {
	if a.Type == bson.TypeString {
		return cmp.Compare(a.StringValue(), b.StringValue()) // by bytes, as the database does without a collation
	}
	if a.Type == bson.TypeDateTime {
		return cmp.Compare(a.DateTime(), b.DateTime())
	}
	infA, infB := infinity(a), infinity(b)
	if infA != 0 || infB != 0 {
		return cmp.Compare(infA, infB)
	}
	return rational(t, a).Cmp(rational(t, b))
}

func infinity(v bson.RawValue) int {
	if f, ok := v.DoubleOK(); ok && math.IsInf(f, 0) {
		return int(math.Copysign(1, f))
	}
	if d, ok := v.Decimal128OK(); ok {
		return d.IsInf()
	}
	return 0
}

// rational is the exact number.
func rational(t require.TestingT, v bson.RawValue) *big.Rat {
	if v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64 {
		return new(big.Rat).SetInt64(v.AsInt64())
	}
	if f, ok := v.DoubleOK(); ok {
		return new(big.Rat).SetFloat64(f)
	}
	digits, exponent, err := v.Decimal128().BigInt()
	require.NoError(t, err)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	out := new(big.Rat).SetInt(digits)
	if exponent < 0 {
		return out.Quo(out, new(big.Rat).SetInt(power))
	}
	return out.Mul(out, new(big.Rat).SetInt(power))
}
