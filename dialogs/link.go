package dialogs

import (
	"image/color"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// linkedText is a rich text on one base line, with nod's links instead of Fyne's, which swallow all keys, even Escape.
type linkedText struct {
	widget.RichText
	w *window // nil outside a prompt, where there are no links
}

func newLinkedText(w *window, segments []widget.RichTextSegment) *linkedText {
	t := &linkedText{w: w}
	t.Segments, t.Wrapping, t.Scroll = segments, fyne.TextWrapWord, fyne.ScrollNone
	t.ExtendBaseWidget(t)
	return t
}

func (t *linkedText) CreateRenderer() fyne.WidgetRenderer {
	return &linkedRenderer{t.RichText.CreateRenderer(), t.w, map[*widget.Hyperlink]*link{}}
}

type linkedRenderer struct {
	fyne.WidgetRenderer
	w     *window
	links map[*widget.Hyperlink]*link
}

func (r *linkedRenderer) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.align()
}

func (r *linkedRenderer) Refresh() {
	r.WidgetRenderer.Refresh()
	r.align()
}

// align puts the texts on one base line. Fyne centers the last one of a row, and takes the base line of one with
// characters from another font for that of its own.
func (r *linkedRenderer) align() {
	for _, o := range r.WidgetRenderer.Objects() {
		text, isText := o.(*canvas.Text)
		if !isText {
			continue
		}
		_, assumed := fyne.CurrentApp().Driver().RenderedTextSize(text.Text, text.TextSize, text.TextStyle, nil)
		drawn := glyphOf('M', text.TextStyle).baseline
		for _, c := range text.Text {
			if c >= utf8.RuneSelf {
				drawn = max(drawn, glyphOf(c, text.TextStyle).baseline)
			}
		}
		text.Move(text.Position().AddXY(0, assumed-drawn*text.TextSize))
		text.Resize(fyne.NewSize(text.Size().Width, text.MinSize().Height))
	}
}

func (r *linkedRenderer) Objects() []fyne.CanvasObject {
	objects := r.WidgetRenderer.Objects()
	shown := make([]fyne.CanvasObject, len(objects))
	for i, o := range objects {
		shown[i] = o
		box, isBox := o.(*fyne.Container)
		if !isBox || len(box.Objects) != 1 {
			continue
		}
		if theirs, isLink := box.Objects[0].(*widget.Hyperlink); isLink {
			shown[i] = r.link(theirs, box)
		}
	}
	return shown
}

func (r *linkedRenderer) link(theirs *widget.Hyperlink, box *fyne.Container) *link {
	l := r.links[theirs]
	if l == nil {
		l = &link{}
		l.extend(l, r.w)
		r.links[theirs] = l
	}
	l.open = theirs.OnTapped
	if l.text != theirs.Text {
		l.text = theirs.Text
		l.Refresh()
	}
	if l.Position() != box.Position() {
		l.Move(box.Position())
	}
	if l.Size() != box.Size() {
		l.Resize(box.Size())
	}
	return l
}

// link is a link in a text, or one row of it. It opens only after asking.
type link struct {
	hoverBase
	text string
	open func()
}

func (l *link) CreateRenderer() fyne.WidgetRenderer {
	text, ring, under := canvas.NewText("", nil), canvas.NewRectangle(color.Transparent), canvas.NewRectangle(nil)
	under.SetMinSize(fyne.NewSize(0, 1))
	text.TextSize = theme.SizeForWidget(theme.SizeNameText, l)
	left := container.NewHBox(container.NewStack(ring, text, container.NewBorder(nil, under, nil, nil)))
	return newPainted(left, func() {
		text.Text, text.Color = l.text, colorOf(l, theme.ColorNameHyperlink)
		ring.CornerRadius = 3
		drawRing(ring, l.focused, 2, colorOf(l, theme.ColorNamePrimary))
		under.FillColor = color.Transparent
		if l.hovered {
			under.FillColor = text.Color
		}
		text.Refresh()
		ring.Refresh()
		under.Refresh()
	})
}

func (l *link) FocusGained() {
	l.hoverBase.FocusGained()
	if l.w != nil {
		l.w.reveal(l)
	}
}

func (l *link) Tapped(*fyne.PointEvent) {
	takeFocus(l)
	l.open()
}

func (l *link) Cursor() desktop.Cursor { return desktop.PointerCursor }

func (l *link) TypedKey(ev *fyne.KeyEvent) {
	if presses(ev) {
		l.w.pressing(l.open)()
	} else {
		l.passOn(ev)
	}
}

func (l *link) AccessibilityLabel() string { return l.text }

func (l *link) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleLink }
