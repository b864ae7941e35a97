// Package git answers one question: does git, run for reading in a folder, run any program other than itself?
//
// status, log, diff, show, blame, grep, describe and their like only read, unless the configuration says otherwise:
// core.fsmonitor, diff drivers, filters and a few more name programs that git then runs. [Inspect] reads the
// configuration that git would read and names the key. Its answer applies to subcommands that stay on this
// computer (not ls-remote, "remote show" or fetch) and for flags that ask for nothing more (not --show-signature,
// --remerge-diff, --submodule=diff, --filters, --textconv with a driver named elsewhere, -c or --open-files-in-pager).
// It cannot see the environment of git's caller, where GIT_DIR and GIT_CONFIG_COUNT may say otherwise.
//
// git's configuration is read here and not with a library: github.com/go-git/gcfg, which go-git also uses, takes the
// format for stricter than it is (no byte order mark, no "[section] key = value" on one line, no [section.sub], no
// bytes that are not UTF-8), keeps a line break where git joins lines, and cannot tell [diff ""] from [diff]. A file
// that git reads and we do not would cost a prompt; a value that both read differently would be a hole.
package git

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"nod/ownfile"
)

// Limits of one inspection. Exceeding them is a problem.
const (
	maxConfig       = 1 << 20 // bytes of one configuration file
	maxReflog       = 8 << 20 // bytes of one file in .git/logs
	maxFiles        = 300     // configuration files, includes and missing ones among them
	maxDepth        = 10      // includes within includes; git's own limit
	maxRepositories = 50      // submodules, and theirs
)

// Inspect inspects the repository that git would use in folder, for a user whose home folder is home. problem is one
// sentence that names a key and its file, or what else keeps git from only reading; empty if git only reads. Without a
// repository it is empty, too, unless something that looks like one is broken.
//
// Every include counts, whatever its condition, and so does every value of a key, not only the last: asking once too
// often is better.
//
// With addresses, a remote's address with a password or token is a problem, too: git will print the addresses.
func Inspect(folder, home string, addresses bool) (found bool, problem string) {
	p, problem := find(folder)
	if problem != "" || !p.found {
		return p.found, problem
	}
	in := &inspection{home: home, first: p, addresses: addresses}
	in.inspect()
	return true, in.problem
}

// Obeyed returns the places in the work tree around folder that git obeys: folders of hooks, files with settings, and
// what these lead to if they are links; and files that settings name, for some are programs. It finds what it can,
// whatever problems there are, and fails if the system kept it from looking.
func Obeyed(folder, home string) (places []string, err error) {
	p, problem := find(folder)
	if !p.found || p.top == "" {
		if problem != "" { // perhaps because nod can open nothing
			_, err = os.ReadDir(folder)
		}
		return nil, err
	}
	in := &inspection{home: home, first: p}
	in.obeys = func(path string) {
		real, err := filepath.EvalSymlinks(path)
		in.note(err)
		for _, path := range []string{filepath.Clean(path), real} {
			if isWithin(p.top, path) {
				places = append(places, path)
			}
		}
	}
	in.inspect()
	return places, in.unseen
}

// inspection inspects one repository and its submodules. It ends with the first problem.
type inspection struct {
	home      string
	first     place
	addresses bool // those of remotes count
	problem   string
	obeys     func(path string) // is given each place that git obeys; then nothing is a problem
	unseen    error             // why there may be more of these
	files     map[source]bool   // those read
	looked    int               // repositories
	hooks     []string          // values of core.hooksPath in the user's own files
	at        here
}

// source is a file, read either as one of the user's or as one of a repository's own.
type source struct {
	path       string
	own        bool
	repository int // by number; 0: before the first
}

type here struct {
	place
	hooks          []string // values of core.hooksPath
	workTrees      []string // values of core.worktree
	worktreeConfig bool
}

func (in *inspection) inspect() {
	in.files, in.at.place = map[source]bool{}, in.first
	in.readPersonal()
	in.look(in.first)
}

func (in *inspection) fail(sentence string) {
	if in.problem == "" && in.obeys == nil {
		in.problem = sentence
	}
}

func (in *inspection) note(err error) {
	if ownfile.SaysNothing(err) {
		in.unseen = err
	}
}

func (in *inspection) failKey(e *entry, path, says string) {
	in.fail("The key " + show(e.key()) + " in " + in.show(path) + " " + says + ".")
}

// systemFiles are where git keeps the configuration of the computer: Linux, Homebrew, MacPorts and Xcode.
var systemFiles = func() []string {
	if runtime.GOOS != "darwin" {
		return []string{"/etc/gitconfig", "/usr/local/etc/gitconfig", "/home/linuxbrew/.linuxbrew/etc/gitconfig"}
	}
	return []string{
		"/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig", "/opt/local/etc/gitconfig",
		"/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
		"/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
	}
}()

func (in *inspection) readPersonal() {
	if !filepath.IsAbs(in.home) {
		in.fail("nod can't tell which home folder git's configuration is in.")
		return
	}
	for _, path := range systemFiles {
		in.read(path, false, 0)
	}
	in.read(join(in.home, ".gitconfig"), false, 0)
	in.read(join(in.home, ".config/git/config"), false, 0)
	if xdg := os.Getenv("XDG_CONFIG_HOME"); xdg != "" {
		in.read(join(xdg, "git/config"), false, 0)
	}
}

// look judges one repository, and then its submodules: status, diff and describe run git in each of them.
func (in *inspection) look(p place) {
	if in.looked++; in.looked > maxRepositories {
		in.fail("The repository in " + show(in.first.base()) + " has too many submodules to look at.")
		return
	}
	in.at = here{place: p}
	in.read(join(p.common, "config"), true, 0)
	in.read(join(p.dir, "config.worktree"), true, 0)
	in.judgeWorkTrees()
	in.judgeHooks()
	in.judgeOldRemotes()
	in.judgeReflog()
	if in.problem == "" && p.top != "" {
		in.lookBelow(p)
	}
}

func (in *inspection) lookBelow(p place) {
	paths, err := submodules(p.dir)
	in.note(err)
	if err != nil {
		in.fail("The file " + in.show(join(p.dir, "index")) + " cannot be read.")
		return
	}
	for _, path := range paths {
		folder, err := filepath.EvalSymlinks(join(p.top, path))
		if ownfile.IsMissing(err) {
			continue
		}
		sub, problem := at(folder)
		if err != nil || problem != "" {
			in.fail("The submodule " + in.show(join(p.top, path)) + " cannot be read.")
		}
		if in.problem != "" {
			return
		}
		if sub.found {
			in.look(sub)
		}
	}
}

func (in *inspection) read(path string, own bool, depth int) {
	from := source{path, own, in.looked}
	if in.problem != "" || in.files[from] {
		return
	}
	in.files[from] = true
	if in.obeys != nil {
		in.obeys(path)
	}
	data, err := ownfile.ReadBehind(path, maxConfig)
	in.note(err)
	switch {
	case ownfile.IsMissing(err):
	case err != nil:
		in.fail("The file " + in.show(path) + " cannot be read.")
	case len(in.files) > maxFiles || depth > maxDepth:
		in.fail("There are too many includes; " + in.show(path) + " is the next.")
	default:
		line := parse(data, func(e *entry) { in.visit(e, path, own, depth) })
		if line > 0 {
			in.fail("Line " + strconv.Itoa(line) + " of " + in.show(path) + " cannot be read.")
		}
	}
}

func (in *inspection) visit(e *entry, path string, own bool, depth int) {
	if in.problem != "" {
		return
	}
	pattern := e.pattern()
	switch pattern {
	case "include.path", "includeif.*.path":
		in.include(e, path, own, depth)
		return
	case "core.hookspath":
		in.noteHooks(e, path, own)
		return
	case "core.worktree":
		if own {
			in.at.workTrees = append(in.at.workTrees, e.value)
		}
	case "extensions.worktreeconfig":
		in.at.worktreeConfig = true
	}
	word, says := fileKeys[pattern], judge(e, own)
	if in.obeys != nil && word == "" {
		in.obeyWords(e.value)
	}
	switch {
	case in.addresses && !isPlainAddress(e):
		says = holdsSecret
	case word != "" && own && !in.isOwnFile(e, word):
		says = leadsOut
	}
	if says != "" {
		in.failKey(e, path, says)
	}
}

// obeyWords looks for files of the work tree among the words of a value, which may be a shell's command.
func (in *inspection) obeyWords(value string) {
	isBetween := func(r rune) bool { return strings.ContainsRune(" \t\n'\"`!$&|;()<>{}=", r) }
	for word := range strings.FieldsFuncSeq(value, isBetween) {
		path := join(in.at.base(), word)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && strings.ContainsAny(word, "./") {
			in.obeys(path)
		}
	}
}

// include reads the file that a key includes; relative to the file with the key, as git spells it. A file inside the
// repository counts as the repository's own, even if another file includes it.
func (in *inspection) include(e *entry, path string, own bool, depth int) {
	value, ok := in.expand(e.value)
	if !ok {
		in.failKey(e, path, namesNoFile)
		return
	}
	file := join(folderOf(path), value)
	clean := filepath.Clean(file)
	own = own || isWithin(in.first.top, clean) || isWithin(in.first.common, clean)
	in.read(file, own, depth+1)
}

// expand expands a path in a configuration as git does. It refuses ~user, which needs the computer's list of users,
// %(prefix), which needs git's own place, the new :(optional), and bytes that versions of git read differently.
func (in *inspection) expand(path string) (expanded string, ok bool) {
	hasControl := strings.ContainsFunc(path, func(r rune) bool { return r < ' ' })
	switch {
	case path == "", hasControl, strings.HasPrefix(path, "%("), strings.HasPrefix(path, ":("):
		return "", false
	case path == "~":
		return in.home, true
	case strings.HasPrefix(path, "~/"):
		return join(in.home, path[2:]), true
	}
	return path, path[0] != '~'
}

// fileKeys name files that git reads and some command prints in part. The repository may choose a file of its own whose
// name fits the key; the value is a word of that name.
var fileKeys = map[string]string{
	"blame.ignorerevsfile": "ignore", "core.attributesfile": "attributes", "core.excludesfile": "ignore",
	"diff.orderfile": "order", "fsck.skiplist": "skip", "mailmap.file": "mailmap",
}

func (in *inspection) isOwnFile(e *entry, word string) bool {
	if e.hasValue && (e.value == "" || e.value == os.DevNull) {
		return true
	}
	value, ok := in.expand(e.value)
	if !ok {
		return false
	}
	path := join(in.at.base(), value)
	real, err := filepath.EvalSymlinks(path)
	if ownfile.IsMissing(err) {
		real, err = filepath.Clean(path), nil
	}
	return err == nil && strings.Contains(strings.ToLower(filepath.Base(real)), word) &&
		(isWithin(in.at.top, real) || isWithin(in.at.common, real)) && isPlainOrMissing(real)
}

func isPlainOrMissing(path string) bool {
	info, err := os.Lstat(path)
	return ownfile.IsMissing(err) || err == nil && info.Mode().IsRegular()
}

// judgeWorkTrees refuses a work tree that is not where .git was found. In a linked work tree git ignores the key,
// unless work trees have configurations of their own.
func (in *inspection) judgeWorkTrees() {
	if in.at.isLinked() && !in.at.worktreeConfig {
		return
	}
	for _, value := range in.at.workTrees {
		real, err := filepath.EvalSymlinks(join(in.at.dir, value))
		if err != nil || real != in.at.top {
			in.fail("The key core.worktree of " + in.show(in.at.dir) + " makes git work on " + show(value) + ".")
		}
	}
}

func (in *inspection) noteHooks(e *entry, path string, own bool) {
	if e.hasValue && e.value == "" { // git finds no hooks then
		return
	}
	value, ok := in.expand(e.value)
	switch {
	case !ok:
		in.failKey(e, path, namesNoFile)
	case own && in.looked > 0:
		in.at.hooks = append(in.at.hooks, value)
	default:
		in.hooks = append(in.hooks, value)
	}
}

func (in *inspection) obeyHooks(folder string) {
	in.obeys(folder)
	hooks, err := os.ReadDir(folder)
	in.note(err)
	for _, hook := range hooks {
		if real, err := filepath.EvalSymlinks(join(folder, hook.Name())); err == nil && hook.Type()&os.ModeSymlink != 0 {
			in.obeys(real)
		}
	}
}

func (in *inspection) judgeHooks() {
	for _, folder := range slices.Concat([]string{join(in.at.common, "hooks")}, in.hooks, in.at.hooks) {
		folder = join(in.at.base(), folder)
		if in.obeys != nil {
			in.obeyHooks(folder)
		}
		hook := join(folder, readingHook)
		info, err := os.Stat(hook)
		if ownfile.IsMissing(err) || err == nil && (info.IsDir() || info.Mode()&0o111 == 0) {
			continue
		}
		in.fail("The hook " + in.show(hook) + " is a program that git runs.")
	}
}

// judgeOldRemotes refuses remotes in files of their own, as git wrote them long ago.
func (in *inspection) judgeOldRemotes() {
	for _, name := range []string{"remotes", "branches"} {
		folder := join(in.at.common, name)
		list, err := os.ReadDir(folder)
		if in.addresses && (len(list) > 0 || err != nil && !ownfile.IsMissing(err)) {
			in.fail("The folder " + in.show(folder) + " may contain addresses with a password or token.")
		}
	}
}

// judgeReflog refuses a record of commands, such as git pull, that were given a password or token.
func (in *inspection) judgeReflog() {
	path := join(in.at.dir, "logs/HEAD")
	if !in.addresses {
		return
	}
	text, err := ownfile.ReadBehind(path, maxReflog)
	if err == nil && withPassword().Match(text) || err != nil && !ownfile.IsMissing(err) {
		in.fail("The folder " + in.show(filepath.Dir(path)) + " may contain addresses with a password or token.")
	}
}

func (in *inspection) show(path string) string {
	path = filepath.Clean(path)
	if top := in.first.top; isWithin(top, path) && path != top {
		return show(strings.TrimPrefix(path[len(top):], "/"))
	}
	if isWithin(in.home, path) && path != in.home {
		return show("~/" + strings.TrimPrefix(path[len(in.home):], "/"))
	}
	return show(path)
}
