package language

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// These tests give what is accepted to the real programs, in a folder of their own, and see that it ends and that
// nothing there was made or changed. Programs that are missing are left out.

const sampleText = "a b c\nfoo=bar, x\n\nfunc main() {\n  return 1\n}\nEND 7\n"

const sampleJSON = `{"a":"x,y","b":[{"name":"n","v":1,"labels":[{"name":"bug"}]},{"name":null}],
"items":[],"t":0,"n":3,"scripts":{"test":"x"}}`

// sandbox is a folder with a few files.
func sandbox(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": sampleText, "b.json": sampleJSON, "sub/c.txt": "c\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// state is all that is in a folder.
func state(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text := []byte(nil)
		if d.Type().IsRegular() {
			if text, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		out.WriteString(path + "\x00" + d.Type().String() + "\x00" + string(text) + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// runHarmless runs a program and fails when it does not end or changes a thing. It may fail by itself: not every awk
// knows every function.
func runHarmless(t *testing.T, dir, before string, argv ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	limited := append([]string{"-c", `ulimit -v 4000000; ulimit -t 15; exec "$@"`, "sh"}, argv...)
	c := exec.CommandContext(ctx, "sh", limited...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "TZ=UTC"}
	c.Stdin = strings.NewReader(sampleText)
	var out, problem bytes.Buffer
	c.Stdout, c.Stderr = &out, &problem
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Errorf("%q does not end", argv)
	case errors.As(err, &exit) && !exit.Exited():
		t.Errorf("%q was killed: %v", argv, exit)
	case out.Len() > 20<<20:
		t.Errorf("%q printed %d bytes", argv, out.Len())
	}
	if state(t, dir) != before {
		t.Errorf("%q changed the folder", argv)
	}
	return out.String(), problem.String()
}

// programs are the command lines of those in list that are installed.
func programs(t *testing.T, list ...string) [][]string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts hundreds of programs")
	}
	var out [][]string
	for _, line := range list {
		argv := strings.Fields(line)
		if _, err := exec.LookPath(argv[0]); err == nil {
			out = append(out, argv)
		}
	}
	if len(out) == 0 {
		t.Skip("none is installed of", list)
	}
	return out
}

func TestSedForReal(t *testing.T) {
	seds := programs(t, "sed", "sed -n", "busybox sed", "gsed -s")
	dir := sandbox(t)
	before := state(t, dir)
	for _, script := range sedAccepted {
		for _, sed := range seds {
			runHarmless(t, dir, before, append(slices.Clone(sed), "--", script, "a.txt")...)
		}
	}
}

func TestAwkForReal(t *testing.T) {
	awks := programs(t, "gawk", "mawk", "original-awk", "busybox awk", "awk")
	dir := sandbox(t)
	before := state(t, dir)
	for _, program := range awkAccepted {
		for _, awk := range awks {
			argv := append(slices.Clone(awk), "-v", "pat=foo", "-v", "n=3", program, "a.txt")
			runHarmless(t, dir, before, argv...)
		}
	}
}

func TestJQForReal(t *testing.T) {
	jq := programs(t, "jq")[0]
	dir := sandbox(t)
	before := state(t, dir)
	for _, filter := range jqAccepted {
		runHarmless(t, dir, before, jq[0], "-r", "--arg", "k", "a", "--arg", "v", "1", filter, "b.json")
	}
}

func TestFormatsForReal(t *testing.T) {
	dir := sandbox(t)
	before := state(t, dir)
	for _, argv := range programs(t,
		"find . -name *.txt -printf %p\\n", "find . ( -name a -o -name b ) -print",
		"find . ! -path */.git* -maxdepth 2 -type d", "find . -regex .*(a|b)",
		"find . -newermt 2026-01-01 -printf %20p%TY\\n",
		"stat --printf=%10s_%n\\n a.txt", "seq 1 1000", "seq -s , 0 0.25 3", "date +%Y%_10m",
		"bash -c printf\\ '%5.2f%d'\\ 3.14\\ 0xff", "zsh -fc printf\\ '%s=%d'\\ a\\ 1",
	) {
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], `\ `, " ")
		}
		runHarmless(t, dir, before, argv...)
	}
}

// TestTestForReal asks the shells about every accepted list of words, with each word in quotes.
func TestTestForReal(t *testing.T) {
	shells := programs(t, "bash -c", "zsh -fc", "dash -c", "busybox sh -c")
	dir := sandbox(t)
	before := state(t, dir)
	for _, words := range []string{
		"-f x", "! -d sub", "-e a.txt -a -r b.json", "( -f a -o -f b )", "a -nt b", "-n x", "x = y", "3 -gt 2",
		"-1 -lt 2", "-t 1", "-t", "-s a.txt -a ( -h y -o ! -L z )",
	} {
		if err := Test(strings.Fields(words), nil); err != nil {
			t.Errorf("[ %s ]: %v", words, err)
		}
		quoted := "'" + strings.Join(strings.Fields(words), "' '") + "'"
		for _, shell := range shells {
			runHarmless(t, dir, before, append(slices.Clone(shell), "[ "+quoted+" ]")...)
		}
	}
}

// TestPatternsForReal runs the largest patterns that pass.
func TestPatternsForReal(t *testing.T) {
	dir := sandbox(t)
	before := state(t, dir)
	for _, argv := range programs(t, "grep -E", "busybox grep -E", "sed -n -E") {
		for _, p := range []string{
			"a{1,1000}", "(a{1,40}){1,25}", "(a*)*(a*)*(a*)*c", "(a+)+$",
			strings.Repeat("a?", 300) + strings.Repeat("a", 300),
		} {
			if err := Regexp(p, Extended); err != nil {
				t.Fatal(p, err)
			}
			if argv[0] == "sed" {
				p = "/" + p + "/p"
			}
			runHarmless(t, dir, before, append(slices.Clone(argv), "--", p, "a.txt")...)
		}
	}
}
