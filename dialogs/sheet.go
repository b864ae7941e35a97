package dialogs

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/safetext"
)

// sheet shows text exactly: every line is there, wrapped instead of clipped, what is hidden is spelled out
// in the error colour, and a lead that no text of a requester reaches says which line it is. It scrolls up
// and down, draws only what is in view, and knows which parts have been. A copy gives the original text.
type sheet struct {
	widget.BaseWidget

	lines    []sheetLine
	original string // what a copy of everything gives
	capped   bool   // too long to show: it never counts as seen
	keys     *keyMap
	onSeen   func()
	inView   func() bool // the human can see the sheet as it is laid out now; nil: always

	scroll  *container.Scroll
	page    *sheetPage
	state   *canvas.Text   // what has not been in view yet
	onward  *widget.Button // to the next part that has not been in view
	file    *widget.Button // opens an input that is too long to show
	seen    seenRanges
	seenAll bool
	focused bool
}

const (
	sheetMaxRows  = 13  // rows of text that a sheet asks room for; with more room it shows more
	sheetPad      = 8   // around the text
	sheetMinWidth = 240 // below, wrapped text is no longer readable
	// sheetFirstWidth is assumed until the sheet has been laid out.
	sheetFirstWidth = 560
)

func newSheet(lines []sheetLine, original string) *sheet {
	s := &sheet{original: original}
	s.lines, s.capped = tooLong(lines)
	s.page = newSheetPage(s)
	s.scroll = container.NewVScroll(s.page)
	s.scroll.OnScrolled = func(fyne.Position) { s.scrolled() }
	s.state = canvas.NewText("", nil)
	s.onward = widget.NewButtonWithIcon(tr("Next part"), theme.MoveDownIcon(), s.showNextPart)
	s.onward.Importance = widget.LowImportance
	s.file = widget.NewButtonWithIcon(tr("Open as file"), theme.DocumentIcon(), s.openAsFile)
	s.file.Importance = widget.LowImportance
	s.ExtendBaseWidget(s)
	return s
}

// attach implements [block].
func (s *sheet) attach(k *keyMap, inView func() bool, onSeen func()) {
	s.keys, s.inView, s.onSeen = k, inView, onSeen
}

// allSeen implements [block]: every row has been in view.
func (s *sheet) allSeen() bool { return s.seenAll }

// scrolled follows the view.
func (s *sheet) scrolled() {
	s.page.repaint()
	s.noteSeen()
}

// noteSeen implements [block]: it records the rows that are wholly in view.
func (s *sheet) noteSeen() {
	if s.inView != nil && !s.inView() {
		s.updateState()
		return
	}
	const slack = 1 // rounding, in pixels
	top, bottom := s.scroll.Offset.Y-slack, s.scroll.Offset.Y+s.scroll.Size().Height+slack
	for _, r := range s.page.rowsBetween(top, bottom) {
		if r.y >= top && r.y+r.height <= bottom {
			s.seen.add(r.from, r.to)
		}
	}
	s.updateState()
	if s.seenAll || s.capped || !s.seen.covers(s.page.end) {
		return
	}
	s.seenAll = true
	s.updateState()
	if s.onSeen != nil {
		s.onSeen()
	}
}

// updateState says in the foot what is still to be read.
func (s *sheet) updateState() {
	unseen := s.page.unseenRows(s.seen)
	switch {
	case s.capped:
		s.state.Text = tr("Too long to show: only the beginning is here.")
	case s.seenAll:
		s.state.Text = tr("All of it has been in view.")
	default:
		s.state.Text = tr("Rows not in view yet: {{.Rows}}", values{"Rows": unseen})
	}
	if s.seenAll || unseen == 0 {
		s.onward.Disable()
	} else {
		s.onward.Enable()
	}
	s.state.Refresh()
}

// showNextPart scrolls to the first row that has not been in view.
func (s *sheet) showNextPart() {
	gap := s.seen.firstGap()
	for _, r := range s.page.rows {
		if r.to > gap {
			s.scrollTo(r.y)
			return
		}
	}
}

func (s *sheet) scrollTo(y float32) {
	y = max(0, min(y, s.page.height-s.scroll.Size().Height))
	s.scroll.ScrollToOffset(fyne.NewPos(0, y))
	s.scrolled()
}

// openAsFile hands the original to the desktop's program for text.
func (s *sheet) openAsFile() {
	if err := openText(s.original); err != nil {
		s.state.Text = err.Error()
		s.state.Refresh()
	}
}

// CreateRenderer implements [fyne.Widget].
func (s *sheet) CreateRenderer() fyne.WidgetRenderer {
	r := &sheetRenderer{sheet: s, back: canvas.NewRectangle(nil)}
	r.paint()
	return r
}

// FocusGained implements [fyne.Focusable].
func (s *sheet) FocusGained() {
	s.focused = true
	s.Refresh()
	if s.keys != nil {
		s.keys.gained(s)
	}
}

// FocusLost implements [fyne.Focusable].
func (s *sheet) FocusLost() {
	s.focused = false
	s.Refresh()
	if s.keys != nil {
		s.keys.lost(s)
	}
}

// TypedRune implements [fyne.Focusable]. No letter does anything.
func (s *sheet) TypedRune(rune) {}

// TypedKey implements [fyne.Focusable]: the keys that move through a text scroll it.
func (s *sheet) TypedKey(ev *fyne.KeyEvent) {
	row, view := s.page.face(lineText).height(), s.scroll.Size().Height
	switch ev.Name {
	case fyne.KeyUp:
		s.scrollTo(s.scroll.Offset.Y - row)
	case fyne.KeyDown:
		s.scrollTo(s.scroll.Offset.Y + row)
	case fyne.KeyPageUp:
		s.scrollTo(s.scroll.Offset.Y - view + row)
	case fyne.KeyPageDown:
		s.scrollTo(s.scroll.Offset.Y + view - row)
	case fyne.KeyHome:
		s.scrollTo(0)
	case fyne.KeyEnd:
		s.scrollTo(s.page.height)
	default:
		if s.keys != nil {
			s.keys.typedKey(ev)
		}
	}
}

// TypedShortcut implements [fyne.Shortcutable].
func (s *sheet) TypedShortcut(sc fyne.Shortcut) {
	switch sc.(type) {
	case *fyne.ShortcutCopy:
		s.page.copySelection()
	case *fyne.ShortcutSelectAll:
		s.page.selectAll()
	default:
		if s.keys != nil {
			s.keys.typedShortcut(sc)
		}
	}
}

var (
	_ fyne.Focusable     = (*sheet)(nil)
	_ fyne.Shortcutable  = (*sheet)(nil)
	_ desktop.Cursorable = (*sheetPage)(nil)
	_ desktop.Mouseable  = (*sheetPage)(nil)
	_ fyne.Draggable     = (*sheetPage)(nil)
)

// sheetRenderer lays out a sheet: the paper, the scrolling page on it, and a foot when not all is in view.
type sheetRenderer struct {
	sheet *sheet
	back  *canvas.Rectangle
}

func (r *sheetRenderer) Layout(size fyne.Size) {
	s := r.sheet
	r.back.Resize(size)
	s.page.wrap(size.Width - 2*sheetPad)

	view := size.Height - 2*sheetPad
	foot := s.capped || s.page.height > view+1
	for _, o := range []fyne.CanvasObject{s.state, s.onward, s.file} {
		o.Hide()
	}
	if foot {
		view -= r.footHeight()
		r.layoutFoot(size)
	}
	s.scroll.Move(fyne.NewPos(sheetPad, sheetPad))
	s.scroll.Resize(fyne.NewSize(size.Width-2*sheetPad, view))
	s.page.Resize(fyne.NewSize(size.Width-2*sheetPad, max(view, s.page.height)))
	s.scroll.Refresh()
	if max := s.page.height - view; s.scroll.Offset.Y > max {
		s.scroll.ScrollToOffset(fyne.NewPos(0, fyne.Max(0, max)))
	}
	s.scrolled()
}

func (r *sheetRenderer) layoutFoot(size fyne.Size) {
	s := r.sheet
	height := r.footHeight()
	button := s.onward
	if s.capped {
		button = s.file
	}
	s.state.Show()
	button.Show()
	wide := button.MinSize().Width
	button.Resize(fyne.NewSize(wide, height-2))
	button.Move(fyne.NewPos(size.Width-wide-2, size.Height-height))
	s.state.Resize(s.state.MinSize())
	s.state.Move(fyne.NewPos(sheetPad, size.Height-height+(height-s.state.MinSize().Height)/2))
}

func (r *sheetRenderer) footHeight() float32 { return r.sheet.onward.MinSize().Height }

func (r *sheetRenderer) MinSize() fyne.Size {
	s := r.sheet
	if s.page.width == 0 {
		s.page.wrap(sheetFirstWidth)
	}
	height := s.page.height
	if most := s.page.face(lineText).height() * sheetMaxRows; height > most || s.capped {
		height = most + r.footHeight()
	}
	return fyne.NewSize(sheetMinWidth, height+2*sheetPad)
}

func (r *sheetRenderer) Refresh() {
	r.paint()
	r.sheet.page.restyle()
	r.Layout(r.sheet.Size())
	canvas.Refresh(r.sheet)
}

func (r *sheetRenderer) paint() {
	s := r.sheet
	r.back.FillColor = colorOf(s, colorPaper)
	r.back.StrokeColor = colorOf(s, colorHairline)
	r.back.StrokeWidth = 1
	r.back.CornerRadius = theme.SizeForWidget(theme.SizeNameInputRadius, s)
	if s.focused {
		r.back.StrokeColor = colorOf(s, theme.ColorNamePrimary)
		r.back.StrokeWidth = 2
	}
	r.back.Refresh()
	s.state.Color = colorOf(s, colorMuted)
	s.state.TextSize = theme.SizeForWidget(theme.SizeNameCaptionText, s)
}

func (r *sheetRenderer) Objects() []fyne.CanvasObject {
	s := r.sheet
	return []fyne.CanvasObject{r.back, s.scroll, s.state, s.onward, s.file}
}

func (r *sheetRenderer) Destroy() {}

// sheetRow is one row of a wrapped line.
type sheetRow struct {
	line       int  // index of its line
	start, end spot // its part of the line's text
	first      bool // of its line
	last       bool
	from, to   int // its part of everything, to remember what has been in view
	y, height  float32
}

// rowsBetween returns the rows of which anything is between top and bottom.
func (p *sheetPage) rowsBetween(top, bottom float32) []sheetRow {
	first, last := p.rowAt(top), p.rowAt(bottom)
	if len(p.rows) == 0 {
		return nil
	}
	return p.rows[first : last+1]
}

// unseenRows counts the rows that have not been in view.
func (p *sheetPage) unseenRows(seen seenRanges) int {
	n, i := 0, 0
	for _, r := range p.rows {
		for i < len(seen) && seen[i].to < r.to {
			i++
		}
		if i == len(seen) || seen[i].from > r.from {
			n++
		}
	}
	return n
}

// selected text, from anchor to cursor.
type selection struct{ anchor, cursor lineSpot }

// lineSpot is a spot in one of the lines.
type lineSpot struct {
	line int
	spot
}

func (p lineSpot) before(q lineSpot) bool {
	return p.line < q.line || p.line == q.line && p.spot.before(q.spot)
}

func (s selection) ordered() (from, to lineSpot) {
	if s.cursor.before(s.anchor) {
		return s.cursor, s.anchor
	}
	return s.anchor, s.cursor
}

// text returns what was originally where the selection is.
func (s selection) text(lines []sheetLine) string {
	from, to := s.ordered()
	var b strings.Builder
	for i := from.line; i <= to.line && i < len(lines); i++ {
		l := lines[i]
		if l.style == lineNote || l.style == lineRule {
			continue
		}
		start, end := spot{}, spot{len(l.spans), 0}
		if i == from.line {
			start = from.spot
		}
		if i == to.line {
			end = to.spot
		}
		b.WriteString(sourceBetween(l.spans, start, end))
		if i < to.line {
			b.WriteString(l.end)
		}
	}
	return b.String()
}

// sourceBetween returns the original of the part of spans from start to end. A span that is drawn otherwise
// than it was written counts as a whole.
func sourceBetween(spans []safetext.Span, start, end spot) string {
	var b strings.Builder
	for i := start.span; i < len(spans) && i <= end.span; i++ {
		s := spans[i]
		a, z := 0, len(s.Text)
		if i == start.span {
			a = start.at
		}
		if i == end.span {
			z = end.at
		}
		switch {
		case s.Text == s.Source:
			b.WriteString(s.Source[a:z])
		case z > a:
			b.WriteString(s.Source)
		}
	}
	return b.String()
}

// atomic reports whether a selection takes s as a whole or not at all.
func atomic(s safetext.Span) bool { return s.Text != s.Source }

// isASCII reports whether s is drawn by one character per cell.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
