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
