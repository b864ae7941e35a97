package interact

import (
	"testing"

	"nod/api"
)

func TestAction(t *testing.T) {
	tests := []struct {
		tool, input string
		action      Action
		gist        string
	}{
		{"Bash", `{"command":"npm test","description":"Tests"}`, RunsCommand, "npm test"},
		{"shell", `{"cmd":"ls"}`, RunsCommand, "ls"},
		{"Edit", `{"file_path":"/a.go","old_string":"a","new_string":"b"}`, EditsFile, "/a.go"},
		{"Write", `{"file_path":"/a.go","content":"a"}`, WritesFile, "/a.go"},
		{"apply_patch", `{"patch":"*** Begin Patch"}`, EditsFiles, `{"patch":"*** Begin Patch"}`},
		{"WebFetch", `{"url":"https://example.com"}`, Fetches, "https://example.com"},
		{"open_url", `{"url":"https://example.com"}`, OpensURL, "https://example.com"},
		{"ExitPlanMode", `{"plan":"1. Do it."}`, CarriesOut, "1. Do it."},
		{"ExitPlanMode", `{}`, UsesTool, "{}"},
		{"Deploy", `{"to":"live"}`, UsesTool, `{"to":"live"}`},
		{"Bash", `{"command":"ls","command":"rm -rf /"}`, UsesTool, `{"command":"ls","command":"rm -rf /"}`},
		{"Bash", `{"command":["rm","-rf"],"path":"/a"}`, RunsCommand, "/a"},
		{"Bash", `"ls"`, UsesTool, `"ls"`},
	}
	for _, tt := range tests {
		a := Approve{Tool: tt.tool, Input: []byte(tt.input)}
		if got := a.Action(); got != tt.action {
			t.Errorf("%s %s: %q, want %q", tt.tool, tt.input, got, tt.action)
		}
		if got := (Request{Body: a}).Gist(); got != tt.gist {
			t.Errorf("%s %s: about %q, want %q", tt.tool, tt.input, got, tt.gist)
		}
	}
}

func TestGistOfQuestions(t *testing.T) {
	for _, tt := range []struct {
		body Body
		want string
	}{
		{api.Ask{Question: "Which?"}, "Which?"},
		{api.Confirm{Message: "Sure?"}, "Sure?"},
		{api.Form{Title: "Setup", Questions: []api.Question{{Question: "Where?"}}}, "Setup"},
		{api.Form{Questions: []api.Question{{Question: "Where?"}}}, "Where?"},
		{api.Notify{Message: "Done."}, "Done."},
	} {
		if got := (Request{Body: tt.body}).Gist(); got != tt.want {
			t.Errorf("%+v: about %q, want %q", tt.body, got, tt.want)
		}
	}
}
