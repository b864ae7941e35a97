package controls

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

// Sizes in Fyne's device independent pixels.
const (
	pageWidth    = 640 // maximum width of text
	ControlWidth = 190
	SectionGap   = 22
)

// Page is a scrolling column of sections.
func Page(sections ...fyne.CanvasObject) fyne.CanvasObject {
	column := container.New(atMost(pageWidth), dialogs.Column(SectionGap, sections...))
	return container.NewVScroll(dialogs.Padded(16, 20, column))
}

// Section is a heading, a line that explains it, and a card of rows.
func Section(heading, hint string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Column(9, Header(heading, hint), Card(rows...))
}

// Header is the heading of a section. Objects in behind, such as a button, are at the right.
func Header(heading, hint string, behind ...fyne.CanvasObject) fyne.CanvasObject {
	words := dialogs.Column(3, dialogs.BoldWords(heading, theme.SizeNameSubHeadingText, theme.ColorNameForeground))
	if hint != "" {
		words.Add(Muted(hint))
	}
	if len(behind) == 0 {
		return words
	}
	return container.NewBorder(nil, nil, nil, container.NewCenter(container.NewHBox(behind...)), words)
}

// Card holds rows with hairlines between them.
func Card(rows ...fyne.CanvasObject) fyne.CanvasObject {
	var all []fyne.CanvasObject
	for i, r := range rows {
		if i > 0 {
			all = append(all, dialogs.Rule())
		}
		all = append(all, r)
	}
	return dialogs.Card(dialogs.ColorSunken, dialogs.Column(0, all...)) // once, since each Add lays out all
}

// List is a card with a row for each value, or with the sentence none.
func List[T any](all []T, row func(T) fyne.CanvasObject, none string) fyne.CanvasObject {
	if len(all) == 0 {
		return Card(EmptyRow(none))
	}
	var rows []fyne.CanvasObject
	for _, one := range all {
		rows = append(rows, row(one))
	}
	return Card(rows...)
}

// Setting is a row: the name of a setting, its explanation and its problem, and its control at the right.
type Setting struct {
	Content fyne.CanvasObject
	Problem *Remark
}

// Row returns the row itself, for types that embed it.
func (f *Setting) Row() *Setting { return f }

// NewSetting returns a row without a problem.
func NewSetting(name, hint string, control fyne.CanvasObject) *Setting {
	f := &Setting{Problem: NewRemark(widget.DangerImportance)}
	words := dialogs.Column(2, dialogs.Words(name, theme.SizeNameText, theme.ColorNameForeground))
	if hint != "" {
		words.Add(Muted(hint))
	}
	words.Add(f.Problem.Content)
	f.Content = dialogs.Padded(10, 14, container.New(Besides{Gap: 16}, words, control))
	return f
}

// Remark is a small paragraph, hidden while it is empty.
type Remark struct {
	Content fyne.CanvasObject
	Label   *widget.Label
}

// NewRemark returns an empty paragraph.
func NewRemark(i widget.Importance) *Remark {
	l := dialogs.Lines("", theme.SizeNameCaptionText, i)
	r := &Remark{Content: dialogs.Tight(l), Label: l}
	r.Content.Hide()
	return r
}

func (r *Remark) Say(s string) {
	dialogs.SetVisible(r.Content, s != "")
	if s != "" {
		r.Label.SetText(s)
	}
}

// Complain shows err, or hides the paragraph if err is nil.
func (r *Remark) Complain(err error) {
	if err == nil {
		r.Say("")
		return
	}
	r.Say(err.Error())
}

// Exact shows a text of a program or a user unchanged.
func Exact(s string, size fyne.ThemeSizeName) fyne.CanvasObject {
	l := dialogs.Lines(s, size, widget.MediumImportance)
	l.TextStyle.Monospace, l.Wrapping = true, fyne.TextWrapBreak
	return dialogs.Tight(l)
}

// Bold is a paragraph that serves as a heading.
func Bold(s string, size fyne.ThemeSizeName) fyne.CanvasObject {
	l := dialogs.Lines(s, size, widget.MediumImportance)
	l.TextStyle.Bold = true
	return dialogs.Tight(l)
}

// Paragraph is a text that wraps.
func Paragraph(s string, i widget.Importance) fyne.CanvasObject {
	return dialogs.Tight(dialogs.Lines(s, theme.SizeNameText, i))
}

// Muted is a paragraph of secondary text.
func Muted(s string) fyne.CanvasObject {
	return dialogs.Tight(dialogs.Lines(s, theme.SizeNameCaptionText, widget.LowImportance))
}

// FootOf is an area that stays at the lower edge of a page.
func FootOf(o fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Surface(theme.ColorNameBackground, container.NewVBox(dialogs.Rule(), o))
}

// Enable enables or disables all of the controls.
func Enable(on bool, controls ...fyne.Disableable) {
	for _, c := range controls {
		if on {
			c.Enable()
		} else {
			c.Disable()
		}
	}
}

// atMost centers its only object and gives it the available width, up to a limit.
type atMost float32

func (w atMost) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

func (w atMost) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	width := min(size.Width, float32(w))
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[0].Move(fyne.NewPos((size.Width-width)/2, 0))
}

// Besides puts a control to the right of a text, which gets the remaining width; both are vertically centered.
type Besides struct{ Gap float32 }

func (l Besides) MinSize(objects []fyne.CanvasObject) fyne.Size {
	text, control := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(text.Width+l.Gap+control.Width, max(text.Height, control.Height))
}

func (l Besides) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	text, control := objects[0], objects[1].MinSize()
	text.Resize(fyne.NewSize(max(size.Width-control.Width-l.Gap, 0), text.MinSize().Height))
	height := text.MinSize().Height
	text.Resize(fyne.NewSize(text.Size().Width, height))
	text.Move(fyne.NewPos(0, max((size.Height-height)/2, 0)))
	objects[1].Resize(control)
	objects[1].Move(fyne.NewPos(size.Width-control.Width, max((size.Height-control.Height)/2, 0)))
}

// Wide gives an object exactly that width.
func Wide(width float32, o fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Sized(width, 0, o)
}

// TopLeft puts an object at the upper left of a column.
func TopLeft(width float32, o fyne.CanvasObject) fyne.CanvasObject {
	return Wide(width, container.NewHBox(container.NewVBox(o)))
}

// Badged is a row of a card that starts with a badge, in a column of that width.
func Badged(width float32, badge, words fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Padded(9, 12, container.NewBorder(nil, nil, TopLeft(width, badge), nil, words))
}

func EffectBadge(e policy.Effect) fyne.CanvasObject {
	color := cmp.Or(map[policy.Effect]fyne.ThemeColorName{
		policy.Allow: theme.ColorNameSuccess, policy.Sandbox: theme.ColorNamePrimary, policy.Deny: theme.ColorNameError,
	}[e], theme.ColorNameWarning)
	return dialogs.Badge(EffectName(e), color)
}

// ranked is a button with another importance. icon may be nil.
func ranked(i widget.Importance, text string, icon fyne.Resource, tapped func()) *Button {
	b := NewIconButton(text, icon, tapped)
	b.Importance = i
	return b
}

// MainButton is the button for the main action of a page.
func MainButton(text string, icon fyne.Resource, tapped func()) *Button {
	return ranked(widget.HighImportance, text, icon, tapped)
}

// QuietButton is a button for a secondary action.
func QuietButton(text string, icon fyne.Resource, tapped func()) *Button {
	return ranked(widget.LowImportance, text, icon, tapped)
}

// EmptyRow says that a list is empty.
func EmptyRow(text string) fyne.CanvasObject {
	return dialogs.Padded(12, 14, Paragraph(text, widget.LowImportance))
}

// SetContent replaces the objects of a container.
func SetContent(c *fyne.Container, objects ...fyne.CanvasObject) {
	c.Objects = objects
	c.Refresh()
}

// Drawn remembers the values that a list was drawn from: while they stay the same, its rows and their focus are kept.
type Drawn []any

// Changed stores values and reports whether they differ from the last ones.
func (d *Drawn) Changed(values ...any) bool {
	changed := !reflect.DeepEqual(*d, Drawn(values))
	*d = values
	return changed
}
