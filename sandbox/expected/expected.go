// Package expected records which agents' commands nod-desktop has decided to run in the sandbox: a file for each, below
// the folder in which nod-desktop listens. nod looks there before it runs an agent's command, so that none runs outside
// because nod-desktop has died in the meantime. The sandbox does not contain the folder.
package expected

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Lasts is how long a command is expected: one that has not started by then never will.
const Lasts = time.Hour

// Run is a command to run in the sandbox, once.
type Run struct {
	Command string          `json:"command"`
	Details json.RawMessage `json:"details"` // what nod-desktop knows about it
	At      time.Time       `json:"at"`

	path string
}

// in returns the folder of the commands below dir, the one in which nod-desktop listens.
func in(dir string) string { return filepath.Join(dir, "runs") }

// Note makes a command expected.
func Note(dir string, r *Run) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("note a command for the sandbox: %w", err)
	}
	if err := os.MkdirAll(in(dir), 0o700); err != nil {
		return fmt.Errorf("note a command for the sandbox: %w", err)
	}
	f, err := os.CreateTemp(in(dir), key(r.Command)+"-*.json") // readable only for the user
	if err != nil {
		return fmt.Errorf("note a command for the sandbox: %w", err)
	}
	r.path = f.Name()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("note a command for the sandbox: %w", errors.Join(err, os.Remove(r.path)))
	}
	return nil
}

// Forget makes the command no longer expected.
func (r *Run) Forget() error {
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget a command for the sandbox: %w", err)
	}
	return nil
}

// Some reports whether the command is expected; with an empty one, whether any is. If that is unknown, it is.
func Some(dir, command string) bool {
	entries, err := os.ReadDir(in(dir))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	prefix := ""
	if command != "" {
		prefix = key(command) + "-"
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return strings.HasPrefix(e.Name(), prefix) && isRecent(e)
	})
}

// All returns the expected commands, and removes those that no longer are.
func All(dir string) (all []*Run, err error) {
	entries, err := os.ReadDir(in(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the commands for the sandbox: %w", err)
	}
	for _, e := range entries {
		r := &Run{path: filepath.Join(in(dir), e.Name())}
		text, readErr := os.ReadFile(r.path)
		if !isRecent(e) || readErr == nil && json.Unmarshal(text, r) != nil {
			err = errors.Join(err, r.Forget())
			continue
		}
		if err = errors.Join(err, readErr); readErr == nil {
			all = append(all, r)
		}
	}
	return all, err
}

// Saw notes that a release of an agent passes its commands in a form that nod reads. It is only a hint: an error means
// that the folder is missing, as without nod-desktop.
func Saw(dir, release string) error {
	f, err := os.OpenFile(sawPath(dir, release), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// HasSeen reports whether [Saw] was called for the release since the computer started.
func HasSeen(dir, release string) bool {
	_, err := os.Stat(sawPath(dir, release))
	return err == nil
}

func sawPath(dir, release string) string { return filepath.Join(dir, "saw-"+key(release)) }

func isRecent(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) < Lasts
}

func key(command string) string {
	sum := sha256.Sum256([]byte(command))
	return hex.EncodeToString(sum[:16])
}
