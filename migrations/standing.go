package migrations

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// State says how a migration stands.
type State string

// The states of a migration.
const (
	Pending     State = "pending"     // not applied, or declared anew since
	Running     State = "running"     // its holder lives
	Interrupted State = "interrupted" // its holder is gone; the next run goes on
	Failed      State = "failed"      // the next run goes on
	Applied     State = "applied"
	Changed     State = "changed" // applied, but declared otherwise since: an error
	Unknown     State = "unknown" // recorded by another version of the program
)

// Standing is a migration and what the database knows of it.
type Standing struct {
	Number   int
	Name     string
	Checksum string // as declared; empty where it is not
	State    State
	Record   *Record // nil where it has never run
}

// String names the migration.
func (s Standing) String() string { return label(s.Number, s.Name) }

// ChangedError says that applied migrations are declared otherwise than they were when they ran.
type ChangedError struct{ Migrations []Standing }

func (e *ChangedError) Error() string {
	lines := make([]string, 0, len(e.Migrations))
	for _, s := range e.Migrations {
		lines = append(lines, fmt.Sprintf("%s ran with checksum %s and has %s now", s, s.Record.Checksum, s.Checksum))
	}
	return "applied migrations have changed: " + strings.Join(lines, "; ") +
		". What was applied stays as it was: put the change into a migration of its own"
}

// standings compares what is declared with what is recorded, in order of the numbers.
func standings(list []declared, found state, live bool) []Standing {
	out := make([]Standing, 0, len(list))
	known := make(map[string]bool, len(list))
	for _, m := range list {
		known[recordKey(m.Number)] = true
		s := Standing{Number: m.Number, Name: m.Name, Checksum: m.checksum, State: Pending}
		if record, ran := found.Records[recordKey(m.Number)]; ran {
			s.Record = &record
			s.State = stateOf(m, record, live && record.Token == found.Token)
		}
		out = append(out, s)
	}
	for key, record := range found.Records {
		if !known[key] {
			out = append(out, Standing{Number: record.Number, Name: record.Name, State: Unknown, Record: &record})
		}
	}
	slices.SortFunc(out, func(a, b Standing) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// stateOf reads a record. live says that the one who wrote it still holds the lock.
func stateOf(m declared, record Record, live bool) State {
	switch {
	case record.State == stateRunning && live:
		return Running
	case record.State == stateRunning:
		return Interrupted
	case record.State == stateFailed:
		return Failed
	case record.Checksum == m.checksum:
		return Applied
	case m.Repeatable:
		return Pending
	default:
		return Changed
	}
}
