package follower_test

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	follower "catalogue/feed/sync"
)

func TestTwoFollowersOnOneFolder(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 3)
	o := options(f.url, filepath.Join(t.TempDir(), "made", "for", "it"))
	first := open(t, o)
	_, err := follower.Open(o)
	require.ErrorIs(t, err, follower.ErrBusy)
	o.Restart = true
	_, err = follower.Open(o)
	require.ErrorIs(t, err, follower.ErrBusy)
	require.NoError(t, first.Close())
	require.NoError(t, open(t, o).Close())
}

func TestOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for want, change := range map[string]func(*follower.Options){
		"the address":  func(o *follower.Options) { o.URL = "127.0.0.1:8080" },
		"credentials":  func(o *follower.Options) { o.URL = "http://user:secret@127.0.0.1" },
		"the resource": func(o *follower.Options) { o.Resource = "a/b" },
		"the folder":   func(o *follower.Options) { o.Dir = "" },
		"the limit 0":  func(o *follower.Options) { o.Limit = 0 },
		"limit 1001":   func(o *follower.Options) { o.Limit = 1001 },
		"the interval": func(o *follower.Options) { o.Interval = 0 },
		"negative":     func(o *follower.Options) { o.GiveUp = -1 },
	} {
		o := options("http://127.0.0.1:1", dir)
		change(&o)
		_, err := follower.Open(o)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
	}
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, names, "nothing was made")
}

func TestAnotherFeedIsAnotherCopy(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 3)
	dir := t.TempDir()
	followOnce(t, t.Context(), options(f.url, dir))
	for name, change := range map[string]func(*follower.Options){
		"mode":     func(o *follower.Options) { o.Mode = "_all_" },
		"fields":   func(o *follower.Options) { o.Fields = []string{"text", "more"} },
		"resource": func(o *follower.Options) { o.Resource = "tasks" },
	} {
		for _, moved := range []bool{false, true} {
			o := options(f.url, dir)
			change(&o)
			o.Moved = moved
			_, err := follower.Open(o)
			require.ErrorIs(t, err, follower.ErrOther, name)
		}
	}
	o := options(f.url+"/", dir)
	o.Fields = []string{"text", "public_modified", "text"}
	require.NoError(t, open(t, o).Close(), "this is the same")
	requireEqualCopy(t, f, dir)
}

func TestACopyFollowsItsServerToAnotherAddress(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 12)
	dir := t.TempDir()
	followOnce(t, t.Context(), options(f.url, dir))
	elsewhere := httptest.NewServer(f)
	t.Cleanup(elsewhere.Close)
	o := options(elsewhere.URL+"/", dir)
	_, err := follower.Open(o)
	require.ErrorIs(t, err, follower.ErrMoved)
	require.ErrorContains(t, err, f.url)

	f.save("new", "first")
	o.Moved = true
	before := len(f.asked())
	followOnce(t, t.Context(), o)
	require.Len(t, f.asked(), before+1, "it goes on with the offsets it has")
	requireEqualCopy(t, f, dir)
	o.Moved = false
	require.NoError(t, open(t, o).Close(), "it is the copy of the other address from now on")
	_, err = follower.Open(options(f.url, dir))
	require.ErrorIs(t, err, follower.ErrMoved)
}

func TestAFileThatIsNoCopyIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "copy.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("my own"), 0o600))
	_, err := follower.Open(options("http://127.0.0.1:1", dir))
	require.ErrorIs(t, err, follower.ErrOther)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "my own", string(content))
}

func TestWhatIsBehindThePositionIsCutOff(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 12)
	dir := t.TempDir()
	o := options(f.url, dir)
	followOnce(t, t.Context(), o)
	whole, err := os.ReadFile(filepath.Join(dir, "copy.jsonl"))
	require.NoError(t, err)
	for _, tail := range []string{`{"id":"id00003","dateMod`, "\x00\x00\x00\n\x00", string(whole)} {
		addToCopy(t, dir, tail)
		require.NoError(t, open(t, o).Close())
		requireEqualCopy(t, f, dir)
	}
}

func TestWhatWasNotFinishedIsClearedAway(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 12)
	dir := t.TempDir()
	o := options(f.url, dir)
	followOnce(t, t.Context(), o)
	addToCopy(t, dir, "{")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "copy.jsonl.tmp"), []byte("x"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "position.json.tmp"), []byte("x"), 0o600))

	f.save("id00003", "second")
	followOnce(t, t.Context(), o)
	requireEqualCopy(t, f, dir)
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 3, "copy, position and lock: %v", names)
}

func TestADamagedCopyIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file     string
		old, new string
	}{
		"a line":         {"copy.jsonl", `"id":"id00003"`, "\"id\":\n\"id00003\""},
		"a field":        {"copy.jsonl", `"id":"id00003"`, `"id":"",   "x":1`},
		"no position":    {"position.json", "{", "["},
		"a later format": {"position.json", `"version": 1`, `"version": 2`},
		"a cut line":     {"position.json", `"bytes": 1`, `"bytes": `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTestFeed(t, 12)
			dir := t.TempDir()
			o := options(f.url, dir)
			followOnce(t, t.Context(), o)
			path := filepath.Join(dir, c.file)
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			damaged := strings.Replace(string(content), c.old, c.new, 1)
			require.NotEqual(t, string(content), damaged)
			require.NoError(t, os.WriteFile(path, []byte(damaged), 0o600))
			_, err = follower.Open(o)
			require.ErrorIs(t, err, follower.ErrDamaged)
			o.Restart = true
			followOnce(t, t.Context(), o)
			requireEqualCopy(t, f, dir)
		})
	}
}

func TestALineWithoutItsEndIsDamaged(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 12)
	dir := t.TempDir()
	o := options(f.url, dir)
	followOnce(t, t.Context(), o)
	content, err := os.ReadFile(filepath.Join(dir, "copy.jsonl"))
	require.NoError(t, err)
	changePosition(t, dir, func(p map[string]any) { p["bytes"] = len(content) - 1 })
	_, err = follower.Open(o)
	require.ErrorIs(t, err, follower.ErrDamaged)
}

func TestAKillDuringARestart(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 12)
	dir := t.TempDir()
	o := options(f.url, dir)
	followOnce(t, t.Context(), o)
	f.remove("id00003")
	// the new position was written, and the copy not yet dropped
	changePosition(t, dir, func(p map[string]any) { p["begun"], p["bytes"] = false, 0 })
	followOnce(t, t.Context(), o)
	requireEqualCopy(t, f, dir)
}

func addToCopy(t *testing.T, dir, tail string) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(dir, "copy.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(tail)
	require.NoError(t, errors.Join(err, file.Close()))
}

func changePosition(t *testing.T, dir string, change func(map[string]any)) {
	t.Helper()
	path := filepath.Join(dir, "position.json")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var position map[string]any
	require.NoError(t, json.Unmarshal(content, &position))
	change(position)
	content, err = json.Marshal(position)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, content, 0o600))
}
