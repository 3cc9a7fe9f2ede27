package follower

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// positionVersion is that of the folder's format. A folder of another one is refused.
const positionVersion = 1

// identity is what a copy is a copy of. Another one makes it another copy.
type identity struct {
	URL       string `json:"url"` // of the feed, without a query
	Mode      string `json:"mode"`
	OptFields string `json:"opt_fields"` // sorted, separated by commas
}

// position is position.json.
type position struct {
	Version int      `json:"version"`
	Feed    identity `json:"feed"`
	Begun   bool     `json:"begun"` // the first page is in the copy, and the offsets below are set

	Forward      string `json:"forward"`  // the offset that the forward walk goes on with
	Backward     string `json:"backward"` // the same of the backward walk, until it is done
	BackwardDone bool   `json:"backward_done"`

	// Bytes is how much of copy.jsonl is safe. What is behind it belongs to a page that will be asked for again.
	Bytes int64 `json:"bytes"`
	// Compacted is set while a rewritten copy takes the place of the one that Bytes is of.
	Compacted *compacted `json:"compacted,omitempty"`
}

// compacted is a rewritten copy. It is shorter than the one before.
type compacted struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the whole file, hexadecimal
}

// readPosition returns nil where there is none.
func readPosition(dir string) (*position, error) {
	path := filepath.Join(dir, positionName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil //nolint:nilnil // a folder without a position is no mistake
	}
	if err != nil {
		return nil, fmt.Errorf("read the position of the copy: %w", err)
	}
	var out position
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	if out.Version != positionVersion {
		return nil, fmt.Errorf("%w: %s has version %d, this program knows %d", ErrDamaged, path, out.Version, positionVersion)
	}
	return &out, nil
}

func writePosition(dir string, p position) error {
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("write the position of the copy: %w", err)
	}
	return replace(dir, positionName, func(file *os.File) error {
		_, err := file.Write(append(raw, '\n'))
		return err
	})
}
