package prompt

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"nod/dialogs/safetext"
	"nod/interact"
	"nod/policy"
)

// MaxName is the number of characters of an agent's name, or of its label for a button, that are shown.
const MaxName = 40

// WishOf says what a request is for, and what with: the requester's own word, made safe, or "".
func WishOf(r interact.Request) (wish, object string) {
	switch b := r.Body.(type) {
	case interact.Approve:
		a := Actions[ActionOf(b)]
		object := safetext.Line(a.object(r), maxLabel)
		if object == "" {
			return tr(cmp.Or(a.Bare, a.Wish)), ""
		}
		return tr(a.Wish), object
	case interact.Confirm:
		return tr("asks you to confirm"), ""
	case interact.Form:
		if n := len(b.Questions); n > 1 {
			return tr("has {{.Count}} questions", values{"Count": n}), ""
		}
	}
	return tr("has a question"), ""
}

// AgentOf is what to call the requester by, wherever it is named: the agent, where its program is known to be that;
// else a program, by what it calls itself or by its file.
func AgentOf(who interact.Requester) string {
	name := safetext.Line(cmp.Or(who.Title, who.Agent), MaxName)
	switch {
	case who.Claim() != "":
		return tr("A program that calls itself {{.Name}}", values{"Name": name})
	case name != "":
		return name
	case who.Program() != "":
		return tr("The program {{.Name}}", values{"Name": safetext.Line(who.Program(), MaxName)})
	}
	return tr("Unknown program")
}

// ProjectOf is the name of the folder that the requester works in; "" for one that says nothing.
func ProjectOf(who interact.Requester) string { return safetext.Line(who.Project(), MaxName) }

// OnMachine says on which other machine the requester is, by the name that the person has given that; "" on this one.
func OnMachine(who interact.Requester) string {
	if !who.IsRemote() {
		return ""
	}
	return tr("on {{.Machine}}", values{"Machine": MachineName(who.Machine)})
}

// action is what a prompt says of what a tool call is about to do.
type action struct {
	Wish   string
	Bare   string                        // instead, when it is not known what with
	object func(interact.Request) string // what with, in the requester's own word
}

// Actions are what is said of each.
var Actions = map[interact.Action]action{
	interact.UsesTool:    {"wants to use the tool", "", toolOf},
	interact.RunsCommand: {"wants to run", "wants to run a command", programsOf},
	interact.EditsFile:   {"wants to edit", "wants to edit a file", fileOf},
	interact.EditsFiles:  {"wants to edit files", "", noObject},
	interact.WritesFile:  {"wants to write", "wants to write a file", fileOf},
	interact.Fetches:     {"wants to reach", "wants to reach the network", placeOf},
	interact.OpensURL:    {"wants to open in your browser", "", placeOf},
	interact.CarriesOut:  {"wants to carry out this plan", "", noObject},
}

func noObject(interact.Request) string { return "" }

func toolOf(r interact.Request) string { return r.Body.(interact.Approve).Tool }

// programsOf names the programs that a command starts, as far as reading it tells.
func programsOf(r interact.Request) string {
	args, _ := parseArguments(r.Body.(interact.Approve).Input)
	if _, command, ok := args.text(commandKeys...); ok {
		return programsIn(command)
	}
	for _, key := range commandKeys {
		if words, ok := args.list(key); ok {
			return words[0]
		}
	}
	return ""
}

// fileOf is a file as seen from the folder that the requester works in.
func fileOf(r interact.Request) string {
	path := r.Gist()
	if !filepath.IsAbs(path) {
		return path
	}
	if inside, err := filepath.Rel(r.Requester.Folder(), path); err == nil && filepath.IsLocal(inside) {
		return inside
	}
	return PlacesOf(r).Home(filepath.Clean(path))
}

// placeOf is the host of an address, or the address where programs might disagree about that.
func placeOf(r interact.Request) string {
	host, _ := HostOf(r.Gist())
	return cmp.Or(host, r.Gist())
}

// ActionOf is what a call is about to do, as far as it can be shown.
func ActionOf(a interact.Approve) interact.Action {
	what := a.Action()
	if what == interact.CarriesOut && !IsPlan(a) { // it cannot be shown as one
		what = interact.UsesTool
	}
	return what
}

// Origin is what is known of a requester.
type Origin struct {
	From  Source
	Label string
	Text  string
}

// Source says whose word an [origin] is.
type Source int

const (
	Verified   Source = iota // the operating system's, of a program that is known to be the agent
	Program                  // the operating system's, of any other
	Unverified               // nobody's but the requester's, where the operating system should know
	Reported                 // another machine's
	Claimed                  // the requester's, beside what is known
)

// OriginOf is what the operating system knows of the requester, here or, as that says, on another machine, and apart
// from it what it claims.
func OriginOf(r interact.Request) []Origin {
	who, at := r.Requester, PlacesOf(r)
	place := func(path string) string { return safetext.Line(at.Home(path), maxLabel) }
	p := who.Process
	if p.PID == 0 {
		return []Origin{{Unverified, tr("not verified"), place(who.CWD)}}
	}
	caller := interact.Caller(p)
	exe := caller.Exe
	if exe == "" {
		exe = tr("unknown program")
	}
	facts := place(fmt.Sprintf("%s (pid %d)", at.Home(exe), caller.PID))
	if p.CWD != "" {
		facts = place(p.CWD) + " · " + facts
	}
	parts := []Origin{{Verified, tr("verified"), facts}}
	switch {
	case who.IsRemote():
		parts = []Origin{{Reported, ReportedBy(who), facts}}
	case !who.IsAgent:
		parts = []Origin{{Program, tr("its program"), facts}}
	}
	var claims []string
	if who.CWD != "" && filepath.Clean(who.CWD) != filepath.Clean(p.CWD) {
		claims = append(claims, tr("it works in {{.Folder}}", values{"Folder": place(who.CWD)}))
	}
	if who.Subagent != (interact.Subagent{}) {
		name := safetext.Line(cmp.Or(who.Subagent.Type, who.Subagent.ID), MaxName)
		claims = append(claims, tr("its subagent {{.Name}} asks", values{"Name": name}))
	}
	if len(claims) > 0 {
		parts = append(parts, Origin{Claimed, tr("says"), strings.Join(claims, " · ")})
	}
	return parts
}

// SummaryOf is one line on a request, for the list of the queue.
func SummaryOf(r interact.Request) string {
	gist := safetext.Line(r.Gist(), 60)
	if b, ok := r.Body.(interact.Approve); ok && b.Action() != interact.RunsCommand {
		return safetext.Line(b.Tool, MaxName) + "  " + gist
	}
	return gist
}

// ClassName is a class in a person's words.
func ClassName(c policy.Class) string {
	return cmp.Or(map[policy.Class]string{
		policy.ReadOnly: tr("Only reads"), policy.Write: tr("Writes"), policy.Execute: tr("Runs programs"),
		policy.Network: tr("Uses the network"), policy.Destructive: tr("Deletes or destroys"),
	}[c], tr("Unknown effect"))
}
