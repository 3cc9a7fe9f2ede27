package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func (a *api) figures(t require.TestingT, items ...string) response {
	return a.write(t, http.MethodPost, "/creatives/metrics", `{"items": [`+strings.Join(items, ",")+`]}`)
}

func TestFiguresGoToTheCreativesOfTheirSources(t *testing.T) {
	t.Parallel()
	a := editable(t)
	paths := map[string]string{}
	for _, id := range []string{"1", "2", "$x"} {
		paths[id] = a.create(t, "/creatives", aCreative[:len(aCreative)-1]+
			`, "metrics": {"impressions": 10, "clicks": 1}, "source": {"system": "ads", "id": "`+id+`"}}`)
	}
	results := a.figures(t,
		`{"source": {"system": "ads", "id": "1"}, "metrics": {"clicks": 5, "spend": 2.5, "currency": "EUR"}}`,
		`{"source": {"system": "ads", "id": "2"}, "metrics": {"clicks": 1}}`,
		`{"source": {"system": "ads", "id": "1"}, "metrics": {"impressions": 20}}`,
		`{"source": {"system": "ads", "id": "$x"}, "metrics": {"impressions": null, "clicks": null}}`,
	).items(t, 200)
	for i, want := range []struct {
		id  string
		rev int64
	}{{"1", 2}, {"2", 1}, {"1", 3}, {"$x", 2}} {
		require.Equal(t, itemResult{Status: 200, ID: strings.TrimPrefix(paths[want.id], "/creatives/"), Rev: want.rev}, results[i])
	}
	for id, want := range map[string]string{
		"1":  `{"impressions": 20, "clicks": 5, "ctr": 0.25, "spend": 2.5, "currency": "EUR"}`,
		"2":  `{"impressions": 10, "clicks": 1, "ctr": 0.1}`,
		"$x": `null`,
	} {
		metrics, err := json.Marshal(a.get(t, paths[id]).thing(t, 200)["metrics"])
		require.NoError(t, err)
		require.JSONEq(t, want, string(metrics), id)
	}
	require.NotContains(t, a.stored(t, "creatives", paths["$x"]), "metrics", "empty parents are left out")
	again := a.figures(t, `{"source": {"system": "ads", "id": "1"}, "metrics": {"clicks": 5, "spend": 2.50, "currency": "EUR"}}`)
	require.Equal(t, int64(3), again.items(t, 200)[0].Rev, "the same figures change nothing")
}

func TestABadFigureSpoilsNoneOfTheOthers(t *testing.T) {
	t.Parallel()
	a := editable(t)
	path := a.create(t, "/creatives", aCreative[:len(aCreative)-1]+`, "source": {"system": "ads", "id": "1"}}`)
	right := `{"source": {"system": "ads", "id": "1"}, "metrics": {"clicks": 5}}`
	bad := []struct{ item, want string }{
		{`5`, "422 field_type =field_type"},
		{`null`, "422 field_type =field_type"},
		{`{}`, "422 field_invalid source=field_invalid metrics=field_invalid"},
		{`{"source": null, "metrics": null}`, "422 field_invalid source=field_invalid metrics=field_invalid"},
		{`{"source": {}, "metrics": {}}`, "422 field_invalid source=field_invalid"},
		{`{"source": {"system": "ads"}, "metrics": {}}`, "422 field_invalid source.id=field_invalid"},
		{`{"source": {"system": "ads", "id": 1}, "metrics": []}`, "422 field_type source.id=field_type metrics=field_type"},
		{
			`{"source": {"system": "ads", "id": "1"}, "metrics": {"ctr": 1, "zz": 1, "clicks": 1.5, "impressions": -1}, "x": 1}`,
			"422 field_unknown x=field_unknown metrics.ctr=field_read_only metrics.zz=field_unknown metrics.clicks=field_type metrics.impressions=field_invalid",
		},
		{`{"source": {"system": "ads", "id": "1", "digest": "d"}, "metrics": {}}`, "422 field_unknown source.digest=field_unknown"},
		{`{"source": {"system": "ads", "id": "1"}, "metrics": {"spend": 5}}`, "422 field_invalid metrics.currency=field_invalid"},
		{`{"source": {"system": "ads", "id": "2"}, "metrics": {"clicks": 5}}`, "404 not_found"},
		{`{"source": {"system": "$ads", "id": "1"}, "metrics": {"clicks": 5}}`, "404 not_found"},
		{`{"source": {"system": "ads", "id": "1"}, "metrics": {"clicks": 5, "clicks": 6}}`, "422 field_repeated metrics.clicks=field_repeated"},
	}
	var items []string
	for _, b := range bad {
		items = append(items, b.item, right)
	}
	results := a.figures(t, items...).items(t, 207)
	for i, b := range bad {
		require.Equal(t, b.want, results[2*i].said(), b.item)
		require.Equal(t, 200, results[2*i+1].Status)
	}
	require.Equal(t, `"2"`, a.get(t, path).header.Get("ETag"))
}

func TestFiguresUnderAKeyAreMergedOnce(t *testing.T) {
	t.Parallel()
	a := editable(t)
	path := a.create(t, "/creatives", aCreative[:len(aCreative)-1]+`, "source": {"system": "ads", "id": "1"}}`)
	send := func(clicks string) response {
		return a.write(t, http.MethodPost, "/creatives/metrics",
			`{"items": [{"source": {"system": "ads", "id": "1"}, "metrics": {"clicks": `+clicks+`}}]}`, headers{"Idempotency-Key": "k"})
	}
	first := send("5")
	first.items(t, 200)
	a.patch(t, path, `{"metrics": {"clicks": 9}}`).thing(t, 200)
	again := send("5.0")
	require.Equal(t, string(first.body), string(again.body))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.InDelta(t, 9, a.get(t, path).thing(t, 200).inside("metrics")["clicks"], 0)
	send("6").refused(t, 422, "idempotency_key_reused")
	require.Equal(t, 1, a.count(t, "idempotency_keys", bson.D{}))
}
