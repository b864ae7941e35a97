package dialogs

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
)

// textFrame holds the text of a prompt, which gets the focus first, so that no key reaches a button by accident.
type textFrame struct {
	focusBase
	content fyne.CanvasObject
	scroll  *scrollArea // moved by arrow and page keys
}

func (f *textFrame) CreateRenderer() fyne.WidgetRenderer {
	ring := canvas.NewRectangle(color.Transparent)
	return newPainted(container.NewStack(f.content, ring), func() {
		ring.CornerRadius = 8
		drawRing(ring, f.focused, 1.5, tint(colorOf(f, theme.ColorNamePrimary), 0x88))
		ring.Refresh()
	})
}

// FocusGained implements [fyne.Focusable]. Tab brings the text into view; it stays where it is when the window gets the
// focus.
func (f *textFrame) FocusGained() {
	isTab := f.w.arm.focused && !f.w.movingFocus
	f.focusBase.FocusGained()
	if isTab {
		f.scroll.reveal(f)
	}
}

func (f *textFrame) TypedKey(ev *fyne.KeyEvent) {
	if !f.scroll.typedKey(ev, textLine) {
		f.w.typedKey(ev)
	}
}

const textLine = 40 // pixels that an arrow key scrolls a text

type scrollArea struct{ *container.Scroll }

func (s scrollArea) scrollBy(dy float32) {
	limit := max(s.Content.MinSize().Height-s.Size().Height, 0)
	s.ScrollToOffset(fyne.NewPos(0, min(max(s.Offset.Y+dy, 0), limit)))
	if s.OnScrolled != nil {
		s.OnScrolled(s.Offset)
	}
}

// isAtEnd reports whether the end of the content is in view.
func (s scrollArea) isAtEnd() bool {
	return s.Offset.Y+s.Size().Height+slack >= s.Content.MinSize().Height
}

func (s scrollArea) typedKey(ev *fyne.KeyEvent, line float32) bool {
	const all = 1 << 30
	page := max(s.Size().Height-line, line)
	steps := map[fyne.KeyName]float32{
		fyne.KeyUp: -line, fyne.KeyDown: line, fyne.KeyPageUp: -page, fyne.KeyPageDown: page,
		fyne.KeyHome: -all, fyne.KeyEnd: all,
	}
	step, scrolls := steps[ev.Name]
	if scrolls {
		s.scrollBy(step)
	}
	return scrolls
}

// reveal scrolls until all of o is in view, or at least its beginning.
func (s scrollArea) reveal(o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(s.Content).Y
	switch bottom := top + o.Size().Height; {
	case top < s.Offset.Y:
		s.scrollBy(top - s.Offset.Y - 8)
	case bottom > s.Offset.Y+s.Size().Height:
		s.scrollBy(min(top-8, bottom-s.Size().Height+8) - s.Offset.Y)
	}
}

// Reveal scrolls a page until all of o is in view, or at least its beginning.
func Reveal(page *container.Scroll, o fyne.CanvasObject) { scrollArea{page}.reveal(o) }

// ScrollByKey scrolls a page for a key that nothing else uses.
func ScrollByKey(page *container.Scroll, ev *fyne.KeyEvent) { scrollArea{page}.typedKey(ev, textLine) }
