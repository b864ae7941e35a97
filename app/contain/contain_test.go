package contain

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/ipc"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/process"
	"nod/sandbox"
	"nod/sandbox/expected"
	"nod/sandbox/snapshot"
)

// table is that of processes of which nothing more is known.
type table struct{ process.Table }

func (table) LeadsTerminal(api.Parent) bool { return false }

func (table) Ended(...api.Parent) bool { return true }

// lasting is a table in which nod runs until its end.
type lasting struct {
	table
	end chan struct{}
}

func (l lasting) Ended(...api.Parent) bool {
	select {
	case <-l.end:
		return true
	default:
		return false
	}
}

func (l lasting) AwaitEnd(ctx context.Context, _ ...api.Parent) bool {
	select {
	case <-l.end:
		return true
	case <-ctx.Done():
		return false
	}
}

var began = time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)

// under is a nod command that the program with this id started.
func under(pid int32) api.Process {
	return api.Process{
		PID: 1000 + pid, Exe: "/usr/bin/nod", Started: began,
		Parents: []api.Parent{
			{PID: 500 + pid, Name: "sh", Exe: "/bin/sh", Started: began},
			{PID: pid, Name: "claude", Exe: "/opt/claude", Started: began},
		},
	}
}

type rig struct {
	*Runs
	t       *testing.T
	cfg     Config
	project string
	after   func() error // called when a run counts as over; may be nil
	entry   interact.Record
}

func newRig(t *testing.T) *rig {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, project: filepath.Join(home, "shop")}
	for _, folder := range []string{"shop/sub", ".cargo", ".pyenv", ".ssh"} {
		if err := os.MkdirAll(filepath.Join(home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.write("shop/a.txt", "a\n")
	r.write("shop/.env", "KEY=1\n")
	r.write("shop/.vscode/tasks.json", "{}")
	r.write(".cargo/credentials.toml", "key")
	r.cfg = Config{
		Forbids: func(string) (read, change bool) { return false, false },
		Entry:   func(context.Context, int64) (history.Entry, error) { return history.Entry{Record: r.entry}, nil },
		Folder:  filepath.Join(home, "run"), Cache: filepath.Join(home, "cache"),
		Snapshots: filepath.Join(home, "snapshots"), Home: home, Processes: table{}, Log: slog.New(slog.DiscardHandler),
		Sandbox: func() policy.Containment {
			return policy.Containment{Projects: []string{"~/shop"}, Hosts: []string{"a.b"}}
		},
	}
	r.start()
	return r
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(filepath.Dir(r.project), name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// start is the start of another nod-desktop.
func (r *rig) start() {
	r.t.Helper()
	runs, err := New(r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Runs = runs
	r.Ready("bubblewrap")
}

// expect has a hook of the agent's say where a command runs.
func (r *rig) expect(pid int32, command string, in policy.Confinement) {
	r.t.Helper()
	who := interact.Requester{Agent: "claude-code", Session: "s", Process: under(pid)}
	if err := r.Expect(who, "", command, in); err != nil {
		r.t.Fatal(err)
	}
}

// told is what a command is told.
type told struct {
	api.RunReply
	Noted json.RawMessage
}

// Begin has a command begin.
func (r *rig) Begin(ctx context.Context, caller api.Process, q api.RunRequest) (reply told, end func(), err error) {
	noted, ended, err := r.Runs.Begin(ctx, caller, q, func(shown api.RunReply) { reply.RunReply = shown })
	reply.Noted = noted
	return reply, func() {
		ended(func(api.RunEnded) error {
			if r.after != nil {
				return r.after()
			}
			return nil
		})
	}, err
}

// confined has a command begin, which ends with the test, and returns its sandbox.
func (r *rig) confined(q api.RunRequest) (reply told, p sandbox.Profile) {
	r.t.Helper()
	reply, end, err := r.Begin(r.t.Context(), under(1), q)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(end)
	if err := json.Unmarshal(reply.Profile, &p); err != nil {
		r.t.Fatal(err)
	}
	return reply, p
}

// begin has the agent's command begin, and reports whether it is in the sandbox.
func (r *rig) begin(pid int32, command string) bool {
	r.t.Helper()
	_, end, err := r.Begin(r.t.Context(), under(pid), api.RunRequest{Command: command, CWD: r.project})
	if err != nil && !errors.Is(err, ipc.ErrNotExpected) {
		r.t.Fatal(err)
	}
	if err == nil {
		end()
	}
	return err == nil
}

// A command runs in the sandbox as often as a hook has said so, in whatever order, for that process and no other, also
// after nod-desktop has started again; and in no other case.
func TestRunsWhatIsExpectedOnce(t *testing.T) {
	r := newRig(t)
	in := policy.Confinement{Project: r.project}
	for i, step := range []struct {
		do        string
		pid       int32
		command   string
		contained bool
	}{
		{"begin", 1, "make", false},
		{"expect", 1, "make", false},
		{"begin", 2, "make", false},
		{"begin", 1, "make ", false},
		{"begin", 1, "make", true},
		{"begin", 1, "make", false},
		{"expect", 1, "make", false},
		{"expect", 1, "make", false},
		{"expect", 2, "make", false},
		{"begin", 1, "make", true},
		{"start", 0, "", false},
		{"begin", 1, "make", true},
		{"begin", 1, "make", false},
		{"begin", 2, "make", true},
		{"expect", 1, "make", false},
		{"bare", 2, "make", false},
		{"begin", 1, "make", true},
		{"expect", 1, "make", false},
		{"expect", 1, "make", false},
		{"bare", 1, "make", false},
		{"begin", 1, "make", false},
	} {
		switch step.do {
		case "expect":
			r.expect(step.pid, step.command, in)
		case "bare":
			r.expect(step.pid, step.command, policy.Confinement{})
		case "start":
			r.start()
		case "begin":
			if is := r.begin(step.pid, step.command); is != step.contained {
				t.Fatalf("step %d: %q of %d is contained: %v", i, step.command, step.pid, is)
			}
		}
		if some := expected.Some(r.cfg.Folder, "make"); some != (len(r.Runs.expected) > 0) {
			t.Fatalf("step %d: who runs commands finds one expected: %v", i, some)
		}
	}
}

// Nobody who only says so is the agent, and without an agent there is nothing to expect.
func TestExpectsOfAgentsOnly(t *testing.T) {
	r := newRig(t)
	for name, p := range map[string]api.Process{
		"nobody":    {},
		"a shell":   {PID: 7, Exe: "/usr/bin/nod", Parents: []api.Parent{{PID: 8, Name: "bash", Exe: "/bin/bash"}}},
		"an orphan": {PID: 7, Exe: "/usr/bin/nod", Parents: []api.Parent{{PID: 1, Name: "systemd"}}},
	} {
		if err := r.Expect(interact.Requester{Process: p}, "", "make", policy.Confinement{Project: r.project}); err == nil {
			t.Errorf("%s: expected", name)
		}
	}
}

func TestProfile(t *testing.T) {
	r := newRig(t)
	home := filepath.Dir(r.project)
	if out, err := exec.Command("git", "init", "-q", r.project).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.write("shop/.gitignore", ".env\n")
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	r.expect(1, "git commit", policy.Confinement{Project: r.project, Write: true, Git: true})
	r.expect(1, "cat", policy.Confinement{Project: r.project})
	folders := []string{
		filepath.Join(home, ".pyenv/shims"), filepath.Join(home, ".ssh"), home, "/usr/bin", filepath.Join(home, "tools"),
		filepath.Join(home, ".."), filepath.Join(home, "none"), "relative", filepath.Join(home, "work"),
		filepath.Join(home, "other"),
	}
	r.write("shop/sub/.git/config", "[remote \"origin\"]\nurl = https://u:secret1@a.b/c\n")
	r.write("work/other/.git/HEAD", "")
	r.write("other/.git/HEAD", "")
	r.write("go/src/other/main.go", "")
	r.write("go/pkg/mod/x", "")
	r.write(".julia/servers/a/auth.toml", "")
	r.write("disk/rustup/credentials", "")
	path := []string{filepath.Join(r.project, ".venv/bin"), r.project, "none", filepath.Join(r.project, "way")}
	r.write("shop/.venv/bin/tool", "")
	r.write("notes/diary", "")
	r.write("shop/.git/config", "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared.cfg\n"+
		"[include]\n\tpath = extra.cfg\n")
	r.write("shop/.git/extra.cfg", "[core]\n\tfsmonitor = .git/tool\n"+
		"[filter \"x\"]\n\tclean = python3 'tools/clean.py' %f\n[alias]\n\tst = !tools/st\n\tx = a.txt\n"+
		"[mailmap]\n\tfile = tools/names\n")
	for _, name := range []string{".git/tool", "tools/clean.py", "tools/st", "tools/names"} {
		r.write("shop/"+name, "")
	}
	r.write("shop/scripts/check", "")
	r.write("shop/scripts/other", "")
	r.write("shop/tools/hooks/pre-commit", "")
	r.write("shop/shared.cfg", "")
	folders = append(folders, filepath.Join(home, "Private"))
	r.write("Private/diary", "")
	if err := errors.Join(os.MkdirAll(filepath.Join(home, "tools/bin"), 0o700),
		os.Symlink(filepath.Join(home, "notes"), filepath.Join(r.project, "way")),
		os.Symlink(filepath.Join(home, ".ssh"), filepath.Join(home, "keys")),
		os.Symlink("../../scripts/check", filepath.Join(r.project, ".git/hooks/pre-commit")),
		os.Symlink("disk/rustup", filepath.Join(home, ".rustup")),
		os.Symlink("../notes/diary", filepath.Join(home, ".pyenv/credentials")),
		os.Symlink("versions", filepath.Join(home, ".pyenv/token")),
		os.Mkdir(filepath.Join(home, ".pyenv/versions"), 0o700)); err != nil {
		t.Fatal(err)
	}
	folders = append(folders, path[0], path[3], filepath.Join(home, "keys"), filepath.Join(r.project, ".venv"))
	profiles := map[string]sandbox.Profile{}
	for _, command := range []string{"make", "git commit", "cat"} {
		reply, p := r.confined(api.RunRequest{
			Command: command, CWD: r.project, Folders: folders, Path: path,
		})
		if p.Project != r.project || reply.Project != r.project || reply.PID != 1 || reply.Agent != "claude-code" ||
			!slices.Equal(reply.Hosts, []string{"a.b"}) {
			t.Errorf("%s: %+v", command, reply)
		}
		profiles[command] = p
	}
	for _, want := range []struct {
		command, list string
		paths         []string
		is            bool
	}{
		{"make", "keep", []string{".git", ".vscode/tasks.json"}, true},
		{"make", "keep", []string{".venv/bin", "tools/hooks", "shared.cfg"}, true},
		{"make", "keep", []string{".venv", ".", "../notes", "scripts", "scripts/other"}, false},
		{"make", "keep", []string{"scripts/check", "tools/clean.py", "tools/st"}, true},
		{"make", "keep", []string{"tools/names", "tools"}, false},
		{"git commit", "keep", []string{"scripts/check", ".git/extra.cfg", ".git/tool", "tools/st"}, true},
		{"make", "show", []string{".venv/bin", ".venv", "way", "../notes", "../keys"}, false},
		{"git commit", "keep", []string{".git"}, false},
		{"git commit", "keep", []string{".git/config", ".git/hooks", ".vscode/tasks.json"}, true},
		{"make", "absent", []string{".claude", ".gemini"}, true},
		{"make", "absent", []string{".git"}, false},
		{"cat", "absent", []string{".claude"}, false},
		{"make", "hide", []string{".env", "../.cargo/credentials.toml"}, true},
		{"cat", "hide", []string{".env"}, true},
		{"make", "hide", []string{"a.txt", ".git/config"}, false},
		{"make", "hide", []string{"sub/.git/config"}, true},
		{"make", "show", []string{"../.pyenv", "../tools"}, true},
		{"make", "show", []string{"../.pyenv/shims", "..", "../..", "../.ssh", "../none", "../.cargo", "../work",
			"../other", "../go", "../Private"}, false},
		{"make", "warm", []string{"../.cargo", "../go/pkg"}, true},
		{"make", "warm", []string{"../go", "../go/src"}, false},
		{"make", "hide", []string{"../.julia/servers"}, true},
		{"make", "hide", []string{"../disk/rustup/credentials", "../.pyenv/versions"}, true},
		{"make", "hide", []string{"../.rustup/credentials", "../.pyenv/credentials", "../.pyenv/token", "../notes/diary"},
			false},
		{"make", "path", []string{".venv/bin", "none"}, true},
		{"make", "path", []string{".", "way"}, false},
		{"cat", "path", []string{".venv/bin", "none"}, false},
	} {
		p := profiles[want.command]
		list := map[string][]string{
			"keep": p.Keep, "absent": p.Absent, "hide": p.Hide, "show": p.Show, "warm": p.Warm, "path": p.Path,
		}[want.list]
		for _, path := range want.paths {
			if is := slices.Contains(list, filepath.Join(r.project, path)); is != want.is {
				t.Errorf("%s: %s has %s: %v in %q", want.command, want.list, path, is, list)
			}
		}
	}
	if !profiles["make"].Write || profiles["cat"].Write {
		t.Error("what only reads may write, or what writes may not")
	}
	for command, isKept := range map[string]bool{
		"git|commit|-m|x y": false, "sh|-c|make && git add .": false, "git|log": true, "make": true,
	} {
		q := api.RunRequest{CWD: r.project, Own: strings.Split(command, "|")}
		_, p := r.confined(q)
		if is := slices.Contains(p.Keep, filepath.Join(r.project, ".git")); is != isKept {
			t.Errorf("the user's own %s: the repository is kept as it is: %v", command, is)
		}
	}
}

// Git may not write to a repository if what it obeys there is a link or missing: nothing could keep that unchanged.
func TestRepositoryThatIsElsewhere(t *testing.T) {
	for name, spoil := range map[string]string{
		"no": "true", "hooks by a link": "mv .git/hooks hooks && ln -s ../hooks .git/hooks",
		"a missing include": "git config include.path none.cfg", "missing hooks": "git config core.hooksPath .git/none",
	} {
		r := newRig(t)
		cmd := exec.Command("sh", "-c", "rm .env; git init -q && "+spoil)
		cmd.Dir = r.project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		_, p := r.confined(api.RunRequest{Own: []string{"git", "commit"}, CWD: r.project})
		if is := slices.Contains(p.Keep, filepath.Join(r.project, ".git")); is != (name != "no") {
			t.Errorf("%s: the repository is read-only: %v", name, is)
		}
		if name == "hooks by a link" && !slices.Contains(p.Keep, filepath.Join(r.project, "hooks")) {
			t.Errorf("what the link of hooks leads to is not kept: %q", p.Keep)
		}
	}
}

// What a command changes is noted, and with what it was before.
func TestTakesSnapshots(t *testing.T) {
	r := newRig(t)
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	ctx, hangUp := context.WithCancel(t.Context())
	_, end, err := r.Begin(ctx, under(1), api.RunRequest{Command: "make", CWD: r.project})
	if err != nil {
		t.Fatal(err)
	}
	r.write("shop/b.txt", "b\n")
	r.write("shop/.env", "KEY=2\n")
	hangUp() // as the command's end does
	r.after = func() error { r.write("shop/c.txt", "the user's\n"); return nil }
	end()
	repository, err := snapshot.Open(r.cfg.Snapshots, r.project, policy.IsSecret)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := repository.Runs(t.Context())
	if err != nil || len(runs) != 1 || runs[0].Command != "make" || runs[0].Agent != "claude-code" || runs[0].Files != 1 {
		t.Fatalf("%+v, %v", runs, err)
	}
	changes, err := repository.ChangesOf(t.Context(), runs[0])
	if err != nil || len(changes) != 1 || changes[0].Path != "b.txt" {
		t.Errorf("%+v, %v", changes, err)
	}
}

// record is the entry of a request in the history.
func record(r *rig, id interact.ID) interact.Record {
	var of interact.Record
	of.Request.ID, of.Request.Requester.CWD = id, r.project
	return of
}

// What the user takes back is what they were shown, also when that is to bring it back; nothing else is.
func TestTakesBackWhatWasShown(t *testing.T) {
	r := newRig(t)
	who := interact.Requester{Agent: "claude-code", Process: under(1)}
	if err := r.Expect(who, "one", "make", policy.Confinement{Project: r.project, Write: true}); err != nil {
		t.Fatal(err)
	}
	_, end, err := r.Begin(t.Context(), under(1), api.RunRequest{Command: "make", CWD: r.project})
	if err != nil {
		t.Fatal(err)
	}
	r.write("shop/a.txt", "b\n")
	r.write("shop/new.txt", "n\n")
	end()
	one := record(r, "one")
	changed, err := r.of(one).Changed(t.Context(), 0)
	if err != nil || len(changed.Files) != 2 || changed.Run.Files != 2 || changed.Run.Command != "make" {
		t.Fatalf("%+v, %v", changed, err)
	}
	if d, err := r.of(one).Diff(t.Context(), 0, "a.txt"); err != nil || !strings.Contains(string(d.Text), "\n-a\n+b\n") {
		t.Errorf("%s, %v", d.Text, err)
	}
	shown, err := r.of(one).PlanTakeBack(t.Context(), 0)
	if err != nil || shown.Count != 2 || shown.Left != 0 {
		t.Fatalf("%+v, %v", shown, err)
	}
	r.write("shop/new.txt", "mine\n")
	_, err = r.of(one).TakeBack(t.Context(), 0, shown.Digest)
	if !errors.Is(err, operator.ErrChanged) || r.text("a.txt") != "b\n" {
		t.Errorf("another plan is applied: %v", err)
	}
	shown, err = r.of(one).PlanTakeBack(t.Context(), 0)
	if err != nil || shown.Count != 1 || shown.Left != 1 || shown.Conflicts[0].Path != "new.txt" {
		t.Fatalf("%+v, %v", shown, err)
	}
	if left, err := r.of(one).TakeBack(t.Context(), 0, shown.Digest); err != nil || left != nil {
		t.Fatalf("left %v, %v", left, err)
	}
	if r.text("a.txt") != "a\n" || r.text("new.txt") != "mine\n" {
		t.Error("the file is not as it was, or the user's has changed")
	}
	back, err := r.of(one).PlanTakeBack(t.Context(), 0)
	if err != nil || back.Count != 1 {
		t.Fatalf("%+v, %v", back, err)
	}
	if c, err := r.of(one).Changed(t.Context(), 0); err != nil || c.Run.Undoes != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := r.of(one).TakeBack(t.Context(), 0, back.Digest); err != nil || r.text("a.txt") != "b\n" {
		t.Errorf("not brought back: %v", err)
	}
	if c, err := r.of(one).Changed(t.Context(), 0); err != nil || c.Run.Undoes != 0 || len(c.Files) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	remote := one
	remote.Request.Requester.Machine = "build"
	for name, of := range map[string]interact.Record{
		"another request": record(r, "two"), "no request": record(r, ""), "of another machine": remote,
	} {
		if c, err := r.of(of).Changed(t.Context(), 0); err != nil || c.Run.Number != 0 {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if _, err := r.of(of).TakeBack(t.Context(), 0, shown.Digest); err == nil {
			t.Errorf("%s is taken back", name)
		}
	}
}

// of has the history's entry be that of a request.
func (r *rig) of(request interact.Record) *Runs {
	r.entry = request
	return r.Runs
}

func (r *rig) text(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.project, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// What a command changes that ends after nod-desktop is noted by whoever runs it, or else when the next begins.
func TestNotesWithoutADesktop(t *testing.T) {
	r := newRig(t)
	for _, id := range []interact.ID{"one", "two"} {
		in := policy.Confinement{Project: r.project, Write: true}
		if err := r.Expect(interact.Requester{Process: under(1)}, id, "make", in); err != nil {
			t.Fatal(err)
		}
		reply, _, err := r.Begin(t.Context(), under(1), api.RunRequest{Command: "make", CWD: r.project})
		if err != nil {
			t.Fatal(err)
		}
		r.write("shop/"+string(id), "x")
		r.start()
		if id == "two" {
			continue
		}
		var noted snapshot.Run
		repository, err := snapshot.Open(r.cfg.Snapshots, r.project, policy.IsSecret)
		if err := errors.Join(err, json.Unmarshal(reply.Noted, &noted)); err != nil {
			t.Fatal(err)
		}
		if _, err := repository.End(t.Context(), noted, func() {}); err != nil {
			t.Fatal(err)
		}
		r.write("shop/a.txt", "mine")
	}
	for _, id := range []interact.ID{"one", "two"} {
		c, err := r.of(record(r, id)).Changed(t.Context(), 0)
		if err != nil || len(c.Files) != 1 || c.Files[0].Path != string(id) {
			t.Errorf("%s: %+v, %v", id, c, err)
		}
	}
}

// The user's own command runs in a project, and never in the home folder.
func TestOwnProject(t *testing.T) {
	r := newRig(t)
	home := filepath.Dir(r.project)
	for _, folder := range []string{"other/below", "repository/below"} {
		if err := os.MkdirAll(filepath.Join(home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.write("repository/.git/HEAD", "ref: x\n")
	for folder, want := range map[string]string{
		"shop/sub": "shop", "shop": "shop", "other/below": "other/below", "repository/below": "repository",
		"": "home folder", "..": "home folder", "missing": "missing",
	} {
		got, err := r.ownProject(filepath.Join(home, folder))
		if want == "home folder" || want == "missing" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %q, %v", folder, got, err)
			}
			continue
		}
		if err != nil || got != filepath.Join(home, want) {
			t.Errorf("%q: %q, %v", folder, got, err)
		}
	}
}

// What rules deny to read is not there, and what they deny or ask to change cannot change, also in the repository.
func TestProfileByRules(t *testing.T) {
	r := newRig(t)
	r.write("shop/private/x.txt", "x")
	r.write("shop/odd.txt", "x")
	r.write("shop/.git/HEAD", "ref: refs/heads/main\n")
	r.cfg.Forbids = func(path string) (read, change bool) {
		name := filepath.Base(path)
		return name == "private", slices.Contains([]string{"private", "odd.txt", "HEAD"}, name)
	}
	r.start()
	in := policy.Confinement{Project: r.project, Write: true, Git: true}
	p, err := r.profile(t.Context(), waiting{&expected.Run{}, details{Confinement: in}}, api.RunRequest{CWD: r.project})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"private", "odd.txt", ".git/HEAD"} {
		if !slices.Contains(p.Keep, filepath.Join(r.project, name)) {
			t.Errorf("%s can change: %q", name, p.Keep)
		}
	}
	if !slices.Contains(p.Hide, filepath.Join(r.project, "private")) ||
		slices.Contains(p.Hide, filepath.Join(r.project, "odd.txt")) {
		t.Errorf("hidden: %q", p.Hide)
	}
}

// What an edit changes that passes by the policy can be taken back, too; where the sandbox is off nothing is kept.
func TestSnapshotsBeforeEdits(t *testing.T) {
	r := newRig(t)
	r.write("other/a.txt", "a\n")
	other := filepath.Join(filepath.Dir(r.project), "other")
	edit := func(project, name string, id interact.ID, want bool) {
		who := interact.Requester{Agent: "claude-code", CWD: project, Process: under(1)}
		input, err := json.Marshal(map[string]string{"file_path": filepath.Join(project, name), "content": "b"})
		if err != nil {
			t.Fatal(err)
		}
		taken, err := r.Edits(t.Context(), who, id, interact.Approve{Tool: "Write", Input: input})
		if err != nil || taken != want {
			t.Errorf("%s in %s: taken %v, %v", name, project, taken, err)
		}
	}
	edit(r.project, "a.txt", "one", true)
	edit(other, "a.txt", "one", false)
	r.write("shop/a.txt", "b\n")
	repository, err := snapshot.Open(r.cfg.Snapshots, r.project, policy.IsSecret)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := repository.Runs(t.Context())
	if err != nil || len(runs) != 1 || runs[0].Entry != "one" || runs[0].Files != 1 {
		t.Errorf("%+v, %v", runs, err)
	}
	if found := snapshot.Find(r.cfg.Snapshots, other); found != "" {
		t.Errorf("snapshots of %s", found)
	}
	who := interact.Requester{Agent: "claude-code", CWD: r.project, Process: under(1)}
	input := []byte(`{"file_path":"` + filepath.Join(r.project, "a.txt") + `"}`)
	r.Edited(t.Context(), who, interact.Approve{Tool: "Write", Input: input})
	r.write("shop/a.txt", "the user's own\n")
	run, err := repository.RunOf(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := repository.Plan(t.Context(), run)
	if err != nil || len(plan.Changes) != 0 || len(plan.Conflicts) != 1 {
		t.Errorf("taking the edit back would do %+v, and leave %+v, %v", plan.Changes, plan.Conflicts, err)
	}
	r.write("shop/.gitignore", "*.log\n") // after the policy let it pass
	r.write("shop/a.log", "a\n")
	edit(r.project, "a.log", "two", false)
	if err := r.Prepare(t.Context(), time.Hour, 1<<30); err != nil {
		t.Error(err)
	}
}

// Only what the next snapshot will have can be taken back.
func TestUndoes(t *testing.T) {
	r := newRig(t)
	r.Ready("bubblewrap")
	r.write("shop/a.txt", "a\n")
	r.write("shop/.gitignore", "dist/\n")
	r.write("shop/dist/a.js", "a\n")
	r.write("other/a.txt", "a\n")
	if out, err := exec.Command("git", "init", "-q", filepath.Join(r.project, "inner")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.write("shop/inner/.git/info/exclude", "own.txt\n")
	r.write("shop/inner/own.txt", "a\n")
	outside := filepath.Join(filepath.Dir(r.project), "other")
	for link, to := range map[string]string{"away": outside, "away.txt": filepath.Join(outside, "a.txt"), "near": "."} {
		if err := os.Symlink(to, filepath.Join(r.project, link)); err != nil {
			t.Fatal(err)
		}
	}
	undoes := func(folder, path string) bool {
		input, err := json.Marshal(map[string]string{"file_path": path, "content": "b"})
		if err != nil {
			t.Fatal(err)
		}
		who := interact.Requester{Agent: "claude-code", CWD: folder, Process: under(1)}
		return r.Undoes(t.Context(), who, interact.Approve{Tool: "Write", Input: input})
	}
	if err := r.Prepare(t.Context(), time.Hour, 1<<30); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"a.txt": true, "new.txt": true, "new/folder/a.txt": true, "near/a.txt": true, ".gitignore": true,
		"dist/a.js": false, "dist/new.js": false, ".env": false, ".git/config": false, "away/a.txt": false,
		"away.txt": false, "../other/a.txt": false, "": false, "inner/a.txt": true, "inner/own.txt": false,
		"inner/sub/own.txt": false,
	} {
		if got := undoes(r.project, filepath.Join(r.project, path)); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if undoes(outside, filepath.Join(outside, "a.txt")) {
		t.Error("a project for which the sandbox is off")
	}
	if out, err := exec.Command("git", "init", "-q", r.project).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.write("shop/.git/config", "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared.cfg\n")
	for path, want := range map[string]bool{
		"tools/hooks/pre-commit": false, "shared.cfg": false, "tools/a": true, "a.txt": true,
	} {
		if got := undoes(r.project, filepath.Join(r.project, path)); got != want {
			t.Errorf("%s: %v, want %v: git's configuration names it", path, got, want)
		}
	}
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	_, end, err := r.Begin(t.Context(), under(1), api.RunRequest{Command: "make", CWD: r.project})
	if err != nil {
		t.Fatal(err)
	}
	if undoes(r.project, filepath.Join(r.project, "a.txt")) {
		t.Error("a command runs that could replace the file by a link")
	}
	input := []byte(`{"file_path":"` + filepath.Join(r.project, "a.txt") + `","content":"b"}`)
	who := interact.Requester{Agent: "claude-code", CWD: r.project, Process: under(1)}
	taken, err := r.Edits(t.Context(), who, "one", interact.Approve{Tool: "Write", Input: input})
	if err != nil || taken {
		t.Errorf("a command that could do so has begun since the policy let the edit pass: %v", err)
	}
	if end(); !undoes(r.project, filepath.Join(r.project, "a.txt")) {
		t.Error("the command has ended")
	}
}

// A secret that git would commit looks empty in the sandbox, so there the repository can only be read.
func TestCommitsNoEmptySecret(t *testing.T) {
	r := newRig(t)
	if out, err := exec.Command("git", "init", "-q", r.project).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for ignored, want := range map[string]bool{"": true, ".env\n": false} {
		r.write("shop/.gitignore", ignored)
		w := waiting{&expected.Run{}, details{Confinement: policy.Confinement{Project: r.project, Write: true, Git: true}}}
		p, err := r.profile(t.Context(), w, api.RunRequest{})
		if is := slices.Contains(p.Keep, filepath.Join(r.project, ".git")); err != nil || is != want {
			t.Errorf("ignored are %q: the repository can only be read: %v, %v", ignored, is, err)
		}
	}
}

// A pipe in the place of git's rules, which a command may have left, does not keep the next command waiting.
func TestPipeOfGitsRules(t *testing.T) {
	r := newRig(t)
	for _, args := range [][]string{{"git", "init", "-q", r.project}, {"mkfifo", r.project + "/.gitignore"}} {
		if err := exec.Command(args[0], args[1:]...).Run(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if !wouldCommit(ctx, r.project, []string{".gitignore"}) {
		t.Error("git could be asked")
	}
}

// Of two commands that run at once the second covers what the first does, and what a killed one leaves is removed.
func TestRunsAtOnceCoverTheSame(t *testing.T) {
	r := newRig(t)
	folder := filepath.Join(r.project, ".claude")
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	reply, end, err := r.Begin(t.Context(), under(1), api.RunRequest{Command: "make", CWD: r.project})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o755); err != nil { // as the command does that runs
		t.Fatal(err)
	}
	in := details{Confinement: policy.Confinement{Project: r.project, Write: true}}
	other, err := r.profile(t.Context(), waiting{&expected.Run{}, in}, api.RunRequest{})
	if err != nil || !slices.Contains(other.Absent, folder) || !strings.Contains(string(reply.Profile), folder) {
		t.Errorf("%+v, %s, %v", other, reply.Profile, err)
	}
	end()
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

// Commands of a project of which no snapshot can be taken are not contained, and so asked about, until one can.
func TestProjectsThatFail(t *testing.T) {
	r := newRig(t)
	who := interact.Requester{Agent: "claude-code", CWD: r.project, Process: under(1)}
	contains := func(who interact.Requester, release string) bool {
		is, onlyReads := r.Contains(who, release)
		return is && !onlyReads
	}
	if !contains(who, "") || contains(who, "9.9.9") {
		t.Error("before: commands are not contained, or those of a release that nobody has seen are")
	}
	if err := os.WriteFile(r.cfg.Snapshots, nil, 0o600); err != nil { // where a folder is wanted
		t.Fatal(err)
	}
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	if _, _, err := r.Begin(t.Context(), under(1), api.RunRequest{Command: "make", CWD: r.project}); err == nil {
		t.Fatal("a command runs that cannot be taken back")
	}
	elsewhere := who
	elsewhere.CWD = filepath.Dir(r.project)
	if contains(who, "") || !contains(elsewhere, "") {
		t.Error("commands of the project are still contained, or those of others are not")
	}
	if err := os.Remove(r.cfg.Snapshots); err != nil {
		t.Fatal(err)
	}
	if err := r.Prepare(t.Context(), time.Hour, 1<<30); err != nil || !contains(who, "") {
		t.Errorf("mended: %v", err)
	}
}

// What a command has made in guarded places does not stay where nod run was killed and could not move it.
func TestExpelsWhatAKilledRunLeaves(t *testing.T) {
	r := newRig(t)
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	_, end, err := r.Begin(t.Context(), under(1), api.RunRequest{Command: "make", CWD: r.project})
	if err != nil {
		t.Fatal(err)
	}
	r.write("shop/sub/.vscode/tasks.json", "{}")
	r.write("shop/b.txt", "b\n")
	end()
	for name, want := range map[string]bool{"sub/.vscode/tasks.json": false, ".vscode/tasks.json": true, "b.txt": true} {
		if _, err := os.Stat(filepath.Join(r.project, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where only what reads can be contained, the user's own commands do not run: they could write.
func TestOnlyReads(t *testing.T) {
	r := newRig(t)
	r.Ready("Landlock")
	who := interact.Requester{Agent: "claude-code", CWD: r.project, Process: under(1)}
	if contains, onlyReads := r.Contains(who, ""); !contains || !onlyReads {
		t.Error("what reads is not contained, or more is")
	}
	r.expect(1, "ls", policy.Confinement{Project: r.project})
	reply, _, err := r.Begin(t.Context(), under(1), api.RunRequest{Command: "ls", CWD: r.project})
	if err != nil || !strings.Contains(string(reply.Profile), `"engine":"Landlock"`) {
		t.Errorf("%s, %v", reply.Profile, err)
	}
	_, _, err = r.Begin(t.Context(), under(1), api.RunRequest{Own: []string{"ls"}, CWD: r.project})
	if err == nil || !strings.Contains(err.Error(), "only runs commands that read") {
		t.Errorf("the user's own: %v", err)
	}
}

// What a command made in guarded places is moved out also if nod and nod-desktop were killed before its end.
func TestMovesOutWithoutAnEnd(t *testing.T) {
	r := newRig(t)
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	if _, _, err := r.Begin(t.Context(), under(1), api.RunRequest{Command: "make", CWD: r.project}); err != nil {
		t.Fatal(err)
	}
	r.write("shop/.envrc", "x")
	r.start()
	if err := r.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{".envrc": false, ".vscode/tasks.json": true, "a.txt": true} {
		if _, err := os.Lstat(filepath.Join(r.project, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.write("shop/.envrc", "mine")
	if err := r.Finish(t.Context()); err != nil || r.text(".envrc") != "mine" {
		t.Errorf("what the user made is moved out: %v", err)
	}
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	r.begin(1, "make")
	if left, _ := filepath.Glob(filepath.Join(r.cfg.Cache, "unfinished", "*")); len(left) > 0 {
		t.Errorf("a command that has ended is unfinished: %q", left)
	}
}

// A command that runs on while nod-desktop starts again counts as running, and what it makes until nod is killed is
// moved out.
func TestRunsOnWhileNodStartsAgain(t *testing.T) {
	r := newRig(t)
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	if _, _, err := r.Begin(t.Context(), under(1), api.RunRequest{Command: "make", CWD: r.project}); err != nil {
		t.Fatal(err)
	}
	runs := lasting{end: make(chan struct{})}
	r.cfg.Processes = runs
	r.start()
	if err := r.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	who := interact.Requester{Agent: "claude-code", CWD: r.project, Process: under(1)}
	input, err := json.Marshal(map[string]string{"file_path": filepath.Join(r.project, "a.txt"), "content": "b"})
	if err != nil {
		t.Fatal(err)
	}
	edit := interact.Approve{Tool: "Write", Input: input}
	if r.Undoes(t.Context(), who, edit) {
		t.Error("an edit passes while a command runs that could replace the file by a link")
	}
	r.write("shop/.envrc", "x")
	close(runs.end)
	for !r.Undoes(t.Context(), who, edit) {
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := os.Lstat(filepath.Join(r.project, ".envrc")); err == nil {
		t.Error("what it made stays")
	}
}

// What ran goes on for a moment when nod was killed.
func TestMovesOutWhatIsMadeWhileItDies(t *testing.T) {
	r := newRig(t)
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	_, end, err := r.Begin(t.Context(), under(1), api.RunRequest{Command: "make", CWD: r.project})
	if err != nil {
		t.Fatal(err)
	}
	r.after = func() error { r.write("shop/.envrc", "x"); return errors.New("gone") }
	end()
	if _, err := os.Lstat(filepath.Join(r.project, ".envrc")); err == nil {
		t.Error("what is made while it dies stays")
	}
}

// No command gets nod's own folders as its project.
func TestNodsOwnFoldersAreNoProject(t *testing.T) {
	r := newRig(t)
	t.Cleanup(xdg.Reload)
	config := filepath.Join(filepath.Dir(r.project), "config")
	t.Setenv("XDG_CONFIG_HOME", config)
	xdg.Reload()
	r.write("config/nod/config.yaml", "x")
	for folder, isOwn := range map[string]bool{config: true, filepath.Join(config, "nod"): true, r.project: false} {
		_, end, err := r.Begin(t.Context(), under(1), api.RunRequest{Own: []string{"ls"}, CWD: folder})
		if (err != nil) != isOwn || isOwn && !strings.Contains(err.Error(), "nod's own") {
			t.Errorf("%s: %v", folder, err)
		}
		if err == nil {
			end()
		}
	}
}

// What old sessions left in their private folders is deleted, but not what was moved there from the project, nor what a
// running command has.
func TestPrivateFoldersAreCleaned(t *testing.T) {
	r := newRig(t)
	old := time.Now().Add(-30 * 24 * time.Hour)
	for _, name := range []string{"older", "old", "new"} {
		for _, file := range []string{"tmp/closed/x", "warm/0/x", "expelled/x"} {
			r.write("cache/project/"+name+"/"+file, "")
		}
		folder := filepath.Join(r.cfg.Cache, "project", name)
		if name != "new" {
			if err := os.Chmod(filepath.Join(folder, "tmp/closed"), 0); err != nil {
				t.Fatal(err)
			}
		}
		at := map[string]time.Time{"old": old, "older": old.Add(-1000 * time.Hour), "new": time.Now()}[name]
		if err := os.Chtimes(folder, at, at); err != nil {
			t.Fatal(err)
		}
	}
	r.expect(1, "make", policy.Confinement{Project: r.project, Write: true})
	_, p := r.confined(api.RunRequest{Command: "make", CWD: r.project})
	if err := errors.Join(os.MkdirAll(p.Temp(), 0o700), os.Chtimes(p.Private, old, old)); err != nil {
		t.Fatal(err)
	}
	if err := r.Prepare(t.Context(), 40*24*time.Hour, 1<<30); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"project/new/tmp": true, "project/new/warm": true, "project/old/tmp": false, "project/old/warm": false,
		"project/old/expelled/x": true, "project/older": false,
	} {
		if _, err := os.Lstat(filepath.Join(r.cfg.Cache, path)); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Lstat(p.Temp()); err != nil {
		t.Errorf("of a running command: %v", err)
	}
}
