package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestAllThatIsWrongWithABodyIsToldAtOnce(t *testing.T) {
	t.Parallel()
	a := editable(t)
	creative, task := a.create(t, "/creatives", aCreative), a.create(t, "/tasks", aTask)
	for _, c := range []struct{ path, body, want string }{
		{
			creative, `{"zz": 1, "Name": "a", "name": 5, "rev": 1, "tags": "a", "metrics": {"clicks": 1.5, "ctr": 1}, "status": "x"}`,
			"zz=field_unknown Name=field_unknown name=field_type rev=field_read_only tags=field_type metrics.clicks=field_type " +
				"metrics.ctr=field_read_only status=field_invalid",
		},
		{
			creative, `{"name": "a", "name": "b", "format": "\ud800", "status": "a\u0000"}`,
			"name=field_repeated format=field_text status=field_text",
		},
		{creative, `{"\u017ftatus": "active"}`, "\u017ftatus=field_unknown"},
		{
			creative, `{"id": "a", "dateModified": "b", "created_at": "c", "updated_at": "d", "feed": "live", "public_modified": 1}`,
			"id=field_read_only dateModified=field_read_only created_at=field_read_only updated_at=field_read_only " +
				"feed=field_unknown public_modified=field_unknown",
		},
		{
			creative, `{"attributes": {"a.b": "x", "$c": "x", "": "x", "d": 1, "e\u0000": "x"}}`,
			"attributes[e\\u0000]=field_text attributes[d]=field_type attributes[$c]=field_invalid attributes[]=field_invalid " +
				"attributes[a.b]=field_invalid",
		},
		{
			creative, `{"name": null, "status": null, "tags": ["", "b"]}`,
			"name=field_invalid status=field_invalid tags[0]=field_invalid",
		},
		{
			creative, `{"metrics": {"impressions": 9223372036854775808, "clicks": "5", "spend": 1e400}, "media": {"width": 1e3, "url": "x"}}`,
			"metrics.impressions=field_type metrics.clicks=field_type metrics.spend=field_type media.url=field_invalid",
		},
		{creative, `[]`, "=field_type"},
		{creative, `null`, "=field_type"},
		{creative, `"a"`, "=field_type"},
		{
			task, `{"closed_at": null, "created_by": "bob", "due_at": "2026-02-30T00:00:00Z", "creative_id": "5"}`,
			"closed_at=field_read_only created_by=field_read_only due_at=field_type creative_id=field_type",
		},
		{
			task + "/comments/" + bson.NewObjectID().Hex(), `{"author": "a", "mode": "live", "entity_id": "a", "entity_type": "task", "source": {}}`,
			"author=field_read_only mode=field_read_only entity_id=field_read_only entity_type=field_read_only source=field_read_only",
		},
	} {
		p := a.patch(t, c.path, c.body).problem(t)
		require.Equal(t, 422, p.Status, c.body)
		require.Equal(t, c.want, p.codes(), c.body)
		require.Equal(t, p.Errors[0].Code, p.Code)
	}
	for _, body := range []string{"", " ", "{", `{"name": "a"} {}`, `{"name": "a"},`, "{'name': 'a'}", "{\"name\": \"\xff\"}", "\xef\xbb\xbf{}"} {
		a.patch(t, creative, body, headers{"Content-Type": "application/json"}).refused(t, 400, "body_malformed")
	}
}

// hostile are texts that mean something to a database which reads them as expressions.
func hostile() []string {
	return []string{"$status", "$$NOW", "$$ROOT", "$$REMOVE", "$", "$$", "$literal", "a.b", "{\"$set\": 1}", "é\u2028<b>&"}
}

func TestTextComesBackAsItWasSentInEveryField(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", aTask)
	for i, text := range hostile() {
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		x := string(quoted)
		creative := `{"name": ` + x + `, "status": "active", "format": "image", "tags": [` + x + `],
			"attributes": {"a": ` + x + `}, "source": {"system": ` + x + `, "id": ` + x + `}}`
		made := a.write(t, http.MethodPost, "/creatives", creative)
		require.Subset(t, made.thing(t, 201), parse(t, creative))
		require.Subset(t, a.get(t, made.header.Get("Location")).thing(t, 200), parse(t, creative))

		comment := a.write(t, http.MethodPost, task+"/comments", `{"body": `+x+`}`)
		require.Equal(t, text, comment.thing(t, 201)["body"])

		user := headers{"X-Catalogue-User": text}
		fields := `{"title": ` + x + `, "description": ` + x + `, "type": ` + x + `, "assignee": ` + x + `}`
		changed := a.patch(t, task, fields, user).thing(t, 200)
		require.Subset(t, changed, parse(t, fields))
		named := a.write(t, http.MethodPost, "/tasks", `{"title": "t", "priority": 1, "source": {"system": `+x+`, "id": `+x+`}}`, user)
		require.Equal(t, text, named.thing(t, 201)["created_by"])
		require.Equal(t, text, a.write(t, http.MethodPost, task+"/comments", `{"body": "b"}`, user).thing(t, 201)["author"])

		patched := `{"name": ` + x + `, "tags": ["b", ` + x + `], "attributes": {"b": ` + x + `}}`
		whole := a.create(t, "/creatives", aCreative)
		require.Subset(t, a.patch(t, whole, patched).thing(t, 200), parse(t, patched))
		moved := a.patch(t, task, `{"status": "`+[]string{"blocked", "open"}[i%2]+`"}`, user)
		moved.thing(t, 200)
		entries := a.page(t, task+"/history?limit=1")
		require.JSONEq(t, x, string(decodeObject(t, entries.Data[0])["by"]))
	}
}

func parse(t require.TestingT, object string) map[string]any {
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(object), &out))
	return out
}

func TestNamesOfAttributesAreKeptFromTheDatabase(t *testing.T) {
	t.Parallel()
	a := editable(t)
	for name, ok := range map[string]bool{
		"a": true, strings.Repeat("é", 64): true, "a$b": true, "a b": true, "_id": true, "source": true, "0": true,
		"": false, strings.Repeat("a", 65): false, "a.b": false, ".": false, "$a": false, "$": false,
	} {
		quoted, err := json.Marshal(name)
		require.NoError(t, err)
		res := a.write(t, http.MethodPost, "/creatives", aCreative[:len(aCreative)-1]+`, "attributes": {`+string(quoted)+`: "v"}}`)
		if !ok {
			require.Len(t, res.refused(t, 422, "field_invalid").Errors, 1, name)
			continue
		}
		require.Equal(t, map[string]any{name: "v"}, res.thing(t, 201)["attributes"])
		path := res.header.Get("Location")
		more := a.patch(t, path, `{"attributes": {"more": "w"}}`).thing(t, 200)
		require.Equal(t, map[string]any{name: "v", "more": "w"}, more["attributes"])
		require.NotContains(t, a.patch(t, path, `{"attributes": {`+string(quoted)+`: null, "more": null}}`).thing(t, 200), "attributes")
	}
}

func TestWholeNumbersAreExact(t *testing.T) {
	t.Parallel()
	a := editable(t)
	path := a.create(t, "/creatives", aCreative)
	for given, want := range map[string]string{
		"9223372036854775807": "9223372036854775807", "9007199254740993": "9007199254740993", "1e3": "1000", "2.0": "2", "-0": "0",
		"12.5e1": "125", "9223372036854775807.0": "9223372036854775807",
	} {
		res := a.patch(t, path, `{"metrics": {"impressions": `+given+`}}`)
		require.Contains(t, string(res.body), `"impressions":`+want, given)
	}
	for _, given := range []string{"1.5", `"5"`, "9223372036854775808", "1e400", "true", "[]", "-1"} {
		require.Equal(t, 422, a.patch(t, path, `{"metrics": {"impressions": `+given+`}}`).status, given)
	}
}

func TestFieldsThatTheTypeDoesNotKnowStayInTheDatabase(t *testing.T) {
	t.Parallel()
	a := editable(t)
	id := bson.NewObjectID()
	plant(t, a.db, "creatives", bson.D{
		{Key: "_id", Value: id},
		{Key: "name", Value: "n"},
		{Key: "mode", Value: "live"},
		{Key: "status", Value: "active"},
		{Key: "extra", Value: bson.D{{Key: "a", Value: 1}}},
		{Key: "format", Value: "gif"},
		{Key: "rev", Value: int64(4)},
		{Key: "metrics", Value: bson.D{{Key: "clicks", Value: int64(1)}, {Key: "views", Value: 7}}},
		{Key: "attributes", Value: bson.D{{Key: "a", Value: "x"}, {Key: "n", Value: 5}}},
	})
	path := "/creatives/" + id.Hex()
	changed := a.write(t, http.MethodPatch, path, `{"name": "m", "metrics": {"clicks": 2}, "attributes": {"b": "y"}}`,
		headers{"If-Match": `"4"`})
	require.Equal(t, "gif", changed.thing(t, 200)["format"], "what other programs broke is nobody's mistake here")
	doc := a.stored(t, "creatives", path)
	require.Equal(t, bson.D{{Key: "a", Value: int32(1)}}, doc["extra"])
	require.Contains(t, doc["metrics"], bson.E{Key: "views", Value: int32(7)})
	require.Contains(t, doc["attributes"], bson.E{Key: "n", Value: int32(5)})
	require.Contains(t, doc["attributes"], bson.E{Key: "b", Value: "y"})
	require.Equal(t, "format=field_invalid", a.patch(t, path, `{"format": "gif"}`).refused(t, 422, "field_invalid").codes(),
		"but to say it again is")
}

// The cases of RFC 7396, appendix A, in fields that take them. What a field's type or rules do not allow is refused.
func TestMergePatchCasesOfTheRFC(t *testing.T) {
	t.Parallel()
	a := editable(t)
	for i, c := range []struct{ original, patch, want string }{
		{`{"attributes": {"a": "b"}}`, `{"attributes": {"a": "c"}}`, `{"attributes": {"a": "c"}}`},
		{`{"attributes": {"a": "b"}}`, `{"attributes": {"b": "c"}}`, `{"attributes": {"a": "b", "b": "c"}}`},
		{`{"attributes": {"a": "b"}}`, `{"attributes": {"a": null}}`, `{}`},
		{`{"attributes": {"a": "b", "b": "c"}}`, `{"attributes": {"a": null}}`, `{"attributes": {"b": "c"}}`},
		{`{"tags": ["b"]}`, `{"tags": ["c"]}`, `{"tags": ["c"]}`},
		{`{"tags": ["b"]}`, `{"tags": "c"}`, "422"},
		{`{"attributes": {"a": "c"}}`, `{"attributes": {"a": ["b"]}}`, "422"},
		{`{"metrics": {"clicks": 1}}`, `{"metrics": {"clicks": 2, "impressions": null}}`, `{"metrics": {"clicks": 2}}`},
		{`{"attributes": {"a": "b"}}`, `{"attributes": {"a": [1]}}`, "422"},
		{`{"tags": ["a", "b"]}`, `{"tags": ["c", "d"]}`, `{"tags": ["c", "d"]}`},
		{`{"attributes": {"a": "b"}}`, `["c"]`, "422"},
		{`{"attributes": {"a": "foo"}}`, `null`, "422"},
		{`{"attributes": {"a": "foo"}}`, `"bar"`, "422"},
		{`{}`, `{"attributes": {"a": "1"}}`, `{"attributes": {"a": "1"}}`},
		{`{"tags": ["1", "2"]}`, `{"attributes": {"a": "b", "c": null}}`, `{"tags": ["1", "2"], "attributes": {"a": "b"}}`},
		{`{}`, `{"metrics": {"clicks": 1, "impressions": null}}`, `{"metrics": {"clicks": 1}}`},
		{`{}`, `{"media": {"url": null, "width": null}}`, `{}`},
		{`{"metrics": {"clicks": 1}}`, `{"metrics": null}`, `{}`},
	} {
		path := a.create(t, "/creatives", aCreative)
		if c.original != "{}" {
			a.patch(t, path, c.original).thing(t, 200)
		}
		for _, contentType := range []string{"application/merge-patch+json", "application/json"} { // the second changes nothing more
			res := a.patch(t, path, c.patch, headers{"Content-Type": contentType})
			name := strconv.Itoa(i) + ": " + c.patch
			if c.want == "422" {
				require.Equal(t, 422, res.status, name)
				continue
			}
			got := res.thing(t, 200)
			rest := map[string]any{}
			for _, field := range []string{"attributes", "tags", "metrics", "media"} {
				if v, ok := got[field]; ok {
					rest[field] = v
				}
			}
			require.Equal(t, parse(t, c.want), rest, name)
		}
	}
}
