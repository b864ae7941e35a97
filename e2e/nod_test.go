//go:build linux

// Package e2e tests nod as a user meets it: the built programs, real windows, keys and clicks, on a virtual
// desktop of its own for each test. Every test leaves a screenshot in build/shots.
//
// The tests run where the programs of a desktop are installed, and are skipped elsewhere; with NOD_E2E=1 they
// insist. NOD_BIN names the folder of the programs to test; without it they are built.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/e2e/desktop"
)

// patience is how long anything may take before a test gives up. Nothing takes nearly that long on a
// machine that is not busy.
const patience = 2 * time.Minute

// bin is the folder with the programs.
var bin string

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case agentName:
		os.Exit(beAgent(os.Args[1:]))
	case elicitorName:
		os.Exit(beElicitor())
	case standInName:
		os.Exit(beStandIn())
	case intruderName:
		os.Exit(beIntruder(os.Args[1:]))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if missing := desktop.Missing(); missing != nil {
		if os.Getenv("NOD_E2E") == "" {
			fmt.Println("end-to-end tests skipped: missing", strings.Join(missing, ", "))
			return 0
		}
		fmt.Fprintln(os.Stderr, "end-to-end tests cannot run: missing", strings.Join(missing, ", "))
		return 1
	}
	if os.Getenv("NOD_PACKAGES") != "" && os.Getenv(inNamespace) == "" && os.Geteuid() == 0 {
		fmt.Fprintln(os.Stderr, "packages cannot be tested:", isolate())
		return 1
	}
	if bin = os.Getenv("NOD_BIN"); bin != "" || os.Getenv("NOD_PACKAGES") != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "nod-bin-")
	if err == nil {
		defer os.RemoveAll(dir)
		bin, err = dir, build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build builds the programs into dir, with more flags for the Go tool.
func build(dir string, flags ...string) error {
	for folder, name := range map[string]string{
		"../cmd/nod/front": "nod", "../cmd/nod": "nod-cli", "..": "nod-desktop", "../cmd/nod-dialogs": "nod-dialogs",
	} {
		cmd := exec.Command("go", slices.Concat([]string{"build", "-buildvcs=false", "-tags", "migrated_fynedo,release"},
			flags, []string{"-o", filepath.Join(dir, name), folder})...)
		needsC := "0"
		if name == "nod-dialogs" {
			needsC = "1"
		}
		cmd.Env = append(os.Environ(), "CGO_ENABLED="+needsC)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	return nil
}

// settings is the configuration that most tests start with: a light window whatever the desktop says.
const settings = `
look:
  theme: light
  language: en
`

// slowToArm are settings that give a test three seconds to press the affirmative before it is armed. A busy machine may
// need them.
const slowToArm = settings + "prompt: {arm_after: 3s}\n"

// nod is nod-desktop, running on a desktop of its own.
type nod struct {
	*desktop.Desktop
	t     *testing.T
	ctx   context.Context // ends when the test's patience does
	cmd   *exec.Cmd
	ended <-chan struct{}
	url   string
}

// start starts a desktop and nod-desktop on it, with config as its policy file.
func start(t *testing.T, config string) *nod {
	t.Helper()
	n := startDesktop(t)
	n.writeConfig(config)
	n.startNod()
	return n
}

// startDesktop starts a desktop without nod.
func startDesktop(t *testing.T) *nod { t.Helper(); return startManaged(t, desktop.Openbox) }

// startManaged starts a desktop with a window manager and without nod.
func startManaged(t *testing.T, m desktop.WindowManager) *nod {
	t.Helper()
	if m.Missing() {
		t.Skipf("%s is not installed: run scripts/setup test", m)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	dir, err := os.MkdirTemp("", "nod-") // t.TempDir is too long for the path of a socket
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	d, err := desktop.Start(ctx, dir, m)
	must(t, err)
	n := &nod{Desktop: d, t: t, ctx: ctx}
	must(t, os.MkdirAll(n.project(), 0o700))
	t.Cleanup(func() {
		if t.Failed() {
			n.report()
		}
		d.Close()
	})
	n.awayWithThePointer()
	return n
}

// startNod starts nod-desktop and waits until it says that it is ready and its icon is in the tray.
func (n *nod) startNod() {
	n.t.Helper()
	n.startProgram(n.program("nod-desktop", "--background"))
	_, err := n.TrayIcon(n.ctx)
	must(n.t, err)
}

// startProgram starts nod-desktop and waits until it says that it is ready.
func (n *nod) startProgram(cmd *exec.Cmd) {
	n.t.Helper()
	n.cmd = cmd
	out, err := n.cmd.StdoutPipe()
	must(n.t, err)
	n.cmd.Stderr = n.openLog("nod-desktop.stderr")
	n.ended, err = n.Launch(n.cmd)
	must(n.t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	must(n.t, err)
	url, ready := strings.CutPrefix(strings.TrimSpace(line), "nod ready ")
	if !ready {
		n.t.Fatalf("nod-desktop says %q, want nod ready URL", line)
	}
	n.url = url
}

// program prepares one of nod's programs. Its address is free, whatever runs on the machine.
func (n *nod) program(name string, args ...string) *exec.Cmd {
	return n.inProject(n.Command(filepath.Join(bin, name), args...))
}

func (n *nod) inProject(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env, cmd.Dir = append(cmd.Env, "NOD_IPC_ADDRESS=127.0.0.1:0", "NOD_PROMPT_UNDO=0s"), n.project()
	return cmd
}

// project is the folder that agents work in.
func (n *nod) project() string { return filepath.Join(n.Home(), "src", "shop") }

// configPath is where nod's policy file is.
func (n *nod) configPath() string { return filepath.Join(n.Config(), "nod", "config.yaml") }

// logPath is where nod's log is.
func (n *nod) logPath() string { return filepath.Join(n.Home(), ".local", "state", "nod", "nod.log") }

// writeConfig replaces nod's policy file in one step, as editors do.
func (n *nod) writeConfig(text string) {
	n.t.Helper()
	must(n.t, os.MkdirAll(filepath.Dir(n.configPath()), 0o700))
	draft := n.configPath() + ".draft"
	must(n.t, os.WriteFile(draft, []byte(text), 0o600))
	must(n.t, os.Rename(draft, n.configPath()))
}

// call is a nod command under way.
type call struct {
	t           *testing.T
	ctx         context.Context
	cmd         *exec.Cmd
	ended       <-chan struct{}
	out, errout bytes.Buffer
}

// send has the agent run a nod command.
func (n *nod) send(args ...string) *call {
	n.t.Helper()
	return n.launch(n.agent(append([]string{filepath.Join(bin, "nod")}, args...)...))
}

// launch starts a nod command.
func (n *nod) launch(cmd *exec.Cmd) *call {
	n.t.Helper()
	c := &call{t: n.t, ctx: n.ctx, cmd: cmd}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.errout
	var err error
	c.ended, err = n.Launch(c.cmd)
	must(n.t, err)
	return c
}

// result waits for the command's end, and returns what it printed and its exit status.
func (c *call) result() (out string, status int) {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-c.ctx.Done():
		c.t.Fatalf("%q did not end", c.cmd.Args[1:])
	}
	return c.out.String(), c.cmd.ProcessState.ExitCode()
}

// wants fails the test unless the command ends with that status and prints that as the first line.
func (c *call) wants(line string, status int) {
	c.t.Helper()
	out, got := c.result()
	first, _, _ := strings.Cut(out, "\n")
	if first != line || got != status {
		c.t.Errorf("%q:\n got %q, status %d\nwant %q, status %d\nstderr: %s",
			c.cmd.Args[1:], first, got, line, status, c.errout.String())
	}
}

// pending fails the test if the command has ended.
func (c *call) pending() {
	c.t.Helper()
	select {
	case <-c.ended:
		c.t.Fatalf("%q ended: %q, status %d, stderr %q",
			c.cmd.Args[1:], c.out.String(), c.cmd.ProcessState.ExitCode(), c.errout.String())
	default:
	}
}

// Titles of nod's windows.
const (
	promptTitle   = "nod"
	settingsTitle = "nod settings"
)

// prompt waits until the prompt window is on screen, drawn, and has the keyboard.
func (n *nod) prompt() desktop.Window { n.t.Helper(); return n.window(promptTitle) }

// window waits until a window is on screen, drawn, and has the keyboard.
func (n *nod) window(title string) desktop.Window {
	n.t.Helper()
	var found desktop.Window
	must(n.t, n.Screen.Await(n.ctx, fmt.Sprintf("a window %q with the keyboard", title), func() (bool, error) {
		all, err := n.Screen.Windows()
		i := slices.IndexFunc(all, func(w desktop.Window) bool { return w.Title == title && w.Active })
		if err != nil || i < 0 {
			return false, err
		}
		found = all[i]
		return n.drawn(found.Area)
	}))
	return found
}

// drawn reports whether nod has drawn a window, and so is done with showing it: until then it has one colour, that of
// its frame, or what was on the screen before.
func (n *nod) drawn(area image.Rectangle) (bool, error) {
	colours := map[color.RGBA]int{}
	_, _, err := n.Screen.Matching(area, func(c color.RGBA) bool { colours[c]++; return false })
	return len(colours) > 2 && colours[desktop.Background] < area.Dx()*area.Dy()/10, err
}

// noWindow waits until nod has no window on screen.
func (n *nod) noWindow() {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, "nod's windows to close", func() (bool, error) {
		left, err := n.left()
		return len(left) == 0, err
	}))
}

// left lists nod's windows.
func (n *nod) left() ([]desktop.Window, error) {
	all, err := n.Screen.Windows()
	return slices.DeleteFunc(all, func(w desktop.Window) bool {
		return !w.Visible && n.Manager == desktop.I3 // which goes on listing what is withdrawn out of sight
	}), err
}

// neverAWindow fails the test if nod has a window on screen.
func (n *nod) neverAWindow() {
	n.t.Helper()
	all, err := n.Screen.Windows()
	must(n.t, err)
	if len(all) > 0 {
		n.t.Errorf("windows on screen: %+v, want none", all)
	}
}

// accent is the colour of an affirmative button that works, in nod's light theme. One that does not work
// yet is pale.
var accent = color.RGBA{0x44, 0x54, 0xcc, 0xff}

// danger is the colour of the words on such a button of a dangerous request, which has no colour of its own.
var danger = color.RGBA{0xb3, 0x23, 0x2a, 0xff}

// plainButton is the colour of any other button that works.
var plainButton = color.RGBA{0xec, 0xee, 0xf3, 0xff}

const (
	footHeight  = 90   // pixels at the lower end of a prompt in which the affirmative is
	buttonArea  = 1200 // pixels in the accent's colour that make a button, not a ring or a mark
	labelArea   = 40   // pixels in the colour of danger that make words
	buttonWidth = 150  // pixels at its right end in which the affirmative is
)

// affirmative returns where the affirmative of the prompt is, if it works: that shows in its colour.
func (n *nod) affirmative() (button image.Rectangle, works bool, err error) {
	all, err := n.Screen.Windows()
	prompt := slices.IndexFunc(all, func(w desktop.Window) bool { return w.Title == promptTitle })
	if err != nil || prompt < 0 {
		return button, false, err
	}
	foot := all[prompt].Area
	foot.Min.Y = foot.Max.Y - footHeight
	button, count, err := n.Screen.Matching(foot, func(c color.RGBA) bool { return c == accent })
	if err != nil || count >= buttonArea {
		return button, err == nil, err
	}
	foot.Min.X = foot.Max.X - buttonWidth // not the queue, which has that colour, too
	button, count, err = n.Screen.Matching(foot, func(c color.RGBA) bool { return c == danger })
	return button, count >= labelArea, err
}

// armed waits until the affirmative of the prompt works, and returns where it is.
func (n *nod) armed() (button image.Rectangle) {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, "the affirmative to work", func() (works bool, err error) {
		button, works, err = n.affirmative()
		return works, err
	}))
	return button
}

// disarmed waits until the affirmative of the prompt does not work.
func (n *nod) disarmed() {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, "the affirmative not to work", func() (bool, error) {
		_, works, err := n.affirmative()
		return !works, err
	}))
}

// affirm waits until the affirmative works, and presses its chord.
func (n *nod) affirm() {
	n.t.Helper()
	n.armed()
	n.press("ctrl+Return")
}

// layoutChange is the number of pixels that change at least when something in a window appears, goes or is
// picked; the cursor and the time that is left change fewer.
const layoutChange = 2000

// after does something that changes what the window with the keyboard shows, and waits until it does.
func (n *nod) after(do func()) {
	n.t.Helper()
	before, err := n.Screen.Image()
	must(n.t, err)
	do()
	must(n.t, n.Screen.Await(n.ctx, "a change on the screen", func() (bool, error) {
		now, err := n.Screen.Image()
		return err == nil && changedPixels(before, now) >= layoutChange, err
	}))
}

// changedPixels counts the pixels that are not the same.
func changedPixels(before, now *image.RGBA) int {
	count := 0
	for i := 0; i < len(now.Pix); i += 4 {
		if !bytes.Equal(now.Pix[i:i+4], before.Pix[i:i+4]) {
			count++
		}
	}
	return count
}

// blink waits until the screen has changed twice, as the cursor of a field makes it do, so that what was typed
// before is drawn.
func (n *nod) blink() {
	n.t.Helper()
	for range 2 {
		before, err := n.Screen.Image()
		must(n.t, err)
		must(n.t, n.Screen.Await(n.ctx, "any change on the screen", func() (bool, error) {
			now, err := n.Screen.Image()
			return err == nil && changedPixels(before, now) > 0, err
		}))
	}
}

func (n *nod) press(keys ...string) { n.t.Helper(); must(n.t, n.Press(keys...)) }
func (n *nod) write(text string)    { n.t.Helper(); must(n.t, n.Type(text)) }

func (n *nod) click(r image.Rectangle) {
	n.t.Helper()
	must(n.t, n.Click(r.Min.Add(r.Max).Div(2), desktop.LeftButton))
}

// awayWithThePointer moves the pointer where nothing is, so that nothing shows as pointed at.
func (n *nod) awayWithThePointer() { n.t.Helper(); must(n.t, n.PointAt(image.Pt(0, 4000))) }

// shots is where the screenshots go.
const shots = "../build/shots"

// shot saves a screenshot under a name.
func (n *nod) shot(name string) {
	n.t.Helper()
	must(n.t, n.Screen.Save(filepath.Join(shots, name+".png")))
}

// named is the name of a screenshot that any test may make, and only this one does by this name.
func (n *nod) named(what string) string { return what + "-" + strings.ReplaceAll(n.t.Name(), "/", "-") }

// picture saves what is seen of a window, with its title bar, for the README.
func (n *nod) picture(name string, w desktop.Window) {
	n.t.Helper()
	const titleBar = 25 // pixels, with themerc
	frame := w.Area.Inset(-1)
	frame.Min.Y -= titleBar
	must(n.t, n.Screen.SaveArea(filepath.Join(shots, "pictures", name+".png"), frame))
}

// report shows what there is to learn from after a failure.
func (n *nod) report() {
	name := n.named("failed")
	if err := n.Screen.Save(filepath.Join(shots, name+".png")); err == nil {
		n.t.Logf("the screen at the end: build/shots/%s.png", name)
	}
	for _, path := range []string{
		filepath.Join(n.Home(), "nod-desktop.stderr"),
		filepath.Join(n.Home(), "opencode.stderr"),
		n.logPath(),
	} {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			n.t.Logf("%s:\n%s", filepath.Base(path), text)
		}
	}
}

func (n *nod) openLog(name string) *os.File {
	n.t.Helper()
	f, err := os.OpenFile(filepath.Join(n.Home(), name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(n.t, err)
	n.t.Cleanup(func() { f.Close() })
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v after %v", err, patience)
	}
	if err != nil {
		t.Fatal(err)
	}
}
