package dialogs

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// foot is the lower end of a prompt: the objects above the buttons, the refusing buttons on the left, the effect of the
// time-out, and the affirmative buttons on the right, in one row if that fits. It is its own layout because Tab follows
// the order of its objects, but their places depend on the width.
type foot struct {
	above       []fyne.CanvasObject // one under another
	left, right []fyne.CanvasObject
	status      fyne.CanvasObject
	compact     bool

	width float32 // when it was last laid out
}

const (
	footGap     = 8   // between buttons, and between lines
	footTight   = 6   // the same in a small window
	footMinimal = 100 // minimum width of a status between buttons; narrower, it goes above them
)

func (f *foot) object() fyne.CanvasObject {
	status := []fyne.CanvasObject{f.status}
	return container.New(f, slices.Concat(f.above, f.left, status, f.right)...)
}

func (f *foot) MinSize(objects []fyne.CanvasObject) fyne.Size {
	wide := widest(objects)
	return fyne.NewSize(wide, f.place(max(f.width, wide)))
}

func (f *foot) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	f.width = size.Width
	f.place(size.Width)
}

func (f *foot) place(width float32) float32 {
	l := &footLines{width: width, gap: footGap}
	if f.compact {
		l.gap = footTight
	}
	l.column(f.above)
	row := rowLayout{gap: l.gap}
	left, right := row.MinSize(f.left), row.MinSize(f.right)
	if room := width - left.Width - right.Width - 2*l.gap; room >= footMinimal {
		l.row(f.left, 0)
		l.row(f.right, width-right.Width)
		height := max(left.Height, right.Height)
		h := resizeToWidth(f.status, room)
		f.status.Move(fyne.NewPos(left.Width+l.gap, l.y+(height-h)/2))
		return l.y + max(height, h)
	}
	if oneRow := left.Width+l.gap+right.Width <= width; oneRow || width-left.Width-l.gap < footMinimal {
		l.column([]fyne.CanvasObject{f.status})
		_, height := l.row(f.left, 0)
		if !oneRow {
			l.y += height + l.gap
		}
		_, height = l.row(f.right, max(width-right.Width, 0))
		return l.y + height
	}
	l.beside(f.left, f.status)
	_, height := l.row(f.right, max(width-right.Width, 0))
	return l.y + height
}

type footLines struct {
	width, gap, y float32
}

func (l *footLines) column(objects []fyne.CanvasObject) {
	for o := range visible(objects) {
		o.Move(fyne.NewPos(0, l.y))
		l.y += resizeToWidth(o, l.width) + l.gap
	}
}

func (l *footLines) beside(buttons []fyne.CanvasObject, text fyne.CanvasObject) {
	x, height := l.row(buttons, 0)
	h := resizeToWidth(text, max(l.width-x, footMinimal))
	text.Move(fyne.NewPos(x, l.y+(height-h)/2))
	l.y += max(height, h) + l.gap
}

func (l *footLines) row(objects []fyne.CanvasObject, x float32) (end, height float32) {
	for o := range visible(objects) {
		m := o.MinSize()
		if x > 0 && x+m.Width > l.width+1 {
			l.y += height + l.gap
			x, height = 0, 0
		}
		setBounds(o, x, l.y, m)
		x += m.Width + l.gap
		height = max(height, m.Height)
	}
	return x, height
}
