package settings

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
)

// fakeOperator is the part of a tray process that the settings need.
type fakeOperator struct {
	operator.Operator // what the settings never call panics

	suggestions []policy.Suggestion
	refuse      error           // of every change
	undone      []int           // as Undo was called
	meanwhile   func()          // somebody else's doing, just before a change
	answer      interact.Answer // to a test request

	mu     sync.Mutex
	state  operator.State
	peers  operator.Peers
	did    []string       // about peers
	called map[string]int // how often, by method
	hang   chan struct{}  // State and Suggest wait for it; nil: they do not
}

func (o *fakeOperator) count(method string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.called == nil {
		o.called = map[string]int{}
	}
	o.called[method]++
}

func (o *fakeOperator) calls(method string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.called[method]
}

// stop makes State and Suggest hang until goOn is called.
func (o *fakeOperator) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hang = make(chan struct{})
}

func (o *fakeOperator) goOn() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.hang)
	o.hang = nil
}

// wait waits for hang, and says how that ended.
func (o *fakeOperator) wait(ctx context.Context) error {
	o.mu.Lock()
	hang := o.hang
	o.mu.Unlock()
	if hang == nil {
		return nil
	}
	select {
	case <-hang:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// State returns a copy, made as the connection makes it.
func (o *fakeOperator) State(ctx context.Context) (s operator.State, err error) {
	o.count("State")
	o.mu.Lock()
	text, err := json.Marshal(o.state)
	o.mu.Unlock()
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, errors.Join(err, o.wait(ctx))
}

func (o *fakeOperator) Replace(_ context.Context, base, next config.Config) error {
	o.count("Replace")
	if o.meanwhile != nil {
		o.meanwhile()
		o.meanwhile = nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	same := func(a, b config.Config) bool {
		one, _ := json.Marshal(a)
		other, _ := json.Marshal(b)
		return string(one) == string(other)
	}
	if o.refuse != nil {
		return o.refuse
	}
	if !same(base, o.state.Config) {
		return config.ErrChanged
	}
	if err := next.Validate(); err != nil {
		return err
	}
	o.state.Config = next
	return nil
}

func (o *fakeOperator) SettleHeld(_ context.Context, held config.HeldChange, accept bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refuse != nil {
		return o.refuse
	}
	if o.state.Held == nil || *o.state.Held != held {
		return errors.New("the change is now a different one")
	}
	o.state.Held = nil
	o.state.Config.Policy.AskEverything = !accept
	return nil
}

// Undo restores the deletion.
func (o *fakeOperator) Undo(_ context.Context, id int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.undone = append(o.undone, id)
	o.state.Undos = nil
	return o.refuse
}

func (o *fakeOperator) Revoke(_ context.Context, id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refuse != nil {
		return o.refuse
	}
	o.state.Grants = slices.DeleteFunc(o.state.Grants, func(g policy.Grant) bool { return id == "" || g.ID == id })
	if id == "" {
		o.state.HeldGrants = nil
	}
	return nil
}

func (o *fakeOperator) AcceptGrants(context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state.Grants, o.state.HeldGrants = append(o.state.Grants, o.state.HeldGrants...), nil
	return nil
}

func (o *fakeOperator) Suggest(ctx context.Context) ([]policy.Suggestion, error) {
	o.count("Suggest")
	return o.suggestions, o.wait(ctx)
}

func (o *fakeOperator) Pause(_ context.Context, p operator.Pause) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refuse == nil {
		o.state.Pause = p
	}
	return o.refuse
}

func (o *fakeOperator) SetAutostart(context.Context, bool) error {
	return errors.New("autostart: not made by nod")
}

func (o *fakeOperator) TestRequest(context.Context) (interact.Answer, error) {
	o.count("TestRequest")
	return o.answer, o.refuse
}

func (o *fakeOperator) Welcomed(context.Context) error {
	o.count("Welcomed")
	return nil
}

// config is the current configuration.
func (o *fakeOperator) config() config.Config {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.state.Config
}

func (o *fakeOperator) rules() []policy.Rule { return o.config().Policy.Rules }

// rule returns the rule with that id.
func (o *fakeOperator) rule(t *testing.T, id string) policy.Rule {
	t.Helper()
	i := slices.IndexFunc(o.rules(), func(r policy.Rule) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("no rule %s in %+v", id, o.rules())
	}
	return o.rules()[i]
}

// isAs fails the test if the configuration differs.
func (o *fakeOperator) isAs(t *testing.T, want config.Config) {
	t.Helper()
	if got := o.config(); !reflect.DeepEqual(got, want) {
		t.Errorf("the configuration is now %+v, want %+v", got, want)
	}
}
