package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"catalogue/feed/race"
)

// racePicture is the name of a race's picture in its folder.
const racePicture = "feed-race.svg"

// checkRacePicture makes the folder and opens the picture, so that what cannot be written is told before the race and
// not after it. It leaves a picture that is there as it is, and none where there is none. An empty folder is a new one
// for temporary files.
func checkRacePicture(folder string) error {
	if folder == "" {
		made, err := newRaceFolder()
		if err != nil {
			return err
		}
		return os.Remove(made)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // of results, readable like others
		return fmt.Errorf("make the folder of the picture: %w", err)
	}
	path := filepath.Join(folder, racePicture)
	_, err := os.Stat(path)
	absent := errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666) //nolint:gosec // as os.Create has it
	if err != nil {
		return fmt.Errorf("the picture cannot be written: %w", err)
	}
	err = file.Close()
	if absent {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

func newRaceFolder() (string, error) {
	folder, err := os.MkdirTemp("", "catalogue-race-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the picture: %w", err)
	}
	return folder, nil
}

// drawRace writes the picture of a race and returns its path, which is empty where that fails.
func drawRace(result race.Result, folder string) (path string, err error) {
	if folder == "" {
		if folder, err = newRaceFolder(); err != nil {
			return "", err
		}
	}
	path = filepath.Join(folder, racePicture)
	file, err := os.Create(path)
	if err == nil {
		err = errors.Join(result.Picture(file), file.Close())
	}
	if err != nil {
		return "", fmt.Errorf("the race has no picture: %w", err)
	}
	return path, nil
}
