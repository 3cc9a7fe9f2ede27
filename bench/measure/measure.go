// Package measure times things side by side and says how sure the figures are.
package measure

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// seed makes the orders of the rounds and the draws of the bootstrap the same in every run: what differs between two
// runs is then the machine, not the dice.
const seed = 1

// Subject is one thing to time.
type Subject struct {
	Name   string
	Labels map[string]string
	// Run does it once. What has to happen before, outside of the time, is Prepare's.
	Run     func(ctx context.Context) error
	Prepare func(ctx context.Context) error // may be nil
}

// Samples are the times of one subject in milliseconds, one a round, in the order of the rounds.
type Samples struct {
	Subject Subject
	Times   []float64
}

// Interleave runs every subject once a round, in an order drawn anew for each round, so that whatever else the machine
// does meets all of them alike. warmup rounds come first and are not kept; rounds more follow and are. step is called
// after each round of both kinds; it may be nil. The samples are in the order of the subjects. The first error ends it
// and names its subject; so does the end of ctx.
func Interleave(ctx context.Context, warmup, rounds int, step func(), subjects ...Subject) ([]Samples, error) {
	samples := make([]Samples, len(subjects))
	for i, s := range subjects {
		samples[i] = Samples{Subject: s, Times: make([]float64, 0, rounds)}
	}
	dice := newDice()
	for round := range warmup + rounds {
		for _, i := range dice.Perm(len(subjects)) {
			took, err := once(ctx, subjects[i])
			if err != nil {
				return nil, fmt.Errorf("time %s: %w", subjects[i].Name, err)
			}
			if round >= warmup {
				samples[i].Times = append(samples[i].Times, took)
			}
		}
		if step != nil {
			step()
		}
	}
	return samples, nil
}

// once returns the milliseconds of one run.
func once(ctx context.Context, s Subject) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if s.Prepare != nil {
		if err := s.Prepare(ctx); err != nil {
			return 0, fmt.Errorf("prepare: %w", err)
		}
	}
	began := time.Now()
	err := s.Run(ctx)
	return Milliseconds(time.Since(began)), err
}

// Milliseconds is the unit of every time in a report.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func newDice() *rand.Rand {
	return rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // the order of measurements is no secret
}
