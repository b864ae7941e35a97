package dialogs

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// painted is the renderer of nod's own widgets: a tree of objects, and a function that gives them their
// colours. Fyne refreshes every widget when the theme changes, so the colours follow.
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

// colorOf is a colour of the theme that w is drawn with.
func colorOf(w fyne.CanvasObject, n fyne.ThemeColorName) color.Color {
	if n == "" {
		return color.Transparent
	}
	return theme.CurrentForWidget(w).Color(n, fyne.CurrentApp().Settings().ThemeVariant())
}

// tint is a colour with its opacity lowered to a 255th part.
func tint(c color.Color, alpha uint8) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = alpha
	return n
}

// mix lays part (0 to 1) of over on under.
func mix(under, over color.Color, part float32) color.Color {
	a, b := color.NRGBAModel.Convert(under).(color.NRGBA), color.NRGBAModel.Convert(over).(color.NRGBA)
	blend := func(x, y uint8) uint8 { return uint8(float32(x)*(1-part) + float32(y)*part) }
	return color.NRGBA{R: blend(a.R, b.R), G: blend(a.G, b.G), B: blend(a.B, b.B), A: 0xff}
}

// surface is a coloured area behind some content.
type surface struct {
	widget.BaseWidget
	content fyne.CanvasObject
	fill    fyne.ThemeColorName
	stroke  fyne.ThemeColorName // "" for no line around
	alpha   uint8               // of the fill, 255 when opaque
	radius  float32
}

func newSurface(fill fyne.ThemeColorName, content fyne.CanvasObject) *surface {
	s := &surface{content: content, fill: fill, alpha: 0xff}
	s.ExtendBaseWidget(s)
	return s
}

// newCard is a surface with a line around it and round corners.
func newCard(fill, stroke fyne.ThemeColorName, content fyne.CanvasObject) *surface {
	s := newSurface(fill, content)
	s.stroke, s.radius = stroke, 8
	return s
}

// CreateRenderer implements [fyne.Widget].
func (s *surface) CreateRenderer() fyne.WidgetRenderer {
	r := canvas.NewRectangle(nil)
	return newPainted(container.NewStack(r, s.content), func() {
		r.FillColor = tintUnlessOpaque(colorOf(s, s.fill), s.alpha)
		r.StrokeColor = colorOf(s, s.stroke)
		r.StrokeWidth = 0
		if s.stroke != "" {
			r.StrokeWidth = 1
		}
		r.CornerRadius = s.radius
		r.Refresh()
	})
}

func tintUnlessOpaque(c color.Color, alpha uint8) color.Color {
	if alpha == 0xff {
		return c
	}
	return tint(c, alpha)
}

// newRule is a hairline across its container.
func newRule() fyne.CanvasObject {
	s := newSurface(colorHairline, container.New(fixed{height: 1}))
	return s
}

// words are a line or a paragraph of nod's own drawing, without the padding that Fyne's Label puts round.
type words struct {
	widget.BaseWidget
	text  *canvas.Text
	size  fyne.ThemeSizeName
	color fyne.ThemeColorName
}

// newWords is one line of text that does not wrap.
func newWords(s string, size fyne.ThemeSizeName, c fyne.ThemeColorName) *words {
	w := &words{text: canvas.NewText(s, nil), size: size, color: c}
	w.ExtendBaseWidget(w)
	return w
}

func (w *words) bold() *words {
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

// CreateRenderer implements [fyne.Widget].
func (w *words) CreateRenderer() fyne.WidgetRenderer {
	return newPainted(container.NewStack(w.text), func() {
		w.text.Color = colorOf(w, w.color)
		w.text.TextSize = theme.CurrentForWidget(w).Size(w.size)
		w.text.Refresh()
	})
}

// newBadge is a short word on a tinted ground.
func newBadge(s string, c fyne.ThemeColorName) fyne.CanvasObject {
	text := newWords(s, theme.SizeNameCaptionText, c).bold()
	ground := newSurface(c, padded(2, 8, text))
	ground.alpha, ground.radius = 0x22, 6
	return ground
}

// newLines is a paragraph that wraps. Its left edge is where words have theirs.
func newLines(s string, size fyne.ThemeSizeName, importance widget.Importance) *widget.Label {
	l := widget.NewLabel(s)
	l.Wrapping = fyne.TextWrapWord
	l.SizeName, l.Importance = size, importance
	return l
}

// tight takes the padding off a Label, or anything else of Fyne's that keeps a distance around its text.
func tight(o fyne.CanvasObject) fyne.CanvasObject {
	p := -theme.InnerPadding()
	return container.New(layout.NewCustomPaddedLayout(p, p, p, p), o)
}

// padded keeps a distance around o: v above and below, h left and right.
func padded(v, h float32, o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(v, v, h, h), o)
}

// column puts objects under one another, gap apart.
func column(gap float32, o ...fyne.CanvasObject) *fyne.Container {
	return container.New(columnLayout{gap: gap}, o...)
}

// columnLayout is a vertical box for text that wraps: a paragraph knows its height only once it knows its
// width, so each object gets the width first and is asked for its height again.
type columnLayout struct{ gap float32 }

func (l columnLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		size.Width = max(size.Width, m.Width)
		size.Height += m.Height + l.gap
	}
	size.Height = max(size.Height-l.gap, 0)
	return size
}

func (l columnLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y := float32(0)
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		o.Move(fyne.NewPos(0, y))
		y += resizeToWidth(o, size.Width) + l.gap
	}
}

// resizeToWidth gives o the width and the least height that it then needs, which it returns.
func resizeToWidth(o fyne.CanvasObject, width float32) float32 {
	o.Resize(fyne.NewSize(width, o.MinSize().Height))
	height := o.MinSize().Height
	o.Resize(fyne.NewSize(width, height))
	return height
}

// row puts objects side by side, gap apart, each in the middle of the height.
func row(gap float32, o ...fyne.CanvasObject) *fyne.Container {
	return container.New(rowLayout{gap: gap}, o...)
}

// rowLayout is a horizontal box that leaves objects their own height.
type rowLayout struct{ gap float32 }

func (l rowLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		size.Width += m.Width + l.gap
		size.Height = max(size.Height, m.Height)
	}
	size.Width = max(size.Width-l.gap, 0)
	return size
}

func (l rowLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x := float32(0)
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		o.Resize(m)
		o.Move(fyne.NewPos(x, (size.Height-m.Height)/2))
		x += m.Width + l.gap
	}
}

// sides is a layout of three objects: one at the left, text that wraps, and one at the right.
type sides struct{ gap float32 }

func (l *sides) MinSize(o []fyne.CanvasObject) fyne.Size {
	left, middle, right := o[0].MinSize(), o[1].MinSize(), o[2].MinSize()
	return fyne.NewSize(l.indent(left)+middle.Width+l.indent(right), max(left.Height, middle.Height, right.Height))
}

func (l *sides) Layout(o []fyne.CanvasObject, size fyne.Size) {
	left, right := o[0].MinSize(), o[2].MinSize()
	o[0].Resize(left)
	o[0].Move(fyne.Position{})
	o[2].Resize(right)
	o[2].Move(fyne.NewPos(size.Width-right.Width, 0))
	o[1].Move(fyne.NewPos(l.indent(left), 0))
	resizeToWidth(o[1], max(size.Width-l.indent(left)-l.indent(right), 0))
}

// indent is what an object at the side takes from the middle; nothing when it is hidden.
func (l *sides) indent(side fyne.Size) float32 {
	if side.Width == 0 {
		return 0
	}
	return side.Width + l.gap
}

// fixed is a layout of a given least size; 0 leaves that side to the content.
type fixed struct{ width, height float32 }

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
		o.Resize(size)
		o.Move(fyne.Position{})
	}
}

// wrapRow lays objects side by side and breaks into further lines when the width ends. A Fyne layout does
// not know its width when it is asked for its height, so it remembers the last one.
type wrapRow struct {
	gap, lineGap float32
	width        float32
}

func newWrapRow(gap, lineGap float32, o ...fyne.CanvasObject) *fyne.Container {
	return container.New(&wrapRow{gap: gap, lineGap: lineGap}, o...)
}

func (l *wrapRow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var widest float32
	for _, o := range objects {
		if o.Visible() {
			widest = max(widest, o.MinSize().Width)
		}
	}
	return fyne.NewSize(widest, l.place(objects, max(l.width, widest), nil))
}

func (l *wrapRow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	l.width = size.Width
	l.place(objects, size.Width, func(o fyne.CanvasObject, p fyne.Position) {
		o.Resize(o.MinSize())
		o.Move(p)
	})
}

// place calls put with each object's place and returns the height of all.
func (l *wrapRow) place(objects []fyne.CanvasObject, width float32, put func(fyne.CanvasObject, fyne.Position)) float32 {
	var x, y, line float32
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		if x > 0 && x+m.Width > width {
			x, y, line = 0, y+line+l.lineGap, 0
		}
		if put != nil {
			put(o, fyne.NewPos(x, y))
		}
		x += m.Width + l.gap
		line = max(line, m.Height)
	}
	return y + line
}
