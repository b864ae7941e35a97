package shell

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// A realShell evaluates words: what nod reads is held against it.
type realShell struct {
	name string
	args []string // it prints what each word behind them comes to, as words with \0 behind each, and then \1\0
}

// A shell's p prints its arguments with \0 behind each, and e a mark. While loop evaluates a word, $# is 0.
const (
	byPrintf = `p() { [ $# -eq 0 ] || printf '%s\0' "$@"; }; e() { printf '\1\0'; }; `
	byPrint  = `p() { for a do print -rn -- "$a"; print -n '\0'; done; }; e() { print -n '\001\0'; }; `
	forFish  = `for w in $argv; eval "printf '%s\\0' $w"; printf '\1\0'; end`
	loop     = `for w do set --; eval "p $w"; e; done`
)

// realShells are in the order of the columns of the table.
var realShells = []realShell{
	{"bash", []string{"--norc", "--noprofile", "-c", byPrintf + loop, "bash"}},
	{"dash", []string{"-c", byPrintf + loop, "dash"}},
	{"mksh", []string{"-c", byPrint + loop, "mksh"}},
	{"zsh", []string{"-f", "-o", "no_nomatch", "-c", byPrintf + loop, "zsh"}}, // a pattern without a match stays
	{"fish", []string{"--no-config", "-c", forFish, "--"}},
}

// shellVariables are the variables that the words may use.
var shellVariables = map[string]word{
	"x": {text: "a/b.cC", known: true, plain: true},
	"y": {text: "p q*", known: true},
}

// evaluate returns what a shell makes of each of the words: they, each with \0 behind it. It has no programs to run,
// and an empty folder. A word may end its shell; the next shell goes on with the word after it.
func (s realShell) evaluate(t testing.TB, words []string) (made []string) {
	t.Helper()
	dir := t.TempDir()
	for len(words) > 0 {
		cmd := exec.Command(s.name, append(slices.Clone(s.args), words...)...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=/nonexistent", "HOME=/home/of/nobody", "LC_ALL=C.UTF-8"}
		for name, value := range shellVariables {
			cmd.Env = append(cmd.Env, name+"="+value.text)
		}
		out, _ := cmd.Output() // it ends like the last word
		done := strings.Split(string(out), "\x01\x00")
		done = done[:min(len(done), len(words))]
		made, words = append(made, done...), words[len(done):]
	}
	return made
}

// eachShell runs a test with each shell that is there.
func eachShell(t *testing.T, test func(t *testing.T, i int, s realShell)) {
	for i, s := range realShells {
		t.Run(s.name, func(t *testing.T) {
			if _, err := exec.LookPath(s.name); err != nil {
				t.Skipf("SKIPPED: what nod knows of %s is not tested, because it is not installed: run make setup-test", s.name)
			}
			test(t, i, s)
		})
	}
}

// A dollar is a row of the table in testdata/dollar.txt.
type dollar struct {
	before string
	next   *regexp.Regexp
	makes  []string // of it, by each shell
}

func dollars(t *testing.T) (rows []dollar) {
	t.Helper()
	table, err := os.ReadFile("testdata/dollar.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] != "#" {
			rows = append(rows, dollar{f[0], regexp.MustCompile("^(?s:" + f[1] + ")"), f[2:]})
		}
	}
	return rows
}

// isPlain reports whether what follows stands for itself in every shell that takes the line.
func (d dollar) isPlain() bool {
	return !slices.ContainsFunc(d.makes, func(made string) bool { return made != "literal" && made != "error" })
}

// TestDollars holds nod to the table, and the table to the shells: what it calls literal is so with everything that may
// follow, and what it does not is something else with some of it.
func TestDollars(t *testing.T) {
	values := map[string]string{"$": "$", "$x": shellVariables["x"].text, "$#": "0", "$?": "0"}
	var words, wants []string
	var rows []dollar
	table := dollars(t)
	varies := map[string]func() *regexp.Regexp{"$": behindDollar, "$x": behindVariable, "$#": behindNumber}
	for before, value := range values {
		row := before
		if before == "$?" {
			row = "$x"
		}
		for _, next := range followers() {
			isName := before == "$x" && moreOfName.MatchString(next)
			if isName || strings.LastIndex(next, "$") > 0 || before != "$" && strings.HasPrefix(next, "$") {
				continue // more of the name, or another variable
			}
			words, wants = append(words, `"`+before+next+`"`), append(wants, value+next+"\x00")
			i := slices.IndexFunc(table, func(d dollar) bool { return d.before == row && d.next.MatchString(next) })
			if rows = append(rows, table[i]); table[i].isPlain() == varies[row]().MatchString(next) {
				t.Errorf("%s%s: nod and the table disagree", before, next)
			}
		}
	}
	eachShell(t, func(t *testing.T, i int, s realShell) {
		differs := map[string]bool{}
		for at, made := range s.evaluate(t, words) {
			claim, key := rows[at].makes[i], rows[at].before+" "+rows[at].next.String()
			if isLiteral := made == wants[at]; isLiteral && claim != "error" || s.name == "fish" && words[at][:3] == `"$?` {
				continue // in fish, $? is an error
			} else if claim == "literal" {
				t.Errorf("%s comes to %q", words[at], made)
			}
			differs[key] = true
		}
		for _, row := range table {
			if key := row.before + " " + row.next.String(); row.makes[i] != "literal" && !differs[key] {
				t.Errorf("%s: nothing is seen of %q", key, row.makes[i])
			}
		}
	})
}

var moreOfName = regexp.MustCompile(`^[A-Za-z0-9_]`)

// followers are texts that follow a $ or a variable: every character that a word may hold, alone and before others.
func followers() (texts []string) {
	chars := []string{"", "é", "λ", "日"}
	for c := byte(' '); c <= '~'; c++ {
		if !strings.ContainsRune("\"`\\", rune(c)) {
			chars = append(chars, string(rune(c)), ":"+string(rune(c)))
		}
	}
	for _, c := range chars {
		for _, tail := range []string{"", "x", "s/a/Q/", "[1]"} {
			texts = append(texts, c+tail)
		}
	}
	return texts
}

// knownWord is the text of a word that nod takes for known, with nothing that shells may read differently.
func knownWord(spelled string) (text string, quotes, ok bool) {
	source := "echo " + spelled
	if unreadable(source) != "" || doubtful(source) != "" {
		return "", false, false
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(source), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return "", false, false
	}
	s := file.Stmts[0]
	call, isCall := s.Cmd.(*syntax.CallExpr)
	if !isCall || len(call.Args) != 2 || len(s.Redirs) > 0 || s.Background || s.Semicolon.IsValid() ||
		len(braced(call.Args[1])) > 1 {
		return "", false, false
	}
	read := (&walk{source: source, budget: newBudget(source), vars: shellVariables}).readWord(call.Args[1])
	_, quotes = call.Args[1].Parts[0].(*syntax.DblQuoted)
	if read.home {
		read.text = "/home/of/nobody" + strings.TrimPrefix(read.text, "~")
	}
	isElsewhere := read.glob && strings.Contains(read.text, "/") // where something may match
	return read.text, quotes && len(call.Args[1].Parts) == 1, read.known && read.problem() == "" && !isElsewhere
}

// checkWords holds what nod makes of words to what shells make of them, and returns how many it compared.
func checkWords(t *testing.T, s realShell, spelled []string) int {
	t.Helper()
	var known, wants []string
	for _, word := range spelled {
		text, quotes, ok := knownWord(word)
		if s.name == "fish" && (!quotes || strings.Contains(word, "\\`")) {
			ok = false // outside double quotes fish is another language
		}
		if ok {
			known, wants = append(known, word), append(wants, text+"\x00")
		}
	}
	for i, made := range s.evaluate(t, known) {
		if made != wants[i] && !(s.name == "fish" && made == "") { // which refuses some
			t.Errorf("%s makes %q of %s, nod %q", s.name, made, known[i], wants[i])
		}
	}
	return len(known)
}

// TestWordsInShells gives random words to every shell, and sees each that nod takes for known come to what nod says.
func TestWordsInShells(t *testing.T) {
	pieces := strings.Fields("$x $x $y ${x} ${y} $ $ x y a.b / : [ ] ^ = ~ + # ? * - @ % ! , ; & | ( ) { } < > 1 s/a/Q/ " +
		`:t :h [1] [y] \ \\ \$ \" " " " " ' ' ' é . _ $? $# :$`)
	pieces = append(pieces, " ")
	random := rand.New(rand.NewPCG(20, 3))
	words := []string{`"$x[y]"`, `"$x:t"`, `$x:t`, `"$^x"`, `"$#x"`}
	for range 6_000 {
		var word strings.Builder
		if random.IntN(2) == 0 {
			word.WriteByte('"')
		}
		for range 1 + random.IntN(6) {
			word.WriteString(pieces[random.IntN(len(pieces))])
		}
		if strings.HasPrefix(word.String(), `"`) {
			word.WriteByte('"')
		}
		words = append(words, word.String())
	}
	eachShell(t, func(t *testing.T, _ int, s realShell) {
		compared := 0
		for batch := range slices.Chunk(words, 2000) {
			compared += checkWords(t, s, batch)
		}
		if compared < 1000 {
			t.Errorf("only %d words compared", compared)
		}
		t.Logf("%d words compared", compared)
	})
}

// FuzzWordsInShells does the same with words that fuzzing finds, one in a line.
func FuzzWordsInShells(f *testing.F) {
	f.Add("\"$x[y]\"\n\"$x.[y]\"\n$x:t\n\"${x}[y]\"\n'$x'\"$y\"$x")
	f.Add("\"a$\"\n\"$^x\"\n\"$=x\"\n\"\\$x\"\n\"$x:$y\"\n~/a\n*.go\n[a-z]x\n\\*")
	f.Add("\"$#$x\"\n\"$#-\"\n\"$xé\"\nHEAD^\na=~b\n{}\n%s\n\"$x\\[y]\"\n$x'[y]'\n$x\"[y]\"")
	f.Fuzz(func(t *testing.T, text string) {
		var words []string
		for word := range strings.SplitSeq(text, "\n") {
			if _, _, ok := knownWord(word); ok && len(words) < 50 {
				words = append(words, word)
			}
		}
		if len(words) == 0 {
			return
		}
		for _, s := range realShells {
			if _, err := exec.LookPath(s.name); err == nil {
				checkWords(t, s, words)
			}
		}
	})
}
