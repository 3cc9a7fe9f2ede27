package follower

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// Report is what Verify found and did.
type Report struct {
	Walked    int      // rows that the walk showed
	Added     int      // objects that the copy lacked
	Refreshed int      // objects that it had in another state
	Gone      []string // ids that were taken out of it, sorted
	// Unshown counts the objects of the copy that exist and that the walk did not show: the feed holds back the newest
	// changes. They stay in the copy, and are left out of the comparison.
	Unshown int

	Copy, Feed Content // of the copy as it is on disk afterwards, and of the walk
}

// Content is what two sets of entries are compared by.
type Content struct {
	Count  int
	Digest string // SHA-256 of "id dateModified\n" of every object, sorted by id; hexadecimal
}

// Equal reports whether the copy is what the feed showed.
func (r Report) Equal() bool { return r.Copy == r.Feed }

// Verify walks the whole feed once, from its beginning forward, makes the copy equal and compares the two. The walk is
// also what Follow would have walked: afterwards that goes on behind its end.
func (f *Follower) Verify(ctx context.Context) (Report, error) {
	var report Report
	seen, end, err := f.walk(ctx, &report)
	if err != nil {
		return report, err
	}
	unshown, err := f.sortMissing(ctx, seen, &report)
	if err != nil {
		return report, err
	}
	err = f.store.settle(report.Gone, func(p *position) {
		p.Begun, p.Forward, p.Backward, p.BackwardDone = true, end, "", true
	})
	if err != nil {
		return report, err
	}
	held, err := f.store.modified()
	if err != nil {
		return report, err
	}
	for _, id := range unshown {
		delete(held, id)
	}
	report.Copy, report.Feed = contentOf(held), contentOf(seen)
	return report, nil
}

// walk brings every entry into the copy and returns dateModified of each, and the offset behind the last one.
func (f *Follower) walk(ctx context.Context, report *Report) (seen map[string]string, end string, err error) {
	seen = map[string]string{}
	for {
		next, err := f.client.page(ctx, end, false)
		if err != nil {
			return nil, "", err
		}
		caughtUp := !next.full(f.options.Limit)
		done, err := f.commit(next, caughtUp, (*copyFile).differs, func(*position) {})
		if err != nil {
			return nil, "", err
		}
		report.Walked += len(next.rows)
		report.Added += done.added
		report.Refreshed += done.replaced
		for _, row := range next.rows {
			seen[row.id] = row.dateModified
		}
		end = *next.next
		if caughtUp {
			return seen, end, nil
		}
	}
}

// sortMissing asks for each object that the walk did not show: it may have changed during the walk, so that it moved
// from its place to one that the feed still holds back.
func (f *Follower) sortMissing(ctx context.Context, seen map[string]string, report *Report) (unshown []string, err error) {
	missing := f.store.missing(seen)
	slices.Sort(missing)
	for _, id := range missing {
		there, err := f.client.belongs(ctx, id)
		if err != nil {
			return nil, err
		}
		if there {
			unshown = append(unshown, id)
		} else {
			report.Gone = append(report.Gone, id)
		}
	}
	report.Unshown = len(unshown)
	return unshown, nil
}

func contentOf(modified map[string]string) Content {
	digest := sha256.New()
	for _, id := range slices.Sorted(maps.Keys(modified)) {
		_, _ = digest.Write([]byte(id + " " + modified[id] + "\n")) // a hash takes everything
	}
	return Content{Count: len(modified), Digest: hex.EncodeToString(digest.Sum(nil))}
}
