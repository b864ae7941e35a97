package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

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

// PastDiff shows a unified diff of the past of the file at path. cut says that there was more of it.
func PastDiff(
	path, diff string, cut bool, page fyne.Scrollable, aside func(work func() (show func())),
) fyne.CanvasObject {
	s := newSheet(prompt.PastDiff(path, diff, cut), diff)
	aside(s.colour)
	return newPast(s, page)
}

func newPast(s *sheet, page fyne.Scrollable) fyne.CanvasObject {
	s.untracked = true
	return container.NewStack(s, newWheel(func(ev *fyne.ScrollEvent) {
		was := s.scroll.Offset
		if s.Scrolled(ev); s.scroll.Offset == was {
			page.Scrolled(ev)
		}
	}))
}
