package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// survey tells what a call does that is not understood, as far as its words show.
func (w *walk) survey(p *Part, words []word, at places) {
	name := baseName(words[0].text)
	args := literals(words[1:])
	w.Deletes = w.Deletes || deletes(name, args)
	w.surveyReads(p, name, args, at)
	w.surveyWrites(p, name, args, at)
	switch {
	case shells[name]:
		w.interprets = true
		w.surveyShell(args, at)
	case interprets(name):
		w.interprets, w.Opaque = true, true
	case name == "find" || name == "fd" || name == "fdfind":
		w.surveyFind(p, words[1:], at)
	}
	if wrap, ok := wrappers[name]; ok {
		w.interprets = true
		w.unwrap(wrap, words[1:], at)
	}
}

func interprets(name string) bool { return interpreters[name] || interpreters[unversioned(name)] }

// baseName is the program that a name or path stands for.
func baseName(name string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(name)), ".exe")
}

// unversioned removes the version from names such as python3.11.
func unversioned(name string) string { return strings.TrimRight(name, "0123456789.-") }

// literals are the texts of the words that are known.
func literals(words []word) []string {
	var out []string
	for _, w := range words {
		if w.known {
			out = append(out, w.text)
		}
	}
	return out
}

func deletes(name string, args []string) bool {
	if writers[name].deletes {
		return true
	}
	return slices.ContainsFunc(args, func(a string) bool { return deletingWords[name][a] })
}

// surveyReads notes the operands that look like paths.
func (w *walk) surveyReads(p *Part, name string, args []string, at places) {
	if writers[name].deletes {
		return
	}
	for _, arg := range args {
		if value, ok := valueOfFlag(arg); ok {
			arg = value
		}
		if !strings.HasPrefix(arg, "-") && looksLikePath(arg) {
			p.Accesses = reachFrom(p.Accesses, at, Access{Path: arg, Kind: Read})
		}
	}
}

// valueOfFlag returns the value in --flag=value and name=value, and what follows an @ as curl reads it.
func valueOfFlag(arg string) (string, bool) {
	_, value, ok := strings.Cut(arg, "=")
	if !ok {
		value, ok = strings.CutPrefix(arg, "@")
	}
	return strings.TrimPrefix(value, "@"), ok
}

func looksLikePath(s string) bool {
	return len(s) < 4096 && !strings.Contains(s, "://") && !strings.ContainsAny(s, " \n;|&<>") &&
		(strings.ContainsAny(s, "/.") || s == "~")
}

// surveyWrites notes the files that the program writes.
func (w *walk) surveyWrites(p *Part, name string, args []string, at places) {
	flags := strings.Fields(outputFlags[name])
	for i, arg := range args {
		for _, f := range flags {
			if value, ok := outputOf(arg, f); ok && value != "" {
				p.notes(at, Write, value)
			} else if ok && i+1 < len(args) {
				p.notes(at, Write, args[i+1])
			}
		}
		if value, ok := strings.CutPrefix(arg, "of="); ok && name == "dd" {
			p.notes(at, Write, value)
		}
	}
	rule, ok := writers[name]
	if !ok || rule.needs != "" && !hasAny(args, strings.Fields(rule.needs)) {
		return
	}
	p.writtenOperands(rule, operandsOf(args), at)
	if name == "mv" {
		w.Deletes = w.Deletes || slices.Contains(args, "/dev/null")
	}
}

// outputOf reports whether arg is the flag f, and the value that is glued to it.
func outputOf(arg, f string) (value string, ok bool) {
	if arg == f {
		return "", true
	}
	if strings.HasPrefix(f, "--") {
		return strings.CutPrefix(arg, f+"=")
	}
	if strings.HasPrefix(arg, "--") || len(f) != 2 {
		return "", false
	}
	return strings.CutPrefix(arg, f)
}

func hasAny(args, flags []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(a, f) })
	})
}

// operandsOf are the words that are no flags.
func operandsOf(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			out = append(out, a)
		}
	}
	return out
}

func (p *Part) writtenOperands(rule writer, operands []string, at places) {
	if len(operands) <= rule.skip {
		return
	}
	operands = operands[rule.skip:]
	last := operands[len(operands)-1]
	switch {
	case rule.deletes:
		for _, o := range operands {
			p.notes(at, Delete, o)
		}
		return
	case !rule.reads && !rule.moves:
		for _, o := range operands {
			p.notes(at, Write, o)
		}
		return
	case len(operands) == 1 && rule.reads && !rule.moves: // uniq IN
		return
	}
	p.notes(at, Write, last)
	for _, o := range operands[:len(operands)-1] {
		if rule.moves { // last may be a folder
			p.notes(at, Write, strings.TrimSuffix(last, "/")+"/"+lastPart(o))
		}
		if !rule.reads {
			p.notes(at, Delete, o)
		}
	}
}

// notes adds an access.
func (p *Part) notes(at places, kind Kind, path string) {
	p.Accesses = reachFrom(p.Accesses, at, Access{Path: path, Kind: kind})
}

// surveyShell reads the script in sh -c SCRIPT.
func (w *walk) surveyShell(args []string, at places) {
	for i, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.ContainsRune(a, 'c') && i+1 < len(args) {
			w.inScript(args[i+1], at)
			return
		}
	}
	w.Opaque = true
}

// script goes through a script that stands in a word.
func (w *walk) script(text string, at places) {
	if w.nested == maxNested || len(text) > MaxLength {
		w.Opaque = true
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		w.Opaque = true
		return
	}
	source := w.source
	w.source = text
	w.nested++
	w.statements(file.Stmts, at)
	w.nested--
	w.source = source
}

// surveyFind goes through the programs that find runs.
func (w *walk) surveyFind(p *Part, words []word, at places) {
	for i, word := range words {
		switch word.text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := slices.IndexFunc(words[i+1:], isExecEnd)
			if end < 0 {
				end = len(words) - i - 1
			}
			w.inCall(words[i+1:i+1+end], at)
		case "-delete":
			for _, o := range operandsOf(literals(words[:i])) {
				p.notes(at, Delete, o)
			}
		}
	}
}

func isExecEnd(w word) bool { return w.text == ";" || w.text == "+" }

// unwrap goes through the program that a wrapper runs.
func (w *walk) unwrap(wrap wrapper, words []word, at places) {
	if wrap.text {
		w.inScript(strings.Join(literals(words), " "), at)
		return
	}
	skip := wrap.skip
	for i := 0; i < len(words); i++ {
		text := words[i].text
		switch {
		case !words[i].known:
			w.Opaque = true
			return
		case text == "--":
		case strings.HasPrefix(text, "-"):
			if len(text) == 2 && strings.Contains(wrap.value, text[1:]) {
				i++
			}
			if last := len(text) - 1; i < len(words) && last > 0 && (text[last] == 'c' || strings.HasPrefix(text, "-S")) && !strings.HasPrefix(text, "--") {
				w.inScript(strings.TrimPrefix(words[i].text, "-S"), at) // script -c, su -c, env -S
			}
		case strings.Contains(text, "=") && !strings.HasPrefix(text, "="):
		case skip > 0:
			skip--
		default:
			w.inCall(words[i:], at)
			return
		}
	}
}

// inCall goes through a program that another one runs, which is judged for it.
func (w *walk) inCall(words []word, at places) {
	if len(words) == 0 || w.nested == maxNested {
		w.Opaque = true
		return
	}
	was := w.within
	w.within = true
	w.nested++
	w.call(words, nil, "", at, pipe{})
	w.nested--
	w.within = was
}

// inScript is the same for a script.
func (w *walk) inScript(text string, at places) {
	was := w.within
	w.within = true
	w.script(text, at)
	w.within = was
}

// describeProgram says what a program does that is not in the table.
func describeProgram(words []word) string {
	name := baseName(words[0].text)
	args := literals(words[1:])
	shown := quote(words[0].text)
	_, writes := writers[name]
	_, wraps := wrappers[name]
	switch {
	case strings.Contains(words[0].text, "/"):
		return shown + " names a program by its path, which may be any file."
	case drives(name, args):
		return shown + " presses keys, moves the pointer or speaks to other programs."
	case writers[name].deletes:
		return shown + " removes files."
	case shells[name], interprets(name):
		return shown + " runs a program that it is given."
	case wraps:
		return shown + " runs another program."
	case writes:
		return shown + " writes files."
	case name == "env", name == "printenv", name == "set":
		return shown + " shows the environment, which may hold secrets."
	}
	return "nod does not know " + shown + " to be harmless."
}
