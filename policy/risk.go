package policy

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nod/policy/shell"
	"nod/policy/shell/language"
)

// A Risk is one thing that a user should see before allowing a call.
type Risk = shell.Risk

// Risks returns what a user should see before allowing a call, the worst first, based on the current disk. It only
// informs, and keeps an allow from applying everywhere: nothing is allowed because of it.
func Risks(call Call) []Risk {
	places := DefaultPlaces()
	f := inputFacts(&call, &Compiled{guard: newGuard(places), places: places})
	r := risks{facts: f}
	if server, _, ok := strings.Cut(strings.TrimPrefix(call.Tool, mcpPrefix), "__"); ok && isMCP(call.Tool) {
		r.add(shell.Note, "From the MCP server {{.What}}", server)
	}
	if call.Input.problem != "" {
		r.add(shell.Caution, shell.RiskUnreadable, "")
	}
	r.readPatch()
	command, isCommand := f.commandText()
	if isCommand = isCommand && !r.isPatch; isCommand {
		r.command(command)
	}
	for _, a := range f.reach() {
		if !isCommand || a.source == fromField && !isShell(call.Tool) { // command may name what an editor does to a file
			r.access(&a)
		}
	}
	return r.done()
}

// CommandNames returns the commands of a command line, each once, as in "git push"; those that do more than read come
// first.
func CommandNames(call Call) []string {
	command, ok := inputFacts(&call, &Compiled{}).commandText()
	if !ok {
		return nil
	}
	a := call.Input.assess(command)
	var acting, reading []string
	for _, p := range a.Parts {
		switch name := p.Name(); {
		case name == "" || slices.Contains(acting, name) || slices.Contains(reading, name):
		case p.Reads:
			reading = append(reading, name)
		default:
			acting = append(acting, name)
		}
	}
	if names := append(acting, reading...); len(names) > 0 {
		return names
	}
	return slices.DeleteFunc(a.Programs, func(name string) bool { return name == "" })
}

func (r *risks) readPatch() {
	for _, field := range r.call.Input.fields {
		if field.isText && strings.HasPrefix(strings.TrimLeft(field.value, " \n"), language.PatchBegin) {
			r.isPatch = true
			r.input.addPatch(field.value)
		}
	}
}

func (f *facts) commandText() (string, bool) {
	if f.input.isRun {
		return f.input.command, true
	}
	var words []string
	for _, field := range f.call.Input.fields {
		if !slices.Contains([]string{"command", "cmd", "script"}, field.name) || !field.isText {
			continue
		}
		if field.depth == 0 {
			return field.value, true
		}
		words = append(words, field.value)
	}
	return quoteWords(words), len(words) > 0
}

type risks struct {
	*facts
	list []Risk
	part *shell.Part // the current part; nil: the call is not a command

	isPatch bool // the call is a patch
}

func (r *risks) add(level shell.Level, text, what string) {
	risk := Risk{Level: level, Text: text, What: what}
	if r.part != nil {
		risk.At, risk.Line = r.part.At, r.part.Text
	}
	if !slices.Contains(r.list, risk) {
		r.list = append(r.list, risk)
	}
}

func (r *risks) command(command string) {
	look := expansion{left: maxLooked}
	r.eachAccess(command, func(one shell.Access) {
		found := r.locateAll([]shell.Access{one}, r.part.In, &look)
		r.matches(found)
		switch {
		case isAll(found[0].clean):
			found = found[:1]
		case len(found) > 1:
			found = found[1:] // what a pattern matches says more than the pattern
		}
		for k := range found {
			r.access(&found[k])
		}
	})
}

// eachAccess notes the risks that a command itself shows, and visits what its parts reach.
func (r *risks) eachAccess(command string, visit func(shell.Access)) {
	a := r.call.Input.assess(command)
	r.list = append(r.list, a.Risks...)
	for i := range a.Parts {
		r.part = &a.Parts[i]
		for _, one := range slices.Concat(r.part.Accesses, r.part.Output) {
			visit(one)
		}
	}
	r.part = nil
}

const many = 10

func (r *risks) matches(found []access) {
	if found[0].kind != shell.Delete || r.picks(&found[0]) {
		return
	}
	n := 0
	if len(found) > 1 {
		found = found[1:]
	}
	for _, a := range found {
		if !a.lost && !a.relative {
			n = countFiles(filepath.FromSlash(a.real), n)
		}
	}
	switch {
	case n == maxCounted:
		r.add(shell.Caution, "Deletes {{.What}} files", fmt.Sprintf("%d+", n))
	case n >= many:
		r.add(shell.Caution, "Deletes {{.What}} files", strconv.Itoa(n))
	}
}

const maxCounted = 1000

func countFiles(root string, n int) int {
	_ = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d == nil, n == maxCounted:
			return fs.SkipAll
		case !d.IsDir():
			n++
		}
		return nil
	})
	return n
}

func isAll(pattern string) bool {
	return strings.Trim(path.Base(pattern), "*.") == "" && isWild(pattern)
}

func (r *risks) access(a *access) {
	if isAll(a.clean) {
		a.clean, a.real = path.Dir(a.clean), path.Dir(a.real)
	}
	what := r.short(a.clean)
	switch {
	case a.source == fromWords:
		if secrets().find(a.clean, r.policy.guard.named) != nil {
			r.add(shell.Caution, "Mentions a path with keys or passwords: {{.What}}", what)
		}
	case a.lost && !a.changes() && shell.Special(a.clean):
		r.readsSystem(a, what)
	case a.lost:
		level := shell.Caution
		if a.changes() {
			level = shell.Danger
		}
		r.add(level, "Unclear where this leads: {{.What}}", what)
	case a.kind == shell.Delete:
		r.deletes(a, what)
	case a.kind == shell.Write && (a.source == fromText || r.part == nil && !r.isKnown && !r.isPatch):
		r.names(a, what)
	case a.kind == shell.Write:
		r.writes(a, what)
	default:
		r.reads(a, what)
	}
}

type where uint8

const (
	elsewhere where = iota
	theDisk
	theHome
	aboveHome
	theProject
	aboveProject
)

func (r *risks) wide(a *access) where {
	cwd := r.cwd()
	for _, p := range a.paths() {
		switch {
		case p == "/" || filepath.VolumeName(filepath.FromSlash(p)) == strings.TrimSuffix(p, "/") && p != "":
			return theDisk
		case fold(p) == r.policy.guard.home:
			return theHome
		case r.policy.guard.holdsHome(p):
			return aboveHome
		case cwd.lost || a.relative:
		case p == r.project(), p == cwd.clean, p == cwd.real:
			return theProject
		case isWithin(fold(cwd.clean), fold(p)), isWithin(fold(cwd.real), fold(p)):
			return aboveProject
		}
	}
	return elsewhere
}

func (r *risks) deletes(a *access, what string) {
	texts := map[where]string{
		theDisk: "Deletes the whole disk", theHome: "Deletes your home folder",
		aboveHome: "Deletes the folder that holds your home folder", theProject: "Deletes the whole project",
		aboveProject: "Deletes a folder above the project: {{.What}}",
	}
	if text := texts[r.wide(a)]; text != "" && !r.picks(a) {
		if !strings.Contains(text, "{{.What}}") {
			what = ""
		}
		r.add(shell.Danger, text, what)
		return
	}
	isMove := r.isMove()
	switch {
	case r.changesSpecial(a, what):
	case isMove && r.isInside(a):
		r.add(shell.Note, "Inside the project", "")
	case isMove && !r.isTemporary(a):
		r.add(shell.Danger, "Moves files from outside the project: {{.What}}", what)
	case r.isInside(a) && r.picks(a):
		r.add(shell.Caution, "Deletes some files in {{.What}}", what)
	case r.isInside(a):
		r.add(shell.Caution, "Deletes: {{.What}}", what)
	case r.isTemporary(a):
		r.add(shell.Caution, "Deletes a temporary file: {{.What}}", what)
	default:
		r.add(shell.Danger, "Deletes outside the project: {{.What}}", what)
	}
}

func (r *risks) isMove() bool {
	return r.part != nil && len(r.part.Argv) > 0 && path.Base(r.part.Argv[0]) == "mv"
}

// picks reports whether only some files of a folder are removed: find names the folder in which it looks.
func (r *risks) picks(a *access) bool {
	const tests language.Words = "-name -iname -path -ipath -regex -mtime -mmin -empty -size -newer"
	return len(a.only) > 0 || r.part != nil && len(r.part.Argv) > 0 && r.part.Argv[0] == "find" &&
		slices.ContainsFunc(r.part.Argv, tests.Has)
}

func (r *risks) writes(a *access, what string) {
	texts := map[where]string{
		theDisk: "Changes the whole disk", theHome: "Changes your home folder",
		aboveHome: "Changes the folder that holds your home folder",
	}
	if text := texts[r.wide(a)]; text != "" {
		r.add(shell.Danger, text, "")
		return
	}
	switch {
	case r.changesSpecial(a, what):
		return
	case r.isInside(a):
		r.add(shell.Note, "Inside the project", "")
	case r.isTemporary(a):
		r.add(shell.Note, "Writes a temporary file: {{.What}}", what)
	default:
		r.add(shell.Caution, "Writes outside the project: {{.What}}", what)
	}
	if info, err := os.Stat(filepath.FromSlash(a.real)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		r.add(shell.Caution, "Changes a program: {{.What}}", what)
	}
}

func (r *risks) names(a *access, what string) {
	switch {
	case r.policy.guard.isOwn(a.clean) || r.policy.guard.isOwn(a.real):
		r.add(shell.Danger, "Mentions nod's own files: {{.What}}", what)
	case r.find(a, secrets()) != nil:
		r.add(shell.Danger, "Mentions a path with keys or passwords: {{.What}}", what)
	case r.find(a, guarded()) != nil:
		r.add(shell.Caution, "Mentions a protected path: {{.What}}", what)
	case !r.isInside(a): // inside the project it may not be a path of this machine
		r.add(shell.Caution, "Mentions a path outside the project: {{.What}}", what)
	}
}

// changesSpecial adds what is special about a changed place, and reports whether that says enough.
func (r *risks) changesSpecial(a *access, what string) bool {
	if r.policy.guard.isOwn(a.clean) || r.policy.guard.isOwn(a.real) || r.policy.guard.holdsOwn(a.real) {
		r.add(shell.Danger, "Changes nod's own files: {{.What}}", what)
		return true
	}
	if isDevice(a) {
		r.add(shell.Danger, "Writes to a device: {{.What}}", what)
		return true
	}
	s, e := r.find(a, secrets()), r.find(a, guarded())
	isSecret := s != nil && (!s.doubt || e == nil)
	if isSecret {
		r.add(shell.Danger, "Changes keys or passwords: {{.What}}", what)
	} else if e != nil {
		r.add(shell.Danger, e.about+": {{.What}}", what)
	} else if e := r.find(a, notable()); e != nil {
		r.add(shell.Caution, e.about+": {{.What}}", what)
	}
	if a.real != a.clean && r.isText(a) && !r.isInside(a) {
		r.add(shell.Danger, "A link leads out of the project: {{.What}}", what)
	}
	return isSecret || e != nil
}

func (r *risks) find(a *access, list *nameList) *nameEntry {
	for _, p := range a.paths() {
		if e := list.find(p, r.policy.guard.named); e != nil && !(e.doubt && !IsConfidential(a.real)) {
			return e
		}
	}
	return nil
}

func (r *risks) reads(a *access, what string) {
	deep := a.kind == shell.Tree
	isGuess := r.part != nil && !r.part.Understood // it may do more to the place than its words say
	switch at := r.wide(a); {
	case isGuess && at == theDisk:
		r.add(shell.Danger, "May reach the whole disk", "")
		return
	case isGuess && (at == theHome || at == aboveHome):
		r.add(shell.Danger, "May reach your whole home folder", "")
		return
	case deep && at == theDisk:
		r.add(shell.Danger, "Reads the whole disk", "")
		return
	case deep && (at == theHome || at == aboveHome):
		r.add(shell.Danger, "Reads your whole home folder", "")
		return
	}
	mayLeak := func(p string) bool { return leaksByName(p, r.policy.guard.named, a.kind) != nil }
	switch {
	case r.policy.guard.isOwn(a.clean) || r.policy.guard.isOwn(a.real):
		r.add(shell.Danger, "Reads nod's own files: {{.What}}", what)
	case r.find(a, secrets()) != nil && a.kind == shell.Look:
		r.add(shell.Caution, "Searches a folder with keys or passwords: {{.What}}", what)
	case r.find(a, secrets()) != nil:
		r.add(shell.Danger, "Reads keys or passwords: {{.What}}", what)
	case deep && slices.ContainsFunc(a.paths(), mayLeak):
		r.add(shell.Danger, "May read keys or passwords: {{.What}}", what)
	case slices.ContainsFunc(a.only, narrowsToSecrets):
		r.add(shell.Danger, "Looks for keys or passwords: {{.What}}", strings.Join(a.only, " "))
	case shell.Special(a.clean), shell.Special(a.real):
		r.readsSystem(a, what)
	case a.relative:
	case r.isInside(a):
		if r.part == nil && r.isKnown && a.source == fromField {
			r.add(shell.Note, "Inside the project", "")
		}
	case a.real != a.clean && r.isText(a):
		r.add(shell.Danger, "A link leads out of the project: {{.What}}", what)
	case isWithin(fold(a.real), r.policy.guard.home):
		r.add(shell.Caution, "Reads outside the project: {{.What}}", what)
	case !isGuess:
		r.add(shell.Note, "Reads outside the project: {{.What}}", what)
	}
}

// readsSystem adds the risk of reading a device or a file of the system, which may hold the memory or environment of
// other programs.
func (r *risks) readsSystem(a *access, what string) {
	isWrite := func(o Risk) bool { return o.Text == "Writes to a device: {{.What}}" }
	switch {
	case path.Base(a.clean) == "environ" || path.Base(a.clean) == "mem":
		r.add(shell.Danger, "Reads other programs' memory: {{.What}}", what)
	case isWithin(a.clean, "/dev") && (!isDevice(a) || slices.ContainsFunc(r.list, isWrite)):
	default:
		r.add(shell.Caution, "Reads a device or a file of the system: {{.What}}", what)
	}
}

func (r *risks) isInside(a *access) bool {
	cwd := r.cwd()
	return r.hasProject() && r.inProject(a.place) ||
		!a.lost && !a.relative && !cwd.lost && r.isText(a) && isWithin(fold(a.real), fold(cwd.real))
}

// hasProject reports whether the project is a repository that counts: not one that any program could make in a folder
// for temporary files.
func (r *risks) hasProject() bool {
	isTop := func(p place) bool { return p.real == r.project() }
	return r.project() != "" && !slices.ContainsFunc(r.policy.tempFolders(), isTop)
}

func (r *risks) isText(a *access) bool {
	cwd := r.cwd()
	return !cwd.lost && !a.relative && (isWithin(fold(a.clean), fold(cwd.clean)) ||
		r.hasProject() && isWithin(a.clean, r.project()))
}

func (r *risks) isTemporary(a *access) bool {
	return slices.ContainsFunc(r.policy.tempFolders(), func(p place) bool { return p.holds(a.place) })
}

// plainDevices are devices that keep nothing of what is written to them.
var plainDevices = []string{
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/stdin", "/dev/stdout",
	"/dev/stderr", "/dev/fd", "/dev/shm", "/dev/pts", "/dev/ptmx",
}

func isDevice(a *access) bool {
	isPlain := func(device string) bool { return isWithin(a.clean, device) }
	return isWithin(a.clean, "/dev") && !slices.ContainsFunc(plainDevices, isPlain)
}

func (r *risks) short(p string) string {
	cwd, home := r.cwd(), filepath.ToSlash(r.policy.places.Home)
	switch {
	case !cwd.lost && p != cwd.clean && isWithin(p, cwd.clean) && cwd.clean != "/":
		return strings.TrimPrefix(p, cwd.clean+"/")
	case home != "" && home != "/" && isWithin(p, home):
		return "~" + strings.TrimPrefix(p, home)
	}
	return p
}

// done returns the risks, the worst first. "Inside the project" is only mentioned if nothing is outside.
func (r *risks) done() []Risk {
	isElsewhere := func(o Risk) bool { return o.Level > shell.Note && strings.Contains(o.Text, "{{") }
	goesOut := slices.ContainsFunc(r.list, isElsewhere)
	list := slices.DeleteFunc(r.list, func(o Risk) bool { return goesOut && o.Text == "Inside the project" })
	slices.SortStableFunc(list, func(a, b Risk) int { return int(b.Level) - int(a.Level) })
	return list
}

// TextClass returns the class of a call according to its own text, for a caller with no reason to believe what it
// declares, or the class found elsewhere if that is stricter.
func TextClass(call Call, elsewhere Class) Class {
	return stricter(elsewhere, inputFacts(&call, &Compiled{}).class)
}

// OnlyRuns reports whether a call gives a command line to a shell that nod can read, and says nothing else: then the
// line is all that it does.
func OnlyRuns(call Call) bool {
	return isUnixShell(call.Tool) && inputFacts(&call, &Compiled{}).input.onlyRuns()
}

// TextRisks is [Risks] without access to the disk: what the command does, what it deletes, and changes of places whose
// names say that they have keys or are protected.
func TextRisks(call Call) []Risk {
	r := risks{facts: inputFacts(&call, &Compiled{})}
	if command, ok := r.commandText(); ok {
		r.eachAccess(command, func(a shell.Access) { r.changesByName(a.Path, a.Kind) })
		return r.list
	}
	for i := range r.input.named {
		if n := &r.input.named[i]; n.source == fromField {
			r.changesByName(n.path, r.kindOf(n))
		}
	}
	return r.list
}

func (r *risks) changesByName(spelled string, kind shell.Kind) {
	if kind != shell.Write && kind != shell.Delete {
		return
	}
	p := strings.ReplaceAll(spelled, `\`, "/")
	if !isRooted(p) {
		p = path.Join(r.call.CWD, p)
	}
	p = path.Clean(p)
	if e := secrets().find(p, ""); e != nil && !e.doubt {
		r.add(shell.Danger, "Changes keys or passwords: {{.What}}", spelled)
	} else if e := guarded().find(p, ""); e != nil && !e.doubt {
		r.add(shell.Danger, e.about+": {{.What}}", spelled)
	} else if kind == shell.Delete && !r.isMove() {
		r.add(shell.Caution, "Deletes: {{.What}}", spelled)
	}
}
