package config

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adrg/xdg"

	"nod/changes"
	"nod/policy"
)

// A Store decides calls by a configuration file and a file of grants. It is safe for concurrent use.
//
// While the file is broken nothing is allowed: the last good or accepted file still denies, and nod asks about the
// rest. [Store.Err] returns the problem.
type Store struct {
	*file
	*book

	current atomic.Pointer[snapshot] // what Decide reads, replaced as a whole

	mu      sync.Mutex // held while making a snapshot
	changed changes.Source
}

// A snapshot holds the rules in force, each with the grants.
type snapshot struct {
	rules    *policy.Compiled // of the file; only denials while it is broken
	good     *policy.Compiled // of the last good file
	accepted *policy.Compiled // of the accepted file, while another text is in the file
	because  string           // why accepted counts
}

// Open reads the configuration at path and the grants at grantsPath. Neither need exist. Despite problems with them the
// store opens, and allows nothing while the configuration is broken; Err returns them. Log may be nil.
func Open(path, grantsPath string, log *slog.Logger) (*Store, error) {
	if !filepath.IsAbs(path) || !filepath.IsAbs(grantsPath) {
		return nil, fmt.Errorf("open policy: %q and %q: want absolute paths", path, grantsPath)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{}
	s.book = openBook(grantsPath, s.publish)
	if err := s.grantsErr(); err != nil {
		log.Error("saved approvals are damaged: none apply", "err", err)
	}
	var err error
	if s.file, err = openConfig(path, places(path, grantsPath), log, s.publish); err != nil {
		return nil, err
	}
	s.publish()
	return s, nil
}

func places(files ...string) policy.Places {
	p := policy.DefaultPlaces()
	for _, own := range files {
		if filepath.Base(filepath.Dir(own)) == "nod" { // a folder of nod's own
			own = filepath.Dir(own)
		}
		p.Own = append(p.Own, own)
	}
	return p
}

// Decide applies the policy to a call. It counts no use: see [Store.Used].
func (s *Store) Decide(c policy.Call) policy.Decision { return s.current.Load().decide(c, time.Now()) }

// SandboxHosts returns the hosts that a command in the sandbox reaches without a prompt.
func (s *Store) SandboxHosts() []string {
	now := s.current.Load()
	hosts := slices.Clone(now.rules.SandboxHosts())
	if now.accepted == nil {
		return hosts
	}
	return slices.DeleteFunc(hosts, func(h string) bool { return !slices.Contains(now.accepted.SandboxHosts(), h) })
}

// Forbids says what a command in the sandbox must not do with a file; see [policy.Compiled.Forbids].
func (s *Store) Forbids(path string) (read, change bool) {
	now := s.current.Load()
	read, change = now.rules.Forbids(path, time.Now())
	if now.accepted != nil {
		alsoRead, alsoChange := now.accepted.Forbids(path, time.Now())
		read, change = read || alsoRead, change || alsoChange
	}
	return read, change
}

// Used counts a use of the grant that allowed a call, if a grant did.
func (s *Store) Used(d policy.Decision) {
	if d.Grant {
		s.use(d.Rule)
	}
}

// Reasons why the accepted text counts instead of the file.
const (
	reasonHeld    = "the policy file was changed by another program, and you have not accepted that yet; before, "
	reasonUnknown = "there is no telling which policy you accepted, because nod's own files were changed or removed: "
	reasonBroken  = "the policy file has an error; in what you accepted last, "
)

func (s *snapshot) decide(c policy.Call, now time.Time) policy.Decision {
	d := policy.Decide(c, s.rules, now)
	if s.accepted == nil {
		return d
	}
	was := policy.Decide(c, s.accepted, now)
	isSmaller := was.Effect == d.Effect && len(was.Confinement.Project) > len(d.Confinement.Project)
	if !was.Effect.IsStricter(d.Effect) && !isSmaller { // of two folders that the call works in, one contains the other
		return d
	}
	was.Reason = s.because + was.Reason
	return was
}

// Explain returns the decision on a call and the steps that led to it. It counts no use.
func (s *Store) Explain(c policy.Call) (policy.Decision, []string) {
	now, state := time.Now(), s.current.Load()
	d, steps := policy.Explain(c, state.rules, now)
	if final := state.decide(c, now); final != d {
		d = final
		steps = append(steps, fmt.Sprintf("but the decision is %s: %s", d.Effect, d.Reason))
	}
	return d, steps
}

// Offers returns everything that a prompt may say and offer about a call. [Store.Grant] accepts what is offered.
func (s *Store) Offers(c policy.Call) policy.Offers {
	now := s.current.Load()
	return policy.NewOffers(c, now.rules, now.good, time.Now())
}

// Grant allows a call for longer than once. It fails if the call can only be allowed once.
func (s *Store) Grant(c policy.Call, scope policy.Scope, cover policy.Cover) error {
	if cover == policy.CoverSandbox {
		return s.contain(c)
	}
	list, err := policy.NewGrants(c, scope, cover, s.current.Load().good, time.Now())
	if err != nil {
		return err
	}
	if err := s.keep(list); err != nil {
		return err
	}
	for _, g := range list {
		s.log.Info("grant kept", "id", g.ID, "scope", g.Scope, "input_sha256", g.InputSHA256,
			"command", g.Command, "edits", g.Edits)
	}
	return nil
}

// contain makes the commands of a call's project run in the sandbox from now on. It fails if the call itself would not.
func (s *Store) contain(c policy.Call) error {
	project := policy.Containable(c, s.current.Load().good, time.Now())
	if project == "" {
		return errors.New("this command does not run in the sandbox")
	}
	base := s.Config()
	next := base.Clone()
	next.Policy.Sandbox.Projects = append(next.Policy.Sandbox.Projects, project)
	_, err := s.Replace(base, next)
	return err
}

// Suggest proposes rules that would have spared the user prompts always answered alike; see
// [policy.Simulation.Suggest]. It may take a second, without blocking others.
func (s *Store) Suggest(ctx context.Context, past []policy.Past) ([]policy.Suggestion, error) {
	sim, err := policy.NewSimulation(s.Config().Policy, s.places)
	if err != nil {
		return nil, fmt.Errorf("suggest rules: %w", err)
	}
	return sim.Suggest(ctx, past, time.Now())
}

// Simulate returns a simulation by the store's configuration, without its grants.
func (s *Store) Simulate() (*policy.Simulation, error) {
	if err := s.State().Err; err != nil {
		return nil, err
	}
	return policy.NewSimulation(s.Config().Policy, s.places)
}

// Err says why the configuration or the grants are broken; nil while both are good.
func (s *Store) Err() error { return errors.Join(s.State().Err, s.grantsErr()) }

// Changes returns a channel with a signal after every change of configuration, grants or health, and a function that
// unsubscribes. Pending signals are merged.
func (s *Store) Changes() (<-chan struct{}, func()) { return s.changed.Subscribe() }

func (s *Store) publish() {
	if s.file == nil || s.book == nil { // still opening
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
	s.changed.Send()
}

// Seal makes the store hold back changes of its files by other programs. Changes written by a store without a seal
// count as another program's. On error the seal works until nod ends.
func (s *Store) Seal() error {
	seal, err := openSeal(filepath.Dir(s.book.path), markerPath(s.book.path), len(s.mac) > 0)
	if signErr := s.sign(seal.key, seal.isNew); err == nil {
		err = signErr
	}
	s.setSeal(seal)
	return err
}

// markerPath returns the file that records nod's first run: in the user's state folder, or next to grants in an unusual
// place.
func markerPath(grantsPath string) string {
	if usual, err := GrantsPath(); err == nil && grantsPath == usual && filepath.IsAbs(xdg.StateHome) {
		return filepath.Join(xdg.StateHome, "nod", "sealed")
	}
	return filepath.Join(filepath.Dir(grantsPath), "sealed")
}
