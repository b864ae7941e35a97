package dialogs

import (
	"iter"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
)

// sheet is text on paper that scrolls up and down and remembers what of it has been in view. Made by [newSheet]
// it shows text exactly: every line is there, wrapped instead of clipped, what is hidden is spelled out in the error
// colour, and a lead that no text of a requester reaches says which line it is. A copy gives the original text.
type sheet struct {
	focusBase
	text   sheetText
	onSeen func() // called whenever it is read, or more of it has been in view; nil for nothing

	page     *sheetPage // the text, when it can be selected; else nil
	lines    []prompt.Line
	must     int    // the first so many lines must be read; all of them unless content in proportion follows
	original string // what a copy of everything gives
	capped   bool   // too long to show: it never counts as read

	scroll *scrollArea
	pad    float32 // around it
	seen   seenRanges
	read   bool // the end of what must be read has been in view
	unread int  // lines that have not been in view
	past   bool // it was read, or not: what has been in view does not matter any more

	ground       fyne.ThemeColorName // of the paper
	paper        *canvas.Rectangle
	state        *canvas.Text // what has not been in view yet
	onward, file *button      // to what that is; opens an input that is too long to show
}

// sheetText is what a sheet shows, and remembers by its positions: those from 0 to end have been in view, or not.
type sheetText interface {
	// wrap makes it fit into width. It reports whether other positions are elsewhere now.
	wrap(width float32) (moved bool)
	extent() (height float32, end int)
	// start is the position at which a line starts: extent's end when there is none.
	start(line int) int
	// between returns the positions of what is wholly between two heights.
	between(top, bottom float32) (from, to int)
	// top is the height at which what is at a position comes into view.
	top(position int) float32
	// unseen counts the lines that have not been in view, of all; both are 0 where there are no lines.
	unseen(seen seenRanges) (lines, of int)
	// wanted is the height of the whole sheet at which all of it is in view.
	wanted() float32
	// natural is the width at which no line is broken, within what can be read well.
	natural() float32
}

const (
	sheetPad        = 8   // around the text
	sheetMaxColumns = 110 // of the widest line that a sheet asks room for
	tightPad        = 3   // above and below it when there is little room
	sheetMaxHeight  = 290 // that a sheet asks for where it stands among others
	sheetFootAir    = 4   // under the foot
	sheetMinWidth   = 240 // below, wrapped text is no longer readable
	// sheetFirstWidth is assumed until the sheet has been laid out.
	sheetFirstWidth = 560
)

func newSheet(lines []prompt.Line, original string) *sheet {
	s := &sheet{original: original, ground: ColorPaper, pad: sheetPad}
	s.lines, s.capped = prompt.TooLong(lines)
	s.must = len(s.lines)
	s.page = newSheetPage(s)
	s.show(s.page, s.page)
	return s
}

// show makes o, which draws text, the content of s.
func (s *sheet) show(text sheetText, o fyne.CanvasObject) {
	s.text, s.scroll = text, &scrollArea{container.NewVScroll(o)}
	s.scroll.OnScrolled = func(fyne.Position) { s.scrolled() }
	s.paper, s.state = canvas.NewRectangle(nil), canvas.NewText("", nil)
	s.onward = newButton(nil, tr("Next unread part"), s.showNextPart)
	s.file = newButton(nil, tr("Open as file"), s.openAsFile)
	for _, b := range []*button{s.onward, s.file} {
		b.look = linkButton
		b.Hide()
	}
	s.extend(s, nil)
}

// isWide reports whether the sheet scrolls to the side, too: then only lines are broken that are far too long.
func (s *sheet) isWide() bool { return s.scroll.Direction == container.ScrollBoth }

// attach makes the sheet a part of the prompt in w, and has onSeen called when more of it has been in view. Only that
// counts as seen which is laid out while w is in view: a layout can be a mere measurement, or of a window that is
// not on the screen yet.
func (s *sheet) attach(w *window, onSeen func()) {
	s.w, s.onSeen = w, onSeen
	s.onward.w, s.file.w = w, w
	if s.page != nil {
		w.p.aside(s.colour)
	}
}

// colour works out the colours of the text, which takes a while, and returns what shows them.
func (s *sheet) colour() (show func()) {
	inks := inksOf(s.lines)
	return func() {
		for i := range s.lines {
			s.lines[i].Inks = inks[i]
		}
		s.page.drawn = nil
		s.page.repaint()
	}
}

// scrolled follows the view.
func (s *sheet) scrolled() {
	if s.page != nil {
		s.page.repaint()
	}
	s.noteSeen()
}

// noteSeen takes note of what is wholly in view now.
func (s *sheet) noteSeen() {
	_, end := s.text.extent()
	wasRead, wasUnread := s.read, s.unread
	if s.w == nil || s.w.inView() {
		const slack = 1 // rounding, in pixels
		s.seen.add(s.text.between(s.scroll.Offset.Y-slack, s.scroll.Offset.Y+s.scroll.Size().Height+slack))
		s.read = wasRead || !s.capped && s.seen.reaches(s.text.start(s.must))
	}
	var all int
	s.unread, all = s.text.unseen(s.seen)
	isSeen := s.seen.covers(end)
	switch {
	case s.capped:
		s.state.Text = tr("Too long to show: only the beginning is here.")
	case isSeen:
		s.state.Text = tr("You have seen all of it.")
	case all == 0:
		s.state.Text = tr("You haven't seen all of it yet.")
	default:
		s.state.Text = tr("{{.Lines}} of {{.All}} lines not shown", values{"Lines": s.unread, "All": all})
	}
	if isSeen {
		s.onward.Hide()
	}
	s.state.Refresh()
	if s.onSeen != nil && (s.read != wasRead || s.unread != wasUnread) {
		s.onSeen()
	}
}

// showNextPart scrolls to the first part that has not been in view.
func (s *sheet) showNextPart() {
	s.scroll.scrollBy(s.text.top(s.seen.firstGap()) - s.scroll.Offset.Y)
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
	return newPainted(container.New(sheetLayout{s}, s.paper, s.scroll.Scroll, s.state, s.onward, s.file), s.paint)
}

func (s *sheet) paint() {
	s.paper.FillColor = colorOf(s, s.ground)
	s.paper.StrokeColor, s.paper.StrokeWidth = colorOf(s, colorHairline), 1
	if s.isWide() {
		s.paper.StrokeWidth = 0 // it stands on a card
	}
	s.paper.CornerRadius = theme.SizeForWidget(theme.SizeNameInputRadius, s)
	if s.focused {
		s.paper.StrokeColor, s.paper.StrokeWidth = colorOf(s, theme.ColorNamePrimary), 2
	}
	s.paper.Refresh()
	s.state.Color = colorOf(s, ColorMuted)
	s.state.TextSize = theme.SizeForWidget(theme.SizeNameCaptionText, s)
	if s.page != nil && s.page.width > 0 {
		s.page.restyle()
		sheetLayout{s}.Layout(nil, s.Size())
	}
}

// TypedKey implements [fyne.Focusable]: the keys that move through a text scroll it.
func (s *sheet) TypedKey(ev *fyne.KeyEvent) {
	if !s.scroll.typedKey(ev, s.lineHeight()) {
		s.passOn(ev)
	}
}

func (s *sheet) lineHeight() float32 {
	if s.page == nil {
		return textLine
	}
	return s.page.face(prompt.LineText).height()
}

// TypedShortcut implements [fyne.Shortcutable].
func (s *sheet) TypedShortcut(sc fyne.Shortcut) {
	_, isCopy := sc.(*fyne.ShortcutCopy)
	_, isAll := sc.(*fyne.ShortcutSelectAll)
	switch {
	case isCopy && s.page != nil:
		s.page.copySelection()
	case isAll && s.page != nil:
		s.page.selectAll()
	case s.w != nil:
		s.w.typedShortcut(sc)
	default: // the window is another
		if c, ok := fyne.CurrentApp().Driver().CanvasForObject(s).(fyne.Shortcutable); ok {
			c.TypedShortcut(sc)
		}
	}
}

var (
	_ fyne.Shortcutable  = (*sheet)(nil)
	_ desktop.Cursorable = (*sheetPage)(nil)
	_ desktop.Mouseable  = (*sheetPage)(nil)
	_ fyne.Draggable     = (*sheetPage)(nil)
)

// sheetLayout lays out a sheet: the paper, the scrolling text on it, and a foot when not all is in view.
type sheetLayout struct{ *sheet }

// MinSize implements [fyne.Layout].
func (l sheetLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(sheetMinWidth, min(l.text.wanted(), sheetMaxHeight))
}

// Layout implements [fyne.Layout].
func (l sheetLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	l.paper.Resize(size)
	width := size.Width - 2*l.pad
	if l.isWide() {
		width = max(width, l.text.natural()-2*l.pad)
	}
	if l.text.wrap(width) {
		l.seen = nil
	}
	height, end := l.text.extent()
	pad := l.pad
	if size.Height < 4*l.lineHeight() {
		pad = min(pad, tightPad)
	}
	view := size.Height - 2*pad
	button := l.onward
	if l.capped {
		button = l.file
	}
	hasFoot := l.capped || !l.past && height > view+1 && view > l.footHeight()+2*l.lineHeight()
	setVisible(l.state, hasFoot)
	setVisible(button, hasFoot && (l.capped || !l.seen.covers(end)))
	if hasFoot {
		foot, wide := l.footHeight(), button.MinSize().Width
		view -= foot
		button.Resize(fyne.NewSize(wide, foot))
		button.Move(fyne.NewPos(size.Width-wide-sheetPad, size.Height-foot-sheetFootAir))
		l.state.Resize(l.state.MinSize())
		l.state.Move(fyne.NewPos(sheetPad, size.Height-foot-sheetFootAir+(foot-l.state.MinSize().Height)/2))
	}
	l.scroll.Move(fyne.NewPos(l.pad, pad))
	l.scroll.Resize(fyne.NewSize(size.Width-2*l.pad, max(view, 0)))
	l.scroll.Refresh()   // its bar
	l.scroll.scrollBy(0) // back to where there is text
}

func (s *sheet) footHeight() float32 { return s.onward.MinSize().Height }

// sheetRow is one row of a wrapped line. Positions count the bytes drawn of everything, and one for each line break,
// so that an empty line has something to be seen, too.
type sheetRow struct {
	line      int // index of its line
	base      int // position where that starts
	from, to  int // its positions
	last      bool
	y, height float32

	span, before int // where its text starts: a span of the line, and the bytes in front of that
}

func (r sheetRow) isFirst() bool { return r.from == r.base }

// unseen counts the lines of text with a row that has not been in view: of what need not be read, when there is such.
func (p *sheetPage) unseen(seen seenRanges) (lines, of int) {
	i, counted, first := 0, -1, 0
	if p.sheet.must < len(p.sheet.lines) {
		first = p.sheet.must
	}
	for _, r := range p.rows {
		style := p.sheet.lines[r.line].Style
		if r.line < first || style == prompt.LineNote || style == prompt.LineRule {
			continue
		}
		if r.isFirst() {
			of++
		}
		for i < len(seen) && seen[i].to < r.to {
			i++
		}
		if (i == len(seen) || seen[i].from > r.from) && counted != r.line {
			counted = r.line
			lines++
		}
	}
	return lines, of
}

// selection is the text between two positions.
type selection struct{ anchor, cursor int }

func (s selection) ordered() (from, to int) { return min(s.anchor, s.cursor), max(s.anchor, s.cursor) }

// text returns what was originally where the selection is. A span that is drawn otherwise than it was written counts
// as a whole.
func (s selection) text(lines []prompt.Line) string {
	from, to := s.ordered()
	var b strings.Builder
	for _, l := range lines {
		if l.Style != prompt.LineNote && l.Style != prompt.LineRule {
			for s, text := range pieces(l.Spans, from, to) {
				if prompt.IsAtomic(s) {
					text = s.Source
				}
				b.WriteString(text)
			}
			if size := l.Size(); from <= size && size < to {
				b.WriteByte('\n')
			}
		}
		from, to = from-l.Size()-1, to-l.Size()-1
	}
	return b.String()
}

// pieces goes over what is drawn of spans between two of its bytes, span by span.
func pieces(spans []safetext.Span, from, to int) iter.Seq2[safetext.Span, string] {
	return func(yield func(safetext.Span, string) bool) {
		start := 0
		for _, s := range spans {
			if start >= to {
				return
			}
			a, z := max(from-start, 0), min(to-start, len(s.Text))
			if a < z && !yield(s, s.Text[a:z]) {
				return
			}
			start += len(s.Text)
		}
	}
}

// pieces goes over what is drawn in a row.
func (p *sheetPage) pieces(r sheetRow) iter.Seq2[safetext.Span, string] {
	start := r.base + r.before
	return pieces(p.sheet.lines[r.line].Spans[r.span:], r.from-start, r.to-start)
}
