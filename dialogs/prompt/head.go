package prompt

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"nod/api"
	"nod/dialogs/safetext"
	"nod/interact"
	"nod/policy"
)

// maxName is the number of characters shown of an agent's name, or of its label for a button.
const maxName = 40

// wishOf returns what a request is for, and its object in the words of the requester, escaped. The object may be "".
func wishOf(r interact.Request, call policy.Call) (wish, object string) {
	switch b := r.Body.(type) {
	case interact.Approve:
		a := actions[actionOf(b)]
		object := safetext.Line(a.object(r, call), maxLabel)
		if object == "" {
			return withoutObject(b), ""
		}
		return tr(a.wish), object
	case api.Confirm:
		return tr("asks you to confirm"), ""
	case api.Form:
		if n := len(b.Questions); n > 1 {
			return tr("has {{.Count}} questions", values{"Count": n}), ""
		}
	}
	return tr("has a question"), ""
}

func withoutObject(b interact.Approve) string {
	a := actions[actionOf(b)]
	return tr(cmp.Or(a.bare, a.wish))
}

// AgentOf names the requester: as the agent if its program is known to be that agent, else as a program.
func AgentOf(who interact.Requester) string {
	name := safetext.Line(cmp.Or(who.Title, who.Agent), maxName)
	switch {
	case who.Claim() != "":
		return tr("A program that calls itself {{.Name}}", values{"Name": name})
	case name != "":
		return name
	case who.Program() != "":
		return tr("The program {{.Name}}", values{"Name": safetext.Line(who.Program(), maxName)})
	}
	return tr("Unknown program")
}

// onMachine returns the user's name for the other machine that the requester is on, or "" for this machine.
func onMachine(who interact.Requester) string {
	if !who.IsRemote() {
		return ""
	}
	return tr("on {{.Machine}}", values{"Machine": machineName(who.Machine)})
}

// SessionOf names a session by its agent, its project and, if it is on another machine, its machine.
func SessionOf(who interact.Requester) string {
	name := AgentOf(who)
	if project := who.Project(); project != "" {
		name += " · " + safetext.Line(project, maxName)
	}
	if machine := onMachine(who); machine != "" {
		name += " · " + machine
	}
	return name
}

// WishOf says who wants what, without the content of the request.
func WishOf(r interact.Request) string {
	wish, _ := wishOf(r, policy.Call{})
	if b, isCall := r.Body.(interact.Approve); isCall {
		if wish = withoutObject(b); actionOf(b) == interact.UsesTool {
			wish += " " + safetext.Line(b.Tool, maxName)
		}
	}
	return SessionOf(r.Requester) + " " + wish
}

type action struct {
	wish   string
	bare   string                                     // in place of wish, if the object is unknown
	object func(interact.Request, policy.Call) string // in the words of the requester
}

var actions = map[interact.Action]action{
	interact.UsesTool:    {"wants to use the tool", "", toolOf},
	interact.RunsCommand: {"wants to run", "wants to run a command", commandsOf},
	interact.EditsFile:   {"wants to edit", "wants to edit a file", fileOf},
	interact.EditsFiles:  {"wants to edit files", "", noObject},
	interact.WritesFile:  {"wants to write", "wants to write a file", fileOf},
	interact.Fetches:     {"wants to reach", "wants to reach the network", placeOf},
	interact.ReachesOut: {"wants a command in the sandbox to reach",
		"wants a command in the sandbox to reach the network", placeOf},
	interact.OpensURL:   {"wants to open in your browser", "wants to open an address in your browser", placeOf},
	interact.CarriesOut: {"wants to carry out this plan", "", noObject},
}

func noObject(interact.Request, policy.Call) string { return "" }

func toolOf(_ interact.Request, call policy.Call) string { return call.Tool }

const maxCommands = 2

func commandsOf(_ interact.Request, call policy.Call) string {
	names := policy.CommandNames(call)
	if len(names) > maxCommands {
		names = append(names[:maxCommands:maxCommands], "…")
	}
	return strings.Join(names, ", ")
}

func fileOf(r interact.Request, _ policy.Call) string {
	path := r.Gist()
	if !filepath.IsAbs(path) {
		return path
	}
	if inside, err := filepath.Rel(r.Requester.Folder(), path); err == nil && filepath.IsLocal(inside) {
		return inside
	}
	return placesOf(r).home(filepath.Clean(path))
}

// placeOf names the host of a URL, or the whole URL if programs might disagree about the host.
func placeOf(r interact.Request, _ policy.Call) string {
	host, _ := HostOf(r.Gist())
	return cmp.Or(host, r.Gist())
}

func actionOf(a interact.Approve) interact.Action {
	what := a.Action()
	if what == interact.CarriesOut && !IsPlan(a) { // it cannot be shown as a plan
		what = interact.UsesTool
	}
	return what
}

type origin struct {
	From  Source
	Label string
	Text  string
}

// Source says where an origin comes from.
type Source int

const (
	Verified   Source = iota // the operating system; the program is known to be the agent
	Unverified               // the requester, although the operating system should know
	Reported                 // another machine
	Other                    // the operating system, of any other program; or the requester, in addition
)

// originOf returns what the operating system knows about the requester and, separately, what the requester claims.
func originOf(r interact.Request) []origin {
	who, at := r.Requester, placesOf(r)
	place := func(path string) string { return safetext.Line(at.home(path), maxLabel) }
	p := who.Process
	if p.PID == 0 {
		return []origin{{Unverified, tr("not verified"), place(who.CWD)}}
	}
	caller := interact.Caller(p)
	exe := caller.Exe
	if exe == "" {
		exe = tr("unknown program")
	}
	facts := place(fmt.Sprintf("%s (pid %d)", at.home(exe), caller.PID))
	if p.CWD != "" {
		facts = place(p.CWD) + " · " + facts
	}
	parts := []origin{{Verified, tr("verified"), facts}}
	switch {
	case who.IsRemote():
		parts = []origin{{Reported, reportedBy(who.Machine), facts}}
	case !who.IsAgent:
		parts = []origin{{Other, tr("its program"), facts}}
	}
	var claims []string
	if who.CWD != "" && filepath.Clean(who.CWD) != filepath.Clean(p.CWD) {
		claims = append(claims, tr("it works in {{.Folder}}", values{"Folder": place(who.CWD)}))
	}
	if who.Subagent != (interact.Subagent{}) {
		name := safetext.Line(cmp.Or(who.Subagent.Type, who.Subagent.ID), maxName)
		claims = append(claims, tr("its subagent {{.Name}} asks", values{"Name": name}))
	}
	if len(claims) > 0 {
		parts = append(parts, origin{Other, tr("says"), strings.Join(claims, " · ")})
	}
	return parts
}

// SummaryOf describes a request on one line, for the queue.
func SummaryOf(r interact.Request) string {
	gist := safetext.Line(r.Gist(), 60)
	if b, ok := r.Body.(interact.Approve); ok && b.Action() != interact.RunsCommand {
		return safetext.Line(b.Tool, maxName) + "  " + gist
	}
	return gist
}

// ClassName says in words what a class of calls can do.
func ClassName(c policy.Class) string {
	return cmp.Or(map[policy.Class]string{
		policy.ReadOnly: tr("Only reads"), policy.Write: tr("Writes"), policy.Execute: tr("Runs programs"),
		policy.Network: tr("Uses the network"), policy.Destructive: tr("Deletes or destroys"),
	}[c], tr("Unknown effect"))
}
