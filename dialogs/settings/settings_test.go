package settings

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/agents/agent"
	"nod/dialogs"
	"nod/dialogs/dialogstest"
	"nod/interact"
	"nod/interact/history"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
	"nod/policy/replay"
	"nod/policy/shell"
)

// goneNod is the path of a removed nod command.
const goneNod = "/home/ada/src/nod/bin/nod"

// someMachine is a machine with two agents on it, in a home folder of its own.
func someMachine(t *testing.T) func() (agent.Machine, error) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	return func() (agent.Machine, error) {
		return agent.Machine{Home: home, Nod: "/usr/bin/nod", Env: func(string) string { return "" },
			Look: func(name string) (string, error) {
				if name == "claude" || name == "gemini" {
					return "/usr/bin/" + name, nil
				}
				return "", errors.New("not found")
			},
			Run: func(name string, _ ...string) (string, error) {
				return map[string]string{"/usr/bin/claude": "2.1.197 (test)", "/usr/bin/gemini": "99.0.0"}[name], nil
			},
			Runs: func(program string) error {
				if program == goneNod {
					return errors.New(program + " does not exist")
				}
				return nil
			},
		}, nil
	}
}

func someSuggestions() []policy.Suggestion {
	call := func(folder, command string) policy.Call {
		input, _ := json.Marshal(map[string]string{"command": command})
		return policy.Call{Agent: "claude-code", Tool: "Bash", CWD: folder, Input: policy.ReadInput(input)}
	}
	shop, blog := call("/home/ada/src/shop", "go test ./..."), call("/home/ada/src/blog", "go test ./...")
	push := call("/home/ada/src/shop", "git push --force")
	return []policy.Suggestion{
		{Rule: policy.Rule{ID: "allow-go-test", Effect: policy.Allow, Agent: "claude-code", Program: "/usr/bin/claude",
			Tool: "Bash", Command: "go test ./..."},
			Calls: []policy.Call{shop, blog, shop, shop}, Folders: []string{"/home/ada/src/shop", "/home/ada/src/blog"}},
		{Rule: policy.Rule{ID: "deny-git-push-force", Effect: policy.Deny, Agent: "claude-code", Tool: "Bash",
			Command: "git push --force", CWD: "/home/ada/src/shop"},
			Calls: []policy.Call{push, push, push}, Folders: []string{"/home/ada/src/shop"}},
	}
}

// someReplay is what the agents did in the past.
func someReplay(ctx context.Context, _ policy.Policy, progress func(float64)) (*replay.Report, error) {
	progress(0.5)
	return &replay.Report{
		Files: 12, Counts: replay.Counts{Calls: 4210, Asked: 310, Always: 48},
		Rules: &replay.Rules{Counts: replay.Counts{Asked: 96}, Rules: []replay.Rule{
			{Rule: policy.Rule{ID: "allow-mix-test", Effect: policy.Allow, Agent: "claude-code",
				Run: []string{"mix test", "mix format"}}, Spares: 171},
			{Rule: policy.Rule{ID: "allow-edits", Effect: policy.Allow, Agent: "claude-code",
				Class: policy.Write, Path: "~/src/shop/**", Examples: policy.Examples{
					Match: []string{`{"tool":"Write","input":{"file_path":"~/src/shop/lib/cart.ex"}}`}}}, Spares: 43},
		}},
	}, ctx.Err()
}

// newWindow returns a hidden settings window.
func newWindow(t *testing.T, o *fakeOperator, theme string) *Window {
	t.Helper()
	a := test.NewTempApp(t)
	a.Settings().SetTheme(dialogstest.Fonts(dialogs.Theme(theme)))
	o.state.About = operator.About{
		Version: "1.2.3", URL: "http://127.0.0.1:7463", Socket: "/run/user/1000/nod/nod.sock",
		Config: "/home/ada/.config/nod/config.yaml", Log: "/home/ada/.local/state/nod/nod.log",
	}
	return New(a, Options{Operator: o, Machine: someMachine(t), Shown: func() {}, Closed: func() {}})
}

// openWindow shows the settings window on a canvas of 900 by 600. What takes a moment is done at once.
func openWindow(t *testing.T, o *fakeOperator, theme string) *Window {
	t.Helper()
	w := newWindow(t, o, theme)
	w.Aside = func(f func()) { f() }
	w.After = func(d time.Duration, f func()) {
		if d != pollPace { // which comes again and again
			f()
		}
	}
	w.Show(false)
	w.suggestions.replay.run = someReplay
	w.Win.Resize(fyne.NewSize(900, 600))
	return w
}

// Indices of pages.
const (
	onGeneral = iota
	onAllow
	onAnswers
	onFolders
	onSandboxPage
	onSuggestions
	onAgentsPage
	onAttention
	onMachines
	onHistory
	onAbout
)

func somebody() *fakeOperator {
	c := config.Default()
	c.Policy.TrustedRoots = []string{"~/src", "/srv/code"}
	c.Policy.Rules = []policy.Rule{
		{ID: "git-status", Effect: policy.Allow, Tool: "Bash", Command: "git status", CWD: "~/src/shop/**"},
		{ID: "tests", Effect: policy.Allow, Tool: "Bash", Run: []string{"go test", "npm run lint"}},
		{ID: "no-push", Effect: policy.Deny, Run: []string{"git push"}},
		{ID: "no-prod", Effect: policy.Deny, Tool: "mcp__prod__*", Note: "ask Grace first"},
		{ID: "notes", Effect: policy.Ask, Path: "~/notes/**", Disabled: true},
	}
	c.Policy.Sandbox = policy.Containment{Projects: []string{"~/src/shop"}, Hosts: []string{"registry.npmjs.org"},
		ReadOnly: true}
	c.Remote.Machines = []config.Machine{{Kind: config.MachineSSH, Host: "ci@build-1"},
		{Kind: config.MachineDocker, Host: "dev"}}
	c.Remote.NATS.URL, c.Remote.Phone.Address = "tls://nats.example.com", "100.64.0.7:7464"
	c.Remote.Phone.Push = "https://ntfy.example.com/ada"
	return &fakeOperator{suggestions: someSuggestions(), peers: somePeers(time.Now()), state: operator.State{
		Config: c, Grants: someGrants(), Journal: someJournal(),
		Contacts: map[string]interact.Contact{
			"claude-code": {Last: time.Now(), Calls: 42, Passed: 30, Allowed: 8, Denied: 3, Undecided: 1}},
	}}
}

func someJournal() operator.Journal {
	return operator.Journal{Path: "/home/ada/.local/share/nod/nod.db", Entries: 48231, Bytes: 96_400_000,
		Head: history.Head{Seq: 48231, Hash: strings.Repeat("0123456789abcdef", 4)}}
}

func someGrants() []policy.Grant {
	at := time.Date(2026, 3, 2, 15, 4, 0, 0, time.Local)
	const claude, shop = "/usr/bin/claude", "/home/ada/src/shop"
	return []policy.Grant{
		{ID: "1", Scope: policy.QuarterHour, Agent: "claude-code", Program: claude, CWD: shop,
			Tool: "Bash", InputSHA256: "00", Shown: `{"command":"make test"}`, Created: at, Expires: at, LastUsed: at, Uses: 3},
		{ID: "2", Scope: policy.Always, Agent: "codex", CWD: "/home/ada/src", Tool: "shell", InputSHA256: "00",
			Shown: `{"command":"go vet ./..."}`, Created: at.AddDate(-1, 0, 0)},
		{ID: "3", Scope: policy.UntilQuit, Agent: "claude-code", Program: claude, CWD: shop, Tool: "Bash",
			Command: &shell.Pattern{Words: []string{"go", "test"}}, Shown: "go test", Created: at, LastUsed: at, Uses: 14},
		{ID: "4", Scope: policy.ThisSession, Session: "s1", Agent: "claude-code", Program: claude, CWD: shop,
			Edits: shop, Shown: "edits in ~/src/shop", Created: at},
	}
}

// few opens the settings on a policy of one rule.
func few(t *testing.T) (*Window, *fakeOperator) {
	t.Helper()
	o := &fakeOperator{suggestions: someSuggestions(), state: operator.State{Config: fewRules()}}
	return openWindow(t, o, "light"), o
}

func fewRules() config.Config {
	c := config.Default()
	c.Policy.Rules = []policy.Rule{{ID: "no-prod", Effect: policy.Deny, Tool: "mcp__prod__*"}}
	return c
}
