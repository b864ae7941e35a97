package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
)

// fakeArchive has lines, and fails with err.
type fakeArchive struct {
	archive
	lines []history.Line
	sums  history.Insights
	err   error
}

func (a *fakeArchive) Search(_ context.Context, q history.Query) (history.Page, error) {
	var page history.Page
	for _, l := range a.lines {
		in := q.Since.IsZero() || !l.Settled.Before(q.Since) && l.Settled.Before(q.Until)
		if in && (q.ID == "" || q.ID == l.ID) && (q.Outcome == "" || q.Outcome == l.Outcome) && (q.By == "" || q.By == l.By) {
			page.Lines = append(page.Lines, l)
		}
	}
	return page, a.err
}

func (a *fakeArchive) Insights(context.Context, time.Time) (history.Insights, error) {
	return a.sums, a.err
}

func (a *fakeArchive) Export(_ context.Context, w io.Writer, q history.Query, f history.Format) (int, error) {
	_, err := fmt.Fprint(w, q.Text, " as ", f)
	return 3, errors.Join(err, a.err)
}

func (a *fakeArchive) Head(context.Context) (history.Head, error) {
	return history.Head{Seq: 9, Hash: "ab"}, nil
}

func (a *fakeArchive) Verify(context.Context) error { return a.err }

func TestVerify(t *testing.T) {
	archive := &fakeArchive{}
	o := operatorAPI{p: &program{archive: archive}}
	for _, tt := range []struct {
		found   error
		problem string
		fails   bool
	}{
		{nil, "", false},
		{&journal.BrokenError{Seq: 3, Problem: "is missing"}, "entry 3 is missing", false},
		{errors.New("disk on fire"), "", true},
	} {
		archive.err = tt.found
		if v, err := o.Verify(t.Context()); v.Head.Seq != 9 || v.Problem != tt.problem || (err != nil) != tt.fails {
			t.Errorf("%v: %+v, %v", tt.found, v, err)
		}
	}
}

func TestWhatHappenedWhileAway(t *testing.T) {
	from := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	to := from.Add(time.Hour)
	at := func(minutes int) time.Time { return from.Add(time.Duration(minutes) * time.Minute) }
	archive := &fakeArchive{
		sums: history.Insights{Days: []history.Count{{Missed: 1, Passed: 2, Asked: 9}, {Missed: 1, Denied: 1, Passed: 1}}},
		lines: []history.Line{
			{Seq: 9, ID: "answered", Settled: at(70), Outcome: interact.Allowed, By: interact.ByHuman},
			{Seq: 8, Settled: at(5), Outcome: interact.Unavailable},
			{Seq: 7, Settled: at(4), Outcome: interact.Denied, By: interact.ByPolicy},
			{Seq: 6, Settled: at(3), Outcome: interact.Allowed, By: interact.ByPolicy},
			{Seq: 5, Settled: at(2), Outcome: interact.TimedOut},
			{Seq: 4, Settled: at(-1), Outcome: interact.Denied},
		}}
	request := func(id interact.ID, minutes int, body interact.Body) interact.Request {
		return interact.Request{ID: id, Created: at(minutes), Body: body}
	}
	l := lastAway{archive, []interact.Request{
		request("before", -5, interact.Ask{Question: "one?"}), request("notice", 1, interact.Notify{Message: "hi"}),
		request("waits", 2, interact.Approve{Tool: "Bash", Input: []byte(`{"command":"make"}`)}),
		request("answered", 3, interact.Ask{Question: "two?"}),
	}}
	a, err := l.count(t.Context(), from, to)
	if err != nil || a.Waited.Count != 2 || a.Missed.Count != 2 || a.Passed.Count != 3 || a.Denied.Count != 1 {
		t.Fatalf("%v: %+v", err, a)
	}
	l.pending = l.pending[:3]
	a, err = l.withLines(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	seqs := func(f history.Found) (all []int64) {
		for _, line := range f.Lines {
			all = append(all, line.Seq)
		}
		return all
	}
	got := fmt.Sprint(seqs(a.Waited), seqs(a.Missed), seqs(a.Passed), seqs(a.Denied))
	if got != "[0 9] [8 5] [6] [7]" || a.Waited.Lines[0].Tool != "Bash" {
		t.Errorf("found %s: %+v", got, a.Waited)
	}
	archive.err = errors.New("disk on fire")
	if _, err := l.withLines(t.Context(), a); !errors.Is(err, archive.err) {
		t.Errorf("%v", err)
	}
}

func TestExportIsWholeOrNotThere(t *testing.T) {
	archive := &fakeArchive{}
	o := operatorAPI{p: &program{archive: archive}}
	path := filepath.Join(t.TempDir(), "history.csv")
	export := func(path string) (int, error) {
		return o.Export(t.Context(), history.Query{Text: "make"}, path, history.CSV)
	}
	if _, err := export("history.csv"); err == nil {
		t.Error("a path that starts nowhere was taken")
	}
	archive.err = errors.New("disk on fire")
	if _, err := export(path); !errors.Is(err, archive.err) {
		t.Errorf("%v", err)
	}
	archive.err = nil
	if n, err := export(path); n != 3 || err != nil { // also: nothing was left of the first
		t.Fatalf("%d, %v", n, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "make as csv" {
		t.Errorf("wrote %q, %v", text, err)
	}
	if _, err := export(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("what is there was written over: %v", err)
	}
}
