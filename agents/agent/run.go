package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nod/ipc/programs"
)

// Command returns the hook's command line for a shell. Codex trusts a hook by this text: it must never change.
func Command(nod, agent string) string {
	return Quote(nod) + " hook " + agent
}

// Quote quotes a path for a shell.
func Quote(path string) string {
	if isPlain(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func isPlain(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool {
		isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !isLetter && !strings.ContainsRune("/._-+:@", r)
	})
}

// IsOurs reports whether nod wrote a hook's command line for this agent, whatever nod's path was then.
func IsOurs(line, agent string) bool {
	program, ok := strings.CutSuffix(line, " hook "+agent)
	if !ok {
		return false
	}
	program = strings.TrimSuffix(strings.Trim(program, "'"), ".exe")
	return program == "nod" || strings.HasSuffix(program, "/nod") || strings.HasSuffix(program, `\nod`)
}

// Run is a command that an agent runs for nod.
type Run struct {
	line    string // the whole line, as a shell reads it
	Program string // the nod command in it, as a shell reads it
	Nod     string // the same as a path, which may begin with ~/, or as a name to find in PATH
}

// RunOf reads the command line of nod's hook. It accepts what nod writes, and a path below the home folder as a user
// writes it. A line with more in it runs more than nod.
func RunOf(line, agent string) (r Run, ok bool) {
	word, ok := strings.CutSuffix(line, " hook "+agent)
	if !ok || word == "" {
		return Run{}, false
	}
	path := word
	if inner, quoted := strings.CutPrefix(word, "'"); quoted {
		path = strings.ReplaceAll(strings.TrimSuffix(inner, "'"), `'\''`, "'")
	}
	if Quote(path) == word {
		return Run{line, word, path}, true
	}
	for _, home := range []string{"~/", "$HOME/", "${HOME}/"} {
		if below, ok := strings.CutPrefix(word, home); ok && isPlain(below) {
			return Run{line, word, "~/" + below}, true
		}
	}
	return Run{}, false
}

// wants reports whether a command is the nod that this machine's hooks should run, or an equivalent one.
func (m Machine) wants(r Run) bool {
	nod, err := m.find(r.Nod)
	return err == nil && (nod == m.Nod || programs.IsKept(nod) ||
		programs.Lasts(nod) && (programs.IsSame(nod, m.Nod) || programs.IsSame(nod, m.self)))
}

func (m Machine) find(program string) (string, error) {
	if below, ok := strings.CutPrefix(program, "~/"); ok {
		return filepath.Join(m.Home, below), nil
	}
	if strings.ContainsAny(program, `/\`) {
		return program, nil
	}
	path, err := m.Look(program)
	if err != nil {
		return "", fmt.Errorf("%s is not in PATH", program)
	}
	return path, nil
}

func (a Agent) dead(m Machine, runs []Run) error {
	if m.Runs == nil || len(runs) == 0 {
		return nil
	}
	for _, r := range runs {
		if err := m.runs(r); err != nil {
			return err
		}
	}
	for _, f := range append(a.needs(m), a.Settings(m)) {
		if !f.program {
			continue
		}
		if err := m.Runs(f.Path); err != nil {
			return err
		}
	}
	return nil
}

func (m Machine) runs(r Run) error {
	nod, err := m.find(r.Nod)
	if err != nil {
		return err
	}
	if programs.IsKept(nod) {
		if err := programs.CheckKept(nod); !errors.Is(err, fs.ErrNotExist) && err != nil {
			return err
		}
	}
	return m.Runs(nod)
}

func canRun(program string) error {
	info, err := os.Stat(program)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", program)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a program", program)
	case info.Mode().Perm()&0o111 == 0 && filepath.Ext(program) != ".exe": // Windows has no such mode
		return fmt.Errorf("%s is not executable", program)
	}
	return nil
}

const marker = "written by nod"

// Whole is a file that nod writes and removes as a whole. It leaves a file of that name alone if nod did not write it.
// run finds the command in the file; nil: it has none.
func Whole(path string, text func(nod string) []byte, run func(text []byte) (Run, bool)) File {
	foreign := func(b []byte) error {
		if len(b) > 0 && !bytes.Contains(b, []byte(marker)) {
			return errors.New("is not nod's: move it away first")
		}
		return nil
	}
	return File{
		Path: path,
		Install: func(before []byte, nod string) ([]byte, error) {
			if err := foreign(before); err != nil {
				return nil, err
			}
			return text(nod), nil
		},
		Uninstall: func(now, _ []byte) ([]byte, error) {
			if len(now) == 0 || foreign(now) != nil {
				return now, nil
			}
			return nil, nil
		},
		Look: func(b []byte) (Found, error) {
			found := Found{Some: len(b) > 0}
			nod := ""
			if run != nil {
				if r, ok := run(b); ok {
					found.Runs, nod = []Run{r}, r.Nod
				}
			}
			found.All = bytes.Equal(b, text(nod))
			return found, foreign(b)
		},
	}
}

// Script is a program of nod's that runs its hook, for an agent that runs programs without arguments.
func Script(path, agent string) File {
	const head = "#!/bin/sh\n# " + marker + "\nexec "
	f := Whole(path, func(nod string) []byte {
		return []byte(head + Command(nod, agent) + "\n")
	}, func(text []byte) (Run, bool) {
		line, _ := strings.CutPrefix(string(text), head)
		r, ok := RunOf(strings.TrimSuffix(line, "\n"), agent)
		r.line = Quote(path)
		return r, ok
	})
	f.program = true
	return f
}
