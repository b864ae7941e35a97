package shell

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"nod/policy/shell/language"
)

// A tower is a line made of a few texts, each repeated: the shape of lines that cost more than they look.
type tower struct {
	head, up, middle, down, tail string
	n                            int // how often up and down come
}

// line builds a tower of at most the length that nod reads. % in what is repeated is a number.
func (t tower) line() string {
	n := t.n
	if each := len(t.up) + len(t.down); n <= 0 || n*each > language.MaxLength {
		n = (language.MaxLength - len(t.head+t.middle+t.tail)) / max(each, 1)
	}
	text := t.head + numbered(t.up, n) + t.middle + numbered(t.down, n) + t.tail
	return text[:min(len(text), language.MaxLength)]
}

// numbered repeats a text n times.
func numbered(text string, n int) string {
	var b strings.Builder
	for i := range max(n, 0) {
		b.WriteString(strings.ReplaceAll(text, "%", fmt.Sprintf("%x", i)))
	}
	return b.String()
}

// towers are lines that cost much in some part of the reading: words, variables, loops, scripts within scripts, places,
// paths, names that are found, patterns and the small languages.
var towers = []tower{
	{head: doubling("abcdefghijklmnopqrst", 2), tail: `echo "$t"`},
	{head: doubling("abcdef", 20), tail: `echo "$f"`},
	{head: "a=" + strings.Repeat("x", 5000) + "; cat ", up: "$a "},
	{head: "a='" + strings.Repeat("x ", 2500) + "'; ", up: `sh -c "$a";`},
	{head: "a='" + strings.Repeat("x;", 4500) + "'; ", up: `sh -c "$a"; `, n: 70},
	{head: "a='" + strings.Repeat("print x;", 600) + "'; ", up: `awk "{$a}" f;`},
	{head: "a='" + strings.Repeat(".a|", 1500) + "'; ", up: `jq "$a." f;`},
	{up: "x; "}, {up: "cat a b; "}, {head: "cat ", up: "a "}, {head: "cat ", up: "% "},
	{up: "x && ", tail: "x"},
	{up: "x | ", tail: "x"}, {up: "cd a || ", tail: "x"}, {up: "cd a && cd b; "}, {up: "eval ", tail: "x"},
	{up: "sudo ", tail: "x"},
	{head: "cd a; cd b; cd c; cd d; ", up: "cat %; "}, {head: "cd a; cd b; cd c; cd d; cat ", up: "% "},
	{head: "cat ", up: "{a,b}{a,b}{a,b}{a,b} "}, {head: "cat ", up: "x{a,b}{a,b}{a,b}{a,b} "}, {up: "cat x{a,b}; "},
	{head: "cat ", up: "{a,b,c,d,e,f,g,h,i,j} "},
	{up: "$(echo ", down: ")"}, {up: `echo "$(`, down: `)"`}, {up: "(", middle: "x", down: ")"},
	{head: "echo ", up: "$(("},
	{up: "if x; then ", middle: "y;", down: "fi;"}, {up: "while read a; do a=b;", middle: "y;", down: "done;"},
	{up: "for a in 1 2 3 4 5 6 7 8 9; do ", middle: "sh -c 'x; y; z';", down: "done;"},
	{up: "f() { ", middle: "x;", down: "};"},
	{head: "for a in 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9; do cat ", up: "$a% ", tail: ";done"},
	{up: "export A%=b; "}, {head: numbered("export A%=b; ", 250), up: "make;"}, {up: "A%=b ", tail: "make"},
	{up: "a%=b;"},
	{head: "bash ", up: "'eval % a' "}, {head: "bash ", up: "% "}, {up: "eval 'x % y'; "}, {up: "bash -c 'x %' -c y;"},
	{up: "echo 'a %' | ", tail: "bash"}, {up: "x <<< a | ", tail: "bash"}, {up: "{ ", middle: "bash", down: ";} <<< a"},
	{head: "for a in 1 2 3 4 5 6 7 8 9; do for b in 1 2 3 4 5 6 7 8 9; do bash ", up: "% ", tail: ";done;done"},
	{head: "find " + numbered("% ", 800), up: "-name % ", tail: "| xargs cat"},
	{head: "find " + numbered("% ", 800), up: "-name % ",
		tail: "-print0 | xargs -0 -I{} cat " + strings.Repeat("{} ", 800)},
	{head: "find " + numbered("% ", 800) + numbered("-name % ", 300), up: "-exec cat {} + "},
	{head: "cd a; cd b; cd c; cd d; find " + numbered("% ", 800), up: "-exec cat {} + "},
	{head: "fd x " + numbered("% ", 800) + "-X cat ", up: "{} "}, {head: "cp ", up: "% ", tail: "x"},
	{head: "find " + numbered("% ", 800) + numbered("-name % ", 300), up: "| sort ", tail: "| xargs cat"},
	{head: "find " + numbered("% ", 800) + numbered("-name % ", 300), up: "| grep % ", tail: "| xargs cat"},
	{head: "find " + numbered("% ", 800) + numbered("-name *.% ", 300), up: "| grep % ", tail: "| xargs cat"},
	{head: "find " + numbered("% ", 400) + numbered("-name *.% ", 300) + "| grep ", up: "-e % ", tail: "| xargs cat"},
	{head: "fd x " + numbered("% ", 800), up: "| grep % ", tail: "| xargs cat"},
	{up: "cat <<E\n$(x)\nE\n"}, {head: "cat <<E\n", up: "$a ", tail: "\nE\n"}, {up: "cat <<< x; "},
	{head: "x ", up: ">% "},
	{head: "grep -E '", up: "a*", tail: "' f"}, {head: "grep -P '", up: "[a-z]*", tail: "' f"},
	{head: "grep ", up: "-e a% ", tail: "f"},
	{head: "grep -E '", up: "(", middle: "a", down: ")*", tail: "' f"},
	{head: "grep -E '", up: "a|", tail: "' f"},
	{head: "sed '", up: "s/a/b/;", tail: "' f"}, {head: "sed '", up: ":%;b%;", tail: "' f"},
	{head: "tr '", up: "[a*", tail: "' b"},
	{head: "awk '{", up: "a=a b;", tail: "}' f"}, {head: "awk '{", up: "v%=v%+1;", tail: "}' f"},
	{head: "awk '{", up: "for(i=0;i<9;i++)", middle: "print", tail: "}' f"},
	{head: "awk '{print ", up: "(", middle: "1", down: ")", tail: "}' f"},
	{head: "jq '", up: "[", middle: "1", down: "]", tail: "' f"},
	{head: "jq '", up: "def f%:.;", tail: ".' f"}, {head: "jq '", up: ".,", tail: ".' f"},
	{head: "printf '", up: "%%s", middle: "' ", down: "a "}, {head: "test ", up: "! ", tail: "a"},
	{head: "git log ", up: "HEAD~% "},
	{head: "git log -- ", up: "% "}, {head: "ls -", up: "l"}, {head: "cat ", up: "* "},
	{head: "cat ", up: "[a]"}, {head: "echo ", up: "${a:-", down: "}"},
	{head: "apply_patch '*** Begin Patch\n", up: "*** Add File: %\n+a\n", tail: "*** End Patch\n'"},
	{head: "apply_patch <<< x; ", up: "apply_patch;"}, {up: "#a\n"}, {head: "cat ", up: "<(cat ", down: ")"},
	{up: "a() { a | a; }; "},
}

// doubling sets variables, each to some of the one before.
func doubling(names string, times int) string {
	text := "a=xxxxxxxx; "
	for i := 1; i < len(names); i++ {
		text += fmt.Sprintf("%c=\"%s\"; ", names[i], strings.Repeat("$"+names[i-1:i], times))
	}
	return text
}

// maxCost is how many bytes reading a line may allocate in all. The race detector makes every small allocation a larger
// one.
const maxCost = 60 << 20 * overhead

// checkCost holds the reading of a line to what it may cost.
func checkCost(t *testing.T, line string) {
	t.Helper()
	for name, read := range map[string]func(string) Analysis{"Analyze": Analyze, "Assess": Assess} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read(line)
		runtime.ReadMemStats(&after)
		if cost := after.TotalAlloc - before.TotalAlloc; cost > maxCost {
			t.Errorf("%s(%.300q…) of %d bytes takes %d MB", name, line, len(line), cost>>20)
		}
	}
}

// What costs too much to read is asked about, by rules that allow as well; what was read of it is denied where a rule
// denies it.
func TestWhatCostsTooMuchIsAskedAbout(t *testing.T) {
	for _, line := range []string{
		"rm x; " + doubling("abcdefghijklmnopqrst", 2) + `echo "$t"`,
		"rm x; a='" + strings.Repeat("x;", 4500) + "'; " + strings.Repeat(`sh -c "$a"; `, 70),
	} {
		a := Analyze(line)
		if !a.Unreadable || !a.opaque || a.ReadOnly || a.Whole == "" || len(a.Parts) == 0 || a.Parts[0].Text != "rm x" {
			t.Errorf("%.60q…: %+v", line, a)
		}
		seen := Assess(line)
		if i := len(seen.Risks) - 1; i < 0 || seen.Risks[i].Text != RiskUnreadable {
			t.Errorf("%.60q…: %v", line, seen.Risks)
		}
	}
}

// What people and agents write is far from the limit, also many times in a row. Only of a patch that is known when it
// runs all is read that may be fed to apply_patch, each time.
func TestOrdinaryLinesCostLittle(t *testing.T) {
	for _, s := range allSamples(t) {
		if strings.Contains(s.command, "apply_patch") {
			continue
		}
		line := s.command + "\n"
		if n := min(language.MaxLength/len(line), maxPrograms/2); n > 1 && !Analyze(s.command).Unreadable {
			if a := Analyze(strings.Repeat(line, n)); a.Unreadable {
				t.Errorf("%d times %q: %q", n, s.command, a.Reasons)
			}
		}
	}
}

// FuzzCost sees what towers cost, and looks for other small lines that cost much.
func FuzzCost(f *testing.F) {
	for _, t := range towers {
		f.Add(t.head, t.up, t.middle, t.down, t.tail, t.n)
	}
	f.Fuzz(func(t *testing.T, head, up, middle, down, tail string, n int) {
		checkCost(t, tower{head, up, middle, down, tail, n}.line())
	})
}
