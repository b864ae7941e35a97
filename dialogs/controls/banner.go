package controls

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
)

// banner is the strip above the tabs that shows a problem.
type banner struct {
	Content fyne.CanvasObject
	win     *Window
	head    *widget.Label
	text    *widget.Label
	open    *Button

	problem string // with the policy file
	failure error  // of the last action of the user
}

func newBanner(w *Window, open func()) *banner {
	b := &banner{
		win:  w,
		head: dialogs.Lines("", theme.SizeNameText, widget.DangerImportance),
		text: dialogs.Lines("", theme.SizeNameCaptionText, widget.MediumImportance),
		open: NewButton(lang.L("Open the file"), nil, open),
	}
	b.head.TextStyle.Bold = true
	b.text.Selectable = true
	icon := widget.NewIcon(theme.NewErrorThemedResource(theme.ErrorIcon()))
	words := dialogs.Column(4, dialogs.Tight(b.head), dialogs.Tight(b.text))
	b.Content = dialogs.Padded(8, 8, dialogs.Card(dialogs.ColorPaper, dialogs.Padded(12, 14,
		container.NewBorder(nil, nil, icon, container.NewCenter(b.open), dialogs.Padded(0, 12, words)))))
	b.Content.Hide()
	return b
}

func (b *banner) draw() {
	dialogs.SetVisible(b.open, b.problem != "")
	switch {
	case b.problem != "":
		b.head.SetText(lang.L("The policy file has an error, so nod asks about everything. Fix the file to " +
			"change settings here."))
		b.text.SetText(b.problem)
	case b.failure != nil:
		b.head.SetText(lang.L("That didn't work."))
		b.text.SetText(b.failure.Error())
	}
	b.win.setVisible(b.Content, b.problem != "" || b.failure != nil)
}
