//go:build linux

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/e2e/documents"
)

// TestDocuments types what the documents have people type, block by block, into bash on a desktop where nod runs. A
// person stands by who allows everything, says yes, and picks the first option: see [standIn.oblige].
//
// Each document has a home of its own, whose blocks build on each other. They run in ~/src/shop, a git repository with
// a README.md and a Makefile. Programs by the names of all agents say their versions, and nothing else.
func TestDocuments(t *testing.T) {
	t.Parallel()
	all, err := documents.Read("..")
	must(t, err)
	var n *nod
	for _, d := range all {
		if !slices.ContainsFunc(d.Blocks, isRunHere) {
			continue
		}
		if n == nil {
			n = startDesktop(t)
		}
		t.Run(d.Path, func(t *testing.T) {
			r := newReading(t, n)
			for _, b := range d.Blocks {
				if isRunHere(b) {
					if err := r.run(b); err != nil {
						t.Errorf("%s:%d: %v", b.Path, b.Line, err)
					}
				}
			}
		})
	}
}

func isRunHere(b documents.Block) bool {
	return b.Language == "console" || b.Language == "sh" && b.Runner() == documents.Here
}

// TestDocumentsStartDesktop checks the flags of nod-desktop in the documents.
func TestDocumentsStartDesktop(t *testing.T) {
	t.Parallel()
	all, err := documents.Read("..")
	must(t, err)
	for _, d := range all {
		commands, _ := d.Commands("nod-desktop") // the documents' own test reports what cannot be parsed
		for _, c := range commands {
			if c.Words[0] != "nod-desktop" {
				continue
			}
			cmd := exec.Command(filepath.Join(bin, "nod-desktop"), append(c.Words[1:], "--help")...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s:%d: %v\n%s", d.Path, c.Line, err, out)
			}
		}
	}
}

// A reading is a user at work on one document.
type reading struct {
	t    *testing.T
	n    *nod
	env  []string
	home string
}

// newReading makes a home with nod running.
func newReading(t *testing.T, n *nod) *reading {
	t.Helper()
	home, err := os.MkdirTemp("", "nod-") // t.TempDir is too long for the path of a socket
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	r := &reading{t: t, n: n, home: home}
	programs := filepath.Join(home, ".local", "bin")
	for _, dir := range []string{
		programs, r.project(), r.path(".config"), r.path(".cache"), r.path("run"), r.path("tmp"),
	} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	for _, name := range []string{"nod", "nod-cli", "nod-desktop"} {
		must(t, copyProgram(filepath.Join(bin, name), filepath.Join(programs, name)))
	}
	must(t, os.Symlink(n.borrow(standInName), filepath.Join(programs, standInName)))
	for _, a := range registry.All() {
		if a.Program != "" {
			must(t, writeProgram(filepath.Join(programs, a.Program), agentScript(a)))
		}
	}
	r.env = append(n.Session(),
		"PATH="+programs+":"+os.Getenv("PATH"), "HOME="+home, "USER=person", "LOGNAME=person", "LANG=C.UTF-8", "TZ=UTC",
		"XDG_RUNTIME_DIR="+r.path("run"), "TMPDIR="+r.path("tmp"),
		"XDG_SESSION_TYPE=x11", "XDG_CURRENT_DESKTOP=XFCE", "SHELL=/bin/bash",
		"NOD_IPC_ADDRESS=127.0.0.1:0", "NOD_PROMPT_UNDO=0s",
		versionFor(t, filepath.Join(programs, "nod-desktop")))
	r.sh("git init -q . && printf '# shop\n' >README.md && printf 'all:\n\t@echo built\n' >Makefile")
	r.startNod()
	return r
}

// agentScript is what stands in for an agent where nothing but its version is wanted.
func agentScript(a agent.Agent) string {
	version := "1.0.0"
	if len(a.Tested) > 0 {
		version = a.Tested[len(a.Tested)-1]
	}
	return "#!/bin/sh\necho " + version + "\n"
}

// startNod starts nod-desktop. A document may stop it, and start another.
func (r *reading) startNod() {
	r.t.Helper()
	n := *r.n
	n.t = r.t
	cmd := exec.Command(filepath.Join(r.home, ".local", "bin", "nod-desktop"), "--background")
	cmd.Env, cmd.Dir = r.env, r.home
	n.startProgram(cmd)
	r.t.Cleanup(func() { r.sh("nod stop || true") })
}

func (r *reading) path(name string) string { return filepath.Join(r.home, name) }

func (r *reading) project() string { return r.path("src/shop") }

// TestReadingFails has a document be wrong.
func TestReadingFails(t *testing.T) {
	t.Parallel()
	r := newReading(t, startDesktop(t))
	for _, test := range []struct{ language, text, want string }{
		{"sh", "nod confirm 'Sure?'", ""},
		{"sh", "false\necho goes on", "exit status 1"},
		{"sh", "nod frobnicate", "unknown command"},
		{"console", "$ echo a\na\n$ nod confirm 'Sure?'\nyes\n", ""},
		{"console", "$ echo a\nb\n", "prints"},
		{"console", "$ echo a\n$ echo b\nb\n", "prints"},
		{"console", "$ exit 3\n$ echo b\nb\n", "exit status 3"},
	} {
		err := r.run(documents.Block{Language: test.language, Text: test.text})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s %q: %v, want %q", test.language, test.text, err, test.want)
		}
	}
}

// run runs a block, and returns what went otherwise than it says.
func (r *reading) run(b documents.Block) error {
	if b.Language == "sh" {
		if out, err := r.bash("set -e\n" + b.Text); err != nil {
			return fmt.Errorf("%w\n%s\nprints:\n%s", err, b.Text, out)
		}
		return nil
	}
	const end = "\x1e" // the separator of records, which no program of nod's prints
	steps := b.Steps()
	var script strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&script, "%s\nprintf '\\x1e'\n", s.Command)
	}
	out, err := r.bash(script.String())
	printed := strings.Split(out, end)
	if len(printed) != len(steps)+1 {
		return fmt.Errorf("%w after %d of %d commands:\n%s", err, len(printed)-1, len(steps), out)
	}
	var wrong []error
	for i, s := range steps {
		if !s.Matches(printed[i]) {
			wrong = append(wrong, fmt.Errorf("%sprints\n%swant\n%s", s.Command, printed[i], s.Output))
		}
	}
	return errors.Join(wrong...)
}

// sh runs a script that must succeed.
func (r *reading) sh(script string) {
	r.t.Helper()
	if out, err := r.bash(script); err != nil {
		r.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// bash runs a script in the project, and returns all that it prints. Its standard input says yes to what asks.
func (r *reading) bash(script string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Env, cmd.Dir = r.env, r.project()
	cmd.Stdin = strings.NewReader(strings.Repeat("y\n", 1<<15))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // nod start leaves nod-desktop, which may hold the pipe
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}
