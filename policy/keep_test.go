package policy

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"nod/policy/shell"
)

// TestAKeptInputIsReadOnce judges a call twice and looks at its risks, with an input that keeps what was read of it.
func TestAKeptInputIsReadOnce(t *testing.T) {
	call := Call{Agent: "claude-code", Tool: "Bash", CWD: "/work",
		Input: ReadInput(json.RawMessage(`{"command":"rm -rf build && go test ./... | tee out.txt"}`))}
	p := &Compiled{}
	now := time.Now()
	decided, risks := Decide(call, p, now), Risks(call)
	call.Input = call.Input.Keep()
	for range 2 {
		if again := Decide(call, p, now); !reflect.DeepEqual(again, decided) {
			t.Errorf("decided %+v, then %+v", decided, again)
		}
		if again := Risks(call); !reflect.DeepEqual(again, risks) {
			t.Errorf("risks %+v, then %+v", risks, again)
		}
	}
	if n := len(call.Input.read.known); n != 2 { // analyzed and assessed
		t.Errorf("read the command %d times", n)
	}
}

// A grant says that other arguments are covered only where they are.
func TestGrantSaysWhatMayVary(t *testing.T) {
	for command, want := range map[string]string{
		"mix test":               `run "mix test" with other arguments or project files`,
		"git push origin main":   `run "git push origin main" with other harmless flags or texts`,
		"gh pr create --title x": `run "gh pr create" with other harmless flags or texts`,
		"terraform apply":        `run exactly "terraform apply"`,
	} {
		pattern, err := shell.Analyze(command).Parts[0].Pattern()
		if err != nil {
			t.Fatal(err)
		}
		if got := (Grant{Command: &pattern}).what("/home/ann"); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
