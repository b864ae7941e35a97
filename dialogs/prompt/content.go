package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"nod/dialogs/safetext"
	"nod/interact"
	"nod/policy"
	"nod/policy/shell"
)

// Content is how an input is shown.
type Content struct {
	Lines     []Line
	Must      int         // number of lines that must be read, before a file's content; 0: all
	Plan      string      // Markdown to show in place of the lines, if any
	Beside    string      // the rest of the input of a plan
	Original  string      // what copying everything gives
	Facts     []Fact      // derived from the input by nod
	Reported  []Fact      // reported by the other machine
	isCommand bool        // the original is a command line
	Dangers   []danger    // dangerous parts of a long command
	Warnings  []string    // sentences to show above the input
	Diff      string      // change of a file, as a unified diff
	bases     []*baseFile // the files that the lines compare with
	AgentSays string      // the agent's description, which has no effect: not in Lines
	described []string    // the parts of a command of which the facts tell what they do
}

// noteOdd adds the facts and warnings about odd characters in the lines. capped says that the lines are only the
// beginning.
func (c *Content) noteOdd(capped bool) {
	if capped {
		c.Warnings = append(c.Warnings,
			tr("This is too long to read here. You can deny it or open it as a file, but not allow it."))
	} else if c.Must > 0 {
		c.Facts = worstFirst(append(c.Facts, oddFacts(c.Lines[c.Must:])...))
	}
	c.Warnings = append(c.Warnings, oddCharacters(c.Lines)...)
}

// Stale reports whether a file that the view compares with has changed, so that the call would do something else.
func (c Content) Stale() bool {
	return slices.ContainsFunc(c.bases, (*baseFile).changed)
}

// assess returns the content of an approval with the risks of its call among the facts, worst first.
func assess(r interact.Request, a interact.Approve, call policy.Call) Content {
	at := placesOf(r)
	c := contentOf(a, at)
	own, ofFiles := at.risks(call)
	c.Facts = worstFirst(append(riskFacts(own), c.Facts...))
	c.Reported = worstFirst(riskFacts(ofFiles))
	if c.isCommand {
		c.Dangers, c.described = dangersOf(c.Original, own), describedBy(own)
	}
	return c
}

// AllFacts returns the facts that nod derived and those that another machine reports.
func (c Content) AllFacts() []Fact { return slices.Concat(c.Facts, c.Reported) }

func contentOf(a interact.Approve, at places) Content {
	args, ok := parseArguments(a.Input)
	if !ok {
		return Content{
			Lines: numbered(string(a.Input)), Original: string(a.Input),
			Warnings: []string{tr("nod can't read this input reliably, so here it is, unchanged.")},
		}
	}
	for _, show := range []func(interact.Approve, arguments, places) (Content, bool){
		planContent, editContent, commandContent, urlContent,
	} {
		if c, ok := show(a, args, at); ok {
			return c
		}
	}
	return Content{Lines: fieldLines(args), Original: string(a.Input)}
}

// withRest adds the fields that c does not show yet, before the content of a file, which need not be read.
func (c Content) withRest(args arguments) Content {
	if len(args) == 0 {
		return c
	}
	rest := append([]Line{rule(tr("with"))}, fieldLines(args)...)
	if c.Must == 0 {
		c.Lines = append(c.Lines, rest...)
		return c
	}
	c.Lines = slices.Insert(c.Lines, c.Must, rest...)
	c.Must += len(rest)
	return c
}

var commandKeys = []string{"command", "cmd", "script"}

func commandContent(_ interact.Approve, args arguments, at places) (Content, bool) {
	c := Content{Facts: commandFacts(args, at)}
	key, command, ok := args.text(commandKeys...)
	if ok {
		c.Lines, c.Original = inCode(numbered(command), ShellCode, command), command
		c.isCommand = true
	} else if key, ok = c.showArgv(args); !ok {
		return Content{}, false
	}
	if strings.Contains(c.Original, "\r\n") {
		c.Warnings = append(c.Warnings,
			tr("The lines end with a carriage return, as on Windows. A shell treats it as part of the last word."))
	}
	rest := args.without(key)
	if key, says, ok := rest.text("description", "justification"); ok { // the agent's description of a command
		c.AgentSays, rest = says, rest.without(key)
	}
	return c.withRest(rest), true
}

// showArgv shows a command that is given as a list of words: one word per line, numbered from 0.
func (c *Content) showArgv(args arguments) (key string, ok bool) {
	for _, key := range commandKeys {
		words, ok := args.list(key)
		if !ok {
			continue
		}
		width := len(fmt.Sprint(len(words) - 1))
		for i, w := range words {
			lines := Unnumbered(fmt.Sprintf("%*d ", width, i), w, LineText)
			if isForShell(words, i) {
				lines = inCode(lines, ShellCode, w)
			}
			c.Lines = append(c.Lines, lines...)
			if c.Lines, ok = cut(c.Lines); ok {
				break
			}
		}
		c.Original = strings.Join(words, "\n")
		c.Facts = append(c.Facts, Fact{tr("Arguments: {{.Words}}, not read by a shell", values{"Words": len(words)}),
			shell.Note})
		return key, true
	}
	return "", false
}

func urlContent(_ interact.Approve, args arguments, at places) (Content, bool) {
	key, address, ok := args.text("url", "uri")
	if !ok {
		return Content{}, false
	}
	c := Content{Original: address, Facts: addressFacts(address)}
	if host, _ := HostOf(address); host != "" {
		c.Lines = append(Unnumbered("", host, LineTitle), rule(""))
	}
	c.Lines = append(c.Lines, Unnumbered("", address, LineText)...)
	return c.withRest(args.without(key)), true
}

const maxKeyWidth = 20 // a longer name of a field gets a line of its own

func fieldLines(args arguments) []Line {
	if len(args) == 0 {
		return []Line{note(tr("The input is empty."))}
	}
	width := 0
	for _, a := range args {
		if isSimpleKey(a.key) {
			width = max(width, len(a.key))
		}
	}
	var lines []Line
	for _, a := range args {
		lead := fmt.Sprintf("%-*s  ", width, a.key)
		if !isSimpleKey(a.key) {
			lines = append(lines, Unnumbered("", a.key, LineKey)...)
			lead = strings.Repeat(" ", width+2)
		}
		text, rest := a.value()
		lines = append(lines, Unnumbered(lead, text, LineText)...)
		lines = append(lines, rest...)
		var full bool
		if lines, full = cut(lines); full {
			break
		}
	}
	return lines
}

func isSimpleKey(key string) bool {
	const simple = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	return key != "" && len(key) <= maxKeyWidth && strings.Trim(key, simple) == ""
}

// value returns what the table shows of a: a string unchanged, anything else as JSON. A string that could be read as
// JSON keeps its quotes, so that "5" differs from 5. If it is too long for the table, rest says so.
func (a argument) value() (text string, rest []Line) {
	if a.isText && (a.text == "" || json.Valid([]byte(a.text)) && !strings.ContainsAny(a.text, "{[")) {
		return string(a.raw), nil
	}
	if a.isText {
		return a.text, nil
	}
	return prettyJSON(a.raw)
}

// oddFacts returns facts about the lines, which need not be read, on which characters are hidden or imitate others.
func oddFacts(lines []Line) []Fact {
	const most = 3
	var facts []Fact
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
			if slices.ContainsFunc(l.Spans, func(s safetext.Span) bool { return s.Kind == odd.kind }) {
				at = appendNew(at, l.number())
			}
		}
		at = slices.DeleteFunc(at, func(n string) bool { return n == "" })
		if len(at) > most {
			at = append(at[:most], "…")
		}
		if len(at) > 0 {
			text := odd.what + ": " + tr("line {{.Lines}}", values{"Lines": strings.Join(at, ", ")})
			facts = append(facts, Fact{text, odd.level})
		}
	}
	return facts
}

func (l Line) number() string {
	fields := strings.Fields(strings.TrimRight(l.Lead, "+- "))
	if len(fields) == 0 || strings.Trim(fields[len(fields)-1], "0123456789") != "" {
		return ""
	}
	return fields[len(fields)-1]
}

// oddCharacters returns the warnings about hidden and imitating characters in lines.
func oddCharacters(lines []Line) []string {
	const maxKinds = 4 // of odd characters that a warning names
	var hidden, alike []string
	for _, l := range lines {
		for _, s := range l.Spans {
			if s.Why() == "" {
				continue
			}
			list, what := &hidden, tr(s.Why())
			if s.Kind == safetext.Suspicious {
				list, what = &alike, s.Text+" "+what
			}
			if !slices.Contains(*list, what) && len(*list) < maxKinds {
				*list = append(*list, what)
			}
		}
	}
	var warnings []string
	if len(hidden) > 0 {
		warnings = append(warnings, tr("Contains invisible characters, spelled out in red ({{.Kinds}}).",
			values{"Kinds": strings.Join(hidden, ", ")}))
	}
	if len(alike) > 0 {
		warnings = append(warnings, tr("Contains look-alike characters: {{.List}}.",
			values{"List": strings.Join(alike, ", ")}))
	}
	return warnings
}
