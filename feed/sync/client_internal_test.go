package follower

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatRetryAfterSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"-5":                            0,
		"7":                             7 * time.Second,
		"99999999999999":                longestRetryAfter,
		"soon":                          0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute,
		"Fri, 02 Jan 2026 03:04:04 GMT": 0,
		"Fri, 02 Jan 2099 03:04:04 GMT": longestRetryAfter,
	} {
		require.Equal(t, want, retryAfter(value, now), value)
	}
}

func TestARateLimitWithoutRetryAfter(t *testing.T) {
	t.Parallel()
	err := unwelcome(&http.Response{
		StatusCode: http.StatusTooManyRequests, Header: http.Header{}, Request: &http.Request{URL: &url.URL{Path: "/x"}},
	}, nil)
	require.EqualError(t, err, "/x: 429: Too Many Requests")
	failed, ok := err.(*failure) //nolint:errorlint // it is not wrapped
	require.True(t, ok)
	require.Equal(t, rateLimitPause, failed.wait)
}

func TestTheBackOffIsBounded(t *testing.T) {
	t.Parallel()
	for try := range 100 {
		pause := backOff(time.Second, try)
		most := longestPause
		if try < 5 {
			most = time.Second << try
		}
		require.GreaterOrEqual(t, pause, most/2, try)
		require.LessOrEqual(t, pause, most, try)
	}
	require.Zero(t, backOff(0, 3))
}

func TestSameContentGoesByValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[2]}`, `{"b":[2],"a":1}`, true},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":1}`, `{"a":1,"b":null}`, false},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
	} {
		require.Equal(t, c.same, sameContent([]byte(c.a), []byte(c.b)), "%s %s", c.a, c.b)
	}
}

func TestAPageThatHoldsAnObjectTwice(t *testing.T) {
	t.Parallel()
	old, recent, other := entry{id: "a", version: 1}, entry{id: "a", version: 2}, entry{id: "b", version: 3}
	require.Equal(t, []entry{recent, other}, latest([]entry{old, recent, other}))
	require.Equal(t, []entry{other, recent}, latest([]entry{other, recent, old}))
}
