package opencode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// asked is the approval that a permission amounts to, and the folder that opencode works in.
func asked(t *testing.T, payload []byte) (interact.Approve, string) {
	t.Helper()
	s, err := Agent.Hooks.Read(hooks.Call{Event: "permission.asked", Payload: payload})
	if err != nil {
		t.Fatal(err)
	}
	return s.Ask.(interact.Approve), s.CWD
}

// Permissions that the plugin really passed on, of an opencode that works in src of a repository.
func TestAPermissionIsJudgedByItsCall(t *testing.T) {
	home := t.TempDir()
	rules, err := policy.Compile(policy.Default(), policy.Places{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]struct {
		tool, input string // part of the input
		effect      policy.Effect
		class       policy.Class
	}{
		"04-permission.asked-edit":                    {"edit", `"oldString": "return 1"`, policy.Ask, policy.Write},
		"05-permission.asked-edit-write":              {"edit", `"content": "package a\n"`, policy.Ask, policy.Write},
		"06-permission.asked-external_directory-read": {"read", "/other/notes.txt", policy.Allow, policy.ReadOnly},
		"07-permission.asked-external_directory-bash": {"bash", `"workdir": "`, policy.Allow, policy.ReadOnly},
		"08-permission.asked-read":                    {"read", "/project/.env", policy.Ask, policy.ReadOnly},
		"09-permission.asked-bash-workdir":            {"bash", `"workdir": "`, policy.Allow, policy.ReadOnly},
		"10-permission.asked-edit-apply_patch":        {"edit", "*** Begin Patch", policy.Ask, policy.Write},
	} {
		payload, err := os.ReadFile("testdata/hooks/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		a, cwd := asked(t, []byte(strings.ReplaceAll(string(payload), "/home/user", filepath.ToSlash(home))))
		if a.Tool != want.tool || !strings.Contains(string(a.Input), want.input) {
			t.Errorf("%s: %s %s", file, a.Tool, a.Input)
		}
		d := policy.Decide(a.Call(interact.Requester{Agent: "opencode", CWD: cwd}), rules, time.Now())
		if d.Effect != want.effect || d.Class != want.class {
			t.Errorf("%s: %+v, want %s, %s", file, d, want.effect, want.class)
		}
	}
}

// Where the plugin knows no call, the permission has to do. Its patterns only repeat a command: without them the
// policy can tell that it only reads. Those of a file start at the top of the repository.
func TestAPermissionWithoutItsCall(t *testing.T) {
	for _, tt := range []struct {
		permission, metadata, more, want string
		class                            policy.Class
	}{
		{"bash", `{"command":"ls -la"}`, ``, `{"command":"ls -la"}`, ""},
		{"bash", `{"command":"ls -la"}`, `,"call":{"tool":"other","args":{}}`, `{"command":"ls -la"}`, ""},
		{"edit", `{"filepath":"/src/x.go"}`, ``, `{"filepath":"/src/x.go","patterns":["a"]}`, ""},
		{"read", `{}`, `,"worktree":"/src"`, `{"patterns":["/src/a"]}`, ""},
		{"read", `{}`, ``, `{"patterns":["a"]}`, policy.Unknown},
		{"read", `{"server":"s"}`, `,"worktree":"/src"`, `{"patterns":["a"],"server":"s"}`, ""},
		{"external_directory", `{}`, ``, `{"patterns":["a"]}`, ""},
	} {
		a, _ := asked(t, []byte(`{"properties":{"id":"p","permission":"`+tt.permission+`","patterns":["a"],"metadata":`+
			tt.metadata+`}`+tt.more+`}`))
		if a.Tool != tt.permission || string(a.Input) != tt.want || a.Class != tt.class {
			t.Errorf("%s %s%s: %s %s, class %q", tt.permission, tt.metadata, tt.more, a.Tool, a.Input, a.Class)
		}
	}
}
