package shell_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// vocabulary holds what programs are called with. The keys are the leading words of calls, such as "cat" and "git log";
// the values are words as shells read them, with quotes.
type vocabulary map[string][]string

// learnWords makes a vocabulary: from the samples, from the package's data, and from what the programs that are here
// say of their own flags. Programs that are not here are left out.
func learnWords(t testing.TB) vocabulary {
	t.Helper()
	words := vocabulary{}
	for _, command := range sandboxSamples(t, "") {
		words.learnCommand(command)
	}
	files, err := filepath.Glob("programs/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		words.learnData(string(data))
	}
	delete(words, "sleep") // nothing to find, and slow
	delete(words, "git filter-branch")
	askForFlags(t, words)
	for name, own := range words {
		slices.Sort(own)
		words[name] = slices.Compact(own)
	}
	return words
}

// learnCommand takes calls out of a command.
func (v vocabulary) learnCommand(command string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 || !plainWord.MatchString(call.Args[0].Lit()) {
			return true
		}
		name, rest := call.Args[0].Lit(), call.Args[1:]
		if name == "git" && len(rest) > 0 && plainWord.MatchString(rest[0].Lit()) {
			name, rest = "git "+rest[0].Lit(), rest[1:]
		}
		v[name] = append(v[name], "--")
		for _, arg := range rest {
			v[name] = append(v[name], command[arg.Pos().Offset():arg.End().Offset()])
		}
		return true
	})
}

var (
	plainWord  = regexp.MustCompile(`^[a-zA-Z0-9][-a-zA-Z0-9_]*$`)
	flagInText = regexp.MustCompile(`(?m)(?:^|[\s,(\[|])(--?[a-zA-Z0-9][-a-zA-Z0-9]*)`)
)

// learnData takes programs and flags, harmless or not, out of one file of the package's data.
func (v vocabulary) learnData(text string) {
	var names []string
	for line := range strings.Lines(text) {
		key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var flags []string
		switch key {
		case "program":
			names = strings.Split(rest, ", ")
			flags = []string{"--"}
		case "letters":
			for _, letter := range rest {
				flags = append(flags, "-"+string(letter))
			}
		case "flag", "never":
			for _, m := range flagInText.FindAllStringSubmatch(rest, -1) {
				flags = append(flags, m[1])
			}
		}
		for _, name := range names {
			v[name] = append(v[name], flags...)
		}
	}
}

// askForFlags asks every program, and git for every sub-command, for its flags, in a sandbox.
func askForFlags(t testing.TB, words vocabulary) {
	t.Helper()
	box, err := openSandbox(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer box.close()
	answer := func(question string) string {
		got, err := box.run(job{Shell: []string{"bash", "-c"}, Command: question, Limit: maxTime, Words: true})
		if err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		return got.Output
	}
	look := "for name in '" + strings.Join(slices.Sorted(maps.Keys(words)), "' '") + "'; do " +
		"type ${name%% *} >/dev/null 2>&1 || echo \"$name\"; done"
	missing := strings.Split(answer(look), "\n")
	answers := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(words)) {
		program := strings.Fields(name)
		if slices.Contains(programCanaries, program[0]) || slices.Contains(missing, name) {
			delete(words, name) // what has the name of a canary in the world is not it
			continue
		}
		question := program[0] + " --help"
		if program[0] == "git" && len(program) > 1 {
			question = "git " + program[1] + " -h"
		}
		if _, asked := answers[question]; !asked {
			for _, m := range flagInText.FindAllStringSubmatch(answer(question), -1) {
				answers[question] = append(answers[question], m[1])
			}
		}
		words[name] = append(words[name], answers[question]...)
	}
}

// pool are words of the world, and such that programs and shells read more into.
var pool = []string{
	"a.txt", "b.txt", "names.txt", "file", "f", "README.md", "main.go", "data.json", "package.json", "a.bin",
	"empty.txt", "app.log", "src", "src/a",
	".", "./", "..", "../b.txt", "internal", "empty", "sub", "bare.git", "link", "link/token", "tolink",
	"dangling", "dock", "pr0", "missing", "arch.tar.gz", "a.txt.gz",
	"'a b'", "-odd", "-delete", "-o", "--output=out", "-exec", "./-odd", "--", "-", "@opts", "@tok", "u^z",
	"names.txt^b", ".en^x", "^caret", "'#hash'", "a#b", "a~b",
	"~", "~/src", "~/.netrc", ".env", ".hidden", ".git", ".git/config", "/etc/passwd", "/usr/share/dict",
	"/dev/null", "'*'", "'[a]'", "'$x'",
	"*", "*.txt", "a*", "?", "src/*", "**", "**/*", "***/a", "**/c*", "*.go", "u*", "[a-c]*", "[!a]*", "*/",
	"src/**/tok*", "d?/tok*", "a.txt*", "*b.txt", "-*",
	"0", "1", "3", "10", "-1", "-5", "+1", "+1f", "+2cf", "1,3", "2-", "1k", "1e3", "0x10", "1:2", "99", "64",
	"2147483647", "5f", "1M",
	"x", "foo", "''", "' '", "TODO", "'a.*'", "'^a'", "'a\\|b'", "'(a+)+$'", "'[[:alpha:]]'", "KEY", "'%s\\n'",
	"%h", "'%p\\n'", "'%-10f'", "+%s", "'%99999p'",
	"1p", "'2,3p'", "'$p'", "'/a/p'", "'/a/,/b/p'", "'s/a/b/'", "'1!d'", "'/x/w out'", "'{p;q}'", ".", ".name",
	"'.items[]'", "'.[]'", "keys", "'.. | strings'", "'[.,.]'",
	"'{print $1}'", "'/a/{print}'", "'BEGIN{print 1}'", "'{print > \"out\"}'", "'{system(\"touch ran\")}'",
	"HEAD", "HEAD^", "HEAD~1", "'HEAD^{tree}'", "HEAD:a.txt", ":0:a.txt", ":a.txt", "'HEAD^{/one}'", "main", "v1",
	"feature", "main..feature", "HEAD...v1", "'stash@{0}'", "'@{u}'", "origin", "--all",
	"-name", "-type", "-path", "-print", "-prune", "-o", "-a", "!", "'!'", "\\(", "\\)", "-newer", "-size",
	"-maxdepth", "-printf", "-ls", "-empty", "-regex", "-f", "-d", "-e", "=", "-eq", "]",
	"auto", "always", "never", "json", "full", "short", "name", "size", "time", "C", "utf-8", "UTC", "iso",
	"$(cat more)", "`cat more`", "a$(cat more)", "\"$(cat more)\"", "$(printf '%s ' , -o out)", "$(head -n1 more)", "$x",
	"format:%h", "'%(refname)'", "'%(authorname)'", "'%an %GK'", "'%(trailers)'",
}

// generator builds commands at random.
type generator struct {
	*rand.Rand
	words    vocabulary
	programs []string
	samples  []string // that pass
}

func newGenerator(words vocabulary, samples []string, seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, seed)), words: words, programs: slices.Sorted(maps.Keys(words))}
	for _, command := range samples {
		if passes, _, _ := look(command); passes && !strings.Contains(command, "sleep") {
			g.samples = append(g.samples, command)
		}
	}
	return g
}

func (g *generator) pick(from []string) string {
	if len(from) == 0 {
		return "a.txt"
	}
	return from[g.IntN(len(from))]
}

// generate returns up to count commands that pass, of all programs alike.
func (g *generator) generate(count int) []string {
	const tries = 400 // for each command: most of what is built at random does not pass
	var out []string
	seen := map[string]bool{}
	left := slices.Clone(g.programs)
	for i := 0; len(out) < count && len(left) > 0; i++ {
		i %= len(left)
		command, ok := g.passing(left[i], seen, tries)
		if !ok {
			left = slices.Delete(left, i, i+1)
			continue
		}
		seen[command] = true
		out = append(out, command)
	}
	return out
}

// passing builds lines until one passes that was not seen.
func (g *generator) passing(program string, seen map[string]bool, tries int) (string, bool) {
	for range tries {
		command := g.line(program)
		if passes, _, _ := look(command); passes && !seen[command] {
			return command, true
		}
	}
	return "", false
}

// frames are what a shell puts around commands; $1 and $2 stand for commands, $w for a word.
var frames = []string{
	"$1 | $2", "$1 | $2", "$1 && $2", "$1; $2", "$1 || $2", "$1\n$2", "$1 2>/dev/null", "$1 >/dev/null",
	"$1 2>&1 | $2", "$1 &>/dev/null", "$1 >&2", "$1 < $w",
	"cd src && $1", "cd $w && $1", "[ -f $w ] && $1", "test -e $w || $1", "[[ -n $w ]] && $1", "! $1", "( $1 )",
	"{ $1; }", "time $1", "timeout 3 $1", "nice $1", "env $1",
	"$1 | xargs $2", "$1 | xargs -n1 $2", "find . -name $w -exec $1 {} \\;", "find $w -type f | xargs $1",
	"for f in $w; do $1 \"$f\"; done", "for f in $w $w; do $1; done",
	"if $1; then $2; fi", "while $1; do $2; done", "case $w in a*) $1;; esac", "$1 <<< $w", "$1 <<'E'\nx\nE",
	"X=1 $1", "echo $w | $1", "printf '%s\\n' $w | $1", "cat $w | $1",
	"command $1", "$1 > $w", "echo $($1)", "$1 <($2)", "test $w -nt $w", "[ $w $w $w ]", "awk $w $w",
	"while read x; do $1 $x; done < more", "while read -r x; do $1 -e $x; done < more",
	"for x in $(cat more); do $1 $x; done",
	"x=$(cat more); $1 $x", "x=$(cat more); $1 \"$x\"", "x=', -o out'; $1 $x", "$1 $(cat more)", "cat more | xargs $1",
	"xargs -a $w $1", "sort $w | $1", "$1 & $2",
}

var inFrame = regexp.MustCompile(`\$[12w]`)

// line builds a command line that starts with a program or has it inside a frame.
func (g *generator) line(program string) string {
	first := g.simple(program)
	switch g.IntN(8) {
	case 0, 1, 2, 3:
		return first
	case 4:
		words := strings.Split(g.pick(g.samples), " ")
		at := 1 + g.IntN(len(words))
		return strings.Join(slices.Insert(words, at, g.word(program)), " ")
	}
	return inFrame.ReplaceAllStringFunc(g.pick(frames), func(hole string) string {
		switch hole {
		case "$1":
			return first
		case "$2":
			return g.simple(g.pick(g.programs))
		}
		return g.pick(pool)
	})
}

// simple builds a call of a program.
func (g *generator) simple(program string) string {
	words := []string{program}
	for range g.IntN(5) {
		words = append(words, g.word(program))
	}
	return strings.Join(words, " ")
}

func (g *generator) word(program string) string {
	own := g.words[program]
	switch n := g.IntN(20); {
	case n < 8:
		return g.pick(own)
	case n < 15:
		return g.pick(pool)
	case n < 16:
		return g.pick(own) + "=" + g.pick(pool)
	case n < 17:
		return g.pick(own) + g.pick(pool)
	case n < 18:
		return g.letters(own) + g.pick([]string{"", "", "3", "a.txt", ","})
	case n < 19:
		return g.mutate(g.pick(own))
	}
	return g.pick(g.words[g.pick(g.programs)])
}

// letters bundles flags of one letter, at times without the dash, as tar has them.
func (g *generator) letters(own []string) string {
	out := g.pick([]string{"-", "-", ""})
	for range 1 + g.IntN(3) {
		if flag := g.pick(own); len(flag) == 2 && flag[0] == '-' {
			out += flag[1:]
		} else {
			out += string(rune('a' + g.IntN(26)))
		}
	}
	return out
}

// mutate changes one place of a word.
func (g *generator) mutate(word string) string {
	if word == "" {
		return word
	}
	at := g.IntN(len(word))
	switch g.IntN(3) {
	case 0:
		return word[:at] + word[at+1:]
	case 1:
		return word[:at] + g.pick(strings.Split("^~*#@=-,:%0/\\'?({", "")) + word[at:]
	}
	return word[:at] + g.pick(pool) + word[at:]
}
