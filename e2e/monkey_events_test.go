//go:build linux

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"nod/e2e/desktop"
)

// event is one thing that the monkey does, as a line of a replay has it: a verb and its arguments.
type event string

// Places in a window are in permille of its size, so that a replay finds them in one of another size.
const (
	doKey       = "key %s"
	doHold      = "hold %s"
	doClick     = "click %d %d %d" // button, x, y
	doDrag      = "drag %d %d %d %d"
	doResize    = "resize %d %d" // to that many pixels
	doRequest   = "request %d"   // by its number
	doWithdraw  = "withdraw %d"
	doMenu      = "menu %s" // of the tray icon
	doWorkspace = "workspace %d"
	doMinimize  = "minimize"
	doClose     = "close"
	doSleep     = "sleep %d" // milliseconds
)

// monkeyMode is what a monkey may do.
type monkeyMode struct {
	name     string
	affirms  bool     // use the affirmative's chord, and the mouse on it
	mouse    bool     // use the mouse on what is above the affirmative, too
	menu     []string // entries of the tray's menu that it picks at the start
	requests bool
	machine  bool // every other request comes from another machine
}

var monkeyModes = []monkeyMode{
	{name: "keys", requests: true},
	{name: "everything", affirms: true, mouse: true, requests: true},
	{name: "mouse", mouse: true, requests: true},
	{name: "settings", affirms: true, mouse: true, menu: []string{"Settings…"}},
	{name: "both windows", affirms: true, mouse: true, menu: []string{"Settings…"}, requests: true},
	{name: "machine", affirms: true, mouse: true, requests: true, machine: true},
}

// The keys of a monkey: those that move and type, and those that do something everywhere.
var (
	movingKeys = strings.Fields("Tab Tab Tab Tab shift+Tab shift+Tab Return Return space space Down Down Up Left Right " +
		"Home End Page_Down Page_Down Page_Up KP_Enter BackSpace Delete Escape ctrl+Tab")
	typingKeys = strings.Split("abcxyz0129 .,-*/\"'{[(<$&", "")
	chordKeys  = strings.Fields("ctrl+d ctrl+period ctrl+period ctrl+comma ctrl+a ctrl+z ctrl+y ctrl+s ctrl+f ctrl+w " +
		"ctrl+Home ctrl+End Menu F10 shift+F10 ctrl+shift+Tab super+d ctrl+Page_Down shift+Down shift+End")
	affirmKeys = []string{"ctrl+Return", "ctrl+Return", "ctrl+KP_Enter", "ctrl+shift+Return"}
)

// monkey is a monkey at a running nod.
type monkey struct {
	n      *nod
	seed   uint64
	mode   monkeyMode
	random *rand.Rand
	wire   wire
	there  *wire   // on another machine, if there is one
	done   []event // so far
	next   int     // number of the next request

	mu      sync.Mutex // guards all below
	pending map[int]context.CancelFunc
	wrong   string // the first failure that a reply showed
	replies sync.WaitGroup
}

// choose returns what to do next.
func (m *monkey) choose() event {
	r := m.random
	if waiting := m.waiting(); m.mode.requests && (len(waiting) == 0 || len(waiting) < 7 && r.IntN(60) == 0) {
		m.next++
		return event(fmt.Sprintf(doRequest, m.next))
	} else if len(waiting) > 0 && r.IntN(150) == 0 {
		return event(fmt.Sprintf(doWithdraw, waiting[r.IntN(len(waiting))]))
	}
	switch n := r.IntN(1000); {
	case n < 350:
		return event(fmt.Sprintf(doKey, pick(r, movingKeys)))
	case n < 420:
		return event(fmt.Sprintf(doKey, pick(r, typingKeys)))
	case n < 460:
		return event(fmt.Sprintf(doKey, pick(r, chordKeys)))
	case n < 500 && m.mode.affirms:
		return event(fmt.Sprintf(doKey, pick(r, affirmKeys)))
	case n < 505:
		return event(fmt.Sprintf(doHold, pick(r, []string{"Return", "space", "Tab", "Down", "Page_Down", "Escape", "x"})))
	case n < 700 && m.mode.mouse:
		return m.chooseClick()
	case n < 720 && m.mode.affirms:
		return event(fmt.Sprintf(doDrag, r.IntN(1000), r.IntN(1000), r.IntN(1000), r.IntN(1000)))
	case n < 800:
		return event(fmt.Sprintf(doClick, pick(r, []int{4, 5, 5}), r.IntN(1000), r.IntN(1000)))
	case n < 815:
		return event(fmt.Sprintf(doResize, 200+r.IntN(1000), 150+r.IntN(650)))
	case n < 820:
		return event(fmt.Sprintf(doWorkspace, r.IntN(2)))
	case n < 823:
		return doMinimize
	case n < 828:
		return doClose
	case n < 834 && m.mode.affirms:
		return event(fmt.Sprintf(doMenu, pick(r, []string{"Settings…", "Settings…", "Ask about everything"})))
	case n < 850:
		return event(fmt.Sprintf(doSleep, 750)) // after which an affirmative works
	default:
		return event(fmt.Sprintf(doSleep, r.IntN(60)))
	}
}

// chooseClick is a click anywhere, more often where the buttons are.
func (m *monkey) chooseClick() event {
	r := m.random
	button := pick(r, []int{1, 1, 1, 1, 1, 3})
	x, y := r.IntN(1000), r.IntN(1000)
	switch r.IntN(4) {
	case 0:
		y = r.IntN(120) // the head of a prompt, the tabs of the settings
	case 1:
		y = 850 + r.IntN(150) // the foot
	}
	if !m.mode.affirms {
		y = min(y, 600)
	}
	return event(fmt.Sprintf(doClick, button, x, y))
}

func pick[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// perform does one thing. Where there is no window to do it to, it does nothing.
func (m *monkey) perform(e event) error {
	m.done = append(m.done, e)
	verb, rest, _ := strings.Cut(string(e), " ")
	var a, b, c, d int
	switch verb {
	case "key":
		return m.n.Press(rest)
	case "hold":
		return m.n.Hold(800*time.Millisecond, rest)
	case "menu":
		m.pickFromMenu(rest)
		return nil
	case "request", "withdraw", "sleep", "workspace":
		if _, err := fmt.Sscan(rest, &a); err != nil {
			return fmt.Errorf("event %q: %w", e, err)
		}
		switch verb {
		case "request":
			m.request(a)
		case "withdraw":
			m.withdraw(a)
		case "sleep":
			time.Sleep(time.Duration(a) * time.Millisecond) // a pause of the monkey's, which a replay keeps
		case "workspace":
			return m.switchWorkspace(uint32(a))
		}
		return nil
	}
	w, found, err := m.window()
	if err != nil || !found {
		return err
	}
	switch verb {
	case "click":
		if _, err := fmt.Sscan(rest, &a, &b, &c); err != nil {
			return fmt.Errorf("event %q: %w", e, err)
		}
		return m.n.Click(within(w.Area, b, c), desktop.Button(a))
	case "drag":
		if _, err := fmt.Sscan(rest, &a, &b, &c, &d); err != nil {
			return fmt.Errorf("event %q: %w", e, err)
		}
		return m.n.Drag(within(w.Area, a, b), within(w.Area, c, d))
	case "resize":
		if _, err := fmt.Sscan(rest, &a, &b); err != nil {
			return fmt.Errorf("event %q: %w", e, err)
		}
		_ = m.n.Screen.Resize(w, image.Pt(a, b)) // it may have closed meanwhile: here and below
		return nil
	case "minimize":
		_ = m.n.Screen.Minimize(w)
		return nil
	case "close":
		_ = m.n.Screen.CloseWindow(w)
		return nil
	}
	return fmt.Errorf("event %q: unknown verb", e)
}

func (m *monkey) switchWorkspace(number uint32) error {
	ctx, cancel := context.WithTimeout(m.n.ctx, hangTime)
	defer cancel()
	return m.n.SwitchWorkspace(ctx, number)
}

func within(area image.Rectangle, x, y int) image.Point {
	return area.Min.Add(image.Pt(x*area.Dx()/1000, y*area.Dy()/1000))
}

// window is the one of nod's windows that has the keyboard, or else any that can be seen.
func (m *monkey) window() (desktop.Window, bool, error) {
	all, err := m.n.Screen.Windows()
	all = slices.DeleteFunc(all, func(w desktop.Window) bool { return !w.Visible })
	slices.SortStableFunc(all, func(a, b desktop.Window) int { return cmp.Compare(rank(a), rank(b)) })
	if err != nil || len(all) == 0 {
		return desktop.Window{}, false, err
	}
	return all[0], true, nil
}

func rank(w desktop.Window) int {
	if w.Active {
		return 0
	}
	return 1
}

// request sends a request and leaves somebody waiting for its reply.
func (m *monkey) request(number int) {
	r := newMonkeyRequest(m.seed, number)
	ctx, cancel := context.WithCancel(m.n.ctx)
	m.mu.Lock()
	m.pending[number] = cancel
	m.mu.Unlock()
	from := m.wire
	if m.there != nil && number%2 == 0 {
		from = *m.there
	}
	m.replies.Go(func() {
		status, text, err := from.do(ctx, "POST", r.route, r.body)
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.pending, number)
		wrong := ""
		switch {
		case err == nil:
			wrong = r.check(status, text, m.mode.affirms)
		case ctx.Err() == nil:
			wrong = fmt.Sprintf("%s got no reply: %v", r.token, err)
		}
		cancel()
		m.wrong = cmp.Or(m.wrong, wrong)
	})
}

// withdraw hangs up on nod.
func (m *monkey) withdraw(number int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if hangUp, waits := m.pending[number]; waits {
		hangUp()
	}
}

// waiting lists the requests that nobody has answered, by their numbers.
func (m *monkey) waiting() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []int
	for number := range m.pending {
		all = append(all, number)
	}
	slices.Sort(all)
	return all
}

func (m *monkey) wrongReply() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wrong
}

// pickFromMenu picks an entry of the tray's menu over the bus, if there is one.
func (m *monkey) pickFromMenu(label string) {
	ctx, cancel := context.WithTimeout(m.n.ctx, hangTime)
	defer cancel()
	_ = m.n.ActivateTrayItem(ctx, label) // the entry may not be there: what counts is whether nod lives
}

// failure is what a monkey found, or "". Failures that have the same cause begin alike.
type failure string

// hangTime is how long nod may take for anything before it counts as hanging. nod itself gives its windows six seconds
// to handle an event, and on a busy machine more.
const hangTime = 15 * time.Second

// kind is what a failure has in common with the same one in a replay.
func (f failure) kind() string { kind, _, _ := strings.Cut(string(f), ":"); return kind }

// check looks whether nod is well.
func (m *monkey) check() failure {
	select {
	case <-m.n.ended:
		return failure(fmt.Sprintf("crash: nod-desktop ended: %v\n%s", m.n.cmd.ProcessState, m.n.lastWords()))
	default:
	}
	if words := m.n.lastWords(); words != "" {
		return failure("crash: " + words)
	}
	if wrong := m.wrongReply(); wrong != "" {
		return failure("wrong reply: " + wrong)
	}
	ctx, cancel := context.WithTimeout(m.n.ctx, hangTime)
	defer cancel()
	if status, _, err := m.wire.do(ctx, "GET", "/v1/health", nil); err != nil || status != 200 {
		return m.crashOr(failure(fmt.Sprintf("hang: no health within %v: status %d, %v", hangTime, status, err)))
	}
	all, err := m.n.Screen.Windows()
	if err != nil {
		return failure("display: " + err.Error())
	}
	for _, w := range all {
		if err := m.n.Screen.Ping(ctx, w); err != nil {
			return m.crashOr(failure(fmt.Sprintf("hang: %v", err)))
		}
	}
	return ""
}

// crashOr is a crash that shows a moment after what else it causes, or that.
func (m *monkey) crashOr(f failure) failure {
	select {
	case <-m.n.ended:
		return failure(fmt.Sprintf("crash: nod-desktop ended: %v\n%s", m.n.cmd.ProcessState, m.n.lastWords()))
	case <-time.After(time.Second):
	}
	if words := m.n.lastWords(); words != "" {
		return failure("crash: " + words)
	}
	return f + failure("\n"+m.n.stacks())
}

// deaths are lines in nod's log or on its standard error that tell of a crash.
var deaths = regexp.MustCompile(`(?im)^.*(panic:|: panic|fatal error|SIGSEGV|the windows died).*$`)

// lastWords is what nod said of a crash, from there on, or "".
func (n *nod) lastWords() string {
	for _, path := range []string{filepath.Join(n.Home(), "nod-desktop.stderr"), n.logPath()} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if at := deaths.FindIndex(text); at != nil {
			const enough = 4000
			return string(text[at[0]:min(at[0]+enough, len(text))])
		}
	}
	return ""
}

// finish withdraws everything, closes what a user closes, and looks whether nod is idle and well after it.
func (m *monkey) finish() failure {
	for _, number := range m.waiting() {
		m.withdraw(number)
	}
	m.replies.Wait()
	if f := m.check(); f != "" {
		return f
	}
	ctx, cancel := context.WithTimeout(m.n.ctx, hangTime)
	defer cancel()
	if err := m.closeSettings(ctx); err != nil {
		all, _ := m.n.Screen.Windows() // to say more
		return m.crashOr(failure(fmt.Sprintf("window left: %v: %+v", err, all)))
	}
	return m.probe()
}

// closeSettings closes the settings, and waits until no window is left: nothing is pending.
func (m *monkey) closeSettings(ctx context.Context) error {
	return m.n.Screen.Await(ctx, "the windows to close", func() (bool, error) {
		left, err := m.n.left()
		m.closeSettingsAmong(left)
		return len(left) == 0, err
	})
}

func (m *monkey) closeSettingsAmong(windows []desktop.Window) {
	for _, w := range windows {
		if w.Title == settingsTitle || w.Title == welcomeTitle {
			_ = m.n.Screen.CloseWindow(w) // it may have closed meanwhile
		}
	}
}

// probe looks whether a new prompt still comes up and can be answered.
func (m *monkey) probe() failure {
	ctx, cancel := context.WithTimeout(m.n.ctx, 3*hangTime)
	defer cancel()
	_ = m.n.Press("Escape") // closes the tray's menu, which a click may have opened: it takes all keys
	answered := make(chan string, 1)
	ask := func() {
		_, text, err := m.wire.do(ctx, "POST", "/v1/confirm", map[string]any{"message": "Still well?", "session": "probe"})
		answered <- fmt.Sprintf("%s %v", text, err)
	}
	go ask()
	// askAgain asks again if nod is paused, which a click in the settings may have done.
	askAgain := func(text string) error {
		if !strings.Contains(text, "nod is paused") {
			return fmt.Errorf("a new prompt got %s", text)
		}
		_ = m.n.PickFromTray(ctx, "Resume") // unless the pause has ended by itself
		go ask()
		return nil
	}
	err := m.n.Screen.Await(ctx, "a new prompt", func() (bool, error) {
		select {
		case text := <-answered:
			if err := askAgain(text); err != nil {
				return false, err
			}
		default:
		}
		w, found, err := m.window()
		return found && w.Active, err
	})
	if err != nil {
		all, _ := m.n.Screen.Windows() // to say more
		return m.crashOr(failure(fmt.Sprintf("no prompt: %v; windows %+v; the request: %s", err, all, soFar(answered))))
	}
	for {
		left, err := m.n.left()
		if err == nil {
			m.closeSettingsAmong(left) // which the monkey may have asked for at last
			err = m.n.Press("ctrl+d")
		}
		if err != nil {
			return failure("display: " + err.Error())
		}
		select {
		case text := <-answered:
			if strings.Contains(text, `"confirmed":false`) {
				return m.check()
			}
			if err := askAgain(text); err != nil {
				return m.crashOr(failure("hang: " + err.Error()))
			}
		case <-time.After(time.Second): // in which what may be an echo, or meant for another prompt, does not count
		}
	}
}

func soFar(answered <-chan string) string {
	select {
	case text := <-answered:
		return text
	default:
		return "pending"
	}
}
