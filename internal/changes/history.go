package changes

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// historyCollection holds what happened to objects.
const historyCollection = "history"

// record writes the events of a change as entries of the history, at the moment that the object was stamped with.
func (w *Writer[T]) record(ctx context.Context, doc bson.Raw, by string, events []Event) error {
	if !w.kind.History || len(events) == 0 {
		return nil
	}
	entries := make([]any, len(events))
	for i, e := range events {
		entry := bson.D{
			{Key: fieldID, Value: w.newID()},
			{Key: "entity_type", Value: w.kind.Entity},
			{Key: "entity_id", Value: doc.Lookup(fieldID)},
			{Key: "action", Value: e.Action},
		}
		if e.From != nil {
			entry = append(entry, bson.E{Key: "from", Value: *e.From})
		}
		if e.To != nil {
			entry = append(entry, bson.E{Key: "to", Value: *e.To})
		}
		if len(e.Fields) > 0 {
			entry = append(entry, bson.E{Key: "fields", Value: e.Fields})
		}
		entry = append(entry, bson.E{Key: "at", Value: doc.Lookup(fieldModified)})
		if by != "" {
			entry = append(entry, bson.E{Key: "by", Value: by})
		}
		entries[i] = entry
	}
	if _, err := inMajority(w.db, historyCollection).InsertMany(ctx, entries); err != nil {
		return fmt.Errorf("write the history of the %s: %w", w.kind.Entity, err)
	}
	return nil
}
