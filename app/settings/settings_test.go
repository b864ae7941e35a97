package settings

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/dialogs"
	"nod/ipc/hooks/install"
	"nod/policy"
	"nod/policy/shell"
)

// fakeStore is a store in memory. What the policy file itself does is tested with the real one.
type fakeStore struct {
	config policy.Config
	grants []policy.Grant
	parts  []policy.CommandPart

	heldGrants []policy.Grant
	err        error // the file is broken
	refuse     error // Update fails
}

func (s *fakeStore) Config() policy.Config  { return s.config }
func (s *fakeStore) Err() error             { return s.err }
func (s *fakeStore) Grants() []policy.Grant { return s.grants }

func (s *fakeStore) Update(f func(*policy.Config) error) error {
	if s.refuse != nil {
		return s.refuse
	}
	c := s.config
	c.Policy.Rules = slices.Clone(c.Policy.Rules)
	if err := f(&c); err != nil {
		return err
	}
	s.config = c
	return nil
}

func (s *fakeStore) Explain(c policy.Call) (policy.Decision, []string) {
	compiled, err := policy.Compile(s.config.Policy, policy.DefaultPlaces())
	if err != nil {
		panic(err)
	}
	return policy.Explain(c, compiled, time.Now())
}

func (s *fakeStore) Parts(policy.Call) []policy.CommandPart { return s.parts }

func (s *fakeStore) Revoke(id string) error {
	s.grants = slices.DeleteFunc(slices.Clone(s.grants), func(g policy.Grant) bool { return g.ID == id })
	return nil
}

func (s *fakeStore) RevokeAll() error { s.grants = nil; return nil }

func (s *fakeStore) HeldGrants() []policy.Grant { return s.heldGrants }
func (s *fakeStore) AcceptGrants() error {
	s.grants, s.heldGrants = append(s.grants, s.heldGrants...), nil
	return nil
}

func (s *fakeStore) Held() (policy.HeldChange, bool) { return policy.HeldChange{}, false }
func (s *fakeStore) Accept(policy.HeldChange) error  { return nil }
func (s *fakeStore) Undo(policy.HeldChange) error    { return nil }

type fakeAutostart struct{ on bool }

func (a *fakeAutostart) Enabled() (bool, error) { return a.on, nil }
func (a *fakeAutostart) Enable() error          { a.on = true; return nil }
func (a *fakeAutostart) Disable() error         { return errors.New("autostart: not made by nod") }

// someAgents is a machine with two agents on it, in a home folder of its own.
func someAgents(t *testing.T) Agents {
	home := t.TempDir()
	return Agents{
		Machine: func() (install.Machine, error) {
			return install.Machine{Home: home, Nod: "/usr/bin/nod", Env: func(string) string { return "" },
				Look: func(name string) (string, error) {
					if name == "claude" || name == "gemini" {
						return "/usr/bin/" + name, nil
					}
					return "", errors.New("not found")
				},
				Run: func(string, ...string) (string, error) { return "2.1.197 (test)", nil },
			}, nil
		},
		Contacts: func() map[string]Contact {
			return map[string]Contact{"claude-code": {Last: time.Now(), Calls: 42, Passed: 30, Allowed: 8, Denied: 3, Undecided: 1}}
		},
	}
}

func someSuggestions() []policy.Suggestion {
	call := func(folder, command string) policy.Call {
		input, _ := json.Marshal(map[string]string{"command": command})
		return policy.Call{Agent: "claude-code", Tool: "Bash", CWD: folder, Input: input}
	}
	shop, blog := call("/home/ada/src/shop", "go test ./..."), call("/home/ada/src/blog", "go test ./...")
	push := call("/home/ada/src/shop", "git push --force")
	return []policy.Suggestion{
		{Rule: policy.Rule{ID: "allow-go-test", Effect: policy.Allow, Agent: "claude-code", Program: "/usr/bin/claude", Tool: "Bash", Command: "go test ./..."},
			Calls: []policy.Call{shop, blog, shop, shop}, Folders: []string{"/home/ada/src/shop", "/home/ada/src/blog"}},
		{Rule: policy.Rule{ID: "deny-git-push-force", Effect: policy.Deny, Agent: "claude-code", Tool: "Bash", Command: "git push --force", CWD: "/home/ada/src/shop"},
			Calls: []policy.Call{push, push, push}, Folders: []string{"/home/ada/src/shop"}},
	}
}

// someReplay is what the agents did in the past.
func someReplay(ctx context.Context, progress func(float64)) (Replay, error) {
	progress(0.5)
	return Replay{
		Transcripts: 12, Calls: 4210, Asked: 310, Always: 48, WithRules: 96,
		Rules: []Spared{
			{policy.Rule{ID: "allow-mix-test", Effect: policy.Allow, Agent: "claude-code", Run: []string{"mix test", "mix format"}}, 171},
			{policy.Rule{ID: "allow-edits", Effect: policy.Allow, Agent: "claude-code", Class: policy.Write, Path: "~/src/shop/**",
				Examples: policy.Examples{Match: []string{`{"tool":"Write","input":{"file_path":"~/src/shop/lib/cart.ex"}}`}}}, 43},
		},
	}, ctx.Err()
}

// openWindow shows the settings window on a canvas of 900 by 600.
func openWindow(t *testing.T, s Store, theme string) *Window {
	t.Helper()
	a := test.NewTempApp(t)
	a.Settings().SetTheme(dialogs.Theme(theme))
	w := New(a, Options{
		Store: s, Suggest: someSuggestions, Replay: someReplay, Agents: someAgents(t), Autostart: &fakeAutostart{}, Closed: func() {},
		About: About{
			Version: "1.2.3", URL: "http://127.0.0.1:7463", Socket: "/run/user/1000/nod/nod.sock",
			Config: "/home/ada/.config/nod/config.yaml", Log: "/home/ada/.local/state/nod/nod.log",
			Tray: func() bool { return true }, Notifications: func() bool { return false },
		},
	})
	w.aside = func(f func()) { f() }
	w.after = func(_ time.Duration, f func()) { f() }
	w.Show()
	w.win.Resize(fyne.NewSize(900, 600))
	return w
}

func someStore() *fakeStore {
	c := policy.Default()
	c.Policy.TrustedRoots = []string{"~/src", "/srv/code"}
	c.Policy.Rules = []policy.Rule{
		{ID: "git-status", Effect: policy.Allow, Tool: "Bash", Command: "git status", CWD: "~/src/shop/**"},
		{ID: "tests", Effect: policy.Allow, Tool: "Bash", Run: []string{"go test", "npm run lint"}},
		{ID: "no-push", Effect: policy.Deny, Run: []string{"git push"}},
		{ID: "no-prod", Effect: policy.Deny, Tool: "mcp__prod__*", Note: "ask Grace first"},
		{ID: "notes", Effect: policy.Ask, Path: "~/notes/**", Disabled: true},
	}
	at := time.Date(2026, 3, 2, 15, 4, 0, 0, time.Local)
	return &fakeStore{config: c, grants: []policy.Grant{
		{ID: "1", Scope: policy.QuarterHour, Agent: "claude-code", Program: "/usr/bin/claude", CWD: "/home/ada/src/shop",
			Tool: "Bash", InputSHA256: "00", Shown: `{"command":"make test"}`, Created: at, Expires: at, LastUsed: at, Uses: 3},
		{ID: "2", Scope: policy.Always, Agent: "codex", CWD: "/home/ada/src", Tool: "shell", InputSHA256: "00", Shown: `{"command":"go vet ./..."}`, Created: at.AddDate(-1, 0, 0)},
		{ID: "3", Scope: policy.UntilQuit, Agent: "claude-code", Program: "/usr/bin/claude", CWD: "/home/ada/src/shop", Tool: "Bash",
			Command: &shell.Pattern{Words: []string{"go", "test"}}, Shown: "go test", Created: at, LastUsed: at, Uses: 14},
		{ID: "4", Scope: policy.ThisSession, Session: "s1", Agent: "claude-code", Program: "/usr/bin/claude", CWD: "/home/ada/src/shop",
			Edits: "/home/ada/src/shop", Shown: "edits in ~/src/shop", Created: at},
	}}
}

func TestLooks(t *testing.T) {
	for _, theme := range []string{"light", "dark"} {
		w := openWindow(t, someStore(), theme)
		for i, tab := range []string{"general", "allow", "answers", "folders", "suggestions", "agents", "about"} {
			w.tabs.SelectIndex(i)
			test.AssertImageMatches(t, tab+"-"+theme+".png", w.win.Canvas().Capture())
		}
		w.tabs.SelectIndex(1)
		w.win.Resize(fyne.NewSize(900, 920))
		test.AssertImageMatches(t, "allow-whole-"+theme+".png", w.win.Canvas().Capture())
		w.allow.edit(w.opts.Store.Config().Policy.Rules[0])
		w.tabs.SelectIndex(1)
		w.win.Resize(fyne.NewSize(900, 760)) // all of the form in view
		test.AssertImageMatches(t, "editor-"+theme+".png", w.win.Canvas().Capture())
	}
}
