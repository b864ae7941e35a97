package dialogs

import (
	"cmp"
	"image/color"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
)

// sheetPage is the scrolling content of a sheet. Its height is that of all rows, but it draws only those in view.
type sheetPage struct {
	widget.BaseWidget
	sheet *sheet

	rows   []sheetRow
	end    int     // one past the last position of the rows
	width  float32 // to which the rows were wrapped
	height float32 // of all rows

	faces     map[prompt.LineStyle]*face
	selection *selection // nil for none

	drawn map[int][]fyne.CanvasObject // objects of the rows in view, by row
}

const (
	scrollbarRoom = 14 // right of the text, for the scroll bar
	ruleHeight    = 13 // of a rule without text
	leadGap       = 4  // between line number and text
)

func (p *sheetPage) face(style prompt.LineStyle) *face {
	if f := p.faces[style]; f != nil {
		return f
	}
	size, ts := theme.SizeNameText, fyne.TextStyle{Monospace: true}
	switch style {
	case prompt.LineTitle:
		size = theme.SizeNameHeadingText
	case prompt.LineNote, prompt.LineRule:
		size, ts = theme.SizeNameCaptionText, fyne.TextStyle{Italic: true}
	}
	f := newFace(theme.SizeForWidget(size, p.sheet), ts)
	p.faces[style] = f
	return f
}

func (p *sheetPage) restyle() {
	p.drawn = nil
	if p.face(prompt.LineText).size == theme.SizeForWidget(theme.SizeNameText, p.sheet) { // only the colours have changed
		return
	}
	clear(p.faces)
	width := p.width
	p.width = 0
	p.wrap(width)
}

func (p *sheetPage) wrap(width float32) (moved bool) {
	if width == p.width {
		return false
	}
	p.width, p.rows, p.end, p.height, p.drawn = width, nil, 0, 0, nil
	for i, l := range p.sheet.lines {
		p.wrapLine(i, l)
	}
	return false
}

func (p *sheetPage) extent() (height float32, end int) { return p.height, p.end }

func (p *sheetPage) between(top, bottom float32) (from, to int) {
	first := sort.Search(len(p.rows), func(i int) bool { return p.rows[i].y >= top })
	behind := sort.Search(len(p.rows), func(i int) bool { return p.rows[i].y+p.rows[i].height > bottom })
	if first >= behind {
		return 0, 0
	}
	return p.rows[first].from, p.rows[behind-1].to
}

func (p *sheetPage) top(position int) float32 {
	if len(p.rows) == 0 {
		return 0
	}
	i := sort.Search(len(p.rows)-1, func(i int) bool { return p.rows[i].to > position })
	return p.rows[i].y
}

func (p *sheetPage) start(line int) int {
	i := sort.Search(len(p.rows), func(i int) bool { return p.rows[i].line >= line })
	if i == len(p.rows) {
		return p.end
	}
	return p.rows[i].from
}

func (p *sheetPage) wanted() float32 {
	if p.width == 0 {
		p.wrap(sheetFirstWidth)
	}
	height := p.height
	if p.sheet.capped {
		height += p.sheet.footHeight()
	}
	return height + 2*p.sheet.pad
}

func (p *sheetPage) natural() float32 {
	var widest float32
	most := sheetMaxColumns * p.face(prompt.LineText).cell
	for _, l := range p.sheet.lines {
		var text float32
		for _, s := range l.Spans {
			if text += p.face(l.Style).measureUpTo(s.Text, most-text); text >= most {
				break
			}
		}
		widest = max(widest, p.leadWidth(l)+min(text, most))
	}
	return widest + scrollbarRoom + 2*sheetPad + 1
}

func (p *sheetPage) wrapLine(index int, l prompt.Line) {
	f := p.face(l.Style)
	height := f.height()
	if l.Style == prompt.LineRule {
		height = ruleHeight
		if l.Text() != "" {
			height += f.height() / 2
		}
	}
	starts := wrapLine(l.Spans, f, max(p.width-p.leadWidth(l)-scrollbarRoom, 4*f.width('M')))
	base := p.end
	size, span, before := len(l.Text()), 0, 0
	for _, next := range append(starts, size+1) {
		p.rows = append(p.rows, sheetRow{
			line: index, base: base, from: p.end, to: base + next, last: next > size, y: p.height, height: height,
			span: span, before: before,
		})
		for span < len(l.Spans) && before+len(l.Spans[span].Text) <= next {
			before += len(l.Spans[span].Text)
			span++
		}
		p.end = base + next
		p.height += height
	}
}

func (p *sheetPage) leadWidth(l prompt.Line) float32 {
	if l.Lead == "" {
		return 0
	}
	return float32(utf8.RuneCountInString(l.Lead))*p.face(prompt.LineText).cell + leadGap
}

func (p *sheetPage) rowAt(y float32) int {
	i := sort.Search(len(p.rows), func(i int) bool { return p.rows[i].y+p.rows[i].height > y })
	return max(0, min(i, len(p.rows)-1))
}

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

func (p *sheetPage) drawRow(r sheetRow) []fyne.CanvasObject {
	l := p.sheet.lines[r.line]
	if l.Style == prompt.LineRule {
		return p.drawRule(r, l)
	}
	d := rowDrawer{page: p, row: r, line: l, face: p.face(l.Style), x: p.leadWidth(l)}
	d.background()
	d.changed()
	d.selected()
	d.lead()
	d.text()
	return d.objects
}

func (p *sheetPage) drawRule(r sheetRow, l prompt.Line) []fyne.CanvasObject {
	rule := canvas.NewRectangle(colorOf(p.sheet, colorHairline))
	title := p.newText(l.Text(), prompt.LineRule, colorOf(p.sheet, ColorMuted))
	title.Move(fyne.NewPos(0, r.y+(r.height-title.MinSize().Height)/2))
	left := float32(0)
	if title.Text != "" {
		left = title.MinSize().Width + sheetPad
	}
	setBounds(rule, left, r.y+r.height/2, fyne.NewSize(p.width-scrollbarRoom-left, 1))
	return []fyne.CanvasObject{rule, title}
}

func (p *sheetPage) newText(text string, style prompt.LineStyle, c color.Color) *canvas.Text {
	t := canvas.NewText(text, c)
	t.TextSize, t.TextStyle = p.face(style).size, p.face(style).style
	t.Resize(t.MinSize())
	return t
}

func (p *sheetPage) CreateRenderer() fyne.WidgetRenderer { return pageRenderer{p} }

type pageRenderer struct{ page *sheetPage }

func (r pageRenderer) Layout(fyne.Size) {}
func (r pageRenderer) MinSize() fyne.Size {
	width := float32(sheetMinWidth - 2*sheetPad)
	if r.page.sheet.isWide() {
		width = r.page.width
	}
	return fyne.NewSize(width, r.page.height)
}
func (r pageRenderer) Refresh() { r.page.repaint() }
func (r pageRenderer) Destroy() {}

func (r pageRenderer) Objects() []fyne.CanvasObject {
	var objects []fyne.CanvasObject
	for _, i := range slices.Sorted(maps.Keys(r.page.drawn)) {
		objects = append(objects, r.page.drawn[i]...)
	}
	return objects
}

type rowDrawer struct {
	page    *sheetPage
	row     sheetRow
	line    prompt.Line
	face    *face
	x       float32
	objects []fyne.CanvasObject
}

var changeColors = map[prompt.LineStyle]fyne.ThemeColorName{
	prompt.LineAdded: theme.ColorNameSuccess, prompt.LineRemoved: theme.ColorNameError,
}

func (d *rowDrawer) background() {
	if name, colored := changeColors[d.line.Style]; colored {
		d.rectangle(0, d.page.width-scrollbarRoom/2, 0, tint(colorOf(d.page.sheet, name), changedLineTint))
	}
}

// changed highlights the changed words of a line with a stronger background, and underlines them.
func (d *rowDrawer) changed() {
	const thick = 1.5
	ink := colorOf(d.page.sheet, changeColors[d.line.Style])
	for _, s := range d.line.Changed {
		from, to := max(d.row.base+s.From, d.row.from), min(d.row.base+s.To, d.row.to)
		if from >= to {
			continue
		}
		x := d.x + d.page.offset(d.row, from)
		width := d.x + d.page.offset(d.row, to) - x
		d.rectangle(x, width, 2, tint(ink, changedWordTint))
		d.fill(fyne.NewPos(x, d.row.y+d.row.height-thick), fyne.NewSize(width, thick), 0, ink)
	}
}

// Opacity of the backgrounds of changed lines, and of changed words on these.
const changedLineTint, changedWordTint = 0x1c, 0x28

func (d *rowDrawer) rectangle(x, width, radius float32, fill color.Color) {
	d.fill(fyne.NewPos(x, d.row.y), fyne.NewSize(width, d.row.height), radius, fill)
}

func (d *rowDrawer) fill(at fyne.Position, size fyne.Size, radius float32, fill color.Color) {
	r := canvas.NewRectangle(fill)
	r.CornerRadius = radius
	r.Move(at)
	r.Resize(size)
	d.objects = append(d.objects, r)
}

func (d *rowDrawer) selected() {
	if d.page.selection == nil {
		return
	}
	from, to := d.page.selection.ordered()
	if from >= d.row.to || to <= d.row.from {
		return
	}
	left, right := d.x+d.page.offset(d.row, from), d.x+d.page.offset(d.row, to)
	if d.row.last && to >= d.row.to {
		right += d.face.width(' ') // the line break
	}
	d.rectangle(left, right-left, 0, colorOf(d.page.sheet, theme.ColorNameSelection))
}

func (d *rowDrawer) lead() {
	if d.line.Lead == "" {
		return
	}
	text := d.line.Lead
	if !d.row.isFirst() {
		text = strings.Repeat(" ", max(0, utf8.RuneCountInString(text)-2)) + "↪"
	}
	name := cmp.Or(changeColors[d.line.Style], ColorMuted)
	d.draw(d.page.newText(text, prompt.LineText, colorOf(d.page.sheet, name)), 0)
}

func (d *rowDrawer) draw(t *canvas.Text, x float32) {
	t.Move(fyne.NewPos(x, d.row.y+rowAir))
	d.objects = append(d.objects, t)
}

func (d *rowDrawer) text() {
	at := d.row.from - d.row.base
	for s, text := range d.page.pieces(d.row) {
		d.span(s, text, at)
		at += len(text)
	}
	d.markBlankEnds()
}

// oddTints are the opacities of the backgrounds of hidden and suspicious characters, independent of the line.
var oddTints = map[fyne.ThemeColorName]uint8{theme.ColorNameError: 0x2c, theme.ColorNameWarning: 0x3c}

// span draws text, a part of s that starts at byte at of the line. Only plain text has the colours of its language.
func (d *rowDrawer) span(s safetext.Span, text string, at int) {
	name := theme.ColorNameForeground
	switch {
	case s.Kind == safetext.Hidden:
		name = theme.ColorNameError
	case s.Kind == safetext.Suspicious:
		name = theme.ColorNameWarning
	case s.Kind == safetext.Run, d.line.Style == prompt.LineNote, d.line.Style == prompt.LineKey:
		name = ColorMuted
	}
	ink := colorOf(d.page.sheet, name)
	if ground := oddTints[name]; ground > 0 {
		paper := colorOf(d.page.sheet, d.page.sheet.ground)
		d.rectangle(d.x, d.face.measure(text), 3, mix(paper, ink, float32(ground)/0xff))
	}
	if name != theme.ColorNameForeground {
		d.run(text, ink)
		return
	}
	done := 0
	for _, part := range prompt.Within(d.line.Inks, at, at+len(text)) {
		d.run(text[done:part.From], ink)
		d.run(text[part.From:part.To], colorOf(d.page.sheet, part.Ink))
		done = part.To
	}
	d.run(text[done:], ink)
}

// run draws text at x. ASCII is drawn separately in cells of equal width, so that neither fonts nor the writing
// direction of other characters can move it. Fonts with other base lines are separate, too.
func (d *rowDrawer) run(text string, c color.Color) {
	for text != "" {
		first, _ := utf8.DecodeRuneInString(text)
		drop := d.face.drop(first)
		end := strings.IndexFunc(text, func(r rune) bool {
			return (r < utf8.RuneSelf) != (first < utf8.RuneSelf) || !unicode.Is(unicode.M, r) && d.face.drop(r) != drop
		})
		if end < 0 {
			end = len(text)
		}
		d.piece(text[:end], first, c)
		text = text[end:]
	}
}

// piece draws text, which starts with first, at x and advances x. If shaping makes the text wider than computed, it
// draws character by character, so that nothing is clipped or overlaps.
func (d *rowDrawer) piece(text string, first rune, c color.Color) {
	width := d.face.measure(text)
	t := d.page.newText("", d.line.Style, c)
	t.Text, t.TextStyle = text, styleOf(first, d.face.style)
	t.Resize(t.MinSize())
	if t.MinSize().Width > width+1 && utf8.RuneCountInString(text) > 1 && text[0] >= utf8.RuneSelf {
		for _, char := range text {
			d.piece(string(char), char, c)
		}
		return
	}
	d.draw(t, d.x)
	t.Move(t.Position().SubtractXY(0, d.face.drop(first)))
	d.x += width
}

// markBlankEnds marks blanks at a line break with a dot, because they would be invisible otherwise.
func (d *rowDrawer) markBlankEnds() {
	text := d.page.rowText(d.row)
	left := d.page.leadWidth(d.line)
	dot := func(x float32) {
		d.draw(d.page.newText("·", d.line.Style, colorOf(d.page.sheet, ColorMuted)), x)
	}
	if d.line.Style == prompt.LineNote {
		return
	}
	if !d.row.last {
		for i := range len(text) - len(strings.TrimRight(text, " ")) {
			dot(d.x - float32(i+1)*d.face.width(' '))
		}
	}
	if !d.row.isFirst() {
		for i := range len(text) - len(strings.TrimLeft(text, " ")) {
			dot(left + float32(i)*d.face.width(' '))
		}
	}
}

func (p *sheetPage) rowText(r sheetRow) string {
	var b strings.Builder
	for _, text := range p.pieces(r) {
		b.WriteString(text)
	}
	return b.String()
}

// offset returns the distance of position to from the left edge of the text in row r, or 0 if to is before the row.
func (p *sheetPage) offset(r sheetRow, to int) float32 {
	r.to = min(r.to, to)
	return p.face(p.sheet.lines[r.line].Style).measure(p.rowText(r))
}

func (p *sheetPage) positionAt(pos fyne.Position) int {
	if len(p.rows) == 0 {
		return 0
	}
	r := p.rows[p.rowAt(pos.Y)]
	l := p.sheet.lines[r.line]
	x, at := pos.X-p.leadWidth(l), r.from
	for s, text := range p.pieces(r) {
		units := strings.Split(text, "")
		if s.Text != s.Source { // selected as a whole
			units = []string{text}
		}
		for _, unit := range units {
			width := p.face(l.Style).measure(unit)
			if x < width/2 {
				return at
			}
			x, at = x-width, at+len(unit)
		}
	}
	return at
}

func (p *sheetPage) Cursor() desktop.Cursor { return desktop.TextCursor }

// MouseDown implements [desktop.Mouseable]: it starts a selection.
func (p *sheetPage) MouseDown(ev *desktop.MouseEvent) {
	takeFocus(p.sheet)
	if ev.Button != desktop.MouseButtonPrimary {
		return
	}
	at := p.positionAt(ev.Position)
	p.selectText(&selection{at, at})
}

func (p *sheetPage) MouseUp(*desktop.MouseEvent) {}

// Dragged implements [fyne.Draggable]: it extends the selection and scrolls its end into view.
func (p *sheetPage) Dragged(ev *fyne.DragEvent) {
	if p.selection == nil {
		return
	}
	p.selectText(&selection{p.selection.anchor, p.positionAt(ev.Position)})
	top, view := p.sheet.scroll.Offset.Y, p.sheet.scroll.Size().Height
	switch {
	case ev.Position.Y < top:
		p.sheet.scroll.scrollBy(ev.Position.Y - top)
	case ev.Position.Y > top+view:
		p.sheet.scroll.scrollBy(ev.Position.Y - view - top)
	}
}

func (p *sheetPage) DragEnd() {}

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

func (p *sheetPage) selectAll() {
	if p.end > 0 {
		p.selectText(&selection{0, p.end - 1})
	}
}

func (p *sheetPage) selectText(s *selection) {
	p.selection = s
	p.drawn = nil
	p.repaint()
}

// selected returns the original of the selected text, or of the whole text if nothing is selected.
func (p *sheetPage) selected() string {
	if p.selection == nil || p.selection.anchor == p.selection.cursor {
		return p.sheet.original
	}
	from, to := p.selection.ordered()
	if from == 0 && to == p.end-1 {
		return p.sheet.original
	}
	return p.selection.text(p.sheet.lines)
}

func (p *sheetPage) copySelection() { fyne.CurrentApp().Clipboard().SetContent(p.selected()) }
