package importing

import (
	"cmp"
	"slices"
	"time"

	"catalogue/internal/changes"
)

// Summary says what became of the rows of a file. After a whole run, Read is the sum of the six figures below it.
type Summary struct {
	Read       int64
	Inserted   int64
	Updated    int64
	Unchanged  int64 // stored already, with the same content
	Duplicates int64 // the same content as another row of the file
	Superseded int64 // a later row of the file has the same key and other content
	Rejected   int64

	Warnings map[Warning]int64 // of the rows that are in the database now
	// WarningLines are the first lines with a warning, by kind: as many as lead to the cause.
	WarningLines map[Warning][]int64
	Rejects      string   // path of the rejects file; "" where nothing was rejected
	Unseen       []string // mapped columns of a JSONL file that no row had
	Elapsed      time.Duration
}

// maxWarningLines bounds how many lines of a kind of warnings are kept.
const maxWarningLines = 5

// Changed reports whether the run has written anything.
func (s Summary) Changed() bool { return s.Inserted+s.Updated > 0 }

// Rate is in rows a second.
func (s Summary) Rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Read) / s.Elapsed.Seconds()
}

// add counts a batch that is written, and its warnings in the order of the lines.
func (s *Summary) add(batch *sorted, outcomes []changes.Outcome) {
	s.Duplicates += batch.duplicates
	s.Superseded += batch.superseded
	s.Rejected += int64(len(batch.rejected))
	warnings := batch.warnings
	for i, o := range outcomes {
		if s.count(o); o == changes.Orphaned {
			continue
		}
		for _, kind := range batch.rows[i].warnings {
			warnings = append(warnings, warned{kind, batch.rows[i].line})
		}
	}
	slices.SortStableFunc(warnings, func(a, b warned) int { return cmp.Compare(a.line, b.line) })
	for _, w := range warnings {
		s.warn(w)
	}
}

func (s *Summary) count(o changes.Outcome) {
	switch o {
	case changes.Inserted:
		s.Inserted++
	case changes.Updated:
		s.Updated++
	case changes.Unchanged:
		s.Unchanged++
	case changes.Orphaned:
		s.Rejected++
	}
}

func (s *Summary) warn(w warned) {
	s.Warnings[w.kind]++
	if lines := s.WarningLines[w.kind]; len(lines) < maxWarningLines {
		s.WarningLines[w.kind] = append(lines, w.line)
	}
}

// Phase is a part of a run.
type Phase string

// The phases of a run.
const (
	PhaseCheck Phase = "checking" // nothing is written yet
	PhaseWrite Phase = "importing"
)

// Progress says how far a run is, at the end of each batch.
type Progress struct {
	Phase    Phase
	Bytes    int64 // of the file, in this phase
	Total    int64
	Rows     int64
	Rejected int64
}
