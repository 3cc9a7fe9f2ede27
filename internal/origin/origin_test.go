package origin_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/origin"
	"catalogue/internal/strictbson"
)

func TestTheDigestIsStoredAndNeitherShownNorTakenFromOutside(t *testing.T) {
	t.Parallel()
	source := origin.Source{System: "shop", ID: "0017", Digest: "d"}

	text, err := json.Marshal(source)
	require.NoError(t, err)
	require.JSONEq(t, `{"system":"shop","id":"0017"}`, string(text))

	var read origin.Source
	require.NoError(t, json.Unmarshal([]byte(`{"system":"shop","id":"0017","digest":"x","Digest":"x","-":"x"}`), &read))
	require.Empty(t, read.Digest)

	doc, err := bson.Marshal(source)
	require.NoError(t, err)
	stored, misfits := strictbson.New[origin.Source]().Decode(doc)
	require.Empty(t, misfits)
	require.Equal(t, source, stored)
}

func TestAnAbsentDigestIsLeftOut(t *testing.T) {
	t.Parallel()
	doc, err := bson.Marshal(origin.Source{System: "shop", ID: "0017"})
	require.NoError(t, err)
	require.Empty(t, bson.Raw(doc).Lookup("digest"))
}

// The names are those of the unique index and of the import's filters.
func TestStoredNames(t *testing.T) {
	t.Parallel()
	doc, err := bson.Marshal(origin.Source{System: "shop", ID: "0017", Digest: "d"})
	require.NoError(t, err)
	require.Equal(t, "shop", bson.Raw(doc).Lookup("system").StringValue())
	require.Equal(t, "0017", bson.Raw(doc).Lookup("id").StringValue())
	require.Equal(t, "d", bson.Raw(doc).Lookup("digest").StringValue())
}
