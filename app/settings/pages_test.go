package settings

import (
	"context"
	"errors"
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
	if !l.search.Visible() || len(l.found()) != 13 {
		t.Fatalf("search is there: %v, %d rules", l.search.Visible(), len(l.found()))
	}
	l.effect.SetSelectedIndex(3) // deny
	if n := len(l.found()); n != 6 {
		t.Errorf("%d rules deny, want 6", n)
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
	if len(s.grants) != 4 || len(w.grants.held) != 0 {
		t.Errorf("in force %d, held %d", len(s.grants), len(w.grants.held))
	}
}

// The agents' past is looked at only when the person says so, and a rule that comes of it is added only then, too.
func TestTheAgentsPastIsLookedAt(t *testing.T) {
	w, file := withFile(t, commented)
	past := w.ideas.past
	if past.found != nil {
		t.Fatal("it was looked at unasked")
	}
	test.Tap(buttonIn(t, past.content, "Look at what your agents did so far"))
	if past.found == nil || len(past.found.Rules) != 2 || file() != commented {
		t.Fatalf("found %+v, file:\n%s", past.found, file())
	}
	markup := test.RenderObjectToMarkup(past.content)
	for _, want := range []string{"310 of 4210", "48 times", "Spares 171 prompts", "cart.ex"} {
		if !strings.Contains(markup, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	test.Tap(buttonIn(t, past.content, "Add rule"))
	if got := file(); !strings.Contains(got, "id: allow-mix-test") || !strings.Contains(got, "- mix format") || strings.Contains(got, "allow-edits") {
		t.Errorf("file:\n%s", got)
	}
	test.Tap(buttonIn(t, past.content, "No, thanks"))
	if len(past.found.Rules) != 0 || strings.Contains(file(), "allow-edits") {
		t.Errorf("found %+v, file:\n%s", past.found.Rules, file())
	}
}

func TestThePastCannotBeLookedAt(t *testing.T) {
	w := openWindow(t, someStore(), "light")
	past := w.ideas.past
	past.replay = func(context.Context, func(float64)) (Replay, error) { return Replay{}, errors.New("disk on fire") }
	test.Tap(buttonIn(t, past.content, "Look at what your agents did so far"))
	if past.problem.label.Text != "disk on fire" || !past.problem.content.Visible() {
		t.Errorf("says %q", past.problem.label.Text)
	}
	past.replay = func(context.Context, func(float64)) (Replay, error) { return Replay{}, nil }
	test.Tap(buttonIn(t, past.content, "Look at what your agents did so far"))
	buttonless := test.RenderObjectToMarkup(past.content)
	if !strings.Contains(buttonless, "There are no transcripts") {
		t.Errorf("shows %s", buttonless)
	}
}

// A look that is given up ends, and can begin again.
func TestALookAtThePastIsStopped(t *testing.T) {
	w := openWindow(t, someStore(), "light")
	past := w.ideas.past
	var run func()
	past.aside = func(f func()) { run = f }
	past.replay = func(ctx context.Context, _ func(float64)) (Replay, error) { return Replay{}, ctx.Err() }
	test.Tap(buttonIn(t, past.content, "Look at what your agents did so far"))
	w.ideas.refresh(true) // must not begin again
	test.Tap(buttonIn(t, past.content, "Stop"))
	run()
	if past.found != nil || past.problem.content.Visible() {
		t.Errorf("found %+v, says %q", past.found, past.problem.label.Text)
	}
	buttonIn(t, past.content, "Look at what your agents did so far")
}

func TestNoPastIsOffered(t *testing.T) {
	l := newLookBack(Options{}, func(policy.Rule) error { return nil }, func(f func()) { f() })
	if l.content.Visible() {
		t.Error("it is offered")
	}
}

// A rule for parts of command lines is written one command to a line, and what is wrong with one is said there.
func TestARuleForPartsIsEdited(t *testing.T) {
	w, file := withFile(t, commented)
	w.allow.edit(policy.Rule{})
	e := w.allow.editor
	e.effect.SetSelected(effectName(policy.Allow))
	e.texts["id"].SetText("tests")
	e.texts["run"].SetText("go test\nnpm run lint | tail")
	if !e.save.Disabled() || e.wrong["run"].label.Text == "" {
		t.Errorf("a pipe can be saved; it says %q", e.wrong["run"].label.Text)
	}
	e.texts["run"].SetText("go test\n\nnpm run lint\n")
	if got := e.says.Text; got != "Allow parts of command lines that run “go test”, “npm run lint”." {
		t.Errorf("says %q", got)
	}
	test.Tap(e.save)
	if got := file(); !strings.Contains(got, "- go test") || !strings.Contains(got, "- npm run lint") {
		t.Errorf("file:\n%s", got)
	}
	w.allow.edit(w.opts.Store.Config().Policy.Rules[1])
	if got := w.allow.editor.texts["run"].Text; got != "go test\nnpm run lint" {
		t.Errorf("edited as %q", got)
	}
}

func TestTryShowsTheParts(t *testing.T) {
	s := someStore()
	s.parts = []policy.CommandPart{
		{Text: "cd web", State: policy.PartReads},
		{Text: "go test ./...", State: policy.PartCovered, By: "tests"},
		{Text: "make deploy", State: policy.PartNew, Why: "It runs the commands of the project's makefile."},
	}
	w := openWindow(t, s, "light")
	w.allow.try.input.SetText("cd web && go test ./... && make deploy")
	w.tabs.SelectIndex(1)
	w.win.Resize(fyne.NewSize(900, 780))
	test.AssertImageMatches(t, "try-parts-light.png", w.win.Canvas().Capture())
	markup := test.RenderObjectToMarkup(w.allow.try.result)
	for _, want := range []string{"reads", "covered", "by the rule tests", "new", "make deploy"} {
		if !strings.Contains(markup, want) {
			t.Errorf("%q is not in %s", want, markup)
		}
	}
}

func TestThePastLooks(t *testing.T) {
	w := openWindow(t, someStore(), "light")
	w.ideas.suggest = func() []policy.Suggestion { return nil }
	w.tabs.SelectIndex(4)
	w.win.Resize(fyne.NewSize(900, 580))
	test.AssertImageMatches(t, "past-offer-light.png", w.win.Canvas().Capture())
	test.Tap(buttonIn(t, w.ideas.past.content, "Look at what your agents did so far"))
	w.win.Resize(fyne.NewSize(900, 600))
	test.AssertImageMatches(t, "past-light.png", w.win.Canvas().Capture())
}
