package dialogs

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/api"
	"nod/dialogs/dialogstest"
	"nod/interact"
)

// wheelOver turns the mouse's wheel over the middle of o.
func (s *screen) wheelOver(o fyne.CanvasObject) {
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
	test.Scroll(s.canvas(), at.AddXY(o.Size().Width/2, o.Size().Height/2), 0, -30)
	s.settle()
}

// The wheel and the page keys scroll the text wherever the pointer and the focus are, except in a text field that needs
// them.
func TestScrollingEverywhere(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", strings.Repeat("echo a\n", 200)))
	s.ready()
	s.tapText("Deny with reason…")
	a, text := s.page(), s.page().text.(*sheet)
	field := s.canvas().Focused().(*field)
	scrolled := func(what string) {
		t.Helper()
		if text.scroll.Offset.Y == 0 {
			t.Errorf("%s: nothing scrolls", what)
		}
		text.scroll.ScrollToTop()
	}
	for what, o := range map[string]fyne.CanvasObject{
		"the field": field, "Deny": a.no, "the head": a.head.object, "the text's own foot": text.state,
	} {
		s.wheelOver(o)
		scrolled("the wheel over " + what)
	}
	s.key(fyne.KeyPageDown)
	scrolled("Page Down in the field")
	s.canvas().Focus(a.no)
	for _, key := range []fyne.KeyName{fyne.KeyPageDown, fyne.KeyEnd} {
		s.key(key)
		scrolled(string(key) + " on a button")
	}

	s.canvas().Focus(field)
	field.SetText(strings.Repeat("one more reason\n", 20))
	s.wheelOver(field)
	s.key(fyne.KeyPageUp)
	if text.scroll.Offset.Y != 0 {
		t.Error("the text scrolls although the field needs the wheel and the keys")
	}
}

// The wheel over a field in a long form scrolls the form.
func TestWheelInAForm(t *testing.T) {
	s := newScreen(t)
	var list []api.Question
	for _, id := range strings.Split("abcdefghijklmnop", "") {
		list = append(list, api.Question{ID: id, Question: "Which?", InputType: interact.Text})
	}
	s.open(request("1", api.Form{Questions: list}))
	s.ready()
	var first *field
	dialogstest.Walk(s.canvas().Content(), func(o fyne.CanvasObject) {
		if f, isField := o.(*field); isField && first == nil {
			first = f
		}
	})
	s.wheelOver(first)
	if s.page().column.scroll.Offset.Y == 0 {
		t.Error("the form does not scroll")
	}
}
