package dialogs

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"nod/dialogs/safetext"
	"nod/interact"
	"nod/policy/shell"
)

// inputView is the primary block of an approval: what the tool call would do, from its exact input.
type inputView struct {
	block *sheet // shows it, and knows how much of it has been in view
	content
}

// content is what an input turns into.
type content struct {
	lines     []sheetLine
	must      int               // the first so many lines must be read: what follows is a file's content; 0: all of them
	plan      fyne.CanvasObject // shown in place of the lines, when there is one
	original  string            // what a copy of everything gives
	facts     []fact            // what nod worked out from the input
	isCommand bool              // the original is a command line
	dangers   []danger          // its dangerous parts, when it is long
	warnings  []string          // sentences of nod's own to show above the input
	diff      string            // what becomes of a file, as a unified diff
	bases     []*baseFile       // the files that lines were worked out from
	agentSays string            // the agent's own description, which is no part of what will happen: not among lines
}

// newInputView shows the input of a, which came from who.
func newInputView(a interact.Approve, who interact.Requester) *inputView {
	v := &inputView{content: assessed(a, who)}
	if v.plan != nil {
		v.block = newProse(v.plan)
	} else {
		v.block = newSheet(v.lines, v.original)
		v.lines = v.block.lines
		if v.must > 0 && !v.block.capped {
			v.block.must = v.must
			v.facts = worstFirst(append(v.facts, oddFacts(v.lines[v.must:])...))
		}
	}
	if v.block.capped {
		v.warnings = append(v.warnings,
			tr("This is too long to read here. You can deny it or open it as a file, but not allow it."))
	}
	v.warnings = append(v.warnings, oddCharacters(v.lines)...)
	return v
}

// hasHidden reports whether something in the input does not show, and was spelled out.
func (v *inputView) hasHidden() bool {
	for s := range oddSpans(v.lines) {
		if s.Kind == safetext.Hidden {
			return true
		}
	}
	return false
}

// stale reports whether a file that the view was worked out from has changed since. Then what is on screen
// is not what would happen, and a new view must take its place.
func (v *inputView) stale() bool {
	return slices.ContainsFunc(v.bases, (*baseFile).changed)
}

// assessed is the input of a, which came from who, with its risks among the facts, the worst first.
func assessed(a interact.Approve, who interact.Requester) content {
	c := newContent(a, who.Folder())
	risks := risksOf(a.Call(who))
	c.facts = worstFirst(append(riskFacts(risks), c.facts...))
	if c.isCommand {
		c.dangers = dangersOf(c.original, risks)
	}
	return c
}

// newContent picks the way to show an input by what is in it.
func newContent(a interact.Approve, cwd string) content {
	args, err := parseArguments(a.Input)
	if err != nil {
		return content{
			lines: numbered(string(a.Input), lineText), original: string(a.Input),
			warnings: []string{tr("The input cannot be read without doubt, so here it is as it came.")},
		}
	}
	for _, show := range []func(interact.Approve, arguments, string) (content, bool){
		planContent, editContent, commandContent, urlContent,
	} {
		if c, ok := show(a, args, cwd); ok {
			return c
		}
	}
	return content{lines: fieldLines(args), original: string(a.Input)}
}

// withRest adds the fields that c does not show yet: above the content of a file, which need not be read.
func (c content) withRest(args arguments) content {
	if len(args) == 0 {
		return c
	}
	rest := append([]sheetLine{rule(tr("with"))}, fieldLines(args)...)
	if c.must == 0 {
		c.lines = append(c.lines, rest...)
		return c
	}
	c.lines = slices.Insert(c.lines, c.must, rest...)
	c.must += len(rest)
	return c
}

// commandKeys are the names that agents give to what a shell gets to execute.
var commandKeys = []string{"command", "cmd", "script"}

// commandContent shows a command for a shell.
func commandContent(_ interact.Approve, args arguments, cwd string) (content, bool) {
	c := content{facts: commandFacts(args, cwd)}
	key, command, ok := args.text(commandKeys...)
	if ok {
		c.lines, c.original = inCode(numbered(command, lineText), shellCode, command), command
		c.isCommand = true
		c.facts = append(append(c.facts, programsFact(command)...), sizeFact(command))
	} else if key, ok = c.showArgv(args); !ok {
		return content{}, false
	}
	if strings.Contains(c.original, "\r\n") {
		c.warnings = append(c.warnings,
			tr("The lines end with a carriage return, as on Windows. A shell takes it for a part of the last word."))
	}
	rest := args.without(key)
	if key, says, ok := rest.text("description", "justification"); ok { // the agent's own words beside a command
		c.agentSays, rest = says, rest.without(key)
	}
	return c.withRest(rest), true
}

// showArgv shows a command that is given as a list of words: one word per line, numbered from 0.
func (c *content) showArgv(args arguments) (key string, ok bool) {
	for _, key := range commandKeys {
		words, ok := args.list(key)
		if !ok {
			continue
		}
		width := len(fmt.Sprint(len(words) - 1))
		for i, w := range words {
			lines := unnumbered(fmt.Sprintf("%*d ", width, i), w, lineText)
			if isForShell(words, i) {
				lines = inCode(lines, shellCode, w)
			}
			c.lines = append(c.lines, lines...)
			if c.lines, ok = cut(c.lines); ok {
				break
			}
		}
		c.original = strings.Join(words, "\n")
		c.facts = append(c.facts, fact{tr("{{.Words}} words, not read by a shell", values{"Words": len(words)}), shell.Note})
		return key, true
	}
	return "", false
}

// urlContent shows a URL: where it leads first and big, then all of it.
func urlContent(_ interact.Approve, args arguments, cwd string) (content, bool) {
	key, address, ok := args.text("url", "uri")
	if !ok {
		return content{}, false
	}
	c := content{original: address, facts: addressFacts(address)}
	host, u := hostOf(address)
	if host == "" {
		c.warnings = append(c.warnings, tr("Programs may disagree about where this address leads."))
	} else {
		c.lines = append(unnumbered("", host, lineTitle), rule(""))
		if u.User != nil {
			c.warnings = append(c.warnings, tr("The part before the @ is a user name, not the host."))
		}
	}
	c.lines = append(c.lines, unnumbered("", address, lineText)...)
	return c.withRest(args.without(key)), true
}

const maxKeyWidth = 20 // a longer name of a field gets a line of its own

// fieldLines is the table of an input's fields.
func fieldLines(args arguments) []sheetLine {
	if len(args) == 0 {
		return []sheetLine{note(tr("The input is empty."))}
	}
	width := 0
	for _, a := range args {
		if isSimpleKey(a.key) {
			width = max(width, len(a.key))
		}
	}
	var lines []sheetLine
	for _, a := range args {
		lead := fmt.Sprintf("%-*s  ", width, a.key)
		if !isSimpleKey(a.key) {
			lines = append(lines, unnumbered("", a.key, lineKey)...)
			lead = strings.Repeat(" ", width+2)
		}
		text, rest := a.value()
		lines = append(lines, unnumbered(lead, text, lineText)...)
		lines = append(lines, rest...)
		var full bool
		if lines, full = cut(lines); full {
			break
		}
	}
	return lines
}

// isSimpleKey reports whether key fits into the table's column as it is.
func isSimpleKey(key string) bool {
	const simple = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	return key != "" && len(key) <= maxKeyWidth && strings.Trim(key, simple) == ""
}

// value is what the table shows of a: a text as it is, anything else as JSON. A text that reads like JSON
// keeps its quotes, so that "5" is not taken for 5. What is too long for the table is so in rest.
func (a argument) value() (text string, rest []sheetLine) {
	if a.isText && (a.text == "" || json.Valid([]byte(a.text)) && !strings.ContainsAny(a.text, "{[")) {
		return string(a.raw), nil
	}
	if a.isText {
		return a.text, nil
	}
	return prettyJSON(a.raw)
}

// oddSpans are those of the requester's text in lines that are hidden, or not what they look like.
func oddSpans(lines []sheetLine) iter.Seq[safetext.Span] {
	return func(yield func(safetext.Span) bool) {
		for _, l := range lines {
			for _, s := range l.spans {
				if s.Why() != "" && !yield(s) {
					return
				}
			}
		}
	}
}

// oddFacts say on which of lines, which need not be read, something is hidden or imitates something.
func oddFacts(lines []sheetLine) []fact {
	const most = 3
	var facts []fact
	for _, odd := range []struct {
		kind  safetext.Kind
		what  string
		level shell.Level
	}{
		{safetext.Hidden, tr("Hidden characters"), shell.Danger},
		{safetext.Suspicious, tr("Look-alike characters"), shell.Caution},
	} {
		var at []string
		for _, l := range lines {
			if slices.ContainsFunc(l.spans, func(s safetext.Span) bool { return s.Kind == odd.kind && s.Why() != "" }) {
				at = appendNew(at, l.number())
			}
		}
		at = slices.DeleteFunc(at, func(n string) bool { return n == "" })
		if len(at) > most {
			at = append(at[:most], "…")
		}
		if len(at) > 0 {
			text := odd.what + ": " + tr("line {{.Lines}}", values{"Lines": strings.Join(at, ", ")})
			facts = append(facts, fact{text, odd.level})
		}
	}
	return facts
}

// number is the number of l in the text that will be there; "" when it has none.
func (l sheetLine) number() string {
	fields := strings.Fields(strings.TrimRight(l.lead, "+- "))
	if len(fields) == 0 || strings.Trim(fields[len(fields)-1], "0123456789") != "" {
		return ""
	}
	return fields[len(fields)-1]
}

// oddCharacters are the warnings for what is hidden or imitates something in lines.
func oddCharacters(lines []sheetLine) []string {
	const most = 4 // kinds of odd characters that a warning names
	var hidden, alike []string
	for s := range oddSpans(lines) {
		list, what := &hidden, tr(s.Why())
		if s.Kind == safetext.Suspicious {
			list, what = &alike, s.Text+" "+what
		}
		if !slices.Contains(*list, what) && len(*list) < most {
			*list = append(*list, what)
		}
	}
	var warnings []string
	if len(hidden) > 0 {
		warnings = append(warnings, tr("Contains characters that would not show; they are spelled out in red ({{.Kinds}}).",
			values{"Kinds": strings.Join(hidden, ", ")}))
	}
	if len(alike) > 0 {
		warnings = append(warnings, tr("Contains characters that are not what they look like: {{.List}}.",
			values{"List": strings.Join(alike, ", ")}))
	}
	return warnings
}
