package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
)

// The measures of the window, in Fyne's device independent pixels.
const (
	pageWidth    = 640 // text gets no wider, however wide the window is
	controlWidth = 190
	sectionGap   = 22
)

// page is a scrolling column of sections.
func page(sections ...fyne.CanvasObject) fyne.CanvasObject {
	return container.NewVScroll(dialogs.Padded(16, 20, container.New(atMost(pageWidth), dialogs.Column(sectionGap, sections...))))
}

// section is a heading, a line that explains it, and a card of rows.
func section(heading, hint string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	return sectionOf(header(heading, hint), rows...)
}

// header is a section's heading. What is behind it, such as a button, goes to the right.
func header(heading, hint string, behind ...fyne.CanvasObject) fyne.CanvasObject {
	words := dialogs.Column(3, dialogs.BoldWords(heading, theme.SizeNameSubHeadingText, theme.ColorNameForeground))
	if hint != "" {
		words.Add(muted(hint))
	}
	if len(behind) == 0 {
		return words
	}
	return container.NewBorder(nil, nil, nil, container.NewCenter(container.NewHBox(behind...)), words)
}

func sectionOf(header fyne.CanvasObject, rows ...fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Column(9, header, card(rows...))
}

// card holds rows, with hairlines between them.
func card(rows ...fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Card(dialogs.ColorSunken, ruled(rows...))
}

func ruled(rows ...fyne.CanvasObject) *fyne.Container {
	column := dialogs.Column(0)
	for i, r := range rows {
		if i > 0 {
			column.Add(dialogs.Rule())
		}
		column.Add(r)
	}
	return column
}

// field is a row: what is set, what it means and what is wrong with it to the left, the control to the right.
type field struct {
	content fyne.CanvasObject
	problem *remark
}

func newField(name, hint string, control fyne.CanvasObject) *field {
	f := &field{problem: newRemark(widget.DangerImportance)}
	words := dialogs.Column(2, dialogs.Words(name, theme.SizeNameText, theme.ColorNameForeground))
	if hint != "" {
		words.Add(muted(hint))
	}
	words.Add(f.problem.content)
	f.content = dialogs.Padded(10, 14, container.New(besides{gap: 16}, words, control))
	return f
}

// remark is a small paragraph that is there only while it has something to say.
type remark struct {
	content fyne.CanvasObject
	label   *widget.Label
}

func newRemark(i widget.Importance) *remark {
	l := dialogs.Lines("", theme.SizeNameCaptionText, i)
	r := &remark{content: dialogs.Tight(l), label: l}
	r.content.Hide()
	return r
}

func (r *remark) say(s string) {
	if s == "" {
		r.content.Hide()
		return
	}
	r.label.SetText(s)
	r.content.Show()
}

// complain says what is wrong, or with nil that nothing is.
func (r *remark) complain(err error) {
	if err == nil {
		r.say("")
		return
	}
	r.say(err.Error())
}

// muted is a paragraph of second rank.
func muted(s string) fyne.CanvasObject {
	return dialogs.Tight(dialogs.Lines(s, theme.SizeNameCaptionText, widget.LowImportance))
}

// enable switches controls on or off, all of them.
func enable(on bool, controls ...fyne.Disableable) {
	for _, c := range controls {
		if on {
			c.Enable()
		} else {
			c.Disable()
		}
	}
}

// atMost gives its only object the width there is, up to a limit, in the middle.
type atMost float32

func (w atMost) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

func (w atMost) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	width := min(size.Width, float32(w))
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[0].Move(fyne.NewPos((size.Width-width)/2, 0))
}

// besides puts a control to the right of a text that takes the rest of the width, both in the middle.
type besides struct{ gap float32 }

func (l besides) MinSize(objects []fyne.CanvasObject) fyne.Size {
	text, control := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(text.Width+l.gap+control.Width, max(text.Height, control.Height))
}

func (l besides) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	text, control := objects[0], objects[1].MinSize()
	text.Resize(fyne.NewSize(max(size.Width-control.Width-l.gap, 0), text.MinSize().Height))
	height := text.MinSize().Height
	text.Resize(fyne.NewSize(text.Size().Width, height))
	text.Move(fyne.NewPos(0, max((size.Height-height)/2, 0)))
	objects[1].Resize(control)
	objects[1].Move(fyne.NewPos(size.Width-control.Width, max((size.Height-control.Height)/2, 0)))
}

// wide gives a control a least width.
type wide struct{ width float32 }

func (l wide) MinSize(objects []fyne.CanvasObject) fyne.Size {
	m := objects[0].MinSize()
	return fyne.NewSize(max(m.Width, l.width), m.Height)
}

func (l wide) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }
