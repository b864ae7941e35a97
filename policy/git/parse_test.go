//go:build unix

package git

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// configurations are what people, tools and attackers write.
var configurations = []string{
	"", "\n", "# only\n; comments", "[core]\n\tbare = false\n\tfilemode\n",
	"[core] fsmonitor = x\n", "[core]a=b\n[core]c=d", "[Core]\n FsMonitor=X\n", "[core]\r\nfsmonitor = x\r\n",
	"\xef\xbb\xbf[core]\nfsmonitor=x\n", "\xef\xbb[core]\nfsmonitor=x\n", "\xef\xbb\xbf# c\n[a]\nb=c",
	"[core]\nfsmonitor = a\\\n b\n", "[core]\nx = a\\\r\n b\n", "[core]\nx = a\\\n# c\n y=z\n", "[core]\nx=\\\n",
	"[core]\nx = a\\", "[core]\nx=y # c\\\nfsmonitor=z\n", "[core]\nx=a;b\ny = a#b\n",
	"[core]\nx = a\"b;c\" d ; e\n", "[core]\nx=\"a\nb\"\n", "[core]\nx=\"a\n", "[core]\nx = \\\"q\\\\ \\t\\n\\b\n",
	"[core]\nx=\\q\n", "[core]\nx= a  b\tc \t\n", "[core]\nx = \"  a \"  \n", "[core]\nx= \"\" a\n", "[core]\nx=a \"\" \n",
	"[a.b]\nc=d\n", "[A.B]\nC=D\n", "[a.b \"c\"]\nx=y\n", "[a \"b.c\"]\nx=y\n", "[a \"\"]\nx=y\n", "[a.]\nx=y\n",
	"[.a]\nx=y\n",
	"[a \"B\\\"\\b\\\\c\"]\nx=y\n", "[a\t \"b\"]\nx=y\n", "[a \"b\" ]\nx=y\n", "[a\"b\"]\nx=y\n", "[a \"b\n\"]\nx=y\n",
	"[a \"b]\"]x=y", "[ a]\nx=y\n", "[]\nx=y\n", "[a b]\nx=y\n", "[a_b]\nx=y\n", "[a-1]\nx-2=y\n", "[a",
	"x=y\n[a]\n", "[a]\n1x=y\n", "[a]\nx_y=z\n", "[a]\nx y=z\n", "[a]\nx\t=\ty\n",
	"[a]\nx #c\n", "[a]\nx;c\n", "[a]\nx\ny\n",
	"# x\r[core]\rfsmonitor=x\r", "[core]\n\vfsmonitor=x\n", "[core]\nx=\xff\n",
	"[d \"\xff\"]\nx=y\n", "[co\u212ae]\nx=y\n",
	"[a]\nx=a\rb\n", "[a]\nx=a\r", "[a]\r\n\r\nx=\"a\r\nb\"", "[a]\nb=c\x00d\n", "[a]\n= x\n",
	"[a]]\nx=y", "[a]#c\nx=y", "[a];c\nx=y",
	"[include]\npath=x\n[includeIf \"gitdir:~/\"]\n\tpath = y\n",
}

func TestParseReadsWhatGitReads(t *testing.T) {
	program := needGit(t)
	for _, text := range configurations {
		checkParse(t, program, []byte(text))
	}
}

func FuzzParse(f *testing.F) {
	program, err := exec.LookPath("git")
	if err != nil {
		f.Skip("git is not installed")
	}
	for _, text := range configurations {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkParse(t, program, data) })
}

var namelessSection = regexp.MustCompile(`\[\s*["\].]`)

// checkParse compares with git config --list. Versions of git differ in the blanks inside values.
func checkParse(t *testing.T, program string, data []byte) {
	t.Helper()
	var ours []string
	badLine := parse(data, func(e *entry) {
		line := e.key()
		if e.hasValue {
			line += "\n" + e.value
		}
		ours = append(ours, line)
	})
	theirs, ok := listed(t, program, data)
	if badLine > 0 {
		isNameless := namelessSection.Match(data) // which may be empty, so that git lists nothing of it
		if ok && !isNameless && !bytes.Contains(data, []byte{0}) && !slices.ContainsFunc(theirs, isOdd) {
			t.Errorf("%q: git reads it, but not line %d here", data, badLine)
		}
		return
	}
	blanks := strings.NewReplacer("\t", " ", "\r", " ")
	if a, b := blanks.Replace(strings.Join(ours, "\x00")), blanks.Replace(strings.Join(theirs, "\x00")); !ok || a != b {
		t.Errorf("%q:\nhere %q\ngit  %q, read: %t", data, ours, theirs, ok)
	}
}

// isOdd knows keys that are refused though git takes them: those without a section.
func isOdd(line string) bool {
	key, _, _ := strings.Cut(line, "\n")
	return strings.HasPrefix(key, ".") || !strings.Contains(key, ".")
}

func listed(t *testing.T, program string, data []byte) (lines []string, ok bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "config", "--list", "-z", "--no-includes", "--file", file).Output()
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil, err == nil
	}
	return strings.Split(text, "\x00"), err == nil
}
