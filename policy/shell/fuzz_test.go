package shell

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"nod/policy/invisible"
)

// FuzzAnalyze holds every text to what must be true of any analysis.
func FuzzAnalyze(f *testing.F) {
	for _, s := range allSamples(f) {
		f.Add(s.command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		a := Analyze(command)
		Assess(command)
		checkHonest(t, command, a)
		if harmless(a, true) {
			checkAccepted(t, command, a)
		}
	})
}

// What shells know, in any order, is read without a panic: what a user sees of it, too.
func TestTokensInAnyOrder(t *testing.T) {
	tokens := strings.Split("$( ) <x >x >>x | || && ; & if then fi for i in a do done while until case esac x) ;; { } "+
		"( ` \" ' $x ${x} ${x:-y} ${x@P} ${#x} $((x+1)) $[1] <<<a <<E \nE\n [[ ]] [ ] ! time ls cat echo xargs find "+
		"-exec {} \\; git log -- grep sed -n awk '{print}' env A=1 A=$(ls) a[1]=2 a=(1 2) test read printf %s bash -c "+
		"'ls' eval source function f() coproc select export declare local unset trap \\ # * ? [a] ~/x {1..3} {a,b} "+
		"<(ls) >(cat) $(<x) 2>&1 &>x <&3 exec sudo timeout 5 rm npm $'\\x41' $\"a\" \\\n \t", " ")
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		var line strings.Builder
		for range 1 + random.IntN(12) {
			line.WriteString(tokens[random.IntN(len(tokens))] + []string{" ", ""}[random.IntN(4)/3])
		}
		checkHonest(t, line.String(), Analyze(line.String()))
		Assess(line.String())
	}
}

// corpus are the commands that fuzzing found worth keeping and that are read-only in a trusted folder.
func corpus(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/fuzz/FuzzAnalyze/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	var out []string
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, value, _ := strings.Cut(strings.TrimSpace(string(data)), "string(")
		command, err := strconv.Unquote(strings.TrimSuffix(value, ")"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if harmless(Analyze(command), true) {
			out = append(out, command)
		}
	}
	return out
}

// checkHonest holds an analysis to itself.
func checkHonest(t *testing.T, command string, a Analysis) {
	t.Helper()
	if a.ReadOnly != (len(a.Reasons) == 0) {
		t.Errorf("%q: read-only %v with reasons %q", command, a.ReadOnly, a.Reasons)
	}
	for _, reason := range a.Reasons {
		if !utf8.ValidString(reason) || strings.ContainsFunc(reason, unicode.IsControl) || len(reason) > 400 {
			t.Errorf("%q: reason %q cannot be shown", command, reason)
		}
	}
	if a.ReadOnly && (a.Deletes || a.Network || a.opaque || a.Unreadable || a.Whole != "" || a.DrivesScreen) {
		t.Errorf("%q: read-only, but %+v", command, a)
	}
	for _, p := range a.Parts {
		changes := func(a Access) bool { return a.Kind >= Write }
		if p.Reads && (p.Why != "" || !p.Understood || slices.ContainsFunc(p.Accesses, changes)) || a.ReadOnly && !p.Reads {
			t.Errorf("%q: part %+v", command, p)
		}
		if pattern, err := p.Pattern(); err == nil && !pattern.Covers(p, func(string) bool { return true }) {
			t.Errorf("%q: %+v does not cover the part that it is of", command, pattern)
		}
		for _, saved := range savedPatterns() {
			saved.Covers(p, func(string) bool { return true }) // whatever p is
		}
	}
}

// savedPatterns are of commands with flags, as a user may have allowed them before any other command comes.
var savedPatterns = sync.OnceValue(func() (saved []Pattern) {
	for _, command := range []string{
		"git commit --amend", "npm ci --ignore-scripts", "mytool --foo x", "LD_PRELOAD=./x mix test",
	} {
		for _, p := range own(Analyze(command).Parts) {
			if pattern, err := p.Pattern(); err == nil {
				saved = append(saved, pattern)
			}
		}
	}
	return saved
})

// checkAccepted holds what must be true of every command that is read-only.
func checkAccepted(t *testing.T, command string, a Analysis) {
	t.Helper()
	for i, r := range command {
		isJoint := invisible.IsJoint(command, i)
		if r != '\n' && (r < ' ' || r == 0x7f || r >= utf8.RuneSelf && !unicode.IsLetter(r) && !plainMark(r) && !isJoint) {
			t.Errorf("%q is accepted with %q in it", command, r)
		}
	}
	for _, name := range a.Programs {
		_, longer := programs().subs[name]
		if programs().find(name) == nil && !longer && name != "cd" {
			t.Errorf("%q is accepted with the program %q", command, name)
		}
	}
	if !analyze(command, syntax.LangZsh).ReadOnly {
		t.Errorf("%q is accepted for bash, but not for zsh", command)
	}
	// POSIX shells read &> as & and >, which TestBothOutputs holds to the same programs, and know no [[.
	if posix := strings.NewReplacer("&>", " >", "[[", "[", "]]", "]").Replace(command); !strings.Contains(posix, "<(") &&
		!analyze(posix, syntax.LangPOSIX).ReadOnly { // which read <( as a mistake, and run nothing
		t.Errorf("%q is accepted for bash, but not for POSIX shells", command)
	}
	if last := command[strings.LastIndexByte(command, '\n')+1:]; strings.HasPrefix(strings.TrimSpace(last), "#") {
		return // what follows is a part of the comment
	}
	for _, more := range []string{"; x", "\nx", " > f", " $(x)", " | x", " &", " `x`", " && x", " || x",
		"\rx", "\x00", " # x", ">f", ";x", "&", "|x"} {
		if harmless(Analyze(command+more), true) &&
			!(more == " # x" && strings.HasSuffix(strings.TrimRight(command, " "), "\n")) {
			t.Errorf("%q is accepted with %q behind it", command, more)
		}
	}
}
