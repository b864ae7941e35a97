package dialogs

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"fyne.io/fyne/v2"

	"nod/api"
	"nod/assets"
	"nod/dialogs/dialogstest"
	"nod/interact"
)

func TestMain(m *testing.M) {
	if err := assets.SetLanguage("en"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestGallery draws everything of which there are golden images as a user sees it, in every look.
func TestGallery(t *testing.T) {
	var views []dialogstest.View
	add := func(name string, show func(s *screen)) {
		views = append(views, dialogstest.View{Name: name, Open: func(t *testing.T, theme string) fyne.Window {
			s := newScreen(t)
			fyne.CurrentApp().Settings().SetTheme(dialogstest.Fonts(Theme(theme)))
			show(s)
			return s.p.window.win
		}})
	}
	for name, r := range samples {
		add(name, func(s *screen) { s.open(r); s.ready() })
	}
	for _, state := range states {
		add(state.name, func(s *screen) { s.open(state.open); state.do(s) })
	}
	for _, in := range inputs {
		add("approve-"+in.name, func(s *screen) {
			text, err := json.Marshal(in.input)
			if err != nil {
				s.t.Fatal(err)
			}
			r := request("1", interact.Approve{Tool: in.tool, Input: text, Description: "What the agent says of it"})
			r.Requester.CWD = project(s.t, "shop.go", goFile)
			s.open(r)
			s.ready()
		})
	}
	add("markdown", func(s *screen) {
		s.open(request("1", api.Ask{Question: question, Options: []string{"Postgres", "SQLite"}}))
		s.ready()
	})
	add("keep-menu", func(s *screen) { s.open(bash("1", "make")); s.ready(); s.tapText("Once") })
	dialogstest.Gallery(t, "prompt", views)
}

// Every kind of request that a user answers is among the golden images.
func TestEveryKindHasAGoldenImage(t *testing.T) {
	source, err := os.ReadFile("../api/api.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{string(api.KindNotify): true} // has no window
	for _, r := range samples {
		seen[string(r.Body.Kind())] = true
	}
	kinds := regexp.MustCompile(`(?m)^\tKind\w+ +Kind = "(.+)"$`).FindAllSubmatch(source, -1)
	if len(kinds) < len(seen) {
		t.Fatalf("api.go has %d kinds", len(kinds))
	}
	for _, kind := range kinds {
		if !seen[string(kind[1])] {
			t.Errorf("no golden image of a request of the kind %q", kind[1])
		}
	}
}
