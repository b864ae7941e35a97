package policy

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// A seal remembers the texts of policy files as the person last accepted them, so that a change by anybody
// else is noticed, while nod runs and between its runs. What it remembers is signed with a key of its own.
// Both are files that only the user can read: a program of the same user that knows nod could forge them, so
// this is a trip-wire for everything else, not a lock.
type seal struct {
	path  string // of what is remembered
	key   []byte
	texts map[string]string // by the path of the policy file
	isNew bool              // there was none before this run
	err   error             // why nothing that was remembered can be believed
}

// sealFile is what the file holds.
type sealFile struct {
	Version  int               `json:"version"`
	Accepted map[string]string `json:"accepted"`
	MAC      []byte            `json:"mac"` // HMAC-SHA256 of Accepted as JSON
}

const (
	sealVersion = 1
	sealName    = "accepted.json"
	keyName     = "seal.key"
	keySize     = 32
	markerName  = "sealed"
	markerText  = "nod has run before, and sealed what was accepted then. Without this file it would take its next run for the first.\n"
)

// openSeal opens the seal in a folder. When there is none at all, this is nod's first run, and the first text
// of each file counts as accepted; a text that the person wrote before that run is taken for theirs. Whoever
// takes the seal away does not get back there: a marker elsewhere tells of the first run, and so does whatever
// else was sealed. The error says that there can be no seal.
func openSeal(folder, marker string, wasSealed bool) (*seal, error) {
	s := &seal{path: filepath.Join(folder, sealName), texts: map[string]string{}}
	keyPath := filepath.Join(folder, keyName)
	key, keyErr := readFile(keyPath)
	data, err := readFile(s.path)
	_, markErr := os.Lstat(marker)
	s.isNew = errors.Is(keyErr, fs.ErrNotExist) && errors.Is(err, fs.ErrNotExist) && errors.Is(markErr, fs.ErrNotExist) && !wasSealed
	if keyErr != nil || len(key) != keySize {
		key = make([]byte, keySize)
		rand.Read(key) // never fails
		if err := writeFile(keyPath, key); err != nil {
			return nil, fmt.Errorf("seal the policy: %w", err)
		}
	}
	if markErr != nil {
		if err := writeFile(marker, []byte(markerText)); err != nil {
			return nil, fmt.Errorf("seal the policy: %w", err)
		}
	}
	s.key = key
	if !s.isNew {
		s.err = s.read(data, errors.Join(keyErr, err))
	}
	return s, nil
}

// markerPath is where it is kept that there was a first run: in the user's folder of states, or beside grants that
// are not where nod keeps them.
func markerPath(grantsPath string) string {
	if usual, err := DefaultGrantsPath(); err == nil && grantsPath == usual && filepath.IsAbs(xdg.StateHome) {
		return filepath.Join(xdg.StateHome, "nod", markerName)
	}
	return filepath.Join(filepath.Dir(grantsPath), markerName)
}

func (s *seal) read(data []byte, err error) error {
	if err != nil {
		return fmt.Errorf("what you accepted last cannot be read: %w", err)
	}
	var file sealFile
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if mac, err := s.mac(file.Accepted); err != nil || file.Version != sealVersion || !hmac.Equal(mac, file.MAC) {
		return fmt.Errorf("%s was changed by another program", s.path)
	}
	s.texts = file.Accepted
	return nil
}

func (s *seal) mac(texts map[string]string) ([]byte, error) {
	data, err := json.Marshal(texts) // with sorted keys
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, s.key)
	h.Write(data)
	return h.Sum(nil), nil
}

// accepted returns the text of a policy file that the person accepted last. It is not known while there was
// none yet; a seal that was broken knows that nothing is accepted.
func (s *seal) accepted(path string) (text string, known bool) {
	text, known = s.texts[path]
	return text, known || s.err != nil
}

// accept remembers the text of a policy file.
func (s *seal) accept(path, text string) error {
	if was, known := s.texts[path]; known && was == text && s.err == nil {
		return nil
	}
	texts := map[string]string{path: text}
	for other, was := range s.texts {
		if other != path {
			texts[other] = was
		}
	}
	mac, err := s.mac(texts)
	if err != nil {
		return fmt.Errorf("seal the policy: %w", err)
	}
	data, err := json.MarshalIndent(sealFile{sealVersion, texts, mac}, "", "  ")
	if err != nil {
		return fmt.Errorf("seal the policy: %w", err)
	}
	if err := writeFile(s.path, append(data, '\n')); err != nil {
		return fmt.Errorf("seal the policy: %w", err)
	}
	s.texts, s.err = texts, nil
	return nil
}
