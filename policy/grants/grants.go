// Package grants keeps the calls that the user allowed for longer than once.
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

// DefaultPath is grants.json in the user's data folder.
func DefaultPath() (string, error) {
	if !filepath.IsAbs(xdg.DataHome) {
		return "", errors.New("find grants.json: no home folder: set HOME")
	}
	return filepath.Join(xdg.DataHome, "nod", "grants.json"), nil
}

// A Book keeps the grants: permanent ones in a file, the others in memory until nod quits. It is safe for concurrent
// use.
type Book struct {
	path    string
	changed func()

	writing sync.Mutex // held during a change, while the file is written; guards key
	key     []byte     // signs the file; may be nil

	mu sync.Mutex // guards the fields below; never held while the file is written

	all   []policy.Grant // oldest first
	err   error          // why the file is broken; while set, nod neither uses nor overwrites it
	held  []policy.Grant // of a file that another program changed; not in force, and nod does not overwrite them
	mac   []byte         // of the file as read
	read  []byte         // the signed list of the file as read
	dirty bool           // uses were counted since the last save
}

type grantFile struct {
	Version int            `json:"version"`
	Grants  jsontext.Value `json:"grants"`
	MAC     []byte         `json:"mac,omitempty"` // HMAC-SHA256 of Grants
}

// errHeld says that no grant can be saved while others are held back.
var errHeld = errors.New("the file of grants was changed by another program: " +
	"accept that change in nod's settings or revoke all")

// grantVersion is the file's version. Version 1 had exact inputs only; 2 had prefixes of commands, about which nod asks
// again; 3 had no hosts and no tools.
const grantVersion = 4

// Open reads the grants at path. The file need not exist; [Book.GrantsErr] returns problems with it. The book calls
// changed after every change of the grants in force; changed may call the book.
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

// parseGrants reads a file of grants: all of it, or nothing. The MAC covers signed.
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

// decodeGrants reads the list of grants, and turns the prefixes of version 2 into leading words.
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

// check validates a grant of the file.
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

// kinds counts the kinds that a grant claims to be.
func kinds(g policy.Grant) int {
	n := 0
	for _, is := range []bool{g.InputSHA256 != "", g.Command != nil, g.Edits != "", g.Host != "", g.AnyInput} {
		if is {
			n++
		}
	}
	return n
}

// Grants lists the grants in force, oldest first. While the file is broken, these are the temporary ones.
func (b *Book) Grants() []policy.Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(b.all), func(g policy.Grant) bool { return g.IsOver(now) })
}

// HeldGrants lists the grants of a file that another program changed between nod's runs. None is in force.
func (b *Book) HeldGrants() []policy.Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.held)
}

// GrantsErr says why the file is broken; nil if it is good.
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

// Keep saves all grants or none. A grant replaces an older one that allows the same for the same time.
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

// unwritable says why the file must not be written, or nil.
func (b *Book) unwritable() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil && len(b.held) > 0 {
		return errHeld
	}
	return b.err
}

func (b *Book) put(next []policy.Grant) {
	b.mu.Lock()
	used := map[string]policy.Grant{}
	for _, g := range b.all {
		used[g.ID] = g
	}
	for i := range next { // uses counted while the file was written
		if g, ok := used[next[i].ID]; ok {
			next[i].Uses, next[i].LastUsed = g.Uses, g.LastUsed
		}
	}
	b.all = next
	b.mu.Unlock()
	b.changed()
}

// Revoke deletes a grant. It is out of force even if the file cannot be written.
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

// TakeBack undoes one change of the grants, from before to after. It keeps later changes.
func (b *Book) TakeBack(before, after []policy.Grant) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	now := b.Grants()
	var next, kept []policy.Grant // with and without the restored grants
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
		case index(after, g.ID) >= 0: // it was added
			toFile = toFile || isForFile(g)
		default:
			next, kept = append(next, g), append(kept, g)
		}
	}
	b.put(kept) // removed grants are out of force even if the file cannot be written
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

// RevokeAll deletes all grants, also those of a broken file.
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

// AcceptGrants puts the held grants in force.
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

// Sign makes the book sign the file from now on. It holds back grants of an unsigned file, unless isNew says that there
// was no key yet.
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

// count reports whether the last use is so old that listeners must learn about this one.
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

// Close saves the uses counted.
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

// save writes the permanent grants. It needs b.writing.
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
