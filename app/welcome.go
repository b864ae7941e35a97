package app

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"nod/interact"
	"nod/ipc/peer"
	"nod/ownfile"
)

// welcomeAgent is by whose name nod itself asks.
const welcomeAgent = "nod"

// welcome remembers, from nod's first run on, that the person has not seen the welcome yet: a file says so until they
// have.
type welcome struct{ path string }

func newWelcome() welcome { return welcome{filepath.Join(xdg.StateHome, "nod", "welcome")} }

// owe makes the welcome due.
func (w welcome) owe() error {
	return ownfile.Write(w.path, []byte("nod's welcome was not seen yet.\n"), 0o600)
}

// IsDue reports whether it is.
func (w welcome) IsDue() bool {
	_, err := os.Lstat(w.path)
	return err == nil
}

// seen makes it due no more.
func (w welcome) seen() error {
	if err := os.Remove(w.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// testRequest is a request as an agent makes it, about a command that nobody runs.
func testRequest(words string) (interact.Request, error) {
	input, err := json.Marshal(map[string]string{"command": "touch nod-test.txt"})
	if err != nil {
		return interact.Request{}, err
	}
	return interact.Request{
		Requester: interact.Requester{Agent: welcomeAgent, Process: peer.Self()},
		Body:      interact.Approve{Tool: "Bash", Input: input, Description: words},
	}, nil
}
