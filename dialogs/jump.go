package dialogs

import "nod/dialogs/prompt"

const jumpAbove = 2 // lines in view above the target of a jump

// jumpTo scrolls to a position and selects its line.
func (s *sheet) jumpTo(position int) {
	if s.page != nil {
		s.page.selectText(&selection{position, s.page.lineEnd(position)})
	}
	s.scroll.scrollBy(s.text.top(position) - jumpAbove*s.lineHeight() - s.scroll.Offset.Y)
}

// lineEnd returns the position after the line that contains a position.
func (p *sheetPage) lineEnd(position int) int {
	for _, r := range p.rows {
		if r.last && r.to > position {
			return r.to
		}
	}
	return p.end
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
