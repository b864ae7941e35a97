package dialogs

import (
	"image/color"
	"iter"
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// painted is the renderer of nod's widgets: a tree of objects, and a function that sets their colours.
type painted struct {
	fyne.WidgetRenderer
	paint func()
}

func newPainted(content fyne.CanvasObject, paint func()) fyne.WidgetRenderer {
	paint()
	return painted{widget.NewSimpleRenderer(content), paint}
}

func (p painted) Refresh() {
	p.paint()
	p.WidgetRenderer.Refresh()
}

func colorOf(w fyne.CanvasObject, n fyne.ThemeColorName) color.Color {
	if n == "" {
		return color.Transparent
	}
	return theme.CurrentForWidget(w).Color(n, fyne.CurrentApp().Settings().ThemeVariant())
}

// drawRing draws the line around a widget that has the focus.
func drawRing(r *canvas.Rectangle, focused bool, width float32, c color.Color) {
	r.StrokeWidth, r.StrokeColor = 0, color.Transparent
	if focused {
		r.StrokeWidth, r.StrokeColor = width, c
	}
}

// DrawFocus draws the line around a widget of Fyne that has the focus. isStrong says that the widget is filled with the
// color of an action.
func DrawFocus(r *canvas.Rectangle, focused, isStrong bool) {
	line := theme.ColorNamePrimary
	if isStrong {
		line = theme.ColorNameForeground
	}
	r.CornerRadius = theme.Size(theme.SizeNameButtonRadius)
	drawRing(r, focused, 2, theme.Color(line))
	r.Refresh()
}

func tint(c color.Color, alpha uint8) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = alpha
	return n
}

func mix(under, over color.Color, part float32) color.Color {
	a, b := color.NRGBAModel.Convert(under).(color.NRGBA), color.NRGBAModel.Convert(over).(color.NRGBA)
	blend := func(x, y uint8) uint8 { return uint8(float32(x)*(1-part) + float32(y)*part) }
	return color.NRGBA{R: blend(a.R, b.R), G: blend(a.G, b.G), B: blend(a.B, b.B), A: 0xff}
}

type surface struct {
	widget.BaseWidget
	content fyne.CanvasObject
	fill    fyne.ThemeColorName
	stroke  fyne.ThemeColorName // "" for no line around
	alpha   uint8               // of the fill, 255 when opaque
	radius  float32
}

func Surface(fill fyne.ThemeColorName, content fyne.CanvasObject) fyne.CanvasObject {
	return newTint(fill, 0xff, 0, content)
}

func newTint(fill fyne.ThemeColorName, alpha uint8, radius float32, content fyne.CanvasObject) *surface {
	s := &surface{content: content, fill: fill, alpha: alpha, radius: radius}
	s.ExtendBaseWidget(s)
	return s
}

func Card(fill fyne.ThemeColorName, content fyne.CanvasObject) fyne.CanvasObject {
	s := newTint(fill, 0xff, 8, content)
	s.stroke = colorHairline
	return s
}

func (s *surface) Content() fyne.CanvasObject { return s.content }

func (s *surface) CreateRenderer() fyne.WidgetRenderer {
	r := canvas.NewRectangle(nil)
	return newPainted(container.NewStack(r, s.content), func() {
		if r.FillColor = colorOf(s, s.fill); s.alpha != 0xff {
			r.FillColor = tint(r.FillColor, s.alpha)
		}
		r.StrokeColor = colorOf(s, s.stroke)
		r.StrokeWidth = 0
		if s.stroke != "" {
			r.StrokeWidth = 1
		}
		r.CornerRadius = s.radius
		r.Refresh()
	})
}

func Rule() fyne.CanvasObject {
	return Surface(colorHairline, container.New(fixed{height: 1}))
}

// words is text without the padding of Fyne's Label.
type words struct {
	widget.BaseWidget
	text  *canvas.Text
	size  fyne.ThemeSizeName
	color fyne.ThemeColorName
}

// Words returns one line of text that does not wrap.
func Words(s string, size fyne.ThemeSizeName, c fyne.ThemeColorName) *words {
	w := &words{text: canvas.NewText(s, nil), size: size, color: c}
	w.ExtendBaseWidget(w)
	return w
}

func (w *words) Bold() *words {
	w.text.TextStyle.Bold = true
	return w
}

func (w *words) set(s string) {
	if w.text.Text == s {
		return
	}
	w.text.Text = s
	w.Refresh()
}

func (w *words) CreateRenderer() fyne.WidgetRenderer {
	return newPainted(container.NewStack(w.text), func() {
		w.text.Color = colorOf(w, w.color)
		w.text.TextSize = theme.CurrentForWidget(w).Size(w.size)
		w.text.Refresh()
	})
}

// Badge returns a short word on a tinted background.
func Badge(s string, c fyne.ThemeColorName) fyne.CanvasObject {
	text := Words(s, theme.SizeNameCaptionText, c).Bold()
	return newTint(c, 0x22, 6, Padded(2, 8, text))
}

// Lines returns a paragraph that wraps, with Fyne's padding; [Tight] removes the padding.
func Lines(s string, size fyne.ThemeSizeName, importance widget.Importance) *widget.Label {
	l := widget.NewLabel(s)
	l.Wrapping = fyne.TextWrapWord
	if strings.ContainsFunc(tr("Allow"), func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		l.Wrapping = fyne.TextWrapBreak // Fyne would break lines only at spaces, of which Chinese has few
	}
	l.SizeName, l.Importance = size, importance
	return l
}

// Tight removes the padding of a Label, or of another text widget of Fyne.
func Tight(o fyne.CanvasObject) fyne.CanvasObject {
	return Padded(-theme.InnerPadding(), -theme.InnerPadding(), o)
}

// Padded adds a margin around o: v above and below, h left and right.
func Padded(v, h float32, o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(v, v, h, h), o)
}

func visible(objects []fyne.CanvasObject) iter.Seq[fyne.CanvasObject] {
	return func(yield func(fyne.CanvasObject) bool) {
		for _, o := range objects {
			if o.Visible() && !yield(o) {
				return
			}
		}
	}
}

func widest(objects []fyne.CanvasObject) float32 {
	var width float32
	for o := range visible(objects) {
		width = max(width, o.MinSize().Width)
	}
	return width
}

// Column puts objects below one another, gap apart; paragraphs among them wrap.
func Column(gap float32, o ...fyne.CanvasObject) *fyne.Container {
	return container.New(columnLayout{gap: gap}, o...)
}

// columnLayout gives each object the width, and then asks for its height, which depends on the width.
type columnLayout struct{ gap float32 }

func (l columnLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for o := range visible(objects) {
		m := o.MinSize()
		size.Width = max(size.Width, m.Width)
		size.Height += m.Height + l.gap
	}
	size.Height = max(size.Height-l.gap, 0)
	return size
}

func (l columnLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y := float32(0)
	for o := range visible(objects) {
		o.Move(fyne.NewPos(0, y))
		y += resizeToWidth(o, size.Width) + l.gap
	}
}

func setBounds(o fyne.CanvasObject, x, y float32, size fyne.Size) {
	o.Move(fyne.NewPos(x, y))
	o.Resize(size)
}

func resizeToWidth(o fyne.CanvasObject, width float32) float32 {
	o.Resize(fyne.NewSize(width, o.MinSize().Height))
	height := o.MinSize().Height
	o.Resize(fyne.NewSize(width, height))
	return height
}

// Row puts objects side by side, gap apart, vertically centered.
func Row(gap float32, o ...fyne.CanvasObject) *fyne.Container {
	return container.New(rowLayout{gap: gap}, o...)
}

// rowLayout is a horizontal box that does not stretch the height of its objects.
type rowLayout struct{ gap float32 }

func (l rowLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for o := range visible(objects) {
		m := o.MinSize()
		size.Width += m.Width + l.gap
		size.Height = max(size.Height, m.Height)
	}
	size.Width = max(size.Width-l.gap, 0)
	return size
}

func (l rowLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x := float32(0)
	for o := range visible(objects) {
		m := o.MinSize()
		setBounds(o, x, (size.Height-m.Height)/2, m)
		x += m.Width + l.gap
	}
}

// beside puts a small object to the left of the first line of text, gap apart.
func beside(small fyne.CanvasObject, gap float32, text fyne.CanvasObject) fyne.CanvasObject {
	return container.NewBorder(nil, nil, Column(0, small), nil, Padded(0, gap, text))
}

// sides is a layout of three objects: one at the left, text that wraps, and one at the right.
type sides struct{ gap float32 }

func (l *sides) MinSize(o []fyne.CanvasObject) fyne.Size {
	left, middle, right := o[0].MinSize(), o[1].MinSize(), o[2].MinSize()
	return fyne.NewSize(l.indent(left)+middle.Width+l.indent(right), max(left.Height, middle.Height, right.Height))
}

func (l *sides) Layout(o []fyne.CanvasObject, size fyne.Size) {
	left, right := o[0].MinSize(), o[2].MinSize()
	setBounds(o[0], 0, 0, left)
	setBounds(o[2], size.Width-right.Width, 0, right)
	o[1].Move(fyne.NewPos(l.indent(left), 0))
	resizeToWidth(o[1], max(size.Width-l.indent(left)-l.indent(right), 0))
}

func (l *sides) indent(side fyne.Size) float32 {
	if side.Width == 0 {
		return 0
	}
	return side.Width + l.gap
}

// fixed is a layout with a given minimum size; 0 uses that of the content.
type fixed struct{ width, height float32 }

// Sized gives o a minimum size; 0 keeps its own.
func Sized(width, height float32, o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(fixed{width, height}, o)
}

func (f fixed) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for _, o := range objects {
		size = size.Max(o.MinSize())
	}
	if f.width > 0 {
		size.Width = f.width
	}
	if f.height > 0 {
		size.Height = f.height
	}
	return size
}

func (f fixed) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		setBounds(o, 0, 0, size)
	}
}
