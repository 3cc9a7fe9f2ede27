package groups

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/bench/dataset"
	"catalogue/bench/service"
	"catalogue/creatives"
	"catalogue/internal/editing"
	"catalogue/pagination"
)

const (
	// writer is the user that writes are made for.
	writer = "bench"
	// mostSpend is the greatest amount of made data, in hundredths.
	mostSpend = 1_000_000
	// shownAnswer is how much of a wrong answer an error shows, in bytes.
	shownAnswer = 500
)

// How the writes were made, for the page.
const (
	writtenOverAPI  = "The writes are PATCH requests to the catalogue: each is a transaction that stamps the object."
	writtenByDriver = "This server has no transactions, without which the catalogue takes no writes: the driver updates the " +
		"figures and stamps of a creative as the catalogue would."
)

// change makes one write, of an object that choice picks.
type change func(ctx context.Context, choice *rand.Rand) error

// written are the ids of the creatives that have figures, which writes change and never take away: the shape of the
// data stays.
func written(ctx context.Context, data *dataset.Dataset) ([]bson.ObjectID, error) {
	l, err := newList(creatives.List(), "metrics.spend")
	if err != nil {
		return nil, err
	}
	values := with(l.reads(pagination.RowPosition{Phase: pagination.Values}, data.Rows)[0], "projection", bson.D{{Key: "_id", Value: int32(1)}})
	rows, _, err := readPage(ctx, data.Database, []bson.D{values}, data.Rows)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("none of %d creatives has figures", data.Rows)
	}
	out := make([]bson.ObjectID, len(rows))
	for i, row := range rows {
		out[i] = row.Lookup("_id").ObjectID()
	}
	return out, nil
}

func spend(choice *rand.Rand) float64 { return float64(choice.IntN(mostSpend)) / 100 }

// newWriteClient keeps a connection for each writer.
func newWriteClient(writers int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConns: writers, MaxIdleConnsPerHost: writers}}
}

// overAPI changes creatives as clients do.
func overAPI(client *http.Client, s *service.Service, ids []bson.ObjectID) change {
	return func(ctx context.Context, choice *rand.Rand) error {
		body := fmt.Appendf(nil, `{"metrics":{"spend":%.2f,"currency":"EUR"}}`, spend(choice))
		target := s.URL + "/creatives/" + ids[choice.IntN(len(ids))].Hex()
		request, err := http.NewRequestWithContext(ctx, http.MethodPatch, target, bytes.NewReader(body))
		if err != nil {
			return fmt.Errorf("change %s: %w", target, err)
		}
		request.Header.Set("Content-Type", "application/merge-patch+json")
		request.Header.Set("If-Match", "*")
		request.Header.Set(editing.UserHeader, writer)
		answer, err := client.Do(request)
		if err != nil {
			return fmt.Errorf("change %s: %w", target, err)
		}
		defer func() { _ = answer.Body.Close() }()
		shown, err := io.ReadAll(io.LimitReader(answer.Body, shownAnswer))
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body) // to its end, so that the connection is used again
		}
		if err != nil {
			return fmt.Errorf("change %s: %w", target, err)
		}
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("change %s: it answers %d: %s", target, answer.StatusCode, shown)
		}
		return nil
	}
}

// byDriver changes the fields that the catalogue would.
func byDriver(data *dataset.Dataset, ids []bson.ObjectID) change {
	return func(ctx context.Context, choice *rand.Rand) error {
		now := time.Now().Truncate(time.Millisecond)
		_, err := data.Creatives().UpdateByID(ctx, ids[choice.IntN(len(ids))], bson.D{
			{Key: "$set", Value: bson.D{
				{Key: "metrics.spend", Value: spend(choice)},
				{Key: "metrics.currency", Value: "EUR"},
				{Key: "updated_at", Value: now},
				{Key: "dateModified", Value: now},
				{Key: "public_modified", Value: float64(now.UnixMilli()) / 1000},
			}},
			{Key: "$inc", Value: bson.D{{Key: "rev", Value: int64(1)}}},
		})
		if err != nil {
			return fmt.Errorf("change a creative with the driver: %w", err)
		}
		return nil
	}
}
