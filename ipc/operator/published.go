package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"nod/ipc/endpoint"
	"nod/ownfile"
)

// maxPublished is how large the file of [Published] may be, in bytes.
const maxPublished = 4 << 20

// Published is what nod machines and nod doctor read of the peers, in a file of the runtime folder that only the user
// can read: nothing on the port or the socket lists them.
type Published struct {
	PID   int // of the nod-desktop that says so
	At    time.Time
	Peers Peers
}

// PublishedPath is the path of the file in the runtime folder.
func PublishedPath(dir string) string { return filepath.Join(dir, "machines.json") }

// Publish writes how the peers are.
func Publish(peers Peers) error {
	dir, err := endpoint.Dir()
	if err != nil {
		return fmt.Errorf("publish the machines: %w", err)
	}
	text, err := json.Marshal(Published{os.Getpid(), time.Now(), peers})
	if err == nil {
		err = ownfile.Write(PublishedPath(dir), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("publish the machines: %w", err)
	}
	return nil
}

// Unpublish removes the file.
func Unpublish() error {
	dir, err := endpoint.Locate()
	if err == nil {
		err = os.Remove(PublishedPath(dir))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ReadPublished reads the file in the runtime folder that the nod-desktop with that process id wrote. One that another
// has left behind is none.
func ReadPublished(dir string, pid int) (Published, error) {
	path := PublishedPath(dir)
	text, err := ownfile.ReadSecret(path, maxPublished)
	if err != nil {
		return Published{}, err
	}
	var p Published
	if err := json.Unmarshal(text, &p); err != nil {
		return Published{}, fmt.Errorf("read %s: %w", path, err)
	}
	if p.PID != pid {
		return Published{}, fmt.Errorf("%s: process %d wrote it, not %d: %w", path, p.PID, pid, fs.ErrNotExist)
	}
	return p, nil
}
