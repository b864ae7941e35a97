package controls

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2/lang"

	"nod/dialogs/safetext"
	"nod/policy"
)

// QuoteLimit is the number of characters shown of a text of a rule.
const QuoteLimit = 160

// Sentence explains a rule in one line, for readers who do not know the keys of the file.
func Sentence(r policy.Rule) string {
	var parts []string
	add := func(value, words string) {
		if value != "" {
			parts = append(parts, words)
		}
	}
	if r.Class != "" {
		parts = append(parts, lang.L("that {{.X}}", map[string]any{"X": does(r)}))
	}
	if len(r.Run) > 0 {
		parts = append(parts, runs(r))
	}
	add(r.Command, lang.L("that run exactly “{{.X}}”", quoted(r.Command)))
	if doesInPath(r) == "" {
		add(r.Path, lang.L("on files in {{.X}}", quoted(r.Path)))
	}
	add(r.Host, lang.L("to {{.X}}", quoted(r.Host)))
	for _, a := range r.Args {
		add(a.Field, lang.L("with {{.X}}", quoted(a.Field+" = "+a.Value)))
	}
	add(r.CWD, lang.L("working in {{.X}}", quoted(r.CWD)))
	add(r.Agent, lang.L("by an agent named {{.X}}", quoted(r.Agent)))
	add(r.Program, lang.L("by the program {{.X}}", quoted(r.Program)))
	add(r.Server, lang.L("by tools of the MCP server {{.X}}", quoted(r.Server)))
	add(r.Session, lang.L("in the session {{.X}}", quoted(r.Session)))
	add(r.Expires, lang.L("until {{.X}}", quoted(r.Expires)))
	return strings.Join(append([]string{verb(r.Effect), subject(r)}, parts...), " ")
}

func quoted(text string) map[string]any { return map[string]any{"X": safetext.Line(text, QuoteLimit)} }

// subject describes the calls of a rule: one that allows commands allows parts of a command line, not all of it.
func subject(r policy.Rule) string {
	tool := quoted(r.Tool)
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

func does(r policy.Rule) string {
	return cmp.Or(doesInPath(r), map[policy.Class]string{
		policy.ReadOnly: lang.L("only read"), policy.Write: lang.L("change files"), policy.Execute: lang.L("run programs"),
		policy.Network: lang.L("use the network"), policy.Destructive: lang.L("delete or overwrite"),
	}[r.Class], lang.L("nod does not know"))
}

// doesInPath says what tools of a rule's class do to files in its path; "" if the rule lacks one of both.
func doesInPath(r policy.Rule) string {
	if r.Path == "" {
		return ""
	}
	path := quoted(r.Path)
	return map[policy.Class]string{
		policy.ReadOnly: lang.L("only read files in {{.X}}", path), policy.Write: lang.L("change files in {{.X}}", path),
		policy.Destructive: lang.L("delete or overwrite files in {{.X}}", path),
	}[r.Class]
}

// Stop ends a sentence with a full stop.
func Stop(sentence string) string {
	return lang.L("{{.X}}.", map[string]any{"X": strings.TrimRight(sentence, ".。")})
}

// ClassName names a class in a word or two.
func ClassName(c policy.Class) string {
	return cmp.Or(map[policy.Class]string{
		policy.ReadOnly: lang.L("Read only"), policy.Write: lang.L("Write"), policy.Execute: lang.L("Execute"),
		policy.Network: lang.L("Network"), policy.Destructive: lang.L("Destructive"),
	}[c], lang.L("Unknown"))
}

// Explain explains what allowing a class means.
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

// EffectName names an effect in a word.
func EffectName(e policy.Effect) string {
	return cmp.Or(map[policy.Effect]string{policy.Allow: lang.L("Allow"), policy.Deny: lang.L("Deny")}[e], lang.L("Ask"))
}
