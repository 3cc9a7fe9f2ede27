package migrations

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Migration changes stored data from one form to another. It is idempotent: one that was stopped anywhere is run again,
// from the position that it saved last.
type Migration struct {
	// Number gives the order; Name and Number never change.
	Number int
	Name   string
	// Version and Parameters declare what the migration does. They are part of its checksum, its code is not: who
	// changes what a migration does raises Version. Parameters are written as JSON.
	Version    int
	Parameters any
	// Repeatable migrations keep the data as something else declares it, which their Parameters are: they run again
	// when that changes. For all others a checksum that changed is an error.
	Repeatable bool
	Run        func(ctx context.Context, s *Step) error
	// Count is about how many documents Run would change. It changes nothing.
	Count func(ctx context.Context, db *mongo.Database) (int64, error)
}

// String names the migration as files do: "0002 validators".
func (m Migration) String() string { return label(m.Number, m.Name) }

func label(number int, name string) string { return fmt.Sprintf("%04d %s", number, name) }

// Checksum is a digest of what the migration declares of itself. It fails where Parameters cannot be written as JSON.
func (m Migration) Checksum() (string, error) {
	declared, err := json.Marshal(struct {
		Number     int
		Name       string
		Version    int
		Parameters any
	}{m.Number, m.Name, m.Version, m.Parameters})
	if err != nil {
		return "", fmt.Errorf("write the parameters of migration %s: %w", m, err)
	}
	sum := sha256.Sum256(declared)
	return hex.EncodeToString(sum[:]), nil
}

// Step is a migration that runs.
type Step struct {
	db       *mongo.Database
	held     *Held
	key      string // of its record
	position bson.Raw
	done     int64
	report   func(Event)
	event    Event
}

// Database is what the migration changes.
func (s *Step) Database() *mongo.Database { return s.db }

// Position is what was last saved, nil at first. It decodes with bson.Unmarshal.
func (s *Step) Position() bson.Raw { return s.position }

// Save records how far the migration is, after a batch was written: a later run goes on from there. position is a
// document, or a struct with bson tags; changed counts the documents that have changed since the last call. Batches
// that were written but not saved are written again. It fails with ErrLost where the lock is gone, and so ends the run.
func (s *Step) Save(ctx context.Context, position any, changed int64) error {
	raw, err := bson.Marshal(position)
	if err != nil {
		return fmt.Errorf("encode the position: %w", err)
	}
	err = s.held.record(ctx, s.key, bson.D{
		{Key: recordPosition, Value: literal(bson.Raw(raw))}, {Key: recordDone, Value: s.done + changed},
	})
	if err != nil {
		return fmt.Errorf("save the position: %w", err)
	}
	s.position, s.done = raw, s.done+changed
	s.tell(Progress, "")
	return nil
}

// Check fails with ErrLost where the lock is gone. It is for long work between two calls of Save.
func (s *Step) Check(ctx context.Context) error { return s.held.Check(ctx) }

// Note tells people what they should know, such as rows that are left for them.
func (s *Step) Note(text string) { s.tell(Note, text) }

func (s *Step) tell(kind EventKind, text string) {
	e := s.event
	e.Kind, e.Done, e.Text = kind, s.done, text
	s.report(e)
}

// EventKind says what an Event is about.
type EventKind string

// The kinds of events.
const (
	Started  EventKind = "started"  // from the beginning
	Resumed  EventKind = "resumed"  // from where it was stopped
	Progress EventKind = "progress" // a batch was saved
	Note     EventKind = "note"     // Text is for people
	Ended    EventKind = "ended"
	Broken   EventKind = "failed" // Err says how
)

// Event is what Up tells of a migration.
type Event struct {
	Migration Migration
	Kind      EventKind
	Done      int64 // documents changed so far, those of earlier runs included
	Text      string
	Err       error
}
