package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/bench/dataset"
	"catalogue/bench/groups"
	"catalogue/bench/service"
	"catalogue/internal/mongodb"
)

// shared is what the groups of a run have in common: data, and catalogues that serve it, of each size one.
type shared struct {
	client   *mongo.Client
	settings settings
	shown    *progress

	mu       sync.Mutex
	datasets map[int]*dataset.Dataset // by rows
	services map[int]*service.Service // by rows
}

func newShared(client *mongo.Client, s settings, shown *progress) *shared {
	return &shared{
		client: client, settings: s, shown: shown,
		datasets: make(map[int]*dataset.Dataset), services: make(map[int]*service.Service),
	}
}

func (s *shared) env(can mongodb.Capabilities) *groups.Env {
	return &groups.Env{
		Client: s.client, URI: s.settings.uri, RedisURL: s.settings.redisURL, Binary: s.settings.binary, Rows: s.settings.rows,
		Capabilities: can, LoadTime: s.settings.load, Dataset: s.dataset, Service: s.service, Progress: s.shown.at,
	}
}

func (s *shared) dataset(ctx context.Context, rows int) (*dataset.Dataset, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lockedDataset(ctx, rows)
}

func (s *shared) lockedDataset(ctx context.Context, rows int) (*dataset.Dataset, error) {
	if made, found := s.datasets[rows]; found {
		return made, nil
	}
	made, err := dataset.Prepare(ctx, s.client, rows, func(done int) { s.shown.loading(done, rows) })
	if err == nil {
		s.datasets[rows] = made
	}
	return made, err
}

func (s *shared) service(ctx context.Context, rows int) (*service.Service, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if running, found := s.services[rows]; found {
		return running, nil
	}
	data, err := s.lockedDataset(ctx, rows)
	if err != nil {
		return nil, err
	}
	running, err := service.Start(ctx, service.Options{
		Binary: s.settings.binary, URI: s.settings.uri, Database: data.Database.Name(), RedisURL: s.settings.redisURL,
		CursorKey: groups.CursorKey, Log: filepath.Join(s.settings.output, fmt.Sprintf("catalogue-%d.log", rows)),
	})
	if err == nil {
		s.services[rows] = running
	}
	return running, err
}

// close stops the catalogues.
func (s *shared) close() error {
	var all error
	for _, running := range s.services {
		all = errors.Join(all, running.Stop())
	}
	return all
}
