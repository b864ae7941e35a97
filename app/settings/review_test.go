package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"nod/policy"
)

// tampered opens the settings on a policy file that another program has changed.
func tampered(t *testing.T, theme, before, after string) (w *Window, file func() string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	text := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	put := func(s string) {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(before)
	store, err := policy.OpenStore(path, filepath.Join(dir, "grants.json"), nil)
	if err := errors.Join(err, store.Seal()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	put(after)
	store.Reload()
	return openWindow(t, store, theme), text
}

const withMore = commented + `    - id: everything
      effect: allow
      tool: Bash
      command: make install
`

func TestReviewLooks(t *testing.T) {
	for _, theme := range []string{"light", "dark"} {
		w, _ := tampered(t, theme, commented, withMore)
		test.AssertImageMatches(t, "review-"+theme+".png", w.win.Canvas().Capture())
	}
}

func TestAChangeIsAccepted(t *testing.T) {
	w, file := tampered(t, "light", commented, withMore)
	if w.main.Visible() || !w.review.content.Visible() {
		t.Fatal("the change is not shown alone")
	}
	test.Tap(w.review.accept)
	if _, held := w.opts.Store.Held(); held || !w.main.Visible() || w.review.content.Visible() {
		t.Errorf("held %v after it was accepted", held)
	}
	if file() != withMore {
		t.Error("the file was changed")
	}
}

func TestAChangeIsUndone(t *testing.T) {
	w, file := tampered(t, "light", commented, withMore)
	w.review.settle(w.opts.Store.Undo)
	if file() != commented || !w.main.Visible() {
		t.Errorf("not as before:\n%s", file())
	}
}

// A change is accepted only when all of it was in view, for long enough.
func TestAcceptIsArmed(t *testing.T) {
	long := commented + strings.Repeat("# one line of many\n", 200) + withMore[len(commented):]
	w, _ := tampered(t, "light", commented, long)
	if !w.review.accept.Disabled() {
		t.Error("a change that was not in view can be accepted")
	}
	w, _ = tampered(t, "light", commented, withMore)
	w.after = func(time.Duration, func()) {} // never
	w.review.after = w.after
	w.review.show(w.review.held)
	w.win.Canvas().Content().Refresh()
	if !w.review.accept.Disabled() {
		t.Error("a change that has just appeared can be accepted")
	}
}

func TestAFileThatChangedAgainIsShownAgain(t *testing.T) {
	w, _ := tampered(t, "light", commented, withMore)
	w.review.held.After = "something else"
	test.Tap(w.review.accept)
	if _, held := w.opts.Store.Held(); !held {
		t.Error("what was not shown was accepted")
	}
}
