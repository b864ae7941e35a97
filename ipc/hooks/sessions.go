package hooks

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Sessions is a file that names the sessions of agents whose hooks have come since nod was started, so that a check can
// tell which did not. It is safe for concurrent use; nil notes nothing.
type Sessions struct {
	path string

	mu    sync.Mutex       // guards known
	known map[session]bool // nil: they could not all be written, and the file is gone
}

// session is a line of the file. The first says since when sessions are noted, and nothing else.
type session struct {
	Since   time.Time `json:"since,omitzero"`
	Agent   string    `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"`
}

// maxSessions is how many sessions are noted; with more, none are: names of sessions cost an agent nothing.
const maxSessions = 10_000

// SessionsIn is the file's path in nod's runtime folder.
func SessionsIn(folder string) string { return filepath.Join(folder, "sessions.jsonl") }

// NewSessions begins the file anew. It fails when the file cannot be written.
func NewSessions(path string) (*Sessions, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	s := &Sessions{path: path, known: map[session]bool{}}
	return s, s.write(session{Since: time.Now()})
}

// came notes that a hook of a session has come.
func (s *Sessions) came(agent, name string) {
	if s == nil || name == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	line := session{Agent: agent, Session: name}
	if s.known == nil || s.known[line] {
		return
	}
	s.known[line] = true
	if err := s.write(line); err != nil || len(s.known) > maxSessions {
		_ = os.Remove(s.path) // an incomplete file would accuse sessions that came; the next start tries again
		s.known = nil
	}
}

func (s *Sessions) write(line session) error {
	file, err := os.OpenFile(s.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(file).Encode(line), file.Close())
}

// ReadSessions returns since when sessions are noted in a file, and what tells which have come. It fails when the file
// is not there, or is none.
func ReadSessions(path string) (since time.Time, came func(agent, name string) bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return since, nil, err
	}
	defer file.Close()
	all := map[session]bool{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var line session
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return since, nil, err
		}
		if since.IsZero() {
			since = line.Since
		}
		all[line] = true
	}
	if since.IsZero() {
		err = errors.Join(errors.New("the start time is missing"), lines.Err())
	}
	return since, func(agent, name string) bool { return all[session{Agent: agent, Session: name}] }, err
}
