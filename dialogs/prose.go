package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// prose is a text to read, such as a plan, as light Markdown. Its positions are pixels.
type prose struct {
	content fyne.CanvasObject
	width   float32 // that it was wrapped for
	height  float32
}

// proseWidth is the most readable width of prose.
const proseWidth = 700

// newProse returns a sheet that shows content.
func newProse(content fyne.CanvasObject) *sheet {
	p := &prose{content: Padded(4, 6, content)}
	s := &sheet{ground: theme.ColorNameBackground}
	s.show(p, p.content)
	return s
}

func (p *prose) wrap(width float32) (moved bool) {
	moved = width != p.width
	p.width, p.height = width, resizeToWidth(p.content, width)
	return moved
}

func (p *prose) extent() (height float32, end int) { return p.height, max(int(p.height), 1) }

func (p *prose) between(top, bottom float32) (from, to int) {
	return int(max(top, 0)), int(min(bottom, p.height))
}

func (p *prose) top(position int) float32 {
	const overlap = 24 // a line that was already read, for orientation
	return float32(position) - overlap
}

func (p *prose) start(int) int {
	_, end := p.extent()
	return end
}

func (p *prose) unseen(seenRanges) (lines, of int) { return 0, 0 }

func (p *prose) wanted() float32 { return p.content.MinSize().Height + 2 }

func (p *prose) natural() float32 { return proseWidth }
