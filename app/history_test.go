package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"nod/interact/history"
	"nod/interact/journal"
)

// fakeArchive fails with err.
type fakeArchive struct {
	archive
	err error
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
	o := operatorAPI{archive: archive}
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

func TestExportIsWholeOrNotThere(t *testing.T) {
	archive := &fakeArchive{}
	o := operatorAPI{archive: archive}
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
