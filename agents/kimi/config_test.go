package kimi

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nod/agents/agent"
)

const nodPath = "/opt/nod/bin/nod"

func machine(t *testing.T) agent.Machine {
	t.Helper()
	return agent.Machine{
		Home: t.TempDir(), Nod: nodPath, Env: func(string) string { return "" },
		Look: func(name string) (string, error) { return "/usr/bin/" + name, nil },
	}
}

func write(t *testing.T, m agent.Machine, text string) {
	t.Helper()
	if err := os.MkdirAll(folder(m), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config(m), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, m agent.Machine) string {
	t.Helper()
	b, err := os.ReadFile(config(m))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

func apply(t *testing.T, changes []agent.Change, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if err := c.Apply(); err != nil {
			t.Fatal(err)
		}
	}
}

func install(t *testing.T, m agent.Machine, gate bool) {
	t.Helper()
	changes, err := Agent.Install(m, gate)
	if len(changes) > 1 {
		t.Errorf("%d changes of one file", len(changes))
	}
	apply(t, changes, err)
}

func uninstall(t *testing.T, m agent.Machine) {
	t.Helper()
	changes, err := Agent.Uninstall(m)
	apply(t, changes, err)
}

var settings = map[string]string{
	"nothing":      "",
	"keys":         "default_model = \"x\"\n\n[providers.x] # mine\ntype = \"openai\"\n",
	"no newline":   "[a]\nb = 1",
	"CRLF":         "a = 1\r\n\r\n[b]\r\nc = 2 # d\r\n",
	"hooks":        "# mine\n[[hooks]]\nevent = \"Stop\"\ncommand = \"bell\"\n\n[after]\nx = 1\n# the end\n",
	"own mode":     "default_permission_mode = 'manual' # mine\n[a]\n",
	"own auto":     "default_permission_mode = \"auto\" # mine\n",
	"not the mode": "[a]\ndefault_permission_mode = \"manual\"\n",
	"text":         "a = \"\"\"\n[[hooks]]\ncommand = \"/opt/nod/bin/nod hook kimi-code\"\n\"\"\"\n",
}

// Whatever the file was, with the gate or without, at once or after: it is again what it was when nod goes.
func TestInstallAndBack(t *testing.T) {
	for name, before := range settings {
		for _, gate := range []string{"none", "at once", "later"} {
			t.Run(name+"/"+gate, func(t *testing.T) {
				m := machine(t)
				if name != "nothing" {
					write(t, m, before)
				}
				install(t, m, gate == "at once")
				if gate == "later" {
					install(t, m, true)
				}
				after := text(t, m)
				s, err := Agent.Status(m)
				if wantGate := gate != "none" || name == "own auto"; err != nil || !s.Installed || s.Gate != wantGate {
					t.Errorf("status %+v, %v:\n%s", s, err, after)
				}
				install(t, m, gate != "none")
				if got := text(t, m); got != after {
					t.Errorf("twice is not once:\n%s", got)
				}
				uninstall(t, m)
				if got := text(t, m); got != before {
					t.Errorf("left:\n%q\nwant:\n%q", got, before)
				}
				if _, err := os.Stat(config(m)); (err == nil) != (name != "nothing") {
					t.Error(err)
				}
				if all, err := filepath.Glob(config(m) + ".*"); err != nil || len(all) > 0 {
					t.Errorf("beside it: %q, %v", all, err)
				}
			})
		}
	}
}

// What a user, or Kimi Code itself, has changed since nod came stays.
func TestUninstallAfterAnEdit(t *testing.T) {
	for name, test := range map[string]struct{ before, old, new, want string }{
		"a key":     {"a = 1\n", "a = 1\n", "a = 2\n", "a = 2\n"},
		"a comment": {"a = 1\n", "[[hooks]]\n", "[[hooks]]\n# why\n", "a = 1\n# why\n"},
		"another order": {"a = 1\n", "a = 1\n", "a = 1\n[[hooks]]\ncommand = \"bell\"\nevent = \"Stop\"\n",
			"a = 1\n[[hooks]]\ncommand = \"bell\"\nevent = \"Stop\"\n"},
		"the mode": {"a = 1\n", `"auto"`, `"manual"`, "default_permission_mode = \"manual\"\na = 1\n"},
		"its comment": {"default_permission_mode = \"yolo\" # mine\n", "# mine", "# yours",
			"default_permission_mode = \"yolo\" # yours\n"},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine(t)
			write(t, m, test.before)
			install(t, m, true)
			edited := strings.Replace(text(t, m), test.old, test.new, 1)
			write(t, m, edited)
			changes, err := Agent.Uninstall(m)
			apply(t, changes, err)
			if got := text(t, m); got != test.want {
				t.Errorf("left:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

// What Kimi Code would drop nod's hooks for, or what nod cannot edit, is said and left alone.
func TestWhatIsLeftAlone(t *testing.T) {
	for before, want := range map[string]string{
		"a = 1\nb =": "is not TOML that nod can edit: line 2: toml: ",
		"\xff":       "is not TOML", "hooks = 1\n": "want [[hooks]]", "hooks = [1]\n": "want [[hooks]]",
		"hooks = [{event = \"Stop\", command = \"bell\"}]\n":                             "write the hooks as [[hooks]]",
		"[[hooks]]\nevent = \"Stop\"\ncommand = \"bell\"\nfail_mode = \"closed\"\n":      `the key "fail_mode"`,
		"[[hooks]]\nevent = \"Stop\"\ncommand = \"bell\"\n[hooks.env]\nA = \"b\"\n":      `the key "env"`,
		"default_permission_mode.x = \"a\"\n[[hooks]]\nevent = \"a\"\ncommand = \"b\"\n": "default_permission_mode",
	} {
		m := machine(t)
		write(t, m, before)
		if _, err := Agent.Install(m, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", before, err, want)
		}
		if got := text(t, m); got != before {
			t.Errorf("became %s", got)
		}
	}
}

// Hooks of another nod, or that are cut off, are renewed; a gate of somebody else's settings counts.
func TestStatus(t *testing.T) {
	m := machine(t)
	install(t, m, false)
	installed := text(t, m)
	for _, edit := range [][2]string{
		{nodPath, "/old/nod"}, {"timeout = 600", "timeout = 60"}, {"'PreToolUse'\n", "'PreToolUse'\nmatcher = 'Bash'\n"},
	} {
		write(t, m, strings.Replace(installed, edit[0], edit[1], 1))
		s, err := Agent.Status(m)
		if err != nil || s.Installed || !s.Partly || (s.CutOff != nil) != strings.HasPrefix(edit[0], "timeout") {
			t.Errorf("%s: %+v, %v", edit[1], s, err)
		}
		install(t, m, false)
		if got := text(t, m); len(got) != len(installed) || strings.Count(got, "[[hooks]]") != len(events) {
			t.Errorf("renewed:\n%s", got)
		}
	}
	write(t, m, "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"nod hook kimi-code\"\n")
	if s, err := Agent.Status(m); err != nil || s.CutOff == nil || s.Gate {
		t.Errorf("%+v, %v", s, err)
	}
	write(t, m, "a =\n")
	if gate, _ := Agent.HookSettings(m); !gate {
		t.Error("unknown: it may be on")
	}
}

// FuzzConfig installs into any text, which stays TOML with all that was in it, and takes out again what nod put in.
func FuzzConfig(f *testing.F) {
	for _, s := range settings {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, before []byte) {
		if was, err := lookForHooks(before); err != nil || was.Some {
			return
		}
		after, err := addHooks(before, nodPath)
		if err != nil {
			return
		}
		shut, err := closeGate(after)
		if err != nil {
			return
		}
		found, err := lookForHooks(shut)
		if is, autoErr := isAuto(shut); err != nil || autoErr != nil || !found.All || found.Limit != 10*time.Minute || !is {
			t.Fatalf("%+v, %v, %v:\n%s", found, err, autoErr, shut)
		}
		open, err := openGate(shut, before)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := without(open)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.TrimSpace(rest), bytes.TrimSpace(before)) {
			t.Fatalf("before:\n%q\nleft:\n%q", before, rest)
		}
	})
}
