package shell_test

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// vocabulary holds, for each program, the words that it is known to be called with: as shells read them, with quotes.
type vocabulary map[string][]string

// learnWords makes a vocabulary of the programs in commands that pass: from all the samples, and from what the
// programs that are here say of their own flags.
func learnWords(t testing.TB) vocabulary {
	t.Helper()
	samples := sandboxSamples(t)
	words := vocabulary{}
	for _, command := range samples {
		if passes, programs, _ := look(command); passes {
			for _, program := range programs {
				words[program] = nil
			}
		}
	}
	delete(words, "sleep") // nothing to find, and slow
	for _, command := range samples {
		words.learn(command)
	}
	askForFlags(t, words)
	for program, own := range words {
		slices.Sort(own)
		words[program] = slices.Compact(own)
	}
	return words
}

// learn takes the words behind known programs out of a command.
func (v vocabulary) learn(command string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		program := call.Args[0].Lit()
		if _, known := v[program]; !known {
			return true
		}
		for _, arg := range call.Args[1:] {
			v[program] = append(v[program], command[arg.Pos().Offset():arg.End().Offset()])
		}
		return true
	})
}

var flagInHelp = regexp.MustCompile(`(?m)(?:^|[\s,(\[|])(--?[a-zA-Z0-9][-a-zA-Z0-9]*)`)

// askForFlags asks every program and every sub-command of git for its flags, in a sandbox.
func askForFlags(t testing.TB, words vocabulary) {
	t.Helper()
	box, err := openSandbox(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer box.close()
	ask := map[string]string{}
	for program := range words {
		ask[program+" --help"] = program
	}
	for _, word := range words["git"] {
		if !strings.HasPrefix(word, "-") && regexp.MustCompile(`^[a-z-]+$`).MatchString(word) {
			ask["git "+word+" -h"] = "git"
		}
	}
	for _, question := range slices.Sorted(maps.Keys(ask)) {
		got, err := box.run(job{Shell: []string{"bash", "-c"}, Command: question, Limit: maxTime, Words: true})
		if err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		for _, m := range flagInHelp.FindAllStringSubmatch(got.Output, -1) {
			words[ask[question]] = append(words[ask[question]], m[1])
		}
	}
}

// pool are words of the world, and such that programs and shells read more into.
var pool = []string{
	"a.txt", "b.txt", "names.txt", "file", "f", "README.md", "main.go", "data.json", "package.json", "a.bin", "empty.txt", "app.log", "src", "src/a",
	".", "./", "..", "../b.txt", "internal", "empty", "sub", "bare.git", "link", "link/token", "tolink", "dangling", "dock", "pr0", "missing", "arch.tar.gz", "a.txt.gz",
	"'a b'", "-odd", "-delete", "-o", "--output=out", "-exec", "./-odd", "--", "-", "@opts", "@tok", "u^z", "names.txt^b", ".en^x", "^caret", "'#hash'", "a#b", "a~b",
	"~", "~/src", "~/.netrc", ".env", ".hidden", ".git", ".git/config", "/etc/passwd", "/usr/share/dict", "/dev/null", "'*'", "'[a]'", "'$x'",
	"*", "*.txt", "a*", "?", "src/*", "**", "**/*", "***/a", "**/c*", "*.go", "u*", "[a-c]*", "[!a]*", "*/", "src/**/tok*", "d?/tok*", "a.txt*", "*b.txt", "-*",
	"0", "1", "3", "10", "-1", "-5", "+1", "+1f", "+2cf", "1,3", "2-", "1k", "1e3", "0x10", "1:2", "99", "64", "2147483647", "5f", "1M",
	"x", "foo", "''", "' '", "TODO", "'a.*'", "'^a'", "'a\\|b'", "'(a+)+$'", "'[[:alpha:]]'", "KEY", "'%s\\n'", "%h", "'%p\\n'", "'%-10f'", "+%s", "'%99999p'",
	"1p", "'2,3p'", "'$p'", "'/a/p'", "'/a/,/b/p'", "'s/a/b/'", "'1!d'", "'/x/w out'", "'{p;q}'", ".", ".name", "'.items[]'", "'.[]'", "keys", "'.. | strings'", "'[.,.]'",
	"'{print $1}'", "'/a/{print}'", "'BEGIN{print 1}'", "'{print > \"out\"}'", "'{system(\"touch ran\")}'",
	"HEAD", "HEAD^", "HEAD~1", "'HEAD^{tree}'", "HEAD:a.txt", ":0:a.txt", ":a.txt", "'HEAD^{/one}'", "main", "v1", "feature", "main..feature", "HEAD...v1", "'stash@{0}'", "'@{u}'", "origin", "--all",
	"-name", "-type", "-path", "-print", "-prune", "-o", "-a", "!", "'!'", "\\(", "\\)", "-newer", "-size", "-maxdepth", "-printf", "-ls", "-empty", "-regex", "-f", "-d", "-e", "=", "-eq", "]",
	"auto", "always", "never", "json", "full", "short", "name", "size", "time", "C", "utf-8", "UTC", "iso", "format:%h", "'%(refname)'", "'%(authorname)'", "'%an %GK'", "'%(trailers)'",
}

// generator builds commands at random.
type generator struct {
	*rand.Rand
	words    vocabulary
	programs []string
}

func newGenerator(words vocabulary, seed uint64) *generator {
	return &generator{rand.New(rand.NewPCG(seed, seed)), words, slices.Sorted(maps.Keys(words))}
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
	for i := range count {
		for range tries {
			command := g.line(g.programs[i%len(g.programs)])
			if passes, _, _ := look(command); passes && !seen[command] {
				seen[command] = true
				out = append(out, command)
				break
			}
		}
	}
	return out
}

// frames are what a shell puts around commands; $1 and $2 stand for commands, $w for a word.
var frames = []string{
	"$1 | $2", "$1 | $2", "$1 && $2", "$1; $2", "$1 || $2", "$1\n$2", "$1 2>/dev/null", "$1 >/dev/null", "$1 2>&1 | $2", "$1 &>/dev/null", "$1 >&2", "$1 < $w",
	"cd src && $1", "cd $w && $1", "[ -f $w ] && $1", "test -e $w || $1", "[[ -n $w ]] && $1", "! $1", "( $1 )", "{ $1; }", "time $1", "timeout 3 $1", "nice $1", "env $1",
	"$1 | xargs $2", "$1 | xargs -n1 $2", "find . -name $w -exec $1 {} \\;", "find $w -type f | xargs $1", "for f in $w; do $1 \"$f\"; done", "for f in $w $w; do $1; done",
	"if $1; then $2; fi", "while $1; do $2; done", "case $w in a*) $1;; esac", "$1 <<< $w", "$1 <<'E'\nx\nE", "X=1 $1", "echo $w | $1", "printf '%s\\n' $w | $1", "cat $w | $1",
	"command $1", "$1 > $w", "echo $($1)", "$1 <($2)", "test $w -nt $w", "[ $w $w $w ]", "awk $w $w", "xargs -a $w $1", "sort $w | $1", "$1 & $2",
}

var inFrame = regexp.MustCompile(`\$[12w]`)

// line builds a command line that starts with a program or has it inside a frame.
func (g *generator) line(program string) string {
	first := g.simple(program)
	if g.IntN(3) > 0 {
		return first
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

// letters bundles flags of one letter.
func (g *generator) letters(own []string) string {
	out := "-"
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
		return word[:at] + g.pick([]string{"^", "~", "*", "#", "@", "=", "-", ",", ":", "%", "0", "/", "\\", "'", "?", "(", "{"}) + word[at:]
	}
	return word[:at] + g.pick(pool) + word[at:]
}
