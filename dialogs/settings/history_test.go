package settings

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"nod/policy/config"
)

func TestHistoryIsSaved(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onHistory)
	p := w.history
	keep := p.settings[0].(*savedEntry)
	for _, tt := range []struct {
		entry *savedEntry
		typed string
		takes bool
	}{
		{keep, "30d", true}, {keep, "12h", false}, {keep, "a month", false},
		{p.size, " 250", true}, {p.size, "9", false}, {p.size, "1e6", false},
	} {
		tt.entry.SetText(tt.typed)
		tt.entry.OnSubmitted(tt.typed)
		if says := shownBy(tt.entry.Problem); (says == "") != tt.takes {
			t.Errorf("%q: says %q", tt.typed, says)
		}
		tt.entry.SetText(tt.entry.saved)
	}
	test.Tap(checkIn(t, p.content))
	want := config.History{Keep: 30 * 24 * time.Hour, MaxSize: 250}
	if got := o.config().History; got != want {
		t.Errorf("saved %+v, want %+v", got, want)
	}
}

// The size of the history is shown once known, with the reason if nothing is recorded.
func TestWhatIsKeptIsSaid(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onHistory)
	if n := len(w.history.body.Objects); n != 0 {
		t.Errorf("%d things are said of a journal of which nothing is known", n)
	}
	o.state.Journal = someJournal()
	o.state.Journal.Problem = "the disk is full"
	w.Fetch()
	if markup := test.RenderObjectToMarkup(w.history.body); !strings.Contains(markup, "the disk is full") {
		t.Errorf("the problem is not in %s", markup)
	}
}
