package claude

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/session.jsonl
var sample string

func read(t *testing.T, text string) (calls []string) {
	t.Helper()
	tr := newTranscript(strings.NewReader(text))
	for at, c := range tr.Calls() {
		if c.Agent != name || !json.Valid(c.Input.Raw) {
			t.Errorf("%+v", c)
		}
		calls = append(calls, strings.Join([]string{at.Format("05"), c.Session, c.CWD, c.Tool, c.Input.String()}, " "))
	}
	if err := tr.Err(); err != nil {
		t.Error(err)
	}
	return calls
}

func TestTranscript(t *testing.T) {
	calls := read(t, sample)
	want := []string{
		`02 s1 /srv/shop Bash {"command":"ls"}`,
		`02 s1 /srv/shop Read {"file_path":"/srv/shop/a.go"}`,
		`03 s1 /srv/shop Grep {"pattern":"x"}`,
		`03 s1 /srv/shop/web Bash {"command":"pwd"}`,
	}
	if !slices.Equal(calls, want) {
		t.Errorf("%q", calls)
	}
}

func TestTranscriptSkipsWhatIsBroken(t *testing.T) {
	for _, line := range []string{
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1",`,
		`garbage`,
		`["tool_use"]`,
		`{"type":"assistant" "tool_use"}`,
		`{"type":"assistant","cwd":7,"message":{"content":[{"type":"tool_use","name":"Bash","input":{}}]}}`,
		`{"type":"assistant","message":{"content":["tool_use"]}}`,
		`{"type":"assistant","message":{"content":"tool_use"}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t9","input":{}}]}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t9","name":"Bash"}]}}`,
		`{"type":"progress","message":{"content":[{"type":"tool_use","id":"t9","name":"Bash","input":{}}]}}`,
	} {
		if calls := read(t, line+"\n"+sample); len(calls) != 4 {
			t.Errorf("%s: %d calls", line, len(calls))
		}
	}
}

func TestIsTranscript(t *testing.T) {
	for line := range strings.Lines(sample) {
		if got, want := isTranscript([]byte(line)), !strings.Contains(line, "file-history-snapshot"); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	for _, line := range []string{`{}`, `[]`, `x`, `{"type":"session_meta","payload":{}}`, `{"sessionId":"x"}`} {
		if isTranscript([]byte(line)) {
			t.Errorf("%s is taken for one", line)
		}
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add(sample)
	for line := range strings.Lines(sample) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !slices.Equal(read(t, text), read(t, text)) {
			t.Error("two readings differ")
		}
	})
}
