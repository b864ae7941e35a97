package app

import (
	"context"
	"html"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
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
	nameLimit     = 40              // characters of a program's or an agent's name
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
	queue     chan notice
}

// notice is one notification under way. The sender waits on sent for as long as ctx lives.
type notice struct {
	ctx   context.Context
	text  func(markup bool) string
	level interact.Level
	sent  chan<- bool // cap 1
}

func newNotifier(m messenger, enabled func() bool, log *slog.Logger) *notifier {
	return &notifier{messenger: m, enabled: enabled, log: log, queue: make(chan notice, notifyQueue)}
}

// run sends what is queued until ctx ends. A call that hangs holds up the queue, not its senders.
func (n *notifier) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case job := <-n.queue:
			job.sent <- job.ctx.Err() == nil && n.deliver(job)
		}
	}
}

func (n *notifier) deliver(job notice) bool {
	ok, markup := n.messenger.Service()
	if !ok {
		return false
	}
	if err := n.messenger.Send(job.text(markup), job.level); err != nil {
		n.log.Warn("notification not sent", "err", err)
		return false
	}
	return true
}

// send queues a notification and reports whether the desktop took it in time.
func (n *notifier) send(ctx context.Context, text func(markup bool) string, level interact.Level) bool {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	sent := make(chan bool, 1)
	select {
	case n.queue <- notice{ctx, text, level, sent}:
	default:
		n.log.Warn("notification not sent", "err", "too many wait for the desktop")
		return false
	}
	select {
	case ok := <-sent:
		return ok
	case <-ctx.Done():
		return false
	}
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

// verified names the program that asks, as nod found out itself.
func verified(who interact.Requester) string {
	name := who.Process.Caller().Exe
	if name == "" {
		return lang.L("an unknown program")
	}
	name = strings.TrimSuffix(name, " (deleted)") // Linux says so of a program that was replaced while it runs
	return safetext.Line(filepath.Base(name), nameLimit)
}

// hardened makes a text harmless for the notification systems: freedesktop servers read markup in a body;
// on Windows the text travels in a CDATA section and, on the library's fallback road, inside a PowerShell
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
