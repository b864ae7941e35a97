package dialogs

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"nod/api"
	"nod/interact"
)

// The smallest screens show the whole window with every button.
func TestButtonsAreInReachOnSmallScreens(t *testing.T) {
	bodies := map[string]interact.Body{
		"command": approval("Bash", object{"command": "mkdir -p build && rm -rf build/cache"}),
		"plan":    approval("ExitPlanMode", object{"plan": "# A plan\n\n- one\n- two"}),
		"confirm": api.Confirm{Message: "Deploy?"},
		"choice":  api.Ask{Question: "Which?", Options: []string{"a", "b", "c"}},
		"text":    api.Ask{Question: "Why?", Multiline: true},
	}
	for name, size := range map[string]fyne.Size{
		"800x600 at 2": {Width: 400, Height: 300}, "640x480 at 1.5": {Width: 426, Height: 320},
		"1024x600 at 2": {Width: 512, Height: 300},
	} {
		for kind, body := range bodies {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s := newScreen(t)
				s.on(size.Width, size.Height)
				s.open(request("1", body))
				if got := s.canvas().Size(); got.Width > size.Width || got.Height > size.Height {
					t.Errorf("the window is %v large", got)
				}
				for _, f := range s.tabStops() {
					if b, isButton := f.(*button); isButton && b.Visible() && !s.inWindow(b) {
						t.Errorf("%q is out of reach", b.text)
					}
				}
			})
		}
	}
}

func TestWhatHappensWithoutAnswerIsInsideTheWindow(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Confirm{Message: "Deploy?", YesLabel: strings.Repeat("Yes ", 30),
		NoLabel: strings.Repeat("N", 80)}))
	if !s.inWindow(s.page().status) {
		t.Errorf("the status is %v large, in a window of %v", s.page().status.Size(),
			s.canvas().Size())
	}
}

// Tab brings what gets the focus into view: also the text that a long form begins with, and a link far down.
func TestTabStopsAreInView(t *testing.T) {
	var questions []api.Question
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		questions = append(questions, api.Question{ID: id, Question: id + "?"})
	}
	message := "First\n\n" + strings.Repeat("A line.\n\n", 40) + "[docs](https://example.com)"
	for name, body := range map[string]interact.Body{
		"form": api.Form{Title: "Setup", Questions: questions}, "message": api.Confirm{Message: message},
	} {
		s := newScreen(t)
		s.on(500, 320)
		s.open(request("1", body))
		s.focusWindow()
		view := s.page().column.scroll
		top := fyne.CurrentApp().Driver().AbsolutePositionForObject(view.Scroll).Y
		for _, stop := range s.tabStops() {
			o := stop.(fyne.CanvasObject)
			s.canvas().Focus(s.page().yes)
			s.settle()
			s.canvas().Focus(stop)
			s.settle()
			at := fyne.CurrentApp().Driver().AbsolutePositionForObject(o).Y
			if _, isButton := o.(*button); !isButton && (at < top || at > top+view.Size().Height) {
				t.Errorf("%s: %T has the focus at %v, outside of the view", name, o, at-top)
			}
		}
	}
}

// A click on another window and back does not move a text that the user reads.
func TestTheTextStaysWhenTheWindowGetsTheFocus(t *testing.T) {
	s := newScreen(t)
	s.on(500, 320)
	s.open(request("1", api.Confirm{Message: strings.Repeat("A line.\n\n", 40)}))
	s.focusWindow()
	s.page().column.scroll.scrollBy(200)
	s.blurWindow()
	s.focusWindow()
	if y := s.page().column.scroll.Offset.Y; y != 200 {
		t.Errorf("the text moved from 200 to %v", y)
	}
}
