package main

import (
	"context"
	"time"

	"catalogue/indexes"
	"catalogue/internal/config"
	"catalogue/internal/httpserver"
	"catalogue/internal/mongodb"
)

// The client that answers /readyz is small and impatient, and never waits behind the requests' pool.
const (
	probePool             = 2
	probeSelectionTimeout = time.Second
)

func openProbe(base config.Base) (*mongodb.Client, error) {
	o := databaseOptions(base)
	o.MaxPoolSize, o.ServerSelectionTimeout, o.AppName = probePool, probeSelectionTimeout, appName+"-probe"
	return mongodb.Open(o)
}

// readiness holds while the database answers and the needed indexes are built and visible.
type readiness struct {
	probe *mongodb.Client
	state *indexes.State
}

// Ready implements httpserver.Readiness.
func (r readiness) Ready(ctx context.Context) error {
	if err := r.probe.Ping(ctx); err != nil {
		return err
	}
	if err := r.state.Refresh(ctx); err != nil {
		return mongodb.Convert(err)
	}
	if err := r.state.Unready(); err != nil {
		return httpserver.NotReady(err.Error())
	}
	return nil
}
