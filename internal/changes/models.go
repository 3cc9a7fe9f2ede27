package changes

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// document is a new object without its stamp.
func (c *chunk) document(i int, modes map[bson.ObjectID]string) bson.D {
	out := bson.D{{Key: fieldID, Value: c.ids[i]}}
	for _, e := range c.encoded[i] {
		if e.name != fieldSource && (e.name != fieldMode || !c.takesMode()) {
			out = append(out, bson.E{Key: e.name, Value: e.value})
		}
	}
	if mode := modes[c.parentOf(i)]; mode != "" && c.takesMode() {
		out = append(out, bson.E{Key: fieldMode, Value: mode})
	}
	return append(out, bson.E{Key: fieldSource, Value: c.items[i].Source})
}

// takesMode reports whether the objects have the mode of what they stand below.
func (c *chunk) takesMode() bool { return c.kind.Stamped && c.kind.Parent != "" }

// upsertModel makes a new object in one step with its stamp: it is an update that finds nothing, since only updates
// know the database's clock.
func (c *chunk) upsertModel(i int, modes map[bson.ObjectID]string) mongo.WriteModel {
	var fields bson.D
	for _, e := range c.document(i, modes)[1:] {
		fields = append(fields, bson.E{Key: e.Key, Value: literal(e.Value)})
	}
	return mongo.NewUpdateOneModel().SetUpsert(true).
		SetFilter(unused(c.ids[i])).SetUpdate(append(bson.A{set(fields)}, stamp()...))
}

// updateModel changes an object to what its row says now, where nobody has written it since it was read. Where the row says
// what is stored already, it sets the digest alone.
func (c *chunk) updateModel(i int, doc bson.Raw, modes map[bson.ObjectID]string) (mongo.WriteModel, error) {
	item := c.items[i]
	fields, err := c.differences(i, doc)
	if err != nil {
		return nil, fmt.Errorf("the object %s of %s: %w", item.Source.ID, item.Source.System, err)
	}
	source, err := withDigest(doc, item.Source.Digest)
	if err != nil {
		return nil, fmt.Errorf("the object %s of %s: %w", item.Source.ID, item.Source.System, err)
	}
	filter := append(asRead(doc), bson.E{Key: "source.digest", Value: equalOrMissing(doc.Lookup(fieldSource, "digest"))})
	model := mongo.NewUpdateOneModel().SetFilter(filter)
	if len(fields) == 0 {
		c.outcomes[i] = Unchanged
		return model.SetUpdate(bson.A{set(bson.D{source})}), nil
	}
	c.outcomes[i], c.tried[i] = Updated, true
	pipeline := bson.A{set(append(fields, source))}
	if c.takesMode() {
		pipeline = append(pipeline, set(bson.D{{Key: fieldMode, Value: modeTaken(modes[c.parentOf(i)])}}))
	}
	if c.kind.Stamped {
		pipeline = append(pipeline, stamp()...)
	}
	return model.SetUpdate(pipeline), nil
}

// equalOrMissing compares with a stored value as it is. A missing one is looked for as null, which finds it missing,
// too.
func equalOrMissing(v bson.RawValue) bson.D {
	if v.IsZero() {
		return op("$eq", nil)
	}
	return equal(v)
}

// parentOf is the id of what an item stands below.
func (c *chunk) parentOf(i int) bson.ObjectID {
	id, _ := c.encoded[i].get(fieldEntityID).ObjectIDOK()
	return id
}

// differences are the assignments that make a stored object what its row says. Fields that the row does not decide
// stay.
func (c *chunk) differences(i int, doc bson.Raw) (bson.D, error) {
	stored, err := elementsOf(doc)
	if err != nil {
		return nil, err
	}
	before, err := decided(c.items[i].Fields, stored)
	if err != nil {
		return nil, err
	}
	after, err := decided(c.items[i].Fields, c.encoded[i])
	if err != nil {
		return nil, err
	}
	return assignments(doc, before, after, nil)
}

// decided picks the fields of an object that lie at the paths, of embedded documents those of their parts. What stands
// in the place of such a document and is none is picked whole.
func decided(paths []string, all elements) (elements, error) {
	var out elements
	for _, name := range topLevel(paths) {
		value := all.get(name)
		doc, isDocument := value.DocumentOK()
		if isAbsent(value) {
			continue
		}
		if !isDocument || slices.Contains(paths, name) {
			out = append(out, element{name: name, value: value})
			continue
		}
		part, err := partOf(paths, name, doc)
		if err != nil {
			return nil, err
		}
		out = append(out, element{name: name, value: part})
	}
	return out, nil
}

func partOf(paths []string, parent string, doc bson.Raw) (bson.RawValue, error) {
	list, err := elementsOf(doc)
	if err != nil {
		return bson.RawValue{}, err
	}
	part := bson.D{}
	for _, e := range list {
		if slices.Contains(paths, parent+"."+e.name) {
			part = append(part, bson.E{Key: e.name, Value: e.value})
		}
	}
	raw, err := bson.Marshal(part)
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}, err
}

// topLevel are the names of the fields that the paths lie in.
func topLevel(paths []string) []string {
	var out []string
	for _, path := range paths {
		if name, _, _ := strings.Cut(path, "."); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// withDigest is the assignment of an object's source with another digest.
func withDigest(doc bson.Raw, digest string) (bson.E, error) {
	var source bson.D
	if old, ok := doc.Lookup(fieldSource).DocumentOK(); ok {
		list, err := elementsOf(old)
		if err != nil {
			return bson.E{}, err
		}
		for _, e := range list {
			if e.name != "digest" {
				source = append(source, bson.E{Key: e.name, Value: e.value})
			}
		}
	}
	source = append(source, bson.E{Key: "digest", Value: digest})
	return bson.E{Key: fieldSource, Value: literal(source)}, nil
}
