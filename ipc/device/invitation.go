package device

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"

	"nod/ipc/remote"
)

const (
	// InvitedFor is how long an invitation counts.
	InvitedFor = 5 * time.Minute
	maxGuesses = 10 // wrong secrets that end an invitation
	secretSize = 32
)

// invitations keeps the one invitation that counts.
type invitations struct {
	mu      sync.Mutex
	digest  [sha256.Size]byte // of the secret
	peer    remote.Peer       // name and rights
	until   time.Time         // zero: there is none
	guesses int
}

// invite makes an invitation in place of any other, and returns its secret.
func (i *invitations) invite(name string, may remote.May) (secret string, until time.Time) {
	raw := make([]byte, secretSize)
	_, _ = rand.Read(raw) // it never fails
	secret = encoding.EncodeToString(raw)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.digest, i.guesses = sha256.Sum256([]byte(secret)), 0
	i.peer, i.until = remote.Peer{Name: name, Role: remote.RoleDevice, May: may}, time.Now().Add(InvitedFor)
	return secret, i.until
}

// withdraw has no invitation count any more.
func (i *invitations) withdraw() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.until = time.Time{}
}

// take reports whether the secret is that of an invitation that counts, which it does no more then.
func (i *invitations) take(secret string) (remote.Peer, bool) {
	digest := sha256.Sum256([]byte(secret))
	i.mu.Lock()
	defer i.mu.Unlock()
	isRight := subtle.ConstantTimeCompare(digest[:], i.digest[:]) == 1
	if i.until.IsZero() || isPast(i.until) {
		return remote.Peer{}, false
	}
	if i.guesses++; isRight || i.guesses >= maxGuesses {
		i.until = time.Time{}
	}
	return i.peer, isRight
}

// isPast goes by the wall clock, too: the other one stands still while the computer sleeps.
func isPast(t time.Time) bool {
	now := time.Now()
	return !now.Before(t) || !now.Round(0).Before(t.Round(0))
}
