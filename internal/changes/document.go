package changes

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// document is a new object as it is stored.
func document(item Item, id bson.ObjectID) (bson.D, error) {
	elements, err := encode(item)
	if err != nil {
		return nil, err
	}
	out := bson.D{{Key: "_id", Value: id}}
	for _, e := range elements {
		if key := e.Key(); key != "_id" && key != "source" {
			out = append(out, bson.E{Key: key, Value: e.Value()})
		}
	}
	return append(out, bson.E{Key: "source", Value: item.Source}), nil
}

func encode(item Item) ([]bson.RawElement, error) {
	raw, err := bson.Marshal(item.Entity)
	if err != nil {
		return nil, fmt.Errorf("encode the object %s of %s: %w", item.Source.ID, item.Source.System, err)
	}
	return bson.Raw(raw).Elements()
}

// updateModel changes an object to what its row says now, where its digest is still the one that was found. Paths are
// the entity's own and values go under plain $set, so that nothing from a row is read as an operator or a path.
func updateModel(item Item, old stored) (mongo.WriteModel, error) {
	raw, err := bson.Marshal(item.Entity)
	if err != nil {
		return nil, fmt.Errorf("encode the object %s of %s: %w", item.Source.ID, item.Source.System, err)
	}
	u := update{
		filter: bson.D{{Key: "_id", Value: equal(old.id)}, {Key: "source.digest", Value: equal(old.digest)}},
		set:    bson.D{{Key: "source.digest", Value: item.Source.Digest}},
	}
	for _, field := range item.Fields {
		if !strings.Contains(field, ".") {
			u.assign(field, bson.Raw(raw).Lookup(field))
		}
	}
	for _, parent := range parents(item.Fields) {
		if err := u.children(parent, item.Fields, raw, old.doc); err != nil {
			return nil, err
		}
	}
	return mongo.NewUpdateOneModel().SetFilter(u.filter).SetUpdate(u.document()), nil
}

// update is what one object's update is made of.
type update struct {
	filter bson.D
	set    bson.D
	unset  bson.D
}

func (u *update) document() bson.D {
	out := bson.D{{Key: "$set", Value: u.set}}
	if len(u.unset) > 0 {
		out = append(out, bson.E{Key: "$unset", Value: u.unset})
	}
	return out
}

// assign sets a path to a value of the entity, or removes it where the entity has none.
func (u *update) assign(path string, value bson.RawValue) {
	if value.IsZero() {
		u.unset = append(u.unset, bson.E{Key: path, Value: ""})
		return
	}
	u.set = append(u.set, bson.E{Key: path, Value: value})
}

// children changes the fields of one embedded document. Where there is none to change (it is missing, null or of
// another type), or none would be left, the parent is written whole or removed: the database cannot set a field inside
// null, and an empty parent is left out. The parent must then still be the one that was found.
func (u *update) children(parent string, fields []string, entity, old bson.Raw) error {
	found := old.Lookup(parent)
	doc, isDocument := found.DocumentOK()
	fresh := entity.Lookup(parent)
	others, err := hasOthers(parent, fields, doc)
	if err != nil {
		return err
	}
	if isDocument && (others || !fresh.IsZero()) {
		for _, field := range fields {
			if name, ok := strings.CutPrefix(field, parent+"."); ok {
				u.assign(field, entity.Lookup(parent, name))
			}
		}
		return nil
	}
	u.filter = append(u.filter, bson.E{Key: parent, Value: equal(found)})
	u.assign(parent, fresh)
	return nil
}

// hasOthers reports whether an embedded document has fields that the row does not decide.
func hasOthers(parent string, fields []string, doc bson.Raw) (bool, error) {
	elements, err := doc.Elements()
	if doc == nil || err != nil {
		return false, err
	}
	return slices.ContainsFunc(elements, func(e bson.RawElement) bool {
		return !slices.Contains(fields, parent+"."+e.Key())
	}), nil
}

// equal compares with a stored value as it is. A missing one is looked for as null, which finds it missing, too.
func equal(v bson.RawValue) bson.D {
	if v.IsZero() {
		return bson.D{{Key: "$eq", Value: nil}}
	}
	return bson.D{{Key: "$eq", Value: v}}
}
