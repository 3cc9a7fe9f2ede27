package peers

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/bench/peers/mixmax"
	"catalogue/pagination"
)

// missingValue stands for a missing field in the tokens of mongo-cursor-pagination.
const missingValue = "__mixmax__undefined__"

// cursorPagination is mongo-cursor-pagination.
type cursorPagination struct {
	list   List
	server *mixmax.Server
	hinted bool
}

// Mixmax pages with mongo-cursor-pagination, through HTTP.
func Mixmax(list List, server *mixmax.Server, hinted bool) Peer {
	return cursorPagination{list: list, server: server, hinted: hinted}
}

func (c cursorPagination) Name() string {
	return named("mongo-cursor-pagination over HTTP", c.hinted)
}

// Position makes the token that the package would have handed out: [value, _id] in extended JSON.
func (c cursorPagination) Position(at Place) (Position, error) {
	value := any(at.Last.Value)
	if at.Last.Phase == pagination.Nulls {
		value = missingValue
	}
	text, err := bson.MarshalExtJSON(bson.D{{Key: "row", Value: bson.A{value, bson.ObjectID(at.Last.ID)}}}, false, false)
	if err != nil {
		return Position{}, fmt.Errorf("make a token: %w", err)
	}
	var token struct {
		Row json.RawMessage `json:"row"`
	}
	if err := json.Unmarshal(text, &token); err != nil {
		return Position{}, fmt.Errorf("make a token: %w", err)
	}
	return Position{Token: base64.RawURLEncoding.EncodeToString(token.Row)}, nil
}

func (c cursorPagination) Fetch(ctx context.Context, at Position, limit int) (Answer, error) {
	body, err := c.server.Get(ctx, c.target(at, limit))
	if err != nil {
		return nil, err
	}
	return func() (Page, error) {
		var page struct {
			Data []struct {
				ID bson.ObjectID `json:"_id"`
			} `json:"data"`
			Next string `json:"next"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return Page{}, fmt.Errorf("read the page of mongo-cursor-pagination: %w", err)
		}
		out := Page{IDs: make([]bson.ObjectID, len(page.Data)), Next: tokenPosition(page.Next)}
		for i, row := range page.Data {
			out.IDs[i] = row.ID
		}
		return out, nil
	}, nil
}

// target is the path and query of a page.
func (c cursorPagination) target(at Position, limit int) string {
	query := url.Values{"sort": {c.list.Order.String()}, "limit": {strconv.Itoa(limit)}}
	if at.Token != "" {
		query.Set("next", at.Token)
	}
	if c.hinted {
		query.Set("hint", c.list.Index)
	}
	if len(c.list.Projection) > 0 {
		fields := []string{"_id"} // which the package leaves out unless it is asked for
		for _, field := range c.list.Projection {
			fields = append(fields, field.Key)
		}
		query.Set("fields", strings.Join(fields, ","))
	}
	coll := c.list.Collection
	return "/" + url.PathEscape(coll.Database().Name()) + "/" + url.PathEscape(coll.Name()) + "?" + query.Encode()
}
