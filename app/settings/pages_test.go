package settings

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"nod/policy"
)

// buttonIn finds the first visible button under o that says text; with no text, the first that says nothing.
func buttonIn(t *testing.T, o fyne.CanvasObject, text string) *widget.Button {
	t.Helper()
	var found *widget.Button
	var look func(fyne.CanvasObject)
	look = func(o fyne.CanvasObject) {
		if found != nil || !o.Visible() {
			return
		}
		if b, ok := o.(*widget.Button); ok && b.Text == text {
			found = b
			return
		}
		switch o := o.(type) {
		case *fyne.Container:
			for _, c := range o.Objects {
				look(c)
			}
		case fyne.Widget:
			for _, c := range test.WidgetRenderer(o).Objects() {
				look(c)
			}
		}
	}
	look(o)
	if found == nil {
		t.Fatalf("no button says %q", text)
	}
	return found
}

func TestASuggestionIsAdded(t *testing.T) {
	w, file := withFile(t, commented)
	test.Tap(buttonIn(t, w.ideas.body, "Add rule"))
	if got := file(); !strings.Contains(got, "id: allow-go-test") || !strings.Contains(got, "command: go test ./...") || !strings.Contains(got, "# never") {
		t.Errorf("file:\n%s", got)
	}
}

func TestASuggestionIsRefused(t *testing.T) {
	w, file := withFile(t, commented)
	for range 2 {
		test.Tap(buttonIn(t, w.ideas.body, "No, thanks"))
	}
	if len(w.ideas.shown) != 0 || file() != commented {
		t.Errorf("shown %+v, file:\n%s", w.ideas.shown, file())
	}
	w.Refresh()
	if len(w.ideas.shown) != 0 {
		t.Error("what was refused comes back")
	}
}

func TestFolders(t *testing.T) {
	w, file := withFile(t, commented)
	p := w.folders
	for typed, wrong := range map[string]bool{"src": true, "": true, "relative/x": true, "~someone/x": true} {
		p.entry.SetText(typed)
		test.Tap(p.add)
		if p.problem.content.Visible() != wrong {
			t.Errorf("%q: complains: %v", typed, !wrong)
		}
	}
	for _, typed := range []string{" ~/src/ ", "/srv/code/../code"} {
		p.entry.SetText(typed)
		test.Tap(p.add)
	}
	if got := w.opts.Store.Config().Policy.TrustedRoots; strings.Join(got, " ") != "~/src /srv/code" {
		t.Errorf("folders %q", got)
	}
	p.entry.SetText("/srv/code")
	test.Tap(p.add)
	if !p.problem.content.Visible() {
		t.Error("a folder was taken twice")
	}
	test.Tap(buttonIn(t, p.body, ""))
	if got := w.opts.Store.Config().Policy.TrustedRoots; strings.Join(got, " ") != "/srv/code" {
		t.Errorf("after one was removed: %q\n%s", got, file())
	}
}

func TestTryExplains(t *testing.T) {
	w, _ := withFile(t, commented)
	w.allow.try.input.SetText("cat README.md | head")
	_, steps := w.opts.Store.Explain(policy.Call{Agent: "claude-code", Tool: "Bash", Input: []byte(`{"command":"cat README.md | head"}`)})
	markup := test.RenderObjectToMarkup(w.allow.try.result)
	if len(steps) == 0 || !strings.Contains(markup, "surely only reads") {
		t.Errorf("steps %q are not in %s", steps, markup)
	}
}

func TestRulesAreFound(t *testing.T) {
	s := someStore()
	for i := range 8 {
		effect := []policy.Effect{policy.Allow, policy.Deny}[i%2]
		s.config.Policy.Rules = append(s.config.Policy.Rules, policy.Rule{ID: string(rune('a' + i)), Effect: effect, Tool: "T", Agent: []string{"claude-code", "codex", "", ""}[i%4]})
	}
	w := openWindow(t, s, "light")
	l := w.allow.rules
	if !l.search.Visible() || len(l.found()) != 11 {
		t.Fatalf("search is there: %v, %d rules", l.search.Visible(), len(l.found()))
	}
	l.effect.SetSelectedIndex(3) // deny
	if n := len(l.found()); n != 5 {
		t.Errorf("%d rules deny, want 5", n)
	}
	l.agent.SetSelected("codex")
	if n := len(l.found()); n != 2 {
		t.Errorf("%d rules deny to codex, want 2", n)
	}
	l.effect.SetSelectedIndex(0)
	l.agent.SetSelectedIndex(0)
	l.filter.SetText("prod")
	if found := l.found(); len(found) != 1 || found[0].ID != "no-prod" {
		t.Errorf("found %+v", found)
	}
}

func TestHeldGrantsAreAccepted(t *testing.T) {
	s := someStore()
	s.heldGrants, s.grants = s.grants, nil
	w := openWindow(t, s, "light")
	w.tabs.SelectIndex(2)
	test.AssertImageMatches(t, "grants-held-light.png", w.win.Canvas().Capture())
	test.Tap(buttonIn(t, w.grants.body, "Accept these"))
	if len(s.grants) != 3 || len(w.grants.held) != 0 {
		t.Errorf("in force %d, held %d", len(s.grants), len(w.grants.held))
	}
}
