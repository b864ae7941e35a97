package relay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"nod/ipc/remote"
	"nod/ownfile"
)

// knownDesk is a desk that the relay goes by.
type knownDesk struct {
	Key    remote.Key     `json:"key"`
	Policy *remote.Policy `json:"policy,omitempty"` // that it gave last
}

// desks are those that the relay goes by, with their policies. They are kept in a file that the relay seals for itself:
// what another program writes there is no desk. It is safe for concurrent use.
type desks struct {
	path     string
	identity *remote.Identity

	mu    sync.Mutex // guards known, and is held while the file is written
	known []knownDesk
}

const (
	kindDesks    = remote.Kind("known desks")
	maxDesksFile = 16 << 20 // bytes
	maxDesks     = 64
)

// openDesks reads the file, if there is one.
func openDesks(path string, identity *remote.Identity) (*desks, error) {
	d := &desks{path: path, identity: identity}
	text, err := ownfile.ReadSecret(path, maxDesksFile)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	var e remote.Envelope
	if err == nil {
		e, err = identity.Open(text, identity.Key())
	}
	if err == nil && e.Kind != kindDesks {
		err = remote.ErrForged
	}
	if err == nil {
		err = e.Decode(&d.known)
	}
	if err != nil {
		return nil, fmt.Errorf("read the desks that this relay knows: %w: to begin anew, run: nod relay --forget-desks", err)
	}
	return d, nil
}

// ForgetDesks has the relay begin anew: the next one goes by no desk and no policy. It fails while one runs.
func ForgetDesks(ctx context.Context) error {
	p, err := locate()
	if err != nil {
		return err
	}
	lock, err := claim(ctx, p)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := os.Remove(p.desks); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the desks: %w", err)
	}
	return nil
}

// keys lists their keys.
func (d *desks) keys() []remote.Key {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := make([]remote.Key, len(d.known))
	for i, k := range d.known {
		keys[i] = k.Key
	}
	return keys
}

// policies lists what they gave.
func (d *desks) policies() (given []remote.Policy) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range d.known {
		if k.Policy != nil {
			given = append(given, *k.Policy)
		}
	}
	return given
}

// serial is that of the policy in force that was given longest ago; 0 while a desk has given none.
func (d *desks) serial() (least uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, k := range d.known {
		switch {
		case k.Policy == nil:
			return 0
		case i == 0 || k.Policy.Serial < least:
			least = k.Policy.Serial
		}
	}
	return least
}

// serialOf is that of the policy that a desk gave last; 0: none.
func (d *desks) serialOf(key remote.Key) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := d.index(key); i >= 0 && d.known[i].Policy != nil {
		return d.known[i].Policy.Serial
	}
	return 0
}

// add has the relay go by a desk that its person named.
func (d *desks) add(key remote.Key) error {
	if err := key.Check(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.index(key) >= 0 {
		return nil
	}
	if len(d.known) == maxDesks {
		return fmt.Errorf("a relay goes by %d desks at most", maxDesks)
	}
	return d.save(append(slices.Clone(d.known), knownDesk{Key: key}))
}

// meet takes in the first desk that comes, and reports whether it was that.
func (d *desks) meet(key remote.Key) (first bool, err error) {
	if err := key.Check(); err != nil {
		return false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.index(key) >= 0:
		return false, nil
	case len(d.known) > 0:
		return false, fmt.Errorf("%w: this relay goes by the desk %q: name yours with nod relay --desk, or run there: "+
			"nod relay --forget-desks", remote.ErrNotPaired, d.known[0].Key.Fingerprint())
	}
	return true, d.save([]knownDesk{{Key: key}})
}

// give takes in a desk's policy, unless that desk has given one as new. It reports whether anything is new: that counts
// also when it cannot be kept, for it may be stricter.
func (d *desks) give(key remote.Key, p remote.Policy) (isNew bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.index(key)
	if i < 0 {
		return false, remote.ErrNotPaired
	}
	if now := d.known[i].Policy; now != nil && p.Serial <= now.Serial {
		if p.Serial < now.Serial {
			return false, fmt.Errorf("policy %d is older than %d, which this relay applies", p.Serial, now.Serial)
		}
		return false, nil
	}
	next := slices.Clone(d.known)
	next[i].Policy = &p
	err = d.save(next)
	d.known = next
	return true, err
}

func (d *desks) index(key remote.Key) int {
	return slices.IndexFunc(d.known, func(k knownDesk) bool { return k.Key == key })
}

// save writes the file, and then goes by it. The caller holds d.mu.
func (d *desks) save(next []knownDesk) error {
	text, err := d.identity.Seal(d.identity.Key(), kindDesks, next)
	if err == nil {
		err = ownfile.Write(d.path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the desks that this relay knows: %w", err)
	}
	d.known = next
	return nil
}
