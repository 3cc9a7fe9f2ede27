package race_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/feed/race"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	good := race.Plan{Duration: time.Second, Writers: 8, SlowShare: 0.02, SlowTime: time.Second, Delay: time.Second}
	require.NoError(t, good.Check())
	err := race.Plan{Duration: 1, Writers: 65, SlowShare: 1.1, SlowTime: -1}.Check()
	require.EqualError(t, err, strings.Join([]string{
		"duration must be from 100ms to 10m0s", "writers must be from 1 to 64", "slow-share must be from 0 to 1",
		"slow-time must be from 0s to 30s", "delay must be from 10ms to 30s",
	}, "\n"))
}

// The database's clock is an hour ahead, and answers one time slowly.
func TestReckoning(t *testing.T) {
	t.Parallel()
	ahead := time.Hour
	clock, err := race.Reckon(t.Context(), func(context.Context) (time.Time, error) {
		return time.Now().Add(ahead).Truncate(time.Millisecond), nil
	})
	require.NoError(t, err)
	now := time.Now()
	require.WithinDuration(t, now.Add(ahead), clock.At(now), clock.Uncertainty()+time.Microsecond)
	require.Less(t, clock.Uncertainty(), 50*time.Millisecond)

	ahead += time.Minute // the clock is set meanwhile
	later, err := race.Reckon(t.Context(), func(context.Context) (time.Time, error) { return time.Now().Add(ahead), nil })
	require.NoError(t, err)
	require.InDelta(t, time.Minute, clock.Widen(later).Uncertainty(), float64(time.Second))

	broken := errors.New("away")
	_, err = race.Reckon(t.Context(), func(context.Context) (time.Time, error) { return time.Time{}, broken })
	require.ErrorIs(t, err, broken)
}

func TestParsePage(t *testing.T) {
	t.Parallel()
	versions, next, err := race.ParsePage([]byte(`{"data":[{"id":"000000000000000000000001",` +
		`"dateModified":"2025-10-09T08:53:20.010Z"}],"next_page":{"offset":"1760000000.01.1.x","path":"/","uri":"/"}}`))
	require.NoError(t, err)
	require.Equal(t, []race.Version{version(t, 1, 10)}, versions)
	require.Equal(t, "1760000000.01.1.x", next)

	versions, next, err = race.ParsePage([]byte(`{"data":[],"next_page":{"offset":""}}`))
	require.NoError(t, err)
	require.Empty(t, versions)
	require.Empty(t, next)

	for _, wrong := range []string{
		`nonsense`, `{"data":[]}`, `{"data":[{"id":"1"}],"next_page":{"offset":"1"}}`,
		`{"data":[{"id":"000000000000000000000001","dateModified":"2025-10-09T08:53:20Z"}],"next_page":{"offset":""}}`,
	} {
		_, _, err := race.ParsePage([]byte(wrong))
		require.ErrorContains(t, err, "a page of the feed", wrong)
	}
}

// made is a result with a lost row under each ordering.
func made(t *testing.T) race.Result {
	t.Helper()
	writes := []race.Write{write(t, 1, 10, 3), write(t, 2, 500, 612), write(t, 3, 900, 1500), write(t, 4, 1900, 4)}
	writes[1].Slow, writes[2].Slow = true, true
	return race.Result{
		Plan:  race.Plan{Writers: 8, SlowShare: 0.02, SlowTime: 600 * ms, Delay: time.Second},
		Began: epoch(), Elapsed: 2 * time.Second, Uncertainty: 700 * time.Microsecond, Writes: writes,
		Outcomes: []race.Outcome{
			{Ordering: "none", Lost: writes[1:3], Within: 1, VisibleP50: 9 * ms, VisibleP99: 31 * ms},
			{Ordering: "watermark", Lossless: true, Lost: writes[2:3], VisibleP50: 1012 * ms, VisibleP99: 1034 * ms},
			{Ordering: "<&>", Lossless: true},
		},
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, made(t).Report("/tmp/race.svg").Table(&out))
	require.Equal(t, `4 writes by 8 writers in 2.0 s; 2 % of them held open for 600ms; delay 1s; clocks compared to 0.7 ms

  ordering                                none     watermark   <&>
  writes a second                            2             2     2
  rows lost                                  2             1     0
    acknowledged within the delay            1             0     0
    slower than the delay                    1             1     0
  lost rows were late by           612–1500 ms  1500–1500 ms     –
  visible after, p50                      9 ms       1012 ms  0 ms
  visible after, p99                     31 ms       1034 ms  0 ms

lost with none:
  000000000000000000000002  2025-10-09T08:53:20.500Z  612 ms late
  000000000000000000000003  2025-10-09T08:53:20.900Z  1500 ms late

lost with watermark:
  000000000000000000000003  2025-10-09T08:53:20.900Z  1500 ms late

The picture is /tmp/race.svg
`, out.String())
}

func TestTheTableListsTheFirstOfManyLostRows(t *testing.T) {
	t.Parallel()
	result := made(t)
	for n := range byte(12) {
		result.Outcomes[2].Lost = append(result.Outcomes[2].Lost, write(t, n, 5, 5))
	}
	var out strings.Builder
	require.NoError(t, result.Report("").Table(&out))
	require.NotContains(t, out.String(), "picture")
	require.Contains(t, out.String(), "  000000000000000000000009  2025-10-09T08:53:20.005Z  5 ms late\n  and 2 more: --format json")
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, made(t).Report("/tmp/race.svg").JSON(&out))
	var got race.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Equal(t, made(t).Report("/tmp/race.svg"), got)
	require.Contains(t, out.String(), `"lost_rows": []`)
	require.Equal(t, "2025-10-09T08:53:20.000Z", got.Began)
	require.InDelta(t, 612, got.Orderings[0].LostRows[0].LateMS, 0.001)
	require.Equal(t, []int{2, 1, 1}, []int{got.Orderings[0].Lost, got.Orderings[0].LostWithin, got.Orderings[0].LostSlower})
}

func TestPicture(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, made(t).Picture(&out))
	paths := map[string][]string{}
	for decoder := xml.NewDecoder(bytes.NewReader(out.Bytes())); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "path" {
			var path struct {
				Class string `xml:"class,attr"`
				D     string `xml:"d,attr"`
			}
			require.NoError(t, decoder.DecodeElement(&path, &start))
			paths[path.Class] = append(paths[path.Class], path.D)
		}
	}
	require.Len(t, paths["delay"], 3)
	require.Len(t, paths["writes"], 3)
	require.Equal(t, 4, strings.Count(paths["writes"][0], "h2"), "a dot for each write")
	require.Len(t, paths["lost"], 2, "no crosses where nothing is lost")
	require.Equal(t, 2, strings.Count(paths["lost"][0], "m0 "), "a cross for each lost write")
	require.Contains(t, out.String(), "watermark: 1 lost, 0 of them within the delay")
	require.Contains(t, out.String(), "&lt;&amp;&gt;: 0 lost")
}

func TestPictureOfNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	result := race.Result{Plan: race.Plan{Delay: time.Second}, Outcomes: []race.Outcome{{Ordering: "none"}}}
	require.NoError(t, result.Picture(&out))
	require.NotContains(t, out.String(), "NaN")
}
