package main

import (
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// hostileBodies have something in each that a write might stumble over.
func hostileBodies() []string {
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	return []string{
		"", " ", "null", "0", `""`, "[]", "{}", "{", "\x00", "\xff", "\xef\xbb\xbf{}", `{"a"`, `{"": 1}`, deep, `{"name": ` + deep + `}`,
		strings.Repeat(`{"metrics":`, 100) + "1" + strings.Repeat("}", 100),
		`{"name": "\u0000"}`, `{"name": "\udc00"}`, `{"name": null}`, `{"name": {"$gt": ""}}`, `{"$set": {"name": "a"}}`,
		`{"name": "$name", "status": "$$ROOT", "format": "$$NOW"}`, `{"name.first": "a"}`, `{"_id": "a", "__proto__": {}}`,
		`{"metrics": {"spend": 1e999}}`, `{"metrics": {"spend": -0, "currency": "EUR"}}`, `{"metrics": {"clicks": 1e400}}`,
		`{"metrics": {"clicks": 99999999999999999999}}`, `{"metrics": {"impressions": 1, "clicks": 9223372036854775807}}`,
		`{"metrics": {"spend": 1e-999999999999999999999, "currency": "EUR"}}`, `{"metrics": {"clicks": 1E+2}}`, `{"metrics": [[]]}`,
		`{"tags": [null]}`, `{"tags": {"0": "a"}}`, `{"attributes": {"a": {"b": "c"}}}`, `{"attributes": {"$where": "sleep(1)"}}`,
		`{"created_at": "2026-13-45"}`, `{"launched_at": "0000-01-01T00:00:00Z"}`, `{"launched_at": "9999-12-31T23:59:59.999Z"}`,
		`{"creative_id": "000000000000000000000000"}`, `{"priority": 4, "due_at": null}`, `{"status": "done", "title": "a"}`,
		`{"body": "b"}`, `{"source": {"system": "a", "id": "b", "digest": "c"}}`, aCreative, aTask,
		`{"items": null}`, `{"items": [null, 1, "", [], {}]}`, `{"items": [{"op": "create", "data": {"items": []}}]}`,
		`{"items": [{"op": "delete", "id": "ffffffffffffffffffffffff", "rev": 9223372036854775807}]}`,
		`{"items": [{"op": "patch", "id": "ffffffffffffffffffffffff", "rev": -1, "data": {"name": "a"}}]}`,
		`{"items": [{"source": {"system": "$a", "id": {"$ne": 1}}, "metrics": {"clicks": null}}]}`,
		`{"items": [{"source": {"system": "a", "id": "b"}, "metrics": {"ctr": 1}}]}`,
	}
}

func FuzzWritesNeverFail(f *testing.F) {
	a := editable(f)
	task, creative := a.create(f, "/tasks", aTask), a.create(f, "/creatives", aCreative)
	comment := a.create(f, task+"/comments", `{"body": "b"}`)
	targets := []struct{ method, path string }{
		{http.MethodPost, "/creatives"},
		{http.MethodPost, "/creatives/bulk"},
		{http.MethodPost, "/creatives/metrics"},
		{http.MethodPost, "/tasks"},
		{http.MethodPost, task + "/comments"},
		{http.MethodPatch, creative},
		{http.MethodPatch, task},
		{http.MethodPatch, comment},
	}
	for i, body := range hostileBodies() {
		for target := range targets {
			f.Add(uint8(target), body, `*`, "")
		}
		f.Add(uint8(i), body, `W/"1", "2"`, "key")
	}
	f.Fuzz(func(t *testing.T, target uint8, body, ifMatch, key string) {
		if strings.ContainsFunc(ifMatch+key, unicode.IsControl) {
			t.Skip("no client can send this")
		}
		at := targets[int(target)%len(targets)]
		res := a.write(t, at.method, at.path, body, headers{
			"If-Match": ifMatch, "Idempotency-Key": key, "Content-Type": "application/json",
		})
		require.Less(t, res.status, 500, "%s %s %q: %s", at.method, at.path, body, res.body)
		if res.status >= 400 {
			require.NotEmpty(t, res.problem(t).Code)
		}
		require.NotContains(t, string(res.body), `"status":500`)
	})
}
