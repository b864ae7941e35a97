package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"nod/policy/shell/language"
)

// survey notes what a call that is not understood does, as far as its words show more than the entry says.
func (w *walk) survey(p *Part, r *reading, words []word, at places) {
	name, args := baseName(words[0].text), literals(words[1:])
	w.interprets = w.interprets || r.program.runs()
	if r.script == nil && (r.program.traits[traitCode] || runsCode(name)) {
		script := args
		if w.watch != nil {
			script = texts(words[1:]) // what is known of them
		}
		w.surveyScript(r, script)
	}
	isRemoved := func(path string) bool {
		w.spend(len(r.accesses) / 8)
		return slices.ContainsFunc(r.accesses, func(a Access) bool { return a.Kind == Delete && a.Path == path })
	}
	kind := Tree // as tar and zip read a folder
	if r.program.kind == task {
		kind = Read
	}
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, "of="); ok && name == "dd" {
			p.Accesses = w.reachFrom(p.Accesses, at, Access{Path: value, Kind: Write})
		}
		if value, ok := valueOfFlag(arg); ok {
			arg = value
		}
		if isFlag(arg) {
			continue
		}
		names := pathsIn(arg)
		if len(names) == 0 || strings.IndexAny(arg, "~/.") != 0 { // else it is a mount, as in -v ~/x:/y
			names = slices.Insert(names, 0, arg)
		}
		for _, name := range names {
			if !isFlag(name) && name != "/dev/null" && looksLikePath(name) && !w.isSpent() && !isRemoved(name) {
				p.Accesses = w.reachFrom(p.Accesses, at, Access{Path: name, Kind: kind})
			}
		}
	}
	w.surveyBare(r, args, kind, at)
	if r.program.takesFiles() {
		w.surveyUnseen(words[1:], kind, at)
		if r.program.kind == understood && slices.ContainsFunc(words[1:], isUnknown) {
			w.unseen = w.unseen.and(at)
		}
	}
}

// surveyBare notes the words of a call that may be files without looking like paths: of a task its operands and the
// values of flags that only the user can judge; of others any word.
func (w *walk) surveyBare(r *reading, args []string, kind Kind, at places) {
	if r.program.kind == task && r.fixed == "" {
		args = slices.Concat(r.args, r.seen)
	}
	var bare []Access
	for _, arg := range args {
		name := arg
		if i := strings.IndexAny(arg, " ="); i >= 0 && (arg[i] == '=' || isFlag(arg)) {
			name = arg[i+1:]
		}
		name = strings.TrimPrefix(name, "@")
		names := []string{name}
		if looksLikePath(name) {
			names = pathsIn(name)
		}
		for _, name := range names {
			if name != "" && !isFlag(name) && !strings.ContainsAny(name, " \n") && !w.isSpent() {
				bare = w.reachFrom(bare, at, Access{Path: name, Kind: kind, Bare: true})
			}
		}
	}
	if bare != nil {
		w.Readings = append(w.Readings, Part{Accesses: bare, Within: true})
	}
}

// surveyUnseen notes the files that words may name whose beginnings nod does not know: $PWD and the like lead to the
// folder that a call works in.
func (w *walk) surveyUnseen(words []word, kind Kind, at places) {
	var bare []Access
	for _, word := range words {
		name := word.text[max(strings.IndexByte(word.text, '/'), 0):]
		if !word.known && looksLikePath(name) && !w.isSpent() {
			bare = w.reachFrom(bare, at, Access{Path: strings.TrimLeft(name, "/"), Kind: kind, Bare: true})
		}
	}
	if bare != nil {
		w.Readings = append(w.Readings, Part{Accesses: bare, Within: true})
	}
}

// noteListed notes the places of the files that a command lists for another one, or for a loop.
func (w *walk) noteListed(below []Access) {
	if len(w.listed)+len(below) > maxReadings {
		w.listed, below = nil, []Access{anywhere}
	}
	w.listed = append(w.listed, below...)
}

// readNames notes the files that programs may read under names that are known only when they run: each file that a word
// of the command names, and each that it lists.
func (w *walk) readNames() {
	may, isSeen := slices.Clone(w.listed), map[string]bool{}
	for _, text := range slices.Concat(w.said, w.assigned) {
		for name := range strings.FieldsSeq(strings.ReplaceAll(text, `\n`, " ")) {
			if isSeen[name] || isFlag(name) {
				continue
			}
			if isSeen[name] = true; len(may)+len(w.unseen) > maxAccesses {
				w.runsAnything()
				return
			}
			for _, place := range w.unseen {
				may = append(may, Access{Path: join(place, name), Kind: Tree, Bare: true})
			}
		}
	}
	w.Readings = append(w.Readings, Part{Accesses: may, Within: true})
}

// pathsIn returns the paths inside a word: that of -fFILE, of FILE:/x and of source=FILE,target=/x.
func pathsIn(word string) (paths []string) {
	for piece := range strings.SplitSeq(word, ",") {
		if isFlag(piece) && !isLong(piece) && len(piece) > 2 {
			piece = piece[2:]
		}
		piece, _, _ = strings.Cut(piece[strings.LastIndexByte(piece, '=')+1:], ":")
		if piece != word && looksLikePath(piece) {
			paths = append(paths, piece)
		}
	}
	return paths
}

const removers language.Words = "rm rmdir unlink shred srm rimraf trash trash-put"

// removesUnseen reports whether a call may remove something that no access names: because of a flag, a program among
// its words, or names that are known only when it runs.
func removesUnseen(r *reading, words []word) bool {
	name, args := baseName(words[0].text), literals(words[1:])
	entry := cmp.Or(programs().find(name), unknown)
	has := func(want string) bool { return want == always || hasWord(args, want, entry.bundles()) }
	isNamed := func(w word) bool { return !w.known || w.listed || w.text == "{}" }
	return slices.ContainsFunc(entry.deletes, has) && !slices.ContainsFunc(entry.spares, has) ||
		(entry.kind == told || entry == unknown) && slices.ContainsFunc(args, removers.Has) ||
		r.program.removes() && (r.program.kind != understood || slices.ContainsFunc(words[1:], isNamed))
}

func (p *program) removes() bool {
	return slices.ContainsFunc(p.operands, func(o operand) bool { return o.typ == wordTypes["DELETE"] })
}

// surveyScript looks for the script of sh -c SCRIPT after flags that nod does not know.
func (w *walk) surveyScript(r *reading, args []string) {
	i := slices.IndexFunc(args, func(a string) bool {
		return isFlag(a) && !isLong(a) && strings.Contains(a, "c")
	})
	rest := args[i+1:]
	at := slices.IndexFunc(rest, func(a string) bool { return !isFlag(a) })
	if i >= 0 && at >= 0 && r.program.runsShell() {
		scriptText(r, word{text: rest[at]})
		return
	}
	w.opaque = true
}

// runsCode reports whether a program runs code that nod does not read.
func runsCode(name string) bool {
	return hasEntry(baseName(name), func(p *program) bool { return p.traits[traitCode] })
}

// hasEntry reports whether the entry of a name, with or without the version in it, passes a test.
func hasEntry(name string, is func(*program) bool) bool {
	return slices.ContainsFunc([]string{name, unversioned(name)}, func(name string) bool {
		p := programs().find(name)
		return p != nil && is(p)
	})
}

func baseName(name string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(name)), ".exe")
}

// unversioned removes the version from names such as python3.11.
func unversioned(name string) string { return strings.TrimRight(name, "0123456789.-") }

func literals(words []word) []string {
	var out []string
	for _, w := range words {
		if w.known {
			out = append(out, w.text)
		}
	}
	return out
}

// valueOfFlag returns the value in --flag=value and name=value, and what follows an @, which curl treats as a file.
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

func (w *walk) script(text string, at places) {
	if w.nested == maxNested || len(text) > language.MaxLength || !w.spend(stepsParse*len(text)) {
		w.opaque = true
		w.bind("It runs a script that is longer or deeper than nod reads.")
		w.runsAnything()
		return
	}
	file := parse(text)
	if file == nil {
		w.opaque = true
		w.bind("It runs a script that is not valid shell, or not in a form that nod can read.")
		w.readText(text, at)
		return
	}
	source := w.source
	w.source = text
	w.nested++
	w.statements(file.Stmts, at)
	w.nested--
	w.source = source
}

// describeUnknown says what a program without an entry does.
func describeUnknown(words []word) string {
	name, shown := words[0].text, quote(words[0].text)
	switch {
	case strings.Contains(name, "/"):
		return shown + " names a program by its path, which may be any file."
	case drives(baseName(name), literals(words[1:])):
		return shown + " presses keys, moves the pointer or talks to other programs."
	case runsCode(name):
		return shown + " runs a program that it is given."
	case name == "printenv":
		return showsEnvironment(name)
	}
	return "nod doesn't know that " + shown + " is harmless."
}

func showsEnvironment(name string) string {
	return quote(name) + " shows the environment, which may contain secrets."
}
