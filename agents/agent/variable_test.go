package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What nod puts into somebody's settings comes out again, and nothing else changes.
func TestShell(t *testing.T) {
	const nod = "/usr/bin/nod"
	for before, want := range map[string]string{
		"": "{\n  \"env\": {\n    \"PREFIX\": \"/usr/bin/nod -c\"\n  }\n}\n",
		"{\n  // mine\n  \"model\": \"x\"\n}\n": "{\n  // mine\n  \"model\": \"x\",\n  \"env\": {\n    " +
			"\"PREFIX\": \"/usr/bin/nod -c\"\n  }\n}\n",
		"{\n  \"env\": {\n    \"A\": \"1\" // one\n  }\n}\n": "{\n  \"env\": {\n    \"A\": \"1\", // one\n    " +
			"\"PREFIX\": \"/usr/bin/nod -c\"\n  }\n}\n",
		`{"env": {"PREFIX": "/opt/old/nod -c"}}`: `{"env": {"PREFIX": "/usr/bin/nod -c"}}`,
		`{"env": {"PREFIX": "/my/logger -c"}}`:   "",
		`{"env": {"PREFIX": 7}}`:                 "",
		`{"env": []}`:                            "",
		`[`:                                      "",
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		asks := true
		hooks := File{Path: path, Look: func([]byte) (Found, error) { return Found{Some: asks}, nil }}
		a := Agent{
			Shell:    func(Machine) File { return Shell(path, "PREFIX") },
			Settings: func(Machine) File { return hooks },
		}
		apply := func(on bool) string {
			t.Helper()
			all, err := a.Contain(Machine{Nod: nod}, on)
			if err != nil {
				return ""
			}
			for _, c := range all {
				if err := c.Apply(); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		asks = false
		if got := apply(true); got != before {
			t.Errorf("an agent that does not ask nod hands it its commands: %s", got)
		}
		asks = true
		if got := apply(true); got != want {
			t.Errorf("%s\nbecomes\n%s\nwant\n%s", before, got, want)
		}
		if want == "" {
			continue
		}
		if again := apply(true); again != want {
			t.Errorf("%s\nand again\n%s", before, again)
		}
		if found, err := a.Shell(Machine{}).Look([]byte(want)); err != nil || !found.All {
			t.Errorf("%s\nis not found: %v", want, err)
		}
		was, got := strings.Join(strings.Fields(before), ""), strings.Join(strings.Fields(apply(false)), "")
		if before == "" {
			was = "{}"
		}
		if got != was && !strings.Contains(before, "PREFIX") {
			t.Errorf("%s\nends as\n%s", was, got)
		}
	}
}
