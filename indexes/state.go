package indexes

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/sync/singleflight"
)

// refreshInterval is the least time between two looks at the database, however many ask.
const refreshInterval = time.Second

// lookTimeout ends a look at a database that does not answer, when all who waited for it may have left.
const lookTimeout = 10 * time.Second

// State is what is known of the declared indexes: as of the last look. It is safe for concurrent use.
type State struct {
	db       *mongo.Database
	declared []Index
	now      func() time.Time
	group    singleflight.Group
	repeats  atomic.Int64

	mu        sync.RWMutex
	looked    time.Time
	standings map[string]Standing // by Index.identity
}

// NewState makes a state that knows nothing yet: no index is hinted, and all are missing.
func NewState(db *mongo.Database, declared []Index, now func() time.Time) *State {
	return &State{db: db, declared: declared, now: now, standings: map[string]Standing{}}
}

// Refresh looks at the database, unless that was done a moment ago. Several callers share one look.
func (s *State) Refresh(ctx context.Context) error {
	s.mu.RLock()
	age := s.now().Sub(s.looked)
	fresh := !s.looked.IsZero() && age >= 0 && age < refreshInterval // a clock may be set back
	s.mu.RUnlock()
	if fresh {
		return nil
	}
	return s.Look(ctx)
}

// Look looks at the database now, or shares the look that is under way. Each caller leaves on its own deadline; none
// takes the look away from the others.
func (s *State) Look(ctx context.Context) error {
	done := s.group.DoChan("look", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
		defer cancel()
		return nil, s.look(ctx)
	})
	select {
	case result := <-done:
		return result.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *State) look(ctx context.Context) error {
	// When rows expire is no matter of reads: two versions that differ in it work side by side.
	standings, err := planBy(ctx, s.db, s.declared, found.serves)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = s.now()
	for _, st := range standings {
		s.standings[st.Index.identity()] = st
	}
	return nil
}

// Hint is the name under which an index can be hinted: empty unless it was built and visible at the last look.
func (s *State) Hint(i Index) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if st, ok := s.standings[i.identity()]; ok && st.Status == Ready {
		return st.Name
	}
	return ""
}

// Repeats is how many reads were repeated without their hint since the start, because the index was hidden or dropped
// after the last look.
func (s *State) Repeats() int64 { return s.repeats.Load() }

// Refused forgets an index that the database would not use, until the next look finds it ready. Each call counts as a
// read that is repeated without its hint.
func (s *State) Refused(collection, name string) {
	s.repeats.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, st := range s.standings {
		if st.Index.Collection == collection && st.Name == name && st.Status == Ready {
			st.Status = Missing
			s.standings[key] = st
		}
	}
}

// Unready is an error that names every declared index that lists cannot use, or nil.
func (s *State) Unready() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var lines []string
	for _, i := range s.declared {
		st, known := s.standings[i.identity()]
		if !known {
			st.Status = Missing
		}
		if st.Status != Ready {
			lines = append(lines, fmt.Sprintf("%s is %s", i, st.Status))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("indexes are not ready: %s", strings.Join(lines, "; "))
}
