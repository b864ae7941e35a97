package app

import (
	"context"
	"html"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"
	"github.com/gen2brain/beeep"

	"nod/assets"
	"nod/dialogs/safetext"
	"nod/interact"
)

const (
	notifyTitle   = "nod"           // the only title: no requester's word gets into one
	notifyQueue   = 16              // notices that may wait for the desktop; more are not sent
	notifyTimeout = 5 * time.Second // how long the desktop may take for one
	noticeLimit   = 600             // characters of an agent's message in a notification; the desktop cuts far earlier
)

// messenger sends one notification. Level is info, warning or error. It may block and cannot be cancelled:
// that is how the notification libraries are.
type messenger interface {
	// Service reports whether there is a notification service, and whether it reads the body as markup.
	Service() (ok, markup bool)
	Send(body string, level interact.Level) error
}

// notifier passes notices on to the desktop, one at a time and only so many.
type notifier struct {
	messenger messenger
	enabled   func() bool // the person wants notices
	log       *slog.Logger
	waiting   chan struct{} // holds one for each notice that the desktop has not taken
	turn      chan struct{} // holds one while the desktop is called
}

func newNotifier(m messenger, enabled func() bool, log *slog.Logger) *notifier {
	return &notifier{messenger: m, enabled: enabled, log: log,
		waiting: make(chan struct{}, notifyQueue), turn: make(chan struct{}, 1)}
}

// send sends a notification and reports whether the desktop took it in time. A call that hangs holds up those after
// it, not their senders.
func (n *notifier) send(ctx context.Context, text func(markup bool) string, level interact.Level) bool {
	select {
	case n.waiting <- struct{}{}:
	default:
		n.log.Warn("notification not sent", "err", "too many wait for the desktop")
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	sent := make(chan bool, 1)
	go func() {
		n.turn <- struct{}{}
		sent <- ctx.Err() == nil && n.deliver(text, level)
		<-n.turn
		<-n.waiting
	}()
	select {
	case ok := <-sent:
		return ok
	case <-ctx.Done():
		return false
	}
}

func (n *notifier) deliver(text func(markup bool) string, level interact.Level) bool {
	ok, markup := n.messenger.Service()
	if !ok {
		n.log.Warn("notification not sent", "err", "no notification service answers")
		return false
	}
	if err := n.messenger.Send(text(markup), level); err != nil {
		n.log.Warn("notification not sent", "err", err)
		return false
	}
	return true
}

// Notify implements [interact.Notifier].
func (n *notifier) Notify(ctx context.Context, r interact.Request) bool {
	body, ok := r.Body.(interact.Notify)
	if !ok || !n.enabled() {
		return false
	}
	return n.send(ctx, func(markup bool) string { return noticeText(r.Requester, body, markup) }, body.Level)
}

// say sends a sentence of nod's own. It does not wait.
func (n *notifier) say(ctx context.Context, sentence string, level interact.Level) {
	go n.send(ctx, func(markup bool) string { return hardened(sentence, markup, runtime.GOOS) }, level)
}

// noticeText is the body of an agent's notice. It begins with nod's own words, so that an agent cannot
// speak as nod, nor begin the text with what a command line would read as an option.
func noticeText(who interact.Requester, n interact.Notify, markup bool) string {
	message := n.Message
	if n.Title != "" {
		message = n.Title + ": " + n.Message
	}
	return hardened(lang.L("From")+" "+source(who)+": "+safetext.Line(message, noticeLimit), markup, runtime.GOOS)
}

// source names who asks: the verified program when there is one, what the agent calls itself otherwise.
func source(who interact.Requester) string {
	if who.Process.Exe == "" && who.Agent != "" {
		return safetext.Line(who.Agent, nameLimit) + " (" + lang.L("unverified") + ")"
	}
	return verified(who)
}

// hardened makes a text harmless for the notification systems: freedesktop servers read markup in a body;
// on Windows the text travels in a CDATA section and, where the library falls back, inside a PowerShell
// string that expands $ and backtick; on macOS inside a quoted AppleScript string, which needs nothing.
func hardened(text string, markup bool, goos string) string {
	if goos == "windows" {
		return strings.NewReplacer("$", "＄", "`", "ˋ", "]]>", "]] >", `"`, "”").Replace(text)
	}
	if markup {
		return html.EscapeString(text)
	}
	return text
}

// beeepMessenger sends notifications with beeep.
type beeepMessenger struct{}

func init() { beeep.AppName = notifyTitle }

// Service implements messenger. Without a service on the bus beeep would start notify-send or kdialog; nod
// does not want a program of that name from PATH to stand in for the desktop.
func (beeepMessenger) Service() (ok, markup bool) { return notificationService() }

// Send implements messenger.
func (beeepMessenger) Send(body string, level interact.Level) error {
	icon := assets.Level(string(level))
	if level != interact.Error {
		return beeep.Notify(notifyTitle, body, icon)
	}
	err := beeep.Alert(notifyTitle, body, icon)
	if err != nil && strings.HasPrefix(err.Error(), "beeep: error writing") {
		return nil // shown; only the beep that follows it failed
	}
	return err
}

// announceAfter is how long a prompt is pending before the desktop announces it. Who looks at the screen sees
// the window itself, and mostly has answered or at least clicked it by then.
const announceAfter = 2 * time.Second

// announcer tells the desktop that prompts are pending. Its notifications say no word of the agent's, and cannot
// decide anything: they only say where to look.
type announcer struct {
	ctx     context.Context
	say     func(ctx context.Context, sentence string, level interact.Level)
	enabled func() bool // the person wants announcements
	looking func() bool // the prompt window has the focus

	mu      sync.Mutex
	pending []interact.Request
	told    map[interact.ID]bool
	timer   *time.Timer // runs while somebody is to be announced
}

func newAnnouncer(ctx context.Context, say func(context.Context, string, interact.Level),
	enabled, looking func() bool) *announcer {
	return &announcer{ctx: ctx, say: say, enabled: enabled, looking: looking, told: map[interact.ID]bool{}}
}

// look takes in what is pending now. What is still pending a little later is announced, once, and together with what
// came meanwhile.
func (a *announcer) look(pending []interact.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	told := map[interact.ID]bool{}
	for _, r := range pending {
		if a.told[r.ID] {
			told[r.ID] = true
		}
	}
	a.pending, a.told = pending, told
	if a.timer == nil && len(told) < len(pending) {
		a.timer = time.AfterFunc(announceAfter, a.announce)
	}
}

// announce says what is still pending and has not been announced, unless the person is looking at it.
func (a *announcer) announce() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = nil
	fresh := slices.DeleteFunc(slices.Clone(a.pending), func(r interact.Request) bool { return a.told[r.ID] })
	for _, r := range fresh {
		a.told[r.ID] = true
	}
	if len(fresh) == 0 || a.ctx.Err() != nil || !a.enabled() || a.looking() {
		return
	}
	a.say(a.ctx, announcement(fresh[len(fresh)-1], len(a.pending)), interact.Info)
}

// announcement is nod's own sentence about the newest of n pending requests.
func announcement(newest interact.Request, n int) string {
	who := map[string]any{"Who": verified(newest.Requester), "Count": n}
	if n == 1 {
		return lang.L("A request from {{.Who}} waits for your answer.", who)
	}
	return lang.L("{{.Count}} requests wait for your answer, the newest from {{.Who}}.", who)
}
