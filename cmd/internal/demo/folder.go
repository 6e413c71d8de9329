package demo

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"herald/db/secret"
)

// folder is where a demo keeps its data. Its lock is held as long as we live.
type folder struct {
	path string
	lock *os.File
}

// The names in a folder.
const (
	markFile     = "herald-demo" // says that the folder is a demo's
	keysFile     = "keys"
	logFile      = "herald.log"
	networksFile = "networks"
	databaseDir  = "postgres"
	mediaDir     = "media"
	mailDir      = "mail"
)

var contents = []string{keysFile, logFile, networksFile, networksFile + ".new", databaseDir, mediaDir, mailDir}

const mark = "This folder belongs to herald demo. herald demo --fresh empties it.\n"

// openFolder takes a folder, makes it if it is not there, and empties it if
// fresh. It refuses one that another demo has open, and one that holds what no
// demo put there: fresh must never remove anybody's files.
func openFolder(path string, fresh bool) (*folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o711); err != nil { // Postgres' own user passes through
		return nil, fmt.Errorf("the folder for the demo's data cannot be made: %w; choose another with --data", err)
	}
	f := &folder{path: path}
	if err := f.own(); err != nil {
		return nil, err
	}
	if fresh {
		for _, name := range contents {
			if err := os.RemoveAll(f.file(name)); err != nil {
				f.close()
				return nil, fmt.Errorf("the demo's old data cannot be removed: %w", err)
			}
		}
	}
	return f, nil
}

// own marks the folder as a demo's and locks it.
func (f *folder) own() error {
	if _, err := os.Stat(f.file(markFile)); err != nil {
		for _, name := range contents {
			if _, err := os.Lstat(f.file(name)); err == nil {
				return fmt.Errorf("%s has a %q that no demo put there; choose an empty folder with --data", f.path, name)
			}
		}
	}
	lock, err := os.OpenFile(f.file(markFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("the folder for the demo's data cannot be used: %w; give it to this user, or choose another with --data", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return fmt.Errorf("another demo runs with the data in %s; stop it, or choose another folder with --data", f.path)
	}
	f.lock = lock
	_, err = lock.WriteAt([]byte(mark), 0)
	return err
}

func (f *folder) file(name string) string { return filepath.Join(f.path, name) }

func (f *folder) close() { f.lock.Close() }

// ring reads the demo's keys, made at its first start.
func (f *folder) ring() (*secret.Ring, error) {
	text, err := os.ReadFile(f.file(keysFile))
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails; it ends the process instead
		text = []byte(base64.StdEncoding.EncodeToString(key) + "\n")
		err = writeWhole(f.file(keysFile), text)
	}
	if err != nil {
		return nil, fmt.Errorf("the demo's keys cannot be kept: %w", err)
	}
	ring, err := secret.ParseRing(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.file(keysFile), err)
	}
	return ring, nil
}

// mediaURL is the folder for media as HERALD_MEDIA_URL would name it.
func (f *folder) mediaURL() string {
	return (&url.URL{Scheme: "file", Path: f.file(mediaDir)}).String()
}

// writeWhole writes a file for our eyes only, so that it is there whole or not at
// all, whatever happens.
func writeWhole(path string, data []byte) error {
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = bytes.NewReader(data).WriteTo(file)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
