// Package store decides calls by the configuration file and the grants together. It is apart from both, so that
// neither need know the other, and apart from the program, because the command line and the settings decide by them,
// too.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adrg/xdg"

	"nod/policy"
	"nod/policy/config"
	"nod/policy/grants"
)

// A Store is a configuration file and a book of grants, and decides by them. It is safe for concurrent use.
//
// While the file is broken nothing is allowed: what the last good file denied, or the one that was accepted last, stays
// denied, and everything else is asked about. [Store.Err] says what is wrong.
type Store struct {
	*config.File
	*grants.Book
	grantsPath string
	places     policy.Places
	log        *slog.Logger
	sealKey    []byte

	current atomic.Pointer[snapshot] // what Decide reads, published whole

	mu          sync.Mutex // held while a snapshot is made; guards subscribers
	subscribers map[chan struct{}]struct{}
}

// A snapshot is what calls are decided by.
type snapshot struct {
	rules    *policy.Compiled // of the file, with the grants; what is left of it while the file is broken
	good     *policy.Compiled // of the last good file, with the grants
	accepted *policy.Compiled // what was accepted, with the grants, while something else is in the file
	because  string           // why that counts
}

// Open reads the configuration at path and the grants at grantsPath. Neither need exist, and what is wrong with them
// is not an error here: the store opens, allows nothing, and says why in Err. Log may be nil.
func Open(path, grantsPath string, log *slog.Logger) (*Store, error) {
	if !filepath.IsAbs(path) || !filepath.IsAbs(grantsPath) {
		return nil, fmt.Errorf("open policy: %q and %q: want absolute paths", path, grantsPath)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		grantsPath: grantsPath, places: places(path, grantsPath), log: log,
		subscribers: map[chan struct{}]struct{}{},
	}
	s.Book = grants.Open(grantsPath, s.publish)
	if err := s.GrantsErr(); err != nil {
		log.Error("grants are broken: none is in force", "err", err)
	}
	var err error
	if s.File, err = config.Open(path, s.places, log, s.publish); err != nil {
		return nil, err
	}
	s.publish()
	return s, nil
}

// places are those of the user, and where the store's files are.
func places(files ...string) policy.Places {
	p := policy.DefaultPlaces()
	for _, own := range files {
		if filepath.Base(filepath.Dir(own)) == "nod" { // a folder of nod's own, not just any
			own = filepath.Dir(own)
		}
		p.Own = append(p.Own, own)
	}
	return p
}

// Decide says what the policy makes of a call. It changes nothing: see [Store.Used].
func (s *Store) Decide(c policy.Call) policy.Decision { return s.current.Load().decide(c, time.Now()) }

// Timeout is how long a request without a time-out of its own waits, as configured.
func (s *Store) Timeout() time.Duration { return s.State().Config.Prompt.Timeout }

// Used counts the use of the grant by which a call was allowed, if it was one.
func (s *Store) Used(d policy.Decision) {
	if d.Grant {
		s.Use(d.Rule)
	}
}

// Why what was accepted counts, and not what is in the file.
const (
	reasonHeld    = "the policy file was changed by another program, and you have not accepted that yet; before, "
	reasonUnknown = "there is no telling which policy you accepted, because nod's own files were changed or removed: "
	reasonBroken  = "the policy file has an error; in what you accepted last, "
)

// decide is what the rules make of a call, and while something else was accepted, what is stricter of both.
func (s *snapshot) decide(c policy.Call, now time.Time) policy.Decision {
	d := policy.Decide(c, s.rules, now)
	if s.accepted == nil {
		return d
	}
	was := policy.Decide(c, s.accepted, now)
	if !was.Effect.IsStricter(d.Effect) {
		return d
	}
	was.Reason = s.because + was.Reason
	return was
}

// Explain says what the policy makes of a call, and every step that led there. No grant is used by it.
func (s *Store) Explain(c policy.Call) (policy.Decision, []string) {
	now, state := time.Now(), s.current.Load()
	d, steps := policy.Explain(c, state.rules, now)
	if final := state.decide(c, now); final != d {
		d = final
		steps = append(steps, fmt.Sprintf("but the decision is %s: %s", d.Effect, d.Reason))
	}
	return d, steps
}

// Offers works out all that a prompt may say and offer about a call. What is offered is what [Store.Grant] would keep.
func (s *Store) Offers(c policy.Call) policy.Offers {
	now := s.current.Load()
	return policy.NewOffers(c, now.rules, now.good, time.Now())
}

// Grant keeps an allow wider than once. It returns an error for what can only be allowed once.
func (s *Store) Grant(c policy.Call, scope policy.Scope, cover policy.Cover) error {
	list, err := policy.NewGrants(c, scope, cover, s.current.Load().good, time.Now())
	if err != nil {
		return err
	}
	if err := s.Keep(list); err != nil {
		return err
	}
	for _, g := range list {
		s.log.Info("grant kept", "id", g.ID, "scope", g.Scope, "input_sha256", g.InputSHA256,
			"command", g.Command, "edits", g.Edits)
	}
	return nil
}

// Suggest proposes rules that would have spared the person questions they always answered alike. See
// [policy.Simulation.Suggest].
// It may take a second, and keeps nobody waiting meanwhile.
func (s *Store) Suggest(ctx context.Context, past []policy.Past) ([]policy.Suggestion, error) {
	sim, err := policy.NewSimulation(s.Config().Policy, s.places)
	if err != nil {
		return nil, fmt.Errorf("suggest rules: %w", err)
	}
	return sim.Suggest(ctx, past, time.Now())
}

// Simulate returns a simulation by the store's configuration, without the grants that there are.
func (s *Store) Simulate() (*policy.Simulation, error) {
	if err := s.State().Err; err != nil {
		return nil, err
	}
	return policy.NewSimulation(s.Config().Policy, s.places)
}

// Err says why the configuration or the grants are broken; nil while both are good.
func (s *Store) Err() error { return errors.Join(s.State().Err, s.GrantsErr()) }

// Changes returns a channel that gets a signal after every change of configuration, grants or health, and
// a function that ends the subscription. Signals that nobody has received yet are one signal.
func (s *Store) Changes() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers[c] = struct{}{}
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subscribers, c)
	}
}

// publish puts in force what follows from the file and the grants as they are now.
func (s *Store) publish() {
	if s.File == nil || s.Book == nil { // while it is opened
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state, kept := s.State(), s.Grants()
	next := &snapshot{good: state.Policy.WithGrants(kept)}
	next.rules = next.good
	if state.Accepted != nil {
		next.accepted, next.because = state.Accepted.WithGrants(kept), reasonHeld
	}
	switch {
	case state.Err != nil:
		next.rules, next.because = state.Policy.Broken(), reasonBroken
	case state.Held != nil && state.Held.IsUnknown:
		next.because = reasonUnknown
	}
	s.current.Store(next)
	for c := range s.subscribers {
		select {
		case c <- struct{}{}:
		default: // a signal is waiting already
		}
	}
}

// Seal makes the store hold back whatever other programs write into its files. What a store without a seal writes
// counts as another program's. The error says why the seal cannot be saved: it is good all the same, until nod ends.
func (s *Store) Seal() error {
	seal, err := config.OpenSeal(filepath.Dir(s.grantsPath), markerPath(s.grantsPath), s.IsSigned())
	if signErr := s.Sign(seal.Key(), seal.IsNew()); err == nil {
		err = signErr
	}
	s.SetSeal(seal)
	s.sealKey = seal.Key()
	return err
}

// SealKey signs whatever else nothing but nod may change, as [config.Seal.Key] says. It is nil before [Store.Seal].
func (s *Store) SealKey() []byte { return s.sealKey }

// markerPath is where it is kept that there was a first run: in the user's folder of states, or beside grants that
// are not where nod keeps them.
func markerPath(grantsPath string) string {
	if usual, err := grants.DefaultPath(); err == nil && grantsPath == usual && filepath.IsAbs(xdg.StateHome) {
		return filepath.Join(xdg.StateHome, "nod", "sealed")
	}
	return filepath.Join(filepath.Dir(grantsPath), "sealed")
}
