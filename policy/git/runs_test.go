//go:build unix

package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// try runs git and does not mind if it fails.
func (s *sandbox) try(folder string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = s.path(folder)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// reading are sub-commands that only read.
var reading = []string{
	"status", "status --short --branch", "log -p --stat", "log --oneline --graph", "diff", "diff HEAD", "diff --cached",
	"diff HEAD~1 HEAD", "show HEAD", "show HEAD:file.txt", "blame file.txt", "grep one", "describe --always --dirty",
	"branch --list -v", "tag --list", "ls-files", "shortlog -s HEAD", "rev-list --count HEAD", "cat-file -p HEAD",
	"for-each-ref", "stash list", "remote -v", "reflog", "config --get user.name", "whatchanged", "ls-tree HEAD",
	"diff --stat HEAD", "check-ignore -v file.txt", "check-attr -a file.txt", "worktree list", "diff-index HEAD",
	"log -m -p", "show --format=mine HEAD", "rev-parse HEAD", "name-rev HEAD",
	"merge-base HEAD HEAD~1", "submodule status",
}

// stir makes every file look changed, so that git compares contents and writes its index anew.
func (s *sandbox) stir(folder string) {
	s.t.Helper()
	for _, name := range []string{"file.txt", ".gitattributes"} {
		path := s.path(folder + "/" + name)
		data, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := os.Remove(path); err != nil { // a new inode
			s.t.Fatal(err)
		}
		s.write(folder+"/"+name, string(data))
	}
}

// TestGitRunsNothingElse sets every key that Inspect spares to a program that leaves a mark, and runs git.
func TestGitRunsNothingElse(t *testing.T) {
	s := newSandbox(t)
	s.submodule()
	canary := s.script("canary")
	for _, name := range []string{"gpg", "gpgsm", "less", "ssh", "ssh-keygen", "vi", "man", "gzip", "git-lfs"} {
		s.script("bin/" + name)
	}
	t.Setenv("PATH", s.path("bin")+":"+os.Getenv("PATH"))
	for _, key := range []string{
		"core.editor", "core.sshCommand", "core.gitProxy", "core.askPass", "sequence.editor", "credential.helper",
		"alias.x", "alias.status", "alias.log", "merge.evil.driver", "difftool.evil.cmd",
		"mergetool.evil.cmd", "guitool.evil.cmd",
		"remote.origin.uploadpack", "remote.origin.receivepack", "trailer.evil.command", "sendemail.tocmd",
		"interactive.diffFilter", "uploadpack.packObjectsHook", "merge.tool", "diff.tool", "diff.evil.xfuncname",
		"submodule.x.update", "init.templateDir", "fsmonitor.socketDir", "unknown.key", "core.notesRef",
	} {
		s.git("project", "config", key, canary)
	}
	s.git("project", "config", "remote.origin.url", "ext::"+canary)
	s.git("project", "config", "pretty.mine", "%h %s %(trailers)")
	s.git("project", "config", "status.submoduleSummary", "true")
	s.git("project", "config", "alias.status", "!"+canary)
	for _, hook := range []string{
		"pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc",
	} {
		s.script("project/.git/hooks/" + hook)
	}
	if _, problem := s.inspect("project"); problem != "" {
		t.Fatalf("spare what is harmless: %s", problem)
	}
	os.Remove(s.path("ran"))
	s.write("project/file.txt", "three\n")
	s.write("project/sub/file.txt", "three\n")
	for _, command := range reading {
		s.stir("project")
		s.stir("project/sub")
		s.traced("project", strings.Fields(command))
		if ran, err := os.ReadFile(s.path("ran")); err == nil {
			t.Fatalf("git %s ran %s", command, ran)
		}
	}
}

// shellTools are what git's own shell scripts, such as git-submodule, start.
var shellTools = map[string]bool{
	"sh": true, "dash": true, "bash": true, "basename": true, "dirname": true, "sed": true, "uname": true,
	"envsubst": true, "gettext": true,
}

// traced runs git and, where there is strace, looks at each program that started.
func (s *sandbox) traced(folder string, args []string) {
	s.t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		s.try(folder, args...)
		return
	}
	log := s.path("trace")
	flags := []string{"-f", "-qq", "-e", "trace=execve", "-e", "status=successful", "-o", log, "git"}
	cmd := exec.Command(strace, append(flags, args...)...)
	cmd.Dir = s.path(folder)
	if err := cmd.Run(); err != nil && !isExit(err) {
		s.t.Fatal(err)
	}
	data, err := os.ReadFile(log)
	if err != nil || len(data) == 0 {
		s.t.Skip("strace may not trace here")
	}
	for line := range strings.Lines(string(data)) {
		_, rest, _ := strings.Cut(line, `execve("`)
		program, _, _ := strings.Cut(rest, `"`)
		name := filepath.Base(program)
		isOwn := name == "git" || strings.Contains(program, "git-core/git")
		if rest != "" && !isOwn && !shellTools[name] {
			s.t.Errorf("git %s ran %s", strings.Join(args, " "), program)
		}
	}
}

func isExit(err error) bool {
	_, ok := err.(*exec.ExitError)
	return ok
}

// TestWhatIsNamedRuns shows that the marks work, and that the keys which Inspect names do run programs.
func TestWhatIsNamedRuns(t *testing.T) {
	tests := []struct {
		name    string
		make    func(s *sandbox, canary string)
		command string
	}{
		{"core.fsmonitor", set("core.fsmonitor"), "status"},
		{"diff.external", set("diff.external"), "diff"},
		{"diff.evil.command", set("diff.evil.command"), "diff"},
		{"diff.evil.textconv", set("diff.evil.textconv"), "log -p"},
		{"diff.evil.textconv", set("diff.evil.textconv"), "blame file.txt"},
		{"filter.evil.clean", set("filter.evil.clean"), "diff"},
		{"filter.evil.process", set("filter.evil.process"), "diff"},
		{"post-index-change", func(s *sandbox, _ string) {
			s.script("project/.git/hooks/post-index-change")
			s.stir("project")
		}, "status"},
		{"format.pretty", func(s *sandbox, canary string) {
			s.git("project", "config", "gpg.program", canary)
			s.sign("project")
			s.git("project", "config", "--unset", "gpg.program")
			s.write(".gitconfig", "[gpg]\n\tprogram = "+canary+"\n")
			s.git("project", "config", "format.pretty", "%GK")
		}, "log"},
		{"core.fsmonitor", func(s *sandbox, canary string) {
			s.repository("project/inner")
			s.git("project", "-c", "advice.addEmbeddedRepo=false", "add", "inner")
			s.git("project/inner", "config", "core.fsmonitor", canary)
		}, "status"},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.command, func(t *testing.T) {
			s := newSandbox(t)
			test.make(s, s.script("canary"))
			s.write("project/file.txt", "three\n")
			os.Remove(s.path("ran"))
			if _, problem := s.inspect("project"); !strings.Contains(problem, test.name) {
				t.Errorf("the problem is %q", problem)
			}
			out := s.try("project", strings.Fields(test.command)...)
			if _, err := os.Stat(s.path("ran")); err != nil {
				t.Errorf("nothing ran: %s", out)
			}
		})
	}
}

func set(key string) func(*sandbox, string) {
	return func(s *sandbox, canary string) { s.git("project", "config", key, canary) }
}

// sign makes the last commit one with a signature that needs checking.
func (s *sandbox) sign(folder string) {
	s.t.Helper()
	head := s.git(folder, "cat-file", "commit", "HEAD")
	fields, message, _ := strings.Cut(head, "\n\n")
	s.write("signed", fields+"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"+message)
	object := strings.TrimSpace(s.git(folder, "hash-object", "-t", "commit", "-w", s.path("signed")))
	s.git(folder, "update-ref", "HEAD", object)
}
