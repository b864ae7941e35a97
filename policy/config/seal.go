package config

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	strict "github.com/go-json-experiment/json"

	"nod/ownfile"
)

// A seal remembers the texts of policy files as the user last accepted them, signed with a key of its own. A program of
// the same user that knows nod could read the key and forge the seal: this is a trip-wire, not a lock.
type seal struct {
	path  string // of the file with the accepted texts
	key   []byte
	texts map[string]string // by the [textKey] of the policy file
	isNew bool              // there was none before this run
	err   error             // why the saved seal cannot be trusted
}

type sealFile struct {
	Version  int               `json:"version"`
	Accepted map[string]string `json:"accepted"`
	MAC      []byte            `json:"mac"` // HMAC-SHA256 of Accepted as JSON
}

const (
	sealVersion = 1
	sealName    = "accepted.json"
	keyName     = "seal.key"
	historyName = "nod.db" // in the same folder
	keySize     = 32
	maxSeal     = 64 << 20 // bytes; it contains whole files
	markerText  = "nod has run before, and sealed what was accepted then. " +
		"Without this file it would take its next run for the first.\n"
)

// openSeal opens the seal in a folder. Without any it is nod's first run, and the first text of each file counts as
// accepted. Deleting the seal does not lead back there: a marker elsewhere, anything else that was sealed, and the
// history show that nod has run. The error says why the seal cannot be saved; it then works until this run ends.
func openSeal(folder, marker string, wasSealed bool) (*seal, error) {
	_, markErr := os.Lstat(marker)
	_, historyErr := os.Lstat(filepath.Join(folder, historyName))
	hasRun := wasSealed || !errors.Is(markErr, fs.ErrNotExist) || !errors.Is(historyErr, fs.ErrNotExist)
	s := readSeal(folder, hasRun)
	var unsaved error
	if s.key == nil {
		s.key = make([]byte, keySize)
		rand.Read(s.key) // rand.Read never fails
		unsaved = ownfile.Write(filepath.Join(folder, keyName), s.key, 0o600)
	}
	if markErr != nil && unsaved == nil { // without a saved key nothing was sealed
		unsaved = ownfile.Write(marker, []byte(markerText), 0o600)
	}
	if unsaved != nil {
		unsaved = fmt.Errorf("your answer holds only until nod ends: %w", unsaved)
	}
	return s, unsaved
}

// readSeal reads the seal in a folder without changing it. Its key is nil if the seal is missing or useless. hasRun
// says that this is not nod's first run.
func readSeal(folder string, hasRun bool) *seal {
	s := &seal{path: filepath.Join(folder, sealName), texts: map[string]string{}}
	key, keyErr := ownfile.Read(filepath.Join(folder, keyName))
	data, err := ownfile.ReadLarge(s.path, maxSeal)
	s.isNew = !hasRun && errors.Is(keyErr, fs.ErrNotExist) && errors.Is(err, fs.ErrNotExist)
	if keyErr == nil && len(key) == keySize {
		s.key = key
	}
	if !s.isNew {
		s.err = s.read(data, errors.Join(keyErr, err))
	}
	return s
}

func (s *seal) read(data []byte, err error) error {
	if err != nil {
		return fmt.Errorf("nod can't read the policy you accepted last: %w", err)
	}
	var file sealFile
	if err := strict.Unmarshal(data, &file, strict.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if file.Version != sealVersion || !hmac.Equal(s.mac(file.Accepted), file.MAC) {
		return fmt.Errorf("%s was changed by another program", s.path)
	}
	maps.Copy(s.texts, file.Accepted)
	return nil
}

func (s *seal) mac(texts map[string]string) []byte {
	data, _ := json.Marshal(texts) // sorted keys; never fails for texts
	return ownfile.Sum(s.key, noKind, data)
}

// noKind is the kind of sums here. The seal is an object, the grants are a list, so neither can pass for the other.
const noKind = ""

// textKey replaces bytes of a path that JSON cannot hold.
func textKey(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return strconv.Quote(path)
}

// accepted returns the text of a policy file that the user accepted last. It is known but empty if the seal is broken:
// then nothing counts as accepted.
func (s *seal) accepted(path string) (text string, known bool) {
	text, known = s.texts[textKey(path)]
	return text, known || s.err != nil
}

// accept remembers the text of a policy file. On error it remembers it for this run only.
func (s *seal) accept(path, text string) error {
	key := textKey(path)
	if was, known := s.texts[key]; known && was == text && s.held(path) == "" && s.err == nil {
		return nil
	}
	delete(s.texts, heldKey(path))
	s.texts[key] = text
	if err := s.keep(); err != nil {
		return fmt.Errorf("your answer holds only until nod ends: %w", err)
	}
	return nil
}

// heldKey returns the key of a held text. It differs from all paths, which are absolute.
func heldKey(path string) string { return "held:" + textKey(path) }

func (s *seal) held(path string) string { return s.texts[heldKey(path)] }

// remember saves a held text, so that its denials apply even while the file is missing or unreadable. On error it
// remembers it for this run only.
func (s *seal) remember(path, text string) error {
	if s.err != nil || text == "" || text == s.held(path) {
		return nil
	}
	s.texts[heldKey(path)] = text
	return s.keep()
}

func (s *seal) keep() error {
	s.err = nil
	data, _ := json.MarshalIndent(sealFile{sealVersion, s.texts, s.mac(s.texts)}, "", "  ") // never fails for texts
	return ownfile.Write(s.path, append(data, '\n'), 0o600)
}
