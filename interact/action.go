package interact

import (
	"encoding/json"
	"slices"

	"nod/api"
	"nod/policy"
)

// Action is what a tool call is about to do, judging by the names of the tool and of its input's fields. It is only for
// display; no decision depends on it.
type Action string

// The actions.
const (
	UsesTool    Action = "uses a tool" // and no more is known
	RunsCommand Action = "runs a command"
	EditsFile   Action = "edits a file"
	EditsFiles  Action = "edits files"
	WritesFile  Action = "writes a file"
	Fetches     Action = "reaches the network"
	ReachesOut  Action = "reaches out of the sandbox"
	OpensURL    Action = "opens an address in the user's browser"
	CarriesOut  Action = "carries out a plan"
)

// What an agent suggests with a plan that it can carry out in either way.
const (
	AskForEdits  = "switch to mode default · this session"
	LetEditsPass = "switch to mode acceptEdits · this session"
)

// OpenURL is the tool name of an MCP server's request to open an address.
const OpenURL = "open_url"

// ExitPlanMode is the tool with which Claude Code asks whether it may carry out its plan.
const ExitPlanMode = "ExitPlanMode"

// knownActions lists the actions by the fields of their inputs. The first action whose fields are all present counts.
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

// gists are the fields that best summarize an input, by priority.
var gists = []string{"command", "cmd", "file_path", "filePath", "path", "url", "plan"}

func (a Approve) Action() Action {
	fields := a.fields()
	missing := func(name string) bool { return fields[name] == nil }
	switch {
	case a.Tool == ExitPlanMode && !missing("plan"):
		return CarriesOut
	case a.Tool == OpenURL:
		return OpensURL
	case a.Tool == policy.NetworkTool && !missing("url"):
		return ReachesOut
	}
	for _, known := range knownActions {
		if !slices.ContainsFunc(known.fields, missing) {
			return known.action
		}
	}
	return UsesTool
}

// Gist returns a summary of a request in the requester's own words, such as the command, the path or the question. It
// may contain invisible characters.
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
	case api.Ask:
		return b.Question
	case api.Confirm:
		return b.Message
	case api.Form:
		if b.Title == "" && len(b.Questions) > 0 {
			return b.Questions[0].Question
		}
		return b.Title
	case api.Notify:
		return b.Message
	}
	return ""
}
