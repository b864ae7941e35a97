package settings

import (
	"cmp"
	"reflect"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/policy"
)

// The measures of the window, in Fyne's device independent pixels.
const (
	pageWidth    = 640 // text gets no wider, however wide the window is
	controlWidth = 190
	sectionGap   = 22
)

// part is what the parts of the window have in common.
type part struct {
	win     *Window
	content fyne.CanvasObject
	body    *fyne.Container // of the content: what changes
	problem *remark         // with what the person did last
	work    worker
	drawn   drawn
}

func newPart(w *Window) part {
	return part{
		win: w, work: worker{aside: w.aside}, body: container.NewStack(), problem: newRemark(widget.DangerImportance),
	}
}

// page is a scrolling column of sections.
func page(sections ...fyne.CanvasObject) fyne.CanvasObject {
	column := container.New(atMost(pageWidth), dialogs.Column(sectionGap, sections...))
	return container.NewVScroll(dialogs.Padded(16, 20, column))
}

// section is a heading, a line that explains it, and a card of rows.
func section(heading, hint string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Column(9, header(heading, hint), card(rows...))
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

// card holds rows, with hairlines between them.
func card(rows ...fyne.CanvasObject) fyne.CanvasObject {
	var all []fyne.CanvasObject
	for i, r := range rows {
		if i > 0 {
			all = append(all, dialogs.Rule())
		}
		all = append(all, r)
	}
	return dialogs.Card(dialogs.ColorSunken, dialogs.Column(0, all...)) // at once: each Add lays all of them out again
}

// field is a row: what is set, what it means and what is wrong with it to the left, the control to the right.
type field struct {
	content fyne.CanvasObject
	problem *remark
}

func (f *field) row() *field { return f }

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
	setVisible(r.content, s != "")
	if s != "" {
		r.label.SetText(s)
	}
}

// complain says what is wrong, or with nil that nothing is.
func (r *remark) complain(err error) {
	if err == nil {
		r.say("")
		return
	}
	r.say(err.Error())
}

// exact is a text of a program or a person, to the letter.
func exact(s string, size fyne.ThemeSizeName) fyne.CanvasObject {
	l := dialogs.Lines(s, size, widget.MediumImportance)
	l.TextStyle.Monospace, l.Wrapping = true, fyne.TextWrapBreak
	return dialogs.Tight(l)
}

// bold is a paragraph that heads others.
func bold(s string, size fyne.ThemeSizeName) fyne.CanvasObject {
	l := dialogs.Lines(s, size, widget.MediumImportance)
	l.TextStyle.Bold = true
	return dialogs.Tight(l)
}

// paragraph is a text of first rank.
func paragraph(s string, i widget.Importance) fyne.CanvasObject {
	return dialogs.Tight(dialogs.Lines(s, theme.SizeNameText, i))
}

// muted is a paragraph of second rank.
func muted(s string) fyne.CanvasObject {
	return dialogs.Tight(dialogs.Lines(s, theme.SizeNameCaptionText, widget.LowImportance))
}

// footOf is what stays at the lower edge of a page.
func footOf(o fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Surface(theme.ColorNameBackground, container.NewVBox(dialogs.Rule(), o))
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

// sized gives its only object exactly that size; where it says nothing the object has its own.
type sized fyne.Size

func (s sized) MinSize(objects []fyne.CanvasObject) fyne.Size {
	m := objects[0].MinSize()
	return fyne.NewSize(cmp.Or(s.Width, m.Width), cmp.Or(s.Height, m.Height))
}

func (s sized) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// wide gives an object exactly that width.
func wide(width float32, o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(sized{Width: width}, o)
}

// topLeft keeps an object in the upper left of a column.
func topLeft(width float32, o fyne.CanvasObject) fyne.CanvasObject {
	return wide(width, container.NewHBox(container.NewVBox(o)))
}

// badged is a row of a card that begins with a badge, in a column of that width.
func badged(width float32, badge, words fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Padded(9, 12, container.NewBorder(nil, nil, topLeft(width, badge), nil, words))
}

// effectBadge names an effect.
func effectBadge(e policy.Effect) fyne.CanvasObject {
	return dialogs.Badge(effectName(e), dialogs.EffectColor(e))
}

// ranked is a button of another rank than Fyne's own. It may be without an icon.
func ranked(i widget.Importance, text string, icon fyne.Resource, tapped func()) *button {
	b := newIconButton(text, icon, tapped)
	b.Importance = i
	return b
}

// mainButton does what a page is for.
func mainButton(text string, icon fyne.Resource, tapped func()) *button {
	return ranked(widget.HighImportance, text, icon, tapped)
}

// quietButton is a button of second rank.
func quietButton(text string, icon fyne.Resource, tapped func()) *button {
	return ranked(widget.LowImportance, text, icon, tapped)
}

// emptyRow says that a list has nothing in it.
func emptyRow(text string) fyne.CanvasObject {
	return dialogs.Padded(12, 14, paragraph(text, widget.LowImportance))
}

// setContent puts objects into a container, in place of what was there.
func setContent(c *fyne.Container, objects ...fyne.CanvasObject) {
	c.Objects = objects
	c.Refresh()
}

// drawn remembers what a list was drawn from: while that is the same, its rows and the focus among them stay.
type drawn []any

// changed reports whether the list was drawn from other values than these. From now on it counts as drawn from these.
func (d *drawn) changed(values ...any) bool {
	changed := !reflect.DeepEqual(*d, drawn(values))
	*d = values
	return changed
}
