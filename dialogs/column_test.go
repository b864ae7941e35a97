package dialogs

import (
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"nod/api"
	"nod/interact"
)

// crowd opens requests of three agents, one of them snoozed.
func crowd(s *screen) {
	s.wide = true
	from := func(r interact.Request, agent, session, folder string) interact.Request {
		r.Requester.Agent, r.Requester.Session, r.Requester.CWD = agent, session, folder
		r.Requester.Process.CWD = folder
		return r
	}
	s.open(from(bash("1", "make -j8 all"), "claude-code", "s1", "/src/shop"))
	s.open(from(bash("2", "rm -rf build/cache && rm -rf /srv/orders/old"), "claude-code", "s1", "/src/shop"))
	s.open(from(request("3", api.Confirm{Message: "Deploy 2.4.0 to production now?"}), "codex", "s2", "/src/orders"))
	s.open(from(request("4", api.Ask{Question: "Which database?", Options: []string{"SQLite", "PostgreSQL"}}),
		"codex", "s2", "/src/orders"))
	form := from(samples["form"], "gemini-cli", "s3", "/src/docs")
	form.ID = "form"
	s.open(form)
	late := from(bash("6", "npm install"), "gemini-cli", "s3", "/src/docs")
	late.Snoozed = s.time.Add(14 * time.Minute)
	late.ID = "6"
	s.open(late)
}

// row returns the row of a request in the column.
func (s *screen) row(id interact.ID) *columnRow {
	s.t.Helper()
	for _, r := range s.p.window.column.rows {
		if r.entry.request.ID == id {
			return r
		}
	}
	s.t.Fatalf("no row for %s", id)
	return nil
}

func TestGoldenColumn(t *testing.T) {
	for _, look := range []string{"light", "dark", "zh-CN"} {
		t.Run(look, func(t *testing.T) {
			s := newScreen(t)
			setLook(t, look)
			crowd(s)
			s.p.window.win.Resize(fyne.NewSize(1000, 520))
			s.ready()
			s.pass(75 * time.Second)
			all := s.canvas().Capture().(*image.NRGBA)
			assertGolden(t, "state/column-"+look, all.SubImage(image.Rect(0, 0, columnWidth, 520)))
		})
	}
}

// The column appears with the second request, if the screen has the room, left of a prompt that keeps its size and
// place. The wait restarts nevertheless.
func TestColumnComesWithTheSecondRequest(t *testing.T) {
	for _, wide := range []bool{true, false} {
		s := newScreen(t)
		s.wide = wide
		s.open(bash("1", "make"))
		s.ready()
		alone, window := s.page().object.Size(), s.canvas().Size()
		s.open(bash("2", "other"))
		if s.p.window.column.Visible() != wide {
			t.Fatalf("wide %v: the column is in sight: %v", wide, !wide)
		}
		if got := s.page().object.Size(); got != alone {
			t.Errorf("wide %v: the prompt is %v, alone it was %v", wide, got, alone)
		}
		if grown := s.canvas().Size().Width - window.Width; wide != (grown == columnWidth) || !wide && grown != 0 {
			t.Errorf("wide %v: the window has grown by %v", wide, grown)
		}
		s.chord(fyne.KeyReturn)
		if _, answered := s.answer("1"); answered == wide {
			t.Errorf("wide %v: allowed at once: %v", wide, answered)
		}
	}
}

// Nothing moves when requests end: the column stays as long as the window.
func TestColumnStaysWithTheWindow(t *testing.T) {
	s := newScreen(t)
	crowd(s)
	s.ready()
	window := s.canvas().Size()
	for _, id := range []interact.ID{"2", "3", "4", "6"} {
		s.p.post(func() { s.p.withdraw(id) })
	}
	if !s.p.window.column.Visible() || s.canvas().Size() != window || len(s.p.window.column.rows) != 2 {
		t.Errorf("visible %v, size %v, %d rows", s.p.window.column.Visible(), s.canvas().Size(), len(s.p.window.column.rows))
	}
	s.p.post(func() { s.p.withdraw("1") })
	form := s.p.queue.current
	s.p.post(func() { s.p.withdraw(form.request.ID) })
	s.open(bash("7", "make"))
	if s.p.window.column.Visible() {
		t.Error("one request alone has a column")
	}
}

// A window that the user made narrow has no room for the column.
func TestColumnLeavesANarrowWindow(t *testing.T) {
	s := newScreen(t)
	crowd(s)
	s.p.window.win.Resize(fyne.NewSize(500, 400))
	if s.p.window.column.Visible() || s.page().object.Size().Width != 500 {
		t.Errorf("visible %v, the prompt is %v", s.p.window.column.Visible(), s.page().object.Size())
	}
}

// Requests are sorted by session, oldest first, snoozed ones last.
func TestColumnIsInOrder(t *testing.T) {
	s := newScreen(t)
	crowd(s)
	late := bash("b", "of a session that has two already")
	late.Requester.CWD, late.Requester.Process.CWD = "/src/shop", "/src/shop"
	s.open(late)
	var got []string
	for _, r := range s.p.window.column.rows {
		got = append(got, string(r.entry.request.ID))
	}
	if want := "1 2 b 3 4 form 6"; strings.Join(got, " ") != want {
		t.Errorf("rows %v, want %s", got, want)
	}
	for _, text := range []string{"claude-code · shop", "codex · orders", "Snoozed", "back at 07:22", "0:00 · "} {
		if !s.shows(text) {
			t.Errorf("%q is not in sight", text)
		}
	}
}

// Keys move through the column and show each prompt, which has to arm; Delete is the negative, once per press, and no
// plain key affirms.
func TestColumnByKeyboard(t *testing.T) {
	s := newScreen(t)
	crowd(s)
	s.focusWindow()
	s.canvas().Focus(s.p.window.column)
	s.settle()
	at := func(want interact.ID) {
		t.Helper()
		if got := s.page().entry.request.ID; got != want || s.canvas().Focused() != fyne.Focusable(s.p.window.column) {
			t.Fatalf("the prompt shows %s, want %s; the focus is on %T", got, want, s.canvas().Focused())
		}
	}
	const form = interact.ID("form")
	for _, step := range []struct {
		key  fyne.KeyName
		want interact.ID
	}{
		{fyne.KeyUp, "1"}, {fyne.KeyDown, "2"}, {fyne.KeyDown, "3"}, {fyne.KeyEnd, form}, {fyne.KeyDown, form},
		{fyne.KeyHome, "1"}, {fyne.KeyDown, "2"},
	} {
		s.key(step.key)
		at(step.want)
	}
	s.pass(time.Second)
	s.key(fyne.KeyDelete)
	s.wantOutcome("2", api.Denied)
	at("3")
	for range 5 { // held down
		s.pass(time.Second)
		s.repeat(fyne.KeyDelete)
	}
	s.wantOpen("3")
	s.typeText("y1 ")
	s.wantOpen("3")
	s.key(fyne.KeyReturn)
	if s.canvas().Focused() == fyne.Focusable(s.p.window.column) {
		t.Error("Enter does not go to the prompt")
	}
	s.wantOpen("3")
	s.chord(fyne.KeyReturn)
	s.wantOutcome("3", api.Answered)
}

// A click opens a snoozed request early.
func TestColumnOpensTheSnoozed(t *testing.T) {
	s := newScreen(t)
	crowd(s)
	s.ready()
	s.tap(s.row("6"))
	if got := s.page().entry.request.ID; got != "6" || len(s.snoozed) != 1 || s.snoozed[0] != (put{"6", 0}) {
		t.Errorf("the prompt shows %s; told %v", got, s.snoozed)
	}
}

// The column shows the risk of a request like its prompt: by its worst fact, in words and in one colour.
func TestColumnTellsTheRisk(t *testing.T) {
	s := newScreen(t)
	s.wide = true
	s.open(bash("1", "ls"))
	s.open(bash("2", "rm -rf ~/"))
	for _, id := range []interact.ID{"1", "2"} {
		s.p.Show(id)
		row := s.row(id)
		if stripe := s.page().head.stripe.fill; row.color != stripe {
			t.Errorf("%s: %s, in the prompt %s", id, row.color, stripe)
		}
		if !s.shows(row.risk) {
			t.Errorf("%s: %q is not in the prompt", id, row.risk)
		}
	}
	if safe, danger := s.row("1"), s.row("2"); safe.color == danger.color || safe.risk == danger.risk {
		t.Errorf("both look alike: %s, %q", danger.color, danger.risk)
	}
}

// The number of rows is limited; further requests get rows when others end.
func TestColumnHasRowsForSoManyOnly(t *testing.T) {
	for _, sessions := range []int{1, 2, maxRows} {
		s := newScreen(t)
		s.wide = true
		for i := range maxRows + 2 {
			r := bash(fmt.Sprint(i), "make")
			r.Requester.Session = fmt.Sprint(i % sessions)
			s.open(r)
		}
		if n := len(s.p.window.column.rows); n != maxRows {
			t.Errorf("%d sessions: %d rows", sessions, n)
		}
		s.p.post(func() { s.p.withdraw("0"); s.p.withdraw("1"); s.p.withdraw("2") })
		if n := len(s.p.window.column.rows); n != maxRows-1 {
			t.Errorf("%d sessions: %d rows of %d", sessions, n, maxRows-1)
		}
	}
}
