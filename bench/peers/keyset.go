package peers

import (
	"context"
	"log/slog"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/pagination"
)

// scope is the list that the cursors of Keyset belong to.
const scope = "bench"

// keyset is the catalogue's own way, without HTTP and JSON.
type keyset struct {
	list  List
	pages *pagination.Repository[bson.Raw]
	keys  pagination.Keyring
}

// Keyset pages as the catalogue does: the reads of pagination.KeysetPage with the hint. From one page to the next it
// goes by a cursor, as a client does.
func Keyset(list List, keys pagination.Keyring) Peer {
	undecoded := func(doc bson.Raw) (bson.Raw, []string) { return doc, nil }
	return keyset{
		list: list, keys: keys,
		pages: pagination.NewRepository(list.Collection, undecoded, slog.New(slog.DiscardHandler), nil),
	}
}

func (keyset) Name() string { return "keyset" }

func (keyset) Position(at Place) (Position, error) { return at.position(), nil }

func (k keyset) Fetch(ctx context.Context, at Position, limit int) (Answer, error) {
	if at.Keyset.Phase == 0 {
		at.Keyset = pagination.Start[bson.RawValue]()
	}
	page, err := k.pages.KeysetPage(ctx, pagination.Query{
		Projection: k.list.Projection, Order: k.list.Order, From: at.Keyset, Limit: limit, Hint: k.list.Index,
	})
	if err != nil {
		return nil, err
	}
	return func() (Page, error) { return k.read(page) }, nil
}

func (k keyset) read(page pagination.Page[bson.Raw]) (Page, error) {
	rows, err := k.list.keys(page.Items)
	if err != nil || page.Next == nil {
		return Page{IDs: ids(rows)}, err
	}
	text, err := k.keys.Encode(pagination.NewCursor(pagination.Scope{List: scope}, k.list.Order, "", 0, *page.Next))
	if err != nil {
		return Page{}, err
	}
	cursor, err := k.keys.Decode(text)
	return Page{IDs: ids(rows), Next: &Position{Keyset: cursor.Position()}}, err
}
