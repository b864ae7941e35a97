package dialogs

import (
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/interact"
	"nod/policy"
	"nod/policy/config"
)

// A key or a click that arrives after its prompt has ended does nothing.
func TestInputAfterTheEnd(t *testing.T) {
	focusMore := func(s *screen) { s.canvas().Focus(s.page().head.more) }
	tests := []struct {
		name string
		do   func(s *screen)
		open bool // it is still pending afterwards
	}{
		{"Enter on ⋯ after it was snoozed from there", func(s *screen) {
			focusMore(s)
			s.key(fyne.KeyReturn)
			s.key(fyne.KeyReturn)
			s.key(fyne.KeyReturn)
		}, true},
		{"Return held on ⋯ while it is withdrawn", func(s *screen) {
			focusMore(s)
			s.p.post(func() { s.p.withdraw("1") })
			s.key(fyne.KeyReturn)
		}, false},
		{"Return held on a line of the menu while it is withdrawn", func(s *screen) {
			focusMore(s)
			s.key(fyne.KeyReturn)
			s.p.post(func() { s.p.withdraw("1") })
			s.key(fyne.KeyReturn)
		}, false},
		{"a click on ⋯", func(s *screen) { lateTap(s, s.page().head.more) }, false},
		{"a click on the list of the queue", func(s *screen) { lateTap(s, s.page().head.queue) }, false},
		{"a click on the choice of scopes", func(s *screen) { lateTap(s, s.find("Once")) }, false},
		{"a click on the reason", func(s *screen) { lateTap(s, s.find("Deny with reason…")) }, false},
		{"a click on the whole input", func(s *screen) { lateTap(s, s.find("Whole input (JSON)")) }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newScreen(t)
			s.open(bash("1", "make"))
			s.ready()
			test.do(s)
			s.wantOpen("1")
			if s.page() != nil || s.p.window.menu != nil {
				t.Errorf("the window shows the page %v and the menu %v", s.page(), s.p.window.menu)
			}
			if waiting := len(s.p.queue.entries) == 1; waiting != test.open {
				t.Errorf("it waits: %v, want %v", waiting, test.open)
			}
		})
	}
}

// lateTap taps o after the prompt that it belongs to is over.
func lateTap(s *screen, o fyne.Tappable) {
	s.p.post(func() { s.p.withdraw("1") })
	s.tap(o)
}

// A click on a line of a menu that was just closed does nothing: its request may have ended.
func TestClickOnAClosedMenu(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.open(bash("2", "ls"))
	s.tap(s.page().head.queue)
	first, denyAll := s.p.window.menu.items[0], s.p.window.menu.items[2]
	s.p.post(func() { s.p.withdraw("1") })
	test.Tap(first)
	test.Tap(denyAll)
	if s.page() == nil || s.page().entry.request.ID != "2" {
		t.Fatalf("the window shows the page %v, want that of the other request", s.page())
	}
	s.pass(time.Second)
	s.wantOpen("2")
}

// A line of an open list whose request has ended shows nothing: that prompt would never go away.
func TestEndedLineOfAnOpenList(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.open(bash("2", "ls"))
	s.tap(s.page().head.queue)
	second := s.p.window.menu.items[1]
	s.withdraw("2")
	s.tap(second)
	if got := s.page().entry.request.ID; got != "1" {
		t.Errorf("the window shows %s, want 1", got)
	}
	s.withdraw("1")
	if s.page() != nil {
		t.Error("a prompt is left")
	}
}

// A panic in a callback of the prompt is not hidden, and allows nothing.
func TestPanicAllowsNothing(t *testing.T) {
	failing := false
	fail := func() {
		if failing {
			panic("failing")
		}
	}
	tests := map[string]func(o *Options){
		"the offers": func(o *Options) {
			offers := o.Offers
			o.Offers = func(id interact.ID) policy.Offers { fail(); return offers(id) }
		},
		"what follows the queue": func(o *Options) { o.Changed = func(bool) { fail() } },
		"the configuration": func(o *Options) {
			o.Config = func() config.Prompt { fail(); return config.Default().Prompt }
		},
	}
	steps := []func(s *screen){
		func(s *screen) { s.tapText("Once") },
		func(s *screen) { s.tapText("Always") },
		func(s *screen) { s.ready() },
		func(s *screen) { s.open(bash("2", "ls")) },
		func(s *screen) { s.chord(fyne.KeyPeriod) },
	}
	for name, set := range tests {
		for at := range steps {
			s := newScreen(t)
			failing = false
			set(&s.p.options)
			s.open(bash("1", "make"))
			s.ready()
			for i, step := range steps[:at+1] {
				failing = i == at
				if panics(func() { step(s) }) {
					t.Logf("%s: step %d panics", name, i)
				}
			}
			s.wantOpen("1")
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
