package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Store keeps the configuration file and the grants, and decides by them. It is safe for concurrent use.
//
// While the file is broken nothing is allowed: what the last good file denied stays denied, and everything
// else is asked about. [Store.Err] says what is wrong.
type Store struct {
	path   string
	log    *slog.Logger
	places Places
	getenv func(string) string
	now    func() time.Time

	current atomic.Pointer[snapshot] // what Decide reads, published whole
	updates sync.Mutex               // held while the file is read, changed and written; guards seal
	seal    *seal                    // nil: whatever the file says counts

	mu     sync.Mutex // guards the fields below
	grants *grantBook
	waits  map[chan struct{}]struct{}
}

// A snapshot is a state of the store.
type snapshot struct {
	config Config    // the last good one
	rules  *Compiled // of config, with the grants; what is left of it while broken
	good   *Compiled // of config, never broken, without grants
	err    error     // why the file is broken

	held  *HeldChange // what of config is not accepted yet; nil: nothing
	floor *Compiled   // what was accepted, with the grants, while something is held
}

// OpenStore reads the configuration at path and the grants at grantsPath. Neither need exist, and what is
// wrong with them is not an error here: the store opens, allows nothing, and says why in Err.
func OpenStore(path, grantsPath string, log *slog.Logger) (*Store, error) {
	if !filepath.IsAbs(path) || !filepath.IsAbs(grantsPath) {
		return nil, fmt.Errorf("open policy: %q and %q: want absolute paths", path, grantsPath)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	places := DefaultPlaces()
	for _, own := range []string{path, grantsPath} {
		if filepath.Base(filepath.Dir(own)) == "nod" { // a folder of nod's own, not just any
			own = filepath.Dir(own)
		}
		places.Own = append(places.Own, own)
	}
	s := &Store{
		path: path, log: log, places: places, getenv: os.Getenv, now: time.Now,
		grants: openGrants(grantsPath), waits: map[chan struct{}]struct{}{},
	}
	if err := s.grants.err; err != nil {
		log.Error("grants are broken: none is in force", "err", err)
	}
	good, err := Compile(Policy{}, places)
	if err != nil {
		return nil, err
	}
	start, err := parse(nil, path, s.getenv) // what the environment says holds also while the file is broken
	if err != nil {
		start = Default()
	}
	start.Policy = Policy{}
	s.current.Store(&snapshot{config: start, good: good, rules: good.broken(), err: errors.New("not read yet")})
	s.Reload()
	return s, nil
}

// Decide says what the policy makes of a call, and counts the use of a grant.
func (s *Store) Decide(c Call) Decision {
	now := s.now()
	d := s.current.Load().decide(c, now)
	if d.Grant {
		s.mu.Lock()
		if s.grants.use(d.Rule, now) {
			s.republish()
		}
		s.mu.Unlock()
	}
	return d
}

// Explain says what the policy makes of a call, and every step that led there. No grant is used by it.
func (s *Store) Explain(c Call) (Decision, []string) {
	now, state := s.now(), s.current.Load()
	d, steps := Explain(c, state.rules, now)
	if final := state.decide(c, now); final != d {
		d = final
		steps = append(steps, fmt.Sprintf("but the decision is %s: %s", d.Effect, d.Reason))
	}
	return d, steps
}

// Config returns the last good configuration. While the file is broken its policy is empty.
func (s *Store) Config() Config {
	now := s.current.Load()
	cfg := now.config
	if now.err != nil {
		cfg.Policy = Policy{}
	}
	return cfg.clone()
}

func (c Config) clone() Config {
	c.Policy.AutoAllow = slices.Clone(c.Policy.AutoAllow)
	c.Policy.TrustedAgents = slices.Clone(c.Policy.TrustedAgents)
	c.Policy.TrustedRoots = slices.Clone(c.Policy.TrustedRoots)
	c.Policy.Rules = slices.Clone(c.Policy.Rules)
	c.Agents.Strict = slices.Clone(c.Agents.Strict)
	return c
}

// Err says why the configuration or the grants are broken; nil while both are good. [errors.As] finds the
// first [*FileError] in it.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.current.Load().err, s.grants.err)
}

// Changes returns a channel that gets a signal after every change of configuration, grants or health, and
// a function that ends the subscription. Signals that nobody has received yet are one signal.
func (s *Store) Changes() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits[c] = struct{}{}
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waits, c)
	}
}

// Reload reads the configuration file now. Watch does so by itself.
func (s *Store) Reload() {
	s.updates.Lock()
	defer s.updates.Unlock()
	s.reload()
}

// reload needs s.updates.
func (s *Store) reload() {
	next := s.look()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.current.Load()
	if next.err != nil {
		next.config, next.good, next.held, next.floor = last.config, last.good, nil, nil
	}
	s.publish(next)
	s.logChange(last, next)
}

// look reads the file. It needs s.updates.
func (s *Store) look() *snapshot {
	text, err := readFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = nil, nil
	}
	next := &snapshot{err: err}
	if next.err == nil {
		next.config, next.err = parse(text, s.path, s.getenv)
	}
	if next.err == nil {
		next.good, next.err = Compile(next.config.Policy, s.places)
	}
	if next.err == nil {
		next.held, next.floor, next.err = s.hold(string(text))
	}
	return next
}

func (s *Store) logChange(last, next *snapshot) {
	switch {
	case next.held != nil && (last.held == nil || *last.held != *next.held):
		s.log.Warn("the policy file was changed by another program: what it newly allows is not in force", "file", s.path)
	case next.err != nil && (last.err == nil || last.err.Error() != next.err.Error()):
		s.log.Error("configuration is broken: everything is asked about", "err", next.err)
	case next.err == nil:
		s.log.Info("configuration read", "file", s.path, "rules", len(next.config.Policy.Rules))
	}
}

// publish puts the rules in force that follow from a state and the grants. It needs s.mu.
func (s *Store) publish(next *snapshot) {
	active := s.grants.active(s.now())
	next.rules = next.good.withGrants(active)
	if next.floor != nil {
		next.floor = next.floor.withGrants(active)
	}
	if next.err != nil {
		next.rules = next.good.broken()
	}
	s.current.Store(next)
	for c := range s.waits {
		select {
		case c <- struct{}{}:
		default: // a signal is waiting already
		}
	}
}

// republish is publish for when only the grants have changed. It needs s.mu.
func (s *Store) republish() {
	next := *s.current.Load()
	s.publish(&next)
}

// Update changes the configuration and writes the file, leaving all that is not changed as a person wrote
// it. The change starts from what the file says, without the environment's overrides. A broken file is
// never overwritten: Update then returns what is wrong with it.
func (s *Store) Update(change func(*Config) error) error {
	s.updates.Lock()
	defer s.updates.Unlock()
	s.reload() // a change that nobody has noticed yet is not to be sealed by this one
	if _, isHeld := s.Held(); isHeld {
		return fmt.Errorf("change the configuration: %w", ErrHeld)
	}
	before, data, err := s.read()
	if err != nil {
		return fmt.Errorf("change the configuration: %w", err)
	}
	after := before.clone()
	if err := change(&after); err != nil {
		return err
	}
	after.Policy.normalize()
	if err := after.Validate(); err != nil {
		return fmt.Errorf("change the configuration: %w", err)
	}
	if sameConfig(before, after) {
		return nil
	}
	changed, err := edit(data, before, after)
	if err != nil {
		return fmt.Errorf("change %s: %w", s.path, err)
	}
	if err := s.unchanged(data); err != nil {
		return err
	}
	if err := s.write(changed); err != nil {
		return err
	}
	s.reload()
	return nil
}

// read returns what the file says, and its text. A file that is not there yet starts with nod's own text.
func (s *Store) read() (Config, []byte, error) {
	data, err := readFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = template, nil
	}
	if err != nil {
		return Config{}, nil, err
	}
	cfg, err := parse(data, s.path, nil)
	return cfg, data, err
}

// unchanged makes sure that nobody has saved the file since it was read.
func (s *Store) unchanged(data []byte) error {
	now, err := readFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		now, err = template, nil
	}
	if err == nil && !bytes.Equal(now, data) {
		err = errors.New("somebody else saved it at the same time: try again")
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", s.path, err)
	}
	return nil
}

// Close writes down how often the grants were used.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grants.flush()
}
