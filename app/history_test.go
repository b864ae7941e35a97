package app

import (
	"context"
	"errors"
	"testing"

	"nod/interact/history"
	"nod/interact/journal"
)

// fakeArchive fails with err.
type fakeArchive struct {
	archive
	err error
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
