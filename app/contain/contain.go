// Package contain manages commands in the sandbox: it remembers which commands hooks sent there, gives out a profile
// for each of them once, and takes snapshots of the project before and after.
package contain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/secrets"
	"nod/ipc"
	"nod/ownfile"
	"nod/policy"
	"nod/policy/process"
	"nod/sandbox"
	"nod/sandbox/expected"
	"nod/sandbox/snapshot"
)

// Config configures [Runs]. All fields are required.
type Config struct {
	Folder    string // in which nod-desktop listens: see [expected.Note]
	Cache     string // for the private files of commands in the sandbox
	Snapshots string // see [snapshot.Open]
	Home      string
	Sandbox   func() policy.Containment // as configured
	// Forbids reports whether the user's rules forbid reading or changing a file.
	Forbids   func(path string) (read, change bool)
	Entry     func(ctx context.Context, seq int64) (history.Entry, error) // of the history
	Processes process.Table
	Log       *slog.Logger
}

// Runs are the commands that run in the sandbox, or are expected to. They are safe for concurrent use.
type Runs struct {
	cfg    Config
	engine atomic.Pointer[sandbox.Kind] // nil: this machine has no sandbox, or none was found yet

	mu       sync.Mutex // guards all below
	expected []waiting
	failed   map[string]error  // projects that are too large, or whose snapshots fail
	edits    map[string]*begun // allowed and not known to have been made, by [editKey]

	running running
}

// waiting is an expected command. Its details are on disk, too, in case nod-desktop restarts before it runs.
type waiting struct {
	*expected.Run
	details
}

type details struct {
	Request     interact.ID        `json:"request"`
	Agent       string             `json:"agent"`
	Program     api.Parent         `json:"program"` // the process that runs it through nod
	Session     string             `json:"session"`
	Confinement policy.Confinement `json:"confinement"`
}

// New loads the commands that an earlier nod-desktop expected. No command is contained before [Runs.Ready] is called.
func New(cfg Config) (*Runs, error) {
	r := &Runs{
		cfg: cfg, failed: map[string]error{}, edits: map[string]*begun{},
		running: running{profiles: map[*sandbox.Profile]bool{}},
	}
	left, err := expected.All(cfg.Folder)
	for _, run := range left {
		w := waiting{Run: run}
		if json.Unmarshal(run.Details, &w.details) != nil {
			err = errors.Join(err, run.Forget())
			continue
		}
		r.expected = append(r.expected, w)
	}
	return r, err
}

// Ready sets the machine's sandbox once it is known to work.
func (r *Runs) Ready(engine sandbox.Kind) { r.engine.Store(&engine) }

// Contains implements the sandbox of [hooks.Config].
func (r *Runs) Contains(who interact.Requester, release string) (contains, onlyReads bool) {
	engine := r.engine.Load()
	if engine == nil || release != "" && !expected.HasSeen(r.cfg.Folder, release) {
		return false, false
	}
	project := r.projectOf(who.Folder())
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed[project] == nil, engine.OnlyReads()
}

// setFailed records why a project's commands cannot be contained; a nil err means that they can.
func (r *Runs) setFailed(project string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.failed, project); err != nil {
		r.failed[project] = err
	}
}

// Expect implements the sandbox of [hooks.Config].
func (r *Runs) Expect(who interact.Requester, id interact.ID, command string, in policy.Confinement) error {
	program, ok := r.agentOf(who.Process)
	if !ok {
		return errors.New("nod can't tell which process wants to run the command")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if in == (policy.Confinement{}) {
		for w := r.take(program, command); w != nil; w = r.take(program, command) {
			if err := w.Forget(); err != nil {
				return err
			}
		}
		return nil
	}
	w := waiting{&expected.Run{Command: command, At: time.Now()}, details{id, who.Agent, program, who.Session, in}}
	var err error
	if w.Details, err = json.Marshal(w.details); err != nil {
		return err
	}
	if err := expected.Note(r.cfg.Folder, w.Run); err != nil {
		return err
	}
	r.expected = append(r.expected, w)
	return nil
}

// take removes and returns the first expected command of a process with this text, or returns nil. It drops commands
// that are too old. The caller holds r.mu.
func (r *Runs) take(program api.Parent, command string) *waiting {
	var found *waiting
	left := r.expected[:0]
	for _, w := range r.expected {
		matches := w.Command == command && w.Program.PID == program.PID && w.Program.Started.Equal(program.Started)
		switch {
		case found == nil && matches:
			found = &w
		case time.Since(w.At) < expected.Lasts:
			left = append(left, w)
		}
	}
	clear(r.expected[len(left):])
	r.expected = left
	return found
}

// inlineShells treats every shell as one that runs its parent's command line: agents start nod directly or through a
// shell.
type inlineShells struct{ process.Table }

// IsInline implements [process.Table].
func (inlineShells) IsInline(api.Parent) bool { return true }

// agentOf returns the process that runs a command through nod: the first ancestor of nod that is not a shell.
func (r *Runs) agentOf(p api.Process) (api.Parent, bool) {
	callers := process.Callers(p, inlineShells{r.cfg.Processes})
	if len(callers) < 2 || process.IsGoBetween(callers[len(callers)-1].Exe) {
		return api.Parent{}, false
	}
	return callers[len(callers)-1], true
}

// Begin implements the runs of [ipc.Config].
func (r *Runs) Begin(ctx context.Context, caller api.Process, q api.RunRequest, show func(api.RunReply)) (
	noted json.RawMessage, end func(show func(api.RunEnded) error), err error,
) {
	w, err := r.commandOf(caller, q)
	if err != nil {
		return nil, nil, err
	}
	if !filepath.IsAbs(q.CWD) {
		return nil, nil, fmt.Errorf("%q is not a folder", q.CWD)
	}
	if err := refuseOwn(w.Confinement.Project); err != nil {
		return nil, nil, err
	}
	var begun *begun
	taken := make(chan error, 1)
	if w.Confinement.Write {
		go func() { // in parallel with the survey, which takes as long
			var err error
			run := snapshot.Run{Agent: w.Agent, Entry: string(w.Request), Command: w.Command}
			if begun, err = r.begin(ctx, w.Confinement.Project, run); err != nil {
				err = fmt.Errorf("the command does not run, because nod could not undo its changes: %w", err)
			}
			taken <- err
		}()
	} else {
		taken <- nil
	}
	reply := api.RunReply{
		Command: w.Command, Project: w.Confinement.Project, Hosts: r.cfg.Sandbox().Hosts,
		PID: w.Program.PID, Agent: w.Agent, Session: w.Session,
	}
	profile, err := r.profile(ctx, w, q)
	if err == nil {
		err = r.running.add(&profile, process.Itself(caller), r.unfinished())
	}
	if err == nil {
		reply.Profile, err = json.Marshal(profile)
	}
	if err == nil {
		show(reply) // nod builds the sandbox during the snapshot
	}
	err = errors.Join(<-taken, err)
	if ctx.Err() == nil { // else nod has gone, which says nothing about the project
		r.setFailed(w.Confinement.Project, err)
	}
	if err == nil && begun != nil {
		noted, err = json.Marshal(begun.run)
	}
	end = func(show func(api.RunEnded) error) {
		ended, isGone := r.expel(&profile), false
		begun.end(ctx, r.cfg.Log, func() { isGone = show(ended) != nil })
		if isGone { // nod was killed, and the command may run on for a moment
			<-time.After(killDelay)
			r.expel(&profile)
		}
		r.running.remove(&profile)
		profile.Uncover()
	}
	if err != nil {
		r.running.remove(&profile)
		begun.end(ctx, r.cfg.Log, func() {})
		profile.Uncover()
		return nil, nil, err
	}
	return noted, end, nil
}

// refuseOwn returns an error if the project contains one of nod's own folders, or is inside one.
func refuseOwn(project string) error {
	for _, own := range policy.DefaultPlaces().Own {
		real, err := filepath.EvalSymlinks(own)
		if ownfile.SaysNothing(err) || err == nil && (sandbox.IsIn(real, project) || sandbox.IsIn(project, real)) {
			return fmt.Errorf("%s has files of nod's own, so no command gets it in the sandbox", project)
		}
	}
	return nil
}

// expel moves guarded files and folders that a command created out of the project.
func (r *Runs) expel(p *sandbox.Profile) (ended api.RunEnded) {
	if !p.Write {
		return ended
	}
	isGuarded, unseen := policy.GuardedIn(p.Project)
	moved, err := sandbox.Expel(p, isGuarded)
	err = errors.Join(unseen, err)
	if len(moved) > 0 || err != nil {
		r.cfg.Log.Warn("moved out of a project", "project", p.Project, "to", p.Private, "paths", moved, "err", err)
	}
	if ended.Moved, ended.To = moved, p.Private; err != nil {
		ended.Problem = err.Error()
	}
	return ended
}

// commandOf returns the command that the caller may run in the sandbox: the user's own, or an expected one, which may
// run only once. It returns [ipc.ErrNotExpected] for any other.
func (r *Runs) commandOf(caller api.Process, q api.RunRequest) (waiting, error) {
	engine := r.engine.Load()
	if engine == nil {
		return waiting{}, errors.New("this machine has no sandbox; see: nod doctor")
	}
	if len(q.Own) > 0 {
		if engine.OnlyReads() {
			return waiting{}, errors.New("this machine's sandbox only runs commands that read; see: nod doctor")
		}
		project, err := r.ownProject(q.CWD)
		command := quoteCommand(q.Own)
		own := details{Confinement: policy.Confinement{Project: project, Write: true, Git: policy.Commits(command)}}
		return waiting{&expected.Run{Command: command}, own}, err
	}
	program, ok := r.agentOf(caller)
	if !ok {
		return waiting{}, ipc.ErrNotExpected
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.take(program, q.Command)
	if w == nil {
		return waiting{}, ipc.ErrNotExpected
	}
	return *w, w.Forget()
}

// quoteCommand returns a command line that shells read as args.
func quoteCommand(args []string) string {
	var words []string
	for _, arg := range args {
		quoted, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil { // a byte that no argument can have
			quoted = arg
		}
		words = append(words, quoted)
	}
	return strings.Join(words, " ")
}

// ownProject returns the project that the user's folder belongs to: one with the sandbox on, else the repository, else
// the folder itself. It fails if that would include the home folder.
func (r *Runs) ownProject(folder string) (string, error) {
	at, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", fmt.Errorf("run in %s: %w", folder, err)
	}
	project := r.projectOf(at)
	for dir := at; project == ""; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			project = dir
		} else if dir == filepath.Dir(dir) {
			project = at
		}
	}
	if home, err := filepath.EvalSymlinks(r.cfg.Home); err != nil || sandbox.IsIn(home, project) {
		return "", fmt.Errorf("%s contains your home folder, so it is not a project: change to a project's folder", project)
	}
	return project, nil
}

// projectOf returns the innermost project with the sandbox on that contains a folder, or "".
func (r *Runs) projectOf(folder string) (project string) {
	for _, path := range r.projects() {
		if sandbox.IsIn(folder, path) && len(path) > len(project) {
			project = path
		}
	}
	return project
}

// projects returns the folders with the sandbox on, with links resolved.
func (r *Runs) projects() (all []string) {
	for _, path := range r.cfg.Sandbox().Projects {
		if below, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(r.cfg.Home, below)
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			all = append(all, real)
		}
	}
	return all
}

// maxEdits limits how many edits are waited for: an agent that was killed reports none.
const maxEdits = 100

// killDelay is how long the processes of a sandbox may outlive nod.
const killDelay = time.Second

// begun is a recorded run that has not ended. It is nil for a run that cannot change files.
type begun struct {
	repository *snapshot.Repository
	run        snapshot.Run
}

// begin takes a snapshot of a project and records the start of a run, in case nod-desktop is killed before the run
// ends.
func (r *Runs) begin(ctx context.Context, project string, run snapshot.Run) (*begun, error) {
	repository, before, err := r.snapshotOf(ctx, project)
	if err != nil {
		return nil, err
	}
	run.Before, run.Time, run.Command = before, time.Now(), withoutSecrets(run.Command)
	if run, err = repository.Note(ctx, run); err != nil {
		return nil, err
	}
	return &begun{repository, run}, nil
}

func (r *Runs) snapshotOf(ctx context.Context, project string) (*snapshot.Repository, snapshot.ID, error) {
	repository, err := snapshot.Open(r.cfg.Snapshots, project, policy.IsSecret)
	if err != nil {
		return nil, "", err
	}
	id, err := repository.Take(ctx)
	return repository, id, err
}

// end takes the second snapshot, calls taken, and records the end. Without a run it only calls taken.
func (b *begun) end(ctx context.Context, log *slog.Logger, taken func()) {
	if b == nil {
		taken()
		return
	}
	if _, err := b.repository.End(context.WithoutCancel(ctx), b.run, taken); err != nil {
		log.Error("snapshot after a command or an edit", "err", err)
	}
}

func withoutSecrets(command string) string {
	return secrets.Redactor(secrets.Find([]byte(command))).Replace(command)
}

// Undoes implements the sandbox of [hooks.Config].
func (r *Runs) Undoes(ctx context.Context, who interact.Requester, edit interact.Approve) bool {
	project, paths, areAll := r.edited(who, edit)
	if isOn, _ := r.Contains(who, ""); !isOn || !areAll || len(paths) == 0 || r.running.changes(project) {
		return false
	}
	isGuarded, err := policy.GuardedIn(project)
	if err != nil || slices.ContainsFunc(paths, func(path string) bool {
		return isGuarded(filepath.Join(project, filepath.FromSlash(path)), false)
	}) {
		return false
	}
	repository, err := snapshot.Open(r.cfg.Snapshots, project, policy.IsSecret)
	return err == nil && repository.Keeps(ctx, paths)
}

// Edits implements the sandbox of [hooks.Config].
func (r *Runs) Edits(ctx context.Context, who interact.Requester, id interact.ID, edit interact.Approve) (bool, error) {
	project, paths, areAll := r.edited(who, edit)
	if len(paths) == 0 {
		return false, nil
	}
	run := snapshot.Run{Agent: who.Agent, Entry: string(id), Command: edit.Tool + " " + paths[0], Paths: paths}
	begun, err := r.begin(ctx, project, run)
	if err != nil {
		return false, fmt.Errorf("snapshot of %s: %w", project, err)
	}
	r.mu.Lock()
	if len(r.edits) >= maxEdits {
		clear(r.edits) // they end at the next run
	}
	r.edits[editKey(project, paths)] = begun
	r.mu.Unlock()
	if r.running.changes(project) { // which it did not when the policy let the edit pass
		r.cfg.Log.Info("a command runs that could redirect an edit", "project", project)
		return false, nil
	}
	return areAll && begun.repository.Has(ctx, begun.run.Before, paths), nil
}

// Edited implements the sandbox of [hooks.Config].
func (r *Runs) Edited(ctx context.Context, who interact.Requester, edit interact.Approve) {
	r.mu.Lock()
	none := len(r.edits) == 0
	r.mu.Unlock()
	if none { // as a rule: then the key is not worth its work
		return
	}
	project, paths, _ := r.edited(who, edit)
	key := editKey(project, paths)
	r.mu.Lock()
	begun := r.edits[key]
	delete(r.edits, key)
	r.mu.Unlock()
	begun.end(ctx, r.cfg.Log, func() {})
}

func editKey(project string, paths []string) string {
	return project + "\x00" + strings.Join(paths, "\x00")
}

// edited returns the agent's project, if the sandbox is on for it, the paths in it that an edit changes, and whether
// the edit changes no others.
func (r *Runs) edited(who interact.Requester, edit interact.Approve) (project string, paths []string, areAll bool) {
	if project = r.projectOf(who.Folder()); project == "" {
		return "", nil, false
	}
	changed := policy.Changes(edit.Call(who))
	paths = within(project, changed)
	return project, paths, len(paths) == len(changed)
}

// within returns the paths that are in a project, relative to it, with slashes and with links resolved.
func within(project string, paths []string) (below []string) {
	for _, path := range paths {
		path = filepath.FromSlash(path)
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		switch {
		case err == nil:
			path = filepath.Join(folder, filepath.Base(path))
		case ownfile.SaysNothing(err):
			continue // it may be elsewhere
		}
		if rel, err := filepath.Rel(project, path); err == nil && sandbox.IsIn(path, project) {
			below = append(below, filepath.ToSlash(rel))
		}
	}
	return below
}

// Prepare takes a first snapshot of each project with the sandbox on, so that no command waits for it, and finds
// projects that are too large. It deletes old private folders of commands, old snapshots, and the oldest snapshots
// while all take more than maxSize bytes.
func (r *Runs) Prepare(ctx context.Context, olderThan time.Duration, maxSize int64) error {
	var failed error
	for _, project := range r.projects() {
		isGuarded, err := r.isGuarded(project, "")
		if err == nil {
			_, err = sandbox.Survey(project, r.isSecret, isGuarded)
		}
		if err == nil {
			_, _, err = r.snapshotOf(ctx, project)
		}
		if ctx.Err() == nil {
			r.setFailed(project, err)
		}
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, snapshot.PruneAll(ctx, r.cfg.Snapshots, olderThan, maxSize), r.clean(olderThan))
}
