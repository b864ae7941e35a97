package settings

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/ipc/operator"
	"nod/policy/config"
)

// review replaces the content of the window while a change of the policy file by another program waits for the user. As
// in a prompt, accepting works only after all of the change has been in view for a moment; rejecting works immediately.
type review struct {
	part
	held    config.HeldChange
	armed   bool              // it has been visible long enough that a click is meant for it
	seen    bool              // all of it has been in view
	changed fyne.CanvasObject // says that the file was changed
	unknown fyne.CanvasObject // … or that it is unknown what was changed
	undo    *chordButton
	accept  *chordButton
}

// leastHeight is the least height of the text of a change. It leaves a small window room for the buttons.
const leastHeight = 60

// chordButton is pressed by a click or a chord, never by Enter or Space: the window appears by itself, so the user may
// mean another program with these keys.
type chordButton struct{ controls.Button }

func newChordButton(text, key string, tapped func()) *chordButton {
	b := &chordButton{}
	b.Text, b.OnTapped = text+" ("+dialogs.CommandName()+"+"+key+")", tapped
	b.ExtendBaseWidget(b)
	return b
}

func (b *chordButton) TypedKey(k *fyne.KeyEvent) { dialogs.PassOn(b, k) }

func newReview(w *Window) *review {
	r := &review{part: newPart(w)}
	r.accept = newChordButton(lang.L("Accept the change"), "Enter", func() { r.settle(true) })
	r.accept.Importance = widget.HighImportance
	r.undo = newChordButton(lang.L("Restore the old file"), "D", func() { r.settle(false) })
	r.changed = dialogs.Column(6,
		controls.Bold(lang.L("Another program changed the policy file"), theme.SizeNameSubHeadingText),
		controls.Paragraph(lang.L("If you made this change, accept it. Until then nod denies what the new text denies "+
			"and asks about what only the new text allows."), widget.MediumImportance))
	r.unknown = dialogs.Column(6,
		controls.Bold(lang.L("nod can't tell which policy you accepted"), theme.SizeNameSubHeadingText),
		controls.Paragraph(lang.L("The record of the policy you accepted was changed or removed. If the policy below is "+
			"yours, accept it; in a fresh installation it is empty. Until then nod asks about everything it doesn't deny."),
			widget.MediumImportance))
	top := container.NewStack(r.changed, r.unknown)
	foot := dialogs.Column(8, r.problem.Content, container.NewHBox(r.undo, layout.NewSpacer(), r.accept))
	r.content = container.NewStack(dialogs.Padded(18, 20,
		container.NewBorder(top, foot, nil, nil, dialogs.Padded(12, 0, r.body))))
	r.content.Hide()
	return r
}

func (r *review) refresh(s operator.State) bool {
	if s.Held == nil {
		r.drawn = nil
		r.problem.Say("")
		r.content.Hide()
		return false
	}
	if r.drawn.changed(*s.Held) {
		r.show(*s.Held, s.Config.Prompt.ArmAfter)
	}
	return true
}

func (r *review) show(held config.HeldChange, armAfter time.Duration) {
	r.held, r.armed, r.seen = held, false, false
	diff := dialogs.Diff(held.Before, held.After, func() {
		r.seen = true
		r.arm()
	})
	dialogs.SetVisible(r.unknown, held.IsUnknown)
	dialogs.SetVisible(r.changed, !held.IsUnknown)
	dialogs.SetVisible(r.undo, !held.IsUnknown) // else nothing could be restored
	r.content.Show()
	shown := dialogs.Sized(0, leastHeight, diff)
	controls.SetContent(r.body, shown)
	r.arm()
	r.win.After(armAfter, func() {
		if r.body.Objects[0] == shown {
			r.armed = true
			r.arm()
		}
	})
}

func (r *review) arm() {
	controls.Enable(r.armed && r.seen, r.accept)
}

// press presses a button by its chord, once the user can have seen it.
func (r *review) press(b *chordButton) {
	if r.content.Visible() && r.armed && b.Visible() && !b.Disabled() {
		b.OnTapped()
	}
}

func (r *review) settle(accept bool) {
	held := r.held
	r.win.Act(func(ctx context.Context) error {
		return r.win.opts.Operator.SettleHeld(ctx, held, accept)
	}, r.problem.Complain)
}
