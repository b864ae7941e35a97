package dialogs

import (
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
	"nod/ipc/operator"
)

// maxUndoText is how much is shown of what can be undone, in characters.
const maxUndoText = 48

// UndoWords say what the person did and can take back.
func UndoWords(u operator.Undo, now time.Time) string {
	v := values{"What": shortText(u.Text, maxUndoText), "Time": clock(u.Until.Sub(now))}
	switch u.Kind {
	case operator.UndoDeny:
		return tr("Denied: {{.What}} · the agent is told in {{.Time}}", v)
	case operator.UndoKeep:
		return tr("Saved: {{.What}}", v)
	case operator.UndoRevoke:
		return tr("Revoked: {{.What}}", v)
	}
	return tr("Rule deleted: {{.What}}", v)
}

// UndoneWords say what has come of taking something back.
func UndoneWords(u operator.Undo) string {
	switch u.Kind {
	case operator.UndoDeny:
		return tr("Not denied: the agent waits for your answer.")
	case operator.UndoKeep:
		return tr("Removed. The call that was allowed already ran.")
	}
	return tr("Restored.")
}

// Settle takes back what the person did a moment ago, or lets it stand at once. It must not block; it calls done on the
// UI goroutine.
type Settle func(undo int, back bool, done func(error))

// UndoBar is a line with what the person did last and can take back.
type UndoBar struct {
	Content fyne.CanvasObject

	settle Settle
	latest operator.Undo // ID 0: there is none
	text   *widget.Label
	undo   fyne.CanvasObject
	send   fyne.CanvasObject // lets a denial go at once
}

// NewUndoBar returns a bar that is empty.
func NewUndoBar(settle Settle) *UndoBar {
	return newUndoBar(settle, func(text, hint string, do func()) fyne.CanvasObject {
		return widget.NewButton(strings.TrimSpace(text+"  "+hint), do)
	})
}

func newUndoBar(settle Settle, button func(text, hint string, do func()) fyne.CanvasObject) *UndoBar {
	b := &UndoBar{settle: settle, text: Lines("", theme.SizeNameCaptionText, widget.MediumImportance)}
	b.text.Wrapping, b.text.Truncation = fyne.TextWrapOff, fyne.TextTruncateEllipsis
	b.undo = button(tr("Undo"), commandName()+"+Z", b.TakeBack)
	b.send = button(tr("Tell it now"), "", func() { b.end(false) })
	line := container.NewBorder(nil, nil, nil, Row(6, b.send, b.undo), container.NewVBox(
		layout.NewSpacer(), Tight(b.text), layout.NewSpacer()))
	b.Content = Column(0, Rule(), Surface(ColorSunken, Padded(5, 12, line)))
	b.Show(nil, time.Time{})
	return b
}

// Show shows the last of what can be taken back. When there is nothing it leaves what it said last of something that
// was taken back.
func (b *UndoBar) Show(list []operator.Undo, now time.Time) {
	was := b.latest
	b.latest = operator.Undo{}
	if len(list) > 0 {
		b.latest = list[len(list)-1]
		b.text.SetText(UndoWords(b.latest, now))
	} else if was.ID != 0 {
		b.text.SetText("")
	}
	setVisible(b.undo, b.latest.ID != 0)
	setVisible(b.send, b.latest.Kind == operator.UndoDeny)
}

// TakeBack takes back what the bar shows.
func (b *UndoBar) TakeBack() { b.end(true) }

func (b *UndoBar) end(back bool) {
	done := b.latest
	if done.ID == 0 {
		return
	}
	b.Show(nil, time.Time{})
	b.settle(done.ID, back, func(err error) {
		switch {
		case b.latest.ID != 0 || !back:
		case err != nil:
			b.text.SetText(tr("Not undone: {{.Problem}}", values{"Problem": prompt.PlainText(err.Error())}))
		default:
			b.text.SetText(UndoneWords(done))
		}
	})
}

// undoRow is the bar below a prompt, in room of its own: it covers nothing. It keeps that room for as long as the
// prompt is there, so that nothing moves when the time is over.
type undoRow struct {
	*UndoBar
	w    *window
	list []operator.Undo
	room bool    // the prompt in the window leaves room for it
	tall float32 // its height while it says something
}

func newUndoRow(w *window) *undoRow {
	r := &undoRow{w: w, UndoBar: newUndoBar(w.p.settle, func(text, hint string, do func()) fyne.CanvasObject {
		b := newButton(w, text, do)
		b.hint = hint
		return b
	})}
	r.Show([]operator.Undo{{ID: 1}}, time.Time{})
	r.tall = r.Content.MinSize().Height
	r.Show(nil, time.Time{})
	return r
}

// set says what can be taken back now.
func (r *undoRow) set(list []operator.Undo) {
	r.list = list
	r.Show(list, r.w.p.now())
	if r.w.page != nil && !r.room && len(list) > 0 {
		r.w.put(r.w.page)
		r.w.changed()
	}
}

// under puts the bar under the object of a prompt that is about to be shown, where there is something to take back.
func (r *undoRow) under(page fyne.CanvasObject) fyne.CanvasObject {
	r.room = len(r.list) > 0
	r.tick()
	if !r.room {
		return page
	}
	return container.New(r, page, r.Content)
}

// height is the room that it takes.
func (r *undoRow) height() float32 {
	if !r.room {
		return 0
	}
	return r.tall
}

// MinSize implements [fyne.Layout].
func (r *undoRow) MinSize(o []fyne.CanvasObject) fyne.Size {
	return o[0].MinSize().Add(fyne.NewSize(0, r.tall))
}

// Layout implements [fyne.Layout]: the prompt, and the bar under it.
func (r *undoRow) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Move(fyne.Position{})
	o[0].Resize(fyne.NewSize(size.Width, max(size.Height-r.tall, 0)))
	o[1].Move(fyne.NewPos(0, size.Height-r.tall))
	o[1].Resize(fyne.NewSize(size.Width, r.tall))
}

// tick shows how much time is left.
func (r *undoRow) tick() {
	if r.latest.ID != 0 {
		r.Show(r.list, r.w.p.now())
	}
}

// settle takes something back, or lets it stand.
func (p *Prompter) settle(undo int, back bool, done func(error)) {
	p.options.Settle(undo, back, func(err error) { p.post(func() { done(err) }) })
}

// SetUndos says what the person can take back, the newest last. What was done in the settings is not for prompts.
func (p *Prompter) SetUndos(list []operator.Undo) {
	list = slices.DeleteFunc(slices.Clone(list), func(u operator.Undo) bool { return !u.OfPrompt() })
	p.post(func() {
		if len(list) > 0 {
			p.ready()
		}
		if p.window != nil {
			p.window.undos.set(list)
			p.strip.set(list)
			p.tell()
		}
	})
}
