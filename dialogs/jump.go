package dialogs

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs/prompt"
)

const (
	jumpMarked = 2 * time.Second // how long a line stays marked after a jump
	jumpAbove  = 2               // lines in view above it
	jumpTint   = 0x22            // opacity of the mark
)

// jumpTo scrolls to a position and marks its line for a moment.
func (s *sheet) jumpTo(position int) {
	if s.page != nil {
		s.page.mark(position)
	}
	s.scroll.scrollBy(s.text.top(position) - jumpAbove*s.lineHeight() - s.scroll.Offset.Y)
}

// positionOf returns the position of the byte at offset in the text that the sheet starts with.
func (s *sheet) positionOf(offset int) int {
	position := 0
	for _, l := range s.lines {
		for _, span := range l.Spans {
			if size := len(span.Source); offset >= size {
				offset, position = offset-size, position+len(span.Text)
				continue
			}
			if prompt.IsAtomic(span) {
				offset = 0
			}
			return position + offset
		}
		if offset == 0 {
			return position
		}
		offset, position = offset-1, position+1 // its line break
	}
	return max(position-1, 0)
}

// mark marks the line at a position for a moment.
func (p *sheetPage) mark(position int) {
	p.showMark(&position)
	if w := p.sheet.w; w != nil {
		stop(p.unmark)
		p.unmark = w.p.after(jumpMarked, func() { p.showMark(nil) })
	}
}

func (p *sheetPage) showMark(position *int) {
	p.marked, p.drawn = position, nil
	p.repaint()
}

// marked draws the mark if the row is part of the marked line.
func (d *rowDrawer) marked() {
	if at := d.page.marked; at == nil || *at < d.row.base || *at > d.row.base+d.line.Size() {
		return
	}
	const edge = 2
	accent := colorOf(d.page.sheet, theme.ColorNamePrimary)
	d.rectangle(0, d.across(), 0, tint(accent, jumpTint))
	if d.row.isFirst() {
		d.fill(fyne.NewPos(0, d.row.y), fyne.NewSize(d.across(), edge), 0, accent)
	}
	if d.row.last {
		d.fill(fyne.NewPos(0, d.row.y+d.row.height-edge), fyne.NewSize(d.across(), edge), 0, accent)
	}
}
