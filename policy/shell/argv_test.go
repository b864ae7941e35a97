package shell

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// stub notes its name and words, divided by a character that no accepted command holds, in one write.
const stub = `#!/bin/sh
line=${0##*/}
for word; do line="$line` + "\x1f" + `$word"; done
printf '%s\n' "$line" >>"$ARGV_LOG"
exit "$ARGV_EXIT"
`

// TestShellsBuildTheSameWords gives every accepted sample, and what fuzzing found, to bash, dash and zsh, with stubs
// for all programs on PATH, and sees them start the programs with the words that Analyze found.
func TestShellsBuildTheSameWords(t *testing.T) {
	if testing.Short() {
		t.Skip("starts thousands of programs")
	}
	dir := t.TempDir()
	bin := makeStubs(t, dir)
	commands := append(accepted(t), corpus(t)...)
	for _, shell := range []struct {
		name string
		args []string
	}{
		{"bash", []string{"--norc", "--noprofile"}},
		{"dash", nil},
		{"zsh", []string{"-f", "-o", "no_nomatch"}}, // a pattern without a match stays, as elsewhere
	} {
		t.Run(shell.name, func(t *testing.T) {
			program, err := exec.LookPath(shell.name)
			if err != nil {
				t.Skip("not installed")
			}
			for _, command := range commands {
				switch {
				case shell.name == "dash" && (strings.Contains(command, "&>") || strings.HasPrefix(command, "time")):
					continue // dash reads &> as & and >, which TestBothOutputs shows to be harmless; time is a program to it
				case strings.ContainsAny(command, "<$"), strings.Contains(command, "[ "), strings.Contains(command, "command "),
					strings.Contains(command, "set -"), strings.Contains(command, "exit"):
					continue // the folder is empty, so nothing is read or found there; and no stub can stand for [, set and exit
				}
				want := wantedArgv(command, shell.name != "dash")
				got := map[string]bool{}
				for _, exit := range exits(command) {
					for _, line := range startedArgv(t, program, shell.args, bin, dir, command, exit) {
						got[line] = true
					}
				}
				if !slices.Equal(want, keysOf(got)) {
					t.Errorf("%q\nstarts   %q\nanalysis %q", command, keysOf(got), want)
				}
			}
		})
	}
}

// exits are the results that the stubs give, so that both sides of && and ||, and what follows a !, run.
func exits(command string) []string {
	if strings.Contains(command, "||") || strings.Contains(command, "&&") || strings.Contains(command, "! ") {
		return []string{"0", "1"}
	}
	return []string{"0"}
}

// wantedArgv are the words of the programs that Analyze found, sorted, each program once. The scratch folder
// is empty, so a pattern stays as it is. Not all shells expand braces.
func wantedArgv(command string, expands bool) []string {
	lines := map[string]bool{}
	for _, words := range callsOf(command, expands) {
		for i, word := range words {
			if home, ok := strings.CutPrefix(word, "~"); ok && (home == "" || home[0] == '/') {
				words[i] = "/home/of/nobody" + home
			}
		}
		lines[strings.Join(words, "\x1f")] = true
	}
	return keysOf(lines)
}

// makeStubs puts a stub for every program of the tables into a folder.
func makeStubs(t *testing.T, dir string) string {
	t.Helper()
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"git", "cd"}
	for name := range programs().entries {
		if name, _, _ = strings.Cut(name, " "); !strings.Contains(name, "/") && name != "." {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(stub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// startedArgv runs a command and returns what the stubs noted. Functions of the same name send the shell's own
// commands to their stubs.
func startedArgv(t *testing.T, shell string, args []string, bin, dir, command, exit string) []string {
	t.Helper()
	log := filepath.Join(dir, "log")
	if err := os.WriteFile(log, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var functions strings.Builder
	for _, name := range append(strings.Fields(string(builtins)), "which") {
		if name == "set" || name == "exit" {
			continue // dash knows no functions of those names
		}
		fmt.Fprintf(&functions, "%s() { %s/%s \"$@\"; }\n", name, bin, name)
	}
	cmd := exec.Command(shell, append(slices.Clone(args), "-c", functions.String()+command)...)
	cmd.Dir = filepath.Join(dir, "empty")
	cmd.Env = []string{"PATH=" + bin, "HOME=/home/of/nobody", "LC_ALL=C.UTF-8", "ARGV_LOG=" + log, "ARGV_EXIT=" + exit}
	if out, err := cmd.CombinedOutput(); err != nil && exit == "0" && !strings.HasPrefix(command, "false") &&
		!strings.Contains(command, "! ") {
		t.Errorf("%q: %v: %s", command, err, out)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
}

// callsOf are the words of every simple command, as Analyze reads them.
func callsOf(command string, expands bool) [][]string {
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	var out [][]string
	syntax.Walk(file, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok {
			var words []string
			for _, arg := range c.Args {
				all := []*syntax.Word{arg}
				if expands {
					all = braced(arg)
				}
				for _, each := range all {
					words = append(words, (&walk{budget: newBudget("")}).readWord(each).text)
				}
			}
			if len(words) > 0 {
				out = append(out, words)
			}
		}
		return true
	})
	return out
}

// TestBothOutputs holds &> to where dash, which reads it as & and >, starts the same programs: with nothing
// behind it in its command, and no cd before.
func TestBothOutputs(t *testing.T) {
	for command, want := range map[string]bool{
		"ls a &>/dev/null":              true,
		"ls a &>>/dev/null":             true,
		"ls a &>/dev/null 2>&1":         true,
		"ls &>/dev/null && pwd":         true,
		"echo &>/dev/null touch x":      false,
		"&>/dev/null ls":                false,
		"cd src &>/dev/null && cat x":   false,
		"cd src && cat x &>/dev/null":   false,
		"ls 1&>/dev/null":               false, // a word for bash, a descriptor for zsh
		"ls a0&>/dev/null":              false,
		"ls &>/dev/null & touch x":      false,
		"ls a &>/dev/null >out":         false,
		"ls a &>/dev/null | xargs rm":   false,
		"ls a &> /dev/null; ls > /dev/": false,
	} {
		if got := Analyze(command); got.ReadOnly != want {
			t.Errorf("Analyze(%q).ReadOnly = %v, want %v; reasons %q", command, got.ReadOnly, want, got.Reasons)
		}
	}
}
