package dialogs

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// wheel scrolls the text of the prompt when the mouse is over something that does not scroll itself. Fyne sends wheel
// events only to the topmost object that is scrollable.
type wheel struct {
	widget.BaseWidget
	w *window
}

func newWheel(w *window) *wheel {
	h := &wheel{w: w}
	h.ExtendBaseWidget(h)
	return h
}

func (h *wheel) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(canvas.NewRectangle(color.Transparent))
}

func (h *wheel) Scrolled(ev *fyne.ScrollEvent) {
	if h.w.page == nil || h.w.menu != nil {
		return
	}
	if text, scrolls := h.w.page.text.(fyne.Scrollable); scrolls {
		text.Scrolled(ev)
	}
}

// Scrolled implements [fyne.Scrollable], for the area beside the text.
func (s *sheet) Scrolled(ev *fyne.ScrollEvent) { s.scroll.Scrolled(ev) }

func (f *textFrame) Scrolled(ev *fyne.ScrollEvent) { f.scroll.Scrolled(ev) }

// wheeledField draws a field with a [wheel] over it, unless the field has more text than it shows.
type wheeledField struct {
	fyne.WidgetRenderer
	field *field
	wheel *wheel
}

func (f *field) CreateRenderer() fyne.WidgetRenderer {
	f.wheeled = &wheeledField{f.Entry.CreateRenderer(), f, newWheel(f.w)}
	return f.wheeled
}

func (r *wheeledField) Objects() []fyne.CanvasObject {
	return append(slices.Clip(r.WidgetRenderer.Objects()), r.wheel)
}

func (r *wheeledField) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.wheel.Resize(size)
	setVisible(r.wheel, r.fits())
}

func (r *wheeledField) Refresh() {
	r.WidgetRenderer.Refresh()
	setVisible(r.wheel, r.fits())
}

// fits reports whether the field shows all of its text.
func (r *wheeledField) fits() bool {
	if r.field.oneLine {
		return true
	}
	for _, o := range r.WidgetRenderer.Objects() {
		if scroll, isScroll := o.(*container.Scroll); isScroll {
			return scroll.Content.MinSize().Height <= scroll.Size().Height
		}
	}
	return true
}
