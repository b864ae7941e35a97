package settings

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/policy"
)

// review takes the place of everything else while another program's change of the policy file waits for the
// person. As at a prompt, yes works only after all of it has been in view for a moment; no works at once.
type review struct {
	content *fyne.Container
	store   Store
	done    func()
	after   func(time.Duration, func()) // runs something on the UI goroutine in a while

	held   policy.HeldChange
	shown  bool
	armed  bool // it has been there long enough that no click is meant for something else
	seen   bool // all of it has been in view
	diff   *fyne.Container
	wrong  *remark
	accept *widget.Button
}

func newReview(s Store, done func(), after func(time.Duration, func())) *review {
	r := &review{store: s, done: done, after: after, diff: container.NewStack(), wrong: newRemark(widget.DangerImportance)}
	r.accept = widget.NewButton(lang.L("Accept the change"), func() { r.settle(s.Accept) })
	r.accept.Importance = widget.HighImportance
	undo := widget.NewButton(lang.L("Put the old file back"), func() { r.settle(s.Undo) })
	head := dialogs.Lines(lang.L("Another program changed the policy file"), theme.SizeNameSubHeadingText, widget.MediumImportance)
	head.TextStyle.Bold = true
	words := dialogs.Lines(lang.L("If you did this in an editor, accept it. Until then nod refuses what the new text denies, and asks about what only the new text allows."),
		theme.SizeNameText, widget.MediumImportance)
	top := dialogs.Column(6, dialogs.Tight(head), dialogs.Tight(words))
	foot := dialogs.Column(8, r.wrong.content, container.NewHBox(undo, layout.NewSpacer(), r.accept))
	r.content = container.NewStack(dialogs.Padded(18, 20,
		container.NewBorder(dialogs.Padded(0, 0, top), foot, nil, nil, dialogs.Padded(12, 0, r.diff))))
	r.content.Hide()
	return r
}

// refresh shows what is held back, if anything is, and reports whether something is.
func (r *review) refresh() bool {
	held, isHeld := r.store.Held()
	if !isHeld {
		r.shown = false
		r.content.Hide()
		return false
	}
	if !r.shown || held != r.held {
		r.show(held)
	}
	return true
}

func (r *review) show(held policy.HeldChange) {
	r.held, r.shown, r.armed, r.seen = held, true, false, false
	r.wrong.say("")
	r.diff.Objects = []fyne.CanvasObject{dialogs.Diff(held.Before, held.After, func() {
		r.seen = true
		r.arm()
	})}
	r.content.Show()
	r.diff.Refresh()
	r.arm()
	r.after(r.store.Config().Prompt.ArmAfter, func() {
		if r.held == held {
			r.armed = true
			r.arm()
		}
	})
}

// arm lets the change be accepted once it may be.
func (r *review) arm() {
	enable(r.armed && r.seen, r.accept)
}

func (r *review) settle(how func(policy.HeldChange) error) {
	err := how(r.held)
	r.done()
	r.wrong.complain(err)
}
