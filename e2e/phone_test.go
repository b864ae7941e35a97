//go:build linux

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestPhone has a browser stand in for the phone of a user who is away: what a command asks shows on the page that
// nod-desktop serves, and what is answered there is the answer.
func TestPhone(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is missing: run scripts/setup test")
	}
	n := startDesktop(t)
	n.writeConfig(fmt.Sprintf("remote:\n  hand_over: 0s\n  phone:\n    address: 127.0.0.1:%d\n", freePort(t)))
	dir := filepath.Join(n.Home(), "bin")
	must(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"nod", "nod-cli", "nod-desktop"} {
		must(t, copyProgram(filepath.Join(bin, name), filepath.Join(dir, name)))
	}
	must(t, os.Symlink(n.borrow(standInName), filepath.Join(dir, standInName)))
	invitation := filepath.Join(n.Home(), "invitation")
	desk := n.inProject(n.Command(filepath.Join(dir, "nod-desktop"), "--background"))
	desk.Env = append(desk.Env, inviteVariable+"="+invitation, versionFor(t, filepath.Join(dir, "nod-desktop")))
	n.startProgram(desk)

	first := n.begins("approve", "--tool", "Bash", "--input", `{"command":"make all \u202e#"}`)
	p := newPhone(t, n)
	p.run(chromedp.Navigate(p.written(invitation)))
	p.shot("pair")
	p.click("#pair")
	p.says("Waiting for the desk…")
	p.shot("words")
	for _, word := range strings.Fields(p.written(invitation + ".words")) {
		p.says(word)
	}
	must(t, os.WriteFile(invitation+".same", nil, 0o600))
	p.says("wants to run")
	p.says("‹U+202E›")
	p.says("unless you decide")
	p.shot("approve")
	p.click(arms)
	if out, err := first(); err != nil || out != "allow" {
		t.Errorf("approve: %q, %v", out, err)
	}
	p.says("Nothing is waiting")

	second := n.begins("approve", "--tool", "Bash", "--input", `{"command":"rm -rf build"}`)
	p.says("rm -rf build")
	p.run(chromedp.WaitVisible(chromedp.CSS(arms))) // by then the press that answered before is long over
	p.click("#why")
	p.run(chromedp.SendKeys(chromedp.CSS("#reason"), "use make clean"))
	p.click("#refuse")
	if out, err := second(); err == nil || !strings.Contains(out, "use make clean") {
		t.Errorf("denied: %q, %v", out, err)
	}

	third := n.begins("ask", "Which database?", "--option", "SQLite", "--option", "Postgres")
	p.says("Which database?")
	p.shot("ask")
	p.click("label.pick:nth-of-type(2)")
	p.click(arms)
	if out, err := third(); err != nil || out != "Postgres" {
		t.Errorf("ask: %q, %v", out, err)
	}
	p.says("Nothing is waiting")

	history, err := n.program("nod", "history", "--json").Output()
	must(t, err)
	if got := bytes.Count(history, []byte(`"my phone"`)); got < 3 {
		t.Errorf("the history names the phone %d times:\n%s", got, history)
	}
}

// arms is the button that says yes, once it works.
const arms = ".affirm[aria-disabled=false]"

// begins starts a command of nod's, and returns what waits for what it prints.
func (n *nod) begins(args ...string) func() (string, error) {
	n.t.Helper()
	var out bytes.Buffer
	cmd := n.program("nod", args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	ended, err := n.Launch(cmd)
	must(n.t, err)
	return func() (string, error) {
		select {
		case <-ended:
		case <-time.After(patience):
			n.t.Fatalf("nod %q still waits", args)
		}
		if !cmd.ProcessState.Success() {
			return out.String(), fmt.Errorf("%s", cmd.ProcessState)
		}
		return strings.TrimSpace(out.String()), nil
	}
}

// phone is a browser with the screen of one.
type phone struct {
	t   *testing.T
	n   *nod
	ctx context.Context
}

func newPhone(t *testing.T, n *nod) *phone {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.IgnoreCertErrors)
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(n.ctx, options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	p := &phone{t: t, n: n, ctx: ctx}
	p.run(chromedp.EmulateViewport(360, 740, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch))
	_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled,
		emulation.SetFocusEmulationEnabledParams{Enabled: true})
	must(t, err)
	return p
}

func (p *phone) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	must(p.t, chromedp.Do(p.ctx, actions...))
}

// written is what the stand-in at the desk lets the phone read.
func (p *phone) written(path string) string {
	p.t.Helper()
	for {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			return string(text)
		}
		p.wait("there is no " + path)
	}
}

func (p *phone) wait(problem string) {
	p.t.Helper()
	select {
	case <-p.n.ctx.Done():
		p.t.Fatalf("%s\n%s", problem, p.n.lastWords())
	case <-time.After(lookAgain):
	}
}

// says waits until the page shows a text.
func (p *phone) says(text string) {
	p.t.Helper()
	for {
		shown, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string]("document.body.innerText"))
		if strings.Contains(shown, text) {
			return
		}
		p.wait(fmt.Sprintf("the page does not say %q but: %s", text, shown))
	}
}

// click presses what a selector finds, once it is there.
func (p *phone) click(selector string) {
	p.t.Helper()
	p.run(chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

// shot keeps what the phone shows.
func (p *phone) shot(name string) {
	p.t.Helper()
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	must(p.t, err)
	must(p.t, os.MkdirAll(shots, 0o755))
	must(p.t, os.WriteFile(filepath.Join(shots, "phone-"+name+".png"), picture, 0o644))
}
