package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/agents/agent"
	"nod/agents/amp"
	"nod/agents/claude"
	"nod/agents/cline"
	"nod/agents/codex"
	"nod/agents/crush"
	"nod/agents/cursor"
	"nod/agents/gemini"
	"nod/agents/goose"
	"nod/agents/letta"
	"nod/agents/opencode"
	"nod/agents/qwen"
	"nod/agents/vscode"
)

// machine is a home folder of its own, with every agent in PATH.
func machine(t *testing.T) agent.Machine {
	t.Helper()
	return agent.Machine{
		Home: t.TempDir(), Nod: "/opt/nod/bin/nod",
		Env:  func(string) string { return "" },
		Look: func(name string) (string, error) { return "/usr/bin/" + name, nil },
		Run: func(name string, _ ...string) (string, error) {
			return filepath.Base(name) + " version 1.2.3-beta (x)\n", nil
		},
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
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

func install(t *testing.T, a agent.Agent, m agent.Machine, gate bool) {
	t.Helper()
	changes, err := a.Install(m, gate)
	apply(t, changes, err)
}

func uninstall(t *testing.T, a agent.Agent, m agent.Machine) {
	t.Helper()
	changes, err := a.Uninstall(m)
	apply(t, changes, err)
}

// noBytes stands for an empty file.
const noBytes = "\x00"

var settings = map[string]string{
	"nothing":    "",
	"empty":      "{}\n",
	"other keys": "{\n  \"model\": \"x\",\n  \"env\": {\"A\": \"1\"}\n}\n",
	"comments":   "{\n\t// mine\n\t\"model\": \"x\", /* here */\n\t// the end\n}\n",
	"other hooks": "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\"," +
		" \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\n    ]\n  },\n  \"z\": null\n}\n",
	"no bytes":     noBytes,
	"white space":  " \r\n\t",
	"mark":         "\ufeff{\n    \"a\": 1\n}\n",
	"mark alone":   "\ufeff",
	"CRLF":         "{\r\n  \"a\": 1, // one\r\n  \"hooks\": {\r\n    \"Stop\": [] // none\r\n  }\r\n}\r\n",
	"empty hooks":  `{"hooks": {}}`,
	"empty list":   `{"hooks": {"PreToolUse": [], "Other": []}}`,
	"blank commas": `{"hooks": {"PreToolUse": [ {"hooks": []} ] , "z": 1 } }`,
	"one line":     `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"bell"}]}]},"a":[1,2]}`,
	"no newline":   `{"a":1}`,
	"flat hooks":   `{"version": 1, "hooks": {"stop": [{"command": "bell"}]}}`,
	"rules":        `{"amp.permissions": [{"tool": "Bash", "action": "reject"}, /* mine */ ]}`,
	"no rules":     `{"amp.permissions": []}`,
}

// Settings are UTF-8: a path that is not would be another one in them.
func TestPathsThatNoHookCanName(t *testing.T) {
	for _, a := range Installable() {
		for _, edit := range []func(*agent.Machine){
			func(m *agent.Machine) { m.Nod = "/h\xff/nod" }, func(m *agent.Machine) { m.Home += "/h\xff" },
		} {
			m := machine(t)
			edit(&m)
			if changes, err := a.Install(m, false); err == nil || !strings.Contains(err.Error(), `h\xff`) {
				t.Errorf("%s: %v, %d changes", a.Name, err, len(changes))
			}
		}
	}
}

func TestSettingsThatCannotBeReadAreNotSetUp(t *testing.T) {
	m := machine(t)
	if err := os.MkdirAll(claude.Agent.Settings(m).Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := claude.Agent.Status(m); err == nil || s.Installed || s.Partly {
		t.Errorf("status %+v, %v", s, err)
	}
}

// Whatever the file was: installing keeps all that was there, twice is once, and uninstalling gives the
// same bytes back.
func TestInstallAndBack(t *testing.T) {
	for _, a := range []agent.Agent{
		claude.Agent, codex.Agent, gemini.Agent, qwen.Agent, crush.Agent, letta.Agent, amp.Agent, cursor.Agent, vscode.Agent,
		goose.Agent,
	} {
		for name, before := range settings {
			t.Run(a.Name+"/"+name, func(t *testing.T) {
				m := machine(t)
				path := a.Settings(m).Path
				if before = strings.TrimPrefix(before, noBytes); name != "nothing" {
					write(t, path, before)
				}
				install(t, a, m, false)
				once := text(t, path)
				checkKept(t, before, once)
				if s, err := a.Status(m); err != nil || !s.Installed || s.Version != "1.2.3-beta" {
					t.Errorf("status %+v, %v", s, err)
				}
				if changes, err := a.Install(m, false); err != nil || len(changes) != 0 {
					t.Errorf("a second time: %d changes, %v", len(changes), err)
				}
				uninstall(t, a, m)
				if got := text(t, path); got != before {
					t.Errorf("after uninstalling:\n%s\nwant:\n%s", got, before)
				}
				if _, err := os.Stat(path); (err == nil) != (name != "nothing") {
					t.Errorf("after uninstalling: %v", err)
				}
				if _, err := os.Stat(path + ".before-nod"); err == nil {
					t.Error("the copy stayed")
				}
			})
		}
	}
}

// wantAlone makes sure that there is nothing beside a file.
func wantAlone(t *testing.T, path string) {
	t.Helper()
	all, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(all) != 1 {
		t.Errorf("beside %s: %v, %v", path, all, err)
	}
}

func isPunctuation(r rune) bool { return strings.ContainsRune("{}[],: \t\r\n", r) }

// checkKept makes sure that every word of before is in after, in the same order.
func checkKept(t *testing.T, before, after string) {
	t.Helper()
	rest := after
	for _, word := range strings.FieldsFunc(before, isPunctuation) {
		i := strings.Index(rest, word)
		if i < 0 {
			t.Fatalf("%q is gone from:\n%s", word, after)
		}
		rest = rest[i+len(word):]
	}
}

// What somebody added since nod came stays when nod goes.
func TestUninstallKeepsWhatCameLater(t *testing.T) {
	m := machine(t)
	path := claude.Agent.Settings(m).Path
	write(t, path, settings["other hooks"])
	install(t, claude.Agent, m, false)
	edited := strings.Replace(text(t, path), `"z": null`, `"z": null, "new": true // mine`+"\n", 1)
	write(t, path, edited)
	uninstall(t, claude.Agent, m)
	got := text(t, path)
	if strings.Contains(got, "nod") || !strings.Contains(got, `"new": true // mine`) || !strings.Contains(got, "lint") {
		t.Errorf("left:\n%s", got)
	}
}

func TestOnlyOurOwnHandlersGo(t *testing.T) {
	m := machine(t)
	path := claude.Agent.Settings(m).Path
	mixed := `{"hooks":{"Stop":[
		{"hooks":[{"command":"/old/nod hook claude-code"}]},
		{"hooks":[{"command":"nod hook claude-code"},{"command":"mine"}]},
		{"hooks":[{"command":"/x/notnod hook claude-code"}]},
		{"hooks":[{"command":"/x/nod hook claude-code --loud"}]},
		{"hooks":[]}]}}`
	write(t, path, mixed)
	uninstall(t, claude.Agent, m)
	got := text(t, path)
	if strings.Contains(got, "/old/nod") {
		t.Error("a handler of an older path stayed")
	}
	for _, other := range []string{`"mine"`, "notnod", "--loud", `"hooks":[]`} {
		if !strings.Contains(got, other) {
			t.Errorf("%s is gone from %s", other, got)
		}
	}
}

// A nod that moved takes the place of the old one.
func TestInstallReplacesAnOldPath(t *testing.T) {
	m := machine(t)
	install(t, codex.Agent, m, false)
	m.Nod = "/home/me/my tools/nod"
	if s, _ := codex.Agent.Status(m); !s.Installed || s.Other != "/opt/nod/bin/nod" {
		t.Errorf("status %+v", s)
	}
	install(t, codex.Agent, m, false)
	if s, _ := codex.Agent.Status(m); !s.Installed || s.Other != "" {
		t.Errorf("status %+v", s)
	}
	got := text(t, codex.Agent.Settings(m).Path)
	if strings.Contains(got, "/opt/nod") || strings.Count(got, `'/home/me/my tools/nod' hook codex`) != 5 {
		t.Errorf("got:\n%s", got)
	}
}

func TestWhatCannotBeReadIsLeftAlone(t *testing.T) {
	for name, bad := range map[string]string{
		"not JSON": "hello", "an array": "[]", "cut short": `{"a":`, "null": "null",
		"hooks null": `{"hooks":null}`, "hooks a list": `{"hooks":[]}`,
		"event null": `{"hooks":{"Stop":null}}`, "event an object": `{"hooks":{"Stop":{}}}`,
		"hooks twice": `{"hooks":{},"ho\u006fks":{}}`, "event twice": `{"hooks":{"Stop":[],"Stop":[]}}`,
		"command twice": `{"hooks":{"Stop":[{"hooks":[{"command":"a","command":"b"}]}]}}`,
		"UTF-16":        "\xff\xfe{\x00}\x00", "UTF-16 without its mark": "{\x00}\x00", "Latin-1": "{\"a\": \"\xe9\"}",
	} {
		t.Run(name, func(t *testing.T) {
			m := machine(t)
			path := claude.Agent.Settings(m).Path
			write(t, path, bad)
			if _, err := claude.Agent.Install(m, false); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("err = %v", err)
			}
			if got := text(t, path); got != bad {
				t.Errorf("the file became %q", got)
			}
			wantAlone(t, path)
		})
	}
}

func TestSymbolicLinksAreFollowed(t *testing.T) {
	m := machine(t)
	path := claude.Agent.Settings(m).Path
	real := filepath.Join(m.Home, "dotfiles", "claude.json")
	write(t, real, "{}\n")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Fatal(err)
	}
	install(t, claude.Agent, m, false)
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if !strings.Contains(text(t, real), "hook claude-code") {
		t.Error("the file behind the link was not edited")
	}
	if info, _ := os.Stat(real); info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestAChangeOfAnotherHandIsNotOverwritten(t *testing.T) {
	m := machine(t)
	path := claude.Agent.Settings(m).Path
	write(t, path, "{}\n")
	changes, err := claude.Agent.Install(m, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, `{"meanwhile":1}`)
	if err := changes[0].Apply(); err == nil || !strings.Contains(err.Error(), "the file has changed") {
		t.Errorf("err = %v", err)
	}
}

func TestTheFirstCopyIsKept(t *testing.T) {
	m := machine(t)
	path := claude.Agent.Settings(m).Path
	write(t, path, settings["comments"])
	install(t, claude.Agent, m, false)
	m.Nod = "/elsewhere/nod"
	install(t, claude.Agent, m, false)
	if got := text(t, path+".before-nod"); got != settings["comments"] {
		t.Errorf("copy:\n%s", got)
	}
}

// A copy that an earlier uninstall has left is not taken for the file as it was when nod comes again.
func TestACopyOfAnEarlierTimeIsRenewed(t *testing.T) {
	m := machine(t)
	path := claude.Agent.Settings(m).Path
	write(t, path, settings["comments"])
	install(t, claude.Agent, m, false)
	write(t, path, strings.Replace(text(t, path), `"x"`, `"y"`, 1))
	uninstall(t, claude.Agent, m)
	edited := text(t, path)
	if !strings.Contains(edited, `"y"`) || text(t, path+".before-nod") != settings["comments"] {
		t.Fatalf("left:\n%s", edited)
	}
	install(t, claude.Agent, m, false)
	if got := text(t, path+".before-nod"); got != edited {
		t.Errorf("the copy is of an earlier time:\n%s", got)
	}
	uninstall(t, claude.Agent, m)
	if got := text(t, path); got != edited {
		t.Errorf("left:\n%s", got)
	}
	wantAlone(t, path)
}

func TestGeminiGate(t *testing.T) {
	m := machine(t)
	install(t, gemini.Agent, m, true)
	if s, err := gemini.Agent.Status(m); err != nil || !s.Gate || !s.CanGate {
		t.Errorf("status %+v, %v", s, err)
	}
	if !strings.Contains(text(t, gemini.Agent.Gate(m).Path), "priority = 900") {
		t.Error("no policy")
	}
	changes, err := gemini.Agent.Uninstall(m)
	if err != nil || len(changes) != 2 || changes[0].Path != gemini.Agent.Gate(m).Path {
		t.Fatalf("the gate goes first, or else all would pass meanwhile: %v, %v", changes, err)
	}
	apply(t, changes, nil)
	if _, err := os.Stat(gemini.Agent.Gate(m).Path); err == nil {
		t.Error("the policy stayed: nothing would ask any more")
	}
	if _, err := claude.Agent.Install(m, true); err == nil {
		t.Error("Claude Code has no such switch")
	}
}

func TestFilesOfOthersStay(t *testing.T) {
	m := machine(t)
	write(t, gemini.Agent.Gate(m).Path, "# mine\n")
	if _, err := gemini.Agent.Install(m, true); err == nil {
		t.Error("somebody's policy would be overwritten")
	}
	uninstall(t, gemini.Agent, m)
	if got := text(t, gemini.Agent.Gate(m).Path); got != "# mine\n" {
		t.Errorf("became %q", got)
	}
}

func TestOpencodePlugin(t *testing.T) {
	m := machine(t)
	m.Nod = `/opt/"quoted"/nod`
	install(t, opencode.Agent, m, false)
	path := opencode.Agent.Settings(m).Path
	if got := text(t, path); !strings.Contains(got, `const NOD = "/opt/\"quoted\"/nod"`) {
		t.Errorf("plugin:\n%s", got)
	}
	if s, err := opencode.Agent.Status(m); err != nil || !s.Installed {
		t.Errorf("status %+v, %v", s, err)
	}
	uninstall(t, opencode.Agent, m)
	if got := text(t, path); got != "" {
		t.Errorf("left:\n%s", got)
	}
}

// Programs of nod's own can be run, by the agent's user alone, and go when nod goes; somebody else's stay.
func TestPrograms(t *testing.T) {
	for _, test := range []struct {
		agent agent.Agent
		path  string
	}{
		{cline.Agent, ".cline/hooks/PreToolUse"}, {amp.Agent, ".config/amp/nod-amp"},
	} {
		m := machine(t)
		m.Nod = "/my tools/nod"
		install(t, test.agent, m, false)
		path := filepath.Join(m.Home, filepath.FromSlash(test.path))
		want := "#!/bin/sh\n# written by nod\nexec '/my tools/nod' hook " + test.agent.Name + "\n"
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 || text(t, path) != want {
			t.Errorf("%s: %v, %v:\n%s", path, info, err, text(t, path))
		}
		if s, err := test.agent.Status(m); err != nil || !s.Installed {
			t.Errorf("%s: status %+v, %v", test.agent.Name, s, err)
		}
		uninstall(t, test.agent, m)
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s stayed", path)
		}
		write(t, path, "mine")
		if _, err := test.agent.Install(m, false); err == nil || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("%s would be overwritten: %v", path, err)
		}
	}
}

// nod's rule comes after the user's own: what they reject stays rejected. Without the program that it names nod is
// not all there.
func TestAmpRule(t *testing.T) {
	m := machine(t)
	path := amp.Agent.Settings(m).Path
	write(t, path, `{"amp.permissions": [{"tool": "Bash", "action": "reject"}]}`)
	install(t, amp.Agent, m, false)
	script := filepath.Join(filepath.Dir(path), "nod-amp")
	want := `{"amp.permissions": [{"tool": "Bash", "action": "reject"},` +
		`{"tool": "*", "action": "delegate", "to": "` + script + `"}]}`
	if got := text(t, path); !sameJSON(got, want) {
		t.Errorf("got:\n%s", got)
	}
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if s, err := amp.Agent.Status(m); err != nil || s.Installed || !s.Partly {
		t.Errorf("status %+v, %v", s, err)
	}
	edited := strings.Replace(text(t, path), "[", `[{"tool": "Read", "action": "allow"}, // mine`+"\n", 1)
	write(t, path, edited)
	uninstall(t, amp.Agent, m)
	want = `{"amp.permissions": [{"tool": "Read", "action": "allow"}, {"tool": "Bash", "action": "reject"}]}`
	if got := text(t, path); !sameJSON(got, want) || !strings.Contains(got, "// mine") {
		t.Errorf("left:\n%s", got)
	}
	for _, odd := range []string{`{"amp.permissions": {}}`, `{"amp.permissions": [], "amp.permissions": []}`, `[]`} {
		write(t, path, odd)
		if _, err := amp.Agent.Install(m, false); err == nil || text(t, path) != odd {
			t.Errorf("%s: %v", odd, err)
		}
	}
}

// What each agent's own settings say of nod's hooks, in its shape and its unit.
func TestShapes(t *testing.T) {
	for _, test := range []struct {
		agent agent.Agent
		path  string
		want  string
	}{
		{letta.Agent, ".letta/settings.json",
			`"PermissionRequest":[{"matcher":"*","hooks":[{"type":"command","command":"/opt/nod/bin/nod hook letta",` +
				`"timeout":600000}]}]`},
		{letta.Agent, ".letta/settings.json", `"Stop":[{"hooks":[{`},
		{cursor.Agent, ".cursor/hooks.json",
			`{"version":1,"hooks":{"beforeShellExecution":[{"type":"command","command":"/opt/nod/bin/nod hook cursor",` +
				`"timeout":600}]`},
		{vscode.Agent, ".vscode/nod-hooks.json",
			`"PreToolUse":[{"type":"command","command":"/opt/nod/bin/nod hook vscode","timeout":600}]`},
		{goose.Agent, ".agents/plugins/nod/hooks/hooks.json",
			`"PreToolUse":[{"hooks":[{"type":"command","command":"/opt/nod/bin/nod hook goose","timeout":600,` +
				`"on_failure":"block"}]}]`},
		{goose.Agent, ".agents/plugins/nod/plugin.json", `"name":"nod"`},
	} {
		m := machine(t)
		install(t, test.agent, m, false)
		var got bytes.Buffer
		if err := json.Compact(&got, []byte(text(t, filepath.Join(m.Home, filepath.FromSlash(test.path))))); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), test.want) {
			t.Errorf("%s: %s, want %s", test.agent.Name, &got, test.want)
		}
		uninstall(t, test.agent, m)
		if files, _ := filepath.Glob(filepath.Join(filepath.Dir(test.agent.Settings(m).Path), "*")); len(files) > 0 {
			t.Errorf("%s: left %v", test.agent.Name, files)
		}
	}
}

func TestDiff(t *testing.T) {
	m := machine(t)
	path := codex.Agent.Settings(m).Path
	write(t, path, "{\n  \"a\": 1\n}\n")
	changes, err := codex.Agent.Install(m, false)
	if err != nil {
		t.Fatal(err)
	}
	diff := changes[0].Diff()
	for _, want := range []string{"--- " + path, "+++ " + path, `+  "hooks": {`,
		"+            \"command\": \"/opt/nod/bin/nod hook codex\"", `+  "a": 1,`} {
		if !strings.Contains(diff, want) {
			t.Errorf("%q is not in:\n%s", want, diff)
		}
	}
}
