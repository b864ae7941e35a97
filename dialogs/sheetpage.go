package dialogs

import (
	"image/color"
	"sort"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/safetext"
)

// sheetPage is the scrolling content of a sheet. It is as high as all rows, but draws only those in view.
type sheetPage struct {
	widget.BaseWidget
	sheet *sheet

	rows   []sheetRow
	end    int     // one past the last position of the rows
	width  float32 // that the rows were wrapped for
	height float32 // of all rows

	faces     map[lineStyle]*face
	selection *selection // nil: nothing is selected
	dragging  bool

	drawn map[int][]fyne.CanvasObject // by row, those in view
}

const (
	scrollbarRoom = 14 // right of the text, so that the bar covers none of it
	ruleHeight    = 13 // of a rule without words
	leadGap       = 4  // between the lead and the text
)

func newSheetPage(s *sheet) *sheetPage {
	p := &sheetPage{sheet: s, faces: map[lineStyle]*face{}}
	p.ExtendBaseWidget(p)
	return p
}

// face is how text of a style is drawn.
func (p *sheetPage) face(style lineStyle) *face {
	if f := p.faces[style]; f != nil {
		return f
	}
	size, ts := theme.SizeNameText, fyne.TextStyle{Monospace: true}
	switch style {
	case lineTitle:
		size = theme.SizeNameHeadingText
	case lineNote, lineRule:
		size, ts = theme.SizeNameCaptionText, fyne.TextStyle{Italic: true}
	}
	f := newFace(theme.SizeForWidget(size, p.sheet), ts)
	p.faces[style] = f
	return f
}

// restyle forgets what depends on the theme.
func (p *sheetPage) restyle() {
	clear(p.faces)
	width := p.width
	p.width = 0
	p.wrap(width)
	p.drawn = nil
}

// wrap breaks the lines into rows of width.
func (p *sheetPage) wrap(width float32) {
	if width == p.width {
		return
	}
	p.width, p.rows, p.end, p.height, p.drawn = width, nil, 0, 0, nil
	for i, l := range p.sheet.lines {
		p.wrapLine(i, l)
	}
}

func (p *sheetPage) wrapLine(index int, l sheetLine) {
	f := p.face(l.style)
	height := f.height()
	if l.style == lineRule {
		height = ruleHeight
		if l.text() != "" {
			height += f.height() / 2
		}
	}
	starts := wrapLine(l.spans, f, max(p.width-p.leadWidth(l)-scrollbarRoom, 4*f.width('M')))
	start := spot{}
	for i := 0; i <= len(starts); i++ {
		end := spot{len(l.spans), 0}
		if i < len(starts) {
			end = starts[i]
		}
		size := drawnBetween(l.spans, start, end)
		if i == len(starts) {
			size++ // the line break, so that an empty line has something to be seen, too
		}
		p.rows = append(p.rows, sheetRow{
			line: index, start: start, end: end, first: i == 0, last: i == len(starts),
			from: p.end, to: p.end + size, y: p.height, height: height,
		})
		p.end += size
		p.height += height
		start = end
	}
}

// drawnBetween is the number of bytes drawn of spans between two places.
func drawnBetween(spans []safetext.Span, start, end spot) int {
	n := -start.at
	for i := start.span; i < end.span; i++ {
		n += len(spans[i].Text)
	}
	return n + end.at
}

// leadWidth is the room left of the text of l.
func (p *sheetPage) leadWidth(l sheetLine) float32 {
	if l.lead == "" {
		return 0
	}
	return float32(utf8.RuneCountInString(l.lead))*p.face(lineText).cell + leadGap
}

func (l sheetLine) text() string {
	var b strings.Builder
	for _, s := range l.spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// rowAt is the index of the row at height y; the nearest one when there is none.
func (p *sheetPage) rowAt(y float32) int {
	i := sort.Search(len(p.rows), func(i int) bool { return p.rows[i].y+p.rows[i].height > y })
	return max(0, min(i, len(p.rows)-1))
}

// repaint draws the rows in view and drops the others.
func (p *sheetPage) repaint() {
	top := p.sheet.scroll.Offset.Y
	keep := map[int][]fyne.CanvasObject{}
	if len(p.rows) > 0 {
		for i := p.rowAt(top); i <= p.rowAt(top+p.sheet.scroll.Size().Height); i++ {
			keep[i] = p.drawn[i]
			if keep[i] == nil {
				keep[i] = p.drawRow(p.rows[i])
			}
		}
	}
	p.drawn = keep
	canvas.Refresh(p)
}

// drawRow makes the objects of a row.
func (p *sheetPage) drawRow(r sheetRow) []fyne.CanvasObject {
	l := p.sheet.lines[r.line]
	if l.style == lineRule {
		return p.drawRule(r, l)
	}
	d := rowDrawer{page: p, row: r, line: l, face: p.face(l.style), x: p.leadWidth(l)}
	d.background()
	d.selected()
	d.lead()
	d.text()
	return d.objects
}

func (p *sheetPage) drawRule(r sheetRow, l sheetLine) []fyne.CanvasObject {
	rule := canvas.NewRectangle(colorOf(p.sheet, colorHairline))
	title := p.newText(l.text(), lineRule, colorOf(p.sheet, colorMuted))
	title.Move(fyne.NewPos(0, r.y+(r.height-title.MinSize().Height)/2))
	left := float32(0)
	if title.Text != "" {
		left = title.MinSize().Width + sheetPad
	}
	rule.Move(fyne.NewPos(left, r.y+r.height/2))
	rule.Resize(fyne.NewSize(p.width-scrollbarRoom-left, 1))
	return []fyne.CanvasObject{rule, title}
}

func (p *sheetPage) newText(text string, style lineStyle, c color.Color) *canvas.Text {
	t := canvas.NewText(text, c)
	t.TextSize, t.TextStyle = p.face(style).size, p.face(style).style
	t.Resize(t.MinSize())
	return t
}

// CreateRenderer implements [fyne.Widget].
func (p *sheetPage) CreateRenderer() fyne.WidgetRenderer { return pageRenderer{p} }

type pageRenderer struct{ page *sheetPage }

func (r pageRenderer) Layout(fyne.Size) {}
func (r pageRenderer) MinSize() fyne.Size {
	return fyne.NewSize(sheetMinWidth-2*sheetPad, r.page.height)
}
func (r pageRenderer) Refresh() { r.page.repaint() }
func (r pageRenderer) Destroy() {}

func (r pageRenderer) Objects() []fyne.CanvasObject {
	rows := make([]int, 0, len(r.page.drawn))
	for i := range r.page.drawn {
		rows = append(rows, i)
	}
	sort.Ints(rows)
	var objects []fyne.CanvasObject
	for _, i := range rows {
		objects = append(objects, r.page.drawn[i]...)
	}
	return objects
}

// rowDrawer makes the objects of one row, from left to right.
type rowDrawer struct {
	page    *sheetPage
	row     sheetRow
	line    sheetLine
	face    *face
	x       float32
	objects []fyne.CanvasObject
}

// background shows that a line comes or goes.
func (d *rowDrawer) background() {
	name, colored := map[lineStyle]fyne.ThemeColorName{
		lineAdded: theme.ColorNameSuccess, lineRemoved: theme.ColorNameError,
	}[d.line.style]
	if colored {
		d.rectangle(0, d.page.width-scrollbarRoom/2, 0, tint(colorOf(d.page.sheet, name), 0x20))
	}
}

func (d *rowDrawer) rectangle(x, width, radius float32, fill color.Color) {
	r := canvas.NewRectangle(fill)
	r.CornerRadius = radius
	r.Move(fyne.NewPos(x, d.row.y))
	r.Resize(fyne.NewSize(width, d.row.height))
	d.objects = append(d.objects, r)
}

// selected shows which part of the row is selected.
func (d *rowDrawer) selected() {
	if d.page.selection == nil {
		return
	}
	from, to := d.page.selection.ordered()
	start, end := lineSpot{d.row.line, d.row.start}, lineSpot{d.row.line, d.row.end}
	if !from.before(end) && !(from == end && d.row.last) || !start.before(to) {
		return
	}
	left, right := d.x, d.x+d.page.offset(d.row, d.row.end)
	if start.before(from) {
		left = d.x + d.page.offset(d.row, from.spot)
	}
	if to.before(end) {
		right = d.x + d.page.offset(d.row, to.spot)
	} else if d.row.last && to.line > d.row.line {
		right += d.face.width(' ') // the line break
	}
	d.rectangle(left, right-left, 0, colorOf(d.page.sheet, theme.ColorNameSelection))
}

// lead draws the number of the line, or that the row continues one.
func (d *rowDrawer) lead() {
	if d.line.lead == "" {
		return
	}
	text := d.line.lead
	if !d.row.first {
		text = strings.Repeat(" ", max(0, utf8.RuneCountInString(text)-2)) + "↪"
	}
	name := colorMuted
	switch d.line.style {
	case lineAdded:
		name = theme.ColorNameSuccess
	case lineRemoved:
		name = theme.ColorNameError
	}
	t := d.page.newText(text, lineText, colorOf(d.page.sheet, name))
	t.Move(fyne.NewPos(0, d.row.y+rowAir))
	d.objects = append(d.objects, t)
}

// text draws the row's part of the spans.
func (d *rowDrawer) text() {
	for i := d.row.start.span; i < len(d.line.spans) && i <= d.row.end.span; i++ {
		s := d.line.spans[i]
		a, z := 0, len(s.Text)
		if i == d.row.start.span {
			a = d.row.start.at
		}
		if i == d.row.end.span {
			z = d.row.end.at
		}
		if a < z {
			d.span(s, s.Text[a:z])
		}
	}
	d.markBlankEnds()
}

// span draws text, a part of s.
func (d *rowDrawer) span(s safetext.Span, text string) {
	paint := func(n fyne.ThemeColorName) color.Color { return colorOf(d.page.sheet, n) }
	switch s.Kind {
	case safetext.Hidden:
		d.rectangle(d.x, d.face.measure(text), 3, tint(paint(theme.ColorNameError), 0x2c))
		d.run(text, paint(theme.ColorNameError))
	case safetext.Suspicious:
		d.rectangle(d.x, d.face.measure(text), 3, tint(paint(theme.ColorNameWarning), 0x3c))
		d.run(text, paint(theme.ColorNameWarning))
	case safetext.Run:
		d.run(text, tint(paint(colorMuted), 0xb0))
	default:
		d.run(text, paint(d.textColor()))
	}
}

func (d *rowDrawer) textColor() fyne.ThemeColorName {
	switch d.line.style {
	case lineNote, lineKey:
		return colorMuted
	}
	return theme.ColorNameForeground
}

// run draws text at the pen, ASCII and other characters apart: ASCII fills cells of one width, so that no
// font and no direction of writing of the others can move it.
func (d *rowDrawer) run(text string, c color.Color) {
	for text != "" {
		n := sameKind(text)
		d.piece(text[:n], c)
		text = text[n:]
	}
}

// sameKind is the length of the start of text that is ASCII throughout, or not at all.
func sameKind(text string) int {
	ascii := text[0] < utf8.RuneSelf
	for i := range len(text) {
		if (text[i] < utf8.RuneSelf) != ascii {
			return i
		}
	}
	return len(text)
}

// piece draws text at the pen and moves it on. Should shaping make text wider than was reckoned, its
// characters are drawn one by one rather than clipped or laid over what follows.
func (d *rowDrawer) piece(text string, c color.Color) {
	width := d.face.measure(text)
	t := d.page.newText(text, d.line.style, c)
	if t.MinSize().Width > width+1 && utf8.RuneCountInString(text) > 1 && !isASCII(text) {
		for _, char := range text {
			d.piece(string(char), c)
		}
		return
	}
	t.Move(fyne.NewPos(d.x, d.row.y+rowAir))
	d.objects = append(d.objects, t)
	d.x += width
}

// markBlankEnds puts a dot on the blanks where a line is broken: without it nobody could tell whether there
// is a blank between the end of one row and the start of the next.
func (d *rowDrawer) markBlankEnds() {
	text := d.page.rowText(d.row)
	left := d.page.leadWidth(d.line)
	dot := func(x float32) {
		t := d.page.newText("·", d.line.style, tint(colorOf(d.page.sheet, colorMuted), 0xb0))
		t.Move(fyne.NewPos(x, d.row.y+rowAir))
		d.objects = append(d.objects, t)
	}
	if d.line.style == lineNote {
		return
	}
	if !d.row.last {
		for i := range len(text) - len(strings.TrimRight(text, " ")) {
			dot(d.x - float32(i+1)*d.face.width(' '))
		}
	}
	if !d.row.first {
		for i := range len(text) - len(strings.TrimLeft(text, " ")) {
			dot(left + float32(i)*d.face.width(' '))
		}
	}
}

// rowText is what is drawn of the text in a row.
func (p *sheetPage) rowText(r sheetRow) string {
	var b strings.Builder
	spans := p.sheet.lines[r.line].spans
	for i := r.start.span; i < len(spans) && i <= r.end.span; i++ {
		a, z := 0, len(spans[i].Text)
		if i == r.start.span {
			a = r.start.at
		}
		if i == r.end.span {
			z = r.end.at
		}
		b.WriteString(spans[i].Text[a:z])
	}
	return b.String()
}

// offset is how far right of the text's left edge to is, in row r.
func (p *sheetPage) offset(r sheetRow, to spot) float32 {
	r.end = to
	return p.face(p.sheet.lines[r.line].style).measure(p.rowText(r))
}

// spotAt is the spot in the text that is nearest to pos.
func (p *sheetPage) spotAt(pos fyne.Position) lineSpot {
	if len(p.rows) == 0 {
		return lineSpot{}
	}
	r := p.rows[p.rowAt(pos.Y)]
	l := p.sheet.lines[r.line]
	f := p.face(l.style)
	x := pos.X - p.leadWidth(l)
	for i := r.start.span; i < len(l.spans) && i <= r.end.span; i++ {
		s := l.spans[i]
		if atomic(s) {
			w := f.measure(s.Text)
			if x < w/2 {
				return lineSpot{r.line, spot{i, 0}}
			}
			x -= w
			continue
		}
		for at, c := range s.Text {
			if (spot{i, at}).before(r.start) || !(spot{i, at}).before(r.end) {
				continue
			}
			w := f.width(c)
			if x < w/2 {
				return lineSpot{r.line, spot{i, at}}
			}
			x -= w
		}
	}
	return lineSpot{r.line, r.end}
}

// Cursor implements [desktop.Cursorable].
func (p *sheetPage) Cursor() desktop.Cursor { return desktop.TextCursor }

// MouseDown implements [desktop.Mouseable]: a selection starts.
func (p *sheetPage) MouseDown(ev *desktop.MouseEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(p.sheet); c != nil {
		c.Focus(p.sheet)
	}
	if ev.Button != desktop.MouseButtonPrimary {
		return
	}
	at := p.spotAt(ev.Position)
	p.selectText(&selection{at, at})
}

// MouseUp implements [desktop.Mouseable].
func (p *sheetPage) MouseUp(*desktop.MouseEvent) {}

// Dragged implements [fyne.Draggable]: the selection grows, and what it reaches scrolls into view.
func (p *sheetPage) Dragged(ev *fyne.DragEvent) {
	if p.selection == nil {
		return
	}
	p.dragging = true
	p.selectText(&selection{p.selection.anchor, p.spotAt(ev.Position)})
	top, view := p.sheet.scroll.Offset.Y, p.sheet.scroll.Size().Height
	switch {
	case ev.Position.Y < top:
		p.sheet.scrollTo(ev.Position.Y)
	case ev.Position.Y > top+view:
		p.sheet.scrollTo(ev.Position.Y - view)
	}
}

// DragEnd implements [fyne.Draggable].
func (p *sheetPage) DragEnd() { p.dragging = false }

// TappedSecondary implements [fyne.SecondaryTappable].
func (p *sheetPage) TappedSecondary(ev *fyne.PointEvent) {
	c := fyne.CurrentApp().Driver().CanvasForObject(p.sheet)
	if c == nil {
		return
	}
	widget.ShowPopUpMenuAtPosition(fyne.NewMenu("",
		fyne.NewMenuItem(tr("Copy"), p.copySelection),
		fyne.NewMenuItem(tr("Select all"), p.selectAll),
	), c, ev.AbsolutePosition)
}

// selectAll selects everything.
func (p *sheetPage) selectAll() {
	if len(p.sheet.lines) == 0 {
		return
	}
	last := len(p.sheet.lines) - 1
	p.selectText(&selection{cursor: lineSpot{last, spot{len(p.sheet.lines[last].spans), 0}}})
}

func (p *sheetPage) selectText(s *selection) {
	p.selection = s
	p.drawn = nil
	p.repaint()
}

// selected is the original of the selected text; of everything when nothing or everything is selected.
func (p *sheetPage) selected() string {
	if p.selection == nil || p.selection.anchor == p.selection.cursor {
		return p.sheet.original
	}
	from, to := p.selection.ordered()
	last := len(p.sheet.lines) - 1
	if from == (lineSpot{}) && to == (lineSpot{last, spot{len(p.sheet.lines[last].spans), 0}}) {
		return p.sheet.original
	}
	return p.selection.text(p.sheet.lines)
}

// copySelection puts the original of the selected text on the clipboard.
func (p *sheetPage) copySelection() { fyne.CurrentApp().Clipboard().SetContent(p.selected()) }
