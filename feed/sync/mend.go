package follower

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrShort says that a copy is shorter than its position says, or is not there at all: objects of it are lost, which
// no walk from that position would bring again. Options.Mend takes what is left.
var ErrShort = errors.New("a part of the copy is lost")

// tailStep is how much of a copy is read at once to find its last line's end.
const tailStep = 64 << 10

// compare settles which copy the position is of, before one is opened. A copy that is too short is refused, or with
// mend taken as far as its lines are whole: the walks then begin anew, which brings again what is lost, whoever ends
// them.
func (s *store) compare(mend bool, note func(string)) error {
	file, err := os.Open(filepath.Join(s.dir, copyName))
	if errors.Is(err, os.ErrNotExist) {
		if s.position.Bytes == 0 { // not made yet
			s.position.Compacted = nil
			return nil
		}
		return s.short(mend, note, 0, 0)
	}
	if err != nil {
		return fmt.Errorf("open the copy: %w", err)
	}
	size, whole, err := s.position.settle(file)
	if err == nil && !whole {
		var lines int64
		if lines, err = wholeLines(file, size); err == nil {
			err = s.short(mend, note, size, lines)
		}
	}
	return errors.Join(err, file.Close())
}

// settle reports whether a copy is what the position speaks of, from before a compaction or behind it, and makes Bytes
// that of the one that is there.
func (p *position) settle(file *os.File) (size int64, whole bool, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, false, fmt.Errorf("open the copy: %w", err)
	}
	size = info.Size()
	switch {
	case size >= p.Bytes:
	case p.Compacted == nil || p.Compacted.Bytes != size:
		return size, false, nil
	default:
		digest := sha256.New()
		if _, err := io.Copy(digest, file); err != nil {
			return size, false, fmt.Errorf("read the copy: %w", err)
		}
		if hex.EncodeToString(digest.Sum(nil)) != p.Compacted.SHA256 {
			return size, false, nil
		}
		p.Bytes = size
	}
	p.Compacted = nil
	return size, true, nil
}

// short is what becomes of a copy of size bytes, of which lines are whole lines.
func (s *store) short(mend bool, note func(string), size, lines int64) error {
	text := fmt.Sprintf("%s has %d bytes of %d", filepath.Join(s.dir, copyName), size, s.position.Bytes)
	if !mend {
		return fmt.Errorf("%w: %s", ErrShort, text)
	}
	note(text + ": what is left is taken, and the rest asked for again")
	// written at once: a walk from the old offsets must not go on with what is left
	s.position = position{Version: positionVersion, Feed: s.position.Feed, Bytes: lines}
	return writePosition(s.dir, s.position)
}

// wholeLines returns how many of the first size bytes of a file are lines that have their end.
func wholeLines(file io.ReaderAt, size int64) (int64, error) {
	block := make([]byte, tailStep)
	for end := size; end > 0; {
		start := max(0, end-tailStep)
		part := block[:end-start]
		if _, err := file.ReadAt(part, start); err != nil {
			return 0, fmt.Errorf("read the copy: %w", err)
		}
		if last := bytes.LastIndexByte(part, '\n'); last >= 0 {
			return start + int64(last) + 1, nil
		}
		end = start
	}
	return 0, nil
}
