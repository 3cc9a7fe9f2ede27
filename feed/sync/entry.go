package follower

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// publicModified is the field that tells the older of two states of an object: it is always asked for and kept.
const publicModified = "public_modified"

// entry is one object as a feed shows it.
type entry struct {
	id           string
	dateModified string // as it came
	// version grows with every change of the object: public_modified, in Unix seconds.
	version float64
	line    []byte // the JSON object without white space between, and without a line's end
}

// parseEntry reads an object of a page, or a line of the copy.
func parseEntry(raw []byte) (entry, error) {
	var fields struct {
		ID             string   `json:"id"`
		DateModified   string   `json:"dateModified"`
		PublicModified *float64 `json:"public_modified"`
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return entry{}, fmt.Errorf("an entry cannot be read: %w", err)
	}
	if fields.ID == "" {
		return entry{}, errors.New("an entry has no id")
	}
	e := entry{id: fields.ID, dateModified: fields.DateModified}
	if fields.PublicModified != nil {
		e.version = *fields.PublicModified
	} else {
		modified, err := time.Parse(time.RFC3339, fields.DateModified)
		if err != nil {
			return entry{}, fmt.Errorf("entry %s has neither %s nor a dateModified that is a time", e.id, publicModified)
		}
		e.version = float64(modified.UnixMilli()) / 1000
	}
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return entry{}, fmt.Errorf("entry %s cannot be written as a line: %w", e.id, err)
	}
	e.line = line.Bytes()
	return e, nil
}

// sameContent compares two entries by their values: the order of fields says nothing.
func sameContent(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	left, errLeft := decodeExact(a)
	right, errRight := decodeExact(b)
	return errLeft == nil && errRight == nil && reflect.DeepEqual(left, right)
}

// decodeExact keeps numbers as they are written: an integer may be larger than what a float64 holds exactly.
func decodeExact(raw []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var out any
	err := decoder.Decode(&out)
	return out, err
}
