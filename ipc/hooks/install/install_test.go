package install

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a home folder of its own, with every agent in PATH.
func machine(t *testing.T) Machine {
	t.Helper()
	return Machine{
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
	b, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func apply(t *testing.T, changes []Change, err error) {
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

func install(t *testing.T, a Agent, m Machine, gate bool) {
	t.Helper()
	changes, err := a.Install(m, gate)
	apply(t, changes, err)
}

func uninstall(t *testing.T, a Agent, m Machine) {
	t.Helper()
	changes, err := a.Uninstall(m)
	apply(t, changes, err)
}

var settings = map[string]string{
	"nothing":    "",
	"empty":      "{}\n",
	"other keys": "{\n  \"model\": \"x\",\n  \"env\": {\"A\": \"1\"}\n}\n",
	"comments":   "{\n\t// mine\n\t\"model\": \"x\", /* here */\n\t// the end\n}\n",
	"other hooks": "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\"," +
		" \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\n    ]\n  },\n  \"z\": null\n}\n",
	"one line":   `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"bell"}]}]},"a":[1,2]}`,
	"no newline": `{"a":1}`,
}

func TestSettingsThatCannotBeReadAreNotSetUp(t *testing.T) {
	m := machine(t)
	if err := os.MkdirAll(claudeCode.file(m).path, 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := claudeCode.Status(m); err == nil || s.Installed || s.Partly {
		t.Errorf("status %+v, %v", s, err)
	}
}

// Whatever the file was: installing keeps all that was there, twice is once, and uninstalling gives the
// same bytes back.
func TestInstallAndBack(t *testing.T) {
	for _, a := range []Agent{claudeCode, codex, geminiCLI} {
		for name, before := range settings {
			t.Run(a.Name+"/"+name, func(t *testing.T) {
				m := machine(t)
				path := a.file(m).path
				if before != "" {
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
				if _, err := os.Stat(backupPath(path)); err == nil {
					t.Error("the copy stayed")
				}
			})
		}
	}
}

// checkKept makes sure that every word of before is in after, in the same order.
func checkKept(t *testing.T, before, after string) {
	t.Helper()
	rest := after
	for _, word := range strings.FieldsFunc(before, func(r rune) bool { return strings.ContainsRune("{}[],: \t\n", r) }) {
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
	path := claudeCode.file(m).path
	write(t, path, settings["other hooks"])
	install(t, claudeCode, m, false)
	edited := strings.Replace(text(t, path), `"z": null`, `"z": null, "new": true // mine`+"\n", 1)
	write(t, path, edited)
	uninstall(t, claudeCode, m)
	got := text(t, path)
	if strings.Contains(got, "nod") || !strings.Contains(got, `"new": true // mine`) || !strings.Contains(got, "lint") {
		t.Errorf("left:\n%s", got)
	}
}

func TestOnlyOurOwnHandlersGo(t *testing.T) {
	m := machine(t)
	path := claudeCode.file(m).path
	mixed := `{"hooks":{"Stop":[
		{"hooks":[{"command":"/old/nod hook claude-code"}]},
		{"hooks":[{"command":"nod hook claude-code"},{"command":"mine"}]},
		{"hooks":[{"command":"/x/notnod hook claude-code"}]},
		{"hooks":[{"command":"/x/nod hook claude-code --loud"}]},
		{"hooks":[]}]}}`
	write(t, path, mixed)
	uninstall(t, claudeCode, m)
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
	install(t, codex, m, false)
	m.Nod = "/home/me/my tools/nod"
	if s, _ := codex.Status(m); s.Installed || !s.Partly {
		t.Errorf("status %+v", s)
	}
	install(t, codex, m, false)
	got := text(t, codex.file(m).path)
	if strings.Contains(got, "/opt/nod") || strings.Count(got, `'/home/me/my tools/nod' hook codex`) != 5 {
		t.Errorf("got:\n%s", got)
	}
}

func TestWhatCannotBeReadIsLeftAlone(t *testing.T) {
	for name, bad := range map[string]string{
		"not JSON": "hello", "an array": "[]", "cut short": `{"a":`,
		"hooks a list": `{"hooks":[]}`, "event an object": `{"hooks":{"Stop":{}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := machine(t)
			path := claudeCode.file(m).path
			write(t, path, bad)
			if _, err := claudeCode.Install(m, false); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("err = %v", err)
			}
			if got := text(t, path); got != bad {
				t.Errorf("the file became %q", got)
			}
		})
	}
}

func TestSymbolicLinksAreFollowed(t *testing.T) {
	m := machine(t)
	path := claudeCode.file(m).path
	real := filepath.Join(m.Home, "dotfiles", "claude.json")
	write(t, real, "{}\n")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Fatal(err)
	}
	install(t, claudeCode, m, false)
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
	path := claudeCode.file(m).path
	write(t, path, "{}\n")
	changes, err := claudeCode.Install(m, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, `{"meanwhile":1}`)
	if err := changes[0].Apply(); !errors.Is(err, ErrChanged) {
		t.Errorf("err = %v", err)
	}
}

func TestTheFirstCopyIsKept(t *testing.T) {
	m := machine(t)
	path := claudeCode.file(m).path
	write(t, path, settings["comments"])
	install(t, claudeCode, m, false)
	m.Nod = "/elsewhere/nod"
	install(t, claudeCode, m, false)
	if got := text(t, backupPath(path)); got != settings["comments"] {
		t.Errorf("copy:\n%s", got)
	}
}

func TestGeminiGate(t *testing.T) {
	m := machine(t)
	install(t, geminiCLI, m, true)
	if s, err := geminiCLI.Status(m); err != nil || !s.Gate || !s.CanGate {
		t.Errorf("status %+v, %v", s, err)
	}
	if !strings.Contains(text(t, GeminiGate(m.Home)), "priority = 900") {
		t.Error("no policy")
	}
	uninstall(t, geminiCLI, m)
	if _, err := os.Stat(GeminiGate(m.Home)); err == nil {
		t.Error("the policy stayed: nothing would ask any more")
	}
	if _, err := claudeCode.Install(m, true); err == nil {
		t.Error("Claude Code has no such switch")
	}
}

func TestFilesOfOthersStay(t *testing.T) {
	m := machine(t)
	write(t, GeminiGate(m.Home), "# mine\n")
	if _, err := geminiCLI.Install(m, true); err == nil {
		t.Error("somebody's policy would be overwritten")
	}
	uninstall(t, geminiCLI, m)
	if got := text(t, GeminiGate(m.Home)); got != "# mine\n" {
		t.Errorf("became %q", got)
	}
}

func TestOpencodePlugin(t *testing.T) {
	m := machine(t)
	m.Nod = `/opt/"quoted"/nod`
	install(t, opencode, m, false)
	path := opencode.file(m).path
	if got := text(t, path); !strings.Contains(got, `const NOD = "/opt/\"quoted\"/nod"`) {
		t.Errorf("plugin:\n%s", got)
	}
	if s, err := opencode.Status(m); err != nil || !s.Installed {
		t.Errorf("status %+v, %v", s, err)
	}
	uninstall(t, opencode, m)
	if got := text(t, path); got != "" {
		t.Errorf("left:\n%s", got)
	}
}

func TestEnvironmentMovesSettings(t *testing.T) {
	m := machine(t)
	m.Env = func(name string) string {
		return map[string]string{"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x"}[name]
	}
	if got := claudeCode.file(m).path; got != "/c/settings.json" {
		t.Errorf("claude: %s", got)
	}
	if got := codex.file(m).path; got != "/x/hooks.json" {
		t.Errorf("codex: %s", got)
	}
}

func TestDiff(t *testing.T) {
	m := machine(t)
	path := codex.file(m).path
	write(t, path, "{\n  \"a\": 1\n}\n")
	changes, err := codex.Install(m, false)
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

func FuzzHooks(f *testing.F) {
	for _, s := range settings {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, before []byte) {
		h := claudeCode.file(Machine{Home: "/h", Env: func(string) string { return "" }})
		after, err := h.install(before, "/bin/nod")
		if err != nil {
			return
		}
		if !h.installed(after, "/bin/nod") {
			t.Fatalf("installed, but not there:\n%s", after)
		}
		again, err := h.install(after, "/bin/nod")
		if err != nil || string(again) != string(after) {
			t.Fatalf("twice is not once: %v\n%s\n%s", err, after, again)
		}
		if json.Valid(before) && !json.Valid(after) {
			t.Fatalf("JSON became\n%s", after)
		}
	})
}
