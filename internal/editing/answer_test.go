package editing

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
)

func TestTheLocationIsAPathOrOnThePublicAddress(t *testing.T) {
	t.Parallel()
	id := bson.ObjectID{1}
	saved := changes.Saved[map[string]string]{ID: id, Rev: 3, Item: map[string]string{"name": "<a> & b"}}
	for public, want := range map[string]string{
		"": "/things/", "https://api.example.com/catalogue": "https://api.example.com/catalogue/things/",
	} {
		e := &endpoint[map[string]string]{Services: Services{PublicURL: public}}
		a, err := e.createdAnswer(place{path: "/things"}, saved)
		require.NoError(t, err)
		require.Equal(t, 201, a.Status)
		require.Equal(t, want+id.Hex(), a.Header.Get("Location"))
		require.Equal(t, `"3"`, a.Header.Get("ETag"))
		require.JSONEq(t, `{"data": {"name": "<a> & b"}}`, string(a.Body))
		require.Contains(t, string(a.Body), "<a> & b", "texts are written as they are")
	}
}
