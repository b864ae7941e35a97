package interact

import (
	"encoding/json"
	"slices"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Action is what a tool call is about to do, as far as the tool's name and the names of its input's fields tell: for
// windows, notifications and menus to say in words. Nothing is decided by it.
type Action string

// The actions.
const (
	UsesTool    Action = "uses a tool" // and no more is known
	RunsCommand Action = "runs a command"
	EditsFile   Action = "edits a file"
	EditsFiles  Action = "edits files"
	WritesFile  Action = "writes a file"
	Fetches     Action = "reaches the network"
	OpensURL    Action = "opens an address in the person's browser"
	CarriesOut  Action = "carries out a plan"
)

// What an agent suggests along with a plan where it can carry it out in either way.
const (
	AskForEdits  = "switch to mode default · this session"
	LetEditsPass = "switch to mode acceptEdits · this session"
)

// OpenURL is the tool as which an MCP server's wish comes to have an address opened.
const OpenURL = "open_url"

// ExitPlanMode is the tool with which Claude Code asks leave to carry out its plan.
const ExitPlanMode = "ExitPlanMode"

// knownActions are told by the fields that an input has all of. The first that fits counts.
var knownActions = []struct {
	fields []string
	action Action
}{
	{[]string{"command"}, RunsCommand},
	{[]string{"cmd"}, RunsCommand},
	{[]string{"file_path", "old_string"}, EditsFile},
	{[]string{"filePath", "oldString"}, EditsFile},
	{[]string{"path", "old_string"}, EditsFile},
	{[]string{"path", "old_str"}, EditsFile},
	{[]string{"file_path", "diff"}, EditsFile},
	{[]string{"file_path", "edits"}, EditsFile},
	{[]string{"patch"}, EditsFiles},
	{[]string{"file_path", "content"}, WritesFile},
	{[]string{"filePath", "content"}, WritesFile},
	{[]string{"path", "content"}, WritesFile},
	{[]string{"path", "file_text"}, WritesFile},
	{[]string{"url"}, Fetches},
}

// gists are the fields that say what an input is mostly about. The first that there is counts.
var gists = []string{"command", "cmd", "file_path", "filePath", "path", "url", "plan"}

// Action says what the call is about to do.
func (a Approve) Action() Action {
	fields := a.fields()
	missing := func(name string) bool { return fields[name] == nil }
	switch {
	case a.Tool == ExitPlanMode && !missing("plan"):
		return CarriesOut
	case a.Tool == OpenURL:
		return OpensURL
	}
	for _, known := range knownActions {
		if !slices.ContainsFunc(known.fields, missing) {
			return known.action
		}
	}
	return UsesTool
}

// fields are those of the input; none when readers could disagree on them.
func (a Approve) fields() (fields map[string]jsontext.Value) {
	if strict.Unmarshal(a.Input, &fields) != nil {
		return nil
	}
	return fields
}

// Gist is what a request is mostly about, in the requester's own words: the command, the path, the question. It is to
// be made safe before anybody sees it.
func (r Request) Gist() string {
	switch b := r.Body.(type) {
	case Approve:
		fields := b.fields()
		for _, name := range gists {
			var text string
			if json.Unmarshal(fields[name], &text) == nil {
				return text
			}
		}
		return string(b.Input)
	case Ask:
		return b.Question
	case Confirm:
		return b.Message
	case Form:
		if b.Title == "" && len(b.Questions) > 0 {
			return b.Questions[0].Question
		}
		return b.Title
	case Notify:
		return b.Message
	}
	return ""
}
