package dialogs

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// foot is the lower end of a prompt: what stands above the buttons, what the time-out means, the buttons
// that refuse on the left and those that go ahead on the right. It lays itself out, because the order of Tab
// is the order of its objects while their places depend on the room.
type foot struct {
	above       []fyne.CanvasObject // one under another
	disclosure  []fyne.CanvasObject // at most one
	left, right []fyne.CanvasObject
	status      fyne.CanvasObject
	split       bool // with room enough: the right buttons get a line of their own, the status is beside the left ones
	compact     bool

	width float32 // when it was last laid out
}

const (
	footGap     = 8   // between buttons, and between lines
	footTight   = 6   // the same when there is little room
	footMinimal = 120 // width that a status beside buttons must have; with less it goes under them
)

// object is the foot with its objects in the order in which Tab goes round.
func (f *foot) object() fyne.CanvasObject {
	status := []fyne.CanvasObject{f.status}
	return container.New(f, slices.Concat(f.disclosure, f.above, f.left, status, f.right)...)
}

// MinSize implements [fyne.Layout].
func (f *foot) MinSize(objects []fyne.CanvasObject) fyne.Size {
	wide := widest(objects)
	return fyne.NewSize(wide, f.place(max(f.width, wide)))
}

// Layout implements [fyne.Layout].
func (f *foot) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	f.width = size.Width
	f.place(size.Width)
}

// place puts everything where it belongs and returns the height of all.
func (f *foot) place(width float32) float32 {
	l := &footLines{width: width, gap: footGap}
	if f.compact {
		l.gap = footTight
	}
	if f.split && !f.compact {
		l.ends(f.disclosure, nil)
		l.column(f.above)
		l.beside(f.left, f.status)
		l.ends(nil, f.right)
	} else {
		l.column(f.above)
		l.beside(f.disclosure, f.status)
		l.ends(f.left, f.right)
	}
	return max(l.y-l.gap, 0)
}

// footLines places one line after another.
type footLines struct {
	width, gap, y float32
}

// column gives each object the whole width.
func (l *footLines) column(objects []fyne.CanvasObject) {
	for o := range visible(objects) {
		o.Move(fyne.NewPos(0, l.y))
		l.y += resizeToWidth(o, l.width) + l.gap
	}
}

// beside puts text, which wraps, to the right of buttons.
func (l *footLines) beside(buttons []fyne.CanvasObject, text fyne.CanvasObject) {
	x, height := l.row(buttons, 0)
	if x > 0 {
		x += l.gap
	}
	if l.width-x < footMinimal {
		l.y += height + l.gap
		x, height = 0, 0
	}
	h := resizeToWidth(text, l.width-x)
	height = max(height, h)
	text.Move(fyne.NewPos(x, l.y+(height-h)/2))
	for _, b := range buttons {
		b.Move(fyne.NewPos(b.Position().X, l.y+(height-b.Size().Height)/2))
	}
	l.y += height + l.gap
}

// ends puts some objects at the left end of a line and others at the right; when they do not fit into one,
// the others get a line of their own.
func (l *footLines) ends(left, right []fyne.CanvasObject) {
	x, height := l.row(left, 0)
	wide := rowLayout{gap: l.gap}.MinSize(right).Width
	if x > 0 && x+wide > l.width {
		l.y += height + l.gap
		height = 0
	}
	_, h := l.row(right, l.width-wide)
	if height = max(height, h); height > 0 {
		l.y += height + l.gap
	}
}

// row puts objects side by side from x on. It returns where it ended, with a gap, and its height.
func (l *footLines) row(objects []fyne.CanvasObject, x float32) (end, height float32) {
	for o := range visible(objects) {
		m := o.MinSize()
		o.Resize(m)
		o.Move(fyne.NewPos(x, l.y))
		x += m.Width + l.gap
		height = max(height, m.Height)
	}
	return x, height
}
