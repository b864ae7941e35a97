//go:build unix

package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func needGit(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	return program
}

// sandbox is a home folder with a repository in it.
type sandbox struct {
	t         testing.TB
	home, top string
}

func newSandbox(t testing.TB) *sandbox {
	needGit(t)
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	for _, name := range os.Environ() {
		if name, _, _ := strings.Cut(name, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	s := &sandbox{t, home, home + "/project"}
	s.write(".gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n"+
		"[protocol \"file\"]\n\tallow = always\n")
	s.repository("project")
	return s
}

func (s *sandbox) path(name string) string { return filepath.Join(s.home, name) }

func (s *sandbox) write(name, text string) {
	s.t.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// script writes a program that leaves a mark when it runs.
func (s *sandbox) script(name string) string {
	s.write(name, "#!/bin/sh\necho \"$0\" >>'"+s.path("ran")+"'\n")
	if err := os.Chmod(s.path(name), 0o700); err != nil {
		s.t.Fatal(err)
	}
	return s.path(name)
}

func (s *sandbox) git(folder string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.path(folder)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// repository makes one with two commits.
func (s *sandbox) repository(name string) {
	s.t.Helper()
	s.write(name+"/file.txt", "one\n")
	s.write(name+"/.gitattributes", "*.txt diff=evil filter=evil merge=evil\n")
	s.git(name, "init", "-q")
	s.git(name, "add", ".")
	s.git(name, "commit", "-qm", "one")
	s.write(name+"/file.txt", "two\n")
	s.git(name, "commit", "-qam", "two")
}

func (s *sandbox) inspect(folder string) (bool, string) {
	return Inspect(s.path(folder), s.home, false)
}

const inConfig = " in .git/config names a program that git runs."

// TestKeys writes keys into the repository's own configuration.
func TestKeys(t *testing.T) {
	tests := []struct{ config, want string }{
		{"[core]\n\tautocrlf = true\n\tsshCommand = ssh -i x\n\teditor = vi\n", ""},
		{"[remote \"o\"]\n\turl = u\n\tfetch = +a:b\n\tgh-resolved = base\n\tuploadpack = x\n" +
			"[branch \"m\"]\n\tremote = o\n", ""},
		{"[alias]\n\tst = status\n\tx = !rm\n[credential]\n\thelper = store\n[merge \"x\"]\n\tdriver = y\n", ""},
		{"[difftool \"x\"]\n\tcmd = y\n[mergetool \"x\"]\n\tcmd = y\n[lfs]\n\trepositoryformatversion = 0\n", ""},
		{"[gitflow \"path\"]\n\thooks = x\n[vscode]\n\tx = y\n[svn-remote \"a\"]\n\turl = b\n", ""},
		{"[trailer \"x\"]\n\tcommand = y\n[color]\n\tpager = true\n[column]\n\tui = auto\n", ""},
		{"[core]\n\tfsmonitor = ./evil\n", "The key core.fsmonitor" + inConfig},
		{"[core]\n\tfsmonitor = true\n", "The key core.fsmonitor" + inConfig},
		{"[core]\n\tfsmonitor\n", "The key core.fsmonitor" + inConfig},
		{"[CORE]FSMonitor=x", "The key core.fsmonitor" + inConfig},
		{"[core]\n\tfsmonitor = false\n[core]\n\tfsmonitor = x\n", "The key core.fsmonitor" + inConfig},
		{"[core]\n\tfsmonitor = Off\n[log]\n\tshowSignature = no\n", ""},
		{"[core]\n\talternateRefsCommand = x\n", "The key core.alternaterefscommand" + inConfig},
		{"[core]\n\tuseBuiltinFSMonitor = true\n", "is not known to be harmless."},
		{"[core]\n\tvirtualFilesystem = x\n", "is not known to be harmless."},
		{"[diff]\n\texternal = x\n", "The key diff.external" + inConfig},
		{"[diff \"eXe\"]\n\tcommand = x\n", "The key diff.eXe.command" + inConfig},
		{"[diff \"a.b\"]\n\ttextconv = x\n", "The key diff.a.b.textconv" + inConfig},
		{"[diff.Old]\n\ttextconv = x\n", "The key diff.old.textconv" + inConfig},
		{"[diff \"\"]\n\ttextconv = x\n", "The key diff..textconv" + inConfig},
		{"[diff \"x\"]\n\tnewthing = x\n", "is not known to be harmless."},
		{"[diff \"x\"]\n\txfuncname = x\n\tcachetextconv = true\n", ""},
		{"[diff]\n\tsubmodule = diff\n", "makes git run in other repositories."},
		{"[diff]\n\tsubmodule = log\n[status]\n\tsubmoduleSummary = true\n", ""},
		{"[filter \"x\"]\n\tclean = x\n", "The key filter.x.clean" + inConfig},
		{"[filter \"x\"]\n\tsmudge = x\n", "The key filter.x.smudge" + inConfig},
		{"[filter \"x\"]\n\tprocess = x\n", "The key filter.x.process" + inConfig},
		{"[filter \"x\"]\n\tprocess =\n\trequired = true\n", ""},
		{"[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n" +
			"\tprocess = git-lfs filter-process\n\trequired = true\n", ""},
		{"[filter \"lfs\"]\n\tclean = \"git-lfs clean -- %f; evil\"\n", "The key filter.lfs.clean" + inConfig},
		{"[filter \"LFS\"]\n\tclean = git-lfs clean -- %f\n", "The key filter.LFS.clean" + inConfig},
		{"[lfs \"extension.x\"]\n\tclean = evil\n", "The key lfs.extension.x.clean" + inConfig},
		{"[lfs]\n\tstandaloneTransferAgent = evil\n", "is not known to be harmless."},
		{"[log]\n\tshowSignature = true\n", "checks signatures."},
		{"[format]\n\tpretty = %h %GK\n", "checks signatures."},
		{"[format]\n\tpretty = %h %s\n", ""},
		{"[pretty]\n\tmine = format:%+GS\n", "checks signatures."},
		{"[branch]\n\tsort = -signature:key\n", "checks signatures."},
		{"[tag]\n\tsort = -creatordate\n", ""},
		{"[log]\n\tdiffMerges = remerge\n", "merge drivers."},
		{"[gpg]\n\tprogram = x\n", "The key gpg.program" + inConfig},
		{"[gpg \"ssh\"]\n\tallowedSignersFile = x\n", ""},
		{"[extensions]\n\tpartialClone = origin\n", "fetch what is missing."},
		{"[remote \"o\"]\n\tpromisor = true\n", "fetch what is missing."},
		{"[remote \"o\"]\n\tpartialclonefilter = blob:none\n", "fetch what is missing."},
		{"[extensions]\n\tnewThing = x\n", "is not known to be harmless."},
		{"[trace2]\n\teventTarget = /tmp/x\n", "is not known to be harmless."},
		{"[hook \"x\"]\n\tcommand = y\n\tevent = pre-commit\n", "The key hook.x.command" + inConfig},
		{"[core]\n\tpager = evil\n", "The key core.pager" + inConfig},
		{"[core]\n\tpager = cat\n[pager]\n\tlog = false\n\tdiff\n", ""},
		{"[pager]\n\tlog = evil\n", "The key pager.log" + inConfig},
		{"[alias]\n\twhatchanged = !evil\n", "The key alias.whatchanged" + inConfig},
		{"[man \"x\"]\n\tcmd = y\n", "The key man.x.cmd" + inConfig},
		{"[newthing \"x\"]\n\tcommand = y\n", "is not known to be harmless."},
		{"[core]\n\tworktree = /\n", "makes git work on /."},
		{"[core]\n\tworktree = ..\n", ""},
		{"[core]\n\texcludesFile = /etc/passwd\n", "leads out of the repository."},
		{"[core]\n\texcludesFile = .env\n", "leads out of the repository."},
		{"[blame]\n\tignoreRevsFile = ../.netrc\n", "leads out of the repository."},
		{"[blame]\n\tignoreRevsFile = .git-blame-ignore-revs\n[core]\n\texcludesFile = /dev/null\n", ""},
		{"[submodule \"x\"]\n\tgitdir = /tmp\n", "makes git run in other repositories."},
		{"[core]\n\thooksPath = .husky/_\n", ""},
		{"[core]\n\thooksPath = ~root/x\n", "names a file that nobody can tell."},
		{"[core\n", "Line "},
		{"[core]\n\tx = \"y\n", "Line "},
		{"x = y", "Line "},
		{"[a]\nx = y\x00\n", "Line "},
		{"[diff \"\x1b[2J\"]\n\ttextconv = x\n", `The key "diff.\x1b[2J.textconv"` + inConfig},
	}
	s := newSandbox(t)
	plain, err := os.ReadFile(s.top + "/.git/config")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		config := append(slices.Clone(plain), test.config...)
		if strings.HasPrefix(test.config, "x") {
			config = []byte(test.config)
		}
		if err := os.WriteFile(s.top+"/.git/config", config, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, problem := s.inspect("project"); !matches(problem, test.want) {
			t.Errorf("%q: %q, want %q", test.config, problem, test.want)
		}
	}
}

func matches(problem, want string) bool {
	return (want == "") == (problem == "") && strings.Contains(problem, want)
}

// TestFiles puts what matters where git finds it.
func TestFiles(t *testing.T) {
	const evil = "[core]\n\tfsmonitor = ./evil\n"
	tests := []struct {
		name   string
		make   func(s *sandbox)
		folder string
		want   string
	}{
		{"nothing special", func(s *sandbox) {}, "project", ""},
		{"a folder below", func(s *sandbox) { s.write("project/a/b/x", "") }, "project/a/b", ""},
		{"the user's own", func(s *sandbox) { s.write(".gitconfig", "[diff]\n\texternal = difft\n") }, "project",
			"The key diff.external in ~/.gitconfig names"},
		{"the user's own, XDG", func(s *sandbox) { s.write(".config/git/config", evil) }, "project",
			"in ~/.config/git/config"},
		{"their pager, trace and unknown keys", func(s *sandbox) {
			s.write(".gitconfig", "[core]\n\tpager = delta\n\tnew = x\n")
			s.write(".gitconfig", "[trace2]\n\teventTarget = /tmp/x\n[hook \"x\"]\n\tcommand = y\n")
		}, "project", ""},
		{"their hook while reading", func(s *sandbox) {
			s.write(".gitconfig", "[hook \"x\"]\n\tevent = post-index-change\n\tcommand = y\n")
		}, "project", "hook.x.event in ~/.gitconfig"},
		{"an include", func(s *sandbox) {
			s.write("project/.git/config", "[include]\n\tpath = ../more\n")
			s.write("project/more", "[include]\n\tpath = ~/third\n")
			s.write("third", evil)
		}, "project", "in ~/third"},
		{"an include on a condition", func(s *sandbox) {
			s.write(".gitconfig", "[includeIf \"onbranch:other\"]\n\tpath = work\n")
			s.write("work", "[diff \"x\"]\n\ttextconv = y\n")
		}, "project", "diff.x.textconv in ~/work"},
		{"a missing include", func(s *sandbox) { s.write(".gitconfig", "[include]\n\tpath = none\n") }, "project", ""},
		{"an include of a link's neighbour", func(s *sandbox) {
			s.write("other/deep/x", "")
			s.write("other/conf", evil)
			s.link("other/deep", "link")
			s.write(".gitconfig", "[include]\n\tpath = link/../conf\n")
		}, "project", "core.fsmonitor"},
		{"an include of the repository's by the user", func(s *sandbox) {
			s.write(".gitconfig", "[include]\n\tpath = project/conf\n")
			s.write("project/conf", "[core]\n\tpager = evil\n")
		}, "project", "core.pager in conf"},
		{"a loop", func(s *sandbox) { s.write("project/.git/config", "[include]\n\tpath = config\n") }, "project", ""},
		{"a chain", func(s *sandbox) {
			s.write("project/.git/config", "[include]\n\tpath = i0\n")
			for i := range 12 {
				s.write(fmt.Sprintf("project/.git/i%d", i), fmt.Sprintf("[include]\n\tpath = i%d\n", i+1))
			}
		}, "project", "too many includes"},
		{"many includes", func(s *sandbox) {
			for i := range maxFiles {
				s.write("project/.git/config", fmt.Sprintf("[include]\n\tpath = i%d\n", i))
				s.write(fmt.Sprintf("project/.git/i%d", i), "")
			}
		}, "project", "too many includes"},
		{"an include of another user's", func(s *sandbox) {
			s.write("project/.git/config", "[include]\n\tpath = ~other/x\n")
		}, "project", "include.path in .git/config names a file that nobody can tell."},
		{"the work tree's configuration", func(s *sandbox) {
			s.git("project", "config", "extensions.worktreeConfig", "true")
			s.write("project/.git/config.worktree", evil)
		}, "project", "in .git/config.worktree"},
		{"a linked work tree", func(s *sandbox) { s.git("project", "worktree", "add", "-q", "../linked") }, "linked", ""},
		{"a linked work tree's main", func(s *sandbox) {
			s.git("project", "worktree", "add", "-q", "../linked")
			s.write("project/.git/config", evil)
		}, "linked", "in ~/project/.git/config"},
		{"a linked work tree's own", func(s *sandbox) {
			s.git("project", "worktree", "add", "-q", "../linked")
			s.git("project", "config", "extensions.worktreeConfig", "true")
			s.write("project/.git/worktrees/linked/config.worktree", evil)
		}, "linked", "worktrees/linked/config.worktree"},
		{"a .git file", func(s *sandbox) {
			s.repository("evil")
			s.write("evil/.git/config", evil)
			s.write("here/.git", "gitdir: ../evil/.git\n")
		}, "here", "core.fsmonitor"},
		{"a .git file to nowhere", func(s *sandbox) { s.write("project/a/.git", "gitdir: x\n") }, "project/a",
			"does not lead to a repository"},
		{"a .git link", func(s *sandbox) {
			s.repository("evil")
			s.write("evil/.git/config", evil)
			s.write("here/x", "")
			s.link("evil/.git", "here/.git")
		}, "here", "core.fsmonitor"},
		{"an empty .git", func(s *sandbox) {
			s.mkdir("project/a/.git")
			s.write("project/.git/config", evil)
		}, "project/a", "core.fsmonitor"},
		{"a bare repository within", func(s *sandbox) {
			s.git("project", "init", "-q", "--bare", "docs")
			s.write("project/docs/config", evil)
		}, "project/docs/refs", "core.fsmonitor in ~/project/docs/config"},
		{"a bare repository whose parts are elsewhere", func(s *sandbox) {
			s.repository("evil")
			s.write("evil/.git/config", evil)
			s.write("project/docs/HEAD", "ref: refs/heads/main\n")
			s.write("project/docs/commondir", "../../evil/.git\n")
		}, "project/docs", "core.fsmonitor"},
		{"a bare repository beside .git", func(s *sandbox) {
			s.git("project", "init", "-q", "--bare", "../mixed")
			s.write("mixed/config", evil)
			s.git("mixed", "init", "-q", "work")
			s.rename("mixed/work/.git", "mixed/.git")
		}, "mixed", ""},
		{"a bare repository with a work tree", func(s *sandbox) {
			s.git("project", "init", "-q", "--bare", "docs")
			s.write("project/docs/config", "[core]\n\tbare = false\n\tworktree = /\n")
		}, "project/docs", "core.worktree"},
		{"a hook", func(s *sandbox) { s.script("project/.git/hooks/post-index-change") }, "project",
			"The hook .git/hooks/post-index-change is a program that git runs."},
		{"a hook that may not run", func(s *sandbox) { s.write("project/.git/hooks/post-index-change", "") }, "project", ""},
		{"other hooks", func(s *sandbox) { s.script("project/.git/hooks/pre-commit") }, "project", ""},
		{"a hook elsewhere", func(s *sandbox) {
			s.git("project", "config", "core.hooksPath", "tools")
			s.script("project/tools/post-index-change")
		}, "project", "The hook tools/post-index-change"},
		{"the user's hook", func(s *sandbox) {
			s.write(".gitconfig", "[core]\n\thooksPath = ~/hooks\n")
			s.script("hooks/post-index-change")
		}, "project", "The hook ~/hooks/post-index-change"},
		{"a submodule", func(s *sandbox) { s.submodule() }, "project", ""},
		{"in a submodule", func(s *sandbox) { s.submodule() }, "project/sub", ""},
		{"an evil submodule", func(s *sandbox) {
			s.submodule()
			s.write("project/.git/modules/sub/config", evil)
		}, "project", "in .git/modules/sub/config"},
		{"an evil submodule of version 4", func(s *sandbox) {
			s.submodule()
			s.write("project/sub.txt", "x")
			s.git("project", "add", ".")
			s.git("project", "update-index", "--index-version", "4")
			s.write("project/.git/modules/sub/config", evil)
		}, "project", "The file .git/index cannot be read."},
		{"an evil submodule of a split index", func(s *sandbox) {
			s.submodule()
			s.git("project", "update-index", "--split-index")
			s.write("project/.git/modules/sub/config", evil)
		}, "project", "in .git/modules/sub/config"},
		{"an evil repository without .gitmodules", func(s *sandbox) {
			s.repository("project/inner")
			s.git("project", "-c", "advice.addEmbeddedRepo=false", "add", "inner")
			s.write("project/inner/.git/config", evil)
		}, "project", "in inner/.git/config"},
		{"an untracked repository", func(s *sandbox) {
			s.repository("project/inner")
			s.write("project/inner/.git/config", evil)
		}, "project", ""},
		{"a submodule's hook", func(s *sandbox) {
			s.submodule()
			s.script("project/.git/modules/sub/hooks/post-index-change")
		}, "project", "The hook .git/modules/sub/hooks/post-index-change"},
		{"a SHA-256 repository with one", func(s *sandbox) {
			s.git("project", "init", "-q", "--object-format=sha256", "../long")
			s.git("project", "init", "-q", "--object-format=sha256", "../long/inner")
			s.git("long/inner", "commit", "-q", "--allow-empty", "-m", "x")
			s.git("long", "-c", "advice.addEmbeddedRepo=false", "add", "inner")
			s.write("long/inner/.git/config", evil)
		}, "long", "in inner/.git/config"},
		{"a broken index", func(s *sandbox) { s.write("project/.git/index", "x\x00\x00\xe0\x00") }, "project", ""},
		{"no index", func(s *sandbox) {
			os.Remove(s.top + "/.git/index")
			s.write("project/.git/index", "x\x00\x00\xe0\x00")
		}, "project", "The file .git/index cannot be read."},
		{"a pipe for configuration", func(s *sandbox) {
			os.Remove(s.top + "/.git/config")
			if err := syscall.Mkfifo(s.top+"/.git/config", 0o600); err != nil {
				s.t.Fatal(err)
			}
		}, "project", "The file .git/config cannot be read."},
		{"a device for configuration", func(s *sandbox) {
			s.write("project/.git/config", "[include]\n\tpath = /dev/zero\n")
		}, "project", "The file /dev/zero cannot be read."},
		{"a pipe for HEAD", func(s *sandbox) {
			os.Remove(s.top + "/.git/HEAD")
			if err := syscall.Mkfifo(s.top+"/.git/HEAD", 0o600); err != nil {
				s.t.Fatal(err)
			}
		}, "project", "HEAD cannot be read."},
		{"a huge configuration", func(s *sandbox) {
			s.write("project/.git/config", strings.Repeat("#", maxConfig))
		}, "project", "The file .git/config cannot be read."},
		{"a link for configuration", func(s *sandbox) {
			s.write("elsewhere", evil)
			os.Remove(s.top + "/.git/config")
			s.link("elsewhere", "project/.git/config")
		}, "project", "core.fsmonitor"},
		{"a mailmap that is a link", func(s *sandbox) {
			s.write("secret", "x")
			s.link("secret", "project/.git-blame-ignore-revs")
			s.git("project", "config", "blame.ignoreRevsFile", ".git-blame-ignore-revs")
		}, "project", "leads out of the repository"},
		{"no such folder", func(s *sandbox) {}, "none", "nod can't tell"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSandbox(t)
			test.make(s)
			_, problem := s.inspect(test.folder)
			if !matches(problem, test.want) {
				t.Errorf("%q, want %q", problem, test.want)
			}
			if strings.HasPrefix(problem, "The") && (!strings.HasSuffix(problem, ".") || strings.Contains(problem, "//")) {
				t.Errorf("no sentence: %q", problem)
			}
		})
	}
}

func (s *sandbox) link(target, name string) {
	s.t.Helper()
	if err := os.Symlink(s.path(target), s.path(name)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandbox) rename(from, to string) {
	s.t.Helper()
	if err := os.Rename(s.path(from), s.path(to)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandbox) mkdir(name string) {
	s.t.Helper()
	if err := os.MkdirAll(s.path(name), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandbox) submodule() {
	s.t.Helper()
	s.repository("origin")
	s.git("project", "submodule", "--quiet", "add", "../origin", "sub")
	s.git("project", "commit", "-qm", "sub")
}

// TestKnownIndex sees that an index is not read again, but for a change of it.
func TestKnownIndex(t *testing.T) {
	defer func(usual time.Duration) { settling = usual }(settling)
	settling = 0
	s := newSandbox(t)
	index := s.path("project/.git/index")
	look := func(want string, wantKnown bool) {
		t.Helper()
		is, _ := stateOf(index)
		if _, problem := s.inspect("project"); !matches(problem, want) {
			t.Errorf("%q, want %q", problem, want)
		}
		known.Lock()
		defer known.Unlock()
		if _, isKnown := known.links[is]; isKnown != wantKnown {
			t.Errorf("known: %t, want %t", isKnown, wantKnown)
		}
	}
	look("", true)
	s.repository("project/inner")
	s.write("project/inner/.git/config", "[core]\n\tfsmonitor = /x\n")
	look("", true)
	s.git("project", "-c", "advice.addEmbeddedRepo=false", "add", "inner")
	settling = time.Hour // it may change again without a trace
	look("in inner/.git/config", false)
	settling = 0
	look("in inner/.git/config", true)
	look("in inner/.git/config", true)
}

// TestRepository compares what is found with what git says.
func TestRepository(t *testing.T) {
	s := newSandbox(t)
	s.git("project", "worktree", "add", "-q", "../linked")
	s.submodule()
	s.git("project", "init", "-q", "--bare", "bare")
	s.mkdir("linked/a/b")
	s.mkdir("outside")
	for _, folder := range []string{
		"project", "project/sub", "linked", "linked/a/b", "project/bare", "project/bare/refs",
	} {
		repo, problem := find(s.path(folder))
		if problem != "" || !repo.found {
			t.Errorf("%s: %+v, %q", folder, repo, problem)
		}
		dir := strings.TrimSpace(s.git(folder, "rev-parse", "--absolute-git-dir"))
		bare := strings.TrimSpace(s.git(folder, "rev-parse", "--is-bare-repository"))
		if (repo.top == "") != (bare == "true") || repo.dir != dir {
			t.Errorf("%s: %+v, but git says %s, bare: %s", folder, repo, dir, bare)
		}
		if repo.top != "" && repo.top != strings.TrimSpace(s.git(folder, "rev-parse", "--show-toplevel")) {
			t.Errorf("%s: %+v", folder, repo)
		}
	}
	if found, problem := s.inspect("outside"); found || problem != "" {
		t.Errorf("outside: %v, %q", found, problem)
	}
}

// A repository that nod cannot look at is no reason to look for one above: git may see it.
func TestPathsTooLong(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("paths have another limit")
	}
	s := newSandbox(t)
	for _, bytes := range []int{4082, 4083} { // .git/commondir is too long, and .git/objects
		deep := s.top + strings.Repeat("/"+strings.Repeat("d", 99), 50)[:bytes-1-len(s.top)] + "d"
		if err := os.MkdirAll(deep, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Chdir(deep)
		if err := os.CopyFS(".git", os.DirFS(s.top+"/.git")); err != nil {
			t.Fatal(err)
		}
		if p, problem := find(deep); problem == "" {
			t.Errorf("%d bytes: no problem; in %s", bytes, p.top)
		}
	}
}

// Nobody takes what git obeys for nothing because nod has too many files open.
func TestTooManyFilesOpen(t *testing.T) {
	s := newSandbox(t)
	s.git("project", "config", "core.hooksPath", "hooks")
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	fit := 0
	for limit := range uint64(100) { // some of what nod opens may fit
		set := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: was.Max})
		places, err := Obeyed(s.top, s.home)
		if err := errors.Join(set, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)); err != nil {
			t.Fatal(err)
		}
		switch isFound := slices.Contains(places, s.top+"/hooks"); {
		case isFound && err == nil:
			fit++
		case err == nil:
			t.Errorf("with %d files: %s", limit, places)
		}
	}
	if fit == 0 {
		t.Error("it never works")
	}
}

func BenchmarkInspect(b *testing.B) {
	s := newSandbox(b)
	for i := range 1000 {
		s.write(fmt.Sprintf("project/internal/some/folder/file%d.go", i), "x")
	}
	s.git("project", "add", ".")
	for b.Loop() {
		if _, problem := s.inspect("project/internal/some"); problem != "" {
			b.Fatal(problem)
		}
	}
}

// TestReadsEveryFile sees that no file is missed that git itself reads.
func TestReadsEveryFile(t *testing.T) {
	s := newSandbox(t)
	s.git("project", "worktree", "add", "-q", "../linked")
	s.git("project", "config", "extensions.worktreeConfig", "true")
	s.git("linked", "config", "--worktree", "a.b", "c")
	s.git("project", "config", "include.path", "more")
	s.write("project/.git/more", "[include]\n\tpath = \"~/has space\"\n"+
		"[includeIf \"onbranch:linked\"]\n\tpath = ./branch\n")
	s.write("project/.git/branch", "[a]\n\tc = d\n")
	s.write("has space", "[a]\n\tb = e\n")
	s.write(".config/git/config", "[includeIf \"gitdir:~/\"]\n\tpath = ../../third\n")
	s.write("third", "[a]\n\tf = g\n")
	s.mkdir("linked/deep")
	p, problem := find(s.path("linked/deep"))
	in := &inspection{home: s.home, first: p, files: map[source]bool{}, at: here{place: p}}
	in.readPersonal()
	in.look(p)
	if problem += in.problem; problem != "" {
		t.Fatal(problem)
	}
	read := map[string]bool{}
	for file := range in.files {
		read[filepath.Clean(file.path)] = true
	}
	origins := map[string]bool{}
	list := s.git("linked/deep", "config", "--list", "-z", "--includes", "--show-origin")
	for field := range strings.SplitSeq(list, "\x00") {
		if file, ok := strings.CutPrefix(field, "file:"); ok {
			origins[filepath.Clean(file)] = true
			if !read[filepath.Clean(file)] {
				t.Errorf("%s was not read", file)
			}
		}
	}
	if len(origins) < 8 {
		t.Errorf("git read only %v", origins)
	}
}

// Where git prints addresses of remotes, none of them may hold a password or token.
func TestAddresses(t *testing.T) {
	s := newSandbox(t)
	for address, plain := range map[string]bool{
		"https://example.org/x.git":           true,
		"git@example.org:a/x.git":             true,
		"ssh://git@example.org:22/a/x":        true,
		"../other":                            true,
		"https://token@example.org/x":         false,
		"https://user:secret@example.org/x":   false,
		"https://example.org/x?token=secret":  false,
		"ssh://git:secret@example.org/x":      false,
		"ext::curl https://user@example.org/": false,
	} {
		keys := []string{"remote.origin.url", "remote.x.pushurl", "branch.main.remote", "url." + address + ".insteadOf"}
		for _, key := range keys {
			s.git("project", "config", key, address)
			if _, problem := Inspect(s.path("project"), s.home, true); (problem == "") != plain {
				t.Errorf("%s = %s: %q", key, address, problem)
			}
			if _, problem := s.inspect("project"); problem != "" {
				t.Errorf("%s = %s counts where git prints no address: %q", key, address, problem)
			}
			s.git("project", "config", "--unset", key)
		}
	}
	s.write("project/.git/remotes/old", "URL: https://user:secret@example.org/x\n")
	if _, problem := Inspect(s.path("project"), s.home, true); problem == "" {
		t.Error("a remote in a file of its own is not seen")
	}
}
