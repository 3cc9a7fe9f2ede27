package migrations

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/pagination"
)

// Fields are the fields that lists are sorted by, with the kinds they are declared to have, by collection. A field may
// be named twice: two lists of one collection share theirs.
type Fields map[string]pagination.Sorts

// collections are the names of the collections, sorted.
func (f Fields) collections() []string { return slices.Sorted(maps.Keys(f)) }

// normalised has every field once and in order, so that equal declarations are equal.
func (f Fields) normalised() Fields {
	out := make(Fields, len(f))
	for collection, sorts := range f {
		sorted := slices.Clone(sorts)
		slices.SortFunc(sorted, func(a, b pagination.Sort) int { return strings.Compare(a.Field, b.Field) })
		out[collection] = slices.Compact(sorted)
	}
	return out
}

// stampFields are the fields that the writer of all objects keeps with them. History entries lack them.
func stampFields() pagination.Sorts {
	return pagination.Sorts{
		{Field: "dateModified", Kind: pagination.Date},
		{Field: "feed", Kind: pagination.String},
		{Field: "public_modified", Kind: pagination.Number},
		{Field: "rev", Kind: pagination.Number},
	}
}

// withStamps are all fields whose types are known.
func (f Fields) withStamps() Fields {
	out := make(Fields, len(f))
	for collection, sorts := range f {
		out[collection] = slices.Concat(sorts, stampFields())
	}
	return out.normalised()
}

// typesOf are the types that values of a kind have, by the names that schemas know.
func typesOf(kind pagination.Kind) bson.A {
	switch kind {
	case pagination.Number:
		return bson.A{"int", "long", "double", "decimal"}
	case pagination.Date:
		return bson.A{"date"}
	default:
		return bson.A{"string"}
	}
}

// fits reports whether a value has a type of the kind.
func fits(kind pagination.Kind, v bson.RawValue) bool {
	switch kind {
	case pagination.Number:
		return v.IsNumber()
	case pagination.Date:
		return v.Type == bson.TypeDateTime
	default:
		return v.Type == bson.TypeString
	}
}

// schema is the validator of a collection: the fields have their types or are null or missing. Whether a field is there
// and what its value is are the rules' business, not the schema's: it refuses nothing that our own writers store.
func schema(sorts pagination.Sorts) bson.D {
	return bson.D{{Key: "$jsonSchema", Value: append(bson.D{{Key: "title", Value: schemaTitle}}, object(sorts, "object")...)}}
}

// object is the schema of a document with fields of which some may lie in documents within.
func object(sorts pagination.Sorts, types ...string) bson.D {
	inner := map[string]pagination.Sorts{}
	properties := map[string]bson.D{}
	for _, s := range sorts {
		name, rest, nested := strings.Cut(s.Field, ".")
		if nested {
			inner[name] = append(inner[name], pagination.Sort{Field: rest, Kind: s.Kind})
			properties[name] = object(inner[name], "object", "null")
			continue
		}
		properties[name] = bson.D{{Key: "bsonType", Value: append(typesOf(s.Kind), "null")}}
	}
	sorted := bson.D{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		sorted = append(sorted, bson.E{Key: name, Value: properties[name]})
	}
	return bson.D{{Key: "bsonType", Value: types}, {Key: "properties", Value: sorted}}
}
