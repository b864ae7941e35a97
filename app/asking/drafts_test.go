package asking

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"

	"nod/interact"
	"nod/ipc/operator"
)

// drafts lists what the running process is told to have been typed.
func (d *desk) drafts() map[interact.ID]string {
	d.t.Helper()
	all := map[interact.ID]string{}
	for _, p := range d.shows() {
		if len(p.Draft) > 0 {
			all[p.ID] = string(p.Draft)
		}
	}
	return all
}

func (d *desk) wantDrafts(want map[interact.ID]string) {
	d.t.Helper()
	if got := d.drafts(); !maps.Equal(got, want) {
		d.t.Errorf("drafts %q, want %q", got, want)
	}
}

// types is what a windows process does a moment after the user has typed something.
func (d *desk) types(id interact.ID, draft string) error {
	d.t.Helper()
	return d.now().client.SaveDraft(context.Background(), id, []byte(draft))
}

// What the user has typed is there again when the windows have died, and goes with its request.
func TestDraftsOutliveTheWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		a := d.ask("a")
		d.ask("b")
		d.wantDrafts(nil)
		for _, draft := range []string{"half", "half a sentence"} {
			if err := d.types("a", draft); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(d.types("b", "x"), d.types("b", "")); err != nil {
			t.Fatal(err)
		}
		first := d.now()
		first.die(errKilled)
		d.wantDrafts(map[interact.ID]string{"a": "half a sentence"})
		if d.now() == first {
			t.Fatal("no other process was started")
		}
		if len(d.saved) != 1 || d.saved["a"] != "half a sentence" {
			t.Errorf("kept beyond the end of nod: %q", d.saved)
		}
		if err := d.answer(a, allowed()); err != nil {
			t.Fatal(err)
		}
		d.ask("a")
		d.wantDrafts(nil)
	})
}

// A draft does not make the windows fetch what they have.
func TestADraftIsNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.ask("a")
		d.shows()
		if err := d.types("a", "half"); err != nil {
			t.Fatal(err)
		}
		if all := d.shows(); all != nil {
			t.Errorf("fetched again: %+v", all)
		}
	})
}

// What was typed before nod was killed comes with its request.
func TestDraftsAreRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.w.returning("a", []byte("half a sentence"))
		d.w.returning("b", nil)
		d.ask("a")
		d.ask("b")
		d.wantDrafts(map[interact.ID]string{"a": "half a sentence"})
	})
}

func TestDraftsThatAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.ask("a")
		if err := d.types("gone", "x"); !errors.Is(err, operator.ErrGone) {
			t.Errorf("of no request: %v", err)
		}
		if err := d.types("a", fmt.Sprintf("%*s", operator.MaxDraft+1, "")); err == nil {
			t.Error("a draft too long is kept")
		}
		d.set(&d.saveErr, fmt.Errorf("journal: %w", interact.ErrNotFound))
		if err := d.types("a", "x"); !errors.Is(err, operator.ErrGone) {
			t.Errorf("of a request that has just ended: %v", err)
		}
		d.set(&d.saveErr, errors.New("disk full"))
		if err := d.types("a", "still here"); err == nil {
			t.Error("that the draft is not on the disk is told nobody")
		}
		d.now().die(errKilled)
		d.wantDrafts(map[interact.ID]string{"a": "still here"})
	})
}

// What has ended while nod did not run leaves nothing of its draft in memory.
func TestDraftsOfWhatCameBackTooLate(t *testing.T) {
	w := newWindows(windowsConfig{})
	w.returning("over", []byte("half a sentence"))
	w.returning("waits", []byte("another"))
	w.returned([]interact.Request{{ID: "waits"}})
	if len(w.restored) != 1 || len(w.drafts) != 1 || string(w.drafts["waits"]) != "another" {
		t.Errorf("restored %v, drafts %q", w.restored, w.drafts)
	}
}
