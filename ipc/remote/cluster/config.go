// Package cluster carries sessions between desks and relays over a NATS server or cluster. It uses only subjects and
// stores nothing there, so one user of the cluster can fill, change or delete nothing of another.
//
// Every message goes to the subject PREFIX.TO.FROM.ID, where TO and FROM are the public keys of the two ends and ID
// names their connection. So one rule says what a user of the cluster may do: publish what comes FROM it, and read what
// is sent TO it. A relay opens a connection with each of its desks and keeps trying as long as it runs; the cluster
// reports immediately if no one listens. A desk that comes up tells the machines that are paired with it.
//
// A connection carries bytes in numbered messages, and at most [window] of them that the other end has not read. It is
// not repaired: if a message is missing, or either end loses the cluster or falls behind, it ends, and the relay opens
// another one. TLS proves who is at the other end, and that nothing was read or changed on the way: see package
// session.
package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Config says where machines and desks meet.
type Config struct {
	URL         string // such as tls://nats.example.com; several with commas
	Credentials string // path of a .creds file; empty: none
	CA          string // path of certificates to trust in place of the system's; empty: none
	Prefix      string // of the subjects; empty: nod
}

// errConfig says that the configuration can never work.
var errConfig = errors.New("NATS")

func (c Config) check() error {
	for part := range strings.SplitSeq(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(part))
		if err != nil {
			return fmt.Errorf("%w: url: not an address: use one such as tls://nats.example.com", errConfig)
		}
		switch u.Scheme {
		case "tls", "nats", "ws", "wss":
		default:
			return fmt.Errorf("%w: url %q: use one such as tls://nats.example.com", errConfig, plain(u))
		}
	}
	isName := func(r rune) bool {
		return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if strings.ContainsFunc(c.prefix(), func(r rune) bool { return !isName(r) }) {
		return fmt.Errorf("%w: prefix %q: want letters, digits, - and _ only", errConfig, c.Prefix)
	}
	return nil
}

// plain returns an address without its user part, which may be a token.
func plain(u *url.URL) string {
	c := *u
	c.User = nil
	return c.String()
}

// where returns the address without passwords and tokens, for messages.
func (c Config) where() string {
	var all []string
	for part := range strings.SplitSeq(c.URL, ",") {
		if u, err := url.Parse(strings.TrimSpace(part)); err == nil {
			all = append(all, plain(u))
		}
	}
	return strings.Join(all, ", ")
}

func (c Config) prefix() string { return cmp.Or(c.Prefix, "nod") }
