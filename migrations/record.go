package migrations

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxErrorText is how much of an error a record keeps, in bytes.
const maxErrorText = 1000

// Fields of a record that are written by name.
const (
	recordState    = "state"
	recordStarted  = "started_at"
	recordEnded    = "ended_at"
	recordPosition = "position"
	recordDone     = "done"
	recordError    = "error"
)

// The states that records have. A record that says running is believed only while its holder lives.
const (
	stateRunning = "running"
	stateFailed  = "failed"
	stateApplied = "applied"
)

// Record is what the database keeps of a migration.
type Record struct {
	Number    int       `bson:"number"`
	Name      string    `bson:"name"`
	Checksum  string    `bson:"checksum"` // as it was when the migration ran last
	StartedAt time.Time `bson:"started_at"`
	EndedAt   time.Time `bson:"ended_at"` // zero unless it was applied or has failed
	Host      string    `bson:"host"`     // that ran it last
	Version   string    `bson:"version"`  // of the program that ran it last
	Position  bson.Raw  `bson:"position"` // saved last; nil once it was applied
	Done      int64     `bson:"done"`     // documents changed
	Error     string    `bson:"error"`    // of a failed one

	State string `bson:"state"`
	Token int64  `bson:"token"` // of the holder that ran it last
}

// recordKey is the name of a migration's record. It is no number: paths would take that for a place in an array.
func recordKey(number int) string { return fmt.Sprintf("m%04d", number) }

// record sets fields of a migration's record to expressions, and leaves its other fields alone.
func (h *Held) record(ctx context.Context, key string, fields bson.D) error {
	record := op("$mergeObjects", bson.A{"$" + fieldRecords + "." + key, fields})
	records := op("$mergeObjects", bson.A{"$" + fieldRecords, bson.D{{Key: key, Value: record}}})
	return h.write(ctx, bson.D{{Key: fieldRecords, Value: records}})
}

// started records that a migration runs: from the beginning, or from where it was stopped.
func (h *Held) started(ctx context.Context, m declared, resumed bool) error {
	fields := bson.D{
		{Key: "number", Value: int64(m.Number)},
		{Key: "name", Value: literal(m.Name)},
		{Key: "checksum", Value: m.checksum},
		{Key: "host", Value: literal(h.who.Host)},
		{Key: "version", Value: literal(h.who.Version)},
		{Key: "token", Value: h.token},
		{Key: recordState, Value: stateRunning},
		{Key: recordEnded, Value: nil},
		{Key: recordError, Value: nil},
	}
	if !resumed {
		fields = append(fields, bson.E{Key: recordStarted, Value: "$$NOW"},
			bson.E{Key: recordPosition, Value: nil}, bson.E{Key: recordDone, Value: int64(0)})
	}
	return h.record(ctx, recordKey(m.Number), fields)
}

// applied records that a migration has done its work.
func (h *Held) applied(ctx context.Context, m declared) error {
	return h.record(ctx, recordKey(m.Number), bson.D{
		{Key: recordState, Value: stateApplied},
		{Key: recordEnded, Value: "$$NOW"},
		{Key: recordPosition, Value: nil},
	})
}

// failed records why a migration has stopped. Its position stays.
func (h *Held) failed(ctx context.Context, m declared, reason error) error {
	text := reason.Error()
	return h.record(ctx, recordKey(m.Number), bson.D{
		{Key: recordState, Value: stateFailed},
		{Key: recordEnded, Value: "$$NOW"},
		{Key: recordError, Value: literal(strings.ToValidUTF8(text[:min(len(text), maxErrorText)], ""))},
	})
}
