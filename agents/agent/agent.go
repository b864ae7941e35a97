// Package agent says what nod has to know of a coding agent. It puts nod's hooks into the agent's settings, and takes
// out exactly what it put in. Each agent has a folder of its own beside this one.
//
// nod edits files that belong to somebody else, so it loses nothing: comments, order, unknown keys and the
// hooks of others stay, a symbolic link is followed and not replaced, a copy of the file as it was is kept
// beside it, and a file that cannot be read as what it should be is left alone. First a [Change] is
// computed, to be shown; only then it is applied.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"nod/ipc/hooks"
	"nod/policy/imports"
	"nod/policy/replay"
)

// HookTimeout is the time-out that is written into agents' settings, in seconds: how long an agent waits
// for nod, and nod for the human.
const HookTimeout = 600

// Machine is where to look for agents and their settings.
type Machine struct {
	Home string                                            // the person's home folder
	Nod  string                                            // absolute path of the nod command that the hooks shall run
	Env  func(string) string                               // as os.Getenv
	Look func(name string) (string, error)                 // as exec.LookPath
	Run  func(name string, args ...string) (string, error) // output of a command; nil: versions are not asked for
}

// ThisMachine is the machine that the program runs on. nod is the path of the nod command.
func ThisMachine(nod string) (Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Machine{}, fmt.Errorf("find the home folder: %w", err)
	}
	if !filepath.IsAbs(nod) {
		return Machine{}, fmt.Errorf("the path of the nod command is not absolute: %q", nod)
	}
	return Machine{Home: home, Nod: nod, Env: os.Getenv, Look: exec.LookPath, Run: output}, nil
}

// versionPatience is how long a program may take to say its version.
const versionPatience = 10 * time.Second

func output(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), versionPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).Output()
	return string(out), err
}

// Agent is a coding agent.
type Agent struct {
	Name    string // as in "nod hook NAME"
	Title   string // as a person knows it
	Program string // its executable

	Hooks       hooks.Protocol
	Settings    func(Machine) File // what nod's hooks are in; nil: nod cannot install them
	Gate        func(Machine) File // switches the agent's own prompt off; nil where nod has no such file
	After       string             // what the person still has to do once nod is installed; empty when nothing
	Rules       *imports.Source    // its own rules; nil: nod cannot read them
	Transcripts *Transcripts       // nil: nod cannot read them
}

// Transcripts are what an agent keeps of its sessions.
type Transcripts struct {
	Folder func(home string) string // it need not exist
	Is     func(line []byte) bool   // whether a line is one of them
	Read   func(io.Reader) replay.Reader
}

// File is one settings file of an agent, and how nod gets into it and out of it.
type File struct {
	Path      string
	Install   func(before []byte, nod string) ([]byte, error)
	Uninstall func(before []byte) ([]byte, error) // nil result: the file is nod's own, and goes
	Installed func(text []byte, nod string) bool
}

// GateIsOn reports whether the agent's own prompt is switched off, so that nod alone decides.
func (a Agent) GateIsOn(m Machine) bool {
	if a.Gate == nil {
		return false
	}
	_, err := os.Stat(a.Gate(m).Path)
	return err == nil
}

// Status is how an agent stands on a machine.
type Status struct {
	Program   string // path of its executable; empty: not found
	Version   string // as it says itself; empty when it was not asked or did not say
	File      string // the settings file that nod edits
	Installed bool   // nod is in all of it, with this very nod command
	Partly    bool   // nod is in some of it, or with another nod command
	Gate      bool   // the agent's own prompt is switched off: nod is the only gate
	CanGate   bool   // there is such a switch
}

var versionNumber = regexp.MustCompile(`\d+(\.\d+)+[-\w.]*`)

// Status looks at the machine. The error is that of a settings file that cannot be read.
func (a Agent) Status(m Machine) (Status, error) {
	var s Status
	s.Program, _ = m.Look(a.Program)
	if s.Program != "" && m.Run != nil {
		if out, err := m.Run(s.Program, "--version"); err == nil {
			s.Version = versionNumber.FindString(out)
		}
	}
	f := a.Settings(m)
	s.File, s.CanGate = f.Path, a.Gate != nil
	text, err := read(f.Path)
	if err != nil {
		return s, err
	}
	s.Installed = f.Installed(text, m.Nod)
	s.Partly = !s.Installed && f.Installed(text, "")
	if s.CanGate {
		text, err := read(a.Gate(m).Path)
		if err != nil {
			return s, err
		}
		s.Gate = len(text) > 0
	}
	return s, nil
}

// Install computes the changes that put nod into the agent's settings; none when it is there already. With
// gate the agent's own prompt is switched off as well, where that is possible.
func (a Agent) Install(m Machine, gate bool) ([]Change, error) {
	files := []File{a.Settings(m)}
	if gate && a.Gate == nil {
		return nil, fmt.Errorf("%s has no switch for its own prompt", a.Title)
	}
	if gate {
		files = append(files, a.Gate(m))
	}
	return changes(files, func(f File, before []byte) ([]byte, error) { return f.Install(before, m.Nod) })
}

// Uninstall computes the changes that take nod out again.
func (a Agent) Uninstall(m Machine) ([]Change, error) {
	files := []File{a.Settings(m)}
	if a.Gate != nil {
		files = append(files, a.Gate(m))
	}
	return changes(files, func(f File, before []byte) ([]byte, error) {
		if len(before) == 0 {
			return before, nil
		}
		if kept, err := os.ReadFile(backupPath(f.Path)); err == nil {
			if redone, err := f.Install(kept, m.Nod); err == nil && string(redone) == string(before) {
				return kept, nil // nobody has touched the file since: back to what it was, to the byte
			}
		}
		return f.Uninstall(before)
	})
}

func changes(files []File, edit func(File, []byte) ([]byte, error)) ([]Change, error) {
	var all []Change
	for _, f := range files {
		before, err := read(f.Path)
		if err != nil {
			return nil, err
		}
		after, err := edit(f, before)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		if string(after) != string(before) {
			all = append(all, Change{Path: f.Path, Before: before, After: after})
		}
	}
	return all, nil
}

// read returns the text of a settings file; nothing when there is none.
func read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return text, nil
}

// Folder returns the folder of an agent's settings: what its environment variable says, or one below home.
func (m Machine) Folder(variable string, below ...string) string {
	if dir := m.Env(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{m.Home}, below...)...)
}

// command is the hook's command line as a shell reads it. Codex trusts a hook by this text: it must not
// change from one version of nod to the next.
func command(nod, agent string) string {
	return quote(nod) + " hook " + agent
}

// quote writes a path for a shell.
func quote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@", r)
	}
	if !slices.ContainsFunc([]rune(path), func(r rune) bool { return !plain(r) }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// ours reports whether a hook's command line is one that nod wrote for this agent, whatever the path of
// the nod command was then.
func ours(line, agent string) bool {
	program, ok := strings.CutSuffix(line, " hook "+agent)
	if !ok {
		return false
	}
	program = strings.TrimSuffix(strings.Trim(program, "'"), ".exe")
	return program == "nod" || strings.HasSuffix(program, "/nod") || strings.HasSuffix(program, `\nod`)
}
