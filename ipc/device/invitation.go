package device

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"sync"
	"time"

	"nod/ipc/remote"
)

const (
	// invitedFor is how long an invitation is valid.
	invitedFor = 5 * time.Minute
	// secretSize rules out guessing: wrong secrets are refused, but not counted.
	secretSize = 32
)

// invitations holds the one valid invitation, and the device that asks to be paired with it.
type invitations struct {
	mu     sync.Mutex
	digest [sha256.Size]byte // of the secret
	peer   remote.Peer       // name and rights; the key is empty until a device asks
	asked  time.Time         // when
	until  time.Time         // zero: there is no invitation
	over   chan struct{}     // closed when the user has decided, or the invitation ended
}

func (i *invitations) invite(name string, may remote.May) (secret string, until time.Time) {
	raw := make([]byte, secretSize)
	_, _ = rand.Read(raw) // never fails
	secret = encoding.EncodeToString(raw)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.end()
	i.digest, i.over = sha256.Sum256([]byte(secret)), make(chan struct{})
	i.peer, i.until = remote.Peer{Name: name, Role: remote.RoleDevice, May: may}, time.Now().Add(invitedFor)
	return secret, i.until
}

// Withdraw ends the current invitation, and rejects the device that asks with it.
func (i *invitations) Withdraw() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.end()
}

// end ends the invitation. The caller holds i.mu.
func (i *invitations) end() {
	if i.over != nil {
		close(i.over)
	}
	i.peer, i.until, i.over = remote.Peer{}, time.Time{}, nil
}

// counts reports whether the invitation is valid. The caller holds i.mu.
func (i *invitations) counts() bool { return i.over != nil && !isPast(i.until) }

// ask registers the device with this key if it has the secret, no other device asks, and the request is fresh, which is
// checked last. It returns a channel that is closed after the decision, and whether the device is new.
func (i *invitations) ask(secret, key string, isFresh func() bool) (over <-chan struct{}, isNew bool, err error) {
	digest := sha256.Sum256([]byte(secret))
	i.mu.Lock()
	defer i.mu.Unlock()
	isRight := subtle.ConstantTimeCompare(digest[:], i.digest[:]) == 1
	switch isNew = i.peer.Key.Sign == ""; {
	case !isRight || !i.counts() || !isNew && i.peer.Key.Sign != key:
		return nil, false, errUninvited
	case !isFresh():
		return nil, false, errStale
	case isNew:
		i.peer.Key.Sign, i.asked = key, time.Now()
	}
	return i.over, isNew, nil
}

// Asking returns the device that asks to be paired, and since when. Name and rights are those of the invitation.
func (i *invitations) Asking() (peer remote.Peer, asked time.Time, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.peer, i.asked, i.counts() && i.peer.Key.Sign != ""
}

// Admit calls pair for the device that asks to be paired, if it has this key, and ends the invitation.
func (i *invitations) Admit(key string, pair func(remote.Peer) error) error {
	peer, _, ok := i.Asking()
	if !ok || peer.Key.Sign != key {
		return errors.New("this device no longer asks to pair: show it another code")
	}
	peer.Added = time.Now()
	if err := pair(peer); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.peer.Key.Sign == key {
		i.end()
	}
	return nil
}

// isPast reports whether t is past. It also compares wall clocks, because the monotonic clock stops while the computer
// sleeps.
func isPast(t time.Time) bool {
	now := time.Now()
	return !now.Before(t) || !now.Round(0).Before(t.Round(0))
}
