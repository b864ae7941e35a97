package settings

import (
	"errors"
	"fmt"
	"image/color"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"nod/dialogs/controls"
	"nod/dialogs/dialogstest"
	"nod/policy"
)

// press is a chord in the window. It goes to the focused widget, as with a real driver, else to the window.
func (w *Window) press(key fyne.KeyName, modifier fyne.KeyModifier) {
	s := &desktop.CustomShortcut{KeyName: key, Modifier: modifier}
	if focused, ok := w.Win.Canvas().Focused().(fyne.Shortcutable); ok {
		focused.TypedShortcut(s)
		return
	}
	w.Shortcut(s)
}

func (w *Window) typeEscape() { w.typeKey(fyne.KeyEscape) }

// typeKey presses a key. It goes to the focused widget, else to the window.
func (w *Window) typeKey(name fyne.KeyName) {
	if focused, ok := w.Win.Canvas().Focused().(desktop.Keyable); ok {
		focused.KeyDown(&fyne.KeyEvent{Name: name})
	}
	w.repeatKey(name)
}

// repeatKey is what a key that is held down does.
func (w *Window) repeatKey(name fyne.KeyName) {
	key := &fyne.KeyEvent{Name: name}
	if focused := w.Win.Canvas().Focused(); focused != nil {
		focused.TypedKey(key)
		return
	}
	w.Win.Canvas().OnTypedKey()(key)
}

// Each page fits a screen of 640 by 480 pixels, and one of 1024 by 600 at a scale of 1.5, which leaves 670 by 340. The
// list of pages shrinks with it.
func TestEveryPageFitsASmallScreen(t *testing.T) {
	w := openWindow(t, somebody(), "light")
	for i, p := range w.tabs.pages {
		w.tabs.selectIndex(i)
		if m := w.Win.Content().MinSize(); m.Width > 640 || m.Height > 330 {
			t.Errorf("%s needs %v", p.name, m)
		}
	}
	w.Win.Resize(fyne.NewSize(670, 340))
	if width := w.tabs.list.Size().Width; width < 100 || width > 160 {
		t.Errorf("the list of pages is %v wide", w.tabs.list.Size().Width)
	}
	w.Win.Resize(fyne.NewSize(900, 600))
	if w.tabs.list.Size().Width != 232 {
		t.Errorf("the list of pages is %v wide", w.tabs.list.Size().Width)
	}
}

// The usual keys of windows work here, also in a text field.
func TestKeys(t *testing.T) {
	for _, inField := range []bool{false, true} {
		t.Run(fmt.Sprint("in a field: ", inField), func(t *testing.T) {
			w, _ := few(t)
			focus := func() {
				w.Win.Canvas().Unfocus()
				if inField {
					w.Win.Canvas().Focus(w.general.timeout)
				}
			}
			focus()
			w.press(fyne.KeyTab, fyne.KeyModifierControl)
			w.press(fyne.KeyPageDown, fyne.KeyModifierControl)
			if w.tabs.selected != 2 || !w.tabs.pages[2].content.Visible() || w.tabs.pages[0].content.Visible() {
				t.Errorf("on page %d", w.tabs.selected)
			}
			for range 3 {
				w.press(fyne.KeyTab, fyne.KeyModifierControl|fyne.KeyModifierShift)
			}
			w.press(fyne.KeyPageUp, fyne.KeyModifierControl)
			if w.tabs.selected != len(w.tabs.pages)-2 {
				t.Errorf("on page %d: want round and round", w.tabs.selected)
			}
			for _, closing := range []func(){w.typeEscape, func() { w.press(fyne.KeyW, fyne.KeyModifierShortcutDefault) }} {
				w.Show(false)
				focus()
				closing()
				if w.Visible() {
					t.Error("it stays open")
				}
			}
		})
	}
}

// A list that was open when the window was closed is closed when it opens again.
func TestClosingClosesLists(t *testing.T) {
	w, _ := few(t)
	w.general.pause.pick.Tapped(nil)
	if w.Win.Canvas().Overlays().Top() == nil {
		t.Fatal("no list")
	}
	w.close()
	if w.Win.Canvas().Overlays().Top() != nil {
		t.Error("the list is still open")
	}
}

// Escape first closes what is open on the page.
func TestEscapeLeavesOneThing(t *testing.T) {
	w, _ := few(t)
	w.Win.Canvas().Focus(w.general.timeout)
	w.general.timeout.SetText("9m")
	w.typeEscape()
	if !w.Visible() || w.general.timeout.Text != "5 minutes" {
		t.Errorf("open %v, shows %q", w.Visible(), w.general.timeout.Text)
	}
	w.tabs.selectIndex(onAllow)
	w.allow.edit(policy.Rule{})
	w.typeEscape()
	if !w.Visible() || w.allow.editor != nil {
		t.Error("the form is open, or the window closed with it")
	}
	w.typeEscape()
	if w.Visible() {
		t.Error("it stays open")
	}
}

// Escape closes what a button opened, and only that; the next one closes the window.
func TestEscapeClosesWhatAButtonOpened(t *testing.T) {
	o := somebody()
	w, claude, _ := onAgents(t, o, "light", "claude-code")
	w.desktopFolder = func(string) (string, error) { return "", errors.New("no portal") }
	w.tabs.selectIndex(onAllow)
	network := w.allow.classes[policy.Network].check
	overlay := func() bool { return w.Win.Canvas().Overlays().Top() != nil }
	for name, tt := range map[string]struct {
		page   int
		press  func()
		isOpen func() bool
	}{
		"a question": {onAllow, func() { test.Tap(network) }, func() bool { return overlay() || network.Checked }},
		"a folder":   {onFolders, func() { test.Tap(w.folders.browse) }, overlay},
		"a set-up":   {onAgentsPage, func() { test.Tap(claude.setUp) }, func() bool { return len(claude.body.Objects) > 0 }},
		"a new device": {onMachines, func() { test.Tap(w.machines.phone.add) },
			func() bool { return w.machines.phone.inviting != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			w.Show(false)
			w.tabs.selectIndex(tt.page)
			tt.press()
			if !tt.isOpen() {
				t.Fatal("nothing opened")
			}
			w.typeEscape()
			if tt.isOpen() || !w.Visible() {
				t.Errorf("open %v, window %v", tt.isOpen(), w.Visible())
			}
			w.typeEscape()
			if w.Visible() {
				t.Error("the window stays open")
			}
			w.Show(false)
			tt.press()
			if w.close(); w.dialog != nil || overlay() {
				t.Error("it outlives the window")
			}
		})
	}
}

// Every focused control is in view, is pressed by Space and Enter, and passes other keys to the window.
func TestControlsByKeyboard(t *testing.T) {
	w, o := few(t)
	w.Win.Resize(fyne.NewSize(700, 300))
	canvas := w.Win.Canvas()
	d := fyne.CurrentApp().Driver()
	seen := map[fyne.Focusable]bool{}
	for canvas.FocusNext(); canvas.Focused() != nil && !seen[canvas.Focused()]; canvas.FocusNext() {
		f := canvas.Focused()
		seen[f] = true
		at, size := d.AbsolutePositionForObject(f.(fyne.CanvasObject)), f.(fyne.CanvasObject).Size()
		if at.Y < 0 || at.Y+size.Height > canvas.Size().Height {
			t.Errorf("%T at %v is out of view", f, at)
		}
	}
	if len(seen) < 9 {
		t.Errorf("%d controls have the focus in turn", len(seen))
	}
	var at float32
	for _, key := range []fyne.KeyName{fyne.KeyHome, fyne.KeyPageDown, fyne.KeyDown, fyne.KeyEnd} {
		canvas.Focus(w.general.onTop.check)
		page := w.general.content.(*container.Scroll)
		if key == fyne.KeyPageDown {
			page.ScrollToTop()
		}
		w.typeKey(key)
		if key != fyne.KeyHome && page.Offset.Y <= at {
			t.Errorf("%s leads from %v to %v", key, at, page.Offset.Y)
		}
		at = page.Offset.Y
	}
	canvas.Focus(w.tabs.list)
	for range onFolders {
		w.typeKey(fyne.KeyDown)
	}
	if w.tabs.selected != onFolders {
		t.Errorf("on page %d", w.tabs.selected)
	}
	for _, key := range []fyne.KeyName{fyne.KeySpace, fyne.KeyReturn} {
		w.folders.entry.SetText(t.TempDir())
		canvas.Focus(w.folders.add)
		w.typeKey(key)
		if canvas.Focused() != w.folders.add {
			t.Errorf("%s takes the focus away", key)
		}
	}
	if got := o.config().Policy.TrustedRoots; len(got) != 2 {
		t.Errorf("folders %q", got)
	}
	w.typeKey(fyne.KeyEscape)
	if w.Visible() {
		t.Error("Escape on a button does nothing")
	}
}

// The focus is seen: a line goes around a button, filled or not, and around the selected page.
func TestTheFocusIsSeen(t *testing.T) {
	w, _ := few(t)
	w.press(fyne.KeyTab, fyne.KeyModifierControl)
	w.allow.edit(policy.Rule{})
	form := w.allow.editor
	for _, f := range []fyne.Focusable{w.tabs.list, form.save, buttonIn(t, form.content, "Cancel")} {
		w.Win.Canvas().Focus(f)
		rings := 0
		dialogstest.Walk(f.(fyne.CanvasObject), func(o fyne.CanvasObject) {
			r, isRectangle := o.(*canvas.Rectangle)
			if isRectangle && r.StrokeWidth > 0 && r.StrokeColor != color.Transparent {
				rings++
			}
		})
		if rings != 1 {
			t.Errorf("%T has %d lines around it", f, rings)
		}
	}
	w.Win.Canvas().Focus(w.tabs.list)
	w.typeKey(fyne.KeyDown)
	if w.tabs.selected != onAllow+1 {
		t.Errorf("Down leads from page %d to %d", onAllow, w.tabs.selected)
	}
}

// The wheel scrolls the page also over a text field, which takes it only while it has more than it shows.
func TestTheWheelOverATextField(t *testing.T) {
	w, _ := few(t)
	w.Win.Resize(fyne.NewSize(900, 300))
	w.tabs.selectIndex(onAllow)
	w.allow.edit(policy.Rule{})
	w.Win.Resize(fyne.NewSize(900, 301))
	var form *container.Scroll
	dialogstest.Walk(w.allow.content, func(o fyne.CanvasObject) {
		if s, ok := o.(*container.Scroll); ok && form == nil {
			form = s
		}
	})
	over := func(e *controls.TextField) fyne.Position {
		return fyne.CurrentApp().Driver().AbsolutePositionForObject(e).AddXY(40, 10)
	}
	test.Scroll(w.Win.Canvas(), over(w.allow.editor.texts["tool"]), 0, -20)
	if form.Offset.Y != 20 {
		t.Errorf("the form is at %v after the wheel over a field", form.Offset.Y)
	}
	run := w.allow.editor.texts["run"]
	run.SetText("one\ntwo\nthree\nfour\nfive\nsix")
	test.Scroll(w.Win.Canvas(), over(run), 0, -20)
	if form.Offset.Y != 20 {
		t.Error("the form moved while the field had lines to show")
	}
	for range 20 {
		test.Scroll(w.Win.Canvas(), over(run), 0, -20)
	}
	if form.Offset.Y == 20 {
		t.Error("the form does not move once the field is at its end")
	}
}

// Agents on this machine come first, the others on request.
func TestAgentsThatAreHereComeFirst(t *testing.T) {
	w, _, _ := onAgents(t, somebody(), "light", "claude-code")
	p := w.agents
	if n := len(p.found.Objects); n != 2 || p.others.Visible() || p.looking.Visible() {
		t.Errorf("%d found, others in view: %v", n, p.others.Visible())
	}
	if n := len(p.others.Objects); n != len(p.cards)-2 {
		t.Errorf("%d others of %d", n, len(p.cards))
	}
	test.Tap(p.more)
	if !p.others.Visible() {
		t.Error("the others stay out of view")
	}
	codex := w.cardOf(t, "codex")
	test.Tap(codex.setUp)
	test.Tap(buttonIn(t, codex.body, "Set up"))
	if p.found.Objects[1] != codex.content {
		t.Error("what was set up is not among those that are here")
	}
}

// elsewhere is an application whose objects are on no canvas, as one is that has just left its window.
type elsewhere struct{ fyne.App }

func (a elsewhere) Driver() fyne.Driver { return elsewhereDriver{a.App.Driver()} }

type elsewhereDriver struct{ fyne.Driver }

func (elsewhereDriver) CanvasForObject(fyne.CanvasObject) fyne.Canvas { return nil }

func TestWheelOverAFieldThatIsGone(t *testing.T) {
	fyne.SetCurrentApp(elsewhere{test.NewTempApp(t)})
	scrolled := 0
	for _, field := range []fyne.Widget{controls.NewTextField(nil, true), controls.NewTextField(nil, false)} {
		for _, o := range test.WidgetRenderer(field).Objects() {
			if over, ok := o.(fyne.Scrollable); ok {
				over.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -1)})
				scrolled++
			}
		}
	}
	if scrolled < 2 {
		t.Errorf("%d objects take the wheel", scrolled)
	}
}
