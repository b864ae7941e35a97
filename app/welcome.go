package app

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"nod/interact"
	"nod/ipc/peer"
	"nod/ownfile"
)

// welcomeAgent is the name under which nod itself asks.
const welcomeAgent = "nod"

// welcome is a file that exists from nod's first run until the user has seen the welcome.
type welcome struct{ path string }

func newWelcome() welcome { return welcome{filepath.Join(xdg.StateHome, "nod", "welcome")} }

func (w welcome) schedule() error {
	return ownfile.Write(w.path, []byte("nod's welcome was not seen yet.\n"), 0o600)
}

// isDue reports whether the user has not seen the welcome.
func (w welcome) isDue() bool {
	_, err := os.Lstat(w.path)
	return err == nil
}

func (w welcome) seen() error { return ownfile.Remove(w.path) }

// testRequest returns a request like an agent's, for a command that never runs.
func testRequest(words string) interact.Request {
	input := json.RawMessage(`{"command":"touch nod-test.txt"}`)
	return interact.Request{
		Requester: interact.Requester{Agent: welcomeAgent, Process: peer.Self(nil)},
		Body:      interact.Approve{Tool: "Bash", Input: input, Description: words},
	}
}
