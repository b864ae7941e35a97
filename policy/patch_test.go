package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// patchForms are the ways in which a patch gets to apply_patch of Codex, in the folder sub: as the input of its tool,
// and in commands, which Codex looks through for one.
func patchForms(t *testing.T, project, body string) map[string]Call {
	t.Helper()
	patch := "*** Begin Patch\n" + body + "\n*** End Patch"
	quoted := "'" + patch + "'"
	here := func(start, end string) string { return start + "\n" + patch + "\n" + end }
	call := func(tool, folder string, fields map[string]string) Call {
		input, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return Call{Agent: "codex", Session: "s", Tool: tool, CWD: filepath.Join(project, folder), Input: ReadInput(input)}
	}
	forms := map[string]Call{
		"input":    call("apply_patch", "sub", map[string]string{"input": patch}),
		"command":  call("apply_patch", "sub", map[string]string{"command": patch}),
		"a folder": call("exec_command", "", map[string]string{"cmd": here("apply_patch <<'EOF'", "EOF"), "workdir": "sub"}),
	}
	for _, command := range []string{
		here("apply_patch <<'EOF'", "EOF"), here("apply_patch <<EOF", "EOF"), here(`applypatch <<"PATCH"`, "PATCH"),
		here("apply_patch <<-'EOF'", "EOF"), "apply_patch " + quoted, "apply_patch <<< " + quoted,
		"apply_patch '" + here("<<EOF", "EOF") + "'", `bash -lc "apply_patch ` + quoted + `"`,
		here(`bash -lc "apply_patch <<'EOF'`, "EOF\n\""), here("timeout 9 apply_patch <<'EOF'", "EOF"),
		here("apply_patch <<'EOF' && ls", "EOF"),
	} {
		forms[command] = call("Bash", "sub", map[string]string{"command": command})
	}
	for _, command := range []string{
		here("cd sub && apply_patch <<'EOF'", "EOF"), here(`bash -lc "cd sub && apply_patch <<'EOF'`, "EOF\n\""),
	} {
		forms[command] = call("exec_command", "", map[string]string{"cmd": command})
	}
	return forms
}

// A patch is judged by the files that it changes, by whatever way it gets to apply_patch.
func TestPatches(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "p")
	for _, folder := range []string{".git", "sub"} {
		if err := os.MkdirAll(filepath.Join(project, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Compile(Policy{AutoAllow: []Class{ReadOnly}, Rules: []Rule{
		{ID: "own", Effect: Deny, Path: project + "/sub/secret/**"},
		{ID: "ask", Effect: Ask, Path: project + "/sub/api/**"},
	}}, Places{Home: home, Own: []string{filepath.Join(home, ".config", "nod")}})
	if err != nil {
		t.Fatal(err)
	}
	first := Call{Agent: "codex", Session: "s", CWD: project, Tool: "apply_patch",
		Input: ReadInput([]byte(`{"input":"*** Begin Patch\n*** Add File: x\n+x\n*** End Patch"}`))}
	edits, err := NewGrants(first, ThisSession, CoverEdits, p, testNow)
	if err != nil {
		t.Fatal(err)
	}
	granted := p.WithGrants(edits)
	for _, tt := range []struct {
		body   string
		effect Effect // with a grant for edits in the project
		rule   string // empty: the grant, or none
	}{
		{"*** Add File: a.go\n+package a", Allow, ""},
		{"*** Update File: ../b.go\n@@\n-x\n+y\n*** Add File: new/c.go\n+package c", Allow, ""},
		{"*** Update File: " + project + "/b.go\n@@\n-x\n+y", Allow, ""},
		{"*** Add File: secret/a\n+x", Deny, "own"},
		{"*** Add File: a\n+x\n*** Delete File: ./secret/a", Deny, "own"},
		{"*** Update File: a\n*** Move to: secret/a\n@@\n-x\n+y", Deny, "own"},
		{"*** Update File: secret/a\n*** Move to: a\n@@\n-x\n+y", Deny, "own"},
		{"*** Update File: a\n@@\n-x\n *** Delete File: secret/a", Deny, "own"},
		{"*** Add File: api/a\n+x", Ask, "ask"},
		{"*** Add File: ../.git/hooks/pre-commit\n+x", Ask, "builtin:guarded"},
		{"*** Update File: ../.claude/settings.json\n@@\n-x\n+y", Ask, "builtin:guarded"},
		{"*** Add File: ../../.config/nod/config.yaml\n+x", Ask, "builtin:own_files"},
		{"*** Add File: " + home + "/.ssh/authorized_keys\n+x", Ask, "builtin:guarded"},
		{"*** Update File: .env\n@@\n-x\n+y", Ask, "builtin:secrets"},
		{"*** Add File: ../../q/a.go\n+x", Ask, ""},
		{"*** Delete File: a.go", Ask, ""},
		{"*** Update File: a.go\n*** Move to: b.go\n@@\n-x\n+y", Ask, ""},
		{"*** Add File: a.go\nx", Ask, ""},
		{"*** Add File: a.go\n+x\n*** Odd: b", Ask, ""},
	} {
		for name, call := range patchForms(t, project, tt.body) {
			d := Decide(call, granted, testNow)
			unreadable := tt.rule == "" && d.Rule == "builtin:unreadable"
			if d.Effect != tt.effect || d.Rule != tt.rule && !d.Grant && !unreadable {
				t.Errorf("%q as %q: %+v, want %s %s", tt.body, name, d, tt.effect, tt.rule)
			}
			if d := Decide(call, p, testNow); tt.effect == Allow && d.Effect != Ask {
				t.Errorf("%q as %q without the grant: %+v", tt.body, name, d)
			}
		}
	}
}

// What nod cannot see whole is asked about, and denied where it shows what a rule denies.
func TestPatchesThatAreFed(t *testing.T) {
	p := compiled(t, Policy{AutoAllow: []Class{ReadOnly, Write}, Rules: []Rule{
		{ID: "r", Effect: Deny, Path: "/home/u/src/shop/secret/**"},
	}})
	for _, command := range []string{
		"cat <<'EOF' | apply_patch\nPATCH\nEOF", "echo 'PATCH' | apply_patch", "{ apply_patch; } <<'EOF'\nPATCH\nEOF",
		"apply_patch <<EOF\nPATCH\n$x\nEOF", "apply_patch x <<'EOF'\nPATCH\nEOF", "/opt/bin/apply_patch 'PATCH'",
		"apply_patch \"PATCH$(ls)\"", "applypatch \"$x\nPATCH\"",
	} {
		for file, want := range map[string]Effect{"secret/a": Deny, "a": Ask} {
			patch := "*** Begin Patch\n*** Add File: " + file + "\n+x\n*** End Patch"
			call := bash(strings.ReplaceAll(command, "PATCH", patch))
			if d := Decide(call, p, testNow); d.Effect != want {
				t.Errorf("%q with %s: %+v", command, file, d)
			}
		}
	}
}
