package dialogs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"nod/dialogs/safetext"
	"nod/interact"
	"nod/policy"
)

// inputView is the primary block of an approval: what the tool call would do, from its exact input.
type inputView struct {
	block
	content content
}

// block is what shows an input and knows how much of it has been in view: a [sheet] or a [prose].
type block interface {
	fyne.CanvasObject
	fyne.Focusable
	// attach passes the keys that the block has no use for to k, has onSeen called, once, when the whole input
	// has been in view, and makes only that count as seen which is laid out while inView reports true: a layout
	// can be a mere measurement, or of a window that is not on the screen yet.
	attach(k *keyMap, inView func() bool, onSeen func())
	// allSeen reports whether the whole input has been in view. An input that is too long to show never has.
	allSeen() bool
	// noteSeen takes note of what is in view now.
	noteSeen()
}

// content is what an input turns into.
type content struct {
	lines     []sheetLine
	plan      fyne.CanvasObject // shown in place of the lines, when there is one
	original  string            // what a copy of everything gives
	facts     []fact
	warnings  []string
	bases     []*baseFile // the files that lines were worked out from
	agentSays string
}

// newInputView shows the input of a, which came from an agent that works in cwd.
func newInputView(a interact.Approve, cwd string) *inputView {
	c := newContent(a, cwd)
	v := &inputView{content: c}
	if c.plan != nil {
		v.block = newProse(c.plan)
	} else {
		v.block = v.newSheet()
	}
	v.content.warnings = append(v.content.warnings, oddCharacters(v.content.lines)...)
	return v
}

func (v *inputView) newSheet() *sheet {
	s := newSheet(v.content.lines, v.content.original)
	v.content.lines = s.lines
	if s.capped {
		v.content.warnings = append(v.content.warnings,
			tr("This is too long to be read here. It can be denied, or opened as a file, but not allowed."))
	}
	return s
}

// Warnings are sentences of nod's own to show above the input.
func (v *inputView) Warnings() []string { return v.content.warnings }

// Facts are what nod worked out from the input.
func (v *inputView) Facts() []fact { return v.content.facts }

// AgentSays is the agent's own description inside the input. It is no part of what will happen and not
// shown here, but where the agent's words are.
func (v *inputView) AgentSays() string { return v.content.agentSays }

// HasHidden reports whether something in the input does not show, and was spelled out.
func (v *inputView) HasHidden() bool {
	return slices.ContainsFunc(findings(v.content.lines), func(f safetext.Finding) bool { return f.Kind == safetext.Hidden })
}

// Stale reports whether a file that the view was worked out from has changed since. Then what is on screen
// is not what would happen, and a new view must take its place.
func (v *inputView) Stale() bool {
	return slices.ContainsFunc(v.content.bases, (*baseFile).changed)
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
	for _, show := range []func(interact.Approve, arguments, string) (content, bool){planContent, editContent, commandContent, urlContent} {
		if c, ok := show(a, args, cwd); ok {
			return c
		}
	}
	return content{lines: fieldLines(args), original: string(a.Input), facts: pathFacts(args, cwd)}
}

// withRest adds the fields that c does not show yet.
func (c content) withRest(args arguments) content {
	if len(args) > 0 {
		c.lines = append(c.lines, rule(tr("with")))
		c.lines = append(c.lines, fieldLines(args)...)
	}
	return c
}

// commandKeys are the names that agents give to what a shell gets to execute.
var commandKeys = []string{"command", "cmd", "script"}

// commandContent shows a command for a shell.
func commandContent(_ interact.Approve, args arguments, cwd string) (content, bool) {
	c := content{facts: commandFacts(args, cwd)}
	key, command, ok := args.text(commandKeys...)
	if ok {
		c.lines, c.original = numbered(command, lineText), command
		c.facts = append(shellFacts(command, cwd), append(c.facts, sizeFact(command))...)
	} else if key, ok = c.showArgv(args); !ok {
		return content{}, false
	}
	if strings.Contains(c.original, "\r\n") {
		c.warnings = append(c.warnings, tr("The lines end with a carriage return, as on Windows. A shell takes it for a part of the last word."))
	}
	rest := args.without(key)
	if says, i := description(rest); i >= 0 {
		c.agentSays = says
		rest = slices.Delete(rest, i, i+1)
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
			lines[len(lines)-1].end = "\n"
			c.lines = append(c.lines, lines...)
		}
		c.original = strings.Join(words, "\n")
		c.facts = append(c.facts, fact{tr("{{.Words}} words, not read by a shell", values{"Words": len(words)}), factNeutral})
		return key, true
	}
	return "", false
}

// description finds the agent's own words beside a command.
func description(args arguments) (text string, index int) {
	for i, a := range args {
		if a.isText && (a.key == "description" || a.key == "justification") {
			return a.text, i
		}
	}
	return "", -1
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
			c.warnings = append(c.warnings, tr("What stands in front of the @ is a user name, not the host."))
		}
	}
	c.lines = append(c.lines, unnumbered("", address, lineText)...)
	c.lines[len(c.lines)-1].end = "\n"
	return c.withRest(args.without(key)), true
}

// pathKeys are the names that agents give to files and folders.
var pathKeys = []string{
	"file_path", "filePath", "absolute_path", "notebook_path", "path", "filename", "file", "dir_path", "directory", "workdir", "cwd",
}

// pathFacts says where the paths of an input lead.
func pathFacts(args arguments, cwd string) []fact {
	var facts []fact
	for _, a := range args {
		if !a.isText || a.text == "" || !slices.Contains(pathKeys, a.key) || strings.Contains(a.text, "://") {
			continue
		}
		for _, f := range placeFacts(policy.Locate(a.text, cwd)) {
			if !slices.Contains(facts, f) {
				facts = append(facts, f)
			}
		}
	}
	return facts
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
		lines = append(lines, unnumbered(lead, a.value(), lineText)...)
		lines[len(lines)-1].end = "\n"
	}
	return lines
}

// isSimpleKey reports whether key fits into the table's column as it is.
func isSimpleKey(key string) bool {
	for _, c := range key {
		if c >= utf8.RuneSelf || c != '_' && c != '-' && c != '.' && !isAlphanumeric(c) {
			return false
		}
	}
	return key != "" && len(key) <= maxKeyWidth
}

func isAlphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// value is what the table shows of a: a text as it is, anything else as JSON. A text that reads like JSON
// keeps its quotes, so that "5" is not taken for 5.
func (a argument) value() string {
	if a.isText && (a.text == "" || json.Valid([]byte(a.text)) && !strings.ContainsAny(a.text, "{[")) {
		return string(a.raw)
	}
	if a.isText {
		return a.text
	}
	var b bytes.Buffer
	if err := json.Indent(&b, a.raw, "", "  "); err != nil {
		return string(a.raw)
	}
	return b.String()
}

// findings lists what is odd in the requester's text of lines.
func findings(lines []sheetLine) []safetext.Finding {
	var rows []safetext.Row
	for _, l := range lines {
		if l.style != lineNote && l.style != lineRule {
			rows = append(rows, safetext.Row{Spans: l.spans, Count: 1})
		}
	}
	return safetext.Findings(rows)
}

const maxNamed = 4 // kinds of odd characters that a warning names

// oddCharacters are the warnings for what is hidden or imitates something in lines.
func oddCharacters(lines []sheetLine) []string {
	hidden, kinds := 0, []string{}
	var alike []string
	for _, f := range findings(lines) {
		what := tr(f.Why)
		if f.Kind == safetext.Hidden {
			hidden++
			if !slices.Contains(kinds, what) && len(kinds) < maxNamed {
				kinds = append(kinds, what)
			}
			continue
		}
		if what = f.Text + " " + what; !slices.Contains(alike, what) && len(alike) < maxNamed {
			alike = append(alike, what)
		}
	}
	var warnings []string
	if hidden > 0 {
		warnings = append(warnings, tr("Contains characters that would not show; they are spelled out in red ({{.Kinds}}).",
			values{"Kinds": strings.Join(kinds, ", ")}))
	}
	if len(alike) > 0 {
		warnings = append(warnings, tr("Contains characters that are not what they look like: {{.List}}.",
			values{"List": strings.Join(alike, ", ")}))
	}
	return warnings
}
