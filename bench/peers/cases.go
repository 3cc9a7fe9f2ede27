package peers

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/pagination"
)

// field is the sort field of the cases.
const field = "v"

// Case is a small list on which paginators have gone wrong.
type Case struct {
	Name string
	Kind pagination.Kind
	Rows []bson.D // in the order of their ids
	// Mixed says that some rows have an explicit null where others have no field. It is left out on a server whose
	// index keeps the two apart.
	Mixed bool
	// Deleting says that the first row of each page is deleted before the next page is read.
	Deleting bool
}

// Cases are the lists that every peer walks.
func Cases() []Case {
	return []Case{
		{Name: "one value, one row without", Kind: pagination.Number, Rows: rows(value(1), missing())},
		{Name: "five values, five without", Kind: pagination.Number, Rows: slices.Concat(counted(5), many(5, missing()))},
		{Name: "three values, 60 without", Kind: pagination.Number, Rows: slices.Concat(many(60, missing()), counted(3))},
		{Name: "ten without a value, no other", Kind: pagination.Number, Rows: many(10, missing())},
		{Name: "missing and null mixed", Kind: pagination.Number, Mixed: true, Rows: rows(
			missing(), value(nil), value(1), missing(), value(nil), value(2), missing(), value(nil),
		)},
		{Name: "zero beside missing", Kind: pagination.Number, Rows: rows(value(0), missing(), value(-1), value(0), value(1), missing())},
		{Name: "empty text beside missing", Kind: pagination.String, Rows: rows(value(""), missing(), value("a"), value(""), missing())},
		{Name: "60 rows of one value", Kind: pagination.Number, Rows: many(60, value(5))},
		{Name: "ties across borders", Kind: pagination.Number, Rows: rows(value(6), value(5), value(5), value(6), value(5), value(7), value(5), value(6))},
		{Name: "first row of each page deleted", Kind: pagination.Number, Deleting: true, Rows: counted(20)},
	}
}

func rows(docs ...bson.D) []bson.D { return docs }

func value(v any) bson.D { return bson.D{{Key: field, Value: v}} }

func missing() bson.D { return bson.D{} }

func many(n int, doc bson.D) []bson.D { return slices.Repeat([]bson.D{doc}, n) }

// counted are rows with the values 1 to n.
func counted(n int) []bson.D {
	docs := make([]bson.D, n)
	for i := range docs {
		docs[i] = value(i + 1)
	}
	return docs
}

// identified are the rows with their ids, which are the same in every run.
func (c Case) identified() (docs []any, ids []bson.ObjectID) {
	for i, row := range c.Rows {
		id := bson.ObjectID{len(bson.ObjectID{}) - 1: byte(i + 1)}
		docs = append(docs, append(bson.D{{Key: "_id", Value: id}}, row...))
		ids = append(ids, id)
	}
	return docs, ids
}
