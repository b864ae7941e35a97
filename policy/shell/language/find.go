package language

import (
	"cmp"
	"strings"
)

// Find judges the words after find: folders, then an expression. The folders are in Use.Trees (the current one when
// none is named), files whose times or kinds alone are read in Use.Looks. Programs of -exec with ; or + are in
// Use.Runs, one list of words each, with {} for the paths that are found: the caller reads them. What writes (-fprint
// and the like), removes (-delete) or follows links (-L, -follow, -H) is an error, with Use.Writes or Use.Deletes set.
// After an error, Use also covers the rest of the expression.
//
// The tests are those that GNU findutils 4.10 and BSD find share, or that one of them refuses.
func Find(words []string) (Use, error) {
	use := Use{}
	if err := unreadable(strings.Join(words, " ")); err != nil {
		return use, err
	}
	words = use.findFolders(words)
	var first error
	isNamed, isOpen := false, false // isOpen: one of the alternatives matches all names
	for last := ""; len(words) > 0; {
		if findOr.Has(words[0]) {
			isNamed, isOpen = false, isOpen || !isNamed
		}
		isNamed = use.findNames(words, last == "!" || last == "-not") || isNamed
		var err error
		last = words[0]
		words, err = use.findTest(words[0], words[1:])
		first = cmp.Or(first, err)
	}
	if len(use.Names) > 0 && (isOpen || !isNamed) {
		use.Names = append(use.Names, "*")
	}
	if use.links {
		first = cmp.Or(first, error(refusal("find follows links out of the folder.")))
	}
	return use, first
}

// findNames notes the names that a test selects, and reports whether it selects any. Names that are pruned before
// another alternative are not looked for.
func (u *Use) findNames(words []string, negated bool) bool {
	switch {
	case len(words) < 2:
		return false
	case len(words) > 3 && words[2] == "-prune" && findOr.Has(words[3]):
		return true
	}
	pattern, value := "", strings.ToLower(words[1])
	switch words[0] {
	case "-name", "-iname":
		pattern = value
	case "-path", "-wholename", "-ipath", "-iwholename":
		pattern = Spanning(value)
	case "-regex", "-iregex":
		pattern = Glob(words[1], true)
	default:
		return false
	}
	switch {
	case !negated:
		u.Names = append(u.Names, pattern)
	case pattern == AnyName || strings.ContainsAny(pattern, `?[\`): // all but those may be a single one
		u.Names = append(u.Names, AnyName)
	}
	return !negated
}

var findOr = Words("-o -or ,")

// AnyName is a pattern that replaces those whose names nod cannot tell: any name may be meant.
const AnyName = "?*"

// Spanning converts a pattern of paths in which * matches slashes into one in which it does not.
func Spanning(glob string) string {
	if strings.ContainsAny(glob, `?[]\{}`) {
		return AnyName
	}
	return strings.ReplaceAll(stars().ReplaceAllString(glob, "*"), "*", spanning)
}

var stars = Compiled(`\*+`)

const spanning = "{*,*/**/*}"

// Except returns patterns of what may be meant when a pattern is excluded: nothing, or any name. Excluding plain text
// and stars is not meant to select the rest.
func Except(glob string) []string {
	if strings.ContainsAny(glob, `?[]\()|^`) {
		return []string{AnyName}
	}
	return nil
}

// Glob returns a pattern of file names, with braces, that matches at least what a regular expression does, on whole
// paths or on names alone.
func Glob(regexp string, isPath bool) string {
	switch {
	case strings.Trim(regexp, "^$.*") == "":
		return "*"
	case !plainRegexp().MatchString(regexp):
		return AnyName
	}
	glob := roughly.Replace(strings.ToLower(regexp))
	if isPath {
		glob = spans.Replace(glob)
	}
	if strings.Count(glob, "{") != strings.Count(glob, "}") {
		return AnyName
	}
	if strings.Contains(regexp, "|") {
		glob = "{" + glob + "}"
	}
	return glob
}

// plainRegexp matches expressions that are text, dots, .* and .+, and choices of them.
var plainRegexp = Compiled(`^\^?([A-Za-z0-9_/ @:%=~"'-]|\\[./_-]|\.[*+]?|\(|\\\(|\||\\\||(\)|\\\)))*\$?$`)

var spans = strings.NewReplacer("*", spanning, "?", "{?,/}")

var roughly = strings.NewReplacer(`\.`, ".", `\/`, "/", `\_`, "_", `\-`, "-", `.*`, "*", `.+`, "*", ".", "?",
	"^", "", "$", "", `\(`, "{", `\)`, "}", "(", "{", ")", "}", `\|`, ",", "|", ",")

// findLeading are flags that come before the folders: about links, optimisation, and BSD's -E -d -s -x.
var findLeading = Words("-H -L -P -O0 -O1 -O2 -O3 -E -d -s -x")

var findPlain = Words("-empty -readable -writable -executable -nouser -nogroup -depth -d -xdev -mount -daystart " +
	"-noleaf -prune -quit -true -false -print -print0 -ls -not -a -and -o -or ! ( ) ,")

var findValued = Words("-name -iname -path -ipath -wholename -iwholename -lname -ilname -type -xtype -size -perm " +
	"-user -group -uid -gid -links -inum -fstype -maxdepth -mindepth -mtime -atime -ctime -mmin -amin -cmin -used")

var findReferences = Words("-newer -anewer -cnewer -samefile")

var (
	findNumber = Compiled(`^-[0-9]+[a-zA-Z]?$`)
	findPerm   = Compiled(`^[-/+]?[0-7ugoarwxXst,=+]+$`)
	findNewer  = Compiled(`^-newer[aBcm][aBcmt]$`)
)

func (u *Use) findFolders(words []string) []string {
	for len(words) > 0 && findLeading.Has(words[0]) {
		u.links = u.links || words[0] == "-H" || words[0] == "-L"
		words = words[1:]
	}
	for len(words) > 0 && !strings.HasPrefix(words[0], "-") && !findPlain.Has(words[0]) {
		u.Trees = append(u.Trees, words[0])
		words = words[1:]
	}
	if len(u.Trees) == 0 {
		u.Trees = []string{"."}
	}
	return words
}

func (u *Use) findTest(test string, rest []string) ([]string, error) {
	switch {
	case findPlain.Has(test):
		return rest, nil
	case test == "-follow":
		u.links = true
		return rest, nil
	case test == "-delete":
		u.Deletes = true
		return rest, refusal("find deletes the files it finds.")
	case test == "-exec":
		return u.findRun(rest)
	case test == "-execdir", test == "-ok", test == "-okdir":
		rest, _ = u.findRun(rest)
		return rest, unknownTest(test)
	}
	if len(rest) == 0 {
		return nil, unknownTest(test)
	}
	err := u.findValue(test, rest[0])
	if err != nil && strings.HasPrefix(rest[0], "-") {
		return rest, err // it may be the next test
	}
	return rest[1:], err
}

func unknownTest(test string) error {
	return refusal("nod doesn't know that find's " + Quote(test) + " only looks.")
}

// findValue judges the value of a test. A value that looks like an action is one for versions of find in which the test
// has no value.
func (u *Use) findValue(test, value string) error {
	harmless := findNumber().MatchString(value) || test == "-perm" && findPerm().MatchString(value)
	if strings.HasPrefix(value, "-") && !harmless {
		return unknownTest(test + " " + value)
	}
	switch {
	case test == "-fprint" || test == "-fprint0" || test == "-fprintf" || test == "-fls":
		u.Writes = append(u.Writes, value)
		return refusal("find writes a file.")
	case findValued.Has(test), test == "-regextype":
		return nil
	case findReferences.Has(test):
		u.Looks = append(u.Looks, value)
		return nil
	case test == "-regex" || test == "-iregex":
		return Regexp(value, Basic, Extended)
	case test == "-printf":
		return Directives(value)
	case findNewer().MatchString(test):
		if !strings.HasSuffix(test, "t") {
			u.Looks = append(u.Looks, value)
		}
		return nil
	}
	return unknownTest(test)
}

// findRun reads the program of -exec. A + ends it only after {}.
func (u *Use) findRun(words []string) ([]string, error) {
	for i, w := range words {
		if w == ";" || w == "+" && i > 0 && words[i-1] == "{}" {
			if i == 0 || strings.Contains(words[0], "{}") {
				break
			}
			u.Runs = append(u.Runs, run{words[:i:i], w == "+"})
			return words[i+1:], nil
		}
	}
	return nil, refusal("nod can't tell which program find runs.")
}
