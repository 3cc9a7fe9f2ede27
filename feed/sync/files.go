package follower

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// The files of a folder.
const (
	copyName     = "copy.jsonl"
	positionName = "position.json"
	lockName     = "lock"
	tempSuffix   = ".tmp"
)

const (
	folderMode = 0o750
	fileMode   = 0o640
)

// ErrBusy says that another follower works in the folder.
var ErrBusy = errors.New("another follower works in this folder")

// lockFolder makes the folder where there is none, and takes its lock. The lock ends with the file or the process,
// also after kill -9; the file stays, since removing it would let two processes lock two files of that name.
func lockFolder(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return nil, fmt.Errorf("make the folder of the copy: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the copy: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	_ = file.Close() // nothing was written to it
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w: %s", ErrBusy, dir)
	}
	return nil, fmt.Errorf("lock %s: %w", dir, err)
}

// unlockFolder gives the lock back by name: a process that is being started meanwhile may still hold the file.
func unlockFolder(lock *os.File) error {
	return errors.Join(syscall.Flock(int(lock.Fd()), syscall.LOCK_UN), lock.Close())
}

// replace makes a file hold what write puts into it, wholly or not at all, also across a loss of power.
func replace(dir, name string, write func(*os.File) error) error {
	file, err := prepare(dir, name, write)
	if err != nil {
		return err
	}
	return errors.Join(putInPlace(dir, name), file.Close())
}

// prepare writes what is to take the place of a file, safe on disk, and returns it, open.
func prepare(dir, name string, write func(*os.File) error) (file *os.File, err error) {
	path := filepath.Join(dir, name)
	file, err = os.OpenFile(path+tempSuffix, os.O_CREATE|os.O_RDWR|os.O_TRUNC, fileMode)
	if err != nil {
		return nil, fmt.Errorf("replace %s: %w", path, err)
	}
	if err := write(file); err != nil {
		return nil, errors.Join(fmt.Errorf("replace %s: %w", path, err), file.Close())
	}
	if err := file.Sync(); err != nil {
		return nil, errors.Join(fmt.Errorf("replace %s: %w", path, err), file.Close())
	}
	return file, nil
}

// putInPlace gives what was prepared the name of the file.
func putInPlace(dir, name string) error {
	path := filepath.Join(dir, name)
	if err := os.Rename(path+tempSuffix, path); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return syncFolder(dir)
}

// syncFolder makes names safe that were made or changed in a folder.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("make the names in %s safe: %w", dir, err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("make the names in %s safe: %w", dir, err)
	}
	return nil
}

// removeTemps clears away what a killed follower did not finish.
func removeTemps(dir string) error {
	for _, name := range []string{copyName, positionName} {
		if err := os.Remove(filepath.Join(dir, name+tempSuffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("clear away what was not finished: %w", err)
		}
	}
	return nil
}
