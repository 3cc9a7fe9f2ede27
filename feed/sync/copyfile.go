package follower

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// compactLeast is how many lines that no longer count a copy may hold, however small it is.
const compactLeast = 100

// ErrDamaged says that the files of a folder cannot be read as a copy.
var ErrDamaged = errors.New("the copy is damaged")

// copyFile is copy.jsonl with an index of the lines that count. It takes some 150 bytes of memory an object.
type copyFile struct {
	dir   string
	file  *os.File
	size  int64 // bytes that count; what is behind them is overwritten
	index map[string]place
	stale int // lines that a later one of the same id has replaced
}

// place is where the newest line of an object is.
type place struct {
	version float64
	at      int64
	length  int // without the line's end
}

// openCopy opens the copy, or makes an empty one, and cuts off what is behind the first safe bytes.
func openCopy(dir string, safe int64) (*copyFile, error) {
	file, err := os.OpenFile(filepath.Join(dir, copyName), os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open the copy: %w", err)
	}
	c := &copyFile{dir: dir, file: file, index: map[string]place{}}
	if err := c.load(safe); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return c, syncFolder(dir)
}

func (c *copyFile) load(safe int64) error {
	info, err := c.file.Stat()
	if err != nil {
		return fmt.Errorf("open the copy: %w", err)
	}
	if info.Size() > safe {
		if err := errors.Join(c.file.Truncate(safe), c.file.Sync()); err != nil {
			return fmt.Errorf("cut off what is behind the position: %w", err)
		}
	}
	return c.read(func(e entry, at int64) error {
		c.place(e, at)
		return nil
	})
}

// read goes over every line of the file, not only those that count, and sets size.
func (c *copyFile) read(each func(e entry, at int64) error) error {
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the copy: %w", err)
	}
	reader := bufio.NewReader(c.file)
	var at int64
	for number := 1; ; number++ {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			c.size = at
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the copy: %w", err)
		}
		e, parseErr := parseEntry(line)
		if err != nil || parseErr != nil { // a last line without an end was never safe
			return fmt.Errorf("%w: %s, line %d: %w", ErrDamaged, filepath.Join(c.dir, copyName), number, errors.Join(err, parseErr))
		}
		if err := each(e, at); err != nil {
			return err
		}
		at += int64(len(line))
	}
}

func (c *copyFile) place(e entry, at int64) {
	if _, there := c.index[e.id]; there {
		c.stale++
	}
	c.index[e.id] = place{version: e.version, at: at, length: len(e.line)}
}

// choice tells which entries go into the copy.
type choice func(c *copyFile, e entry) (bool, error)

// newer reports whether the copy lacks this state of the object and has no later one.
func (c *copyFile) newer(e entry) (bool, error) {
	known, there := c.index[e.id]
	return !there || e.version > known.version, nil
}

// differs reports whether the copy holds another state of the object, be it older or later, or none.
func (c *copyFile) differs(e entry) (bool, error) {
	known, there := c.index[e.id]
	if !there {
		return true, nil
	}
	line, err := c.line(known)
	return err != nil || !sameContent(line, e.line), err
}

func (c *copyFile) line(p place) ([]byte, error) {
	line := make([]byte, p.length)
	if _, err := c.file.ReadAt(line, p.at); err != nil {
		return nil, fmt.Errorf("read the copy: %w", err)
	}
	return line, nil
}

// append adds those rows that wins chooses, and returns when they are safe on disk.
func (c *copyFile) append(rows []entry, wins choice) (added, replaced int, err error) {
	var lines bytes.Buffer
	var won []entry
	for _, e := range latest(rows) {
		wanted, err := wins(c, e)
		if err != nil {
			return 0, 0, err
		}
		if wanted {
			won = append(won, e)
			lines.Write(e.line)
			lines.WriteByte('\n')
		}
	}
	if len(won) == 0 {
		return 0, 0, nil
	}
	if _, err := c.file.WriteAt(lines.Bytes(), c.size); err != nil {
		return 0, 0, fmt.Errorf("add to the copy: %w", err)
	}
	if err := c.file.Sync(); err != nil {
		return 0, 0, fmt.Errorf("make the copy safe: %w", err)
	}
	before := len(c.index)
	for _, e := range won {
		c.place(e, c.size)
		c.size += int64(len(e.line)) + 1
	}
	added = len(c.index) - before
	return added, len(won) - added, nil
}

// latest leaves one row of each object, that of its last state: a page may hold an object twice.
func latest(rows []entry) []entry {
	last := make(map[string]int, len(rows))
	for i, e := range rows {
		if j, twice := last[e.id]; !twice || e.version >= rows[j].version {
			last[e.id] = i
		}
	}
	out := make([]entry, 0, len(last))
	for i, e := range rows {
		if last[e.id] == i {
			out = append(out, e)
		}
	}
	return out
}

// remove takes objects out of the index. Their lines go with the next compaction.
func (c *copyFile) remove(ids []string) {
	for _, id := range ids {
		if _, there := c.index[id]; there {
			delete(c.index, id)
			c.stale++
		}
	}
}

// crowded reports whether most lines no longer count.
func (c *copyFile) crowded() bool { return c.stale > max(len(c.index), compactLeast) }

// rewrite prepares a copy of the lines that count alone, in the order in which they came, and returns it, open.
func (c *copyFile) rewrite() (*os.File, compacted, error) {
	places := slices.SortedFunc(maps.Values(c.index), func(a, b place) int { return cmp.Compare(a.at, b.at) })
	digest := sha256.New()
	var size int64
	file, err := prepare(c.dir, copyName, func(file *os.File) error {
		out := bufio.NewWriter(io.MultiWriter(file, digest))
		for _, p := range places {
			line, err := c.line(p)
			if err != nil {
				return err
			}
			_, _ = out.Write(line)  // Flush tells of errors
			_ = out.WriteByte('\n') // the same
			size += int64(p.length) + 1
		}
		return out.Flush()
	})
	return file, compacted{Bytes: size, SHA256: hex.EncodeToString(digest.Sum(nil))}, err
}

// take puts a rewritten copy in the place of this one.
func (c *copyFile) take(file *os.File) error {
	if err := putInPlace(c.dir, copyName); err != nil {
		return errors.Join(err, file.Close())
	}
	_ = c.file.Close() // all of it has been read, and it has no name any more
	c.file, c.index, c.stale = file, map[string]place{}, 0
	return c.read(func(e entry, at int64) error {
		c.place(e, at)
		return nil
	})
}
