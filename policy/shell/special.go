package shell

import (
	"regexp"
	"strings"
)

// set reads words divided by blanks.
func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// spread gives every name of a key, divided by |, its own entry.
func spread[T any](table map[string]T) map[string]T {
	out := map[string]T{}
	for names, v := range table {
		for name := range strings.SplitSeq(names, "|") {
			out[name] = v
		}
	}
	return out
}

var (
	smallNumber = regexp.MustCompile(`^[0-9]{1,7}(\.[0-9]{1,4})?$`)
	shortWait   = regexp.MustCompile(`^([0-9]|10)$`)
	dateShift   = regexp.MustCompile(`^[+-]?[0-9]{1,6}[ymwdHMS]$`)
	sedPrint    = regexp.MustCompile(`^([0-9]+|\$)(,([0-9]+|\$))?p$`)
	lookupName  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)
)

// judgeSeq keeps the numbers small and the end in sight: "seq inf" never ends.
func judgeSeq(c *call) string {
	for _, w := range c.operands {
		if !smallNumber.MatchString(w.text) {
			return "It counts with " + quote(w.text) + ", which may be endless."
		}
	}
	return ""
}

// judgeSleep keeps the wait short.
func judgeSleep(c *call) string {
	if len(c.operands) == 1 && shortWait.MatchString(c.operands[0].text) {
		return ""
	}
	return "It waits longer than ten seconds, or nod cannot tell how long."
}

// judgeDate lets only a +FORMAT be an operand: anything else sets the clock.
func judgeDate(c *call) string {
	for _, w := range c.operands {
		if !strings.HasPrefix(w.text, "+") {
			return "An operand of date that does not start with + sets the clock."
		}
	}
	for _, f := range c.flags {
		switch {
		case f.name == "v" && !dateShift.MatchString(f.value):
			return c.notListed("-v " + f.value)
		case f.name == "r" || f.name == "reference":
			c.paths = append(c.paths, f.value)
		}
	}
	return ""
}

// judgeNames lets the shell look up plain names only.
func judgeNames(c *call) string {
	for _, w := range c.operands {
		if !lookupName.MatchString(w.text) {
			return "It looks up " + quote(w.text) + ", which is not a plain name."
		}
	}
	return ""
}

// judgeCommand accepts command -v NAME; without -v it runs the name.
func judgeCommand(c *call) string {
	if len(c.flags) == 0 {
		return "command runs the program that it is given."
	}
	return judgeNames(c)
}

// judgeStrings refuses @file, from which GNU strings reads more flags.
func judgeStrings(c *call) string {
	for _, w := range c.operands {
		if strings.HasPrefix(w.text, "@") {
			return "strings reads more flags from " + quote(w.text) + "."
		}
	}
	return ""
}

// judgeRipgrep: with --files or --type-list the first operand is no pattern but a path.
func judgeRipgrep(c *call) string {
	if c.has("files", "type-list") {
		c.takePaths(0)
	}
	return ""
}

// judgeSed accepts one shape: sed -n 5p, 2,7p or 2,$p, and at most one file.
func judgeSed(c *call) string {
	if len(c.operands) < 2 || c.operands[0].text != "-n" || !sedPrint.MatchString(c.operands[1].text) {
		return "sed is a language that can write files and run programs; nod knows only sed -n 2,7p FILE."
	}
	if len(c.operands) == 3 && strings.HasPrefix(c.operands[2].text, "-") {
		return c.notListed(c.operands[2].text)
	}
	return ""
}

var (
	findNumber = regexp.MustCompile(`^-[0-9]+[a-zA-Z]?$`)
	findPerm   = regexp.MustCompile(`^[-/+]?[0-7ugoarwxXst,=+]+$`)
)

// judgeFind reads a find expression: folders, then tests that only look.
func judgeFind(c *call) string {
	c.paths = nil
	words := c.operands
	for len(words) > 0 && findLinkFlags[words[0].text] {
		words = words[1:]
	}
	for len(words) > 0 && !strings.HasPrefix(words[0].text, "-") && !findTests[words[0].text] && !isFindMark(words[0].text) {
		c.paths = append(c.paths, words[0].text)
		words = words[1:]
	}
	if len(c.paths) == 0 {
		c.paths = []string{"."}
	}
	for i := 0; i < len(words); i++ {
		test := words[i].text
		takesValue, ok := findTests[test]
		if !ok {
			return c.notListed(test)
		}
		if !takesValue {
			continue
		}
		if i++; i == len(words) {
			return c.notListed(test)
		}
		if problem := c.findValue(test, words[i].text); problem != "" {
			return problem
		}
	}
	return ""
}

// findLinkFlags say what find does with symbolic links; they come first.
var findLinkFlags = set("-H -L -P")

func isFindMark(s string) bool { return s == "!" || s == "(" || s == ")" }

// findValue judges the value of a test. One that looks like an action is an action for a find that knows the
// test without a value.
func (c *call) findValue(test, value string) string {
	switch test {
	case "-newer", "-anewer", "-cnewer", "-samefile":
		c.paths = append(c.paths, value)
	case "-perm":
		if findPerm.MatchString(value) {
			return ""
		}
	}
	if strings.HasPrefix(value, "-") && !findNumber.MatchString(value) {
		return c.notListed(test + " " + value)
	}
	return ""
}

// readGit reads a git command by its sub-command's table.
func readGit(args []word, trusted bool) (*call, string) {
	c := &call{name: "git"}
	if len(args) == 0 || !args[0].plain || strings.HasPrefix(args[0].text, "-") {
		return c, "git needs a sub-command right behind it; flags there can name programs that it runs."
	}
	name, rest := args[0].text, args[1:]
	if len(rest) > 0 {
		if _, ok := gitCommands()[name+" "+rest[0].text]; ok {
			name, rest = name+" "+rest[0].text, rest[1:]
		}
	}
	t, ok := gitCommands()[name]
	if !ok {
		return c, "nod does not know git " + quote(name) + " to only read; it may be an alias."
	}
	c, problem := t.read("git "+name, rest)
	if problem != "" {
		return c, problem
	}
	if !trusted {
		return c, "The folder is not trusted, and its repository can make git run programs."
	}
	c.gitPaths()
	return c, ""
}

// headRevision is a revision that is certainly no file of note.
var headRevision = regexp.MustCompile(`^HEAD([~^][0-9]*)*$`)

// gitPaths takes the paths out of git's operands: revisions may hold one behind a colon, and a word that nod
// cannot tell from a revision counts as a path. REV:PATH starts at the repository's top; nod reports PATH as if it
// started here, for it knows no better.
func (c *call) gitPaths() {
	paths := []string{"."}
	for _, p := range c.paths {
		if headRevision.MatchString(p) {
			continue
		}
		if rev, path, ok := strings.Cut(p, ":"); ok && path != "" {
			paths = append(paths, gitPathspec(rev, path))
		}
		paths = append(paths, p)
	}
	for _, f := range c.flags {
		if at := strings.LastIndexByte(f.value, ':'); f.name == "L" && at >= 0 {
			paths = append(paths, f.value[at+1:])
		}
	}
	c.paths = paths
}

// gitPathspec returns the path in REV:PATH, or in a pathspec with magic such as :(top)PATH or :/PATH.
func gitPathspec(rev, path string) string {
	if rev != "" {
		return path
	}
	if _, rest, ok := strings.Cut(path, ")"); ok && path[0] == '(' {
		return rest
	}
	return strings.TrimLeft(path, "/!^:")
}

// gitRunsGPG matches the format placeholders for which git runs gpg.
var gitRunsGPG = regexp.MustCompile(`%[-+ ]?G|%\(signature`)

func judgeGitFormat(c *call) string {
	for _, f := range c.flags {
		if (f.name == "format" || f.name == "pretty") && gitRunsGPG.MatchString(f.value) {
			return "The format makes git run the program that checks signatures."
		}
	}
	return ""
}

// judgeGitRefs accepts the forms of git branch and git tag that list. Without a flag that asks for a list, an
// operand is the name of something to create.
func judgeGitRefs(c *call) string {
	most := 0
	switch {
	case c.has("list", "l"):
		most = many
	case c.has("contains", "no-contains", "merged", "no-merged", "points-at"):
		most = 1
	}
	if len(c.operands) > most {
		return "It may create " + quote(c.operands[0].text) + "."
	}
	return judgeGitFormat(c)
}

// judgeGitConfig accepts reading one value of a section without secrets.
func judgeGitConfig(c *call) string {
	if !c.has("get", "get-all") || len(c.operands) != 1 {
		return "git config without --get may change the configuration or show secrets."
	}
	section, _, _ := strings.Cut(c.operands[0].text, ".")
	if !gitConfigSections[strings.ToLower(section)] {
		return "The section " + quote(section) + " of git's configuration may hold secrets."
	}
	return ""
}
