package peers

import "context"

// skip counts rows.
type skip struct {
	list   List
	hinted bool
}

// Skip pages by the number of rows that come before: skip and limit.
func Skip(list List, hinted bool) Peer { return skip{list: list, hinted: hinted} }

func (s skip) Name() string { return named("skip/limit", s.hinted) }

func (skip) Position(at Place) (Position, error) { return at.position(), nil }

func (s skip) Fetch(ctx context.Context, at Position, limit int) (Answer, error) {
	docs, err := s.list.find(ctx, question{sort: s.list.sort(), skip: at.Rows, limit: limit, hinted: s.hinted})
	if err != nil {
		return nil, err
	}
	return func() (Page, error) {
		rows, err := s.list.keys(docs)
		page := Page{IDs: ids(rows)}
		if len(rows) == limit {
			page.Next = &Position{Rows: at.Rows + limit}
		}
		return page, err
	}, nil
}
