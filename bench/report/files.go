package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	pageName    = "performance.md"
	resultsName = "results.json"

	folderMode = 0o755 // of results, readable like others
	fileMode   = 0o644
)

// Folder is where a report is written: its page, and its charts and results in a folder below it, or beside it where
// Charts is ".".
type Folder struct {
	Path   string
	Charts string // the name of the folder below
}

// Page is the path of the page.
func (f Folder) Page() string { return filepath.Join(f.Path, pageName) }

// Results is the path of the results as JSON.
func (f Folder) Results() string { return filepath.Join(f.Path, f.Charts, resultsName) }

// Write writes charts, results and page, in this order, each under another name first: a file is either the old or the
// new one, and a page never lacks its charts.
func (f Folder) Write(r Report) error {
	drawn := make(map[string]bool)
	for _, s := range r.Sections {
		for _, c := range s.Charts {
			if c.File != filepath.Base(c.File) || !strings.HasSuffix(c.File, ".svg") || drawn[c.File] {
				return fmt.Errorf("the chart %q of %s needs a name of its own that ends in .svg", c.File, s.ID)
			}
			drawn[c.File] = true
			if err := replace(filepath.Join(f.Path, f.Charts, c.File), c.WriteSVG); err != nil {
				return err
			}
		}
	}
	if err := f.WriteResults(r); err != nil {
		return err
	}
	return replace(f.Page(), func(out io.Writer) error { return r.WritePage(out, f.Charts) })
}

// WriteResults writes the results alone.
func (f Folder) WriteResults(r Report) error {
	return replace(f.Results(), func(out io.Writer) error {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(r)
	})
}

// Read reads results that WriteResults wrote.
func Read(path string) (Report, error) {
	stored, err := os.ReadFile(path)
	if err != nil {
		return Report{}, fmt.Errorf("read results: %w", err)
	}
	var r Report
	if err := json.Unmarshal(stored, &r); err != nil {
		return Report{}, fmt.Errorf("read results from %s: %w", path, err)
	}
	return r, nil
}

// replace writes a file under a temporary name beside it and renames it when it is whole.
func replace(path string, write func(out io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(write(file), file.Chmod(fileMode), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
