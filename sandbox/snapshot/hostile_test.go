package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// run runs a program in a folder.
func run(t testing.TB, folder string, words ...string) {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", words, err, out)
	}
}

// Nothing in a project, in its repository, in the user's settings or in the environment makes a snapshot run a program,
// keep other contents, or go elsewhere.
func TestNothingRuns(t *testing.T) {
	home := t.TempDir()
	mark := filepath.Join(home, "ran")
	evil := filepath.Join(home, "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+mark+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := strings.ReplaceAll(`[core]
	fsmonitor = EVIL
	hooksPath = HOME/hooks
	sshCommand = EVIL
	autocrlf = true
	attributesFile = HOME/attributes
[filter "evil"]
	clean = EVIL
	smudge = EVIL
	process = EVIL
	required = true
[diff]
	external = EVIL
[diff "evil"]
	textconv = EVIL
	command = EVIL
[gpg]
	program = EVIL
`, "EVIL", evil)
	files{
		".gitconfig": config, "git/config": config,
		"attributes": "* filter=evil\n", "git/attributes": "* filter=evil\n",
		"hooks/post-index-change":     "x:#!/bin/sh\ntouch " + mark + "\n",
		"hooks/reference-transaction": "x:#!/bin/sh\ntouch " + mark,
	}.write(t, home)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	r, project := open(t)
	run(t, project, "git", "init", "-q")
	for name, value := range map[string]string{
		"GIT_DIR": filepath.Join(home, "elsewhere"), "GIT_WORK_TREE": home,
		"GIT_INDEX_FILE":       filepath.Join(home, "index"),
		"GIT_OBJECT_DIRECTORY": home, "GIT_EXTERNAL_DIFF": evil, "GIT_CONFIG_COUNT": "1",
		"GIT_CONFIG_KEY_0":   "core.fsmonitor",
		"GIT_CONFIG_VALUE_0": evil, "GIT_CONFIG_PARAMETERS": "'core.fsmonitor=" + evil + "'", "GIT_EXEC_PATH": home,
		"GIT_TRACE": mark, "GIT_TEMPLATE_DIR": home, "GIT_ICASE_PATHSPECS": "1",
		"GIT_NAMESPACE": "x", "GIT_PAGER": evil,
	} {
		t.Setenv(name, value)
	}
	all := files{
		".gitattributes": "*.bin -diff\n" +
			"* text=auto eol=crlf ident filter=evil diff=evil working-tree-encoding=UTF-16\n",
		"crlf":               "1\r\n2\r\n$Id$\n",
		"a.bin":              "1\n",
		".git/config":        config,
		".git/hooks/evil":    "x:#!/bin/sh\ntouch " + mark,
		".gitmodules":        "[submodule \"x\"]\n\tpath = x\n\turl = ext::" + evil + "\n\tupdate = !" + evil + "\n",
		".lfsconfig":         "[lfs]\n\turl = file://" + evil + "\n",
		".git/info/exclude":  "excluded\n",
		"excluded":           "1",
		"sub/.gitattributes": "* filter=lfs diff=lfs merge=lfs -text\n",
	}
	all.write(t, project)
	want := read(t, project)
	before := take(t, r)
	files{"crlf": "!", "a.bin": "2\n", ".gitattributes": "* -diff\n", "excluded": "2"}.write(t, project)
	after := take(t, r)
	if text, _, err := r.Diff(t.Context(), before, after, "a.bin"); err != nil || !strings.HasSuffix(text, "-1\n+2\n") {
		t.Errorf("hidden difference: %q, %v", text, err)
	}
	if conflicts := takeBack(t, r, before, after); conflicts != nil {
		t.Errorf("conflicts: %v", conflicts)
	}
	want["excluded"] = "2"
	equal(t, "taken back", read(t, project), want)
	if err := r.prune(t.Context(), 0, 0); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("a program ran")
	}
	if text, err := os.ReadFile(filepath.Join(project, ".git", "config")); err != nil || string(text) != config {
		t.Errorf("the project's repository has changed: %v", err)
	}
}

// Files of repositories within the project are its files; no .git is touched.
func TestNested(t *testing.T) {
	r, project := open(t)
	files{
		"sub/a": "1", "sub/inner/a": "1", "link/.git": "gitdir: /nowhere\n", "link/a": "1",
		"sub/.gitignore": "*.o\n", "sub/x.o": "1",
		"odd/.GIT/config": "1", "odd/a": "1", ".git": "gitdir: ../elsewhere\n",
	}.write(t, project)
	for _, repository := range []string{"sub/inner", "sub", "empty"} {
		run(t, project, "git", "init", "-q", repository)
	}
	run(t, filepath.Join(project, "sub"), "git", "add", "a")
	run(t, filepath.Join(project, "sub"), "git", "commit", "-qm", "a")
	want, before := read(t, project), take(t, r)
	changed := files{
		"sub/a": "2", "sub/inner/a": "!", "sub/inner/b": "2", "link/a": "2",
		"sub/new": "2", "odd/a": "2", "odd/.GIT/config": "2",
		"sub/x.o": "2", "empty/a": "2", "more/.git/config": "", "more/a": "2",
	}
	changed.write(t, project)
	run(t, project, "git", "init", "-q", "more")
	after := take(t, r)
	changes, err := r.changes(t.Context(), before, after)
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	all := "empty/a link/a more/a odd/a sub/a sub/inner/a sub/inner/b sub/new"
	if err != nil || strings.Join(paths, " ") != all {
		t.Errorf("%q, %v", paths, err)
	}
	takeBack(t, r, before, after)
	want["odd/.GIT/config"], want["sub/x.o"] = "2", "2"
	equal(t, "taken back", read(t, project), want)
	if _, err := os.Stat(filepath.Join(project, "sub", ".git", "HEAD")); err != nil {
		t.Error(err)
	}
}

// Nobody waits for pipes, and what cannot be read is left out.
func TestOddFiles(t *testing.T) {
	r, project := open(t)
	files{"a": "1", "hidden": "1", "closed/a": "1"}.write(t, project)
	before := take(t, r)
	run(t, project, "mkfifo", "pipe")
	files{"a": "!"}.write(t, project)
	run(t, project, "mkfifo", "a")
	run(t, project, "chmod", "000", "hidden", "closed")
	t.Cleanup(func() { run(t, project, "chmod", "700", "closed") })
	after := take(t, r)
	changes, err := r.changes(t.Context(), before, after)
	if err != nil || len(changes) != 1 || changes[0].Path != "a" {
		t.Errorf("%+v, %v", changes, err)
	}
	conflicts := takeBack(t, r, before, after)
	if len(conflicts) != 1 || conflicts[0].Path != "a" {
		t.Errorf("conflicts: %v", conflicts)
	}
}

// A pipe in the place of a file with git's rules is named, and keeps no call waiting.
func TestPipeOfRules(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".gitignore", ".gitattributes"} {
		r, project := open(t)
		files{"a/b": "1"}.write(t, project)
		run(t, project, "mkfifo", "a/"+name)
		keeps := make(chan bool, 1)
		go func() { keeps <- r.Keeps(t.Context(), []string{"a/new"}) }()
		_, err := r.Take(t.Context())
		if err != nil && !strings.HasSuffix(err.Error(), "a/"+name+" is not a plain file: remove it") {
			t.Error(err)
		}
		if err == nil && name == ".gitignore" {
			t.Error("git does not open it any more")
		}
		if <-keeps && name == ".gitignore" {
			t.Error("nod can tell what git ignores")
		}
	}
}

func TestTooLarge(t *testing.T) {
	r, project := open(t)
	all := files{}
	for i := range 20 {
		all[fmt.Sprint("f", i)] = strings.Repeat("x", 100)
	}
	all.write(t, project)
	for _, limits := range []limits{{files: 10, bytes: 1 << 20}, {files: 100, bytes: 1000}} {
		r.limits = limits
		if _, err := r.Take(t.Context()); !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "new") {
			t.Error(err)
		}
	}
	r.limits = defaultLimits
	ended, end := context.WithTimeout(t.Context(), 0)
	defer end()
	if _, err := r.Take(ended); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	before := take(t, r)
	r.limits = limits{files: 10, bytes: 1 << 20} // what is known does not count
	files{"f1": "2"}.write(t, project)
	if after := take(t, r); after == before {
		t.Error("no change was seen")
	}
}

// What a command made too large for a snapshot keeps nothing else from being taken back.
func TestTooLargeAfterwards(t *testing.T) {
	for name, made := range map[string]files{
		"a file":       {"big": strings.Repeat("x", 2000)},
		"a known file": {"known": strings.Repeat("x", 2000)},
		"many files":   {"1": "1", "2": "2", "3": "3", "4": "4", "5": "5", "6": "6"},
	} {
		t.Run(name, func(t *testing.T) {
			r, project := open(t)
			files{"a": "a", "b": "b", "known": "x"}.write(t, project)
			r.limits = limits{files: 5, bytes: 1000}
			run, err := r.Note(t.Context(), Run{Command: "x", Time: time.Now(), Before: take(t, r)})
			if err != nil {
				t.Fatal(err)
			}
			made.write(t, project)
			files{"a": "changed", "b": "!"}.write(t, project)
			if run, err = r.End(t.Context(), run, func() {}); err != nil {
				t.Fatal(err)
			}
			p, err := r.Plan(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			if is := read(t, project); is["a"] != "a" || is["b"] != "b" {
				t.Errorf("%q", is)
			}
			if _, isFile := made["big"]; isFile && read(t, project)["big"] != made["big"] {
				t.Error("a file of which there is no snapshot was changed")
			}
		})
	}
}

// What nobody can hash in time, or is no file, stays where it is. What only looks like nod's own file does not.
func TestStrangeAfterwards(t *testing.T) {
	r, project := open(t)
	files{"big": "1", "pipe": "1", "a": "1"}.write(t, project)
	noted, err := r.Note(t.Context(), Run{Command: "x", Time: time.Now(), Before: take(t, r)})
	if err != nil {
		t.Fatal(err)
	}
	files{"pipe": "!", "a": "2", ".nod-takeback-x/run": "x:2", ".nod-takeback-y": "2"}.write(t, project)
	if err := os.Truncate(filepath.Join(project, "big"), 4<<40); err != nil {
		t.Fatal(err)
	}
	run(t, project, "mkfifo", "pipe")
	if noted, err = r.End(t.Context(), noted, func() {}); err != nil {
		t.Fatal(err)
	}
	p, err := r.Plan(t.Context(), noted)
	if err != nil {
		t.Fatal(err)
	}
	want := []Conflict{{"big", errInTheWay.Error()}, {"pipe", errInTheWay.Error()}}
	if left, err := p.Apply(t.Context()); err != nil || len(left) > 0 || !slices.Equal(p.Conflicts, want) {
		t.Errorf("left %v, then %v, %v", p.Conflicts, left, err)
	}
	for name, is := range map[string]bool{"big": true, "pipe": true, ".nod-takeback-x": false, ".nod-takeback-y": false} {
		if _, err := os.Lstat(filepath.Join(project, name)); (err == nil) != is {
			t.Errorf("%s is there: %v, want %v", name, err == nil, is)
		}
	}
	if is, err := os.ReadFile(filepath.Join(project, "a")); err != nil || string(is) != "1" {
		t.Errorf("a is %q, %v", is, err)
	}
}

// full is a disk on which only so many bytes are left.
type full int

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), int(*f))
	if *f -= full(n); n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// A file that does not fit on the disk keeps no other from being restored, and git from ending.
func TestFullDisk(t *testing.T) {
	r, project := open(t)
	empty := take(t, r)
	large := strings.Repeat("x", 1<<20)
	files{"a": large, "b": "small"}.write(t, project)
	changes, err := r.changes(t.Context(), empty, take(t, r))
	if err != nil || len(changes) != 2 {
		t.Fatal(changes, err)
	}
	contents, err := r.store.blobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	disk, small := full(100), strings.Builder{}
	if err := contents.copy(&disk, changes[0].to.blob); !errors.Is(err, syscall.ENOSPC) || contents.failed != nil {
		t.Errorf("%v, %v", err, contents.failed)
	}
	if err := contents.copy(&small, changes[1].to.blob); err != nil || small.String() != "small" {
		t.Errorf("%q, %v", small.String(), err)
	}
	if _, err := contents.ask(changes[0].to.blob); err != nil {
		t.Error(err)
	}
	contents.close() // git is writing
}

// What nod wrote is lost or damaged by a crash: the next snapshot is right, or there is none.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(r *Repository) error{
		"index":      func(r *Repository) error { return os.WriteFile(r.path("index"), []byte("DIRC\x00\x00"), 0o600) },
		"no index":   func(r *Repository) error { return os.Remove(r.path("index")) },
		"index.lock": func(r *Repository) error { return os.WriteFile(r.path("index.lock"), []byte("x"), 0o600) },
		"last":       func(r *Repository) error { return os.WriteFile(r.path("last"), nil, 0o600) },
		"no last":    func(r *Repository) error { return os.Remove(r.path("last")) },
		"no refs":    func(r *Repository) error { return os.RemoveAll(r.refs()) },
		"config":     func(r *Repository) error { return os.WriteFile(r.path("config"), []byte("[core"), 0o600) },
		"HEAD":       func(r *Repository) error { return os.Remove(r.path("HEAD")) },
		"runs":       func(r *Repository) error { return os.WriteFile(r.runs(), []byte(`{"number":1,"bef`), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			r, project := open(t)
			files{"a": "1", "b": "1"}.write(t, project)
			before := take(t, r)
			if err := damage(r); err != nil {
				t.Fatal(err)
			}
			r = reopen(t, project)
			if again := take(t, r); again != before {
				t.Errorf("%s, then %s", before, again)
			}
			files{"a": "2"}.write(t, project)
			after := take(t, r)
			if _, err := r.Note(t.Context(), Run{Command: "x", Before: before, After: after}); err != nil {
				t.Fatal(err)
			}
			if runs, err := r.Runs(t.Context()); err != nil || len(runs) != 1 || runs[0].Files != 1 {
				t.Errorf("%+v, %v", runs, err)
			}
			takeBack(t, r, before, after)
			equal(t, "taken back", read(t, project), files{"a": "1", "b": "1"})
		})
	}
}

// Several take snapshots at once, while files change: each is of something that was, and none fails.
func TestAtOnce(t *testing.T) {
	r, project := open(t)
	files{"a": "1", "b": "1"}.write(t, project)
	take(t, r)
	var all sync.WaitGroup
	done := make(chan struct{})
	all.Go(func() {
		defer close(done)
		for i := range 50 {
			files{"a": strings.Repeat("x", i*1000), fmt.Sprint("c", i%3): []string{"1", "!"}[i%2]}.write(t, project)
		}
	})
	for range 3 {
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := r.Take(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	one, two := take(t, r), take(t, r)
	if one != two {
		t.Error("no change is seen as one")
	}
}

func TestRuns(t *testing.T) {
	r, project := open(t)
	begin := time.Now().Add(-time.Hour)
	note := func(minute, lasts int, before, after ID) {
		t.Helper()
		at := begin.Add(time.Duration(minute) * time.Minute)
		run := Run{Command: fmt.Sprint("at ", minute), Time: at, Before: before, After: after}
		if after != "" {
			run.Ended = run.Time.Add(time.Duration(lasts) * time.Minute)
		}
		if _, err := r.Note(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	var ids []ID
	for i := range 5 {
		files{"a": strings.Repeat("x\n", i)}.write(t, project)
		ids = append(ids, take(t, r))
	}
	note(2, 0, ids[1], "") // an edit, while the next one, which is noted later, was under way
	note(1, 4, ids[0], ids[2])
	note(10, 1, ids[2], ids[3])
	note(20, 0, ids[3], "")
	runs, err := r.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, run := range runs {
		got = append(got, fmt.Sprintf("%d %s: %d +%d %d-%d %v", run.Number, run.Command, run.Files, run.Added,
			slices.Index(ids, run.Before), slices.Index(ids, run.After), run.Overlaps))
	}
	want := []string{
		"4 at 20: 1 +1 3-4 false", "3 at 10: 1 +1 2-3 false", "2 at 1: 1 +2 0-2 true", "1 at 2: 1 +1 1-2 true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := r.Note(t.Context(), Run{Before: "x"}); err == nil {
		t.Error("a run of no snapshot was noted")
	}
}

// Of a list of runs that is too long the newest count, and it becomes shorter again.
func TestRunsTooLong(t *testing.T) {
	r, _ := open(t)
	id := take(t, r)
	long := []byte(strings.Repeat(strings.Repeat("x", 1<<20)+"\n", maxRuns>>20))
	if err := os.WriteFile(r.runs(), long, 0o600); err != nil {
		t.Fatal(err)
	}
	old := Run{Time: time.Now().Add(-time.Hour), Before: id, After: id, Ended: time.Now()}
	for _, run := range []Run{old, {Time: time.Now(), Before: id, Command: "make"}} {
		if _, err := r.Note(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	if runs, err := r.Runs(t.Context()); err != nil || len(runs) != 2 || runs[0].Command != "make" {
		t.Errorf("%+v, %v", runs, err)
	}
	err := r.prune(t.Context(), 24*time.Hour, 1<<30)
	if info, statErr := os.Stat(r.runs()); err != nil || statErr != nil || info.Size() > 1<<20 {
		t.Errorf("prune: %v, %v, %v", err, info, statErr)
	}
}

// A run that is noted as it begins is known before it ends, keeps its number, and at its end has what it changed.
func TestRunThatBegins(t *testing.T) {
	r, project := open(t)
	files{"a": "1"}.write(t, project)
	begin := func(entry string) Run {
		t.Helper()
		run, err := r.Note(t.Context(), Run{Time: time.Now(), Entry: entry, Before: take(t, r)})
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	changed := func(entry string) string {
		t.Helper()
		run, err := r.RunOf(t.Context(), entry)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d: %d, %v", run.Number, run.Files, run.Overlaps)
	}
	one := begin("one")
	files{"b": "1"}.write(t, project)
	if got := changed("one"); got != "1: 1, false" {
		t.Errorf("while it runs: %s", got)
	}
	two := begin("two")
	if err := os.Remove(r.path("number")); err != nil { // then the list has it
		t.Fatal(err)
	}
	begin("three")
	files{"c": "1"}.write(t, project)
	for _, run := range []Run{one, two} {
		if _, err := r.End(t.Context(), run, func() {}); err != nil {
			t.Fatal(err)
		}
	}
	files{"d": "1"}.write(t, project)
	for entry, want := range map[string]string{
		"one": "1: 2, true", "two": "2: 1, true", "three": "3: 2, true", "": "0: 0, false", "four": "0: 0, false",
	} {
		if got := changed(entry); got != want {
			t.Errorf("%q: %s, want %s", entry, got, want)
		}
	}
	if runs, err := r.Runs(t.Context()); err != nil || len(runs) != 3 || runs[0].Number != 3 {
		t.Errorf("%+v, %v", runs, err)
	}
}

// An edit changed the files that it names, whatever else did until the next run.
func TestEditHasItsPaths(t *testing.T) {
	r, project := open(t)
	files{"a": "1", "b": "1"}.write(t, project)
	_, err := r.Note(t.Context(), Run{Time: time.Now(), Entry: "one", Before: take(t, r), Paths: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	files{"a": "2", "b": "2"}.write(t, project)
	run, err := r.RunOf(t.Context(), "one")
	if err != nil || run.Files != 1 {
		t.Fatalf("%+v, %v", run, err)
	}
	p, err := r.Plan(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "taken back", read(t, project), files{"a": "1", "b": "2"})
	again, err := r.RunOf(t.Context(), "one")
	if err != nil || again.Undoes != run.Number || again.Files != 1 {
		t.Errorf("the newest run of the edit is %+v, %v", again, err)
	}
}

// What is taken back by two at once is taken back by the first alone: the run can still be brought back.
func TestTakenBackTwiceAtOnce(t *testing.T) {
	r, project := open(t)
	files{"a": "1"}.write(t, project)
	begun := Run{Time: time.Now(), Entry: "one", Before: take(t, r)}
	files{"a": "2"}.write(t, project)
	begun.After = take(t, r)
	run, err := r.Note(t.Context(), begun)
	if err != nil {
		t.Fatal(err)
	}
	var plans []*Plan
	for range 2 {
		p, err := r.Plan(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	for i, p := range plans {
		if left, err := p.Apply(t.Context()); err != nil || len(left) != i {
			t.Errorf("%d: left alone: %v, %v", i, left, err)
		}
		newest, err := r.RunOf(t.Context(), "one")
		if err != nil || newest.Undoes != run.Number || newest.Files != 1 {
			t.Errorf("%d: the newest run is %+v, %v", i, newest, err)
		}
		if _, isUnfinished := r.Unfinished(); isUnfinished {
			t.Errorf("%d: it is not finished", i)
		}
	}
}

// The digest of a plan is that of what it does.
func TestDigest(t *testing.T) {
	r, project := open(t)
	files{"a": "1", "b": "1"}.write(t, project)
	run := Run{Before: take(t, r)}
	files{"a": "2", "b": "x:1"}.write(t, project)
	run.After = take(t, r)
	digest := func() string {
		t.Helper()
		p, err := r.Plan(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		return p.Digest()
	}
	seen := []string{digest()}
	if digest() != seen[0] {
		t.Error("the same plan has another digest")
	}
	for _, now := range []files{{"a": "3"}, {"a": "1"}, {"a": "2", "b": "2"}} {
		now.write(t, project)
		seen = append(seen, digest())
	}
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 4 {
		t.Error("other plans have the same digest")
	}
}

func TestPrune(t *testing.T) {
	r, project := open(t)
	var ids []ID
	for i := range 6 {
		files{"a": fmt.Sprint(i), "b": randomText(i)}.write(t, project)
		ids = append(ids, take(t, r))
	}
	day := 24 * time.Hour
	for i := range 5 {
		at := time.Now().Add(-time.Duration(50-10*i) * day)
		if _, err := r.Note(t.Context(), Run{Time: at, Ended: at, Before: ids[i], After: ids[i+1]}); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(r.ref(ids[i]), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		olderThan time.Duration
		maxSize   int64
		runs      int
	}{{60 * day, 1 << 30, 5}, {25 * day, 1 << 30, 2}, {25 * day, 0, 0}} {
		if err := r.prune(t.Context(), step.olderThan, step.maxSize); err != nil {
			t.Fatal(err)
		}
		runs, err := r.Runs(t.Context())
		if err != nil || len(runs) != step.runs {
			t.Errorf("%+v: %d runs, %v", step, len(runs), err)
		}
		for _, run := range runs {
			if text, _, err := r.Diff(t.Context(), run.Before, run.After, "b"); err != nil || text == "" {
				t.Errorf("%+v: %v", step, err)
			}
		}
	}
	if _, err := r.changes(t.Context(), ids[0], ids[1]); err == nil {
		t.Error("snapshots stay")
	}
	if again := take(t, r); again != ids[5] {
		t.Error("the newest is gone")
	}
	if size, _, err := r.size(); err != nil || size > 100<<10 {
		t.Errorf("%d bytes, %v", size, err)
	}
	files{"a": "more"}.write(t, project)
	takeBack(t, r, ids[5], take(t, r))
}

// randomText is one that does not become smaller.
func randomText(seed int) string {
	var text strings.Builder
	for i := range 1000 {
		text.WriteString(blobOf(fmt.Sprint(seed, i)) + "\n")
	}
	return text.String()
}

// A reference that nod was killed over keeps nothing from being packed, and its snapshot stays.
func TestPruneAfterAKill(t *testing.T) {
	r, project := open(t)
	files{"a": "1"}.write(t, project)
	before := take(t, r)
	files{"a": "2"}.write(t, project)
	after := take(t, r)
	if _, err := r.Note(t.Context(), Run{Time: time.Now(), Before: before, After: after}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(r.ref(before), 0); err != nil {
		t.Fatal(err)
	}
	if err := r.prune(t.Context(), time.Hour, 1<<30); err != nil {
		t.Fatal(err)
	}
	if err := r.compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	takeBack(t, r, before, after)
	equal(t, "taken back", read(t, project), files{"a": "1"})
}

// Contents that a power failure emptied are written again, and the other snapshots are packed.
func TestPruneAfterAPowerFailure(t *testing.T) {
	r, project := open(t)
	files{"a": "1"}.write(t, project)
	before := take(t, r)
	files{"b": "1", "c": "2"}.write(t, project)
	after := take(t, r)
	if _, err := r.Note(t.Context(), Run{Time: time.Now(), Before: before, After: after}); err != nil {
		t.Fatal(err)
	}
	lost := blobOf("2")
	object := r.path("objects", lost[:2], lost[2:])
	if err := errors.Join(os.Chmod(object, 0o600), os.Truncate(object, 0)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.prune(t.Context(), time.Hour, 1<<30), r.compact(t.Context())); err != nil {
		t.Fatal(err)
	}
	if !r.has(before) || r.has(after) {
		t.Error("a snapshot without the content stays, or one with its contents goes")
	}
	if again := take(t, r); again != after {
		t.Errorf("%s, then %s", after, again)
	}
	takeBack(t, r, before, after)
	equal(t, "taken back", read(t, project), files{"a": "1"})
}

// A pack that git was killed over goes, and takes no room from the runs.
func TestPruneAfterAKilledGit(t *testing.T) {
	r, project := open(t)
	before := take(t, r)
	files{"a": "1"}.write(t, project)
	if _, err := r.Note(t.Context(), Run{Time: time.Now(), Before: before, After: take(t, r)}); err != nil {
		t.Fatal(err)
	}
	files{"objects/pack/tmp_pack_x": strings.Repeat("x", 1<<20)}.write(t, r.folder)
	if err := r.prune(t.Context(), time.Hour, 1<<20); err != nil {
		t.Fatal(err)
	}
	if runs, err := r.Runs(t.Context()); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// A project that is gone has snapshots for a while.
func TestPruneAll(t *testing.T) {
	r, project := open(t)
	files{"a": "1"}.write(t, project)
	id := take(t, r)
	folder := filepath.Dir(r.folder)
	prune := func() {
		t.Helper()
		if err := PruneAll(t.Context(), folder, time.Hour, 1<<30); err != nil {
			t.Fatal(err)
		}
	}
	prune()
	if err := os.RemoveAll(project); err != nil {
		t.Fatal(err)
	}
	prune()
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(r.ref(id), old, old); err != nil {
		t.Fatal("gone too early:", err)
	}
	prune()
	if _, err := os.Stat(r.folder); err == nil {
		t.Error("it stays")
	}
	if err := PruneAll(t.Context(), folder+"/none", 0, 0); err != nil {
		t.Error(err)
	}
}

// A project that nobody can take a snapshot of any more keeps its runs, and others can be taken back.
func TestNoEnd(t *testing.T) {
	r, project := open(t)
	files{"a": "1"}.write(t, project)
	before := take(t, r)
	files{"a": "2"}.write(t, project)
	after := take(t, r)
	for _, run := range []Run{
		{Time: time.Now(), Before: before, After: after},
		{Time: time.Now(), Before: after, Command: strings.Repeat("ä", maxCommand)},
	} {
		if _, err := r.Note(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	files{".gitignore": ""}.write(t, project)
	if err := os.Truncate(filepath.Join(project, ".gitignore"), 64<<30); err != nil {
		t.Skip(err)
	}
	runs, err := r.Runs(t.Context())
	if err != nil || len(runs) != 2 || runs[0].Problem == "" || runs[1].Problem != "" {
		t.Fatalf("%+v, %v", runs, err)
	}
	if p, err := r.Plan(t.Context(), runs[1]); err != nil || len(p.Changes) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := r.Plan(t.Context(), runs[0]); err == nil {
		t.Error("a plan of nobody knows what")
	}
}

// Files with git's rules that are as large as a disk do not take all memory.
func TestLargeRules(t *testing.T) {
	for _, name := range []string{".gitignore", ".gitattributes", ".gitmodules"} {
		r, project := open(t)
		files{"a": "1", name: ""}.write(t, project)
		if err := os.Truncate(filepath.Join(project, name), 64<<30); err != nil {
			t.Skip(err)
		}
		if _, err := r.Take(t.Context()); !errors.Is(err, errTooLarge) && !strings.Contains(fmt.Sprint(err), "memory") {
			t.Error(err)
		}
	}
}

// What changes between the look and the deed is left alone, and no link leads a take-back elsewhere.
func TestChangedMeanwhile(t *testing.T) {
	before := files{"d/changed": "1", "d/removed": "1", "e/changed": "1", "e/removed": "1", "f/changed": "1"}
	run := files{"d/changed": "2", "d/removed": "!", "d/added": "2", "e/changed": "2", "e/removed": "!", "e/added": "2"}
	run["f/changed"] = "2"
	for name, test := range map[string]struct {
		meanwhile files
		left      string
	}{
		"nothing": {files{}, ""},
		"other contents": {
			files{"d/changed": "3", "d/removed": "3", "d/added": "3"}, "d/added d/changed d/removed",
		},
		"gone": {files{"d": "!"}, "d/added d/changed"},
		"a link": {
			files{"d/changed": "->/etc/passwd", "d/added": "->../f/changed"}, "d/added d/changed",
		},
		"a folder": {
			files{"d/changed": "!", "d/changed/x": "1", "d/removed/x": "1"}, "d/changed d/removed",
		},
		"its folder is a link within": {files{"d": "->e"}, "d/added d/changed d/removed"},
		"its folder is a link out":    {files{"d": "->../outside"}, "d/added d/changed d/removed"},
	} {
		t.Run(name, func(t *testing.T) {
			r, project := open(t)
			outside := files{"outside/changed": "2", "outside/added": "2"}
			outside.write(t, filepath.Dir(project))
			before.write(t, project)
			was := take(t, r)
			run.write(t, project)
			p, err := r.Plan(t.Context(), Run{Number: 1, Before: was, After: take(t, r)})
			if err != nil || p.Conflicts != nil {
				t.Fatalf("%v, %v", p, err)
			}
			test.meanwhile.write(t, project)
			left, err := p.Apply(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for _, c := range left {
				paths = append(paths, c.Path)
			}
			slices.Sort(paths)
			if got := strings.Join(paths, " "); got != test.left {
				t.Errorf("left alone: %q, want %q", left, test.left)
			}
			now := read(t, project)
			for name, text := range test.meanwhile {
				if text != "!" && now[name] != text {
					t.Errorf("%s is %q", name, now[name])
				}
			}
			if now["e/changed"] != "1" || now["f/changed"] != "1" || now["e/added"] != "" {
				t.Errorf("others: %q", now)
			}
			equal(t, "outside", read(t, filepath.Dir(project)+"/outside"), files{"changed": "2", "added": "2"})
		})
	}
}
