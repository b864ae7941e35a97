package asking

import (
	"context"
	"errors"
	"html"
	"log/slog"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2/lang"
	"github.com/gen2brain/beeep"

	"nod/agents/registry"
	"nod/api"
	"nod/assets"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
	"nod/interact"
)

const (
	notifyTitle   = "nod"           // the only title: no requester's word gets into one
	notifyQueue   = 16              // notices that may wait for the desktop; more are not sent
	notifyTimeout = 5 * time.Second // how long the desktop may take for one
	noticeLimit   = 600             // characters of an agent's message in a notification; the desktop cuts far earlier
	noticeLines   = 10              // lines of it
)

// notifier sends notifications, one at a time. Too many at once are dropped.
type notifier struct {
	show    show
	wanted  func(interact.Request) bool // reports whether to show a notice now
	log     *slog.Logger
	waiting chan struct{} // holds one for each notice that is being sent
	turn    chan struct{} // holds one while the desktop is called
}

// show shows one notification. Level is info, warning or error. It may block and cannot be cancelled, because the
// notification libraries cannot.
type show func(text func(markup bool) string, level string) error

func newNotifier(s show, wanted func(interact.Request) bool, log *slog.Logger) *notifier {
	return &notifier{show: s, wanted: wanted, log: log,
		waiting: make(chan struct{}, notifyQueue), turn: make(chan struct{}, 1)}
}

// send sends a notification and reports whether the desktop took it in time. A call that hangs delays later
// notifications, but not their senders.
func (n *notifier) send(ctx context.Context, text func(markup bool) string, level string) bool {
	select {
	case n.waiting <- struct{}{}:
	default:
		n.log.Warn("notification not sent", "err", "too many notifications wait for the desktop")
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

func (n *notifier) deliver(text func(markup bool) string, level string) bool {
	err := n.show(text, level)
	if err != nil {
		n.log.Warn("notification not sent", "err", err)
	}
	return err == nil
}

// notify shows an agent's notice, if the user wants it now: see [interact.BrokerConfig].
func (n *notifier) notify(ctx context.Context, r interact.Request) bool {
	body, ok := r.Body.(api.Notify)
	if !ok || !n.wanted(r) {
		return false
	}
	return n.send(ctx, func(markup bool) string { return noticeText(r, body, markup) }, body.Level)
}

// say sends a sentence from nod itself and does not wait.
func (n *notifier) say(ctx context.Context, sentence string, level string) {
	go n.send(ctx, func(markup bool) string { return hardened(sentence, markup, runtime.GOOS) }, level)
}

// noticeText returns the body of an agent's notice. It begins with nod's own words, so that an agent can neither pose
// as nod nor begin the text with what a command line would read as an option.
func noticeText(r interact.Request, n api.Notify, markup bool) string {
	message := n.Message
	if n.Title != "" {
		message = n.Title + ": " + n.Message
	}
	return hardened(lang.L("From")+": "+whoAsks(r)+" — "+safeLines(message), markup, runtime.GOOS)
}

// safeLines makes an agent's text safe to show and keeps its line ends.
func safeLines(text string) string {
	var safe []string
	room := noticeLimit
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n"), "\n") {
		if len(safe) == noticeLines || room <= 0 {
			safe = append(safe, "…")
			break
		}
		line = safetext.Line(line, room)
		room -= utf8.RuneCountInString(line)
		safe = append(safe, line)
	}
	return strings.Join(safe, "\n")
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

func init() { beeep.AppName = notifyTitle }

// showByBeeep returns what shows notifications; those about errors make a sound if that is wanted. Without a service on
// the bus beeep would start notify-send or kdialog; nod does not let a program of that name in PATH replace the
// desktop's service.
func showByBeeep(sound func() bool) show {
	return func(text func(markup bool) string, level string) error {
		ok, markup := notificationService(context.Background())
		if !ok {
			return errors.New("no notification service answers")
		}
		body, icon := text(markup), assets.Level(level)
		if level != interact.Error || !sound() {
			return beeep.Notify(notifyTitle, body, icon)
		}
		err := beeep.Alert(notifyTitle, body, icon)
		if err != nil && strings.HasPrefix(err.Error(), "beeep: error writing") {
			return nil // shown; only the beep that follows it failed
		}
		return err
	}
}

// NotifyEnd shows why nod ended: nobody reads the errors of what was started at login.
func NotifyEnd(reason error, log *slog.Logger) {
	text := func(markup bool) string { return hardened("nod has ended: "+reason.Error(), markup, runtime.GOOS) }
	newNotifier(showByBeeep(nil), nil, log).send(context.Background(), text, interact.Warning)
}

// titled returns a request with the name by which the user knows its agent.
func titled(r interact.Request) interact.Request {
	r.Requester.Title = registry.Title(r.Requester.Agent)
	return r
}

// whoAsks names the session of a request.
func whoAsks(r interact.Request) string { return prompt.SessionOf(titled(r).Requester) }
