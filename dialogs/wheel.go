package dialogs

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// wheel covers an object and handles only the mouse's wheel, which Fyne sends only to the topmost scrollable.
type wheel struct {
	widget.BaseWidget
	scrolled func(*fyne.ScrollEvent)
}

func newWheel(scrolled func(*fyne.ScrollEvent)) *wheel {
	h := &wheel{scrolled: scrolled}
	h.ExtendBaseWidget(h)
	return h
}

func (h *wheel) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}

func (h *wheel) Scrolled(ev *fyne.ScrollEvent) { h.scrolled(ev) }

// wheeled scrolls the text of the prompt when the mouse is over something that does not scroll itself.
func (w *window) wheeled(ev *fyne.ScrollEvent) {
	if w.page == nil || w.menu != nil {
		return
	}
	if text, scrolls := w.page.text.(fyne.Scrollable); scrolls {
		text.Scrolled(ev)
	}
}

// Scrolled implements [fyne.Scrollable], for the area around the text.
func (s *sheet) Scrolled(ev *fyne.ScrollEvent) { s.scroll.Scrolled(ev) }

func (f *textFrame) Scrolled(ev *fyne.ScrollEvent) { f.scroll.Scrolled(ev) }

// Covered is a renderer of Fyne with an object over the whole widget.
type Covered struct {
	fyne.WidgetRenderer
	Cover fyne.CanvasObject
}

func (c *Covered) Objects() []fyne.CanvasObject {
	return append(slices.Clip(c.WidgetRenderer.Objects()), c.Cover)
}

func (c *Covered) Layout(size fyne.Size) {
	c.WidgetRenderer.Layout(size)
	c.Cover.Resize(size)
}

// fieldRenderer is the renderer of a text field. The wheel scrolls its text to the end, and then what is around the
// field.
type fieldRenderer struct {
	Covered
	text *container.Scroll // in the field; nil if it does not scroll
}

// NewField adds the wheel to a renderer of Fyne; around scrolls what is around the field.
func NewField(r fyne.WidgetRenderer, around func(*fyne.ScrollEvent)) *fieldRenderer {
	f := &fieldRenderer{}
	for _, o := range r.Objects() {
		if s, isScroll := o.(*container.Scroll); isScroll {
			f.text = s
		}
	}
	f.Covered = Covered{r, newWheel(func(ev *fyne.ScrollEvent) {
		if f.text == nil || f.text.Content == nil || !scrolled(f.text, ev) {
			around(ev)
		}
	})}
	return f
}

// scrolled scrolls s by the wheel. It reports false if s is at its end.
func scrolled(s *container.Scroll, ev *fyne.ScrollEvent) bool {
	was := s.Offset
	s.Scrolled(ev)
	return s.Offset != was
}

func (f *fieldRenderer) fits() bool {
	return f.text == nil || f.text.Content == nil || f.text.Content.MinSize().Height <= f.text.Size().Height
}
