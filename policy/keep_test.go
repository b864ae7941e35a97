package policy

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
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
	if len(call.Input.read.analyzed) != 1 || len(call.Input.read.assessed) != 1 {
		t.Errorf("read %d and %d commands", len(call.Input.read.analyzed), len(call.Input.read.assessed))
	}
}
