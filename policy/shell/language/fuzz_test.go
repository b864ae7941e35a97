package language

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// The fuzz targets hold every text to what must be true of any answer. Where a program has a mode in which it cannot
// do harm, what is accepted is given to it as well.

// checkRefusal holds a refusal to be a sentence that can be shown.
func checkRefusal(t *testing.T, text string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	s := err.Error()
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || len(s) > 400 || !strings.HasSuffix(s, ".") {
		t.Errorf("%q: the refusal %q cannot be shown", text, s)
	}
}

// runFor gives an accepted text to a program, when it is installed and can take the text as a word.
func runFor(t *testing.T, text string, argv ...string) string {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil || strings.ContainsRune(text, 0) {
		return ""
	}
	dir := sandbox(t)
	_, stderr := runHarmless(t, dir, state(t, dir), argv...)
	return stderr
}

func FuzzSed(f *testing.F) {
	for _, s := range slices.Concat(sedAccepted, sedRefused) {
		f.Add(s, false)
	}
	f.Add("s/(a+)/\\1/g", true)
	f.Fuzz(func(t *testing.T, script string, extended bool) {
		use, err := Sed(script, extended)
		checkRefusal(t, script, err)
		if err != nil {
			return
		}
		if len(use.Writes)+len(use.Runs) > 0 {
			t.Errorf("%q is accepted and writes %q", script, use.Writes)
		}
		for _, more := range []string{"\nw out", "\n1e", "\ns/a/b/w out", "\ns/a/b/e", "\n:zz\nbzz"} {
			if _, err := Sed(script+more, extended); err == nil {
				t.Errorf("%q is accepted with %q behind it", script, more)
			}
		}
		flag := "-s"
		if extended {
			flag = "-E"
		}
		stderr := runFor(t, script, "sed", "--sandbox", flag, "--", script, "a.txt")
		if len(use.Reads) == 0 && strings.Contains(stderr, "sandbox mode") {
			t.Errorf("%q reads, writes or runs something for GNU sed: %s", script, stderr)
		}
	})
}

func FuzzAwk(f *testing.F) {
	for _, s := range slices.Concat(awkAccepted, awkRefused) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, program string) {
		err := Awk(program, []string{"pat=foo", "n=3"})
		checkRefusal(t, program, err)
		if err != nil {
			return
		}
		for _, more := range []string{
			"\n{print > \"out\"}", "\n{print | \"sh\"}", "\n{system(\"x\")}", "\nBEGIN{while(1) x}", "\n{getline}",
		} {
			if err := Awk(program+more, nil); err == nil {
				t.Errorf("%q is accepted with %q behind it", program, more)
			}
		}
		stderr := runFor(t, program, "gawk", "--sandbox", "-v", "pat=foo", "-v", "n=3", "--", program, "a.txt")
		if strings.Contains(stderr, "sandbox mode") {
			t.Errorf("%q does more than print for gawk: %s", program, stderr)
		}
	})
}

func FuzzJQ(f *testing.F) {
	for _, s := range slices.Concat(jqAccepted, jqRefused) {
		if len(s) < 300 {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, filter string) {
		err := JQ(filter, []string{"k", "v"})
		checkRefusal(t, filter, err)
		if err != nil {
			return
		}
		for _, more := range []string{"|env", ",$ENV", "|.a=1", "|repeat(.)", "|input_filename"} {
			if !strings.Contains(filter, "#") && JQ("("+filter+")"+more, nil) == nil {
				t.Errorf("%q is accepted with %q behind it", filter, more)
			}
		}
		runFor(t, filter, "jq", "--arg", "k", "a", "--arg", "v", "1", "--", filter, "b.json")
	})
}

func FuzzRegexp(f *testing.F) {
	for _, s := range []string{
		"a", `\(a\)\1`, "((a{1,1000}){1,1000}){1,1000}", "(a+)+$", "[[:alpha:]]*", `[^\]]`, `(?<n>a)\k<n>`, `\p{L}{2,3}`,
		"a{,5}|b",
	} {
		for kind := Basic; kind <= Rust; kind++ {
			f.Add(s, int(kind))
		}
	}
	f.Fuzz(func(t *testing.T, pattern string, kind int) {
		syntax := Syntax(kind & 7)
		if syntax > Rust {
			return
		}
		err := Regexp(pattern, syntax)
		checkRefusal(t, pattern, err)
		if err != nil {
			return
		}
		flag := map[Syntax]string{Basic: "-G", Extended: "-E", awkExtended: "-E", Perl: "-P"}[syntax]
		if flag != "" {
			runFor(t, pattern, "grep", flag, "-e", pattern)
		}
	})
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{
		". -name x -print", "-L a -exec grep x {} + -delete", "-f x -a -e y", "1 -eq 1", "%s %d x 1", "%(%F)T",
		"+%F",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Fields(text)
		use, err := Find(words)
		checkRefusal(t, text, err)
		if err == nil && (len(use.Writes) > 0 || use.Deletes || len(use.Trees) == 0) {
			t.Errorf("find %q is accepted: %+v", text, use)
		}
		checkRefusal(t, text, Test(words, nil))
		checkRefusal(t, text, Date(text))
		if len(words) > 0 {
			checkRefusal(t, text, Printf(words[0], words[1:], false))
		}
	})
}

func FuzzFormats(f *testing.F) {
	for _, s := range []string{
		"%10s", "%G?", "%<(20)%s", "%(align:20)%(refname)%(end)", "%(*signature)", "%(%F)T", "%_10Y", "-committerdate",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, format string) {
		for _, judge := range []func(string) error{Directives, timeFormat, GitFormat, GitSort} {
			checkRefusal(t, format, judge(format))
		}
		if GitFormat(format+"%G?") == nil || GitFormat(format+"%(signature)") == nil {
			t.Errorf("%q is accepted with a signature behind it", format)
		}
	})
}
