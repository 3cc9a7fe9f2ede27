package race

import (
	"cmp"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
)

// Outcome is how one ordering came through a race.
type Outcome struct {
	Ordering string
	Lossless bool // as of the Ordering

	// Lost are the last writes of objects whose followers have an older state, or none, for good: by stamp. What a
	// follower did not see and a later write covers is not lost, since the feed is one of states.
	Lost []Write
	// Within are those of them that were acknowledged within the delay, surely: by more than the uncertainty of the
	// clocks. The others were slower, and no ordering that holds back the delay promises anything about them.
	Within int

	// How long after its acknowledgement a write was seen, of those that were: the median, and what 99 of 100 do not
	// exceed. Zero where the follower was quicker than the answer to the writer, and where nothing was seen.
	VisibleP50, VisibleP99 time.Duration
}

// Slower is how many of the lost writes were slower than the delay.
func (o Outcome) Slower() int { return len(o.Lost) - o.Within }

// Broken reports whether the ordering did not keep its promise.
func (o Outcome) Broken() bool { return o.Lossless && o.Within > 0 }

// compare finds what a follower has lost of what was written. uncertainty is that of Write.Late.
func compare(writes []Write, seen Sightings, delay, uncertainty time.Duration) Outcome {
	written, newest := lastStamps(writes), newestSeen(seen)
	var out Outcome
	var visible []time.Duration
	for _, w := range writes {
		if at, ok := seen[w.Version]; ok {
			visible = append(visible, max(0, at.Sub(w.Acked)))
			continue
		}
		if w.Stamp.Before(written[w.ID]) {
			continue
		}
		if state, ok := newest[w.ID]; ok && !state.Before(w.Stamp) {
			continue // a still later write, which was made but not acknowledged
		}
		out.Lost = append(out.Lost, w)
		if w.Late+uncertainty <= delay {
			out.Within++
		}
	}
	slices.SortFunc(out.Lost, func(a, b Write) int { return cmp.Compare(a.Stamp.Millis(), b.Stamp.Millis()) })
	slices.Sort(visible)
	out.VisibleP50, out.VisibleP99 = percentile(visible, 50), percentile(visible, 99)
	return out
}

// lastStamps are the stamps of the last write of each object.
func lastStamps(writes []Write) map[bson.ObjectID]instant.Instant {
	out := make(map[bson.ObjectID]instant.Instant, len(writes))
	for _, w := range writes {
		keepLater(out, w.Version)
	}
	return out
}

// newestSeen are the stamps of the last state that was seen of each object.
func newestSeen(seen Sightings) map[bson.ObjectID]instant.Instant {
	out := make(map[bson.ObjectID]instant.Instant, len(seen))
	for v := range seen {
		keepLater(out, v)
	}
	return out
}

func keepLater(stamps map[bson.ObjectID]instant.Instant, v Version) {
	if known, ok := stamps[v.ID]; !ok || known.Before(v.Stamp) {
		stamps[v.ID] = v.Stamp
	}
}

// percentile is the least of the sorted values that p of 100 do not exceed. It is zero of none.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
