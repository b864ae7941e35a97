package relay

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"nod/ipc/remote"
)

func newKeys(t *testing.T) *remote.Identity {
	t.Helper()
	i, err := remote.NewIdentity()
	must(t, err)
	return i
}

// The first desk that comes is the one that counts, across restarts, unless the person named others.
func TestMeet(t *testing.T) {
	relay, first, second, named := newKeys(t), newKeys(t).Key(), newKeys(t).Key(), newKeys(t).Key()
	path := filepath.Join(t.TempDir(), "nod", "desks.json")
	open := func() *desks {
		d, err := openDesks(path, relay)
		must(t, err)
		return d
	}
	d := open()
	if isFirst, err := d.meet(first); !isFirst || err != nil {
		t.Errorf("the first: %v, %v", isFirst, err)
	}
	for _, d := range []*desks{d, open()} {
		if isFirst, err := d.meet(first); isFirst || err != nil {
			t.Errorf("the first again: %v, %v", isFirst, err)
		}
		if _, err := d.meet(second); !errors.Is(err, remote.ErrNotPaired) {
			t.Errorf("the second: %v", err)
		}
		if _, err := d.give(second, rules(1)); !errors.Is(err, remote.ErrNotPaired) {
			t.Errorf("the second's policy: %v", err)
		}
		if _, err := d.meet(remote.Key{Sign: first.Sign, Seal: second.Seal}); err == nil {
			t.Error("half a key is enough")
		}
	}
	must(t, d.add(named))
	if _, err := open().meet(named); err != nil || len(open().keys()) != 2 {
		t.Errorf("a named one: %v, %v", err, open().keys())
	}
	if err := d.add(remote.Key{}); err == nil {
		t.Error("no key is one")
	}
}

// A policy is applied once, also after a restart, and no older one ever again.
func TestGive(t *testing.T) {
	relay, a, b := newKeys(t), newKeys(t).Key(), newKeys(t).Key()
	path := filepath.Join(t.TempDir(), "nod", "desks.json")
	d, err := openDesks(path, relay)
	must(t, err)
	must(t, d.add(a))
	must(t, d.add(b))
	for _, tt := range []struct {
		desk   remote.Key
		serial uint64
		isNew  bool
		fails  bool
		least  uint64
	}{
		{a, 7, true, false, 0}, {a, 7, false, false, 0}, {a, 6, false, true, 0}, {b, 3, true, false, 3},
		{a, 8, true, false, 3}, {b, 2, false, true, 3}, {b, 9, true, false, 8},
	} {
		isNew, err := d.give(tt.desk, rules(tt.serial))
		if isNew != tt.isNew || (err != nil) != tt.fails || d.serial() != tt.least {
			t.Errorf("%d: %v, %v, least %d; want %+v", tt.serial, isNew, err, d.serial(), tt)
		}
		if d, err = openDesks(path, relay); err != nil {
			t.Fatal(err)
		}
	}
	if ofA, ofB, ofNone := d.serialOf(a), d.serialOf(b), d.serialOf(remote.Key{}); ofA != 8 || ofB != 9 || ofNone != 0 {
		t.Errorf("the policies of the desks are %d and %d, that of another is %d", ofA, ofB, ofNone)
	}
	must(t, os.RemoveAll(filepath.Dir(path)))
	must(t, os.WriteFile(filepath.Dir(path), nil, 0o600)) // a file where the folder would have to be
	if isNew, err := d.give(a, rules(20)); !isNew || err == nil || d.policies()[0].Serial != 20 {
		t.Errorf("a policy that cannot be kept: %v, %v, %+v", isNew, err, d.policies())
	}
}

// What another program makes of the file is no desk and no policy: the relay does not start with it.
func TestDesksThatAnotherWrote(t *testing.T) {
	relay, stranger := newKeys(t), newKeys(t)
	path := filepath.Join(t.TempDir(), "desks.json")
	known := []knownDesk{{Key: stranger.Key()}}
	forged, err := stranger.Seal(relay.Key(), kindDesks, known)
	must(t, err)
	message, err := relay.Seal(relay.Key(), remote.KindPolicy, known)
	must(t, err)
	for name, text := range map[string][]byte{
		"empty": nil, "plain": []byte(`[{"key":{"sign":"x"}}]`), "sealed by another": forged, "another kind": message,
	} {
		must(t, os.WriteFile(path, text, 0o600))
		if d, err := openDesks(path, relay); err == nil {
			t.Errorf("%s: taken for %v", name, d.keys())
		}
	}
}
