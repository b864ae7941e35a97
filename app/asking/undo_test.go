package asking

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
)

func denied(reason string) operator.Answer {
	return operator.Answer{Answer: interact.Answer{Outcome: api.Denied, Reason: reason}}
}

// A denial reaches its caller at once.
func TestDenialIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		a, start := d.ask("a"), time.Now()
		if err := d.answer(a, denied("no")); err != nil {
			t.Fatal(err)
		}
		<-a.done
		if a.answer.Outcome != api.Denied || a.answer.Reason != "no" || time.Since(start) != 0 {
			t.Errorf("%+v after %v", a.answer, time.Since(start))
		}
		if err := d.answer(a, allowed()); !errors.Is(err, operator.ErrGone) {
			t.Errorf("a second answer: %v", err)
		}
	})
}

// openTestStore opens a store whose policy file holds a text.
func openTestStore(t *testing.T, text string) (s *config.Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := config.Open(path, filepath.Join(filepath.Dir(path), "grants.json"), slog.New(slog.DiscardHandler))
	if err == nil {
		err = s.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, path
}

func makeCall(command string) policy.Call {
	return policy.Call{Agent: "claude-code", Session: "s", CWD: "/srv/shop", Tool: "Bash",
		Input: policy.ReadInput([]byte(`{"command":"` + command + `"}`))}
}

// Everything that was revoked comes back, in its place.
func TestGrantsAreUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, _ := openTestStore(t, "")
		shown := func() string {
			var all []string
			for _, g := range s.Grants() {
				all = append(all, g.Shown)
			}
			return strings.Join(all, " ")
		}
		last := func() operator.Undo { u := d.w.undos.all(); return u[len(u)-1] }
		for _, command := range []string{"a", "b", "c"} {
			if err := s.Grant(makeCall(command), policy.Always, policy.CoverInput); err != nil {
				t.Fatal(err)
			}
		}
		all := shown()
		op := &Desk{windows: d.w, store: s}
		for _, id := range []string{s.Grants()[1].ID, ""} {
			before := shown()
			s.Used(s.Decide(makeCall("a")))
			if err := op.Revoke(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if u := last(); u.Kind != operator.UndoRevoke || u.Text == "" || shown() == before {
				t.Errorf("to undo: %+v; left: %s", u, shown())
			}
			if err := op.Undo(t.Context(), last().ID); err != nil || shown() != all {
				t.Errorf("%v: %s, want %s", err, shown(), all)
			}
		}
		if uses := s.Grants()[0].Uses; uses != 2 {
			t.Errorf("%d uses are left, want 2", uses)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if u := d.w.undos.all(); len(u) != 0 {
			t.Errorf("still to undo: %+v", u)
		}
	})
}

// An allow for every folder passes the command in another one until it is revoked, and is saved for no red command.
func TestEverywhereIsRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, _ := openTestStore(t, "")
		elsewhere := makeCall("npm test")
		elsewhere.CWD = "/srv/bank"
		for _, command := range []string{"git push --force", "rm -rf build", "sudo npm test"} {
			if err := s.Grant(makeCall(command), policy.Everywhere, policy.CoverCommands); err == nil {
				t.Errorf("%s was saved", command)
			}
		}
		if err := s.Grant(makeCall("npm test"), policy.Everywhere, policy.CoverCommands); err != nil {
			t.Fatal(err)
		}
		if got := s.Decide(elsewhere); got.Effect != policy.Allow {
			t.Errorf("elsewhere: %+v", got)
		}
		op := &Desk{windows: d.w, store: s}
		if err := op.Revoke(t.Context(), s.Grants()[0].ID); err != nil || len(s.Grants()) != 0 {
			t.Errorf("%v, left: %+v", err, s.Grants())
		}
		if got := s.Decide(elsewhere); got.Effect != policy.Ask {
			t.Errorf("revoked: %+v", got)
		}
	})
}

// The sandbox of a project is switched on by an answer; the first command itself runs as ever.
func TestTheSandboxIsSwitchedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := openTestStore(t, "")
		offered := func(c policy.Call) policy.Offer {
			c.Contains = true
			return s.Offers(c).Grant(policy.Always, policy.CoverSandbox)
		}
		for _, command := range []string{"git push", "cat ~/.ssh/id_ed25519", "ls"} {
			if o := offered(makeCall(command)); o.Text != "" {
				t.Errorf("%s: offered %q", command, o.Text)
			}
			if err := s.Grant(makeCall(command), policy.Always, policy.CoverSandbox); err == nil {
				t.Errorf("%s switched it on", command)
			}
		}
		c := makeCall("make test")
		if o := s.Offers(c).Grant(policy.Always, policy.CoverSandbox); o.Text != "" {
			t.Errorf("offered to an agent whose commands nod cannot run: %q", o.Text)
		}
		if got := offered(c).Text; got != "run the commands of /srv/shop in a sandbox and edit its files, without asking" {
			t.Errorf("offered %q", got)
		}
		if err := s.Grant(c, policy.Always, policy.CoverSandbox); err != nil {
			t.Fatal(err)
		}
		if got := s.Config().Policy.Sandbox.Projects; !slices.Equal(got, []string{"/srv/shop"}) || offered(c).Text != "" {
			t.Errorf("projects %q, and still offered: %q", got, offered(c).Text)
		}
		if e := s.Decide(c).Effect; e != policy.Ask {
			t.Errorf("an agent whose commands nod cannot run: %s", e)
		}
		c.Contains = true
		if e := s.Decide(c).Effect; e != policy.Sandbox {
			t.Errorf("decides %s", e)
		}
	})
}

// A rule that was deleted comes back to its place, with its comments.
func TestDeletionOfARuleIsUndone(t *testing.T) {
	const text = "# mine\npolicy:\n  rules:\n    # never push\n" +
		"    - {id: push, effect: deny, run: [git push]} # ever\n\n" +
		"    - id: build # it is fast\n      effect: allow\n      run: [make]\n"
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, path := openTestStore(t, text)
		op := &Desk{windows: d.w, store: s}
		remove := func(i int) {
			base := s.Config()
			next := base.Clone()
			next.Policy.Rules = append(next.Policy.Rules[:i], next.Policy.Rules[i+1:]...)
			if err := op.Replace(t.Context(), base, next); err != nil {
				t.Fatal(err)
			}
		}
		remove(0)
		remove(0)
		u := d.w.undos.all()
		if len(u) != 2 || u[0].Kind != operator.UndoRule || u[0].Text != "push" || u[1].Text != "build" {
			t.Fatalf("to undo: %+v", u)
		}
		for _, one := range []operator.Undo{u[1], u[0]} {
			if err := op.Undo(t.Context(), one.ID); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := os.ReadFile(path); string(got) != text || len(s.Config().Policy.Rules) != 2 {
			t.Errorf("the file is\n%s\nwant\n%s", got, text)
		}
		remove(1)
		if err := s.Update(func(c *config.Config) error { c.Prompt.OnTop = false; return nil }); err != nil {
			t.Fatal(err)
		}
		if err := op.Undo(t.Context(), d.w.undos.all()[0].ID); !errors.Is(err, config.ErrChanged) {
			t.Errorf("what was saved since was overwritten: %v", err)
		}
	})
}
