package policy

import (
	"errors"
	"io/fs"
)

// Create writes the configuration file of a fresh installation, with the words that explain it, when there is
// no file yet. It reports whether it did.
func (s *Store) Create() (created bool, err error) {
	s.updates.Lock()
	defer s.updates.Unlock()
	if _, err := readFile(s.path); !errors.Is(err, fs.ErrNotExist) {
		return false, nil // there is one; whether it is any good is what Err says
	}
	if _, isHeld := s.Held(); isHeld {
		return false, nil // there was one, and somebody took it away
	}
	if err := s.write(template); err != nil {
		return false, err
	}
	s.reload()
	return true, nil
}
