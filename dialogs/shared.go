package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"nod/dialogs/prompt"
	"nod/interact"
)

// The other windows use these, so that all of nod looks the same.

// Diff shows the change of a text exactly, as a prompt does. It calls seen once all of it has been in view.
func Diff(before, after string, seen func()) fyne.CanvasObject {
	s := newSheet(prompt.NewDiff(before, after).Lines(""), after)
	s.onSeen = func() {
		if s.read && s.unread == 0 && seen != nil {
			seen()
		}
	}
	return s
}

// values fill the places of a translated sentence. A requester's text may be a value, never a key: keys are templates
// and would be executed.
type values map[string]any

// tr translates a sentence and fills in its [values].
var tr = lang.L

// Past shows a request of the past as its prompt did, and its answer. The change of a file comes from the record, not
// from the file as it is now. If the view itself does not scroll, page does. aside runs work on another goroutine and
// then show on the UI goroutine.
func Past(r interact.Record, page fyne.Scrollable, aside func(work func() (show func()))) fyne.CanvasObject {
	c := prompt.PastContent(r)
	if c.Plan != "" {
		return newPast(newProse(planBlocks(nil, c)), page)
	}
	return PastLines(c.Lines, c.Original, page, aside)
}

// PastLines shows lines as [Past] does. Copying them all gives original.
func PastLines(
	lines []prompt.Line, original string, page fyne.Scrollable, aside func(work func() (show func())),
) fyne.CanvasObject {
	s := newSheet(lines, original)
	aside(s.colour)
	return newPast(s, page)
}

func newPast(s *sheet, page fyne.Scrollable) fyne.CanvasObject {
	s.untracked = true
	return container.NewStack(s, newWheel(func(ev *fyne.ScrollEvent) {
		if !scrolled(s.scroll.Scroll, ev) {
			page.Scrolled(ev)
		}
	}))
}
