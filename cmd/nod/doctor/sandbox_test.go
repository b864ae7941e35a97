package doctor

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"nod/agents/registry"
	"nod/sandbox"
)

// A sandbox that cannot work matters only where somebody counts on it.
func TestSandbox(t *testing.T) {
	const (
		on     = "policy: {sandbox: {projects: [/srv/shop, /srv/blog]}}\n"
		prefix = "CLAUDE_CODE_SHELL_PREFIX"
	)
	broken := errors.New("no sandbox:\nuser namespaces are forbidden")
	for name, tt := range map[string]struct {
		config, env string // env is Claude Code's, where its hooks are nod's; "": they are not
		err         error
		lacks       string // a program
		gone        bool   // nod-desktop does not run
		why         error  // bubblewrap does not work
		want        []Finding
	}{
		"off":       {want: []Finding{ok("commands can run in a sandbox, by bubblewrap; it is on for no project")}},
		"off, less": {why: broken, want: []Finding{ok("off, and only commands that read can run in one, by Landlock: no")}},
		"on, less": {config: on, why: broken, want: []Finding{
			warning(open("docs/install.md"), "only commands that read run in one, by Landlock: no sandbox:; user"),
		}},
		"off and broken": {err: broken, env: `{}`, want: []Finding{
			ok("off, and commands can't run in one: no sandbox:; user namespaces are forbidden"),
		}},
		"on": {config: on, want: []Finding{ok("projects with it: 2")}},
		"on and broken": {config: on, err: broken, env: `{}`, want: []Finding{
			failure(open("docs/install.md"), "commands can't run in it: no sandbox:; user namespaces are forbidden"),
		}},
		"on without bubblewrap": {config: on, err: errors.New("none"), lacks: "bwrap", want: []Finding{
			failure(run("sudo apt-get install bubblewrap"), "none"),
		}},
		"on and slow": {config: on, err: context.DeadlineExceeded, want: []Finding{
			warning(run("nod doctor"), "longer than 30s"),
		}},
		"on without nod": {config: on, lacks: "nod", want: []Finding{
			failure(open("docs/install.md"), "nod is not in PATH"),
		}},
		"handed over":                {config: on, env: `{"` + prefix + `": "/usr/bin/nod -c"}`, want: []Finding{ok("2")}},
		"handed over to another nod": {config: on, env: `{"` + prefix + `": "/opt/nod -c"}`, want: []Finding{ok("2")}},
		"not yet handed over": {config: on, env: `{}`, want: []Finding{
			ok("2"), warning(run("nod log"), "Claude Code's commands don't run in it yet"),
		}},
		"never handed over": {config: on, env: `{}`, gone: true, want: []Finding{
			ok("2"), warning(run("nod start"), "settings.json within a minute"),
		}},
		"handed to another program": {config: on, env: `{"` + prefix + `": "/my/logger -c"}`, want: []Finding{
			ok("2"), warning(run("${EDITOR:-vi} "), "env."+prefix+" is already set: remove it"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.Agents = registry.Installable()
			if tt.config != "" {
				f.write(f.configPath(), tt.config)
			}
			if tt.env != "" {
				f.installClaude(tt.env)
			}
			if tt.gone {
				f.gone()
			}
			lacks := func(find func(string) (string, error)) func(string) (string, error) {
				return func(name string) (string, error) {
					if name == tt.lacks {
						return nowhere(name)
					}
					return find(name)
				}
			}
			f.Look, f.Program = lacks(f.Look), lacks(f.Program)
			f.Sandbox = func(_ context.Context, nod string) (sandbox.Trial, error) {
				if nod != "/usr/bin/nod" {
					t.Errorf("tried with %s", nod)
				}
				if tt.why != nil {
					return sandbox.Trial{Engine: "Landlock", Why: tt.why.Error()}, tt.err
				}
				return sandbox.Trial{Engine: "bubblewrap"}, tt.err
			}
			f.hasFound(checkSandbox(t.Context(), begin(t.Context(), f.host)), tt.want)
		})
	}
}

// Nothing is said of the sandbox where there is none.
func TestSandboxElsewhere(t *testing.T) {
	if got := checkSandbox(t.Context(), begin(t.Context(), newFake(t).host)); got != nil {
		t.Errorf("%+v", got)
	}
}

// installClaude gives Claude Code nod's hooks, and this environment.
func (f *fake) installClaude(env string) {
	f.t.Helper()
	m, err := f.Machine()
	f.must(err)
	a, err := registry.Find(f.Agents, "claude-code")
	f.must(err)
	f.write(filepath.Join(m.Home, ".claude", "settings.json"), `{"env": `+env+`}`)
	changes, err := a.Install(m, false)
	f.must(err)
	for _, c := range changes {
		f.must(c.Apply())
	}
}

// hasFound compares findings, of whose words those wanted are a part.
func (f *fake) hasFound(got, want []Finding) {
	f.t.Helper()
	if len(got) != len(want) {
		f.t.Fatalf("%+v, want %+v", got, want)
	}
	for i, w := range want {
		g := got[i]
		has := g.Status == w.Status && strings.Contains(g.Detail, w.Detail) && (g.Fix == nil) == (w.Fix == nil)
		if has && g.Fix != nil {
			has = strings.HasPrefix(g.Fix.Command, w.Fix.Command) && strings.HasPrefix(g.Fix.Window, w.Fix.Window)
		}
		if !has {
			f.t.Errorf("%+v with %+v, want %+v with %+v", g, g.Fix, w, w.Fix)
		}
	}
}
