package follower_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestVerifyFindsWhatTheFeedDoesNotTell(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 23)
	dir := t.TempDir()
	o := options(f.url, dir)
	followOnce(t, t.Context(), o)

	f.remove("id00004")
	f.remove("id00021")
	f.edit("id00005", func(o *object) { o.mode = "test" })
	f.edit("id00006", func(o *object) { o.text = "changed without a stamp" })
	f.edit("id00007", func(o *object) { o.modified = firstMoment - 5 }) // restored from a backup
	f.save("id00008", "changed with one")
	f.save("new", "first")
	report := verify(t, o)
	require.Equal(t, []string{"id00004", "id00005", "id00021"}, report.Gone)
	require.Equal(t, 1, report.Added)
	require.Equal(t, 3, report.Refreshed)
	require.Equal(t, 21, report.Walked)
	require.Zero(t, report.Unshown)
	require.True(t, report.Equal())
	require.Equal(t, 21, report.Copy.Count)
	requireEqualCopy(t, f, dir)

	again := verify(t, o)
	require.Empty(t, again.Gone)
	require.Zero(t, again.Added+again.Refreshed)
	require.True(t, again.Equal())
	require.Equal(t, report.Copy, again.Copy)

	before := len(f.asked())
	followOnce(t, t.Context(), o)
	require.Len(t, f.asked(), before+1, "following goes on behind the walk")
}

func TestVerifyOfAnEmptyFolderFillsIt(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 3)
	dir := t.TempDir()
	report := verify(t, options(f.url, dir))
	require.True(t, report.Equal())
	require.Equal(t, 3, report.Added)
	requireEqualCopy(t, f, dir)

	var text strings.Builder
	for i := range 3 {
		modified := time.UnixMilli(firstMoment + int64(i) + 1).UTC().Format(time.RFC3339Nano)
		fmt.Fprintf(&text, "id%05d %s\n", i, modified)
	}
	digest := sha256.Sum256([]byte(text.String()))
	require.Equal(t, hex.EncodeToString(digest[:]), report.Feed.Digest)
}

func TestVerifyKeepsWhatTheFeedHoldsBack(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 23)
	dir := t.TempDir()
	o := options(f.url, dir)
	followOnce(t, t.Context(), o)
	f.mu.Lock()
	f.hidden["id00011"] = true // it changed a moment ago
	f.mu.Unlock()
	f.remove("id00012")
	report := verify(t, o)
	require.Equal(t, []string{"id00012"}, report.Gone)
	require.Equal(t, 1, report.Unshown)
	require.True(t, report.Equal())
	require.Equal(t, 21, report.Copy.Count)
	requireEqualCopy(t, f, dir)
}

func TestVerifyDuringChanges(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 60)
	dir := t.TempDir()
	o := options(f.url, dir)
	followOnce(t, t.Context(), o)
	f.onReply(func(number int, r *http.Request) {
		if r.URL.Path != "/api/v1/creatives" {
			return
		}
		switch {
		case number%3 == 0:
			f.remove(fmt.Sprintf("id%05d", number%60))
		case number < 60:
			f.save(fmt.Sprintf("id%05d", number*7%60), fmt.Sprint("change ", number))
		}
	})
	require.True(t, verify(t, o).Equal())
	f.onReply(nil)
	require.True(t, verify(t, o).Equal())
	requireEqualCopy(t, f, dir)
}

func TestVerifySeesACopyThatIsNotWhatWasWritten(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 12)
	dir := t.TempDir()
	o := options(f.url, dir)
	followOnce(t, t.Context(), o)
	f.onReply(func(_ int, r *http.Request) {
		if r.URL.Query().Get("offset") != printOffset(firstMoment+10) {
			return
		}
		path := filepath.Join(dir, "copy.jsonl") // the last page is asked for: id00001 has been compared
		content, err := os.ReadFile(path)
		if err == nil {
			content = bytes.Replace(content, []byte(`"id00001","dateModified":"2025`), []byte(`"id00001","dateModified":"2024`), 1)
			err = os.WriteFile(path, content, 0o600)
		}
		if err != nil {
			panic(err)
		}
	})
	report := verify(t, o)
	require.False(t, report.Equal())
	require.Equal(t, report.Feed.Count, report.Copy.Count)
}
