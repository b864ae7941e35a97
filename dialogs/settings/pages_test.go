package settings

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/controls"
	"nod/dialogs/dialogstest"
	"nod/ipc/operator"
	"nod/policy"
)

// buttonsIn finds the visible buttons under o with that text.
func buttonsIn(o fyne.CanvasObject, text string) (found []*controls.Button) {
	dialogstest.Walk(o, func(o fyne.CanvasObject) {
		if b, ok := o.(*controls.Button); ok && b.Text == text {
			found = append(found, b)
		}
	})
	return found
}

// buttonIn finds the first of them.
func buttonIn(t *testing.T, o fyne.CanvasObject, text string) *controls.Button {
	t.Helper()
	found := buttonsIn(o, text)
	if len(found) == 0 {
		t.Fatalf("no button says %q", text)
	}
	return found[0]
}

// shownBy returns the visible text of a remark.
func shownBy(r *controls.Remark) string {
	if !r.Content.Visible() {
		return ""
	}
	return r.Label.Text
}

// checkIn finds the first visible check under o.
func checkIn(t *testing.T, o fyne.CanvasObject) *controls.Check {
	t.Helper()
	var found *controls.Check
	dialogstest.Walk(o, func(o fyne.CanvasObject) {
		if c, ok := o.(*controls.Check); ok && found == nil {
			found = c
		}
	})
	if found == nil {
		t.Fatal("no check")
	}
	return found
}

// Only the suggestion whose button is pressed is added.
func TestSuggestionsAreAdded(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onSuggestions)
	p := w.suggestions
	o.refuse = errors.New("disk on fire")
	test.Tap(buttonIn(t, p.body, "Add"))
	if got := shownBy(p.problem); got != "disk on fire" {
		t.Errorf("says %q", got)
	}
	o.isAs(t, fewRules())
	o.refuse = nil
	test.Tap(buttonIn(t, p.body, "Add"))
	if got := shownBy(p.problem); got != "" {
		t.Errorf("says %q", got)
	}
	want := fewRules()
	want.Policy.Rules = append(want.Policy.Rules, someSuggestions()[0].Rule)
	o.isAs(t, want)
}

func TestFolders(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onFolders)
	p := w.folders
	home, code := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	if err := os.Mkdir(filepath.Join(home, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(code, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	add := func(typed string) {
		p.entry.SetText(typed)
		test.Tap(p.add)
	}
	for _, typed := range []string{"src", "", "relative/x", "~someone/x", "~/gone", file} {
		add(typed)
		if shownBy(p.problem) == "" {
			t.Errorf("%q is taken", typed)
		}
	}
	add(" ~/src/ ")
	add(code + "/../" + filepath.Base(code))
	if got := o.config().Policy.TrustedRoots; !slices.Equal(got, []string{"~/src", code}) {
		t.Errorf("folders %q", got)
	}
	add(code)
	if shownBy(p.problem) == "" {
		t.Error("a folder was taken twice")
	}
	test.Tap(buttonIn(t, p.body, ""))
	if got := o.config().Policy.TrustedRoots; !slices.Equal(got, []string{code}) {
		t.Errorf("after one was removed: %q", got)
	}
}

// Without a dialog of the desktop, Fyne's opens.
func TestAFolderIsBrowsedFor(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onFolders)
	folder := t.TempDir()
	w.desktopFolder = func(string) (string, error) { return folder, nil }
	test.Tap(w.folders.browse)
	if got := o.config().Policy.TrustedRoots; !slices.Equal(got, []string{folder}) {
		t.Errorf("folders %q", got)
	}
	w.desktopFolder = func(string) (string, error) { return "", nil } // cancelled
	test.Tap(w.folders.browse)
	if w.Win.Canvas().Overlays().Top() != nil {
		t.Error("a second dialog came up after the first was cancelled")
	}
	w.desktopFolder = func(string) (string, error) { return "", errors.New("no portal") }
	test.Tap(w.folders.browse)
	if w.Win.Canvas().Overlays().Top() == nil {
		t.Error("no dialog")
	}
}

func TestTheSandboxIsSet(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onSandboxPage)
	p, project := w.sandbox, t.TempDir()
	p.projects.entry.SetText(project)
	test.Tap(p.projects.add)
	p.hosts.entry.SetText(" registry.npmjs.org ")
	test.Tap(p.hosts.add)
	test.Tap(p.readOnly.check)
	want := policy.Containment{Projects: []string{project}, Hosts: []string{"registry.npmjs.org"}}
	if got := o.config().Policy.Sandbox; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if shownBy(p.problem) != "" || p.hosts.browse != nil {
		t.Errorf("says %q; folders are offered for hosts: %v", shownBy(p.problem), p.hosts.browse != nil)
	}
	test.Tap(buttonIn(t, p.projects.body, ""))
	if got := o.config().Policy.Sandbox.Projects; len(got) != 0 {
		t.Errorf("after it was removed: %q", got)
	}
	o.state.Sandbox = "Install bubblewrap."
	w.Fetch()
	if !strings.Contains(shownBy(p.problem), "Install bubblewrap.") {
		t.Errorf("says %q", shownBy(p.problem))
	}
}

// What is typed while the last of a list is saved stays.
func TestTheNextIsTypedWhileOneIsSaved(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onSandboxPage)
	var saves []func()
	w.Aside = func(f func()) { saves = append(saves, f) }
	hosts := w.sandbox.hosts
	hosts.entry.SetText("a.example")
	test.Tap(hosts.add)
	hosts.entry.SetText("b.ex")
	for ; len(saves) > 0; saves = saves[1:] {
		saves[0]()
	}
	if got := o.config().Policy.Sandbox.Hosts; !slices.Equal(got, []string{"a.example"}) || hosts.entry.Text != "b.ex" {
		t.Errorf("saved %q, typed %q", got, hosts.entry.Text)
	}
}

func TestRulesAreFound(t *testing.T) {
	o := somebody()
	for i := range 8 {
		effect := []policy.Effect{policy.Allow, policy.Deny}[i%2]
		agent := []string{"claude-code", "codex", "", ""}[i%4]
		r := policy.Rule{ID: string(rune('a' + i)), Effect: effect, Tool: "T", Agent: agent}
		o.state.Config.Policy.Rules = append(o.rules(), r)
	}
	w := openWindow(t, o, "light")
	w.tabs.selectIndex(onAllow)
	l := w.allow.rules
	if !l.filter.Visible() || len(l.shown) != 13 {
		t.Fatalf("filter is there: %v, %d rules", l.filter.Visible(), len(l.shown))
	}
	l.filter.SetText("Deny")
	if n := len(l.shown); n != 6 {
		t.Errorf("%d rules deny, want 6", n)
	}
	l.filter.SetText("codex")
	if n := len(l.shown); n != 2 {
		t.Errorf("%d rules for codex, want 2", n)
	}
	l.filter.SetText("prod")
	if found := l.shown; len(found) != 1 || found[0].ID != "no-prod" {
		t.Errorf("found %+v", found)
	}
}

func TestHeldGrantsAreAccepted(t *testing.T) {
	o := somebody()
	o.state.HeldGrants, o.state.Grants = o.state.Grants, nil
	w := openWindow(t, o, "light")
	w.tabs.selectIndex(onAnswers)
	test.Tap(buttonIn(t, w.grants.body, "Accept these"))
	if len(o.state.Grants) != 4 || len(w.grants.held) != 0 || len(w.grants.grants) != 4 {
		t.Errorf("in force %d, shown %d and held %d", len(o.state.Grants), len(w.grants.grants), len(w.grants.held))
	}
}

func TestGrantsAreRevoked(t *testing.T) {
	o := somebody()
	w := openWindow(t, o, "light")
	w.tabs.selectIndex(onAnswers)
	o.refuse = errors.New("disk on fire")
	test.Tap(buttonIn(t, w.grants.body, "Revoke"))
	if len(w.grants.grants) != 4 || shownBy(w.grants.problem) != "disk on fire" {
		t.Errorf("%d grants, says %q", len(w.grants.grants), shownBy(w.grants.problem))
	}
	o.refuse = nil
	test.Tap(buttonIn(t, w.grants.body, "Revoke"))
	if got := w.grants.grants; len(got) != 3 || got[0].ID != "2" || w.grants.problem.Content.Visible() {
		t.Errorf("grants %+v", got)
	}
	for range 2 { // it asks once more
		if len(o.state.Grants) != 3 {
			t.Errorf("grants %+v", o.state.Grants)
		}
		test.Tap(w.grants.all)
	}
	if len(o.state.Grants) != 0 || !w.grants.all.Disabled() {
		t.Errorf("grants %+v", o.state.Grants)
	}
}

// What was deleted can be had back at the foot of the window; what was answered at a prompt is not its business.
func TestWhatWasDeletedIsUndone(t *testing.T) {
	o := somebody()
	w := openWindow(t, o, "light")
	foot := func(want string) {
		t.Helper()
		got := ""
		dialogstest.Walk(w.Undo.Content, func(o fyne.CanvasObject) {
			if l, ok := o.(*widget.Label); ok {
				got = l.Text
			}
		})
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("the foot says %q, want %q", got, want)
		}
	}
	undos := func(list ...operator.Undo) {
		o.mu.Lock()
		o.state.Undos = list
		o.mu.Unlock()
		w.Fetch()
	}
	foot("")
	undos(operator.Undo{ID: 3, Kind: operator.UndoRule, Text: "no-prod"})
	foot("Rule deleted: no-prod")
	w.Undo.TakeBack()
	foot("") // the navigation says it
	undos(operator.Undo{ID: 4, Kind: operator.UndoRevoke, Text: "go test"})
	foot("Revoked: go test")
	o.refuse = errors.New("too late")
	w.Undo.TakeBack()
	foot("Not undone: too late")
	if want := []int{3, 4}; !slices.Equal(o.undone, want) {
		t.Errorf("taken back: %v, want %v", o.undone, want)
	}
}

// What was done is said where it covers nothing that can be pressed, and takes no room from the page.
func TestWhatWasDoneIsSaid(t *testing.T) {
	w, o := few(t)
	w.After = func(time.Duration, func()) {} // it stays
	w.tabs.selectIndex(onAllow)
	height := w.allow.content.Size().Height
	said := func(want string) {
		t.Helper()
		if !strings.Contains(test.RenderToMarkup(w.Win.Canvas()), ">"+want+"<") {
			t.Errorf("nothing says %q", want)
		}
		d := fyne.CurrentApp().Driver()
		at, size := d.AbsolutePositionForObject(w.tabs.foot), w.tabs.foot.Size()
		dialogstest.Walk(w.Win.Content(), func(o fyne.CanvasObject) {
			if _, isPressed := o.(fyne.Focusable); !isPressed {
				return
			}
			p, s := d.AbsolutePositionForObject(o), o.Size()
			if at.X < p.X+s.Width && p.X < at.X+size.Width && at.Y < p.Y+s.Height && p.Y < at.Y+size.Height {
				t.Errorf("%q covers %T at %v", want, o, p)
			}
		})
	}
	o.state.Undos = []operator.Undo{{ID: 1, Kind: operator.UndoRule, Text: "no-prod"}}
	test.Tap(buttonsIn(w.allow.rules.body, "")[1])
	said("Saved")
	w.Undo.TakeBack()
	said("Restored.")
	if got := w.allow.content.Size().Height; got != height {
		t.Errorf("the page is %v high, was %v", got, height)
	}
}

// A long list is shown in parts, and a held change cannot be accepted unseen.
func TestManyGrants(t *testing.T) {
	o := somebody()
	for i := range 2 * rowsShown {
		g := policy.Grant{ID: strconv.Itoa(i), Scope: policy.Always, Agent: "a", Tool: "T"}
		o.state.HeldGrants = append(o.state.HeldGrants, g)
	}
	w := openWindow(t, o, "light")
	w.tabs.selectIndex(onAnswers)
	if !buttonIn(t, w.grants.body, "Accept these").Disabled() {
		t.Error("what is not shown can be accepted")
	}
	test.Tap(buttonIn(t, w.grants.body, "Show more"))
	test.Tap(buttonIn(t, w.grants.body, "Accept these"))
	if len(o.state.HeldGrants) != 0 {
		t.Error("not accepted")
	}
}

// A rule for parts of command lines is written one command to a line, and what is wrong with one is said there.
func TestARuleForPartsIsEdited(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onAllow)
	w.allow.edit(policy.Rule{})
	e := w.allow.editor
	e.effect.SetSelected(controls.EffectName(policy.Allow))
	e.texts["id"].SetText("tests")
	e.texts["run"].SetText("go test\nnpm run lint | tail")
	test.Tap(e.save)
	if w.allow.editor == nil || shownBy(e.wrong["run"]) == "" {
		t.Error("a pipe can be saved")
	}
	e.texts["run"].SetText("go test\n\nnpm run lint\n")
	if got := e.says.Text; got != "Any agent may run “go test”, “npm run lint”." {
		t.Errorf("says %q", got)
	}
	test.Tap(e.save)
	if got := o.rule(t, "tests").Run; strings.Join(got, "|") != "go test|npm run lint" {
		t.Errorf("saved %q", got)
	}
	w.allow.edit(w.state.Config.Policy.Rules[1])
	if got := w.allow.editor.texts["run"].Text; got != "go test\nnpm run lint" {
		t.Errorf("edited as %q", got)
	}
}

// A long version, such as that of a build from source, does not widen the page.
func TestLongVersion(t *testing.T) {
	w := openWindow(t, somebody(), "light")
	var widths []float32
	for _, version := range []string{"1.0", "0.1.0~git20261129111746.5cf2228e"} {
		w.state.About.Version = version
		widths = append(widths, aboutPage(w).MinSize().Width)
	}
	if widths[1] > widths[0] {
		t.Errorf("the page is %v wide, and %v with a long version", widths[0], widths[1])
	}
}
