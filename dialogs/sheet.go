package dialogs

import (
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
)

// sheet is a text that scrolls up and down and tracks which parts have been in view. Made by [newSheet] it shows text
// exactly: every line, wrapped instead of clipped, hidden characters spelled out in the error colour, and the number of
// each line in a margin that the text of a requester cannot reach. Copying gives the original text.
type sheet struct {
	focusBase
	text   sheetText
	onSeen func() // called whenever more of it has been in view; may be nil

	page     *sheetPage // the text, if it can be selected; else nil
	lines    []prompt.Line
	mustRead int    // number of lines, from the first, that must be read
	original string // what copying everything gives
	capped   bool   // too long to show: it never counts as read

	scroll    *scrollArea
	pad       float32 // around it
	most      float32 // height among other objects
	offset    float32 // how far the user scrolled; measuring the sheet at another size can scroll it, too
	seen      seenRanges
	read      bool // the end of the mandatory lines has been in view
	unread    int  // lines that have not been in view
	untracked bool // what has been in view is not tracked

	ground       fyne.ThemeColorName // background
	paper        *canvas.Rectangle
	state        *canvas.Text // says how much has not been in view yet
	onward, file *button      // scrolls there; opens an input that is too long to show
}

type sheetText interface {
	// wrap fits the text to width. It reports whether positions have changed.
	wrap(width float32) (moved bool)
	extent() (height float32, end int)
	// start returns the position at which a line starts, or the end if that line does not exist.
	start(line int) int
	// between returns the range of positions that is completely between two heights.
	between(top, bottom float32) (from, to int)
	// top returns the height at which a position comes into view.
	top(position int) float32
	// unseen returns the number of lines that have not been in view and of all lines, or 0 for text without lines.
	unseen(seen seenRanges) (lines, of int)
	// wanted returns the height of the sheet that shows everything.
	wanted() float32
	// natural returns the width that breaks no line, up to a readable maximum.
	natural() float32
}

const (
	sheetPad        = 8   // around the text
	sheetMaxColumns = 110 // of the widest line that a sheet widens for
	tightPad        = 3   // above and below it in a small window
	sheetMaxHeight  = 290 // of most sheets among other objects
	sheetFootAir    = 4   // below the foot
	sheetMinWidth   = 240 // narrower, wrapped text is not readable
	// sheetFirstWidth is assumed until the sheet has been laid out.
	sheetFirstWidth = 560
)

func newSheet(lines []prompt.Line, original string) *sheet {
	s := &sheet{original: original, ground: ColorPaper, pad: sheetPad}
	s.lines, s.capped = prompt.TooLong(lines)
	s.mustRead = len(s.lines)
	s.page = &sheetPage{sheet: s, faces: map[prompt.LineStyle]*face{}}
	s.page.ExtendBaseWidget(s.page)
	s.show(s.page, s.page)
	return s
}

func (s *sheet) show(text sheetText, o fyne.CanvasObject) {
	s.text, s.scroll, s.most = text, &scrollArea{container.NewVScroll(o)}, sheetMaxHeight
	s.scroll.OnScrolled = func(at fyne.Position) {
		if !s.isMeasured() {
			s.offset = at.Y
		}
		if s.page != nil {
			s.page.repaint()
		}
		s.noteSeen()
	}
	s.paper, s.state = canvas.NewRectangle(nil), canvas.NewText("", nil)
	s.onward = newLink(nil, tr("Next unread part"), s.showNextPart)
	s.file = newLink(nil, tr("Open as file"), s.openAsFile)
	s.onward.Hide()
	s.file.Hide()
	s.extend(s, nil)
}

// isWide reports whether the sheet also scrolls sideways. Then only very long lines are broken.
func (s *sheet) isWide() bool { return s.scroll.Direction == container.ScrollBoth }

// attach adds the sheet to the prompt in w and sets onSeen. Only what is laid out while w is in view counts as seen:
// other layouts only measure, or belong to a window that is not on the screen yet.
func (s *sheet) attach(w *window, onSeen func()) {
	s.w, s.onSeen = w, onSeen
	s.onward.w, s.file.w = w, w
	if s.page != nil {
		w.p.aside(s.colour)
	}
}

func (s *sheet) colour() (show func()) {
	inks := prompt.Colours(s.lines, inksIn)
	return func() {
		for i := range s.lines {
			s.lines[i].Inks = inks[i]
		}
		s.page.drawn = nil
		s.page.repaint()
	}
}

func (s *sheet) noteSeen() {
	_, end := s.text.extent()
	wasRead, wasUnread := s.read, s.unread
	if s.w == nil || s.w.inView() {
		const slack = 1 // rounding, in pixels
		s.seen.add(s.text.between(s.scroll.Offset.Y-slack, s.scroll.Offset.Y+s.scroll.Size().Height+slack))
		s.read = wasRead || !s.capped && s.seen.reaches(s.text.start(s.mustRead))
	}
	var all int
	s.unread, all = s.text.unseen(s.seen)
	isSeen := s.seen.covers(end)
	switch {
	case s.capped:
		s.state.Text = tr("Too long to show: here is only the beginning.")
	case isSeen:
		s.state.Text = tr("You have seen all of it.")
	case all == 0:
		s.state.Text = tr("You haven't seen all of it yet.")
	default:
		s.state.Text = tr("{{.Lines}} of {{.All}} lines not shown",
			values{"Lines": prompt.Number(s.unread), "All": prompt.Number(all)})
	}
	if isSeen {
		s.onward.Hide()
	}
	s.state.Refresh()
	if s.onSeen != nil && (s.read != wasRead || s.unread != wasUnread) {
		s.onSeen()
	}
}

func (s *sheet) showNextPart() {
	s.scroll.scrollBy(s.text.top(s.seen.firstGap()) - s.scroll.Offset.Y)
}

func (s *sheet) openAsFile() {
	if err := openText(s.original); err != nil {
		s.state.Text = err.Error()
		s.state.Refresh()
	}
}

func (s *sheet) CreateRenderer() fyne.WidgetRenderer {
	return newPainted(container.New(sheetLayout{s}, s.paper, s.scroll.Scroll, s.state, s.onward, s.file), s.paint)
}

func (s *sheet) paint() {
	s.paper.FillColor = colorOf(s, s.ground)
	s.paper.StrokeColor, s.paper.StrokeWidth = colorOf(s, colorHairline), 1
	if s.isWide() {
		s.paper.StrokeWidth = 0 // a card has a border of its own
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

// TypedKey implements [fyne.Focusable]: navigation keys scroll.
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
	default: // a window other than the prompt
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

// sheetLayout lays out a sheet: the background, the scrolling text, and a foot if not everything is in view.
type sheetLayout struct{ *sheet }

func (l sheetLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(sheetMinWidth, min(l.text.wanted(), l.most))
}

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
	hasFoot := l.capped || !l.untracked && height > view+1 && view > l.footHeight()+2*l.lineHeight()
	SetVisible(l.state, hasFoot)
	SetVisible(button, hasFoot && (l.capped || !l.seen.covers(end)))
	if hasFoot {
		foot, wide := l.footHeight(), button.MinSize().Width
		view -= foot
		y, state := size.Height-foot-sheetFootAir, l.state.MinSize()
		setBounds(button, size.Width-wide-sheetPad, y, fyne.NewSize(wide, foot))
		setBounds(l.state, sheetPad, y+(foot-state.Height)/2, state)
	}
	setBounds(l.scroll, l.pad, pad, fyne.NewSize(size.Width-2*l.pad, max(view, 0)))
	l.scroll.Refresh() // updates the scroll bar
	l.scrollBack()
}

// scrollBack scrolls to where the user was, but not beyond the end of the text.
func (s *sheet) scrollBack() {
	if !s.isMeasured() {
		s.scroll.scrollBy(s.offset - s.scroll.Offset.Y)
	}
}

// isMeasured reports whether the sheet is laid out only to find its size.
func (s *sheet) isMeasured() bool { return s.w != nil && s.w.measuring }

func (s *sheet) footHeight() float32 { return s.onward.MinSize().Height }

// sheetRow is one row of a wrapped line. Positions count the drawn bytes, and each line break as one.
type sheetRow struct {
	line      int // index of its line
	base      int // position at which the line starts
	from, to  int // its positions
	last      bool
	y, height float32

	span, before int // where its text starts: a span of the line, and the number of bytes before it
}

func (r sheetRow) isFirst() bool { return r.from == r.base }

// unseen implements [sheetText]. If only the first lines must be read, it counts the others.
func (p *sheetPage) unseen(seen seenRanges) (lines, of int) {
	i, counted, first := 0, -1, 0
	if p.sheet.mustRead < len(p.sheet.lines) {
		first = p.sheet.mustRead
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

type selection struct{ anchor, cursor int }

func (s selection) ordered() (from, to int) { return min(s.anchor, s.cursor), max(s.anchor, s.cursor) }

// text returns the original of the selection. A span that is not drawn literally counts as a whole.
func (s selection) text(lines []prompt.Line) string {
	from, to := s.ordered()
	var b strings.Builder
	for _, l := range lines {
		if l.Style != prompt.LineNote && l.Style != prompt.LineRule {
			for s, text := range pieces(l.Spans, from, to) {
				if s.Text != s.Source {
					text = s.Source
				}
				b.WriteString(text)
			}
			if size := len(l.Text()); from <= size && size < to {
				b.WriteByte('\n')
			}
		}
		from, to = from-len(l.Text())-1, to-len(l.Text())-1
	}
	return b.String()
}

// pieces yields the drawn text of spans from byte from to byte to, span by span.
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

func (p *sheetPage) pieces(r sheetRow) iter.Seq2[safetext.Span, string] {
	start := r.base + r.before
	return pieces(p.sheet.lines[r.line].Spans[r.span:], r.from-start, r.to-start)
}

// inputView is the main block of an approval: what the tool call would do, from its exact input.
type inputView struct {
	block *sheet // shows it, and tracks how much of it has been in view
	prompt.View
}

func newInputView(w *window, said prompt.View) *inputView {
	v := &inputView{View: said}
	if v.Plan != "" {
		v.block = newProse(planBlocks(w, v.Content))
		return v
	}
	v.block = newSheet(v.Lines, v.Original)
	v.block.capped = v.TooLong
	if v.Must > 0 && !v.TooLong {
		v.block.mustRead = v.Must
	}
	return v
}

// openText writes text to a read-only file of this user and opens it with the desktop's program for plain text. nod
// chooses the name of the file, so that text cannot determine the program.
func openText(text string) error {
	dir, err := os.MkdirTemp("", "nod-input-") // made with mode 0700
	if err != nil {
		return fmt.Errorf("open as file: %w", err)
	}
	path := filepath.Join(dir, "input.txt")
	if err := os.WriteFile(path, []byte(text), 0o400); err != nil {
		return fmt.Errorf("open as file: %w", err)
	}
	if err := fyne.CurrentApp().OpenURL(&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}); err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	return nil
}

// seenRanges are the parts of a text that have been in view: disjoint half-open ranges of positions, in order.
type seenRanges []seenRange

type seenRange struct{ from, to int }

// add records that the positions from from up to, not including, to have been in view.
func (s *seenRanges) add(from, to int) {
	if from >= to {
		return
	}
	first, _ := slices.BinarySearchFunc(*s, from, func(r seenRange, from int) int { return r.to - from })
	last := first
	for last < len(*s) && (*s)[last].from <= to {
		from, to = min(from, (*s)[last].from), max(to, (*s)[last].to)
		last++
	}
	*s = slices.Replace(*s, first, last, seenRange{from, to})
}

// covers reports whether all positions before end have been in view.
func (s seenRanges) covers(end int) bool {
	return end == 0 || len(s) > 0 && s[0].from == 0 && s[0].to >= end
}

// reaches reports whether the position before end has been in view, whatever is above it.
func (s seenRanges) reaches(end int) bool {
	return end == 0 || slices.ContainsFunc(s, func(r seenRange) bool { return r.from < end && end <= r.to })
}

// firstGap returns the first position that has not been in view.
func (s seenRanges) firstGap() int {
	if len(s) == 0 || s[0].from > 0 {
		return 0
	}
	return s[0].to
}
