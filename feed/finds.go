package feed

import "go.mongodb.org/mongo-driver/v2/bson"

// SortField is the field that feeds are in order of, before the id.
const SortField = fieldPublicModified

// The forms of the reads that pages take.
const (
	ReadFirst  = "first"  // from the beginning
	ReadBehind = "behind" // from a timestamp on
	ReadTies   = "ties"   // inside the rows of one timestamp
)

// Find is one of the find commands that the pages of a feed take.
type Find struct {
	Read       string
	Descending bool
	Command    bson.D
}

// Finds lists a find command of each form for the feed of a collection, as they are sent with a hint.
func Finds(collection, hint string) []Find {
	const at = 1
	store := &Store{hint: func() string { return hint }}
	var out []Find
	for _, descending := range []bool{false, true} {
		for _, form := range []struct {
			read string
			from offset
		}{
			{ReadFirst, offset{form: formBegin}},
			{ReadBehind, offset{form: formGroup, at: at}},
			{ReadTies, offset{form: formWithin, at: at, id: bson.ObjectID{1}}},
		} {
			// The first of the spans is the one that the form is about.
			first := question{from: form.from, descending: descending, limit: defaultLimit, horizon: maxTimestamp}.spans()[0]
			out = append(out, Find{
				Read: form.read, Descending: descending,
				Command: store.command(feedLive, first, defaultLimit, bson.D{}).document(collection),
			})
		}
	}
	return out
}
