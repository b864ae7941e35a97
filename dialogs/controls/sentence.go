package controls

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2/lang"

	"nod/agents/registry"
	"nod/dialogs/safetext"
	"nod/policy"
)

// QuoteLimit is how many characters of a rule's text are shown.
const QuoteLimit = 160

// Sentence says in one line what a rule means for an agent.
func Sentence(r policy.Rule) string {
	do := strings.Join(append(deeds(r), conditions(r)...), " ")
	do = strings.ReplaceAll(do, " （", "（") // which no blank precedes in Chinese
	form, isKnown := sentences[r.Effect]
	if !isKnown {
		form = sentences[policy.Ask]
	}
	if r.Agent == "" && r.Program == "" {
		return lang.L(form.ofAll, map[string]any{"Do": do})
	}
	return lang.L(form.ofOne, map[string]any{"Who": who(r), "Do": do})
}

// sentences say what the rules with an effect mean, for all agents and for one.
var sentences = map[policy.Effect]struct{ ofAll, ofOne string }{
	policy.Allow:   {"Any agent may {{.Do}}", "{{.Who}} may {{.Do}}"},
	policy.Sandbox: {"Any agent may {{.Do}}, inside the sandbox", "{{.Who}} may {{.Do}}, inside the sandbox"},
	policy.Deny:    {"No agent may {{.Do}}", "{{.Who}} may not {{.Do}}"},
	policy.Ask:     {"Any agent must ask to {{.Do}}", "{{.Who}} must ask to {{.Do}}"},
}

func who(r policy.Rule) string {
	agent, program := safetext.Line(registry.Title(r.Agent), QuoteLimit), safetext.Line(r.Program, QuoteLimit)
	if agent == "" || program == "" {
		return agent + program
	}
	return lang.L("{{.Agent}} ({{.Program}})", map[string]any{"Agent": agent, "Program": program})
}

func quoted(text string) map[string]any { return map[string]any{"X": safetext.Line(text, QuoteLimit)} }

// deeds returns what the calls of a rule do, and with which tool.
func deeds(r policy.Rule) []string {
	var parts []string
	add := func(value, first, further string) {
		switch {
		case value == "":
		case len(parts) == 0:
			parts = append(parts, first)
		default:
			parts = append(parts, further)
		}
	}
	var runs []string
	for _, run := range r.Run {
		runs = append(runs, "“"+safetext.Line(run, QuoteLimit)+"”")
	}
	run := lang.L("run {{.X}}", map[string]any{"X": strings.Join(runs, ", ")})
	add(strings.Join(runs, ""), run, "")
	exactly := lang.L("run exactly “{{.X}}”", quoted(r.Command))
	add(r.Command, exactly, exactly)
	if inPath := doesInPath(r); inPath != "" {
		add(r.Path, inPath, lang.L("only to {{.X}}", map[string]any{"X": inPath}))
	} else {
		add(string(r.Class), does(r.Class), lang.L("only to {{.X}}", map[string]any{"X": does(r.Class)}))
		files := map[string]any{"X": files(r.Path)}
		add(r.Path, lang.L("access {{.X}}", files), lang.L("on {{.X}}", files))
	}
	add(r.Host, lang.L("reach {{.X}}", quoted(r.Host)), lang.L("at {{.X}}", quoted(r.Host)))
	add(r.Server, lang.L("use the MCP server {{.X}}", quoted(r.Server)),
		lang.L("through the MCP server {{.X}}", quoted(r.Server)))
	add(r.Tool, lang.L("use {{.X}}", quoted(r.Tool)), lang.L("with {{.X}}", quoted(r.Tool)))
	if len(parts) == 0 {
		return []string{lang.L("do anything")}
	}
	return parts
}

func conditions(r policy.Rule) []string {
	var parts []string
	add := func(form, text string) {
		if text != "" {
			parts = append(parts, lang.L(form, quoted(text)))
		}
	}
	for _, a := range r.Args {
		add("where {{.X}}", a.Field+" = "+a.Value)
	}
	if folder, ok := below(r.CWD); ok {
		add("anywhere in {{.X}}", folder)
	} else {
		add("in {{.X}}", r.CWD)
	}
	add("in the session {{.X}}", r.Session)
	add("until {{.X}}", r.Expires)
	return parts
}

const wildcards = "*?[{"

// below returns the folder of a pattern that matches everything in it and nothing else.
func below(pattern string) (folder string, ok bool) {
	folder, ok = strings.CutSuffix(pattern, "/**")
	return folder, ok && folder != "" && !strings.ContainsAny(folder, wildcards)
}

func files(pattern string) string {
	if folder, ok := below(pattern); ok {
		return lang.L("files in {{.X}}", quoted(folder))
	}
	if strings.ContainsAny(pattern, wildcards) {
		return lang.L("files that match {{.X}}", quoted(pattern))
	}
	return safetext.Line(pattern, QuoteLimit)
}

func does(c policy.Class) string {
	return cmp.Or(map[policy.Class]string{
		policy.ReadOnly: lang.L("read"), policy.Write: lang.L("change files"), policy.Execute: lang.L("run programs"),
		policy.Network: lang.L("use the network"), policy.Destructive: lang.L("delete or overwrite"),
	}[c], lang.L("use tools that nod doesn't know"))
}

// doesInPath says what tools of a rule's class do to files in its path, or returns "" if the rule lacks a class or a
// path.
func doesInPath(r policy.Rule) string {
	if r.Path == "" {
		return ""
	}
	files := map[string]any{"X": files(r.Path)}
	return map[policy.Class]string{
		policy.ReadOnly: lang.L("read {{.X}}", files), policy.Write: lang.L("change {{.X}}", files),
		policy.Destructive: lang.L("delete or overwrite {{.X}}", files),
	}[r.Class]
}

func Stop(sentence string) string {
	return lang.L("{{.X}}.", map[string]any{"X": strings.TrimRight(sentence, ".。")})
}

func ClassName(c policy.Class) string {
	return cmp.Or(map[policy.Class]string{
		policy.ReadOnly: lang.L("Read only"), policy.Write: lang.L("Write"), policy.Execute: lang.L("Execute"),
		policy.Network: lang.L("Network"), policy.Destructive: lang.L("Destructive"),
	}[c], lang.L("Unknown"))
}

func EffectName(e policy.Effect) string {
	return cmp.Or(map[policy.Effect]string{
		policy.Allow: lang.L("Allow"), policy.Sandbox: lang.L("Sandbox"), policy.Deny: lang.L("Deny"),
	}[e], lang.L("Ask"))
}

// ScopeName returns for how long an approval holds.
func ScopeName(s policy.Scope) string {
	return cmp.Or(map[policy.Scope]string{
		policy.ThisSession: lang.L("this session"), policy.QuarterHour: lang.L("15 minutes"),
		policy.UntilQuit: lang.L("until nod quits"), policy.Always: lang.L("always"),
		policy.Everywhere: lang.L("always, everywhere"),
	}[s], safetext.Line(string(s), QuoteLimit))
}
