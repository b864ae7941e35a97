package settings

import (
	"strings"

	"fyne.io/fyne/v2/lang"

	"nod/dialogs/safetext"
	"nod/policy"
)

// quoteLimit is how much of a rule's text one line shows.
const quoteLimit = 160

// sentence says in one line what a rule does, for a reader who does not know the file's keys.
func sentence(r policy.Rule) string {
	var parts []string
	add := func(value, key string) {
		if value != "" {
			parts = append(parts, lang.L(key, map[string]any{"X": safetext.Line(value, quoteLimit)}))
		}
	}
	if r.Class != "" {
		parts = append(parts, lang.L("that {{.X}}", map[string]any{"X": does(r.Class)}))
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
	what := lang.L("all calls")
	if r.Tool != "" {
		what = lang.L("calls of {{.X}}", map[string]any{"X": safetext.Line(r.Tool, quoteLimit)})
	}
	return strings.Join(append([]string{verb(r.Effect), what}, parts...), " ")
}

func verb(e policy.Effect) string {
	switch e {
	case policy.Allow:
		return lang.L("Allow")
	case policy.Deny:
		return lang.L("Deny")
	}
	return lang.L("Ask about")
}

// does says what the tools of a class do.
func does(c policy.Class) string {
	switch c {
	case policy.ReadOnly:
		return lang.L("only read")
	case policy.Write:
		return lang.L("change files")
	case policy.Execute:
		return lang.L("run programs")
	case policy.Network:
		return lang.L("use the network")
	case policy.Destructive:
		return lang.L("delete or overwrite")
	}
	return lang.L("nod does not know")
}

// className is the class in a word or two.
func className(c policy.Class) string {
	switch c {
	case policy.ReadOnly:
		return lang.L("Read only")
	case policy.Write:
		return lang.L("Write")
	case policy.Execute:
		return lang.L("Execute")
	case policy.Network:
		return lang.L("Network")
	case policy.Destructive:
		return lang.L("Destructive")
	}
	return lang.L("Unknown")
}

// effectName is the effect in a word.
func effectName(e policy.Effect) string {
	switch e {
	case policy.Allow:
		return lang.L("Allow")
	case policy.Deny:
		return lang.L("Deny")
	}
	return lang.L("Ask")
}
