package app

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/systray"

	"nod/assets"
	"nod/dialogs/safetext"
	"nod/interact"
)

// menuPending is how many waiting requests the menu lists; the rest is a number.
const menuPending = 10

// snapshot is all that the tray shows. Icon, tooltip and menu are functions of it.
type snapshot struct {
	Pending       []interact.Request // oldest first, without notices: nobody answers those
	Pause         Pause
	Quiet         int  // sessions that nobody is asked for, because nobody answered
	Missed        int  // requests handed back for that
	Broken        bool // the policy file cannot be read
	Held          bool // another program changed it
	AskEverything bool
}

// trayActions is what the menu can do. They run on the UI goroutine and must not block it.
type trayActions struct {
	Show          func(interact.ID) // bring this prompt to the front
	Raise         func()            // bring the prompt window to the front
	Pause         func(Pause)
	AskEverything func(bool)
	AskAgain      func() // the person is back after prompts went unanswered
	Settings      func()
	Quit          func()
}

// state is what the icon tells. A broken policy is the most urgent: it does not heal by itself.
func (s snapshot) state() assets.TrayState {
	switch {
	case s.Broken, s.Held:
		return assets.Broken
	case len(s.Pending) > 0 || s.Missed > 0:
		return assets.Waiting
	case s.Pause.On:
		return assets.Paused
	}
	return assets.Idle
}

// status is the state in words: the tooltip, and the first line of the menu.
func (s snapshot) status(now time.Time) string {
	var said []string
	if s.Broken {
		said = append(said, lang.L("The policy file has an error: everything is asked about"))
	}
	if s.Held {
		said = append(said, lang.L("Another program changed the policy file: see the settings"))
	}
	switch n := len(s.Pending); n {
	case 0:
	case 1:
		said = append(said, lang.L("One request waits for you"))
	default:
		said = append(said, lang.L("{{.Count}} requests wait for you", map[string]any{"Count": n}))
	}
	if s.Quiet > 0 {
		said = append(said, lang.L("Quiet: {{.Count}} requests came while nobody answered", map[string]any{"Count": s.Missed}))
	}
	if s.Pause.On {
		said = append(said, pausedStatus(s.Pause, now))
	}
	if len(said) == 0 {
		return lang.L("Nobody waits for you")
	}
	return strings.Join(said, " · ")
}

func pausedStatus(p Pause, now time.Time) string {
	if p.Until.IsZero() {
		return lang.L("Paused")
	}
	return lang.L("Paused until {{.Time}}", map[string]any{"Time": clock(p.Until, now)})
}

// menu is the tray's menu.
func (s snapshot) menu(do trayActions, now time.Time) *fyne.Menu {
	status := fyne.NewMenuItem(s.status(now), nil)
	status.Disabled = true
	items := []*fyne.MenuItem{status, fyne.NewMenuItemSeparator()}
	if len(s.Pending) > 0 {
		items = append(items, s.pendingItems(do)...)
		items = append(items, fyne.NewMenuItemSeparator())
	}
	if s.Quiet > 0 {
		items = append(items, fyne.NewMenuItem(lang.L("I am back: ask me again"), do.AskAgain), fyne.NewMenuItemSeparator())
	}
	ask := fyne.NewMenuItem(lang.L("Ask about everything"), func() { do.AskEverything(!s.AskEverything) })
	ask.Checked = s.AskEverything
	ask.Disabled = s.Broken // the file cannot be written while it cannot be read, and everything is asked anyway
	quit := fyne.NewMenuItem(lang.L("Quit"), do.Quit)
	quit.IsQuit = true
	return fyne.NewMenu("nod", append(items,
		s.pauseItem(do, now),
		ask,
		fyne.NewMenuItemSeparator(),
		fyne.NewMenuItem(lang.L("Settings…"), do.Settings),
		fyne.NewMenuItemSeparator(),
		quit)...)
}

func (s snapshot) pendingItems(do trayActions) []*fyne.MenuItem {
	var items []*fyne.MenuItem
	for i, r := range s.Pending {
		if i == menuPending {
			more := lang.L("{{.Count}} more…", map[string]any{"Count": len(s.Pending) - i})
			return append(items, fyne.NewMenuItem(more, do.Raise))
		}
		items = append(items, fyne.NewMenuItem(pendingLabel(r), func() { do.Show(r.ID) }))
	}
	return items
}

func (s snapshot) pauseItem(do trayActions, now time.Time) *fyne.MenuItem {
	if s.Pause.On {
		return fyne.NewMenuItem(lang.L("Resume"), func() { do.Pause(Pause{}) })
	}
	item := fyne.NewMenuItem(lang.L("Pause"), nil)
	item.ChildMenu = fyne.NewMenu("",
		fyne.NewMenuItem(lang.L("For 1 hour"), func() { do.Pause(Pause{On: true, Until: time.Now().Add(time.Hour)}) }),
		fyne.NewMenuItem(lang.L("Until tomorrow, {{.Time}}", map[string]any{"Time": tomorrow(now).Format("15:04")}),
			func() { do.Pause(Pause{On: true, Until: tomorrow(time.Now())}) }),
		fyne.NewMenuItem(lang.L("Until I say so"), func() { do.Pause(Pause{On: true}) }))
	return item
}

// pendingLabel is nod's word for the request and the requester's name, nothing else of what it sent.
func pendingLabel(r interact.Request) string {
	who := r.Requester.Agent
	if who == "" {
		who = source(r.Requester)
	}
	return kindLabel(r.Body.Kind()) + " · " + menuText(safetext.Line(who, nameLimit), runtime.GOOS)
}

func kindLabel(k interact.Kind) string {
	switch k {
	case interact.KindApprove:
		return lang.L("Approval")
	case interact.KindConfirm:
		return lang.L("Yes or no")
	case interact.KindForm:
		return lang.L("Form")
	}
	return lang.L("Question")
}

// menuText keeps the letter that marks a keyboard shortcut in the system's menus from vanishing.
func menuText(s, goos string) string {
	if goos == "windows" {
		return strings.ReplaceAll(s, "&", "&&")
	}
	return strings.ReplaceAll(s, "_", "__")
}

// tray shows snapshots. It is used on the UI goroutine only.
type tray struct {
	app   fyne.App
	bar   desktop.App
	do    trayActions
	shown string // what the desktop was last told, to tell it nothing twice
}

// newTray puts the icon into the tray. It must run before the app does.
func newTray(a fyne.App, do trayActions) (*tray, error) {
	bar, ok := a.(desktop.App)
	if !ok {
		return nil, fmt.Errorf("this build of nod has no tray")
	}
	return &tray{app: a, bar: bar, do: do}, nil
}

// update shows s. It is the only place that touches the tray.
func (t *tray) update(s snapshot) {
	now := time.Now()
	dark := t.app.Settings().ThemeVariant() == theme.VariantDark
	menu := s.menu(t.do, now)
	key := fmt.Sprint(s.state(), dark, menuKey(menu), pendingIDs(s))
	if key == t.shown {
		return
	}
	t.shown = key
	t.bar.SetSystemTrayIcon(fyne.NewStaticResource("nod-"+string(s.state())+".png", assets.Tray(s.state(), dark)))
	t.bar.SetSystemTrayMenu(menu)
	systray.SetTooltip("nod: " + s.status(now))
}

// menuKey is equal for menus that look the same.
func menuKey(m *fyne.Menu) string {
	var b strings.Builder
	for _, i := range m.Items {
		fmt.Fprintf(&b, "%q %v %v;", i.Label, i.Checked, i.Disabled)
		if i.ChildMenu != nil {
			b.WriteString("{" + menuKey(i.ChildMenu) + "}")
		}
	}
	return b.String()
}

// pendingIDs tells snapshots apart whose menus look the same but lead to other prompts.
func pendingIDs(s snapshot) string {
	var b strings.Builder
	for i, r := range s.Pending {
		if i == menuPending {
			break
		}
		b.WriteString(string(r.ID) + " ")
	}
	return b.String()
}

// withoutNotices drops the requests that want no answer.
func withoutNotices(rs []interact.Request) []interact.Request {
	return slices.DeleteFunc(rs, func(r interact.Request) bool { return r.Body.Kind() == interact.KindNotify })
}
