package config

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
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

// A Seal remembers the texts of policy files as the person last accepted them, so that a change by anybody
// else is noticed, while nod runs and between its runs. What it remembers is signed with a key of its own.
// Both are files that only the user can read: a program of the same user that knows nod could forge them, so
// this is a trip-wire for everything else, not a lock.
type Seal struct {
	path  string // of what is remembered
	key   []byte
	texts map[string]string // by the [textKey] of the policy file
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
	historyName = "nod.db" // in the same folder
	keySize     = 32
	maxSeal     = 64 << 20 // bytes: it has whole files, spelled out
	markerText  = "nod has run before, and sealed what was accepted then. " +
		"Without this file it would take its next run for the first.\n"
)

// OpenSeal opens the seal in a folder. When there is none at all, this is nod's first run, and the first text
// of each file counts as accepted; a text that the person wrote before that run is taken for theirs. Whoever
// takes the seal away does not get back there: a marker elsewhere tells of the first run, and so do whatever
// else was sealed, and the history. The error says why the seal cannot be saved: it is good all the same, until this
// run ends.
func OpenSeal(folder, marker string, wasSealed bool) (*Seal, error) {
	_, markErr := os.Lstat(marker)
	_, historyErr := os.Lstat(filepath.Join(folder, historyName))
	hasRun := wasSealed || !errors.Is(markErr, fs.ErrNotExist) || !errors.Is(historyErr, fs.ErrNotExist)
	s := readSeal(folder, hasRun)
	var unsaved error
	if s.key == nil {
		s.key = make([]byte, keySize)
		rand.Read(s.key) // never fails
		unsaved = ownfile.Write(filepath.Join(folder, keyName), s.key, 0o600)
	}
	if markErr != nil && unsaved == nil { // without its key nothing was sealed
		unsaved = ownfile.Write(marker, []byte(markerText), 0o600)
	}
	if unsaved != nil {
		unsaved = fmt.Errorf("what you accept holds only until nod ends: %w", unsaved)
	}
	return s, unsaved
}

// readSeal reads the seal in a folder as it is. Its key is nil where it has none of use. hasRun says that
// this is not nod's first run.
func readSeal(folder string, hasRun bool) *Seal {
	s := &Seal{path: filepath.Join(folder, sealName), texts: map[string]string{}}
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

// Key signs whatever else nothing but nod may change. It is to be kept as secret as the seal is.
func (s *Seal) Key() []byte { return s.key }

// IsNew reports whether there was no seal before this run.
func (s *Seal) IsNew() bool { return s.isNew }

func (s *Seal) read(data []byte, err error) error {
	if err != nil {
		return fmt.Errorf("what you accepted last cannot be read: %w", err)
	}
	var file sealFile
	if err := strict.Unmarshal(data, &file, strict.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if file.Version != sealVersion || !hmac.Equal(s.mac(file.Accepted), file.MAC) {
		return fmt.Errorf("%s was changed by another program", s.path)
	}
	s.texts = file.Accepted
	return nil
}

func (s *Seal) mac(texts map[string]string) []byte {
	data, _ := json.Marshal(texts) // with sorted keys; texts never fail
	h := hmac.New(sha256.New, s.key)
	h.Write(data)
	return h.Sum(nil)
}

// textKey is what JSON can keep of a path.
func textKey(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return strconv.Quote(path)
}

// accepted returns the text of a policy file that the person accepted last. It is not known while there was
// none yet; a seal that was broken knows that nothing is accepted.
func (s *Seal) accepted(path string) (text string, known bool) {
	text, known = s.texts[textKey(path)]
	return text, known || s.err != nil
}

// accept remembers the text of a policy file. The error says why that holds for this run only.
func (s *Seal) accept(path, text string) error {
	key := textKey(path)
	if was, known := s.texts[key]; known && was == text && s.err == nil {
		return nil
	}
	texts := map[string]string{}
	maps.Copy(texts, s.texts)
	texts[key] = text
	s.texts, s.err = texts, nil
	data, err := json.MarshalIndent(sealFile{sealVersion, texts, s.mac(texts)}, "", "  ")
	if err != nil {
		return fmt.Errorf("seal the policy: %w", err)
	}
	if err := ownfile.Write(s.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("what you accepted holds only until nod ends: %w", err)
	}
	return nil
}
