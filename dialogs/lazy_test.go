package dialogs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/api"
	"nod/dialogs/dialogstest"
	"nod/interact"
)

// Only the part of a long form near the view is laid out.
func TestLongFormIsLaidOutInPart(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", large(t)["form-options"]))
	made := 0
	dialogstest.Walk(s.canvas().Content(), func(o fyne.CanvasObject) {
		if _, isChoice := o.(*choice); isChoice {
			made++
		}
	})
	if made == 0 || made > 500 {
		t.Errorf("%d of 10,000 choices were made, want those near the view", made)
	}
}

func TestEndOfALongForm(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Form{Questions: questions(50, nil)}))
	if s.shows("Question 49") {
		t.Fatal("the last question was made at once")
	}
	s.canvas().Focus(s.page().text)
	s.key(fyne.KeyEnd)
	for range 50 { // rows that turn out higher than guessed make the end move
		s.key(fyne.KeyPageDown)
	}
	if !s.shows("Question 49") {
		t.Error("the last question does not show at the end")
	}
	last := s.p.window.page.column.scroll
	if bottom := last.Content.MinSize().Height - last.Size().Height; last.Offset.Y != bottom {
		t.Errorf("the view is at %v, want the end at %v", last.Offset.Y, bottom)
	}
}

// Rows that turn out lower than guessed leave no empty view at the end.
func TestEndOfAFormLowerThanGuessed(t *testing.T) {
	narrow := questions(20, nil)
	for i := range narrow {
		narrow[i].Question = strings.Repeat("i", 2000)
	}
	bodies := map[string]interact.Body{
		"form": api.Form{Questions: narrow}, "two": api.Form{Questions: narrow[:2]},
		"question": api.Ask{Question: strings.Repeat("Shall it be deployed to production now? ", 200)},
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			s.open(request("1", body))
			scroll := s.page().column.scroll
			s.canvas().Focus(s.page().text)
			s.key(fyne.KeyEnd)
			content := scroll.Content.MinSize().Height
			if bottom := content - scroll.Size().Height; scroll.Offset.Y != bottom || scroll.Content.Size().Height != content {
				t.Errorf("the view is at %v of %v, want %v of %v",
					scroll.Offset.Y, scroll.Content.Size().Height, bottom, content)
			}
		})
	}
}

// Submit scrolls to a missing question, however far away.
func TestSubmitLeadsToAFarQuestion(t *testing.T) {
	s := newScreen(t)
	form := api.Form{Questions: questions(50, nil)}
	optional := false
	for i := range form.Questions[:49] {
		form.Questions[i].Required = &optional
	}
	s.open(request("1", form))
	s.ready()
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
	s.typeText("the last answer")
	s.pass(time.Second)
	s.chord(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Answered); a.Values["q49"].String() != "the last answer" {
		t.Errorf("values %v", a.Values)
	}
}

func TestFarOption(t *testing.T) {
	for name, pick := range map[string]func(s *screen){
		"filter": func(s *screen) {
			s.typeText("option 173")
			s.tapText("Option 173")
		},
		"arrows": func(s *screen) {
			s.canvas().FocusNext() // the first option
			for range 173 {
				s.key(fyne.KeyDown)
			}
			s.key(fyne.KeySpace)
		},
		"wheel": func(s *screen) {
			for range 400 {
				test.Scroll(s.canvas(), fyne.NewPos(300, 300), 0, -20)
			}
			s.tapText("Option 173")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			var all []string
			for i := range 200 {
				all = append(all, fmt.Sprintf("Option %d", i))
			}
			s.open(request("1", api.Ask{Question: "Which?", Options: all}))
			s.ready()
			pick(s)
			s.pass(time.Second)
			s.chord(fyne.KeyReturn)
			if a := s.wantOutcome("1", api.Answered); a.Text != "Option 173" {
				t.Errorf("answer %q", a.Text)
			}
		})
	}
}

// An input that is shown only in part can never be allowed.
func TestCutInputIsNeverAllowed(t *testing.T) {
	for name, body := range large(t) {
		a, isApprove := body.(interact.Approve)
		if !isApprove || len(a.Input) < maxShownBytes/16 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			s.open(request("1", a))
			view, isSheet := s.page().text.(*sheet)
			if !isSheet {
				t.Skip("a plan")
			}
			shown := 0
			for _, l := range view.lines {
				for _, span := range l.Spans {
					shown += len(span.Source)
				}
			}
			if !view.capped && shown < len(a.Input)/4 {
				t.Fatalf("%d bytes of %d are shown, and nothing says that they are not all", shown, len(a.Input))
			}
			if !view.capped {
				return
			}
			s.ready()
			for range 300 {
				s.key(fyne.KeyPageDown)
			}
			s.pass(time.Second)
			s.chord(fyne.KeyReturn)
			s.wantOpen("1")
		})
	}
}
