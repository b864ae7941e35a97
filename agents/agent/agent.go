// Package agent defines what nod needs to know about a coding agent. It adds nod's hooks to the agent's settings, and
// removes exactly what it added. Each agent has its own folder beside this one.
//
// nod edits files that belong to somebody else, so it loses nothing: comments, order, unknown keys and the hooks of
// others stay, a symbolic link is followed and not replaced, a copy of the old file is kept beside it, and a file that
// does not parse is left alone. nod computes a [Change] first, to show it, and applies it only then.
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
	Nod  string                                            // absolute path of the nod command that the hooks shall run
	Self string                                            // the program of which Nod is a copy; empty: it is none
	Env  func(string) string                               // as os.Getenv
	Look func(name string) (string, error)                 // as exec.LookPath
	Run  func(name string, args ...string) (string, error) // output of a command; nil: versions are not asked for
	Runs func(program string) error                        // why a program cannot be run; nil: nobody looks

	Root     string                         // what settings of the whole system are below; empty: the system
	Dir      string                         // the folder whose project's settings count, too; empty: none
	Sessions func(program string) []Session // the sessions of an agent that run; nil: nobody looks

	// Wait is how long nod waits for the user at most; 0: as long as a hook may.
	Wait time.Duration
}

// ThisMachine is this machine; hooks run the nod command at that path, or one that lasts.
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
		m.Self = nod
	}
	return m, nil
}

// Here is this machine, to look at: nothing can be installed without the path of the nod command.
func Here() (Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Machine{}, fmt.Errorf("find the home folder: %w", err)
	}
	running := sync.OnceValue(runningSessions)
	return Machine{Home: home, Env: os.Getenv, Look: exec.LookPath, Run: output, Runs: canRun,
		Sessions: func(program string) []Session { return running()(program) }}, nil
}

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
	Title   string // as a user knows it
	Program string // its executable

	Hooks       hooks.Protocol
	Folder      func(Machine) string            // where it keeps what it has of the user; nil: nod does not know
	Settings    func(Machine) File              // what nod's hooks are in; nil: nod cannot install them
	Needs       func(Machine) []File            // files of nod's own without which those hooks are nothing; nil: none
	Gate        func(Machine) File              // switches its own prompt off; may be in Settings' file; nil: none
	Shell       func(Machine) File              // has it hand its commands to nod; nil: it cannot
	Off         func(Machine, Session) []Switch // what turns its hooks off; nil: nod knows nothing that does
	After       string                          // what the user still has to do once nod is installed; or empty
	Own         *OwnRules                       // its own rules that it heeds whatever nod allows; nil: none are known
	Transcripts *Transcripts                    // nil: nod cannot read them

	Tested []string // the versions that nod is tested with; none: it was built from the agent's documents
	Limits []string // what nod cannot do with it, in sentences
}

// Transcripts are what an agent keeps of its sessions.
type Transcripts struct {
	Folder string                 // below the agent's own; it need not exist
	Is     func(line []byte) bool // whether a line is one of them
	Read   func(io.Reader) replay.Reader
}

// File is one settings file of an agent, and how nod gets into it and out of it.
type File struct {
	Path    string
	Program bool // the agent runs it
	Install func(before []byte, nod string) ([]byte, error)

	// Uninstall also gets the file as it was before nod came, nil when there was none or it is not known. A nil result:
	// the file is nod's own, and goes.
	Uninstall func(now, kept []byte) ([]byte, error)

	// Look says what of nod's is in the file; the error, why nobody can tell.
	Look func(text []byte) (Found, error)
}

// Found is what of nod's is in a settings file.
type Found struct {
	All   bool          // everything, with one nod command
	Some  bool          // at least something
	Runs  []Run         // the commands in it, each once
	Limit time.Duration // how long the agent waits for nod; 0: for ever, or not at all
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

// HookSettings says of the agent's settings whether its own prompt is switched off, so that nod alone decides (when
// nobody can tell, it may be), and how long they let it wait for nod's hook; 0 when that is unknown, or as nod set it.
func (a Agent) HookSettings(m Machine) (gate bool, limit time.Duration) {
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

// Status is how an agent stands on a machine.
type Status struct {
	Program   string  // path of its executable; empty: not found
	Version   string  // as it says itself; empty when it was not asked or did not say
	File      string  // the settings file that nod edits
	Installed bool    // nod is in all of it, with a nod command that can be run
	Partly    bool    // nod is in some of it, or with what cannot be run
	Runs      []Run   // what it runs for nod
	Dead      error   // why some of that cannot be run; nil: it can
	Other     string  // the nod command that it runs, where that is not what nod would put in now
	Gate      bool    // the agent's own prompt is switched off: nod is the only gate
	CanGate   bool    // there is such a switch
	Off       []error // why the agent does not run its hooks, or not everywhere
	CutOff    error   // the agent may not wait as long as nod does, and then goes on without
	Asking    string  // that it has rules of its own that ask, and what to do, in a sentence; empty: none are known
	Untested  string  // why the user should not expect all to work, in a sentence; empty: nod is tested with it
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(\.\d+)+([-.]?\w+)*`) })

// DeadHooks says that an agent's hooks point nowhere, and what to do at a terminal; nil: they do not.
func (a Agent) DeadHooks(s Status) error {
	if s.Dead == nil {
		return nil
	}
	return fmt.Errorf("its hooks are broken: %w: run: nod agents install %s", s.Dead, a.Name)
}

// Status looks at the machine. The error is that of a settings file that cannot be read.
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

// cutOff returns an error when an agent with this time-out does not wait as long as nod may.
func (a Agent) cutOff(m Machine, limit time.Duration) error {
	wait := min(cmp.Or(m.Wait, api.MaxHookWait), api.MaxHookWait)
	if limit == 0 || limit >= wait {
		return nil
	}
	return fmt.Errorf("its settings cut nod's hook off after %v s: "+
		"nod waits up to %v s for you: run: nod agents install %s",
		limit.Seconds(), wait.Seconds(), a.Name)
}

// Install computes the changes that put nod into the agent's settings; none when it is there already. With
// gate the agent's own prompt is switched off as well, where that is possible.
func (a Agent) Install(m Machine, gate bool) ([]Change, error) {
	files := append(a.needs(m), a.Settings(m))
	if gate && a.Gate == nil {
		return nil, fmt.Errorf("%s can't turn off its own prompt", a.Title)
	}
	if gate {
		files = append(files, a.Gate(m))
	}
	all, err := changes(files, func(f File, before []byte) ([]byte, error) { return f.Install(before, m.Nod) })
	for i, c := range all {
		first := slices.IndexFunc(files, func(f File) bool { return f.Path == c.Path })
		found, _ := files[first].Look(c.Before) // what cannot be read was not edited either
		all[i].keeps = !found.Some
	}
	if err == nil && m.Self != "" && !programs.IsCurrent(m.Self) {
		all = append([]Change{copyOf(m)}, all...)
	}
	return all, err
}

// Uninstall computes the changes that take nod out again: the gate first, for without hooks it would let all through,
// and last what the hooks need.
func (a Agent) Uninstall(m Machine) ([]Change, error) {
	var files []File
	if a.Gate != nil {
		files = append(files, a.Gate(m))
	}
	if a.Shell != nil {
		files = append(files, a.Shell(m))
	}
	files = append(append(files, a.Settings(m)), a.needs(m)...)
	all, err := changes(files, func(f File, now []byte) ([]byte, error) {
		kept, err := read(backupPath(f.Path))
		if err != nil {
			kept = nil // a copy that cannot be read is none
		}
		if kept != nil && len(now) > 0 {
			if redone, err := f.Install(kept, f.nod(now, m)); err == nil && bytes.Equal(redone, now) {
				return kept, nil // nobody has touched the file since: back to what it was, to the byte
			}
		}
		return f.Uninstall(now, kept)
	})
	return slices.DeleteFunc(all, Change.onlyMode), err
}

// nod is the nod command that is in a settings file; the machine's, where nobody can tell.
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
			i, all = len(all), append(all, Change{Path: f.Path, Before: before, After: before, program: f.Program})
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

// read returns the text of a settings file, which links may lead to; nil when there is none.
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

// leadsNowhere says that the path or a folder above it is a link whose target is missing.
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

// FolderOf finds an agent's folder: sub in the folder that an environment variable names, else in one below home.
func FolderOf(variable, below, sub string) func(Machine) string {
	return func(m Machine) string {
		if variable != "" && filepath.IsAbs(m.Env(variable)) {
			return filepath.Join(m.Env(variable), sub)
		}
		return filepath.Join(m.Home, below, sub)
	}
}
