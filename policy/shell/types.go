package shell

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nod/policy/git"
	"nod/policy/shell/language"
)

// A check says why a word is not harmless, or returns "", and notes what the word reaches.
type check func(r *reading, w word) string

type wordType struct {
	check   check
	all     func(r *reading, words []word) string // set for a type that takes all remaining words
	hats    bool                                  // a ^ or ~ in it means what it means to git
	streams bool                                  // it is a file that may be the output of a command
	runs    bool                                  // the remaining words are a command
	starts  bool                                  // it is a program that is run
	script  bool                                  // it is, or may hold, a script for a shell
	free    bool                                  // any text will do, even one known only when it runs
	names   bool                                  // any file's name will do
	values  bool                                  // a variable's value will do: it is not shown
	steps   int                                   // what it costs to judge a byte
}

var wordTypes map[string]*wordType

func init() { // for COMMAND leads back to the programs
	wordTypes = map[string]*wordType{
		"TEXT":    {check: anyText, free: true},
		"MESSAGE": {check: anyText, free: true},
		"SKIP":    {check: skip, free: true},
		"GLOB":    {check: func(_ *reading, w word) string { return manyStars(w.text) }, free: true},
		"NUMBER":  {check: number(0)},
		"NAME":    {check: matching(plainName, "is not a plain name")},
		"WORD":    {check: matching(plainWord, "is not a plain word")},
		"VARNAME": {check: variable},
		"ONLY":    {check: only},
		"UNSET":   {check: unset},
		"LOCALE":  {check: matching(locale, "is no locale")},
		"LOCALES": {check: matching(locales, "is no list of locales")},
		"ZONE":    {check: matching(zone, "is no time zone")},
		"DATE":    {check: matching(plainDate, "is not a plain date")},
		"DAY":     {check: matching(plainDay, "is not a plain date")},

		"PATH":      {check: pathOf(Look), streams: true, names: true},
		"FOLDER":    {check: folder},
		"FILE":      {check: pathOf(Read), streams: true, names: true},
		"GZIPFILE":  {check: packed(".gz", "-gz", ".z", "-z", "_z", ".Z"), streams: true, names: true},
		"ZIPFILE":   {check: packed(".zip", ".ZIP"), streams: true, names: true},
		"LOCALFILE": {check: localFile, names: true},
		"TREE":      {check: pathOf(Tree), names: true},
		"WRITE":     {check: pathOf(Write), names: true},
		"DELETE":    {check: pathOf(Delete), names: true},
		"INTO":      {check: into, names: true},
		"PAIR":      {check: pair, streams: true, names: true},

		"REGEX":      {check: laterPattern(language.Basic), steps: 5},
		"EREGEX":     {check: laterPattern(language.Extended), steps: 5},
		"PCRE":       {check: text(func(p string) error { return language.Regexp(p, language.Perl) }), steps: 5},
		"RUSTREGEX":  {check: laterPattern(language.Rust), steps: 5},
		"PRINTF":     {check: printf, steps: 10},
		"STATFORMAT": {check: text(language.Directives)},
		"DATEFORMAT": {check: text(language.Date)},
		"GITFORMAT":  {check: text(language.GitFormat)},
		"GITSORT":    {check: text(language.GitSort)},
		"GITGROUP":   {check: gitGroup},
		"GITKEY":     {check: gitKey},
		"SED":        {check: sed, steps: 10},
		"AWK":        {check: awk, steps: 40},
		"AWKVAR":     {check: awkVariable},
		"JQ":         {check: jq, steps: 15},
		"YQ":         {check: yq, steps: 15},
		"FIND":       {all: allKnown(find), script: true, steps: 10},
		"TEST":       {all: test, steps: 10, values: true},
		"SEQ":        {all: allKnown(seq)},
		"PATCH":      {check: patch, steps: 10},
		"MEMBER":     {check: member},
		"PORT":       {check: matching(ports, "is no port")},
		"CURLFORMAT": {check: matching(curlFormat, "may read or write files")},
		"TRSET":      {check: translated},
		"LINES":      {check: lineRange},
		"RANGES":     {check: matching(ranges, "is no list of numbers")},
		"PSFORMAT":   {check: columns},

		"SPEC": {check: func(r *reading, w word) string { r.pathspec(Look, w.text); return manyStars(w.text) }},

		"REV":  {check: revision, hats: true},
		"REVS": {check: revision, hats: true},
		"URL":  {check: address},
		"HOST": {check: lead},

		"COMMAND": {all: command(false), runs: true},
		"XARGS":   {all: command(true), runs: true},
		"SHELL":   {all: shellCall, script: true},
		"SCRIPT":  {check: scriptText, script: true},
		"ASSIGN":  {check: assign},
		"PROGRAM": {check: startsProgram, starts: true},

		"LEAD":    {check: lead},
		"TARGET":  {check: target},
		"WITHIN":  {all: allKnown(func(*reading, []string) string { return "" })},
		"ARG":     {check: argument, names: true},
		"REF":     {check: ref, names: true},
		"CHANGED": {check: changedArgument, names: true},
	}
	for _, t := range wordTypes {
		if t.check == nil {
			t.check = anyText
		}
		t.steps = max(t.steps, 2)
	}
}

var (
	plainName    = language.Compiled(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)
	plainWord    = language.Compiled(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	variableName = language.Compiled(`^[A-Za-z_][A-Za-z0-9_]*$`)
	locale       = language.Compiled(`^` + aLocale + `$`)
	locales      = language.Compiled(`^` + aLocale + `(:` + aLocale + `){0,9}$`)
	zone         = language.Compiled(`^:?[A-Z][A-Za-z_]*(/[A-Z][A-Za-z_-]*){0,2}([+-]?[0-9]{1,2}[A-Z]{0,4})?$`)
	ports        = language.Compiled(`^((tcp|udp|TCP|UDP|4|6)?:)?[0-9]{1,5}([,-][0-9]{1,5}){0,20}$`)
	curlFormat   = language.Compiled(`^(([^@%]|%\{[a-z_.]+\}|%%)([^%]|%\{[a-z_.]+\}|%%)*)?$`) // @ names a file of it
	ranges       = language.Compiled(`^[0-9]{0,9}(-[0-9]{0,9})?([, ][0-9]{0,9}(-[0-9]{0,9})?){0,100}$`)
	plainDate    = language.Compiled(`^[A-Za-z0-9 :.,+/-]*$`)
	plainDay     = language.Compiled(`^(@[0-9.]+|[A-Za-z0-9 :.,+/-]*([A-Za-z:.,/]|[0-9][ +-])[A-Za-z0-9 :.,+/-]*)$`)
	shortNumber  = language.Compiled(`^-?[0-9]{1,5}$`)
	plainNumber  = language.Compiled(`^[-+]?([0-9]{1,12})(\.[0-9]{1,9})?([kKMGTPE]?(i?B|b|w|c|s|m|h|d)?)$`)
)

// aLocale is a locale whose encoding has no character that contains the byte of another one.
const aLocale = `(C|POSIX|[a-z]{2,3}(_[A-Z]{2})?)(\.(UTF-?8|utf-?8))?(@[a-z]{1,20})?`

func columns(r *reading, w word) string {
	if strings.Contains(strings.ToLower(w.text), "env") {
		return quote(w.text) + " shows the environment of processes, which may contain keys."
	}
	return ""
}

func variable(r *reading, w word) string {
	r.variables = append(r.variables, w.text)
	return matching(variableName, "is not the name of a variable")(r, w)
}

// unset judges a variable that a command runs without. Without PATH some programs look for others in the current
// folder.
func unset(r *reading, w word) string {
	switch w.text {
	case "PATH":
		return "Without PATH, programs of the current folder may run."
	case "HOME":
		return "Without HOME, programs look for home files elsewhere."
	}
	if projectSettings.Has(w.text) { // without it the environment is another one
		r.exports = append(r.exports, word{text: w.text + "=", known: true, plain: true})
	}
	return matching(variableName, "is not the name of a variable")(r, w)
}

func anyText(*reading, word) string { return "" }

// only reads a pattern of what is read or, after !, of what is not.
func only(r *reading, w word) string {
	if left, ok := strings.CutPrefix(w.text, "!"); ok {
		return skip(r, word{text: left})
	}
	r.only = append(r.only, w.text)
	return manyStars(w.text)
}

func skip(r *reading, w word) string {
	r.only = append(r.only, language.Except(w.text)...)
	return manyStars(w.text)
}

// manyStars returns why a pattern may take forever to match, or "". For each star, zsh, dash, tree and others try every
// length of text that the star may stand for. A ** stands for slashes, too, so those count across folders.
func manyStars(pattern string) string {
	isMany := func(name string) bool { return strings.Count(name, "*") > 4 }
	if strings.Count(pattern, "**") > 4 || slices.ContainsFunc(strings.Split(pattern, "/"), isMany) {
		return "The pattern contains so many stars that it may take forever to match."
	}
	return ""
}

func matching(pattern func() *regexp.Regexp, problem string) check {
	return func(_ *reading, w word) string {
		if !pattern().MatchString(w.text) {
			return quote(w.text) + " " + problem + "."
		}
		return ""
	}
}

func oneOf(words []string) *wordType {
	return &wordType{check: func(r *reading, w word) string {
		if !slices.Contains(words, w.text) {
			return r.notKnown(w.text)
		}
		return ""
	}}
}

// number accepts numbers up to most; 0 is no limit.
func number(most int) check {
	return func(r *reading, w word) string {
		m := plainNumber().FindStringSubmatch(w.text)
		if m == nil {
			return r.notKnown(w.text)
		}
		if n, err := strconv.Atoi(m[1]); err != nil || most > 0 && (n > most || m[3] != "") {
			return quote(w.text) + " is more than nod allows for " + r.name + "."
		}
		return ""
	}
}

// text makes a check for a small language that reaches nothing.
func text(judge func(string) error) check {
	return func(_ *reading, w word) string { return problemOf(judge(w.text)) }
}

func problemOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// laterPattern keeps a pattern until all flags are known, for they decide its syntax.
func laterPattern(kind language.Syntax) check {
	return func(r *reading, w word) string {
		r.patterns = append(r.patterns, w.text)
		r.syntax = kind
		return ""
	}
}

const choosesSyntax language.Words = "grep egrep fgrep rg fd fdfind git"

// judgePatterns checks the patterns of a call in every syntax that its flags ask for: if two contradict each other, the
// first or the last one counts, depending on the program or its configuration.
func (r *reading) judgePatterns() string {
	for _, pattern := range r.patterns {
		if r.named && strings.ContainsAny(pattern, "/.") && !strings.ContainsAny(pattern, "*?[") {
			r.reach(Read, pattern)
		}
	}
	kinds := []language.Syntax{r.syntax}
	first, _, _ := strings.Cut(r.name, " ")
	asks := func(kind language.Syntax, flags ...string) {
		if r.has(flags...) {
			kinds = append(kinds, kind)
		}
	}
	if choosesSyntax.Has(first) {
		asks(language.Perl, "-P", "--perl-regexp", "--pcre2", "--engine")
		asks(max(r.syntax, language.Extended), "-E", "--extended-regexp", "--regex")
		asks(r.syntax, "-G", "--basic-regexp")
		isFixed := r.has("-F", "--fixed-strings") || r.syntax == language.Rust && r.has("-g", "--glob")
		switch {
		case isFixed && len(kinds) == 1, first == "fgrep" && len(kinds) == 1:
			return ""
		case first == "egrep", first == "git":
			kinds = append(kinds, max(r.syntax, language.Extended))
		}
	}
	for _, pattern := range r.patterns {
		if err := language.Regexp(pattern, kinds[0], kinds[1:]...); err != nil {
			return err.Error()
		}
	}
	return ""
}

func printf(r *reading, w word) string {
	if strings.HasPrefix(w.text, "-") {
		return r.notKnown(w.text)
	}
	var operands []string
	shifts := false
	for _, o := range r.operands[1:] {
		switch {
		case !o.known && !o.isStatus:
			o.text = "$(...)" // which is no number
			shifts = shifts || o.splits
		case o.glob:
			shifts = true
		}
		operands = append(operands, o.text)
	}
	return problemOf(language.Printf(w.text, operands, shifts))
}

func sed(r *reading, w word) string {
	use, err := language.Sed(w.text, r.has("-E", "-r", "--regexp-extended"))
	r.use(use)
	r.grows = max(r.grows, 1) * max(use.Grows, 1)
	r.prints += float64(len(w.text)) / 16 // for each line, which is about as long
	return problemOf(err)
}

// awk judges an awk program, whose variables are set by flags and among the operands.
func awk(r *reading, w word) string {
	assigned := r.variables
	for _, o := range r.operands[1:] {
		if name, _, ok := strings.Cut(o.text, "="); ok && variableName().MatchString(name) {
			assigned = append(assigned, o.text)
		}
	}
	r.prints += quotedLength(w.text)
	return problemOf(language.Awk(w.text, assigned))
}

// quotedLength returns the length of the quoted texts in a script for awk or jq.
func quotedLength(script string) (n float64) {
	for i, text := range strings.Split(script, `"`) {
		n += float64(i % 2 * len(text))
	}
	return n
}

func awkVariable(r *reading, w word) string {
	r.prints += float64(len(w.text))
	r.variables = append(r.variables, w.text)
	return ""
}

// member judges a file in an archive that tar lists. As the first word it would be an old form of tar's flags.
func member(r *reading, w word) string {
	if !r.has("-t", "--list") {
		r.reach(Tree, w.text)
		return r.notKnown(w.text)
	}
	return manyStars(w.text)
}

func gitGroup(_ *reading, w word) string {
	if w.text == "author" || w.text == "committer" || strings.HasPrefix(w.text, "trailer:") {
		return ""
	}
	return problemOf(language.GitFormat(strings.TrimPrefix(w.text, "format:")))
}

// gitKey judges a key of git's configuration: its section must hold no secrets.
func gitKey(r *reading, w word) string {
	section, _, _ := strings.Cut(w.text, ".")
	section = strings.ToLower(section)
	r.remotes = r.remotes || section == "remote" || section == "branch"
	if !gitConfigSections.Has(section) {
		return "The section " + quote(section) + " of git's configuration may contain secrets."
	}
	return ""
}

// gitConfigSections are the parts of git's configuration that hold no secrets.
const gitConfigSections language.Words = "user core init branch remote pull push fetch merge diff color rebase " +
	"commit status log gc tag alias i18n advice extensions"

// folder judges the folder that a flag moves a program to before it does anything.
func folder(r *reading, w word) string {
	if r.folder != "" || w.text == "" {
		return "nod can't follow " + r.name + " through two folders."
	}
	r.folder = w.text
	return pathOf(Look)(r, w)
}

// use notes what a text in a small language reaches.
func (r *reading) use(u language.Use) {
	for _, list := range []struct {
		kind  Kind
		paths []string
	}{{Look, u.Looks}, {Look, u.Trees}, {Read, u.Reads}, {Write, u.Writes}, {Delete, u.Removes}} {
		for _, p := range list.paths {
			r.reach(list.kind, p)
		}
	}
	if u.Deletes {
		for _, p := range u.Trees {
			r.reach(Delete, p)
		}
	}
}

func jq(r *reading, w word) string {
	r.prints += quotedLength(w.text)
	return problemOf(language.JQ(w.text, r.variables))
}

// yq judges a filter for yq. yq reads the filter from a file if the name ends in .yq, or else may read that file as
// input.
func yq(r *reading, w word) string {
	if strings.HasSuffix(w.text, ".yq") {
		return r.notKnown(w.text)
	}
	if !strings.ContainsAny(w.text, "*?[") {
		r.reach(Read, w.text)
	}
	return jq(r, w)
}

func patch(r *reading, w word) string {
	use, err := language.Patch(w.text)
	r.use(use)
	return problemOf(err)
}

const isOpenWord = "It contains a word that is known only when it runs."

func isUnknown(w word) bool { return !w.known }

// patternIn refuses words that zsh may replace with the names of files.
func patternIn(words ...word) string {
	if i := slices.IndexFunc(words, func(w word) bool { return w.hat }); i >= 0 {
		return "zsh may take " + quote(words[i].text) + " for a pattern."
	}
	return ""
}

// allKnown makes a check of words that must all be known before the command runs.
func allKnown(judge func(r *reading, all []string) string) func(*reading, []word) string {
	return func(r *reading, words []word) string {
		if slices.ContainsFunc(words, isUnknown) {
			return isOpenWord
		}
		return cmp.Or(patternIn(words...), judge(r, literals(words)))
	}
}

func find(r *reading, all []string) string {
	use, err := language.Find(all)
	r.use(use)
	r.names, r.finds = use.Names, true
	r.spend(stepsPattern * len(use.Names))
	isListed := slices.ContainsFunc(use.Trees, func(start string) bool { return !spellsNames(start) })
	for _, run := range use.Runs {
		var inner []word
		for _, text := range run.Words {
			inner = append(inner, word{text: text, known: true, plain: true})
		}
		r.inner = append(r.inner, marked(inner, word{text: "{}", many: run.Many, listed: isListed}))
	}
	return problemOf(err)
}

func test(r *reading, words []word) string {
	if r.name == "[" {
		if len(words) == 0 || words[len(words)-1].text != "]" {
			return "The test lacks its closing bracket."
		}
		words = words[:len(words)-1]
	}
	all, isOpen, isMany := texts(words), make([]bool, len(words)), false
	for i, w := range words {
		if w.isStatus {
			all[i] = "0"
			continue
		}
		isOpen[i] = !w.known || w.isHeld()
		isMany = isMany || w.wild || w.splits || w.stream
	}
	if isMany && slices.Contains(isOpen, true) {
		return isOpenWord
	}
	return cmp.Or(patternIn(words...), problemOf(language.Test(all, isOpen)))
}

// seq accepts one to three numbers; the second of three is a step. With so few digits, and a short separator, it prints
// at most ten megabytes.
func seq(r *reading, all []string) string {
	isOdd := func(n string) bool { return !shortNumber().MatchString(n) }
	isLong := len(r.values["-s"]+r.values["--separator"]) > 30
	isEndless := len(all) == 3 && strings.Trim(all[1], "-0") == ""
	if len(all) == 0 || len(all) > 3 || slices.ContainsFunc(all, isOdd) || isLong || isEndless {
		return "It may print more than a million lines or ten megabytes."
	}
	return ""
}

// pathOf makes a check of a word that names a file or folder.
func pathOf(kind Kind) check {
	return func(r *reading, w word) string {
		for _, a := range w.below {
			r.accesses = append(r.accesses, a.of(kind))
		}
		switch {
		case w.text == "/dev/null" && kind != Delete, (w.text == "" || w.text == "-") && kind < Write:
			return ""
		case w.text == "":
			return quote(r.name) + " is given no file to change."
		case w.hat:
			return patternIn(w)
		case w.glob && kind != Look && strings.Contains(w.text, "**"):
			return "The pattern " + quote(w.text) + " goes down to any depth in some shells."
		case strings.HasPrefix(w.text, "+"):
			return quote(w.text) + " is an old form of a flag."
		}
		if kind == Write && r.program.kind != understood {
			r.outputs = append(r.outputs, w.text)
			return ""
		}
		r.reach(kind, w.text)
		return ""
	}
}

// packed makes a check of a file for a program that looks for the name with one of some ends when there is none.
func packed(ends ...string) check {
	return func(r *reading, w word) string {
		problem := pathOf(Read)(r, w)
		isShort := !slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(w.text, end) })
		if n := len(r.accesses); n > 0 && r.accesses[n-1].Path == w.text && isShort {
			for _, end := range ends {
				r.reach(Read, w.text+end)
			}
		}
		return problem
	}
}

// localFile judges a file for a program that reads a colon as the end of a host's name.
func localFile(r *reading, w word) string {
	if strings.Contains(w.text, ":") {
		return quote(w.text) + " may be on another machine."
	}
	return pathOf(Read)(r, w)
}

// into judges the last operand of cp and mv: a file, or the folder that the others go to.
func into(r *reading, w word) string {
	if problem := pathOf(Write)(r, w); problem != "" {
		return problem
	}
	sources := r.operands
	if !w.glob { // otherwise all names that it matches but the last are sources, too
		sources = sources[:len(sources)-1]
	}
	for _, o := range sources {
		r.reach(Write, strings.TrimSuffix(w.text, "/")+"/"+lastPart(o.text))
	}
	return ""
}

// pair judges one of two files or folders. Of two folders, files of the same name are read; if only one is a folder,
// the file in it that is named like the other.
func pair(r *reading, w word) string {
	if problem := pathOf(Tree)(r, w); problem != "" || w.stream {
		return problem
	}
	clean := strings.TrimRight(w.text, "/.")
	isFolder := clean == "" || clean+"/" == w.text
	if isFolder && !r.has("-r", "--recursive", "-q", "--brief") {
		return "For two folders, " + r.name + " prints the differences of all files."
	}
	for _, o := range r.operands {
		if o.text != w.text && o.text != "-" && !o.stream && !strings.HasSuffix(o.text, "/") {
			r.reach(Read, strings.TrimSuffix(w.text, "/")+"/"+lastPart(o.text))
		}
	}
	return ""
}

func lastPart(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// revision judges a git revision, perhaps with a path after a colon, or a path.
func revision(r *reading, w word) string {
	isPath := r.dashes >= 0 && r.at >= r.dashes
	switch {
	case w.hat && !plainRevision().MatchString(w.text) && !plainBlob().MatchString(w.text):
		return patternIn(w)
	case plainRevision().MatchString(w.text) && !isPath:
		r.revs++
		return ""
	case len(r.operands) > 1 && outside(w.text):
		return "git compares or reads " + quote(w.text) + " outside the repository."
	}
	if at := strings.Index(w.text, "/"); at >= 0 && (strings.HasPrefix(w.text, ":/") || strings.Contains(w.text, "^{/")) {
		if err := language.Regexp(w.text[at+1:], language.Basic, language.Extended); err != nil {
			return err.Error()
		}
	}
	rev, paths := git.Revision(w.text)
	for _, p := range paths {
		r.reach(Read, cmp.Or(p, "."))
	}
	switch {
	case r.at < r.dashes && len(paths) == 0: // outside a repository git diff reads it as a file
		r.revs++
		r.reach(Read, w.text)
	case isPath, rev == w.text && len(paths) == 0, specMagic().MatchString(w.text):
		r.pathspec(Read, w.text)
		return manyStars(w.text)
	case strings.HasPrefix(w.text, ":/"): // it looks for a commit
		r.revs++
	default:
		r.blobs++
	}
	return ""
}

// specMagic matches a pathspec that says how it is read, as opposed to a path in the index.
var specMagic = language.Compiled(`^:[(!^]`)

// plainMagic matches the start of a pathspec that is relative to the top of the repository and otherwise literal;
// leftOut, the start of one that excludes.
var (
	plainMagic = language.Compiled(`^:(/:?|:|\((top|literal|,)*\))`)
	leftOut    = language.Compiled(`^:/?([!^]|\([a-z,]*exclude[a-z,]*\))`)
)

// pathspec notes what a git pathspec selects. In a pathspec, * also matches slashes.
func (r *reading) pathspec(kind Kind, text string) {
	if left := leftOut().FindString(text); left != "" {
		if names := language.Except(text[len(left):]); names != nil {
			r.specs = append(r.specs, Access{Path: ".", Only: names})
		}
		return
	}
	name := strings.TrimPrefix(text, plainMagic().FindString(text))
	switch {
	case strings.HasPrefix(name, ":"):
		r.specs = append(r.specs, Access{Path: ".", Only: []string{language.AnyName}})
	case strings.ContainsAny(name, `*?[\`):
		r.spend(stepsPattern)
		r.specs = append(r.specs, Access{Path: ".", Only: []string{language.Spanning(name)}})
	default:
		r.specs = append(r.specs, Access{Path: cmp.Or(name, "."), Kind: kind})
	}
}

// lineRange judges the value of -L of git log and git blame: numbers or patterns, for git log with a file after a
// colon.
func lineRange(r *reading, w word) string {
	if at := strings.LastIndexByte(w.text, ':'); at >= 0 {
		r.reach(Read, w.text[at+1:])
	}
	return problemOf(language.Regexp(strings.ReplaceAll(w.text, "/", ""), language.Basic, language.Extended))
}

var repeated = language.Compiled(`\[.+\*[0-9]{4,}\]`)

func translated(r *reading, w word) string {
	if repeated().MatchString(w.text) {
		return r.notKnown(w.text)
	}
	return ""
}

func outside(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~") || slices.Contains(strings.Split(path, "/"), "..")
}

func command(fed bool) func(*reading, []word) string {
	return func(r *reading, words []word) string {
		if r.fed = fed; fed {
			words = r.fedWords(words)
		}
		r.inner = append(r.inner, words)
		if len(slices.DeleteFunc(slices.Clone(r.given), func(f string) bool { return f != "-I" })) > 1 {
			return r.notKnown("-I")
		}
		return ""
	}
}

// fedWords returns the words of the command that xargs runs. GNU xargs obeys the last of -I, -L and -n, so with two of
// them names may be in either place.
func (r *reading) fedWords(words []word) []word {
	mark := r.values["-I"]
	words = marked(words, word{text: mark, listed: true})
	if mark == "" || r.has("-n", "--max-args", "-L", "--max-lines") {
		words = append(words, word{text: "{}", known: true, plain: true, found: true, many: true, listed: true})
	}
	return words
}

// marked returns the words with {} in place of each that is the mark. A word with the mark inside other text is known
// only when it runs.
func marked(words []word, mark word) []word {
	words = slices.Clone(words)
	for i, w := range words {
		switch {
		case mark.text == "" || !strings.Contains(w.text, mark.text):
		case w.text == mark.text:
			words[i] = word{text: "{}", known: w.known, plain: true, found: true, many: mark.many, listed: mark.listed}
		default:
			words[i].known = false
		}
	}
	return words
}

// shellCall judges the words after the flags of a shell: with -c a script and its parameters, otherwise a file and its
// parameters.
func shellCall(r *reading, words []word) string {
	r.operands = words
	isFlag := func(w word) bool { return strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "+") }
	switch {
	case slices.ContainsFunc(words, isUnknown):
		return "It gives " + r.name + " a word that is known only when it runs."
	case !r.has("-c"):
		return ""
	case len(words) == 0 || words[0].glob:
		return quote(r.name) + " is given no script."
	}
	r.script = &words[0].text
	if slices.ContainsFunc(words, isFlag) || slices.Index(r.given, "-c") != len(r.given)-1 {
		return "It gives " + r.name + " flags behind -c, so that another word could be the script."
	}
	return ""
}

// scriptText judges a shell script that a user can only allow together with the program that runs it.
func scriptText(r *reading, w word) string {
	text := w.text
	if r.script != nil {
		text = *r.script + " " + text
		r.spend(len(text))
	}
	r.script = &text
	r.fix(r.name + " runs a script.")
	return ""
}

func startsProgram(r *reading, w word) string {
	if r.program.kind == told { // never harmless anyway: its other words are read, too
		return ""
	}
	return r.name + " runs " + quote(w.text) + "."
}

func assign(r *reading, w word) string {
	name, _, ok := strings.Cut(w.text, "=")
	if !ok || !variableName().MatchString(name) {
		return quote(w.text) + " sets no variable."
	}
	r.settings = append(r.settings, w)
	return ""
}

func lead(r *reading, w word) string {
	r.lead = append(r.lead, w.text)
	return ""
}

// target judges a target or a variable for make. A makefile inserts variables into its commands without quotes.
func target(r *reading, w word) string {
	if !plainTarget().MatchString(w.text) || buildShell().MatchString(w.text) {
		r.fix("It changes what is built, or how.")
	}
	return lead(r, w)
}

var (
	plainTarget = language.Compiled(`^([A-Za-z0-9_]+[:+?]{0,3}=[A-Za-z0-9_.,:+-]*|[A-Za-z0-9_.,:+@%/-]*)$`)
	buildShell  = language.Compiled(`^[^=]*(SHELL|MAKE)[^=]*=`)
)

var local = language.Compiled(
	`^(https?://)?(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?(/[A-Za-z0-9_./?=&,:;%~+-]*)?$`)

// address judges the address that a network program is sent to. On this machine only the server matters.
func address(r *reading, w word) string {
	if m := local().FindStringSubmatch(w.text); m != nil {
		w.text = m[2] + m[3]
	}
	if len(r.lead) > 1 {
		r.fix("It does more than fetch.")
	}
	if len(w.text) > 5 && strings.EqualFold(w.text[:5], "file:") {
		r.fix("It names other files.")
		if u, err := url.Parse(w.text); err == nil {
			r.accesses = append(r.accesses, Access{Path: u.Path, Kind: Read})
		}
	}
	return lead(r, w)
}

const drastic language.Words = "delete remove destroy drop purge wipe erase clear reset truncate terminate revoke " +
	"kill force prune uninstall unpublish rollback revert undo down fresh deploy publish release flush disable stop forget"

func isRemote(s string) bool {
	return strings.Contains(s, "://") || strings.Contains(s, "@") && strings.Contains(s, ":")
}

// isTelling reports whether an operand may say what an unknown program does: an operand of several words may be a
// command, db:drop drops, and without a subcommand any word may be one.
func (r *reading) isTelling(operand string) bool {
	parts := strings.FieldsFunc(strings.ToLower(operand), func(c rune) bool { return strings.ContainsRune(":-_", c) })
	return strings.ContainsAny(operand, " \n") || slices.ContainsFunc(parts, drastic.Has) ||
		len(r.lead) == 1 && isSubcommand(operand)
}

func argument(r *reading, w word) string {
	switch {
	case len(w.text) > 2 && prints(w.text):
	case w.text != "{}" && strings.ContainsAny(w.text, "()'\"$;&|<>`{}\n"): // no plain word
		r.seen = append(r.seen, markOperand+w.text)
	case strings.Contains(w.text, "="), w.text != "" && strings.ContainsAny(w.text[:1], "-+:"):
		r.seen = append(r.seen, markOperand+w.text)
	case isRemote(w.text):
		r.fix(quote(w.text) + " may be on another machine.")
	case r.lead[0] == "git" && strings.Contains(w.text, ":"):
		r.fix("git takes " + quote(w.text) + " for another machine, or for one branch and another.")
	default:
		r.args = append(r.args, w.text)
	}
	return ""
}

func ref(r *reading, w word) string {
	before := len(r.args)
	argument(r, w)
	r.lead, r.args = append(r.lead, r.args[before:]...), r.args[:before]
	return ""
}

func changedArgument(r *reading, w word) string {
	r.accesses = append(r.accesses, Access{Path: w.text, Kind: Write})
	return argument(r, w)
}
