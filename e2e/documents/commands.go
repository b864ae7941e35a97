package documents

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Runner says who runs the commands of a block of sh.
type Runner string

// Runners, as run=… names them.
const (
	Here    Runner = ""        // the test of the documents: see TestDocuments in e2e
	Package Runner = "package" // the test of the packages, in a clean system
	Agents  Runner = "agents"  // make test-agents, with the released agents
	Make    Runner = "make"    // .ci/run, which runs the targets of the Makefile
	Desk    Runner = "desk"    // nobody: only a user's own desktop will do
)

var runners = []Runner{Here, Package, Agents, Make, Desk}

// Runner says who runs the block.
func (b Block) Runner() Runner {
	for _, option := range b.Options {
		if runner, is := strings.CutPrefix(option, "run="); is {
			return Runner(runner)
		}
	}
	return Here
}

// A Command is a command line that a document names.
type Command struct {
	Line   int
	Words  []string // without quotes; what a variable or … stands for is left as it is written
	InText bool     // named in a sentence: it may leave words out
}

// wrappers are programs that run the command after them. Their own flags and numbers come before it.
var wrappers = []string{"sudo", "env", "exec", "command", "nohup", "setsid", "time", "timeout", "nice", "xargs"}

// Commands are the command lines that the document names, in its blocks and in its sentences: of blocks all, of code in
// sentences those that begin with one of the programs. What no shell could read is a problem.
func (d Document) Commands(programs ...string) (all []Command, problems []Problem) {
	add := func(script string, line int, inText bool) {
		commands, err := parseCommands(script)
		if err != nil {
			problems = append(problems, Problem{d.Path, line, fmt.Errorf("%q: %w", script, err)})
		}
		for _, c := range commands {
			c.Line, c.InText = c.Line+line-1, inText
			all = append(all, c)
		}
	}
	for _, b := range d.Blocks {
		switch b.Language {
		case "console":
			add(b.typed(), b.Line, false)
		case "sh":
			add(b.Text, b.Line, false)
		}
	}
	for _, s := range d.Spans {
		first, _, _ := strings.Cut(s.Text, " ")
		if slices.Contains(programs, strings.TrimPrefix(first, "bin/")) {
			add(s.Text, s.Line, true)
		}
	}
	return all, problems
}

// parseCommands lists the commands of a script, those within others too.
func parseCommands(script string) ([]Command, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	var all []Command
	syntax.Walk(file, func(n syntax.Node) bool {
		call, is := n.(*syntax.CallExpr)
		if !is || len(call.Args) == 0 {
			return true
		}
		c := Command{Line: int(call.Pos().Line())}
		for _, word := range call.Args {
			c.Words = append(c.Words, plain(word, script))
		}
		c.Words[0] = strings.TrimPrefix(c.Words[0], "bin/")
		all = append(all, c)
		if slices.Contains(wrappers, c.Words[0]) {
			if i := slices.IndexFunc(c.Words, isNod); i > 0 {
				all = append(all, Command{Line: c.Line, Words: c.Words[i:]})
			}
		}
		return true
	})
	return all, nil
}

func isNod(word string) bool { return word == "nod" || word == "nod-desktop" }

// plain is a word without its quotes.
func plain(word *syntax.Word, script string) string {
	var b strings.Builder
	var add func(parts []syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, part := range parts {
			switch part := part.(type) {
			case *syntax.Lit:
				b.WriteString(part.Value)
			case *syntax.SglQuoted:
				b.WriteString(part.Value)
			case *syntax.DblQuoted:
				add(part.Parts)
			default:
				b.WriteString(script[part.Pos().Offset():part.End().Offset()])
			}
		}
	}
	add(word.Parts)
	return b.String()
}

// A Step is a command of a transcript, and what it printed.
type Step struct {
	Command, Output string
}

// Steps are the commands of a transcript. A line that begins with "> " goes on with the command before it.
func (b Block) Steps() []Step {
	var steps []Step
	for line := range strings.Lines(b.Text) {
		typed, isCommand := strings.CutPrefix(line, "$ ")
		more, goesOn := strings.CutPrefix(line, "> ")
		switch last := len(steps) - 1; {
		case isCommand:
			steps = append(steps, Step{Command: typed})
		case last < 0:
			steps = append(steps, Step{Output: line}) // belongs to no command: Check refuses it
		case goesOn && steps[last].Output == "":
			steps[last].Command += more
		default:
			steps[last].Output += line
		}
	}
	return steps
}

// typed is what a user types in a transcript, each command in the line where the document has it.
func (b Block) typed() string {
	var script strings.Builder
	isCommand := false
	for line := range strings.Lines(b.Text) {
		typed, begins := strings.CutPrefix(line, "$ ")
		more, goesOn := strings.CutPrefix(line, "> ")
		switch isCommand = begins || isCommand && goesOn; {
		case begins:
			script.WriteString(typed)
		case isCommand:
			script.WriteString(more)
		default:
			script.WriteByte('\n')
		}
	}
	return script.String()
}

// Matches reports whether got is what the transcript has, but for spaces at the ends of lines. In it … stands for any
// text, and alone in a line for any lines.
func (s Step) Matches(got string) bool {
	return like(tidy(s.Output), tidy(got))
}

func tidy(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Join(lines, "\n")
}

// like reports whether text has the parts between the … of pattern, in their order and from end to end.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "…")
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok || len(parts) == 1 {
		return ok && text == ""
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[last])
}
