package main

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
)

// editable serves an empty database, with writes.
func editable(t testing.TB) *api {
	t.Helper()
	mongotest.Needs(t, mongotest.Transactions)
	return serveDatabase(t, mongotest.Database(t))
}

// headers are those of a request, by name. An empty one is not sent.
type headers map[string]string

// write sends a write of the user ann, with a body of JSON where there is one. more are other headers.
func (a *api) write(t require.TestingT, method, target, body string, more ...headers) response {
	var content io.Reader = http.NoBody
	all := headers{"X-Catalogue-User": "ann"}
	if body != "" {
		content = strings.NewReader(body)
		all["Content-Type"] = "application/json"
	}
	for _, h := range more {
		maps.Copy(all, h)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, a.url+target, content)
	require.NoError(t, err)
	for name, value := range all {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := a.client.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	read, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return response{status: res.StatusCode, header: res.Header, body: read}
}

// patch changes an object, whatever its revision.
func (a *api) patch(t require.TestingT, target, body string, more ...headers) response {
	return a.write(t, http.MethodPatch, target, body, append([]headers{{"If-Match": "*"}}, more...)...)
}

// thing is a single object of any kind, as far as tests look at it by name.
type thing map[string]any

// text is a field that is a text, empty where it is none.
func (o thing) text(field string) string {
	s, _ := o[field].(string)
	return s
}

// inside is an object in an object, nil where there is none.
func (o thing) inside(field string) thing {
	m, _ := o[field].(map[string]any)
	return m
}

func (r response) thing(t require.TestingT, status int) thing {
	require.Equal(t, status, r.status, "%s", r.body)
	require.Equal(t, "application/json", r.header.Get("Content-Type"))
	require.Equal(t, "no-store", r.header.Get("Cache-Control"))
	var out struct {
		Data thing `json:"data"`
	}
	require.NoError(t, json.Unmarshal(r.body, &out))
	require.NotEmpty(t, out.Data)
	return out.Data
}

// create makes an object and returns its path.
func (a *api) create(t require.TestingT, path, body string) string {
	made := a.write(t, http.MethodPost, path, body)
	made.thing(t, http.StatusCreated)
	return made.header.Get("Location")
}

// The least that a creative and a task need.
const (
	aCreative = `{"name": "n", "status": "active", "format": "image"}`
	aTask     = `{"title": "t", "priority": 1}`
)

// stored is the document of an object at a path, as it is in the database.
func (a *api) stored(t testing.TB, collection, path string) bson.M {
	t.Helper()
	id, err := bson.ObjectIDFromHex(path[strings.LastIndex(path, "/")+1:])
	require.NoError(t, err)
	var doc bson.M
	require.NoError(t, a.db.Collection(collection).FindOne(t.Context(), bson.D{{Key: "_id", Value: id}}).Decode(&doc))
	return doc
}

// count is how many documents of a collection match.
func (a *api) count(t testing.TB, collection string, filter bson.D) int {
	t.Helper()
	n, err := a.db.Collection(collection).CountDocuments(t.Context(), filter)
	require.NoError(t, err)
	return int(n)
}

// refused tells that a write was refused as it should be, and returns the problem.
func (r response) refused(t require.TestingT, status int, code string) problemOf {
	require.Equal(t, status, r.status, "%s", r.body)
	p := r.problem(t)
	require.Equal(t, code, p.Code, "%s", r.body)
	return p
}
