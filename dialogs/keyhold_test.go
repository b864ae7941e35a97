package dialogs

import (
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"nod/api"
	"nod/interact"
)

// Keys typed while a prompt is withdrawn do not reach the prompt that replaces it or appears soon after.
func TestTypingDoesNotRunOn(t *testing.T) {
	for name, comes := range map[string]func(s *screen){
		"waits already": func(s *screen) { s.open(request("2", api.Ask{Question: "And why?"})); s.withdraw("1") },
		"comes soon": func(s *screen) {
			s.withdraw("1")
			s.pass(time.Second)
			s.open(request("2", api.Ask{Question: "And why?"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			s.open(request("1", api.Ask{Question: "Why?"}))
			s.ready()
			s.typeText("beca")
			comes(s)
			s.focusWindow()
			for range 5 {
				s.typeText("use ")
				for _, k := range []fyne.KeyName{fyne.KeyTab, fyne.KeySpace, fyne.KeyReturn, fyne.KeyBackspace, fyne.KeyEscape} {
					s.key(k)
				}
				s.chord(fyne.KeyD)
				s.pass(keyPause - time.Millisecond)
			}
			s.chord(fyne.KeyReturn)
			s.wantOpen("2")
			s.pass(time.Millisecond)
			s.typeText("therefore")
			s.pass(time.Second)
			s.chord(fyne.KeyReturn)
			if a := s.wantOutcome("2", api.Answered); a.Text != "therefore" {
				t.Errorf("answer %q", a.Text)
			}
		})
	}
}

// If nobody was typing, a prompt takes keys at once.
func TestNobodyWasTyping(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Ask{Question: "Why?"}))
	s.ready()
	s.typeText("a while ago")
	s.pass(recently)
	s.withdraw("1")
	s.open(request("2", api.Ask{Question: "And why?"}))
	s.typeText("therefore")
	s.ready()
	s.chord(fyne.KeyReturn)
	if a := s.wantOutcome("2", api.Answered); a.Text != "therefore" {
		t.Errorf("answer %q", a.Text)
	}
}

// Pressing a button while its prompt is withdrawn does not refuse the next prompt.
func TestPressThatComesTooLate(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.open(bash("2", "ls"))
	s.ready()
	s.withdraw("1")
	s.tapText("Deny")
	s.chord(fyne.KeyD)
	s.wantOpen("2")
	s.pass(time.Second)
	s.chord(fyne.KeyD)
	s.wantOutcome("2", api.Denied)
}

// A user who moves the focus, or clicks into the next prompt, need not wait.
func TestTypingAfterAClick(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Ask{Question: "Why?"}))
	s.open(request("2", api.Ask{Question: "And why?"}))
	s.typeText("a")
	s.withdraw("1")
	s.canvas().Focus(s.page().kind.firstFocus())
	s.typeText("at once")
	s.ready()
	s.chord(fyne.KeyReturn)
	if a := s.wantOutcome("2", api.Answered); a.Text != "at once" {
		t.Errorf("answer %q", a.Text)
	}
}

func (s *screen) withdraw(id interact.ID) {
	s.p.post(func() { s.p.withdraw(id) })
	s.settle()
}

// Deny works however quickly it is pressed again: the Control of its chord does not count as typing.
func TestRefusalWhileKeysAreHeld(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Ask{Question: "Why?"}))
	s.ready()
	s.typeText("beca")
	s.withdraw("1")
	s.open(bash("2", "make all"))
	s.focusWindow()
	for range 2 {
		s.pass(quietAfterAnswer + 100*time.Millisecond)
		s.key(desktop.KeyControlLeft)
		s.chord(fyne.KeyD)
	}
	s.wantOutcome("2", api.Denied)
}
