package config

import (
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/adrg/xdg"
	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"nod/ownfile"
	"nod/policy"
)

// GrantsPath is grants.json in the user's data folder.
func GrantsPath() (string, error) { return ownfile.In(xdg.DataHome, "grants.json") }

// A book keeps the grants: permanent ones in a file, the others in memory until nod quits. It is safe for concurrent
// use.
type book struct {
	path    string
	changed func() // called without mu

	late sync.WaitGroup // uses that are still to be counted, announced or saved

	mu    sync.Mutex     // held while the file is written; guards all below
	key   []byte         // signs the file; may be nil
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

var errGrantsHeld = errors.New("another program changed the saved approvals: " +
	"accept that change in nod's settings, or revoke all")

const grantVersion = 4

// openBook reads the grants at path. The file need not exist; [book.grantsErr] returns problems with it. The book calls
// changed after every change of the grants in force.
func openBook(path string, changed func()) *book {
	b := &book{path: path, changed: changed}
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

// CheckGrants says why the file of grants at path is broken; nil if it is good or does not exist.
func CheckGrants(path string) error { return openBook(path, nil).err }

// parseGrants reads a file of grants: all of it, or nothing. The MAC covers signed.
func parseGrants(data []byte) (grants []policy.Grant, signed, mac []byte, err error) {
	var file grantFile
	if err := strict.Unmarshal(data, &file, strict.RejectUnknownMembers(true)); err != nil {
		return nil, nil, nil, err
	}
	if file.Version != grantVersion {
		return nil, nil, nil, fmt.Errorf("version %d: want %d", file.Version, grantVersion)
	}
	if len(file.Grants) > 0 {
		if grants, err = decodeGrants(file.Grants); err == nil {
			err = file.Grants.Compact()
		}
	}
	return grants, file.Grants, file.MAC, err
}

func decodeGrants(data []byte) ([]policy.Grant, error) {
	var list []policy.Grant
	if err := strict.Unmarshal(data, &list, strict.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if len(list) > policy.MaxGrants {
		return nil, fmt.Errorf("%d saved approvals: the limit is %d", len(list), policy.MaxGrants)
	}
	for i, g := range list {
		if err := check(g); err != nil {
			return nil, fmt.Errorf("grants[%d]: %w", i, err)
		}
		if index(list[:i], g.ID) >= 0 {
			return nil, fmt.Errorf("grants[%d]: id %s appears twice", i, g.ID)
		}
	}
	return list, nil
}

func check(g policy.Grant) error {
	sum, err := hex.DecodeString(g.InputSHA256)
	switch {
	case uuid.Validate(g.ID) != nil:
		return fmt.Errorf("id %q is not a UUID", g.ID)
	case !g.Scope.IsPermanent() || g.Session != "" || !g.Expires.IsZero():
		return errors.New("only permanent approvals are saved in the file")
	case (g.Tool == "") != (g.Edits != ""):
		return errors.New("tool is missing")
	case g.Reads != "":
		return errors.New("approvals to read in a folder are not saved in the file")
	case g.InputSHA256 != "" && (err != nil || len(sum) != 32):
		return errors.New("input_sha256 is not a SHA-256")
	case g.Command != nil && len(g.Command.Words) == 0:
		return errors.New("the command is empty")
	case g.Scope == policy.Everywhere && (g.Work != "" || g.CWD+g.Folder+g.Edits+g.InputSHA256 != ""):
		return errors.New("an approval for every folder names one, or is for all of a kind of work")
	case g.Work != "" && !slices.Contains(policy.Works, g.Work):
		return fmt.Errorf("work %q: use one of %v", g.Work, policy.Works)
	case g.Edits != "" && !filepath.IsAbs(g.Edits):
		return errors.New("edits is not an absolute path")
	}
	kinds := 0
	for _, is := range []bool{
		g.InputSHA256 != "", g.Command != nil, g.Work != "", g.Edits != "", g.Host != "", g.AnyInput,
	} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New("use one of input_sha256, command, work, edits, host and any_input")
	}
	return nil
}

func (b *book) change(do func() error) error {
	defer b.changed()
	b.mu.Lock()
	defer b.mu.Unlock()
	return do()
}

// Grants lists the grants in force, oldest first. While the file is broken, these are the temporary ones.
func (b *book) Grants() []policy.Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inForce()
}

// inForce needs b.mu.
func (b *book) inForce() []policy.Grant {
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(b.all), func(g policy.Grant) bool { return g.IsOver(now) })
}

// HeldGrants lists the grants of a file that another program changed between nod's runs. None is in force.
func (b *book) HeldGrants() []policy.Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.held)
}

func (b *book) grantsErr() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// keep saves all grants or none. A grant replaces an older one that allows the same for the same time.
func (b *book) keep(grants []policy.Grant) error {
	return b.change(func() error {
		next, toFile := b.inForce(), slices.ContainsFunc(grants, isForFile)
		if err := b.unwritable(); toFile && err != nil {
			return fmt.Errorf("save the approval: %w", err)
		}
		for _, g := range grants {
			next = append(slices.DeleteFunc(next, g.SameAs), g)
		}
		if len(next) > policy.MaxGrants {
			return fmt.Errorf("save the approval: there are already %d: revoke some", len(next)-len(grants))
		}
		if toFile {
			if err := b.save(next); err != nil {
				return err
			}
		}
		b.all = next
		return nil
	})
}

func (b *book) unwritable() error {
	if b.err == nil && len(b.held) > 0 {
		return errGrantsHeld
	}
	return b.err
}

// Revoke deletes a grant. It is out of force even if the file cannot be written.
func (b *book) Revoke(id string) error {
	return b.change(func() error {
		i := index(b.all, id)
		if i < 0 {
			return fmt.Errorf("revoke: no saved approval %q", id)
		}
		inFile := isForFile(b.all[i])
		b.all = slices.Delete(b.all, i, i+1)
		if !inFile {
			return nil
		}
		return b.save(b.all)
	})
}

// TakeBack undoes one change of the grants, from before to after. It keeps later changes. What it removes is out of
// force even if the file cannot be written.
func (b *book) TakeBack(before, after []policy.Grant) error {
	return b.change(func() error {
		now := b.inForce()
		var next []policy.Grant
		toFile := false
		for _, g := range before {
			switch i := index(now, g.ID); {
			case i >= 0:
				next = append(next, now[i])
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
				next = append(next, g)
			}
		}
		if toFile {
			err := b.unwritable()
			if err == nil {
				err = b.save(next)
			}
			if err != nil {
				b.all = slices.DeleteFunc(next, func(g policy.Grant) bool { return index(now, g.ID) < 0 })
				return fmt.Errorf("undo: %w", err)
			}
		}
		b.all = next
		return nil
	})
}

func index(list []policy.Grant, id string) int {
	return slices.IndexFunc(list, func(g policy.Grant) bool { return g.ID == id })
}

// RevokeAll deletes all grants, also those of a broken file.
func (b *book) RevokeAll() error {
	return b.change(func() error {
		b.all, b.held = nil, nil
		if err := b.save(nil); err != nil {
			return err
		}
		b.err = nil
		return nil
	})
}

// AcceptGrants puts the held grants in force.
func (b *book) AcceptGrants() error {
	return b.change(func() error {
		next := append(slices.Clone(b.held), b.inForce()...)
		if err := b.save(next); err != nil {
			return err
		}
		b.all, b.held = next, nil
		return nil
	})
}

// sign makes the book sign the file from now on. It holds back grants of an unsigned file, unless isNew says that there
// was no key yet.
func (b *book) sign(key []byte, isNew bool) error {
	return b.change(func() error {
		b.key = key
		switch {
		case b.err != nil || len(b.all) == 0:
		case isNew:
			return b.save(b.all)
		case !hmac.Equal(ownfile.Sum(b.key, noKind, b.read), b.mac):
			b.held, b.all = b.all, nil
		}
		return nil
	})
}

// rarely is how long a grant must be unused for its next use to be announced: it may have been about to rest.
const rarely = 3 * day

// use counts one use of a grant. The call that it allows does not wait while the file is written.
func (b *book) use(id string) {
	now := time.Now()
	if b.mu.TryLock() {
		defer b.mu.Unlock()
		b.count(id, now)
		return
	}
	b.late.Go(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.count(id, now)
	})
}

// count counts a use. If the last one is so old that the grant was about to rest, count has the use announced, and
// saved, because nod may be killed or become its next version. The caller holds b.mu.
func (b *book) count(id string, now time.Time) {
	i := index(b.all, id)
	if i < 0 {
		return
	}
	g := &b.all[i]
	if now.Sub(g.LastUsed) > rarely {
		b.late.Go(func() {
			b.changed()
			_ = b.saveUses() // Close tries again
		})
	}
	g.Uses, g.LastUsed = g.Uses+1, now
	b.dirty = b.dirty || isForFile(*g)
}

// Close saves the uses counted.
func (b *book) Close() error {
	b.late.Wait()
	return b.saveUses()
}

func (b *book) saveUses() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.dirty || b.unwritable() != nil {
		return nil
	}
	err := b.save(b.all)
	b.dirty = err != nil
	return err
}

func isForFile(g policy.Grant) bool { return g.Scope.IsPermanent() }

// save writes the permanent grants. It needs b.mu.
func (b *book) save(grants []policy.Grant) error {
	isTemporary := func(g policy.Grant) bool { return !isForFile(g) }
	list, err := json.Marshal(slices.DeleteFunc(append([]policy.Grant{}, grants...), isTemporary)) // never null
	if err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	file := grantFile{Version: grantVersion, Grants: list}
	if b.key != nil {
		file.MAC = ownfile.Sum(b.key, noKind, list)
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
