package csvfile

import (
	"errors"
	"io"
)

// window reads a file through a buffer and can go back: a quote that is never closed shows only at the end of the
// file, and the rows behind it must be read once more.
type window struct {
	src  io.ReaderAt
	base int64 // offset of buf[0] in the file
	buf  []byte
	pos  int
}

func newWindow(src io.ReaderAt, size int) *window {
	return &window{src: src, buf: make([]byte, 0, size)}
}

// next returns the next byte, or io.EOF.
func (w *window) next() (byte, error) {
	if w.pos == len(w.buf) {
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	b := w.buf[w.pos]
	w.pos++
	return b, nil
}

func (w *window) fill() error {
	w.base += int64(len(w.buf))
	n, err := w.src.ReadAt(w.buf[:cap(w.buf)], w.base)
	w.buf, w.pos = w.buf[:n], 0
	if n > 0 {
		return nil // an error that came with bytes comes again without them
	}
	if err == nil {
		return errors.New("the file gives no bytes and no end")
	}
	return err
}

// offset is that of the next byte.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// seek makes the byte at offset the next one.
func (w *window) seek(offset int64) {
	if offset >= w.base && offset <= w.base+int64(len(w.buf)) {
		w.pos = int(offset - w.base)
		return
	}
	w.base, w.buf, w.pos = offset, w.buf[:0], 0
}
