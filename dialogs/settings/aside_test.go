package settings

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/dialogs/dialogstest"
	"nod/policy"
)

// live is [dialogstest.Live] for this window.
func live(t *testing.T, o *fakeOperator, f func(w *Window, ui func(func()))) {
	dialogstest.Live(t, func(t *testing.T) *Window { return newWindow(t, o, "light") }, f)
}

// The window reacts while the operator does not answer, and opens once it does.
func TestNothingWaitsForTheOperator(t *testing.T) {
	o := somebody()
	live(t, o, func(w *Window, ui func(func())) {
		o.stop()
		ui(func() { w.Show(false) })
		if w.Win != nil || !w.Visible() {
			t.Error("it is open before anybody knows what is in it")
		}
		o.goOn()
		ui(func() {})
		if w.Win == nil || !w.general.onTop.check.Checked {
			t.Fatal("it is not open")
		}
		o.stop()
		for i := range w.tabs.pages {
			ui(func() { w.tabs.selectIndex(i) })
		}
		ui(func() { w.tabs.selectIndex(onGeneral) })
		ui(func() { test.Tap(w.general.onTop.check) })
		if w.general.onTop.check.Checked || o.config().Prompt.OnTop {
			t.Error("the switch did nothing")
		}
		o.goOn()
		ui(w.close)
	})
}

// However often the state changes, at most one fetch runs and one waits; none while the window is closed.
func TestChangesAreFetchedOnce(t *testing.T) {
	o := somebody()
	live(t, o, func(w *Window, ui func(func())) {
		w.Changed()
		time.Sleep(time.Second)
		if n := o.calls("State"); n != 0 {
			t.Errorf("%d fetches for a window that is closed", n)
		}
		ui(func() { w.Show(false) })
		before := o.calls("State")
		for range 1000 {
			w.Changed()
		}
		time.Sleep(time.Second)
		if n := o.calls("State") - before; n != 1 {
			t.Errorf("%d fetches after many changes", n)
		}
		o.stop()
		before = o.calls("State")
		for range 5 {
			w.Changed()
			time.Sleep(time.Second)
		}
		o.goOn()
		synctest.Wait()
		if n := o.calls("State") - before; n != 2 {
			t.Errorf("%d fetches, want one that took long and one for all that came meanwhile", n)
		}
		ui(w.close)
	})
}

// Changes by the user are saved in order, and older values never reappear.
func TestChangesAreSavedInOrder(t *testing.T) {
	o := somebody()
	live(t, o, func(w *Window, ui func(func())) {
		ui(func() { w.Show(false) })
		check := w.general.onTop.check
		o.stop()
		w.Changed()
		time.Sleep(time.Second) // a state is on its way that does not know of what follows
		for range 5 {
			fyne.Do(func() { test.Tap(check) })
		}
		o.goOn()
		synctest.Wait()
		if check.Checked || o.config().Prompt.OnTop {
			t.Errorf("shown %v, saved %v", check.Checked, o.config().Prompt.OnTop)
		}
		if n := o.calls("Replace"); n != 5 {
			t.Errorf("saved with %d calls, want 5: each starts from what the one before saved", n)
		}
		ui(w.close)
	})
}

// A state from before a change, which arrives after it, is not shown.
func TestAStaleStateIsNotShown(t *testing.T) {
	o := somebody()
	live(t, o, func(w *Window, ui func(func())) {
		ui(func() { w.Show(false) })
		check := w.general.onTop.check
		var shown []bool
		changed := check.OnChanged
		check.OnChanged = func(on bool) { shown = append(shown, on); changed(on) }
		o.stop()
		w.Changed()
		time.Sleep(time.Second)
		ui(func() { test.Tap(check) })
		o.goOn()
		synctest.Wait()
		if slices.Contains(shown, true) || check.Checked {
			t.Errorf("the switch showed %v", shown)
		}
		ui(w.close)
	})
}

// A field that was edited is saved when the window closes.
func TestClosingSaves(t *testing.T) {
	o := somebody()
	live(t, o, func(w *Window, ui func(func())) {
		ui(func() { w.Show(false) })
		ui(func() {
			w.Win.Canvas().Focus(w.general.timeout)
			w.general.timeout.SetText("2m")
			w.close()
		})
		if got := o.config().Prompt.Timeout; got != 2*time.Minute {
			t.Errorf("saved %v", got)
		}
	})
}

// Suggestions are searched for only while their page is in view.
func TestSuggestionsAreGivenUp(t *testing.T) {
	o := somebody()
	live(t, o, func(w *Window, ui func(func())) {
		ui(func() { w.Show(false) })
		w.Changed()
		time.Sleep(time.Second)
		if n := o.calls("Suggest"); n != 0 {
			t.Errorf("%d calls for pages that nobody looks at", n)
		}
		o.stop()
		ui(func() { w.tabs.selectIndex(onSuggestions) })
		if !w.suggestions.work.Busy() || o.calls("Suggest") != 1 {
			t.Error("nothing looks for suggestions")
		}
		ui(func() { w.tabs.selectIndex(onAbout) })
		if w.suggestions.work.Busy() {
			t.Error("something still looks for suggestions")
		}
		o.goOn()
		ui(w.close)
	})
}

// A long list of rules does not make the user wait.
func TestManyRules(t *testing.T) {
	o := somebody()
	for i := range 10_000 {
		r := policy.Rule{ID: fmt.Sprintf("rule-%d", i+1), Effect: policy.Allow, Command: fmt.Sprintf("make t%d", i)}
		o.state.Config.Policy.Rules = append(o.state.Config.Policy.Rules, r)
	}
	w := openWindow(t, o, "light")
	w.tabs.selectIndex(onAllow)
	w.allow.rules.filter.SetText("“make t9999”")
	if got := w.allow.rules.shown; len(got) != 1 || got[0].ID != "rule-10000" {
		t.Errorf("found %d rules", len(got))
	}
	w.allow.edit(policy.Rule{})
	if got := w.allow.editor.rule().ID; got != "rule-10001" {
		t.Errorf("a new rule is named %q", got)
	}
}
