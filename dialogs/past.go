package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
	"nod/interact"
)

// Past shows a request of the past as its prompt did, and its answer. The change of a file comes from the record, not
// from the file as it is now. Where the view itself does not scroll, page does. aside runs work on another goroutine
// and then show on the UI goroutine.
func Past(r interact.Record, page fyne.Scrollable, aside func(work func() (show func()))) fyne.CanvasObject {
	c := prompt.PastContent(r)
	if c.Plan != "" {
		return newPast(newProse(planBlocks(nil, c)), page)
	}
	s := newSheet(c.Lines, c.Original)
	aside(s.colour)
	return newPast(s, page)
}

// PastInput shows the whole input of a tool call of the past as JSON.
func PastInput(input []byte, page fyne.Scrollable, aside func(work func() (show func()))) fyne.CanvasObject {
	s := newRawView(input)
	aside(s.colour)
	return newPast(s, page)
}

func newPast(s *sheet, page fyne.Scrollable) fyne.CanvasObject {
	s.untracked = true
	h := &pastWheel{sheet: s, page: page}
	h.ExtendBaseWidget(h)
	return container.NewStack(s, h)
}

// pastWheel lies over a sheet and handles only the wheel: it scrolls the sheet, then the page around it.
type pastWheel struct {
	widget.BaseWidget
	sheet *sheet
	page  fyne.Scrollable
}

func (h *pastWheel) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}

func (h *pastWheel) Scrolled(ev *fyne.ScrollEvent) {
	was := h.sheet.scroll.Offset
	h.sheet.Scrolled(ev)
	if h.sheet.scroll.Offset == was {
		h.page.Scrolled(ev)
	}
}
