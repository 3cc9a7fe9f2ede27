package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/bench/service"
	"catalogue/pagination"
)

// overHTTP is a running catalogue.
type overHTTP struct {
	list    List
	service *service.Service
	path    string
	scope   string
	keys    pagination.Keyring
}

// Service pages through the running catalogue, whose cursors the keys sign. path is the list's route and scope its name
// in cursors.
func Service(list List, s *service.Service, keys pagination.Keyring, path, scope string) Peer {
	return overHTTP{list: list, service: s, keys: keys, path: path, scope: scope}
}

func (overHTTP) Name() string { return "keyset over HTTP" }

func (o overHTTP) Position(at Place) (Position, error) {
	cursor := pagination.NewCursor(pagination.Scope{List: o.scope}, o.list.Order, "", 0, at.position().Keyset)
	text, err := o.keys.Encode(cursor)
	return Position{Token: text}, err
}

func (o overHTTP) Fetch(ctx context.Context, at Position, limit int) (Answer, error) {
	query := url.Values{"sort": {o.list.Order.String()}, "limit": {strconv.Itoa(limit)}}
	if at.Token != "" {
		query.Set("cursor", at.Token)
	}
	page, err := o.service.Page(ctx, o.path+"?"+query.Encode())
	if err != nil {
		return nil, err
	}
	return func() (Page, error) {
		var body struct {
			Data []struct {
				ID bson.ObjectID `json:"id"`
			} `json:"data"`
			Meta struct {
				Next string `json:"next_cursor"`
			} `json:"meta"`
		}
		if err := json.Unmarshal(page.Body, &body); err != nil {
			return Page{}, fmt.Errorf("read the catalogue's page: %w", err)
		}
		out := Page{IDs: make([]bson.ObjectID, len(body.Data)), Next: tokenPosition(body.Meta.Next)}
		for i, row := range body.Data {
			out.IDs[i] = row.ID
		}
		return out, nil
	}, nil
}

// tokenPosition is nil without a token.
func tokenPosition(token string) *Position {
	if token == "" {
		return nil
	}
	return &Position{Token: token}
}
