package follower

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"
)

// ErrOther says that a folder holds another feed's copy, or files that are no copy at all.
var ErrOther = errors.New("the folder holds something else")

// ErrMoved says that a folder holds a copy of this feed from another address. Options.Moved takes it over.
var ErrMoved = errors.New("the copy is of a feed at another address")

// store is a folder that is held by this process. Its methods may be called from several goroutines.
type store struct {
	dir  string
	lock *os.File

	mu       sync.Mutex
	copy     *copyFile
	position position
}

// openStore locks the folder and reads what is there, as the options have it.
func openStore(o Options, feed identity) (*store, error) {
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &store{dir: o.Dir, lock: lock}
	if err := s.load(o, feed); err != nil {
		return nil, errors.Join(err, unlockFolder(lock))
	}
	return s, nil
}

func (s *store) load(o Options, feed identity) error {
	if err := removeTemps(s.dir); err != nil {
		return err
	}
	if o.Restart {
		// first the position: it says that nothing of the copy is safe, also where a kill comes in between
		if err := writePosition(s.dir, position{Version: positionVersion, Feed: feed}); err != nil {
			return err
		}
	}
	known, err := readPosition(s.dir)
	if err != nil {
		return err
	}
	if known == nil {
		known = &position{Version: positionVersion, Feed: feed}
		if err := s.takeEmpty(*known); err != nil {
			return err
		}
	}
	if err := known.Feed.check(s.dir, feed, o.Moved); err != nil {
		return err
	}
	known.Feed = feed
	s.position = *known
	if err := s.compare(o.Mend, o.Note); err != nil {
		return err
	}
	if s.copy, err = openCopy(s.dir, s.position.Bytes); err != nil {
		return err
	}
	return s.save() // of a compaction or another address
}

// check refuses a folder that is no copy of the feed. moved lets it be at another address.
func (i identity) check(dir string, feed identity, moved bool) error {
	elsewhere := feed
	elsewhere.URL = i.URL
	switch {
	case i == feed:
		return nil
	case i != elsewhere || path.Base(i.URL) != path.Base(feed.URL): // the last part of the address is the resource
		return fmt.Errorf("%w: %s is a copy of %s with mode %q and opt_fields %q", ErrOther, dir, i.URL, i.Mode, i.OptFields)
	case !moved:
		return fmt.Errorf("%w: %s is a copy of %s", ErrMoved, dir, i.URL)
	default:
		return nil
	}
}

// takeEmpty writes the first position of a folder. A copy without one is not ours to overwrite.
func (s *store) takeEmpty(first position) error {
	name := filepath.Join(s.dir, copyName)
	if _, err := os.Stat(name); err == nil {
		return fmt.Errorf("%w: %s is there without %s", ErrOther, name, positionName)
	}
	return writePosition(s.dir, first)
}

// save writes the position, with all of the copy as safe. The caller holds mu, or is alone.
func (s *store) save() error {
	s.position.Bytes = s.copy.size
	return writePosition(s.dir, s.position)
}

// at returns the position as it is now.
func (s *store) at() position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.position
}

// commit adds those rows that wins chooses, and then moves the position: data is safe on disk before the position is.
func (s *store) commit(rows []entry, wins choice, move func(*position)) (c change, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.position.Compacted != nil { // it failed, maybe between the two copies: a line more would be in one of them only
		return c, errors.New("the copy was not rewritten")
	}
	c.added, c.replaced, err = s.copy.append(rows, wins)
	if err != nil {
		return c, err
	}
	move(&s.position)
	if err := s.save(); err != nil {
		return c, err
	}
	c.entries = len(s.copy.index)
	if !s.copy.crowded() {
		return c, nil
	}
	return c, s.compact()
}

// change is what a commit did to the copy.
type change struct {
	added, replaced int
	entries         int // objects in the copy
}

// compact rewrites the copy. The position tells of the new one before that takes the old one's name, so that whichever
// of them is there after a kill is known for whole. It is called with mu held.
func (s *store) compact() error {
	file, rewritten, err := s.copy.rewrite()
	if err != nil {
		return err
	}
	s.position.Compacted = &rewritten
	if err := s.save(); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := s.copy.take(file); err != nil {
		return err
	}
	s.position.Compacted = nil
	return s.save()
}

// entries returns how many objects the copy holds.
func (s *store) entries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.copy.index)
}

// missing returns the ids of the copy that are not among those seen.
func (s *store) missing(seen map[string]string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for id := range s.copy.index {
		if _, there := seen[id]; !there {
			out = append(out, id)
		}
	}
	return out
}

// settle takes objects out of the copy and moves the position.
func (s *store) settle(gone []string, move func(*position)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copy.remove(gone)
	move(&s.position)
	if s.copy.stale > 0 {
		return s.compact()
	}
	return s.save()
}

// modified reads dateModified of every object from the disk.
func (s *store) modified() (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]string, len(s.copy.index))
	err := s.copy.read(func(e entry, _ int64) error {
		out[e.id] = e.dateModified
		return nil
	})
	return out, err
}

// close leaves one line an object, and the lock to others.
func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.copy.stale > 0 {
		err = s.compact()
	}
	return errors.Join(err, s.copy.file.Close(), unlockFolder(s.lock))
}
