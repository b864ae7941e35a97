package asking

import (
	"fyne.io/fyne/v2/lang"

	"nod/agents/registry"
	"nod/api"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
	"nod/interact"
)

const (
	nameLimit = 40 // characters of a program's or an agent's name, and of a folder's
	gistLimit = 40 // characters of what a request is about, in the tray's menu
)

// whoAsks names the agent and its project, to tell requests apart: "Claude Code · shop", and the machine when that is
// another one.
func whoAsks(who interact.Requester) string {
	who.Title = registry.Title(who.Agent)
	name := prompt.AgentOf(who)
	if project := who.Project(); project != "" {
		name += " · " + safetext.Line(project, nameLimit)
	}
	if who.IsRemote() {
		name += " · " + lang.L("on {{.Machine}}", map[string]any{"Machine": safetext.Line(who.Machine, nameLimit)})
	}
	return name
}

// wish says who wants what, and no word of what the request holds.
func wish(r interact.Request) string {
	who := map[string]any{"Agent": whoAsks(r.Requester)}
	switch b := r.Body.(type) {
	case interact.Approve:
		who["Tool"] = safetext.Line(b.Tool, nameLimit)
		return wishedCall(b.Action(), who)
	case api.Confirm:
		return lang.L("{{.Agent}} asks you to confirm", who)
	}
	return lang.L("{{.Agent}} has a question", who)
}

func wishedCall(a interact.Action, who map[string]any) string {
	switch a {
	case interact.RunsCommand:
		return lang.L("{{.Agent}} wants to run a command", who)
	case interact.EditsFile:
		return lang.L("{{.Agent}} wants to edit a file", who)
	case interact.EditsFiles:
		return lang.L("{{.Agent}} wants to edit files", who)
	case interact.WritesFile:
		return lang.L("{{.Agent}} wants to write a file", who)
	case interact.Fetches:
		return lang.L("{{.Agent}} wants to reach the network", who)
	case interact.ReachesOut:
		return lang.L("{{.Agent}} wants a command in the sandbox to reach the network", who)
	case interact.OpensURL:
		return lang.L("{{.Agent}} wants to open an address in your browser", who)
	case interact.CarriesOut:
		return lang.L("{{.Agent}} wants to carry out this plan", who)
	}
	return lang.L("{{.Agent}} wants to use the tool {{.Tool}}", who)
}
