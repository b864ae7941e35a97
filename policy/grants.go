package policy

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"nod/policy/shell"
)

// maxGrants is how many grants are kept at once: nobody reads a longer list.
const maxGrants = 2000

// A grantBook keeps the grants: those for always in a file, the others in memory until nod quits. It is
// not safe for concurrent use.
type grantBook struct {
	path  string
	all   []Grant // oldest first
	err   error   // why the file is broken; then it is neither believed nor overwritten
	held  []Grant // what another program has made of the file; not in force, and the file is left as it is
	key   []byte  // signs the file; nil: it is not signed
	mac   []byte  // of the file that was read
	read  []byte  // the list in the file that was read, as it was signed
	dirty bool    // uses were counted since the file was written
}

// grantFile is what the file holds.
type grantFile struct {
	Version int     `json:"version"`
	Grants  []Grant `json:"grants"`
	MAC     []byte  `json:"mac,omitempty"` // HMAC-SHA256 of Grants as JSON
}

// errGrantsHeld says that no grant can be kept for now.
var errGrantsHeld = errors.New("the file of grants was changed by another program: accept that change in nod's settings or revoke all")

const grantVersion = 3 // 1 knew exact inputs only, 2 prefixes of commands, which are asked about anew

func openGrants(path string) *grantBook {
	b := &grantBook{path: path}
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b
	}
	if err == nil {
		b.all, b.read, b.mac, err = parseGrants(data)
	}
	if err != nil {
		b.all, b.err = nil, fmt.Errorf("read grants: %w", asFileError(err, path))
	}
	return b
}

func asFileError(err error, path string) error {
	var known *FileError
	if errors.As(err, &known) {
		return err
	}
	return &FileError{File: path, Problem: err.Error()}
}

// parseGrants reads a file of grants: all of it, or nothing. signed is what the MAC is of.
func parseGrants(data []byte) (grants []Grant, signed, mac []byte, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var file struct {
		Version int             `json:"version"`
		Grants  json.RawMessage `json:"grants"`
		MAC     []byte          `json:"mac"`
	}
	if err := decoder.Decode(&file); err != nil {
		return nil, nil, nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, nil, errors.New("something follows after the grants")
	}
	if file.Version < 1 || file.Version > grantVersion {
		return nil, nil, nil, fmt.Errorf("version %d: want 1 to %d", file.Version, grantVersion)
	}
	var compact bytes.Buffer
	if len(file.Grants) > 0 {
		if err := json.Compact(&compact, file.Grants); err != nil {
			return nil, nil, nil, err
		}
		if grants, err = decodeGrants(file.Grants); err != nil {
			return nil, nil, nil, err
		}
	}
	return grants, compact.Bytes(), file.MAC, nil
}

// decodeGrants reads the list of grants. What was a prefix until version 2 is a command's leading words.
func decodeGrants(data []byte) ([]Grant, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var list []struct {
		Grant
		Prefix string `json:"prefix"`
	}
	if err := decoder.Decode(&list); err != nil {
		return nil, err
	}
	if len(list) > maxGrants {
		return nil, fmt.Errorf("%d grants: want at most %d", len(list), maxGrants)
	}
	grants, seen := make([]Grant, len(list)), map[string]bool{}
	for i, stored := range list {
		g := stored.Grant
		if stored.Prefix != "" && g.Command == nil {
			g.Command = &shell.Pattern{Words: strings.Fields(stored.Prefix)}
		}
		if err := g.check(); err != nil {
			return nil, fmt.Errorf("grants[%d]: %w", i, err)
		}
		if seen[g.ID] {
			return nil, fmt.Errorf("grants[%d]: id %s is there twice", i, g.ID)
		}
		seen[g.ID], grants[i] = true, g
	}
	return grants, nil
}

// check says what is wrong with a grant from the file.
func (g *Grant) check() error {
	sum, err := hex.DecodeString(g.InputSHA256)
	switch {
	case uuid.Validate(g.ID) != nil:
		return fmt.Errorf("id %q is no UUID", g.ID)
	case g.Scope != Always || g.Session != "" || !g.Expires.IsZero():
		return errors.New("only grants for always are kept in the file")
	case (g.Tool == "") != (g.Edits != ""):
		return errors.New("tool is missing")
	case g.InputSHA256 != "" && (err != nil || len(sum) != 32):
		return errors.New("input_sha256 is no SHA-256")
	case g.Command != nil && len(g.Command.Words) == 0:
		return errors.New("command has no words")
	case g.Edits != "" && !filepath.IsAbs(g.Edits):
		return errors.New("edits is no absolute path")
	case (g.InputSHA256 != "") == (g.Command != nil || g.Edits != "") || g.Command != nil && g.Edits != "":
		return errors.New("want one of input_sha256, command and edits")
	}
	return nil
}

// active returns the grants that hold.
func (b *grantBook) active(now time.Time) []Grant {
	return slices.DeleteFunc(slices.Clone(b.all), func(g Grant) bool { return g.isOver(now) })
}

// add keeps a grant. One for the same call and scope takes the place of the old one.
func (b *grantBook) add(g Grant, now time.Time) error {
	if g.Scope == Always && b.err != nil {
		return fmt.Errorf("keep a grant: %w", b.err)
	}
	if g.Scope == Always && len(b.held) > 0 {
		return fmt.Errorf("keep a grant: %w", errGrantsHeld)
	}
	next := slices.DeleteFunc(b.active(now), func(old Grant) bool { return old.sameAs(g) })
	if len(next) >= maxGrants {
		return fmt.Errorf("keep a grant: there are %d already: revoke some", len(next))
	}
	return b.put(append(next, g), g.Scope == Always)
}

func (g *Grant) sameAs(o Grant) bool {
	return g.Scope == o.Scope && g.Agent == o.Agent && g.Program == o.Program && g.Session == o.Session &&
		g.CWD == o.CWD && g.Tool == o.Tool && g.InputSHA256 == o.InputSHA256 && g.Edits == o.Edits &&
		g.Folder == o.Folder && samePattern(g.Command, o.Command)
}

// put writes the new list, and only then believes in it.
func (b *grantBook) put(next []Grant, save bool) error {
	if save {
		if err := b.save(next); err != nil {
			return err
		}
	}
	b.all = next
	return nil
}

// drop forgets grants. They are out of force even if the file cannot be written.
func (b *grantBook) drop(unwanted func(Grant) bool) error {
	b.all = slices.DeleteFunc(slices.Clone(b.all), unwanted)
	if len(b.held) > 0 { // then the file holds none of these
		return nil
	}
	return b.save(b.all)
}

// sign has the file signed from now on. What it holds without a signature is held back, unless isNew says that
// there was no key yet that could have signed it.
func (b *grantBook) sign(key []byte, isNew bool) error {
	b.key = key
	if b.err != nil || len(b.all) == 0 {
		return nil
	}
	if isNew {
		return b.save(b.all)
	}
	if !hmac.Equal(b.sum(b.read), b.mac) {
		b.held, b.all = b.all, nil
	}
	return nil
}

// sum is the HMAC of a list of grants.
func (b *grantBook) sum(list []byte) []byte {
	h := hmac.New(sha256.New, b.key)
	h.Write(list)
	return h.Sum(nil)
}

func (b *grantBook) macOf(grants []Grant) ([]byte, error) {
	if b.key == nil {
		return nil, nil
	}
	data, err := json.Marshal(grants)
	if err != nil {
		return nil, fmt.Errorf("sign the grants: %w", err)
	}
	return b.sum(data), nil
}

// use counts one use. It reports whether the last one was so long ago that whoever decides by the grants must
// know.
func (b *grantBook) use(id string, now time.Time) (news bool) {
	for i := range b.all {
		if g := &b.all[i]; g.ID == id {
			news = now.Sub(g.LastUsed) > restAfter/10
			g.Uses, g.LastUsed = g.Uses+1, now
			b.dirty = b.dirty || g.Scope == Always
			return news
		}
	}
	return false
}

// flush writes what was counted since the last change.
func (b *grantBook) flush() error {
	if !b.dirty || b.err != nil || len(b.held) > 0 {
		return nil
	}
	return b.save(b.all)
}

// save writes the grants for always.
func (b *grantBook) save(grants []Grant) error {
	kept := []Grant{}
	for _, g := range grants {
		if g.Scope == Always {
			kept = append(kept, g)
		}
	}
	mac, err := b.macOf(kept)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(grantFile{grantVersion, kept, mac}, "", "  ")
	if err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	if err := writeFile(b.path, append(data, '\n')); err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	b.dirty = false
	return nil
}

func samePattern(a, b *shell.Pattern) bool {
	return a == b || a != nil && b != nil && a.Equal(*b)
}

// Grant keeps an allow wider than once. It returns an error for what can only be allowed once.
func (s *Store) Grant(c Call, scope Scope, cover Cover) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	list, err := newGrants(c, scope, cover, s.current.Load().goodWithGrants(), now)
	if err != nil {
		return err
	}
	defer s.republish()
	for _, g := range list {
		if err := s.grants.add(g, now); err != nil {
			return err
		}
		s.log.Info("grant kept", "id", g.ID, "scope", g.Scope, "input_sha256", g.InputSHA256, "command", g.Command, "edits", g.Edits)
	}
	return nil
}

// goodWithGrants is the good policy with the grants in force, so that only what they do not cover is granted anew.
func (s *snapshot) goodWithGrants() *Compiled {
	next := *s.good
	next.grants = s.rules.grants
	return &next
}

// GrantText says what Grant would keep, word for word. It is empty for what can only be allowed
// once, so that no wider scope is offered.
func (s *Store) GrantText(c Call, scope Scope, cover Cover) string {
	list, err := newGrants(c, scope, cover, s.current.Load().goodWithGrants(), s.now())
	if err != nil {
		return ""
	}
	return grantsText(list, s.places.Home)
}

// Text says what the grant allows, in the words of [Store.GrantText].
func (g Grant) Text() string { return g.text(homeFolder()) }

// Grants lists the grants that hold, oldest first. While the configuration is broken they are listed, too,
// although none is in force.
func (s *Store) Grants() []Grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grants.active(s.now())
}

// HeldGrants lists what another program has made of the file of grants, between nod's runs. None of them is in
// force.
func (s *Store) HeldGrants() []Grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.grants.held)
}

// AcceptGrants puts the grants that are held back in force.
func (s *Store) AcceptGrants() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := append(slices.Clone(s.grants.held), s.grants.all...)
	if err := s.grants.put(next, true); err != nil {
		return err
	}
	s.grants.held = nil
	s.republish()
	return nil
}

// Revoke takes back one grant.
func (s *Store) Revoke(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := func(g Grant) bool { return g.ID == id }
	if !slices.ContainsFunc(s.grants.all, is) {
		return fmt.Errorf("revoke: there is no grant %q", id)
	}
	err := s.grants.drop(is)
	s.republish()
	return err
}

// RevokeAll takes back all grants. It also mends a broken file of grants: what it held is gone.
func (s *Store) RevokeAll() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants.held = nil
	err := s.grants.drop(func(Grant) bool { return true })
	if err == nil {
		s.grants.err = nil
	}
	s.republish()
	return err
}
