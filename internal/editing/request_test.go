package editing

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/problem"
)

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]struct{ json, patch bool }{
		"application/json":                             {true, true},
		"Application/JSON":                             {true, true},
		"application/json; charset=utf-8":              {true, true},
		`application/json;charset="UTF-8"`:             {true, true},
		"application/json; version=1":                  {true, true},
		"application/json;":                            {true, true},
		"application/merge-patch+json":                 {false, true},
		"application/merge-patch+json; charset=utf-8":  {false, true},
		"application/json; charset=latin1":             {},
		"application/json; charset=utf-16":             {},
		"application/json-patch+json":                  {},
		"application/problem+json":                     {},
		"text/json":                                    {},
		"text/plain":                                   {},
		"application/x-www-form-urlencoded":            {},
		"":                                             {},
		"json":                                         {},
		"*/*":                                          {},
		"application/*":                                {},
		"application/json, application/json":           {},
		"application/json; charset":                    {},
		"application/json; charset=utf-8; charset=utf": {},
	} {
		h := http.Header{"Content-Type": {contentType}}
		require.Equal(t, want.json, checkMediaType(h, jsonBody) == nil, contentType)
		require.Equal(t, want.json, checkMediaType(h, batchBody) == nil, contentType)
		require.Equal(t, want.patch, checkMediaType(h, patchBody) == nil, contentType)
	}
	require.Error(t, checkMediaType(http.Header{}, jsonBody))
	require.Error(t, checkMediaType(http.Header{"Content-Type": {"application/json", "text/plain"}}, jsonBody))
	compressed := http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}
	require.Error(t, checkMediaType(compressed, jsonBody))
	compressed.Set("Content-Encoding", "identity")
	require.NoError(t, checkMediaType(compressed, jsonBody))
}

func TestAPatchOfAnotherTypeIsToldTheRightOnes(t *testing.T) {
	t.Parallel()
	p := problem.Of(checkMediaType(http.Header{}, patchBody))
	require.Equal(t, problem.MediaTypeUnsupported, p.Code)
	require.Equal(t, map[string]string{"Accept-Patch": "application/merge-patch+json, application/json"}, p.Header)
	require.Nil(t, problem.Of(checkMediaType(http.Header{}, jsonBody)).Header)
}

func TestTheUserIsTextOf1To200Characters(t *testing.T) {
	t.Parallel()
	s := Services{TrustUser: true}
	for name, ok := range map[string]bool{
		"ann": true, "Zoë 张": true, strings.Repeat("é", 200): true,
		"": false, strings.Repeat("é", 201): false, "a\tb": false, "a\x00": false, "a\u0085b": false, "\xff": false,
	} {
		user, err := s.user(http.Header{UserHeader: {name}})
		require.Equal(t, ok, err == nil, "%q", name)
		if ok {
			require.Equal(t, name, user)
		}
	}
	for _, h := range []http.Header{{}, {UserHeader: {"ann", "bob"}}, {UserHeader: {"ann", "ann"}}} {
		_, err := s.user(h)
		require.Equal(t, problem.UserRequired, problem.Of(err).Code)
	}
	_, err := Services{}.user(http.Header{UserHeader: {"ann"}})
	require.Equal(t, problem.UserRequired, problem.Of(err).Code, "a header that is not trusted says nothing")
}

func TestIdempotencyKeysAreVisibleASCII(t *testing.T) {
	t.Parallel()
	for key, ok := range map[string]bool{
		"a": true, "!~": true, strings.Repeat("k", 255): true, `"quoted"`: true,
		"": false, strings.Repeat("k", 256): false, "a b": false, "é": false, "a\x7f": false, "a\n": false,
	} {
		got, err := parseKey([]string{key})
		require.Equal(t, ok, err == nil, "%q", key)
		if ok {
			require.Equal(t, key, got)
		}
	}
	_, err := parseKey([]string{"a", "a"})
	require.Equal(t, problem.KeyMalformed, problem.Of(err).Code)
	none, err := parseKey(nil)
	require.NoError(t, err)
	require.Empty(t, none)
}
