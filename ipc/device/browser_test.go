package device_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"nod/e2e/devicetest"
	"nod/interact"
	"nod/ipc/device"
	"nod/ipc/device/page"
	"nod/ipc/remote"
	"nod/policy"
)

// patience is how long a browser has for anything. It is on the safe side: tests wait for what happens, not for this.
const patience = time.Minute

// everything is what a device may do that may do everything.
var everything = remote.May{Questions: true, Approvals: policy.Destructive}

// browser is the one that all tests share, each in a profile of its own.
var browser = sync.OnceValues(func() (context.Context, error) {
	name := findBrowser()
	if name == "" {
		return nil, errors.New("there is no Chromium: run scripts/setup test")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(name), chromedp.IgnoreCertErrors, chromedp.Flag("lang", "en-US"),
		chromedp.Flag("disable-background-networking", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		return nil, err
	}
	stopBrowser = func() { _ = chromedp.Cancel(ctx) }
	return ctx, nil
})

var stopBrowser = func() {}

func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func TestMain(m *testing.M) {
	status := m.Run()
	stopBrowser()
	os.Exit(status)
}

// phone is a browser with the page of a desk.
type phone struct {
	t      testing.TB
	ctx    context.Context
	desk   *Desk
	server *device.Server

	mu       sync.Mutex
	problems []string // that the browser reports
	foreign  []string // addresses elsewhere that it asked for
}

// newDesk is a desk at which these views are pending, and its server.
func newDesk(t testing.TB, views ...devicetest.View) (*Desk, *device.Server) {
	t.Helper()
	desk := &Desk{}
	desk.Show(views...)
	return desk, Start(t, desk, page.Files)
}

// newPhone opens a profile of its own on a small screen. It fails the test when the page does anything that it must
// not.
func newPhone(t testing.TB, desk *Desk, s *device.Server) *phone {
	t.Helper()
	shared, err := browser()
	if err != nil {
		if os.Getenv("NOD_BROWSER") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	ctx, cancel := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, cancelTimeout := context.WithTimeout(ctx, 4*patience)
	t.Cleanup(cancelTimeout)
	p := &phone{t: t, ctx: ctx, desk: desk, server: s}
	p.run(p.watch())
	p.focus(true)
	p.screen(360, 740)
	p.scheme("light")
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, problem := range p.problems {
			t.Errorf("the browser reports: %s", problem)
		}
		for _, address := range p.foreign {
			t.Errorf("the page asked for %s", address)
		}
	})
	return p
}

// pairedPhone is one that is paired with a desk, and may do everything.
func pairedPhone(t testing.TB, views ...devicetest.View) *phone {
	t.Helper()
	desk, s := newDesk(t, views...)
	p := newPhone(t, desk, s)
	p.pair(everything)
	return p
}

func (p *phone) pair(may remote.May) {
	p.t.Helper()
	invitation, _ := p.server.Invite("my phone", may)
	p.run(chromedp.Navigate(invitation))
	p.click("#pair")
	p.until("there is the desk", `['prompt', 'idle'].includes(document.getElementById('main').dataset.screen)`)
}

// watch has the browser report what the page does.
func (p *phone) watch() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		return errors.Join(err, chromedp.Listen(ctx, p.listen))
	})
}

// focus has the page take itself for focused, or not.
func (p *phone) focus(on bool) {
	p.t.Helper()
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: on})
}

// call sends a command to the page.
func call[P, R any](p *phone, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return result
}

// listen takes note of what must not happen.
func (p *phone) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		p.problems = append(p.problems, fmt.Sprintf("console.%s %s", e.Type, e.Args[0].Value))
	case *cdplog.EventEntryAdded:
		p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if address := e.Request.URL; !strings.HasPrefix(address, p.server.URL()) {
			p.foreign = append(p.foreign, address)
		}
	}
}

// forgive forgets the reports with a text: they belong to what the test does.
func (p *phone) forgive(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = slices.DeleteFunc(p.problems, func(s string) bool { return strings.Contains(s, text) })
}

func (p *phone) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *phone) screen(width, height int64) {
	p.t.Helper()
	p.run(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch))
}

// eval returns the value of a JavaScript expression.
func eval[T any](p *phone, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits for a condition in JavaScript or a promise of one, also over a change of pages.
func (p *phone) until(what, condition string) {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); ; {
		isSo, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](
			"Promise.resolve("+condition+").then(Boolean)", chromedp.EvalAwaitPromise))
		if isSo {
			return
		}
		select {
		case <-end:
			p.t.Fatalf("%s: %v, %v; the page says: %s", what, isSo, err, eval[string](p, "document.body.innerText"))
		case <-tick.C:
		}
	}
}

// says waits until the page shows a text.
func (p *phone) says(text string) {
	p.t.Helper()
	p.until("it says "+text, fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// click presses what a selector finds, once it is there.
func (p *phone) click(selector string) {
	p.t.Helper()
	p.until(selector+" is there", fmt.Sprintf("document.querySelector(%q)?.getBoundingClientRect().height > 0", selector))
	p.run(chromedp.Click(chromedp.CSS(selector)))
}

// clickText presses the button with a label.
func (p *phone) clickText(label string) {
	p.t.Helper()
	p.until(label+" is there", fmt.Sprintf(
		"[...document.querySelectorAll('button')].some(b => b.textContent === %q)", label))
	p.run(chromedp.Click(chromedp.Search(fmt.Sprintf("//button[text()=%q]", label))))
}

// fill types into what a selector finds.
func (p *phone) fill(selector, text string) {
	p.t.Helper()
	p.click(selector)
	p.run(chromedp.KeyEvent(text))
}

// press presses a key, with Ctrl or without.
func (p *phone) press(key string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	p.run(chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
}

// answers waits until so many answers counted, and returns them.
func (p *phone) answers(count int) []interact.Answer {
	p.t.Helper()
	p.until("the answer is in", `!document.getElementById('foot').inert`)
	got := p.desk.Answers()
	if len(got) != count {
		p.t.Fatalf("answers %+v, want %d; the page says: %s", got, count, eval[string](p, "document.body.innerText"))
	}
	return got
}

// works is whether the affirmative does.
const works = `document.querySelector('.affirm')?.getAttribute('aria-disabled') === 'false'`

// armed waits until the affirmative works.
func (p *phone) armed() {
	p.t.Helper()
	p.until("it arms", works)
}

// allowed presses the affirmative once it works.
func (p *phone) allow() {
	p.t.Helper()
	p.armed()
	p.click(".affirm")
}

// title waits for a prompt by what its head says.
func (p *phone) title(text string) {
	p.t.Helper()
	p.until("the head says "+text, fmt.Sprintf("document.getElementById('title')?.textContent.includes(%q)", text))
}
