package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// brief is small print. If it does not fit, its parts lose their middles, and a press on "more" shows all of it.
type brief struct {
	object  *fyne.Container
	parts   []briefPart
	more    *button
	end     *button // at the right end; nil for none
	maxRows int     // rows while folded
	open    bool    // the user unfolded it
	width   float32

	placed placing // for which everything was placed
	height float32 // that it took then
}

type placing struct {
	width           float32
	maxRows         int
	open            bool
	line, more, end fyne.Size
}

type briefPart struct {
	label fyne.CanvasObject
	line  *fyne.Container // the text in one row
	text  *elided         // its layout
	full  fyne.CanvasObject
}

const (
	briefLabelGap = 6  // between a label and its text
	briefPartGap  = 14 // between parts
	leastBrief    = 40 // width of a text that wraps
	leastShare    = 60 // width for each part, below which a row is not shared
)

func newBriefPart(label fyne.CanvasObject, text string, importance widget.Importance) briefPart {
	ink := theme.ColorNameForeground
	if importance == widget.LowImportance {
		ink = ColorMuted
	}
	line := newElidedText(text, theme.SizeNameCaptionText, fyne.TextStyle{}, ink)
	full := Tight(Lines(text, theme.SizeNameCaptionText, importance))
	return briefPart{label: label, line: line, text: line.Layout.(*elided), full: full}
}

func newBrief(w *window, parts ...briefPart) *brief {
	b := &brief{parts: parts, maxRows: 1}
	b.more = newLink(w, tr("more"), b.toggle)
	b.object = container.New(b)
	for _, p := range parts {
		b.object.Objects = append(b.object.Objects, p.label, p.line, p.full)
	}
	b.object.Objects = append(b.object.Objects, b.more)
	return b
}

func (b *brief) toggle() {
	b.open = !b.open
	text := tr("more")
	if b.open {
		text = tr("less")
	}
	b.more.setText(text)
	b.more.w.changed()
}

func (b *brief) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(leastBrief, b.placeAt(max(b.width, leastBrief)))
}

func (b *brief) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	b.width = size.Width
	b.placeAt(size.Width)
}

// placeAt places everything and returns the total height. Fyne asks for that with each frame, and draws another frame
// if anything moves, so placeAt does not move what is already in its place.
func (b *brief) placeAt(width float32) float32 {
	p := placing{width: width, maxRows: b.maxRows, open: b.open, more: b.more.MinSize()}
	if len(b.parts) > 0 {
		p.line = b.parts[0].line.MinSize()
	}
	if b.end != nil {
		p.end = b.end.MinSize()
	}
	if p != b.placed {
		b.placed, b.height = p, max(b.place(width), p.end.Height)
	}
	return b.height
}

func (b *brief) place(width float32) float32 {
	if b.end != nil {
		width = b.atEnd(b.end, width)
	}
	gaps := briefPartGap * float32(len(b.parts)-1)
	all := b.column(width)
	labels := total(b.parts, briefPart.indent)
	fits := len(b.parts) == 0 || labels+total(b.parts, briefPart.wide)+gaps <= width
	folds := !fits && all > float32(b.maxRows)*b.parts[0].line.MinSize().Height
	SetVisible(b.more, folds)
	if folds {
		width = b.atEnd(b.more, width)
		all = b.column(width)
	}
	switch {
	case fits, folds && !b.open && (width-labels-gaps)/float32(len(b.parts)) >= leastShare:
		return b.row(b.parts, 0, width)
	case folds && !b.open:
		var y float32
		for i := range b.parts {
			y += b.row(b.parts[i:i+1], y, width)
		}
		return y
	}
	for _, p := range b.parts {
		SetVisible(p.line, false)
		SetVisible(p.full, true)
	}
	return all
}

func (b *brief) atEnd(o *button, width float32) float32 {
	size := o.MinSize()
	setBounds(o, width-size.Width, 0, size)
	return width - size.Width - briefLabelGap
}

func (b *brief) column(width float32) (height float32) {
	for _, p := range b.parts {
		p.put(0, height, max(width-p.indent(), leastBrief), p.full)
		height += max(p.full.Size().Height, p.label.Size().Height)
	}
	return height
}

// row puts parts into one row and returns its height. Parts longer than their share of the row lose their middles.
func (b *brief) row(parts []briefPart, y, width float32) (height float32) {
	room := width - briefPartGap*float32(len(parts)-1) - total(parts, briefPart.indent)
	var x float32
	for i, p := range parts {
		share := max(room/float32(len(parts)-i), room-total(parts[i+1:], briefPart.wide)) // with what those behind leave
		share = max(min(p.wide(), share), 0)
		room -= share
		height = max(height, p.line.MinSize().Height)
		x = p.put(x, y, share, p.line) + briefPartGap
		SetVisible(p.line, true)
		SetVisible(p.full, false)
	}
	return height
}

func total(parts []briefPart, width func(briefPart) float32) (sum float32) {
	for _, p := range parts {
		sum += width(p)
	}
	return sum
}

func (p briefPart) wide() float32 { return p.text.wide() }

func (p briefPart) indent() float32 {
	if width := p.label.MinSize().Width; width > 0 {
		return width + briefLabelGap
	}
	return 0
}

// put places a part with which as its text, and returns where the part ends.
func (p briefPart) put(x, y, width float32, which fyne.CanvasObject) (end float32) {
	p.label.Resize(p.label.MinSize())
	height := resizeToWidth(which, width)
	row := p.line.MinSize().Height
	p.label.Move(fyne.NewPos(x, y+max((row-p.label.Size().Height)/2, 0)))
	x += p.indent()
	which.Move(fyne.NewPos(x, y+max((row-height)/2, 0)))
	return x + width
}
