// Package agent defines what nod needs to know about a coding agent. It adds nod's hooks to the agent's settings, and
// removes exactly what it added. Each agent has its own folder next to this one.
//
// nod edits files of other programs, so it loses nothing: it keeps comments, order, unknown keys and the hooks of
// others, follows a symbolic link instead of replacing it, keeps a copy of the old file next to it, and leaves a file
// alone that does not parse. nod computes a [Change] first, to show it, and applies it only then.
package agent

import (
	"bytes"
	"cmp"
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
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/mod/semver"

	"nod/api"
	"nod/ipc/hooks"
	"nod/ipc/programs"
	"nod/ownfile"
	"nod/policy/replay"
)

// HookTimeout is the time-out in agents' settings: how long an agent waits for nod, and nod for the user.
const HookTimeout = 10 * time.Minute

// Machine is where to look for agents and their settings.
type Machine struct {
	Home string                                            // the user's home folder
	Nod  string                                            // absolute path of the nod command that the hooks should run
	self string                                            // the program that Nod is a copy of; empty: it is no copy
	Env  func(string) string                               // as os.Getenv
	Look func(name string) (string, error)                 // as exec.LookPath
	Run  func(name string, args ...string) (string, error) // output of a command; nil: versions are not queried
	Runs func(program string) error                        // why a program cannot be run; nil: not checked

	Root     string                         // the root of system-wide settings; empty: the system's
	Dir      string                         // the folder whose project's settings also apply; empty: none
	Sessions func(program string) []Session // the running sessions of an agent; nil: not checked

	// Wait is the longest that nod waits for the user; 0: as long as a hook may.
	Wait time.Duration
}

// ThisMachine returns this machine; hooks run the nod command at that path, or at one that lasts.
func ThisMachine(nod string) (Machine, error) {
	if !filepath.IsAbs(nod) {
		return Machine{}, fmt.Errorf("the path of the nod command is not absolute: %q", nod)
	}
	m, err := Here()
	if err != nil {
		return m, err
	}
	var copied bool
	if m.Nod, copied = programs.Lasting(nod); copied {
		m.self = nod
	}
	return m, nil
}

// Here returns this machine for inspection only: nothing can be installed without the path of the nod command.
func Here() (Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Machine{}, fmt.Errorf("find the home folder: %w", err)
	}
	running := sync.OnceValue(runningSessions)
	return Machine{Home: home, Env: os.Getenv, Look: exec.LookPath, Run: output, Runs: canRun,
		Sessions: func(program string) []Session {
			return slices.DeleteFunc(slices.Clone(running()), func(s Session) bool { return !s.runs(program) })
		}}, nil
}

const versionPatience = 10 * time.Second

func output(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), versionPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = 100 * time.Millisecond // what it started may hold its output open
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return string(out), err
}

// Agent is a coding agent.
type Agent struct {
	Name    string // as in "nod hook NAME"
	Title   string // as a user knows it
	Program string // its executable

	Hooks       hooks.Protocol
	Settings    func(Machine) File              // the file with nod's hooks; nil: nod cannot install them
	Needs       func(Machine) []File            // files of nod's own that those hooks need; nil: none
	Gate        func(Machine) File              // switches its own prompt off; may be in Settings' file; nil: none
	Shell       func(Machine) File              // makes it pass its commands to nod; nil: it cannot
	Off         func(Machine, Session) []Switch // what turns its hooks off; nil: nod knows of nothing
	After       string                          // what the user has to do after nod is installed; or empty
	Own         *OwnRules                       // its own rules that it obeys whatever nod allows; nil: none are known
	Transcripts *Transcripts                    // nil: nod cannot read them

	Tested []string // the versions that nod is tested with; none: nod follows the agent's documentation
	Limits []string // what nod cannot do with it, as sentences
}

// Transcripts are the files in which an agent records its sessions.
type Transcripts struct {
	Folder func(Machine) string   // it need not exist
	Is     func(line []byte) bool // reports whether a line is from one of them
	Read   func(io.Reader) replay.Reader
}

// File is one settings file of an agent, and how nod adds itself to it and removes itself.
type File struct {
	Path    string
	program bool // the agent runs it
	Install func(before []byte, nod string) ([]byte, error)

	// Uninstall also gets the file from before the installation, nil if there was none or it is unknown. A nil result
	// means that the file is nod's own and is deleted.
	Uninstall func(now, kept []byte) ([]byte, error)

	// Look returns what of nod's is in the file. It fails if it cannot tell.
	Look func(text []byte) (Found, error)
}

// Found is what of nod's a settings file contains.
type Found struct {
	All   bool          // everything, with one nod command
	Some  bool          // at least something
	Runs  []Run         // the commands in it, each once
	Limit time.Duration // how long the agent waits for nod; 0: forever, or not at all
}

func (f File) found() (Found, error) {
	text, err := read(f.Path)
	if err != nil {
		return Found{}, err
	}
	found, err := f.Look(text)
	if err != nil {
		return Found{}, fmt.Errorf("%s: %w", f.Path, err)
	}
	return found, nil
}

// HookSettings reports whether the agent's settings switch its own prompt off, so that nod alone decides (true if that
// is unknown), and how long they let it wait for nod's hook; 0 if that is unknown, or as nod set it.
func (a Agent) HookSettings(m Machine) (gate bool, limit time.Duration) {
	if !filepath.IsAbs(m.Home) {
		return a.Gate != nil, 0
	}
	if a.Gate != nil {
		found, err := a.Gate(m).found()
		gate = err != nil || found.Some
	}
	if a.Settings != nil {
		found, _ := a.Settings(m).found() // in what cannot be read nothing is found
		limit = found.Limit
	}
	return gate, limit
}

// Status is the state of an agent on a machine.
type Status struct {
	Program   string  // path of its executable; empty: not found
	Version   string  // as it reports itself; empty if unknown
	File      string  // the settings file that nod edits
	Installed bool    // all of nod is in it, with a nod command that can be run
	Partly    bool    // part of nod is in it, or with a command that cannot be run
	Runs      []Run   // the commands that it runs for nod
	Dead      error   // why some of them cannot be run; nil: they can
	Other     string  // the nod command that it runs, if nod would install another one now
	Gate      bool    // the agent's own prompt is switched off: nod is the only gate
	CanGate   bool    // there is such a switch
	Off       []error // why the agent does not run its hooks, or not everywhere
	CutOff    error   // the agent may stop waiting before nod does, and then continues without it
	Asking    string  // a sentence on its own rules that ask, and what to do about them; empty: none are known
	Untested  string  // a sentence on why some things may not work; empty: nod is tested with it
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(\.\d+)+([-.]?\w+)*`) })

// DeadHooks returns an error if an agent's hooks run nothing, with what to do at a terminal.
func (a Agent) DeadHooks(s Status) error {
	if s.Dead == nil {
		return nil
	}
	return fmt.Errorf("its hooks are broken: %w: run: nod agents install %s", s.Dead, a.Name)
}

// Status inspects the machine. It fails if a settings file cannot be read.
func (a Agent) Status(m Machine) (Status, error) {
	var s Status
	s.Program, _ = m.Look(a.Program)
	if s.Program != "" && m.Run != nil {
		s.Version = m.version(s.Program)
	}
	if s.Program != "" {
		s.Untested = a.untested(s.Version)
	}
	f := a.Settings(m)
	s.File, s.CanGate = f.Path, a.Gate != nil
	s.Gate, _ = a.HookSettings(m)
	found, err := f.found()
	if err != nil {
		return s, err
	}
	needed, err := a.needed(m)
	if err != nil {
		return s, err
	}
	s.Runs = append(needed.Runs, found.Runs...)
	s.Dead = a.dead(m, s.Runs)
	s.Installed = found.All && needed.All && s.Dead == nil
	s.Partly = (found.Some || needed.Some) && !s.Installed
	s.CutOff = a.cutOff(m, found.Limit)
	if found.Some {
		s.Off, s.Asking = a.off(m), a.asking(m)
	}
	if i := slices.IndexFunc(s.Runs, func(r Run) bool { return !m.wants(r) }); i >= 0 && s.Dead == nil {
		s.Other = s.Runs[i].Program
	}
	return s, nil
}

func (a Agent) needs(m Machine) []File {
	if a.Needs == nil {
		return nil
	}
	return a.Needs(m)
}

func (a Agent) needed(m Machine) (Found, error) {
	all := Found{All: true}
	for _, f := range a.needs(m) {
		found, err := f.found()
		if err != nil {
			return Found{}, err
		}
		all.All, all.Some = all.All && found.All, all.Some || found.Some
		all.Runs = append(all.Runs, found.Runs...)
	}
	return all, nil
}

func (a Agent) untested(version string) string {
	if len(a.Tested) == 0 {
		return "Set up from its documentation: never tested with the program itself."
	}
	newest := slices.MaxFunc(a.Tested, func(v, w string) int { return semver.Compare("v"+v, "v"+w) })
	switch {
	case version == "":
		return ""
	case !semver.IsValid("v" + version):
		return fmt.Sprintf("nod can't compare version %s with the version it was tested with (%s).", version, newest)
	case semver.Compare("v"+version, "v"+newest) <= 0:
		return ""
	}
	return fmt.Sprintf("Version %s is newer than the one nod was tested with (%s).", version, newest)
}

func (a Agent) asking(m Machine) string {
	if a.Own == nil {
		return ""
	}
	texts := a.Own.askingRules(m)
	if len(texts) == 0 {
		return ""
	}
	const most = 3
	list := strings.Join(texts[:min(len(texts), most)], ", ")
	if len(texts) > most {
		list += ", …"
	}
	return fmt.Sprintf("Its own rules also ask (%s); where it cannot ask you, it refuses even after you allow in "+
		"nod. To have nod ask instead, write them in nod, then remove them from its settings.", list)
}

// cutOff returns an error if an agent with this time-out does not wait as long as nod may.
func (a Agent) cutOff(m Machine, limit time.Duration) error {
	wait := min(cmp.Or(m.Wait, api.MaxHookWait), api.MaxHookWait)
	if limit == 0 || limit >= wait {
		return nil
	}
	return fmt.Errorf("its settings cut nod's hook off after %v s: "+
		"nod waits up to %v s for you: run: nod agents install %s",
		limit.Seconds(), wait.Seconds(), a.Name)
}

// Install computes the changes that add nod to the agent's settings; none if it is already there. With gate it also
// switches off the agent's own prompt, if that is possible.
func (a Agent) Install(m Machine, gate bool) ([]Change, error) {
	files := append(a.needs(m), a.Settings(m))
	if gate && a.Gate == nil {
		return nil, fmt.Errorf("%s can't turn off its own prompt", a.Title)
	}
	if gate {
		files = append(files, a.Gate(m))
	}
	for _, f := range append(files, File{Path: m.Nod}) {
		if !utf8.ValidString(f.Path) { // which settings cannot name
			return nil, fmt.Errorf("%q is not UTF-8, so the hooks would not run: rename the folder", f.Path)
		}
	}
	all, err := canChange(changes(files, func(f File, now []byte) ([]byte, error) { return f.Install(now, m.Nod) }))
	for i, c := range all {
		first := slices.IndexFunc(files, func(f File) bool { return f.Path == c.Path })
		found, _ := files[first].Look(c.Before) // what cannot be read was not edited either
		all[i].keeps = !found.Some
	}
	if err == nil && m.self != "" && !programs.IsCurrent(m.self) {
		all = append([]Change{copyOf(m)}, all...)
	}
	return all, err
}

// Uninstall computes the changes that remove nod: first the gate, which would let everything pass without hooks, and
// last what the hooks need.
func (a Agent) Uninstall(m Machine) ([]Change, error) {
	var files []File
	if a.Gate != nil {
		files = append(files, a.Gate(m))
	}
	if a.Shell != nil {
		files = append(files, a.Shell(m))
	}
	files = append(append(files, a.Settings(m)), a.needs(m)...)
	all, err := canChange(changes(files, func(f File, now []byte) ([]byte, error) {
		kept, err := read(backupPath(f.Path))
		if err != nil {
			kept = nil // an unreadable copy counts as missing
		}
		if kept != nil && len(now) > 0 {
			if redone, err := f.Install(kept, f.nod(now, m)); err == nil && bytes.Equal(redone, now) {
				return kept, nil // the file was not changed since: restore it byte for byte
			}
		}
		return f.Uninstall(now, kept)
	}))
	return slices.DeleteFunc(all, Change.onlyMode), err
}

// canChange fails if a file in a plan may not be changed, so that the others are left alone, too.
func canChange(plan []Change, err error) ([]Change, error) {
	for _, c := range plan {
		if _, _, err := target(c.Path); err != nil {
			return nil, fmt.Errorf("change settings: %w", err)
		}
	}
	return plan, err
}

// nod returns the nod command in a settings file; if that is unknown, the machine's.
func (f File) nod(text []byte, m Machine) string {
	if found, err := f.Look(text); err == nil && len(found.Runs) > 0 {
		return cmp.Or(found.Runs[0].Nod, m.Nod)
	}
	return m.Nod
}

func changes(files []File, edit func(f File, now []byte) ([]byte, error)) ([]Change, error) {
	var all []Change
	for _, f := range files {
		i := slices.IndexFunc(all, func(c Change) bool { return c.Path == f.Path })
		if i < 0 {
			before, err := read(f.Path)
			if err != nil {
				return nil, err
			}
			i, all = len(all), append(all, Change{Path: f.Path, Before: before, After: before, program: f.program})
		}
		after, err := edit(f, all[i].After)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		all[i].After = after
	}
	return slices.DeleteFunc(all, func(c Change) bool { return bytes.Equal(c.Before, c.After) && !c.onlyMode() }), nil
}

const maxSettings = 16 << 20

// read returns the text of a settings file, following links; nil if there is none.
func read(path string) ([]byte, error) {
	text, err := ownfile.ReadBehind(path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, leadsNowhere(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return text, nil
}

// leadsNowhere returns an error if the path or a folder above it is a link whose target is missing.
func leadsNowhere(path string) error {
	for {
		if info, err := os.Lstat(path); err == nil {
			if _, err := os.Stat(path); err != nil && info.Mode()&fs.ModeSymlink != 0 {
				return fmt.Errorf("read settings: %s is a broken symbolic link: remove it or create its target", path)
			}
			return nil
		}
		folder := filepath.Dir(path)
		if folder == path {
			return nil
		}
		path = folder
	}
}

// FolderOf finds an agent's folder: sub in the folder that an environment variable names, or else in below, a folder in
// the home folder.
func FolderOf(variable, below, sub string) func(Machine) string {
	return func(m Machine) string {
		if variable != "" && filepath.IsAbs(m.Env(variable)) {
			return filepath.Join(m.Env(variable), sub)
		}
		return filepath.Join(m.Home, below, sub)
	}
}
