package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"nod/ipc/remote"
	"nod/ownfile"
)

type knownDesk struct {
	Key    remote.Key     `json:"key"`
	Policy *remote.Policy `json:"policy,omitempty"` // that it sent last
}

// desks are the desks that the relay obeys, with their policies. They are kept in a file that the relay signs, so that
// no other program can add a desk. It is safe for concurrent use.
type desks struct {
	path     string
	identity *remote.Identity

	known atomic.Pointer[[]knownDesk] // replaced as a whole, so that no request waits while the file is written

	mu    sync.Mutex   // held while known is replaced and the file written; guards wants
	wants []remote.Key // desks that are not known yet, for which a known one has to vouch; the oldest first
}

type desksFile struct {
	Version   int    `json:"version"`
	Desks     []byte `json:"desks"` // JSON: a list of knownDesk
	Signature []byte `json:"signature"`
}

const (
	desksVersion = 2
	desksPurpose = "nod relay desks 2"
	maxDesksFile = 16 << 20 // bytes
	maxDesks     = 64
	maxWants     = 8
)

// openDesks reads the file, if there is one.
func openDesks(path string, identity *remote.Identity) (*desks, error) {
	d := &desks{path: path, identity: identity}
	d.known.Store(&[]knownDesk{})
	text, err := ownfile.ReadSecret(path, maxDesksFile)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		err = d.read(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of desks: %w: to start over, run: nod relay --forget-desks", err)
	}
	return d, nil
}

func (d *desks) read(text []byte) error {
	var file desksFile
	if err := json.Unmarshal(text, &file); err != nil {
		return err
	}
	switch {
	case file.Version != desksVersion:
		return errors.New("an earlier nod wrote them")
	case !d.identity.Verify(desksPurpose, file.Desks, file.Signature):
		return errors.New("another program wrote them")
	}
	var known []knownDesk
	err := json.Unmarshal(file.Desks, &known)
	d.known.Store(&known)
	return err
}

// list returns the known desks, which are shared: do not change them.
func (d *desks) list() []knownDesk { return *d.known.Load() }

// ForgetDesks makes the next relay start without desks and policies. It fails while a relay runs.
func ForgetDesks(ctx context.Context) error {
	p, err := locate()
	if err != nil {
		return err
	}
	lock, err := claim(ctx, p)
	if err != nil {
		return err
	}
	defer lock.release()
	if err := ownfile.Remove(p.desks); err != nil {
		return fmt.Errorf("forget the desks: %w", err)
	}
	return nil
}

func (d *desks) keys() []remote.Key {
	known := d.list()
	keys := make([]remote.Key, len(known))
	for i, k := range known {
		keys[i] = k.Key
	}
	return keys
}

func (d *desks) policies() (all []remote.Policy) {
	for _, k := range d.list() {
		if k.Policy != nil {
			all = append(all, *k.Policy)
		}
	}
	return all
}

// serial returns the lowest serial of the policies in force, or 0 while a desk has sent none.
func (d *desks) serial() (least uint64) {
	for i, k := range d.list() {
		switch {
		case k.Policy == nil:
			return 0
		case i == 0 || k.Policy.Serial < least:
			least = k.Policy.Serial
		}
	}
	return least
}

// serialOf returns the serial of the policy that a desk sent last, or 0 if it sent none.
func (d *desks) serialOf(key remote.Key) uint64 {
	known := d.list()
	if i := index(known, key); i >= 0 && known[i].Policy != nil {
		return known[i].Policy.Serial
	}
	return 0
}

// begin notes the desks that the relay was started with. If it knows no desk yet, they count from now on. Otherwise a
// new desk counts once a known one has vouched for it, because the user who starts a relay may not be the one who
// paired it.
func (d *desks) begin(keys []remote.Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	isFirst := len(d.list()) == 0
	for _, key := range keys {
		if err := key.Check(); err != nil {
			return err
		}
		if !isFirst {
			d.want(key)
		} else if err := d.add(key); err != nil {
			return err
		}
	}
	return nil
}

// add makes the relay obey a desk. The caller holds d.mu.
func (d *desks) add(key remote.Key) error {
	known := d.list()
	if index(known, key) >= 0 {
		return nil
	}
	if len(known) == maxDesks {
		return fmt.Errorf("a relay takes answers from at most %d desks", maxDesks)
	}
	d.wants = slices.DeleteFunc(d.wants, func(k remote.Key) bool { return k == key })
	return d.save(append(slices.Clone(known), knownDesk{Key: key}))
}

// want notes a desk that another one has to vouch for. The caller holds d.mu.
func (d *desks) want(key remote.Key) {
	if index(d.list(), key) < 0 && !slices.Contains(d.wants, key) {
		d.wants = append(d.wants, key)
		d.wants = d.wants[max(0, len(d.wants)-maxWants):]
	}
}

// wanted lists the desks that a known desk has to vouch for.
func (d *desks) wanted() []remote.Key {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.wants)
}

// admit checks that a connecting desk is known. The first desk ever is admitted, which admit reports. Later ones wait
// until a known desk vouches for them.
func (d *desks) admit(key remote.Key) (first bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch known := d.list(); {
	case index(known, key) >= 0:
		return false, nil
	case len(known) > 0:
		d.want(key)
		return false, fmt.Errorf("%w: this relay belongs to the desk %q, which must pair this one first; to start over, "+
			"run: nod stop, then nod relay --forget-desks", remote.ErrNotPaired, known[0].Key.Fingerprint())
	}
	return true, d.add(key)
}

// vouch admits and returns the desks that have asked for it and that the user of a known desk has paired.
func (d *desks) vouch(by remote.Key, others []remote.Key) (taken []remote.Key, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if index(d.list(), by) < 0 {
		return nil, remote.ErrNotPaired
	}
	for _, key := range slices.Clone(d.wants) {
		if !slices.Contains(others, key) {
			continue
		}
		if err := d.add(key); err != nil {
			return taken, err
		}
		taken = append(taken, key)
	}
	return taken, nil
}

// setPolicy sets a desk's policy, unless the desk has already sent one that is as new. It reports whether the policy is
// new. A new policy counts even if it cannot be saved, because it may be stricter.
func (d *desks) setPolicy(key remote.Key, p remote.Policy) (isNew bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := slices.Clone(d.list())
	i := index(next, key)
	if i < 0 {
		return false, remote.ErrNotPaired
	}
	if now := next[i].Policy; now != nil && p.Serial <= now.Serial {
		if p.Serial < now.Serial {
			return false, fmt.Errorf("policy %d is older than policy %d, which this relay applies", p.Serial, now.Serial)
		}
		return false, nil
	}
	next[i].Policy = &p
	err = d.save(next)
	d.known.Store(&next)
	return true, err
}

func index(known []knownDesk, key remote.Key) int {
	return slices.IndexFunc(known, func(k knownDesk) bool { return k.Key == key })
}

// save writes the list to the file, and then applies it. The caller holds d.mu.
func (d *desks) save(next []knownDesk) error {
	list, err := json.Marshal(next)
	var text []byte
	if err == nil {
		text, err = json.Marshal(desksFile{desksVersion, list, d.identity.Sign(desksPurpose, list)})
	}
	if err == nil && len(text) > maxDesksFile { // the next relay would not read it
		err = errors.New("their policies are too large")
	}
	if err == nil {
		err = ownfile.Write(d.path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("save the list of desks: %w", err)
	}
	d.known.Store(&next)
	return nil
}
