package controls

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2/lang"

	"nod/dialogs/safetext"
	"nod/policy"
)

// QuoteLimit is how much of a rule's text one line shows.
const QuoteLimit = 160

// Sentence says in one line what a rule does, for a reader who does not know the file's keys.
func Sentence(r policy.Rule) string {
	var parts []string
	add := func(value, key string) {
		if value != "" {
			parts = append(parts, lang.L(key, map[string]any{"X": safetext.Line(value, QuoteLimit)}))
		}
	}
	if r.Class != "" {
		parts = append(parts, lang.L("that {{.X}}", map[string]any{"X": does(r.Class)}))
	}
	if len(r.Run) > 0 {
		parts = append(parts, runs(r))
	}
	add(r.Command, "that run exactly “{{.X}}”")
	add(r.Path, "on files in {{.X}}")
	add(r.Host, "to {{.X}}")
	for _, a := range r.Args {
		add(a.Field+" = "+a.Value, "with {{.X}}")
	}
	add(r.CWD, "working in {{.X}}")
	add(r.Agent, "by an agent named {{.X}}")
	add(r.Program, "by the program {{.X}}")
	add(r.Server, "by tools of the MCP server {{.X}}")
	add(r.Session, "in the session {{.X}}")
	add(r.Expires, "until {{.X}}")
	return strings.Join(append([]string{verb(r.Effect), subject(r)}, parts...), " ")
}

// subject is what a rule decides: a rule that allows commands lets a part of a command line pass, not the rest.
func subject(r policy.Rule) string {
	tool := map[string]any{"X": safetext.Line(r.Tool, QuoteLimit)}
	byParts := r.Effect == policy.Allow && len(r.Run) > 0
	switch {
	case byParts && r.Tool != "":
		return lang.L("parts of command lines of {{.X}}", tool)
	case byParts:
		return lang.L("parts of command lines")
	case r.Tool != "":
		return lang.L("calls of {{.X}}", tool)
	}
	return lang.L("all calls")
}

// runsShown is how many of a rule's commands are named.
const runsShown = 6

func runs(r policy.Rule) string {
	var names []string
	for _, run := range r.Run[:min(len(r.Run), runsShown)] {
		names = append(names, "“"+safetext.Line(run, QuoteLimit)+"”")
	}
	if len(r.Run) > runsShown {
		names = append(names, "…")
	}
	x := map[string]any{"X": strings.Join(names, ", ")}
	if r.Effect == policy.Allow {
		return lang.L("that run {{.X}}", x)
	}
	return lang.L("any part of which runs {{.X}}", x)
}

func verb(e policy.Effect) string {
	if e != policy.Allow && e != policy.Deny {
		return lang.L("Ask about")
	}
	return EffectName(e)
}

// does says what the tools of a class do.
func does(c policy.Class) string {
	return cmp.Or(map[policy.Class]string{
		policy.ReadOnly: lang.L("only read"), policy.Write: lang.L("change files"), policy.Execute: lang.L("run programs"),
		policy.Network: lang.L("use the network"), policy.Destructive: lang.L("delete or overwrite"),
	}[c], lang.L("nod does not know"))
}

// ClassName is the class in a word or two.
func ClassName(c policy.Class) string {
	return cmp.Or(map[policy.Class]string{
		policy.ReadOnly: lang.L("Read only"), policy.Write: lang.L("Write"), policy.Execute: lang.L("Execute"),
		policy.Network: lang.L("Network"), policy.Destructive: lang.L("Destructive"),
	}[c], lang.L("Unknown"))
}

// Explain says what to let a class pass means.
func Explain(c policy.Class) string {
	return cmp.Or(map[policy.Class]string{
		policy.ReadOnly: lang.L("Looks at files and lists, changes nothing. Never files that hold secrets."),
		policy.Write: lang.L("Changes files. An agent that may write without asking can change anything " +
			"you can."),
		policy.Execute: lang.L("Runs programs. A program can do everything you can: with this on, nod " +
			"protects nothing."),
		policy.Network:     lang.L("Talks to other computers. What an agent has read can leave this machine."),
		policy.Destructive: lang.L("Deletes or overwrites for good. There is no undo."),
	}[c], lang.L("Tools that nod doesn't know. They can do anything."))
}

// EffectName is the effect in a word.
func EffectName(e policy.Effect) string {
	return cmp.Or(map[policy.Effect]string{policy.Allow: lang.L("Allow"), policy.Deny: lang.L("Deny")}[e], lang.L("Ask"))
}
