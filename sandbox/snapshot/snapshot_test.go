package snapshot

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// isSecret is the predicate of the tests.
func isSecret(path string) bool { return filepath.Base(path) == ".env" }

// open makes a project and its repository.
func open(t testing.TB) (*Repository, string) {
	t.Helper()
	folder := t.TempDir()
	project := filepath.Join(folder, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	return reopen(t, project), project
}

func reopen(t testing.TB, project string) *Repository {
	t.Helper()
	r, err := Open(filepath.Join(filepath.Dir(project), "[snapshots"), project, isSecret)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func take(t testing.TB, r *Repository) ID {
	t.Helper()
	id, err := r.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// files are paths with what is there: a text, "x:" and a text for one that can be executed, "->" and a target, "!" for
// nothing.
type files map[string]string

func (f files) write(t testing.TB, project string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		path := filepath.Join(project, name)
		what := f[name]
		err := os.RemoveAll(path)
		if what == "!" {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		err = cmp.Or(err, os.MkdirAll(filepath.Dir(path), 0o755))
		target, isLink := strings.CutPrefix(what, "->")
		text, isProgram := strings.CutPrefix(what, "x:")
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(target, path)
		case isProgram:
			err = os.WriteFile(path, []byte(text), 0o755)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// read are all files of a project but those of git.
func read(t testing.TB, project string) files {
	t.Helper()
	all := files{}
	err := filepath.WalkDir(project, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && entry.Name() == ".git" {
			return cmp.Or(err, fs.SkipDir)
		}
		name, _ := filepath.Rel(project, path)
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			return nil
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[name] = "->" + target
			return err
		case !info.Mode().IsRegular():
			all[name] = info.Mode().String()
			return nil
		}
		text, err := os.ReadFile(path)
		if all[name] = string(text); info.Mode()&0o100 != 0 {
			all[name] = "x:" + all[name]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func equal(t testing.TB, what string, got, want files) {
	t.Helper()
	for name, text := range want {
		if is, ok := got[name]; !ok || is != text {
			t.Errorf("%s: %q is %.80q (%v), want %.80q", what, name, is, ok, text)
		}
	}
	for name, text := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %q is there: %.80q", what, name, text)
		}
	}
}

// takeBack plans and applies.
func takeBack(t testing.TB, r *Repository, before, after ID) (conflicts []Conflict) {
	t.Helper()
	p, err := r.Plan(t.Context(), Run{Number: 7, Before: before, After: after})
	if err != nil {
		t.Fatal(err)
	}
	left, err := p.Apply(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return append(p.Conflicts, left...)
}

// oddNames are names that mean something to git, to C or to a file system.
var oddNames = files{
	"new\nline": "1", "tab\t": "1", `back\slash`: "1", "\xff\xfe": "1", "-rf": "1", ":(top)x": "1", "*": "1", "ä": "1",
}

func TestTakeBack(t *testing.T) {
	for name, test := range map[string]struct {
		before, run, later, want files
		conflicts                string
	}{
		"changed":       {before: files{"a": "1\n"}, run: files{"a": "2\n"}, want: files{"a": "1\n"}},
		"added":         {run: files{"d/e/a": "1\n"}, want: files{}},
		"removed":       {before: files{"d/e/a": "1\n"}, run: files{"d": "!"}, want: files{"d/e/a": "1\n"}},
		"empty":         {before: files{"a": ""}, run: files{"a": "1"}, want: files{"a": ""}},
		"no change":     {before: files{"a": "1\n"}, want: files{"a": "1\n"}},
		"executable":    {before: files{"a": "x:1"}, run: files{"a": "1"}, want: files{"a": "x:1"}},
		"no executable": {before: files{"a": "1"}, run: files{"a": "x:1"}, want: files{"a": "1"}},
		"link":          {before: files{"a": "->b"}, run: files{"a": "->/etc"}, want: files{"a": "->b"}},
		"link to file":  {before: files{"a": "->b"}, run: files{"a": "b"}, want: files{"a": "->b"}},
		"file to link":  {before: files{"a": "b"}, run: files{"a": "->b"}, want: files{"a": "b"}},
		"file to folder": {
			before: files{"a": "1"}, run: files{"a": "!", "a/b/c": "2", "a/d": "3"}, want: files{"a": "1"},
		},
		"folder to file": {
			before: files{"a/b/c": "2", "a/d": "3"}, run: files{"a": "1"}, want: files{"a/b/c": "2", "a/d": "3"},
		},
		"folder to link": {
			before: files{"a/b": "2", "c/b": "other"}, run: files{"a": "->c"}, want: files{"a/b": "2", "c/b": "other"},
		},
		"moved": {
			before: files{"a/b": "1"}, run: files{"a": "!", "c/b": "1"}, want: files{"a/b": "1"},
		},
		"ignored": {
			before: files{".gitignore": "*.o\n", "a.o": "1"}, run: files{"a.o": "2", "b.o": "3", "c": "4"},
			want: files{".gitignore": "*.o\n", "a.o": "2", "b.o": "3"},
		},
		"ignored by the run": {
			before: files{"a": "1"}, run: files{".gitignore": "*\n", "a": "2", "b": "2"},
			want: files{"a": "1", ".gitignore": "*\n", "b": "2"},
		},
		"secret": {
			before: files{".env": "1"}, run: files{".env": "2", "d/.env": "3", "d/a": "4"},
			want: files{".env": "2", "d/.env": "3"},
		},
		"changed since": {
			before: files{"a": "1", "b": "1"}, run: files{"a": "2", "b": "2"}, later: files{"a": "3"},
			want: files{"a": "3", "b": "1"}, conflicts: "a: it has changed since",
		},
		"removed since": {
			before: files{"a": "1"}, run: files{"a": "2"}, later: files{"a": "!"},
			want: files{}, conflicts: "a: it has changed since",
		},
		"made executable since": {
			before: files{"a": "1"}, run: files{"a": "2"}, later: files{"a": "x:2"},
			want: files{"a": "x:2"}, conflicts: "a: it has changed since",
		},
		"taken back by hand": {
			before: files{"a": "1"}, run: files{"a": "2", "b": "2"}, later: files{"a": "1"}, want: files{"a": "1"},
		},
		"made anew since": {
			before: files{"a": "1"}, run: files{"a": "!"}, later: files{"a": "other"},
			want: files{"a": "other"}, conflicts: "a: it has changed since",
		},
		"no longer ignored by the run": {
			before: files{".gitignore": "*.o\n", "a.o": "mine", "d/.gitignore": "x\n/y/\n", "d/x": "mine", "d/y/z": "mine"},
			run:    files{".gitignore": "", "d/.gitignore": "!", "b": "2", "d/y2/z": "2"},
			want:   files{".gitignore": "*.o\n", "a.o": "mine", "d/.gitignore": "x\n/y/\n", "d/x": "mine", "d/y/z": "mine"},
		},
		"no longer excluded by the run": {
			before: files{"a.o": "mine", ".git/info/exclude": "*.o\n"}, run: files{".gitignore": "!*.o\n", "b": "2"},
			want: files{"a.o": "mine"},
		},
		"something ignored in its place": {
			before: files{".gitignore": "*.o\n", "a": "1"}, run: files{"a": "!"}, later: files{"a/x.o": "mine"},
			want: files{".gitignore": "*.o\n", "a/x.o": "mine"}, conflicts: "a: its place is taken",
		},
		"something ignored stays in a folder of the run's": {
			before: files{".gitignore": "*.o\n", "a": "1"}, run: files{"a": "!", "a/b": "2"},
			later: files{"a/x.o": "mine"}, want: files{".gitignore": "*.o\n", "a/x.o": "mine"},
			conflicts: "a: its place is taken",
		},
		"a link is its folder now": {
			before: files{"a/b": "1", "c/b": "mine"}, run: files{"a/b": "2"}, later: files{"a": "->c"},
			want: files{"a": "->c", "c/b": "mine"}, conflicts: "a/b: it has changed since",
		},
		"a link is in the way": {
			before: files{"a/b": "1", "c/d": "mine"}, run: files{"a": "!"}, later: files{"a": "->c"},
			want: files{"a": "->c", "c/d": "mine"}, conflicts: "a/b: its place is taken",
		},
		"names": {
			before: oddNames,
			run: files{
				"new\nline": "2", "tab\t": "!", `back\slash`: "2", "\xff\xfe": "2", "-rf": "2", ":(top)x": "!",
				"*": "2", "ä": "!", "a\u0308": "2",
			},
			want: oddNames,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, project := open(t)
			test.before.write(t, project)
			before := take(t, r)
			test.run.write(t, project)
			after := take(t, r)
			test.later.write(t, project)
			was := read(t, project)
			var found []string
			for _, c := range takeBack(t, r, before, after) {
				found = append(found, c.Path+": "+c.Why)
			}
			if got := strings.Join(found, "\n"); got != test.conflicts {
				t.Errorf("conflicts: %q, want %q", got, test.conflicts)
			}
			equal(t, "taken back", read(t, project), test.want)
			if maps.Equal(was, read(t, project)) {
				return // then there is nothing to take back again
			}
			runs, err := r.Runs(t.Context())
			if err != nil || len(runs) != 1 || runs[0].Command != "nod undo 7" {
				t.Fatalf("runs: %+v, %v", runs, err)
			}
			takeBack(t, r, runs[0].Before, runs[0].After)
			equal(t, "taken back twice", read(t, project), was)
			if _, unfinished := r.Unfinished(); unfinished {
				t.Error("it is unfinished")
			}
		})
	}
}

// Permissions that a snapshot does not have stay those of the file.
func TestPermissions(t *testing.T) {
	r, project := open(t)
	files{"a": "1", "b": "1", "c": "x:1"}.write(t, project)
	chmod := func(name string, mode fs.FileMode) {
		t.Helper()
		if err := os.Chmod(filepath.Join(project, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod("a", 0o600)
	before := take(t, r)
	files{"a": "2", "b": "2", "c": "2"}.write(t, project)
	chmod("a", 0o600)
	chmod("c", 0o640)
	chmod("b", 0o644|fs.ModeSetgid)
	takeBack(t, r, before, take(t, r))
	for name, want := range map[string]fs.FileMode{"a": 0o600, "b": 0o644 | fs.ModeSetgid, "c": 0o750} {
		if info, err := os.Lstat(filepath.Join(project, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

func TestChanges(t *testing.T) {
	r, project := open(t)
	files{"a": "1\n2\n3\n", "b": "1\n", "bin": "\x00\x01", "same": "1"}.write(t, project)
	before := take(t, r)
	files{"a": "1\n4\n3\n5\n", "b": "!", "bin": "\x00\x02", "new": "1\n2\n"}.write(t, project)
	after := take(t, r)
	changes, err := r.changes(t.Context(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%s %s +%d -%d %v", c.Path, c.Kind, c.Added, c.Removed, c.Binary))
	}
	want := []string{
		"a changed +2 -1 false", "b removed +0 -1 false", "bin changed +0 -0 true", "new added +2 -0 false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("changes: %q, want %q", got, want)
	}
	text, cut, err := r.Diff(t.Context(), before, after, "a")
	if _, hunk, _ := strings.Cut(text, "@@\n"); err != nil || cut || hunk != " 1\n-2\n+4\n 3\n+5\n" {
		t.Errorf("%q, %v, %v", text, cut, err)
	}
	files{"a": strings.Repeat("long\n", maxDiff)}.write(t, project)
	text, cut, err = r.Diff(t.Context(), before, take(t, r), "a")
	if err != nil || !cut || len(text) > maxDiff || !strings.HasSuffix(text, "+long\n") {
		t.Errorf("%d bytes, %v, %v", len(text), cut, err)
	}
	for _, id := range []ID{"", "HEAD", "--help", ID(strings.Repeat("g", 64))} {
		if _, err := r.changes(t.Context(), id, after); err == nil {
			t.Errorf("%q is a snapshot", id)
		}
	}
}

// What is as it was has the same snapshot, whatever it was meanwhile.
func TestSame(t *testing.T) {
	r, project := open(t)
	files{"a": "1", "d/b": "1"}.write(t, project)
	one := take(t, r)
	if two := take(t, r); two != one {
		t.Errorf("%s, then %s", one, two)
	}
	files{"a": "2"}.write(t, project)
	if two := take(t, r); two == one {
		t.Error("no change was seen")
	}
	files{"a": "1"}.write(t, project)
	if two := take(t, reopen(t, project)); two != one {
		t.Errorf("%s, then %s", one, two)
	}
}

func TestFind(t *testing.T) {
	_, project := open(t)
	inside := filepath.Join(project, "a", "b")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(filepath.Dir(project), "[snapshots")
	want, err := filepath.EvalSymlinks(project)
	if err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{
		project: want, inside: want, filepath.Dir(project): "", inside + "/c": "",
	} {
		if got := Find(folder, where); got != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
	if _, err := Open(folder, filepath.Dir(project), isSecret); err == nil {
		t.Error("a project with nod's own files in it")
	}
}
