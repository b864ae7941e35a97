package controls

import (
	"cmp"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/policy"
)

// Remark is a small paragraph, hidden while it is empty.
type Remark struct {
	Content fyne.CanvasObject
	Label   *widget.Label
}

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

// Exact shows a text from a program or a user unchanged.
func Exact(s string, size fyne.ThemeSizeName) fyne.CanvasObject {
	l := dialogs.Lines(s, size, widget.MediumImportance)
	l.TextStyle.Monospace, l.Wrapping = true, fyne.TextWrapBreak
	return dialogs.Tight(l)
}

// Bold returns a paragraph that serves as a heading.
func Bold(s string, size fyne.ThemeSizeName) fyne.CanvasObject {
	l := dialogs.Lines(s, size, widget.MediumImportance)
	l.TextStyle.Bold = true
	return dialogs.Tight(l)
}

func Paragraph(s string, i widget.Importance) fyne.CanvasObject {
	return dialogs.Tight(dialogs.Lines(s, theme.SizeNameText, i))
}

func Small(s string, i widget.Importance) fyne.CanvasObject {
	return dialogs.Tight(dialogs.Lines(s, theme.SizeNameCaptionText, i))
}

func Muted(s string) fyne.CanvasObject { return Small(s, widget.LowImportance) }

// FootOf returns an area that stays at the lower edge of a page.
func FootOf(o fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Surface(theme.ColorNameBackground, container.NewVBox(dialogs.Rule(), o))
}

func Enable(on bool, controls ...fyne.Disableable) {
	for _, c := range controls {
		if on {
			c.Enable()
		} else {
			c.Disable()
		}
	}
}

// Besides puts a control to the right of a text, which gets the remaining width; both are vertically centered.
func Besides(gap float32, text, control fyne.CanvasObject) fyne.CanvasObject {
	return container.New(besides{gap}, text, control)
}

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

func EffectBadge(e policy.Effect) fyne.CanvasObject {
	color := cmp.Or(map[policy.Effect]fyne.ThemeColorName{
		policy.Allow: theme.ColorNameSuccess, policy.Sandbox: theme.ColorNamePrimary, policy.Deny: theme.ColorNameError,
	}[e], theme.ColorNameWarning)
	return dialogs.Badge(EffectName(e), color)
}

func ranked(i widget.Importance, text string, icon fyne.Resource, tapped func()) *Button {
	b := NewButton(text, icon, tapped)
	b.Importance = i
	return b
}

// MainButton returns the button for the main action of a page.
func MainButton(text string, icon fyne.Resource, tapped func()) *Button {
	return ranked(widget.HighImportance, text, icon, tapped)
}

// QuietButton returns a button for a secondary action.
func QuietButton(text string, icon fyne.Resource, tapped func()) *Button {
	return ranked(widget.LowImportance, text, icon, tapped)
}

// SetContent replaces the objects of a container.
func SetContent(c *fyne.Container, objects ...fyne.CanvasObject) {
	c.Objects = objects
	c.Refresh()
}
