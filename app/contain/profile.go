package contain

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ownfile"
	"nod/policy"
	"nod/policy/shell"
	"nod/sandbox"
	"nod/sandbox/outside"
)

//go:embed home.txt
var homeText string

// profile returns the sandbox profile of a command: what it may see and change.
func (r *Runs) profile(ctx context.Context, w waiting, q api.RunRequest) (sandbox.Profile, error) {
	in := w.Confinement
	p := sandbox.Profile{
		Project: in.Project, Write: in.Write, Near: in.Near, Engine: *r.engine.Load(),
		Private: filepath.Join(r.cfg.Cache, digest(in.Project), digest(w.Session)),
	}
	repository := ""
	if in.Git && in.Write {
		repository, p.Keep, p.Absent = openRepository(in.Project)
	}
	isGuarded, err := r.isGuarded(in.Project, repository)
	if err != nil {
		return p, err
	}
	found, err := sandbox.Survey(in.Project, r.isSecret, isGuarded)
	if err != nil {
		return p, err
	}
	if repository != "" && wouldCommit(ctx, in.Project, found.Hide) {
		p.Keep, p.Absent = []string{repository}, nil
	}
	p.Keep, p.Hide, p.Links = append(p.Keep, found.Keep...), found.Hide, found.Links
	if in.Write {
		p.Absent = append(p.Absent, absentIn(in.Project)...)
	}
	r.running.distrust(&p)
	r.addTools(&p, q)
	for _, name := range []string{".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"} {
		if path := filepath.Join(r.cfg.Home, name); isFile(path) && !policy.IsConfidential(path) {
			p.Show = append(p.Show, path) // so that git knows the author
		}
	}
	if isSnapshot(q.Shell) {
		p.Show = append(p.Show, q.Shell)
	}
	now := time.Now()
	return p, errors.Join(os.MkdirAll(p.Private, 0o700), os.Chtimes(p.Private, now, now))
}

// openRepository returns a project's repository that git may write to, and what must not change in it. The path is
// empty if part of that is elsewhere or missing: then the repository is read-only.
func openRepository(project string) (path string, keep, absent []string) {
	keep, absent, err := sandbox.Repository(project)
	if err != nil {
		return "", nil, nil
	}
	obeyed, err := policy.GitObeys(project)
	if err != nil {
		return "", nil, nil
	}
	path = filepath.Join(project, ".git")
	for _, place := range obeyed {
		isCovered := slices.ContainsFunc(absent, func(by string) bool { return sandbox.IsIn(place, by) }) ||
			filepath.Base(place) == "config.worktree" // Expel finds a new one
		if sandbox.IsIn(place, path) && !isCovered {
			keep = append(keep, place)
		}
	}
	if slices.ContainsFunc(keep, func(place string) bool {
		real, err := filepath.EvalSymlinks(place)
		return err != nil || real != place
	}) {
		return "", nil, nil
	}
	return path, keep, absent
}

// patience is how long git may take to list files: it would wait for ever for a pipe in place of .gitignore.
const patience = 10 * time.Second

// wouldCommit reports whether git could commit a hidden file, which looks empty. It returns true if git fails.
func wouldCommit(ctx context.Context, project string, hidden []string) bool {
	if len(hidden) == 0 {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	git, err := outside.Find("git")
	if err != nil {
		return true
	}
	list := []string{"-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "--literal-pathspecs", "-C", project,
		"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}
	out, err := exec.CommandContext(ctx, git, append(list, hidden...)...).Output()
	return err != nil || len(out) > 0
}

// digest returns a short name for a folder, the same for the same text.
func digest(text string) string { return interact.Digest([]byte(text))[:16] }

// isGuarded returns a function that reports whether a path of the project is guarded: by a rule, or outside repository
// by its name or git's configuration.
func (r *Runs) isGuarded(project, repository string) (test func(path string, isLink bool) bool, err error) {
	isGuarded, err := policy.GuardedIn(project)
	return func(path string, isLink bool) bool {
		isOpen := repository != "" && sandbox.IsIn(path, repository)
		_, change := r.cfg.Forbids(path)
		return change || !isOpen && isGuarded(path, isLink)
	}, err
}

// isSecret reports whether a file must be hidden, by its name or by a rule. Files in .git are hidden only if they
// contain a secret, because git does not work without its configuration; its logs never, because it adds to them.
func (r *Runs) isSecret(path string) bool {
	if read, _ := r.cfg.Forbids(path); read || !policy.IsSecret(path) {
		return read
	}
	_, name, isOfGit := strings.Cut(path, "/.git/")
	if isOfGit && strings.HasPrefix(name+"/", "logs/") {
		return false
	}
	return !isOfGit || !isFile(path) || policy.IsConfidential(path)
}

// configFolders are folders of a project that agents and git use as soon as they exist, so no command may create them.
var configFolders = []string{".git", ".claude", ".codex", ".gemini", ".qwen", ".opencode", ".cursor"}

func absentIn(project string) (absent []string) {
	for _, name := range configFolders {
		if path := filepath.Join(project, name); sandbox.IsAbsent(path) {
			absent = append(absent, path)
		}
	}
	return absent
}

// addTools adds folders of programs and libraries in the home folder, caches, which are never changed, and the secrets
// to hide in them. home.txt lists some of these folders; the command's environment names others.
func (r *Runs) addTools(p *sandbox.Profile, q api.RunRequest) {
	for line := range strings.Lines(homeText) {
		line, _, _ = strings.Cut(line, "#")
		kind, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		path := filepath.Join(r.cfg.Home, filepath.FromSlash(strings.TrimSpace(name)))
		if _, err := os.Stat(path); !ok || err != nil {
			continue
		}
		switch kind {
		case "show":
			p.Show = append(p.Show, path)
		case "warm", "store":
			p.Warm = append(p.Warm, path)
		}
		if kind != "store" {
			p.Hide = append(p.Hide, secretsIn(path)...)
		}
	}
	for _, folder := range q.Folders[:min(len(q.Folders), maxFolders)] {
		folder = filepath.Clean(folder)
		hasPrograms := slices.Contains(q.Path, folder) || holdsTools(r.cfg.Home, folder)
		if hasPrograms && !sandbox.IsIn(folder, p.Project) && r.mayShow(folder, slices.Concat(p.Show, p.Warm)) {
			p.Show, p.Hide = append(p.Show, folder), append(p.Hide, secretsIn(folder)...)
		}
	}
	for _, folder := range q.Path[:min(len(q.Path), maxFolders)] { // which the agent runs outside the sandbox, too
		if folder = filepath.Clean(folder); !p.Write || folder == "." { // the command's own folder stays writable
			continue
		}
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(q.CWD, folder)
		}
		p.KeepPath(folder)
	}
	shown := []string{p.Project}
	for _, path := range slices.Concat(p.Show, p.Warm) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			shown = append(shown, real)
		}
	}
	p.Hide = slices.DeleteFunc(p.Hide, func(path string) bool { // what links lead to is not shown for that
		return !slices.ContainsFunc(shown, func(by string) bool { return sandbox.IsIn(path, by) })
	})
}

const maxFolders = 100

// mayShow reports whether to show a folder that the environment names: one in the home folder that is not shown yet,
// contains no projects and, judging by its name, no secrets.
func (r *Runs) mayShow(folder string, shown []string) bool {
	rel, err := filepath.Rel(r.cfg.Home, folder)
	isBelow := err == nil && filepath.IsAbs(folder) && rel != "." && !strings.HasPrefix(rel, "..")
	real, err := filepath.EvalSymlinks(folder)
	if !isBelow || err != nil || slices.ContainsFunc([]string{folder, real}, func(path string) bool {
		return policy.Leaks(shell.Access{Path: path, Kind: shell.Tree})
	}) {
		return false
	}
	isShown := func(by string) bool { return sandbox.IsIn(folder, by) }
	info, err := os.Stat(real)
	return err == nil && info.IsDir() && !slices.ContainsFunc(shown, isShown) && !holdsProjects(real)
}

// holdsTools reports whether a folder looks like one of programs and libraries: it is hidden in the home folder, has
// the name of such a folder, or contains one. A variable such as NOTES_DIR may name any other.
func holdsTools(home, folder string) bool {
	if rel, err := filepath.Rel(home, folder); err != nil || strings.HasPrefix(rel, ".") {
		return err == nil
	}
	return slices.ContainsFunc(toolFolders, func(name string) bool {
		info, err := os.Stat(filepath.Join(folder, name))
		return filepath.Base(folder) == name || err == nil && info.IsDir()
	})
}

var toolFolders = []string{
	"bin", "sbin", "lib", "lib64", "libexec", "include", "pkg", "platform-tools", "site-packages",
}

// holdsProjects reports whether a folder is a repository or directly contains one.
func holdsProjects(folder string) bool {
	found, err := ownfile.Glob(folder, "*/.git")
	_, notOne := os.Lstat(filepath.Join(folder, ".git"))
	return err != nil || !ownfile.IsMissing(notOne) || len(found) > 0
}

// secretsIn returns the secrets in a folder of tools and its direct subfolders, with links followed. It looks no
// deeper, since these folders can be large. If the system keeps it from looking, the folder itself counts as one.
func secretsIn(folder string) (found []string) {
	for _, pattern := range []string{"*", "*/*"} {
		paths, err := ownfile.Glob(folder, pattern)
		if err != nil {
			paths = []string{folder}
		}
		for _, path := range paths {
			if err == nil && !policy.IsSecret(path) {
				continue
			}
			if real, err := filepath.EvalSymlinks(path); !ownfile.IsMissing(err) {
				found = append(found, cmp.Or(real, path))
			}
		}
	}
	return found
}

// isSnapshot reports whether a file is Claude Code's snapshot of the functions of the user's shell.
func isSnapshot(path string) bool {
	name := filepath.Base(path)
	folder := filepath.Base(filepath.Dir(path))
	return filepath.IsAbs(path) && filepath.Clean(path) == path && folder == "shell-snapshots" &&
		strings.HasPrefix(name, "snapshot-") && strings.HasSuffix(name, ".sh") && isFile(path)
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
