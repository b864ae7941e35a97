// Package grants keeps what the person allowed for longer than once.
package grants

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adrg/xdg"
	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"nod/ownfile"
	"nod/policy"
	"nod/policy/shell"
)

// DefaultPath is where the grants are: grants.json in the user's data folder.
func DefaultPath() (string, error) {
	if !filepath.IsAbs(xdg.DataHome) {
		return "", errors.New("find grants.json: no home folder: set HOME")
	}
	return filepath.Join(xdg.DataHome, "nod", "grants.json"), nil
}

// A Book keeps the grants: those for always in a file, the others in memory until nod quits. It is safe for concurrent
// use.
type Book struct {
	path    string
	changed func()

	writing sync.Mutex // held during a change, while the file is written; guards key
	key     []byte     // signs the file; nil: it is not signed

	mu sync.Mutex // guards the fields below; never held while the file is written

	all   []policy.Grant // oldest first
	err   error          // why the file is broken; then it is neither believed nor overwritten
	held  []policy.Grant // what another program has made of the file; not in force, and the file is left as it is
	mac   []byte         // of the file that was read
	read  []byte         // the list in the file that was read, as it was signed
	dirty bool           // uses were counted
}

// grantFile is what the file holds.
type grantFile struct {
	Version int            `json:"version"`
	Grants  jsontext.Value `json:"grants"`
	MAC     []byte         `json:"mac,omitempty"` // HMAC-SHA256 of Grants
}

// errHeld says that no grant can be kept for now.
var errHeld = errors.New("the file of grants was changed by another program: " +
	"accept that change in nod's settings or revoke all")

// grantVersion is that of the file: 1 knew exact inputs only, 2 prefixes of commands, which are asked about anew, 3 no
// hosts and no tools.
const grantVersion = 4

// Open reads the grants at path. There need be no file; what is wrong with it is no error here but in [Book.GrantsErr].
// Changed is called after every change of what is in force, and may call the book.
func Open(path string, changed func()) *Book {
	b := &Book{path: path, changed: changed}
	data, err := ownfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b
	}
	if err == nil {
		if b.all, b.read, b.mac, err = parseGrants(data); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		b.all, b.err = nil, fmt.Errorf("read grants: %w", err)
	}
	return b
}

// parseGrants reads a file of grants: all of it, or nothing. signed is what the MAC is of.
func parseGrants(data []byte) (grants []policy.Grant, signed, mac []byte, err error) {
	var file grantFile
	if err := strict.Unmarshal(data, &file, strict.RejectUnknownMembers(true)); err != nil {
		return nil, nil, nil, err
	}
	if file.Version < 1 || file.Version > grantVersion {
		return nil, nil, nil, fmt.Errorf("version %d: want 1 to %d", file.Version, grantVersion)
	}
	if len(file.Grants) > 0 {
		if grants, err = decodeGrants(file.Grants); err == nil {
			err = file.Grants.Compact()
		}
	}
	return grants, file.Grants, file.MAC, err
}

// decodeGrants reads the list of grants. What was a prefix until version 2 is a command's leading words.
func decodeGrants(data []byte) ([]policy.Grant, error) {
	var list []struct {
		policy.Grant
		Prefix string `json:"prefix"`
	}
	if err := strict.Unmarshal(data, &list, strict.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if len(list) > policy.MaxGrants {
		return nil, fmt.Errorf("%d grants: want at most %d", len(list), policy.MaxGrants)
	}
	grants, seen := make([]policy.Grant, len(list)), map[string]bool{}
	for i, stored := range list {
		g := stored.Grant
		if stored.Prefix != "" && g.Command == nil {
			g.Command = &shell.Pattern{Words: strings.Fields(stored.Prefix)}
		}
		if err := check(g); err != nil {
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
func check(g policy.Grant) error {
	sum, err := hex.DecodeString(g.InputSHA256)
	switch {
	case uuid.Validate(g.ID) != nil:
		return fmt.Errorf("id %q is no UUID", g.ID)
	case g.Scope != policy.Always || g.Session != "" || !g.Expires.IsZero():
		return errors.New("only grants for always are kept in the file")
	case (g.Tool == "") != (g.Edits != ""):
		return errors.New("tool is missing")
	case g.Reads != "":
		return errors.New("reading in a folder is not kept in the file")
	case g.InputSHA256 != "" && (err != nil || len(sum) != 32):
		return errors.New("input_sha256 is no SHA-256")
	case g.Command != nil && len(g.Command.Words) == 0:
		return errors.New("command has no words")
	case g.Edits != "" && !filepath.IsAbs(g.Edits):
		return errors.New("edits is no absolute path")
	case kinds(g) != 1:
		return errors.New("want one of input_sha256, command, edits, host and any_input")
	}
	return nil
}

// kinds counts what of its kinds a grant in the file says it is.
func kinds(g policy.Grant) int {
	n := 0
	for _, is := range []bool{g.InputSHA256 != "", g.Command != nil, g.Edits != "", g.Host != "", g.AnyInput} {
		if is {
			n++
		}
	}
	return n
}

// Grants lists the grants that hold, oldest first. While the file is broken those for less than always still do.
func (b *Book) Grants() []policy.Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(b.all), func(g policy.Grant) bool { return g.IsOver(now) })
}

// HeldGrants lists what another program has made of the file, between nod's runs. None of them is in force.
func (b *Book) HeldGrants() []policy.Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.held)
}

// GrantsErr says why the file is broken; nil while it is good.
func (b *Book) GrantsErr() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// IsSigned reports whether the file was signed when it was read.
func (b *Book) IsSigned() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.mac) > 0
}

// Keep keeps grants: all of them, or none. One that allows the same for the same time takes the place of the old one.
func (b *Book) Keep(grants []policy.Grant) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	next := b.Grants()
	toFile := slices.ContainsFunc(grants, isForFile)
	if err := b.unwritable(); toFile && err != nil {
		return fmt.Errorf("keep a grant: %w", err)
	}
	for _, g := range grants {
		next = append(slices.DeleteFunc(next, g.SameAs), g)
	}
	if len(next) > policy.MaxGrants {
		return fmt.Errorf("keep a grant: there are %d already: revoke some", len(next)-len(grants))
	}
	if toFile {
		if err := b.save(next); err != nil {
			return err
		}
	}
	b.put(next)
	return nil
}

// unwritable says why nothing can be written to the file.
func (b *Book) unwritable() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil && len(b.held) > 0 {
		return errHeld
	}
	return b.err
}

// put puts a list in force.
func (b *Book) put(next []policy.Grant) {
	b.mu.Lock()
	used := map[string]policy.Grant{}
	for _, g := range b.all {
		used[g.ID] = g
	}
	for i := range next { // what was counted while the file was written
		if g, ok := used[next[i].ID]; ok {
			next[i].Uses, next[i].LastUsed = g.Uses, g.LastUsed
		}
	}
	b.all = next
	b.mu.Unlock()
	b.changed()
}

// Revoke takes back one grant. It is out of force even if the file cannot be written.
func (b *Book) Revoke(id string) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	left := b.Grants()
	i := index(left, id)
	if i < 0 {
		return fmt.Errorf("revoke: there is no grant %q", id)
	}
	inFile := isForFile(left[i])
	left = slices.Delete(left, i, i+1)
	b.put(left)
	if !inFile {
		return nil
	}
	return b.save(left)
}

// TakeBack undoes one change of the grants, from before to after. What was changed since stays as it is.
func (b *Book) TakeBack(before, after []policy.Grant) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	now := b.Grants()
	var next, kept []policy.Grant // with what comes back, and without
	toFile := false
	for _, g := range before {
		switch i := index(now, g.ID); {
		case i >= 0:
			next, kept = append(next, now[i]), append(kept, now[i])
		case index(after, g.ID) < 0: // it was revoked
			next, toFile = append(next, g), toFile || isForFile(g)
		}
	}
	for _, g := range now {
		switch {
		case index(before, g.ID) >= 0:
		case index(after, g.ID) >= 0: // it was kept
			toFile = toFile || isForFile(g)
		default:
			next, kept = append(next, g), append(kept, g)
		}
	}
	b.put(kept) // what is to go is out of force even if the file cannot be written
	if toFile {
		err := b.unwritable()
		if err == nil {
			err = b.save(next)
		}
		if err != nil {
			return fmt.Errorf("undo: %w", err)
		}
	}
	b.put(next)
	return nil
}

func index(list []policy.Grant, id string) int {
	return slices.IndexFunc(list, func(g policy.Grant) bool { return g.ID == id })
}

// RevokeAll takes back all grants. It also mends a broken file: what it held is gone.
func (b *Book) RevokeAll() error {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	b.all, b.held = nil, nil
	b.mu.Unlock()
	defer b.changed()
	if err := b.save(nil); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = nil
	return nil
}

// AcceptGrants puts the grants that are held back in force.
func (b *Book) AcceptGrants() error {
	b.writing.Lock()
	defer b.writing.Unlock()
	next := append(b.HeldGrants(), b.Grants()...)
	if err := b.save(next); err != nil {
		return err
	}
	b.mu.Lock()
	b.held = nil
	b.mu.Unlock()
	b.put(next)
	return nil
}

// Sign has the file signed from now on. What it holds without a signature is held back, unless isNew says that
// there was no key yet that could have signed it.
func (b *Book) Sign(key []byte, isNew bool) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	b.key = key
	isOwn := isNew || hmac.Equal(b.sum(b.read), b.mac)
	switch {
	case b.err != nil || len(b.all) == 0:
	case !isOwn:
		b.held, b.all = b.all, nil
	case isNew:
		all := slices.Clone(b.all)
		b.mu.Unlock()
		return b.save(all)
	}
	b.mu.Unlock()
	b.changed()
	return nil
}

// sum is the HMAC of a list of grants.
func (b *Book) sum(list []byte) []byte {
	h := hmac.New(sha256.New, b.key)
	h.Write(list)
	return h.Sum(nil)
}

// Use counts one use of a grant.
func (b *Book) Use(id string) {
	if b.count(id) {
		b.changed()
	}
}

// count reports whether the last use was so long ago that whoever decides by the grants must know of this one.
func (b *Book) count(id string) (news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.all, func(g policy.Grant) bool { return g.ID == id })
	if i < 0 {
		return false
	}
	g, now := &b.all[i], time.Now()
	news = now.Sub(g.LastUsed) > policy.RestAfter/10
	g.Uses, g.LastUsed = g.Uses+1, now
	b.dirty = b.dirty || isForFile(*g)
	return news
}

// Close writes down how often the grants were used.
func (b *Book) Close() error {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	all, dirty := slices.Clone(b.all), b.dirty
	b.mu.Unlock()
	if !dirty || b.unwritable() != nil {
		return nil
	}
	return b.save(all)
}

func isForFile(g policy.Grant) bool { return g.Scope == policy.Always }

// save writes the grants for always. It needs b.writing.
func (b *Book) save(grants []policy.Grant) error {
	kept := []policy.Grant{}
	for _, g := range grants {
		if isForFile(g) {
			kept = append(kept, g)
		}
	}
	list, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	file := grantFile{Version: grantVersion, Grants: list}
	if b.key != nil {
		file.MAC = b.sum(list)
	}
	data, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	if err := ownfile.Write(b.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	return nil
}
