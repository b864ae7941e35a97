package dialogs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/dialogstest"
	"nod/interact"
)

// long is a request whose text fits on no line.
func long(id string) interact.Request {
	r := bash(id, "terraform apply -auto-approve -var-file=/srv/infrastructure/environments/production/"+id)
	r.Requester.Agent = "an-agent-with-a-name-that-takes-a-while-to-read"
	return r
}

// Every menu lies within the window, however small that is, its text within the menu, and keys can scroll to each line.
func TestMenusAreNeverCutOff(t *testing.T) {
	menus := map[string]func(s *screen){
		"queue":  func(s *screen) { s.tap(s.page().head.queue) },
		"more":   func(s *screen) { s.tap(s.page().head.more) },
		"scopes": func(s *screen) { s.p.window.openMenu(s.page().entry, s.page().yes, manyItems()) },
	}
	for name, open := range menus {
		for _, size := range []fyne.Size{{Width: 400, Height: 250}, {Width: 640, Height: 300}, {Width: 900, Height: 600}} {
			for _, n := range []int{2, 40} {
				t.Run(fmt.Sprintf("%s/%vx%v/%d", name, size.Width, size.Height, n), func(t *testing.T) {
					s := newScreen(t)
					for i := range n {
						s.open(long(fmt.Sprint(i)))
					}
					s.p.window.win.Resize(size)
					s.ready()
					open(s)
					s.wantMenuWithin(size)
					s.wantLinesInReach()
				})
			}
		}
	}
}

func manyItems() []menuItem {
	var items []menuItem
	for i := range 12 {
		items = append(items, menuItem{
			text:  fmt.Sprintf("%d: fetches from registry.npmjs.org, in this project, until nod quits, whatever it is", i),
			small: "https://registry.npmjs.org/a-package-with-quite-a-long-name/-/and-a-file-with-a-longer-one.tgz",
			do:    func() {},
		})
	}
	return items
}

func (s *screen) wantMenuWithin(size fyne.Size) {
	s.t.Helper()
	menu := s.p.window.menu
	at, card := fyne.CurrentApp().Driver().AbsolutePositionForObject(menu.card), menu.card.Size()
	if at.X < 0 || at.Y < 0 || at.X+card.Width > size.Width || at.Y+card.Height > size.Height {
		s.t.Errorf("the menu is at %v, %v large", at, card)
	}
	for _, line := range menu.items {
		dialogstest.Walk(line, func(o fyne.CanvasObject) {
			var width float32
			switch o.(type) {
			case *canvas.Text, *widget.RichText:
				width = o.MinSize().Width
			}
			if width > o.Size().Width+slack {
				s.t.Errorf("%T of %q is %v wide and has %v", o, line.item.text, width, o.Size().Width)
			}
		})
		if right := line.Position().X + line.Size().Width; right > card.Width {
			s.t.Errorf("%q ends at %v of %v", line.item.text, right, card.Width)
		}
	}
}

// wantLinesInReach moves through the menu by keys and checks that the focused line is in view.
func (s *screen) wantLinesInReach() {
	s.t.Helper()
	menu := s.p.window.menu
	last := len(menu.items) - 1
	look := func(key fyne.KeyName, want int) {
		s.t.Helper()
		if key != "" {
			s.key(key)
		}
		line := menu.items[want]
		if s.canvas().Focused() != fyne.Focusable(line) {
			s.t.Fatalf("%s: the focus is on %v, want line %d", key, s.canvas().Focused(), want)
		}
		d := fyne.CurrentApp().Driver()
		top := d.AbsolutePositionForObject(line).Y - d.AbsolutePositionForObject(menu.scroll.Scroll).Y
		if top < -slack || top+line.Size().Height > menu.scroll.Size().Height+slack {
			s.t.Errorf("%s: line %d is from %v on in a view of %v", key, want, top, menu.scroll.Size().Height)
		}
	}
	look(fyne.KeyEnd, last)
	look(fyne.KeyHome, 0)
	look(fyne.KeyUp, last)
	look(fyne.KeyDown, 0)
	for i := 1; i <= last; i++ {
		look(fyne.KeyDown, i)
	}
	s.key(fyne.KeyPageUp)
	s.key(fyne.KeyHome)
	for range last {
		s.key(fyne.KeyPageDown)
	}
	look("", last)
	s.key(fyne.KeyEscape)
	s.pass(time.Second)
	if s.p.window.menu != nil {
		s.t.Error("Escape leaves it open")
	}
}

// The list of the queue has the requests of a session together, oldest first, snoozed ones last, each with its risk. A
// click opens a snoozed request early.
func TestQueueMenu(t *testing.T) {
	s := newScreen(t)
	from := func(session string, r interact.Request) {
		r.Requester.Session = session
		s.open(r)
	}
	late := bash("6", "npm install")
	late.Snoozed = s.time.Add(14 * time.Minute)
	from("s1", bash("1", "make -j8 all"))
	from("s2", request("2", api.Confirm{Message: "Deploy 2.4.0 to production now?"}))
	from("s1", late)
	from("s1", bash("3", "rm -rf ~/"))
	s.ready()
	s.tap(s.page().head.queue)
	items := s.p.window.menu.items
	for i, want := range []struct{ text, small string }{
		{"make -j8 all", "May run other code"}, {"rm -rf ~/", "Deletes your home folder"}, {"Deploy 2.4.0", "yes or no"},
		{"npm install", "back at 07:22"},
	} {
		if it := items[i].item; !strings.Contains(it.text, want.text) || !strings.Contains(it.small, want.small) {
			t.Errorf("line %d: %q, %q, want %q, %q", i, it.text, it.small, want.text, want.small)
		}
	}
	s.tap(items[3])
	if got := s.page().entry.request.ID; got != "6" || len(s.snoozed) != 1 || s.snoozed[0] != (put{"6", 0}) {
		t.Errorf("the prompt shows %s; told %v", got, s.snoozed)
	}
}

// The list does not look through large requests that were not shown yet: thirty of them would freeze the window.
func TestQueueMenuOfLargeRequests(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make all"))
	s.open(bash("2", "rm -rf ~/ #"+strings.Repeat("x", maxGrantInput)))
	s.ready()
	s.tap(s.page().head.queue)
	small := s.p.window.menu.items[1].item.small
	if s.p.queue.find("2").said != nil || !strings.Contains(small, "Unknown effect") {
		t.Errorf("it was looked through: %q", small)
	}
}

// The menu that a text opens at a right click is Fyne's: Escape only closes it, and it goes with its prompt.
func TestTheMenuOfATextGoesFirst(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make all"))
	s.open(request("2", api.Confirm{Message: "Sure?"}))
	s.ready()
	open := func() {
		s.page().text.(*sheet).page.TappedSecondary(&fyne.PointEvent{})
		if s.canvas().Overlays().Top() == nil {
			t.Fatal("no menu")
		}
	}
	open()
	s.key(fyne.KeyEscape)
	s.wantOpen("1")
	if s.canvas().Overlays().Top() != nil {
		t.Error("after Escape the menu is still open")
	}
	open()
	s.withdraw("1")
	if s.canvas().Overlays().Top() != nil {
		t.Error("the menu of the last prompt covers this one")
	}
}
