package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/feed"
	follower "catalogue/feed/sync"
	"catalogue/internal/mongotest"
)

// syncOnce runs the program until the copy has caught up.
func (a *api) syncOnce(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	return runProgram(t.Context(), nil, append([]string{"feed", "sync", "--once", "--url", a.url, "--dir", dir}, args...)...)
}

func (a *api) syncVerify(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	return runProgram(t.Context(), nil, append([]string{"feed", "sync", "--verify", "--url", a.url, "--dir", dir}, args...)...)
}

// copied are the lines of a copy, sorted.
func copied(t *testing.T, dir string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "copy.jsonl"))
	require.NoError(t, err)
	return slices.Sorted(strings.Lines(string(content)))
}

// shown are the entries of a feed, as a copy has them, sorted.
func (a *api) shown(t *testing.T, resource, mode string) []string {
	t.Helper()
	fields := strings.Join(append(syncFields()[resource], "public_modified"), ",")
	out := []string{}
	for offset := ""; ; {
		p := a.feedPage(t, resource, url.Values{"limit": {"1000"}, "opt_fields": {fields}, "mode": {mode}, "offset": {offset}})
		for _, row := range p.Data {
			var line bytes.Buffer
			require.NoError(t, json.Compact(&line, row))
			out = append(out, line.String()+"\n")
		}
		if len(p.Data) == 0 {
			slices.Sort(out)
			return out
		}
		offset = *p.Next.Offset
	}
}

func TestFeedSyncCopiesEachFeed(t *testing.T) {
	t.Parallel()
	a := editable(t)
	for i := range 9 {
		mode := []string{"live", "test"}[i%2]
		a.create(t, "/creatives", fmt.Sprintf(`{"name": "<n %d>", "status": "active", "format": "image", "mode": %q,
			"tags": ["a", "ü"], "attributes": {"k": "v"}, "metrics": {"clicks": 9007199254740993}}`, i, mode))
		task := a.create(t, "/tasks", fmt.Sprintf(`{"title": "t", "priority": 1, "mode": %q}`, mode))
		a.create(t, task+"/comments", `{"body": "b"}`)
	}
	a.create(t, "/creatives", `{"name": "n", "status": "draft", "format": "image"}`)
	for _, resource := range []string{"creatives", "tasks", "comments"} {
		for mode, entries := range map[string]int{"": 5, "test": 4, "_all_": 9} {
			dir := t.TempDir()
			args := []string{"--resource", resource, "--mode", mode, "--limit", "2"}
			o := a.syncOnce(t, dir, args...)
			require.Equal(t, 0, o.code, o.stderr)
			require.Equal(t, fmt.Sprintln(entries, "objects in the copy"), o.stdout)
			require.Equal(t, a.shown(t, resource, mode), copied(t, dir))

			o = a.syncVerify(t, dir, args...)
			require.Equal(t, 0, o.code, o.stderr)
			require.Contains(t, o.stdout, fmt.Sprintf("walked     %d\nadded      0\nrefreshed  0\ngone       0\n", entries))
			require.Contains(t, o.stdout, "copy and feed are equal")
		}
	}
}

func TestFeedSyncVerifyTakesOutWhatIsGone(t *testing.T) {
	t.Parallel()
	a := editable(t)
	paths := make([]string, 15)
	for i := range paths {
		paths[i] = a.create(t, "/creatives", aCreative)
	}
	dir := t.TempDir()
	require.Equal(t, 0, a.syncOnce(t, dir, "--limit", "4").code)

	gone := []string{}
	for _, path := range paths[:11] {
		require.Equal(t, http.StatusNoContent, a.write(t, http.MethodDelete, path, "").status)
		gone = append(gone, strings.TrimPrefix(path, "/creatives/"))
	}
	a.patch(t, paths[11], `{"status": "draft"}`).thing(t, http.StatusOK)
	a.patch(t, paths[12], `{"mode": "test"}`).thing(t, http.StatusOK)
	a.patch(t, paths[13], `{"name": "another"}`).thing(t, http.StatusOK)
	slices.Sort(gone)
	o := a.syncVerify(t, dir, "--limit", "4")
	require.Equal(t, 0, o.code, o.stderr)
	require.Contains(t, o.stdout, "walked     2\nadded      0\nrefreshed  1\n")
	require.Contains(t, o.stdout, "gone       13: "+strings.Join(gone[:10], ", ")+" …\n")
	require.Contains(t, o.stdout, "copy       2 objects, digest ")
	require.Equal(t, a.shown(t, "creatives", ""), copied(t, dir))
}

func TestFeedSyncVerifyKeepsWhatTheWatermarkHoldsBack(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := mongotest.Database(t)
	a := serveDatabase(t, db)
	paths := []string{a.create(t, "/creatives", aCreative), a.create(t, "/creatives", aCreative)}
	dir := t.TempDir()
	require.Equal(t, 0, a.syncOnce(t, dir).code)
	before := copied(t, dir)

	delayed := serveWith(t, db, settings{ordering: feed.NewWatermark(feed.DatabaseClock(db), time.Hour)})
	require.Equal(t, http.StatusNoContent, a.write(t, http.MethodDelete, paths[0], "").status)
	o := delayed.syncVerify(t, dir, "--moved") // the same feed, by another server
	require.Equal(t, 0, o.code, o.stderr)
	require.Contains(t, o.stdout, "gone       1: "+strings.TrimPrefix(paths[0], "/creatives/"))
	require.Contains(t, o.stdout, "held back  1, ")
	require.Equal(t, slices.DeleteFunc(before, func(line string) bool {
		return strings.Contains(line, strings.TrimPrefix(paths[0], "/creatives/"))
	}), copied(t, dir))
}

func TestFeedSyncRefusesACopyThatHasLostAPart(t *testing.T) {
	t.Parallel()
	a := editable(t)
	for range 5 {
		a.create(t, "/creatives", aCreative)
	}
	dir := t.TempDir()
	require.Equal(t, 0, a.syncOnce(t, dir).code)
	require.NoError(t, os.Remove(filepath.Join(dir, "copy.jsonl")))
	for range 2 { // a refusal must not make the next run forget it
		o := a.syncOnce(t, dir)
		require.Equal(t, exitFailure, o.code)
		require.Empty(t, o.stdout)
		require.Contains(t, o.stderr, "a part of the copy is lost: ")
		require.Contains(t, o.stderr, "--verify brings again what is lost, --restart drops the copy")
	}
	o := a.syncVerify(t, dir)
	require.Equal(t, 0, o.code, o.stderr)
	require.Contains(t, o.stderr, "copy.jsonl has 0 bytes of ")
	require.Contains(t, o.stdout, "walked     5\nadded      5\n")
	require.Equal(t, a.shown(t, "creatives", ""), copied(t, dir))
	require.Equal(t, 0, a.syncOnce(t, dir).code)
}

func TestFeedSyncFollowsAServerThatMoves(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := mongotest.Database(t)
	a := serveDatabase(t, db)
	a.create(t, "/creatives", aCreative)
	dir := t.TempDir()
	require.Equal(t, 0, a.syncOnce(t, dir).code)

	elsewhere := serveDatabase(t, db)
	a.create(t, "/creatives", aCreative)
	o := elsewhere.syncOnce(t, dir)
	require.Equal(t, exitFailure, o.code)
	require.Contains(t, o.stderr, "is a copy of "+a.url+"/api/v1/creatives: where that is the same feed, go on with --moved")
	o = elsewhere.syncOnce(t, dir, "--moved")
	require.Equal(t, 0, o.code, o.stderr)
	require.Equal(t, a.shown(t, "creatives", ""), copied(t, dir))
	require.Equal(t, 0, elsewhere.syncOnce(t, dir).code)
}

func TestFeedSyncObeysTheRateLimit(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := mongotest.Database(t)
	editing := serveDatabase(t, db)
	for range 3 {
		editing.create(t, "/creatives", aCreative)
	}
	a := serveWith(t, db, settings{feedRate: 1})
	dir := t.TempDir()
	o := a.syncOnce(t, dir, "--limit", "1")
	require.Equal(t, 0, o.code, o.stderr)
	require.Contains(t, o.stderr, "creatives: 429: ")
	require.Equal(t, editing.shown(t, "creatives", ""), copied(t, dir))
}

func TestFeedSyncAsksForTheFieldsThatAreNamed(t *testing.T) {
	t.Parallel()
	a := editable(t)
	a.create(t, "/creatives", aCreative)
	for flag, want := range map[string][]string{
		"--opt-fields=name, format": {"dateModified", "format", "id", "name", "public_modified"},
		"--opt-fields=":             {"dateModified", "id", "public_modified"},
	} {
		dir := t.TempDir()
		require.Equal(t, 0, a.syncOnce(t, dir, flag).code)
		lines := copied(t, dir)
		require.Len(t, lines, 1)
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(lines[0]), &fields))
		names := []string{}
		for name := range fields {
			names = append(names, name)
		}
		require.ElementsMatch(t, want, names)
	}
}

func TestFeedSyncFindsTheServer(t *testing.T) {
	t.Parallel()
	a := editable(t)
	for _, variable := range []string{"CATALOGUE_PUBLIC_URL=" + a.url, "CATALOGUE_HTTP_ADDR=" + strings.TrimPrefix(a.url, "http://")} {
		o := runProgram(t.Context(), []string{variable}, "feed", "sync", "--once", "--dir", t.TempDir())
		require.Equal(t, 0, o.code, o.stderr)
	}
}

func TestFeedSyncEndsCleanOnASignal(t *testing.T) {
	t.Parallel()
	a := editable(t)
	a.create(t, "/creatives", aCreative)
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan outcome, 1)
	go func() {
		ended <- runProgram(ctx, nil, "feed", "sync", "--url", a.url, "--dir", dir, "--interval", "1h")
	}()
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(filepath.Join(dir, "position.json"))
		return err == nil && bytes.Contains(content, []byte(`"backward_done": true`))
	}, patience, time.Millisecond)

	second := a.syncOnce(t, dir)
	require.Equal(t, 1, second.code)
	require.Contains(t, second.stderr, "another follower works in this folder")
	interrupt()
	o := <-ended
	require.Equal(t, 130, o.code)
	require.Contains(t, o.stderr, "interrupted: the same command goes on from here")
	require.Equal(t, "1 objects in the copy\n", o.stdout)
	require.Equal(t, a.shown(t, "creatives", ""), copied(t, dir))
}

func TestFeedSyncSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("offset") != "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(`{"data": [], "prev_page": {"offset": "5.0"}}`))
	}))
	t.Cleanup(refusing.Close)
	for _, c := range []struct {
		name, args string
		code       int
		want       string
	}{
		{"no folder", "", 2, `required flag(s) "dir" not set`},
		{"an unknown feed", "--dir D --resource gallery", 2, `unknown resource "gallery": it must be one of comments, creatives, tasks`},
		{"a limit", "--dir D --limit 1001", 2, "the limit 1001 is not from 1 to 1000"},
		{"an address", "--dir D --url 127.0.0.1:80", 2, "the address of the server is none"},
		{"an argument", "--dir D now", 2, `unknown command "now"`},
		{"a refused offset", "--dir D --once --url " + refusing.URL, 1, "start anew with --restart"},
		{"no server", "--dir D --once --give-up 1ms --url http://127.0.0.1:1", 1, "given up after 1ms: no answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := strings.ReplaceAll(c.args, "--dir D", "--dir "+filepath.Join(t.TempDir(), "copy"))
			o := runProgram(t.Context(), nil, append([]string{"feed", "sync"}, strings.Fields(args)...)...)
			require.Equal(t, c.code, o.code, o.stderr)
			require.Contains(t, o.stderr, c.want)
		})
	}
}

func TestFeedSyncFailsWhereCopyAndFeedDiffer(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	err := (&app{stdout: &stdout}).reportVerify(follower.Report{
		Copy: follower.Content{Count: 2, Digest: "aa"}, Feed: follower.Content{Count: 2, Digest: "bb"},
	})
	require.EqualError(t, err, "copy and feed differ")
	require.NotContains(t, stdout.String(), "equal")
}

// TestFeedSyncSurvivesKills kills the program again and again while objects are made, changed and deleted.
func TestFeedSyncSurvivesKills(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	binary := filepath.Join(t.TempDir(), "catalogue")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	db := mongotest.Database(t)
	a := serveDatabase(t, db)
	for range 60 {
		a.create(t, "/tasks", aTask)
	}
	delayed := serveWith(t, db, settings{ordering: feed.NewWatermark(feed.DatabaseClock(db), 200*time.Millisecond)})
	dir := t.TempDir()

	stop := make(chan struct{})
	var writes atomic.Int64
	var writer sync.WaitGroup
	writer.Go(func() {
		var paths []string
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			switch {
			case n%5 == 4:
				a.write(t, http.MethodDelete, paths[0], "")
				paths = paths[1:]
			case n%2 == 0:
				paths = append(paths, a.create(t, "/tasks", aTask))
			default:
				a.patch(t, paths[len(paths)/2], `{"title": "`+strconv.Itoa(n)+`"}`)
			}
			writes.Add(1)
		}
	})
	for range 8 {
		killSync(t, binary, delayed.url, dir)
	}
	close(stop)
	writer.Wait()
	require.Positive(t, writes.Load())

	args := []string{"--resource", "tasks"}
	require.Eventually(t, func() bool { // what the watermark holds back is there after its delay
		o := delayed.syncVerify(t, dir, args...)
		return o.code == 0 && !strings.Contains(o.stdout, "held back") && len(copied(t, dir)) == len(a.shown(t, "tasks", ""))
	}, patience, 50*time.Millisecond)
	require.Equal(t, a.shown(t, "tasks", ""), copied(t, dir))
}

// killSync runs the program and kills it at a moment by chance after the position has changed.
func killSync(t *testing.T, binary, server, dir string) {
	t.Helper()
	process := exec.CommandContext(t.Context(), binary,
		"feed", "sync", "--resource", "tasks", "--url", server, "--dir", dir, "--limit", "7", "--interval", "1ms")
	var stderr bytes.Buffer
	process.Stderr = &stderr
	position := filepath.Join(dir, "position.json")
	before, _ := os.ReadFile(position) // there is none the first time
	require.NoError(t, process.Start())
	require.Eventually(t, func() bool {
		now, err := os.ReadFile(position)
		return err == nil && !bytes.Equal(before, now)
	}, patience, time.Millisecond)
	<-time.After(rand.N(30 * time.Millisecond))
	require.NoError(t, process.Process.Kill())
	require.ErrorContains(t, process.Wait(), "signal: killed", stderr.String())
}
