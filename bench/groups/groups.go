// Package groups holds the benchmarks, one file a group.
package groups

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/bench/dataset"
	"catalogue/bench/report"
	"catalogue/bench/service"
	"catalogue/internal/mongodb"
)

// Env is what the groups share.
type Env struct {
	Client       *mongo.Client // of the raw driver, to the server under test
	URI          string
	RedisURL     string // may be empty
	Binary       string // path of the built catalogue
	Rows         []int  // sizes to measure, ascending
	Capabilities mongodb.Capabilities
	LoadTime     time.Duration // for which the most clients walk
	// Dataset makes sure of the data of a size; Service starts a catalogue on it. Both are made once a run and shared;
	// main closes them.
	Dataset func(ctx context.Context, rows int) (*dataset.Dataset, error)
	Service func(ctx context.Context, rows int) (*service.Service, error)
	// Progress moves the bar: done of total steps of this group.
	Progress func(done, total int)
}

// Group is one group of benchmarks.
type Group struct {
	ID    string
	Title string
	Run   func(ctx context.Context, e *Env) (report.Section, error)
}
