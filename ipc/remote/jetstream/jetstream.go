// Package jetstream has both ends of what connects desks with their machines over NATS: [Link] is a relay's, [Line] a
// desk's. The cluster keeps what must outlast either: requests in a stream, outcomes and policies in two buckets. Who
// is there is only said, not kept.
//
// Nothing that comes from the cluster is believed for where it lies. A request counts when the machine has signed it in
// whose subject it is. An outcome counts when it names that very request and a desk has signed it that the machine had
// asked, or the machine itself; the first such one counts for good, and what else stands in its place is replaced.
//
// No clock is compared with one at the other end. How long a request lay in the stream is counted by the cluster's
// clock alone, and whether somebody is there by a word that only the other end has just said. Only a request that is
// signed more than 26 hours ago, or as far in the future, is refused: outcomes are kept for longer than that, so
// whoever sends an old request once more finds it ended.
package jetstream

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"nod/interact"
	"nod/ipc/remote"
)

// Config says where machines and desks meet.
type Config struct {
	URL         string // such as tls://nats.example.com; several with commas
	Credentials string // path of a .creds file; empty: none
	CA          string // path of certificates to trust in place of the system's; empty: none
	Prefix      string // of the names of streams, buckets and subjects; empty: nod
}

// Limits of what the cluster keeps.
const (
	maxWaiting  = 128                  // requests of one machine that wait for one desk
	maxRequests = 1 << 20              // … of all machines
	maxBytes    = 1 << 30              // … and how large they are together
	maxAge      = 24 * time.Hour       // of a request, the longest that an agent waits
	maxSkew     = maxAge + 2*time.Hour // … between when it was signed and now, whichever clock is wrong
	keepOutcome = 48 * time.Hour       // longer than any request counts as new
	duplicates  = 10 * time.Minute     // how long the cluster knows a request that was sent twice
	maxDesks    = 64                   // that a machine may ask
	maxOwed     = 4096                 // ends that a relay keeps while it cannot tell them
)

// How often the ends look whether all is well.
const (
	beat      = 20 * time.Second // between two greetings
	away      = 65 * time.Second // without a greeting: nobody is there
	lookAgain = 30 * time.Second // for what a lost message would have told
	patience  = 5 * time.Second  // with one call
	finalTime = 2 * time.Second  // with the last word on a request
)

// errConfig says that the configuration can never work.
var errConfig = errors.New("remote.nats")

func (c Config) check() error {
	for part := range strings.SplitSeq(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(part))
		if err != nil {
			return fmt.Errorf("%w: url: not an address: want one such as tls://nats.example.com", errConfig)
		}
		switch u.Scheme {
		case "tls", "nats", "ws", "wss":
		default:
			return fmt.Errorf("%w: url %q: want one such as tls://nats.example.com", errConfig, plain(u))
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

// plain is an address without who logs in there: a token stands where others have a name.
func plain(u *url.URL) string {
	c := *u
	c.User = nil
	return c.String()
}

// where is the address without passwords and tokens, as messages name it.
func (c Config) where() string {
	var all []string
	for part := range strings.SplitSeq(c.URL, ",") {
		if u, err := url.Parse(strings.TrimSpace(part)); err == nil {
			all = append(all, plain(u))
		}
	}
	return strings.Join(all, ", ")
}

func (c Config) prefix() string   { return cmp.Or(c.Prefix, "nod") }
func (c Config) requests() string { return c.prefix() + "_requests" }
func (c Config) outcomes() string { return c.prefix() + "_outcomes" }
func (c Config) policies() string { return c.prefix() + "_policies" }

// The subjects. Each begins with what is said, then to whom, then by whom, so that a broker can be told who may say
// what to whom.
const (
	sayRequest = "request" // in the stream: a machine to a desk
	sayAsked   = "asked"   // by the stream: it has taken in a request
	sayHello   = "hello"   // a machine to a desk that answers with a receipt
	sayRecords = "records" // the same
	sayForget  = "forget"  // a desk to a machine that answers with a receipt
	sayUp      = "up"      // a desk to all that listen: it is back
	sayOutcome = "outcome" // by the bucket of outcomes, of a machine and a request
	sayPolicy  = "policy"  // by the bucket of policies, to a machine by a desk
	sayInbox   = "inbox"   // to whoever asked
)

func (c Config) subject(what string, rest ...string) string {
	return c.prefix() + "." + what + "." + strings.Join(rest, ".")
}

// last are the last two words of a subject.
func last(subject string) (first, second string) {
	words := strings.Split(subject, ".")
	if len(words) < 2 {
		return "", ""
	}
	return words[len(words)-2], words[len(words)-1]
}

// Kinds of message that only these two ends know.
const (
	kindGreeting remote.Kind = "nats greeting" // [greeting], of a machine
	kindReceipt  remote.Kind = "nats receipt"  // [receipt], of who was asked
)

// greeting says that a machine is there. Word is what the desk said last: whoever sends an old greeting again does not
// know it.
type greeting struct {
	Hello remote.Hello `json:"hello"`
	Nonce string       `json:"nonce"`
	Word  string       `json:"word,omitempty"`
	Bye   bool         `json:"bye,omitempty"` // it goes
}

// receipt answers one message, which its nonce names.
type receipt struct {
	Nonce string    `json:"nonce"`
	Clock time.Time `json:"clock"`
	// Word is what the next greeting must have. With Fresh, this one had the right one.
	Word   string `json:"word,omitempty"`
	Fresh  bool   `json:"fresh,omitempty"`
	Paired bool   `json:"paired,omitempty"`
	Error  string `json:"error,omitempty"` // why it was not done
}

// asked is a request as it lies in the stream, with what a desk must know to answer it.
type asked struct {
	remote.Request
	Hello remote.Hello `json:"hello"`
	Desks []remote.Key `json:"desks"` // all that are asked: they read each other's answers
}

// told is a list of records, or the wish to forget, with the nonce that the receipt has.
type told struct {
	Nonce   string            `json:"nonce"`
	Records []interact.Record `json:"records,omitempty"`
}
