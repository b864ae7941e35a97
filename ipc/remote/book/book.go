// Package book stores a desk's pairings in a signed file, so that a peer that the user has not admitted does not count.
package book

import (
	"cmp"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/adrg/xdg"
	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nod/changes"
	"nod/ipc/remote"
	"nod/ownfile"
	"nod/policy"
)

// DefaultPath returns the path of the list of peers: peers.json in the user's data folder.
func DefaultPath() (string, error) { return ownfile.In(xdg.DataHome, "peers.json") }

const (
	maxPeers = 1000
	maxName  = 40        // characters
	seenPace = time.Hour // how old what the file says of when a peer was seen may be
)

// ErrUnknown says that no peer has that name.
var ErrUnknown = errors.New("no pairing has that name")

// errChanged says that no peer counts, because another program has changed the list.
var errChanged = errors.New("another program changed the list of pairings, so no pairing works: accept it or start " +
	"over in nod's settings")

// A Book is the list of peers. It is safe for concurrent use.
type Book struct {
	path string
	key  []byte

	writing sync.Mutex               // held during a change, while the file is written; guards saved
	saved   map[remote.Key]time.Time // when the file last took note of a contact

	mu      sync.Mutex // guards all below; never held while the file is written
	content content
	err     error         // why none counts
	held    []remote.Peer // what another program has made of the list
	changed changes.Source
}

type content struct {
	Peers []remote.Peer `json:"peers"`
	// Policy is the serial of the policy that machines got last, and Digest the digest of that policy: a change gets a new
	// serial, and a restart does not.
	Policy uint64 `json:"policy,omitzero"`
	Digest string `json:"digest,omitzero"`
}

type bookFile struct {
	Version int            `json:"version"`
	Content jsontext.Value `json:"content"`
	MAC     []byte         `json:"mac"` // HMAC-SHA256 of Content
}

const bookVersion = 2

// macContext precedes the signed list, because the same key signs other files of nod.
const macContext = "nod peers 1\n"

// Open reads the peers at path, which are signed with key. The file may be missing. Open does not fail; [Book.Problem]
// returns what is wrong with the file.
func Open(path string, key []byte) *Book {
	b := &Book{path: path, key: key, saved: map[remote.Key]time.Time{}}
	data, err := ownfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b
	}
	if err == nil {
		err = b.read(data)
	}
	b.err = err
	return b
}

// read adopts the file's content, completely or not at all.
func (b *Book) read(data []byte) error {
	c, signed, mac, err := parse(data)
	switch {
	case err != nil:
		return fmt.Errorf("%w (%s: %w)", errChanged, b.path, err)
	case !hmac.Equal(b.sum(signed), mac):
		b.held = c.Peers
		return errChanged
	}
	b.content = c
	return nil
}

// parse reads a file of peers. signed is the text that the MAC covers.
func parse(data []byte) (c content, signed, mac []byte, err error) {
	var file bookFile
	if err := strict.Unmarshal(data, &file, strict.RejectUnknownMembers(true)); err != nil {
		return c, nil, nil, err
	}
	if file.Version != bookVersion {
		return c, nil, nil, fmt.Errorf("version %d: want %d", file.Version, bookVersion)
	}
	if err := strict.Unmarshal(file.Content, &c, strict.RejectUnknownMembers(true)); err != nil {
		return content{}, nil, nil, err
	}
	if len(c.Peers) > maxPeers {
		return content{}, nil, nil, fmt.Errorf("%d peers: the limit is %d", len(c.Peers), maxPeers)
	}
	for i, p := range c.Peers {
		if err := check(p, c.Peers[:i]); err != nil {
			return content{}, nil, nil, fmt.Errorf("peers[%d]: %w", i, err)
		}
	}
	err = file.Content.Compact()
	return c, file.Content, file.MAC, err
}

// CheckName returns what is wrong with a name for a peer. Windows show the name, so nothing in it may look like
// something else.
func CheckName(name string) error {
	isOdd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -_.@:", r)
	}
	if name == "" || utf8.RuneCountInString(name) > maxName || name != strings.TrimSpace(name) ||
		!utf8.ValidString(name) || strings.ContainsFunc(name, isOdd) || strings.Contains(name, "  ") {
		return fmt.Errorf("%q is not a valid name: use letters, digits, spaces and - _ . @ : (up to %d in all)",
			name, maxName)
	}
	return nil
}

// check returns what is wrong with a new peer, given the others.
func check(p remote.Peer, others []remote.Peer) error {
	if err := CheckName(p.Name); err != nil {
		return err
	}
	if i := slices.IndexFunc(others, func(o remote.Peer) bool { return strings.EqualFold(o.Name, p.Name) }); i >= 0 {
		return fmt.Errorf("%q is already in use: pick another name", others[i].Name)
	}
	if i := slices.IndexFunc(others, func(o remote.Peer) bool { return o.Key.Sign == p.Key.Sign }); i >= 0 {
		return fmt.Errorf("this key is already paired, as %q", others[i].Name)
	}
	return checkRole(p)
}

func checkRole(p remote.Peer) error {
	isClass := p.May.Approvals == "" || slices.Contains(policy.Classes, p.May.Approvals)
	isOdd := func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }
	switch p.Role {
	case remote.RoleMachine, remote.RoleDesk:
		if p.May != (remote.May{}) {
			return fmt.Errorf("a %s may do what a %s does: want no limits for it", p.Role, p.Role)
		}
		return p.Key.Check()
	case remote.RoleDevice:
		k := p.Key
		if k.Sign == "" || len(k.Sign) > 200 || strings.ContainsFunc(k.Sign, isOdd) || !isClass {
			return errors.New("the key or the limits of this device are invalid")
		}
		return nil
	}
	return fmt.Errorf("unknown role %q", p.Role)
}

// Peers lists the paired peers, by role, then by name.
func (b *Book) Peers() []remote.Peer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return sorted(b.content.Peers)
}

func sorted(peers []remote.Peer) []remote.Peer {
	return slices.SortedFunc(slices.Values(peers), func(x, y remote.Peer) int {
		return cmp.Or(cmp.Compare(x.Role, y.Role), cmp.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name)))
	})
}

// Find returns the peer with this key. The whole key must match.
func (b *Book) Find(key remote.Key) (remote.Peer, bool) {
	return b.find(func(p remote.Peer) bool { return p.Key == key })
}

// Named returns the peer with this name.
func (b *Book) Named(name string) (remote.Peer, bool) {
	return b.find(func(p remote.Peer) bool { return p.Name == name })
}

func (b *Book) find(is func(remote.Peer) bool) (remote.Peer, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.content.Peers, is)
	if i < 0 {
		return remote.Peer{}, false
	}
	return b.content.Peers[i], true
}

// Problem returns why no peer counts, and the list as another program changed it. The error is nil while the peers
// count.
func (b *Book) Problem() (held []remote.Peer, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return sorted(b.held), b.err
}

// Settle ends the time in which no peer counts: it accepts the list as another program changed it, which must be the
// one that the user has seen, or starts over with no peers.
func (b *Book) Settle(seen []remote.Peer, accept bool) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	held, err := b.Problem()
	if err == nil {
		return errors.New("the list of pairings is unchanged: there is nothing to accept")
	}
	next := content{}
	if accept {
		if len(held) == 0 {
			return errors.New("nod can't read the list of pairings: start over")
		}
		if !reflect.DeepEqual(sameTimes(seen), sameTimes(held)) {
			return errors.New("the list has changed: look again")
		}
		next.Peers = held
	}
	if err := b.save(next); err != nil {
		return err
	}
	b.put(next)
	return nil
}

// sameTimes makes times comparable: in UTC, and without monotonic clock readings.
func sameTimes(peers []remote.Peer) []remote.Peer {
	peers = sorted(peers)
	for i := range peers {
		peers[i].Added, peers[i].Seen = peers[i].Added.Round(0).UTC(), peers[i].Seen.Round(0).UTC()
	}
	return peers
}

// Add pairs a peer. It fails if another peer has its name or key.
func (b *Book) Add(p remote.Peer) error {
	return b.change(func(c *content) error {
		if err := check(p, c.Peers); err != nil {
			return err
		}
		if len(c.Peers) >= maxPeers {
			return fmt.Errorf("%d are already paired: revoke some", len(c.Peers))
		}
		c.Peers = append(c.Peers, p)
		return nil
	})
}

// SetMay changes what a device may do.
func (b *Book) SetMay(name string, may remote.May) error {
	return b.change(func(c *content) error {
		i := slices.IndexFunc(c.Peers, func(p remote.Peer) bool { return p.Name == name })
		if i < 0 {
			return fmt.Errorf("%q: %w", name, ErrUnknown)
		}
		c.Peers[i].May = may
		return checkRole(c.Peers[i])
	})
}

func (b *Book) change(do func(*content) error) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	next, err := b.current()
	if err != nil {
		return err
	}
	if err := do(&next); err != nil {
		return err
	}
	if err := b.save(next); err != nil {
		return err
	}
	b.put(next)
	return nil
}

// current returns a copy of the list. The error says why no peer counts.
func (b *Book) current() (content, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.content
	c.Peers = slices.Clone(c.Peers)
	return c, b.err
}

// Remove revokes a peer, which no longer counts even if the file cannot be written.
func (b *Book) Remove(name string) (remote.Peer, error) {
	b.writing.Lock()
	defer b.writing.Unlock()
	next, err := b.current()
	if err != nil {
		return remote.Peer{}, err
	}
	i := slices.IndexFunc(next.Peers, func(p remote.Peer) bool { return p.Name == name })
	if i < 0 {
		return remote.Peer{}, fmt.Errorf("revoke %q: %w", name, ErrUnknown)
	}
	gone := next.Peers[i]
	next.Peers = slices.Delete(next.Peers, i, i+1)
	b.put(next)
	if err := b.save(next); err != nil {
		return gone, fmt.Errorf("revoked until nod ends, because that could not be saved: %w", err)
	}
	return gone, nil
}

// Seen records that a peer is connected and, if it is a machine, the desks whose answers it accepts. It fails if it
// cannot write that.
func (b *Book) Seen(key remote.Key, at time.Time, desks []remote.Key) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	next, err := b.current()
	i := slices.IndexFunc(next.Peers, func(p remote.Peer) bool { return p.Key == key })
	if err != nil || i < 0 {
		return err
	}
	was := next.Peers[i]
	next.Peers[i].Seen, next.Peers[i].Desks = at, desks
	b.put(next)
	if at.Sub(b.saved[key]) < seenPace && slices.Equal(was.Desks, desks) {
		return nil
	}
	b.saved[key] = at
	return b.save(next)
}

// Serial returns the serial of the policy with this digest: the one that machines got last, or a higher one. It rises
// even if the file was lost, as long as the clock does not go back.
func (b *Book) Serial(digest string, now time.Time) (uint64, error) {
	if c, err := b.current(); err != nil || c.Digest == digest && c.Policy > 0 {
		return c.Policy, err
	}
	var serial uint64
	err := b.change(func(c *content) error {
		c.Policy, c.Digest = max(c.Policy+1, uint64(max(now.UnixMilli(), 0))), digest
		serial = c.Policy
		return nil
	})
	return serial, err
}

// Changes returns a channel that gets a signal after every change of the peers and what they may do, and a function
// that ends the subscription. Signals that were not received yet are merged.
func (b *Book) Changes() (<-chan struct{}, func()) { return b.changed.Subscribe() }

func (b *Book) put(next content) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.content, b.err, b.held = next, nil, nil
	b.changed.Send()
}

// save writes a list. The caller holds b.writing.
func (b *Book) save(c content) error {
	if c.Peers == nil {
		c.Peers = []remote.Peer{}
	}
	text, err := json.Marshal(c)
	var data []byte
	if err == nil {
		data, err = json.MarshalIndent(bookFile{bookVersion, text, b.sum(text)}, "", "  ")
	}
	if err == nil {
		err = ownfile.Write(b.path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the list of pairings: %w", err)
	}
	return nil
}

func (b *Book) sum(list []byte) []byte { return ownfile.Sum(b.key, macContext, list) }
