//go:build linux

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nod/e2e/documents"
	"nod/ipc/endpoint"
)

// packaged is nod from its package, in a root, on a desktop of this machine. The root has nothing of a desktop, so what
// nod needs must be in what its package depends on.
type packaged struct {
	*nod
	root  *root
	files map[string]bool // in the root, once nod is installed
	list  []string        // … those of the package
	hook  string          // the line by which the agent asks
	since time.Time
}

// packages are the folders with the packages to test: of this version, and of one before.
func packages(t *testing.T) (now, before string) {
	t.Helper()
	now, before = os.Getenv("NOD_PACKAGES"), os.Getenv("NOD_PACKAGES_BEFORE")
	switch {
	case now == "" || before == "":
		t.Skip("NOD_PACKAGES and NOD_PACKAGES_BEFORE name no packages: run make test-package")
	case os.Getenv(inNamespace) == "":
		t.Skip("this makes a root of its own, and so needs to be root: sudo make test-package")
	}
	return now, before
}

// only returns the one file of a folder that a pattern names.
func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("%s has %q, want one %s", dir, found, pattern)
	}
	return found[0]
}

// TestPackage installs nod on a Debian that has nothing else, has an agent ask there, upgrades nod while its prompt
// waits, removes it, and installs it again to take it away for good, by the commands that the documents name.
func TestPackage(t *testing.T) {
	now, before := packages(t)
	p := newPackaged(t)
	p.own(claudeSettings, p.claude())
	home := snapshot(t, p.Home())

	p.since = time.Now()
	p.download(only(t, before, "*.deb"))
	p.documented("README.md")
	p.files, p.list = p.root.files(), strings.Fields(p.root.admin("dpkg", "-L", "nod"))
	p.onlyScriptsOfTheProfile()
	p.setUpAgent()
	p.fromMenu()
	c := p.asks("make all")
	p.prompt()
	p.armed()
	p.shot("package")
	p.answers(c)
	t.Logf("from the installation to the first call that was allowed: %v", time.Since(p.since).Round(time.Second/10))

	c = p.asks("make upgrade")
	p.prompt()
	old := p.endpoint()
	p.download(only(t, now, "*.deb"))
	p.documented("docs/install.md")
	p.goesOn(old)
	if now := p.endpoint().Version; now == old.Version {
		t.Errorf("after the upgrade nod is still of version %s", now)
	}
	p.prompt()
	p.shot("package-upgraded")
	p.answers(c)
	c = p.asks("make more")
	p.prompt()
	p.answers(c)

	p.removed()
	old = p.endpoint()
	p.documented("docs/install.md")
	p.goesOn(old)
	c = p.asks("make again")
	p.prompt()
	p.answers(c)

	if out, err := p.in(p.Home(), "nod-desktop", "--autostart=on").CombinedOutput(); err != nil {
		t.Errorf("nod-desktop --autostart=on: %v\n%s", err, out)
	}
	p.documented("docs/uninstall.md")
	p.gone(home)
}

// newPackaged starts a desktop whose user is in a new root.
func newPackaged(t *testing.T) *packaged {
	t.Helper()
	n := startDesktop(t)
	ctx, cancel := context.WithTimeout(t.Context(), packagePatience)
	t.Cleanup(cancel)
	dir := filepath.Dir(n.Home())
	p := &packaged{nod: n, root: newRoot(ctx, t, dir, n.Home())}
	must(t, os.Chmod(dir, 0o711))
	for _, folder := range []string{p.downloads(), filepath.Join(p.Config(), "autostart")} { // as desktops have them
		must(t, os.MkdirAll(folder, 0o755))
	}
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, personID, personID)
	}))
	return p
}

func (p *packaged) downloads() string { return filepath.Join(p.Home(), "Downloads") }

// download puts a package where browsers do, in the place of any other.
func (p *packaged) download(path string) {
	p.t.Helper()
	must(p.t, os.RemoveAll(p.downloads()))
	must(p.t, os.Mkdir(p.downloads(), 0o755))
	text, err := os.ReadFile(path)
	must(p.t, err)
	must(p.t, os.WriteFile(filepath.Join(p.downloads(), filepath.Base(path)), text, 0o644))
}

// in prepares a program of the user in the root.
func (p *packaged) in(dir, name string, args ...string) *exec.Cmd {
	cmd := p.Command(name, args...)
	cmd.Dir = dir
	return p.root.person(cmd)
}

// documented runs the commands that a document has for this test, where the package was downloaded to. Whoever is asked
// says yes. What it has for other packages is not for this Debian.
func (p *packaged) documented(name string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	must(p.t, err)
	blocks := slices.DeleteFunc(documents.Parse(name, text).Blocks, func(b documents.Block) bool {
		return b.Runner() != documents.Package || otherPackages.MatchString(b.Text)
	})
	if len(blocks) == 0 {
		p.t.Fatalf("%s has no commands for this test: begin a block with ```sh run=package", name)
	}
	for _, b := range blocks {
		cmd := p.in(p.downloads(), "bash", "-ec", b.Text)
		cmd.Stdin = strings.NewReader("y\n")
		began := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			p.t.Fatalf("%s:%d: %s: %v\n%s", name, b.Line, b.Text, err, out)
		}
		p.t.Logf("%s:%d, %v: %s%s", name, b.Line, time.Since(began).Round(time.Second/10), b.Text, told(string(out)))
	}
}

// otherPackages matches commands for the .rpm and for the archive.
var otherPackages = regexp.MustCompile(`\bdnf\b|install\.sh`)

// told are the lines of a package manager that are worth keeping.
func told(out string) string {
	var lines []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "Need to get") || strings.HasPrefix(line, "After this") ||
			strings.Contains(line, " newly installed") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// setUpAgent has the user, who uses Claude Code, have it ask nod.
func (p *packaged) setUpAgent() {
	p.t.Helper()
	p.own(settings, p.configPath())
	out, err := p.in(p.Home(), "nod", "agents", "install", "claude-code", "--yes").CombinedOutput()
	if err != nil {
		p.t.Fatalf("nod agents install: %v\n%s", err, out)
	}
	text, err := os.ReadFile(p.claude())
	must(p.t, err)
	var written struct {
		Model string
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	must(p.t, json.Unmarshal(text, &written))
	for _, event := range written.Hooks["PermissionRequest"] {
		p.hook = event.Hooks[0].Command
	}
	if want := "/usr/bin/nod hook claude-code"; p.hook != want || written.Model != "opus" {
		p.t.Fatalf("the agent's settings are %s, want %q in them, and what was there", text, want)
	}
}

// claudeSettings are the agent's own.
const claudeSettings = `{"model": "opus"}` + "\n"

// claude is where the agent has its settings.
func (p *packaged) claude() string { return filepath.Join(p.Home(), ".claude", "settings.json") }

// own makes a file of the user's.
func (p *packaged) own(text, path string) {
	p.t.Helper()
	must(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(p.t, os.WriteFile(path, []byte(text), 0o600))
	for _, made := range []string{filepath.Dir(path), path} {
		must(p.t, os.Lchown(made, personID, personID))
	}
}

// fromMenu starts nod as the menu of a desktop does.
func (p *packaged) fromMenu() {
	p.t.Helper()
	p.patient()
	entry := p.root.host("cat", filepath.Join(p.root.path, "usr/share/applications/io.nod.Desktop.desktop"))
	found := regexp.MustCompile(`(?m)^Exec=(.*)$`).FindStringSubmatch(entry)
	if found == nil {
		p.t.Fatalf("the desktop entry starts nothing: %s", entry)
	}
	cmd := p.in(p.Home(), "sh", "-c", "exec "+found[1])
	cmd.Stderr = p.openLog("nod-desktop.stderr")
	_, err := p.Launch(cmd)
	must(p.t, err)
	_, err = p.TrayIcon(p.ctx)
	must(p.t, err)
}

// patient begins the test's patience anew: what a package manager did meanwhile took its time.
func (p *packaged) patient() {
	ctx, cancel := context.WithTimeout(p.root.ctx, patience)
	p.t.Cleanup(cancel)
	p.ctx = ctx
}

// asks has the agent ask, by the line in its settings, whether it may run a command.
func (p *packaged) asks(command string) *call {
	p.t.Helper()
	p.patient()
	payload, err := json.Marshal(map[string]any{
		"hook_event_name": "PermissionRequest", "session_id": "s1", "cwd": p.project(), "permission_mode": "default",
		"tool_name": "Bash", "tool_input": map[string]any{"command": command},
	})
	must(p.t, err)
	cmd := p.in(p.project(), "sh", "-c", p.hook)
	cmd.Stdin = bytes.NewReader(payload)
	c := p.launch(cmd)
	p.t.Cleanup(func() {
		if p.t.Failed() {
			p.t.Logf("the hook that asked about %q: %v, %q, %q", command, cmd.ProcessState, c.out.String(), c.errout.String())
		}
	})
	return c
}

// answers has the user allow what the agent asks.
func (p *packaged) answers(c *call) {
	p.t.Helper()
	p.affirm()
	out, status := c.result()
	if !strings.Contains(out, `"decision":{"behavior":"allow"`) || status != 0 {
		p.t.Fatalf("the agent hears %q, status %d, stderr %q, want that it may", out, status, c.errout.String())
	}
	p.noWindow()
}

func (p *packaged) endpoint() endpoint.Endpoint {
	p.t.Helper()
	text, err := os.ReadFile(endpoint.Path(filepath.Join(p.Runtime(), "nod")))
	must(p.t, err)
	var e endpoint.Endpoint
	must(p.t, json.Unmarshal(text, &e))
	return e
}

// goesOn waits until another program runs in the process of the old one.
func (p *packaged) goesOn(old endpoint.Endpoint) {
	p.t.Helper()
	p.patient()
	must(p.t, p.Screen.Await(p.ctx, "the next nod", func() (bool, error) {
		e := p.endpoint()
		return e.Token != old.Token && e.PID == old.PID, nil
	}))
}

// removed removes the package, and looks at what stays: the user's own. Nod runs on; what the agent is told by its
// hook is nothing, so that it asks by itself.
func (p *packaged) removed() {
	p.t.Helper()
	before := snapshot(p.t, p.Home())
	p.root.admin("apt-get", "remove", "nod")
	p.onlyOthersLeft()
	after := snapshot(p.t, p.Home())
	for _, path := range []string{p.claude(), p.configPath()} {
		if name := strings.TrimPrefix(path, p.Home()); before[name] == "" || before[name] != after[name] {
			p.t.Errorf("~%s is not what it was before nod was removed", name)
		}
	}
	if after["/.local/share/nod/nod.db"] == "" {
		p.t.Error("the history went with the package")
	}
	c := p.asks("make without")
	if out, status := c.result(); out != "" || status != 127 {
		p.t.Errorf("without nod the agent hears %q, status %d, want nothing, and 127: not found", out, status)
	}
	if err := syscall.Kill(p.endpoint().PID, 0); err != nil {
		p.t.Errorf("nod does not run on without its files: %v", err)
	}
}

// onlyOthersLeft fails the test unless the root is as it was after the installation, without what is of the package.
func (p *packaged) onlyOthersLeft() {
	p.t.Helper()
	left := p.root.files()
	for path := range left {
		if !p.files[path] {
			p.t.Errorf("%s came, and stays on the system", path)
		}
	}
	for path := range p.files {
		isMine := slices.Contains(p.list, path)
		switch {
		case isMine && left[path] && (isFile(filepath.Join(p.root.path, path)) || filepath.Base(path) == "nod"):
			p.t.Errorf("%s is left of the package", path)
		case !isMine && !left[path] && filepath.Base(path) != "icon-theme.cache": // which others make
			p.t.Errorf("%s went with the package, and is not of it", path)
		}
	}
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

var systemPath = regexp.MustCompile(`/(etc|usr|var|lib|opt|root|home)\b[^\s"\];]*`)

// onlyScriptsOfTheProfile fails the test if the package runs scripts beside those that load and unload nod's AppArmor
// profile, or if these touch another path of the system.
func (p *packaged) onlyScriptsOfTheProfile() {
	p.t.Helper()
	dir := filepath.Join(p.root.path, "var/lib/dpkg/info")
	found, err := filepath.Glob(filepath.Join(dir, "nod.p*"))
	must(p.t, err)
	if want := []string{filepath.Join(dir, "nod.postinst"), filepath.Join(dir, "nod.prerm")}; !slices.Equal(found, want) {
		p.t.Errorf("the package runs the scripts %q, want %q", found, want)
	}
	for _, script := range found {
		text, err := os.ReadFile(script)
		must(p.t, err)
		for _, path := range systemPath.FindAllString(string(text), -1) {
			if !strings.HasPrefix(path, "/etc/apparmor.d") && path != "/usr/share/nod/apparmor" {
				p.t.Errorf("%s touches %s", filepath.Base(script), path)
			}
		}
	}
}

// gone fails the test unless nod has ended, and everything is as it was before it came, on the system and in the
// user's home.
func (p *packaged) gone(home map[string]string) {
	p.t.Helper()
	p.noWindow()
	if out := p.root.host("sh", "-c", "ps -e -o args= | grep '[n]od-de[s]ktop' || true"); out != "" {
		p.t.Errorf("still there: %s", out)
	}
	p.onlyOthersLeft()
	for path, text := range snapshot(p.t, p.Home()) {
		was, ok := home[path]
		if (!ok || was != text) && !isOthers(path) {
			p.t.Errorf("~%s is left, or changed: %s", path, cmp.Or(text, "empty"))
		}
	}
}

// isOthers reports whether a path in the home of the user is not of nod's doing.
func isOthers(path string) bool {
	for _, prefix := range []string{
		"/Downloads", "/.config/xfce4", "/.cache", "/.sudo_as_admin_successful", "/nod-desktop.stderr",
	} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// distributionsOwn matches what each distribution has in a place of its own, or only one has.
var distributionsOwn = regexp.MustCompile(`^/usr/share/(doc|licenses|lintian|zsh)/`)

// The .rpm has the same files as the .deb, but for those whose place distributions do not agree on.
func TestPackagesHaveTheSameFiles(t *testing.T) {
	now, _ := packages(t)
	list := func(script, path string) []string {
		cmd := exec.Command("sh", "-ec", script, "list", path)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", path, err, said.String())
		}
		var names []string
		for line := range strings.Lines(string(out)) {
			name := strings.TrimPrefix(strings.TrimSpace(line), ".")
			isElsewhere := distributionsOwn.MatchString(name)
			if name != "" && !strings.HasSuffix(name, "/") && !isElsewhere {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		isFolder := func(name string) bool {
			return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+"/") })
		}
		names = slices.DeleteFunc(slices.Clone(names), isFolder)
		if !slices.Contains(names, "/usr/bin/nod") {
			t.Errorf("%s has no /usr/bin/nod", path)
		}
		return names
	}
	deb := list("dpkg-deb --fsys-tarfile \"$1\" | tar -t", only(t, now, "*.deb"))
	rpm := list("rpm2cpio \"$1\" | cpio -t --quiet", only(t, now, "*.rpm"))
	if got, want := fmt.Sprint(rpm), fmt.Sprint(deb); got != want {
		t.Errorf("the .rpm has\n%s\nand the .deb\n%s", got, want)
	}
}
