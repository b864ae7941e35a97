package relay

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nod/ipc/remote"
	"nod/policy"
)

func newKeys(t *testing.T) *remote.Identity {
	t.Helper()
	i, err := remote.NewIdentity()
	must(t, err)
	return i
}

// The first desk that comes is the one that counts, across restarts. Another one does once the first has vouched for
// it, whoever started the relay with its key.
func TestAdmit(t *testing.T) {
	relay, first, second, named := newKeys(t), newKeys(t).Key(), newKeys(t).Key(), newKeys(t).Key()
	path := filepath.Join(t.TempDir(), "nod", "desks.json")
	open := func() *desks {
		d, err := openDesks(path, relay)
		must(t, err)
		return d
	}
	if isFirst, err := open().admit(first); !isFirst || err != nil {
		t.Errorf("the first: %v, %v", isFirst, err)
	}
	d := open()
	must(t, d.begin([]remote.Key{named, first}))
	if isFirst, err := d.admit(first); isFirst || err != nil {
		t.Errorf("the first again: %v, %v", isFirst, err)
	}
	for _, other := range []remote.Key{second, named} {
		if _, err := d.admit(other); !errors.Is(err, remote.ErrNotPaired) || !strings.Contains(err.Error(), "nod stop") {
			t.Errorf("another one: %v", err)
		}
		if _, err := d.setPolicy(other, rules(1)); !errors.Is(err, remote.ErrNotPaired) {
			t.Errorf("its policy: %v", err)
		}
		if _, err := d.vouch(other, []remote.Key{second, named}); !errors.Is(err, remote.ErrNotPaired) {
			t.Errorf("it vouches for itself: %v", err)
		}
	}
	if got := d.wanted(); !slices.Equal(got, []remote.Key{named, second}) {
		t.Errorf("wanted: %v", got)
	}
	taken, err := d.vouch(first, []remote.Key{named, newKeys(t).Key()})
	if err != nil || !slices.Equal(taken, []remote.Key{named}) || !slices.Equal(d.wanted(), []remote.Key{second}) {
		t.Errorf("taken %v, %v; wanted %v", taken, err, d.wanted())
	}
	if _, err := open().admit(named); err != nil || len(open().keys()) != 2 {
		t.Errorf("the one that was vouched for: %v, %v", err, open().keys())
	}
	for range 2 * maxWants {
		_, _ = d.admit(newKeys(t).Key())
	}
	if n := len(d.wanted()); n != maxWants {
		t.Errorf("%d are remembered", n)
	}
	if err := d.begin([]remote.Key{{}}); err == nil {
		t.Error("no key is one")
	}
}

// A relay that knows no desk goes by all that it was started with.
func TestBegin(t *testing.T) {
	d, err := openDesks(filepath.Join(t.TempDir(), "desks.json"), newKeys(t))
	must(t, err)
	keys := []remote.Key{newKeys(t).Key(), newKeys(t).Key()}
	must(t, d.begin(keys))
	if !slices.Equal(d.keys(), keys) {
		t.Errorf("%v, want %v", d.keys(), keys)
	}
}

// A policy is applied once, also after a restart, and no older one ever again.
func TestSetPolicy(t *testing.T) {
	relay, a, b := newKeys(t), newKeys(t).Key(), newKeys(t).Key()
	path := filepath.Join(t.TempDir(), "nod", "desks.json")
	d, err := openDesks(path, relay)
	must(t, err)
	must(t, d.begin([]remote.Key{a, b}))
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
		isNew, err := d.setPolicy(tt.desk, rules(tt.serial))
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
	large := rules(10, policy.Rule{ID: strings.Repeat("x", maxDesksFile)})
	if isNew, err := d.setPolicy(a, large); !isNew || err == nil || d.serialOf(a) != 10 {
		t.Errorf("a policy that is too large to be read again: %v, %v", isNew, err)
	}
	if d, err = openDesks(path, relay); err != nil || d.serialOf(a) != 8 {
		t.Fatalf("after it: %v", err)
	}
	must(t, os.RemoveAll(filepath.Dir(path)))
	must(t, os.WriteFile(filepath.Dir(path), nil, 0o600)) // a file where the folder would have to be
	if isNew, err := d.setPolicy(a, rules(20)); !isNew || err == nil || d.policies()[0].Serial != 20 {
		t.Errorf("a policy that cannot be kept: %v, %v, %+v", isNew, err, d.policies())
	}
}

// A request waits for no desk's policy that is being written to a slow disk.
func TestRequestsDoNotWaitForTheFile(t *testing.T) {
	d, err := openDesks(filepath.Join(t.TempDir(), "nod", "desks.json"), newKeys(t))
	must(t, err)
	key := newKeys(t).Key()
	must(t, d.begin([]remote.Key{key}))
	_, err = d.setPolicy(key, rules(1))
	must(t, err)
	r := &relay{desks: d}
	d.mu.Lock() // as while it is written
	defer d.mu.Unlock()
	if r.asksMore() || r.timeout() == 0 || len(d.policies()) != 1 || d.serial() != 1 || d.serialOf(key) != 1 {
		t.Errorf("policies %+v", d.policies())
	}
}

// What another program makes of the file is no desk and no policy: the relay does not start with it.
func TestDesksThatAnotherWrote(t *testing.T) {
	relay, stranger := newKeys(t), newKeys(t)
	path := filepath.Join(t.TempDir(), "desks.json")
	known := []knownDesk{{Key: stranger.Key()}}
	list, err := json.Marshal(known)
	must(t, err)
	file := func(version int, by *remote.Identity, purpose string) []byte {
		text, err := json.Marshal(desksFile{version, list, by.Sign(purpose, list)})
		must(t, err)
		return text
	}
	must(t, os.WriteFile(path, file(desksVersion, relay, desksPurpose), 0o600))
	if d, err := openDesks(path, relay); err != nil || len(d.keys()) != 1 {
		t.Errorf("the real one: %v", err)
	}
	for name, text := range map[string][]byte{
		"empty": nil, "plain": []byte(`[{"key":{"sign":"x"}}]`),
		"signed by another":   file(desksVersion, stranger, desksPurpose),
		"for another purpose": file(desksVersion, relay, "another"), "another version": file(1, relay, desksPurpose),
		"of an earlier nod": []byte(`{"from":"X","box":"AAAA"}`),
	} {
		must(t, os.WriteFile(path, text, 0o600))
		if d, err := openDesks(path, relay); err == nil {
			t.Errorf("%s: taken for %v", name, d.keys())
		}
	}
}
