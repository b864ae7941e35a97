package asking

import (
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/api"
	"nod/assets"
	"nod/changes"
	"nod/dialogs/safetext"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
	"nod/ipc/operator"
)

// menuPending is how many waiting requests the menu lists; the rest is a number.
const menuPending = 10

// snapshot is all that the tray shows. Icon, tooltip and menu are functions of it.
type snapshot struct {
	Pending       []interact.Request // oldest first, without notices, which have no answers
	Snoozed       []interact.Request // oldest first
	Pause         operator.Pause
	Away          int    // sessions that nod does not ask for, because the user did not answer
	Missed        int    // requests refused for that
	Broken        bool   // the policy file cannot be read
	Held          bool   // another program changed it
	Unknown       bool   // … or what was accepted, so that it is unknown
	Journal       string // what is wrong with the journal, in a sentence or two; empty: nothing
	Hooks         string // which agents' hooks point nowhere, in a sentence; empty: none
	Machines      int    // paired machines that are connected
	Contains      bool   // commands of some project run in the sandbox
	AskEverything bool
}

// trayActions is what the menu can do. Each call has a goroutine of its own.
type trayActions struct {
	Show          func(operator.View) // brings a window to the front
	Pause         func(operator.Pause)
	AskEverything func(bool)
	AskAgain      func() // the user is back after prompts timed out
	Quit          func()
}

// state returns what the icon shows. A broken policy or journal is the most urgent.
func (s snapshot) state() assets.TrayState {
	switch {
	case s.Broken, s.Held, s.Journal != "", s.Hooks != "":
		return assets.Broken
	case len(s.Pending) > 0 || len(s.Snoozed) > 0 || s.Missed > 0:
		return assets.Waiting
	case s.Pause.On:
		return assets.Paused
	}
	return assets.Idle
}

// status returns the state in words, for the tooltip and the first line of the menu.
func (s snapshot) status(now time.Time) string {
	var said []string
	if s.Broken {
		said = append(said, lang.L("The policy file has an error: nod asks about everything"))
	}
	if s.Unknown {
		said = append(said, lang.L("nod can't tell which policy you accepted: see the settings"))
	} else if s.Held {
		said = append(said, lang.L("Another program changed the policy file: see the settings"))
	}
	if s.Journal != "" {
		said = append(said, s.Journal)
	}
	if s.Hooks != "" {
		said = append(said, s.Hooks)
	}
	switch n := len(s.Pending); n {
	case 0:
	case 1:
		said = append(said, lang.L("1 request waiting"))
	default:
		said = append(said, lang.L("{{.Count}} requests waiting", map[string]any{"Count": n}))
	}
	if n := len(s.Snoozed); n > 0 {
		said = append(said, lang.L("{{.Count}} snoozed", map[string]any{"Count": n}))
	}
	if s.Away > 0 {
		said = append(said, awayStatus(s.Missed))
	}
	if s.Pause.On {
		said = append(said, pausedStatus(s.Pause, now))
	}
	if len(said) == 0 {
		said = append(said, lang.L("No requests waiting"))
	}
	switch s.Machines {
	case 0:
	case 1:
		said = append(said, lang.L("1 machine connected"))
	default:
		said = append(said, lang.L("{{.Count}} machines connected", map[string]any{"Count": s.Machines}))
	}
	return strings.Join(said, " · ")
}

func awayStatus(missed int) string {
	if missed == 1 {
		return lang.L("Away: 1 request skipped")
	}
	return lang.L("Away: {{.Count}} requests skipped", map[string]any{"Count": missed})
}

func pausedStatus(p operator.Pause, now time.Time) string {
	if p.Until.IsZero() {
		return lang.L("Paused")
	}
	return lang.L("Paused until {{.Time}}", map[string]any{"Time": clock(p.Until, now)})
}

type menuItem struct {
	Label   string // empty: a separator
	Checked bool
	Request interact.ID // the request that the item leads to
	Do      func()      // nil: it cannot be chosen
}

// menu returns the tray's menu. It has no submenus because Xfce shows them empty.
func (s snapshot) menu(do trayActions, now time.Time) []menuItem {
	separator := menuItem{}
	show := func(v operator.View) func() { return func() { do.Show(v) } }
	items := []menuItem{{Label: s.status(now)}, separator}
	if waiting := append(s.pendingItems(do), s.snoozedItems(do)...); len(waiting) > 0 {
		items = append(append(items, waiting...), separator)
	}
	if s.Away > 0 {
		items = append(items, menuItem{Label: lang.L("I'm back"), Do: do.AskAgain}, separator)
	}
	ask := menuItem{
		Label: lang.L("Ask about everything"), Checked: s.AskEverything,
		Do: func() { do.AskEverything(!s.AskEverything) },
	}
	if s.Broken { // the file cannot be written while it cannot be read, and everything is asked anyway
		ask.Do = nil
	}
	items = append(append(items, s.pauseItems(do)...), separator)
	items = append(items, ask, separator)
	if s.Contains {
		contained := show(operator.View{History: true, Query: history.Query{Outcome: history.Sandboxed}})
		items = append(items, menuItem{Label: lang.L("Sandbox runs…"), Do: contained})
	}
	return append(items,
		menuItem{Label: lang.L("History…"), Do: show(operator.View{History: true})},
		menuItem{Label: lang.L("Settings…"), Do: show(operator.View{Settings: true})},
		separator,
		menuItem{Label: lang.L("Quit"), Do: do.Quit})
}

func (s snapshot) pendingItems(do trayActions) []menuItem {
	var items []menuItem
	for i, r := range s.Pending {
		if i == menuPending {
			more := lang.L("and {{.Count}} more…", map[string]any{"Count": len(s.Pending) - i})
			return append(items, menuItem{Label: more, Do: func() { do.Show(operator.View{}) }})
		}
		items = append(items, requestItem(r, pendingLabel(r), do))
	}
	return items
}

func requestItem(r interact.Request, label string, do trayActions) menuItem {
	return menuItem{Label: label, Request: r.ID, Do: func() { do.Show(operator.View{Request: r.ID}) }}
}

// snoozedItems lists the snoozed requests: each can be opened early.
func (s snapshot) snoozedItems(do trayActions) []menuItem {
	var items []menuItem
	for _, r := range s.Snoozed[:min(len(s.Snoozed), menuPending)] {
		items = append(items, requestItem(r, lang.L("Snoozed: {{.What}}", map[string]any{"What": pendingLabel(r)}), do))
	}
	return items
}

func (s snapshot) pauseItems(do trayActions) []menuItem {
	if s.Pause.On {
		return []menuItem{{Label: lang.L("Resume"), Do: func() { do.Pause(operator.Pause{}) }}}
	}
	lasting := func(label string, d time.Duration) menuItem {
		return menuItem{Label: label, Do: func() { do.Pause(operator.Pause{On: true, Until: time.Now().Add(d)}) }}
	}
	return []menuItem{
		lasting(lang.L("Pause for 15 minutes"), 15*time.Minute),
		lasting(lang.L("Pause for 30 minutes"), 30*time.Minute),
		lasting(lang.L("Pause for 1 hour"), time.Hour),
		{Label: lang.L("Pause until I'm back"), Do: func() { do.Pause(operator.Pause{On: true}) }},
	}
}

// sameMenu reports whether two menus look the same and lead to the same requests.
func sameMenu(a, b []menuItem) bool {
	return slices.EqualFunc(a, b, func(a, b menuItem) bool {
		return a.Label == b.Label && a.Checked == b.Checked && a.Request == b.Request &&
			(a.Do == nil) == (b.Do == nil)
	})
}

// gistLimit is how many characters of a request's gist the menu shows.
const gistLimit = 40

// pendingLabel returns who asks and the first words of the request: "Claude Code · shop: npm test".
func pendingLabel(r interact.Request) string {
	return menuText(whoAsks(r)+": "+safetext.Line(r.Gist(), gistLimit), runtime.GOOS)
}

// menuText doubles the letter that marks a keyboard shortcut in the system's menus, which would not show otherwise.
func menuText(s, goos string) string {
	if goos == "windows" {
		return strings.ReplaceAll(s, "&", "&&")
	}
	return strings.ReplaceAll(s, "_", "__")
}

// tray shows snapshots: [tray.run] shows the latest one that [tray.update] took in.
type tray struct {
	do      trayActions
	log     *slog.Logger
	latest  atomic.Pointer[snapshot]
	changed changes.Signal // latest was not shown yet
}

func newTray(do trayActions, log *slog.Logger) *tray {
	t := &tray{do: do, log: log, changed: changes.NewSignal()}
	t.latest.Store(&snapshot{})
	return t
}

// update shows s soon, or a later one. It never blocks.
func (t *tray) update(s snapshot) {
	t.latest.Store(&s)
	t.changed.Send()
}

// toAnswer returns the pending requests that need an answer now, and the snoozed ones.
func toAnswer(pending []interact.Request) (waiting, snoozed []interact.Request) {
	for _, r := range pending {
		switch {
		case r.Body.Kind() == api.KindNotify:
		case r.Snoozed.IsZero():
			waiting = append(waiting, r)
		default:
			snoozed = append(snoozed, r)
		}
	}
	return waiting, snoozed
}

// pathLimit is how many characters of a path a sentence shows.
const pathLimit = 200

// JournalProblem says in a sentence or two what is wrong with the journal, or returns "".
func JournalProblem(err error) string {
	problem, ok := errors.AsType[*journal.ProblemError](err)
	if !ok {
		return ""
	}
	about := map[string]any{"Path": safetext.Line(problem.Path, pathLimit)}
	if problem.Err != nil {
		about["Problem"] = safetext.Line(problem.Err.Error(), pathLimit)
	}
	switch problem.Trouble {
	case journal.Full:
		return lang.L("The disk is full: nod can't write its history, so nothing runs without asking you.")
	case journal.Locked:
		return lang.L("Another program has locked nod's history, so nothing runs without asking you: {{.Path}}", about)
	case journal.ReadOnly:
		return lang.L("nod's history is read-only, so nothing runs without asking you: {{.Path}}", about)
	case journal.SetAside:
		return lang.L("nod's history could not be read, so a new one has begun. The old one is {{.Path}}", about)
	case journal.Gone:
		return lang.L("Another program removed nod's history while nod was running: {{.Path}}", about)
	}
	return lang.L("nod can't write its history, so nothing runs without asking you: {{.Problem}}", about)
}
