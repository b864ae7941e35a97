package book

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/ipc/remote"
	"nod/policy"
)

var sealKey = bytes.Repeat([]byte{7}, 32)

func newPeer(t testing.TB, name string) remote.Peer {
	t.Helper()
	id, err := remote.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return remote.Peer{Name: name, Role: remote.RoleMachine, Key: id.Key(), Added: time.Unix(1_700_000_000, 0).UTC()}
}

func newDevice(name string, may remote.May) remote.Peer {
	return remote.Peer{Name: name, Role: remote.RoleDevice, Key: remote.Key{Sign: "BKey-" + name}, May: may}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func names(peers []remote.Peer) string {
	var all []string
	for _, p := range peers {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}

func TestPeersAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nod", "peers.json")
	b := Open(path, sealKey)
	web, db, phone := newPeer(t, "web"), newPeer(t, "DB 1"), newDevice("phone", remote.May{Approvals: policy.ReadOnly})
	changes, stop := b.Changes()
	defer stop()
	for _, p := range []remote.Peer{web, phone, db} {
		must(t, b.Add(p))
	}
	<-changes
	must(t, b.SetMay("phone", remote.May{Questions: true}))
	<-changes
	if _, err := b.Remove("DB 1"); err != nil {
		t.Fatal(err)
	}
	again := Open(path, sealKey)
	if _, err := again.Problem(); err != nil || names(again.Peers()) != "phone web" {
		t.Fatalf("%v, %v", again.Peers(), err)
	}
	got, ok := again.Find(web.Key)
	if !ok || !reflect.DeepEqual(got, web) {
		t.Errorf("%+v, want %+v", got, web)
	}
	if got, _ := again.Named("phone"); got.May != (remote.May{Questions: true}) {
		t.Errorf("the phone may %+v", got.May)
	}
	if _, ok := again.Find(remote.Key{Sign: strings.ToLower(web.Key.Sign)}); ok {
		t.Error("half a key is enough")
	}
	if _, err := again.Remove("DB 1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("revoked twice: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestAddRefuses(t *testing.T) {
	b := Open(filepath.Join(t.TempDir(), "peers.json"), sealKey)
	web := newPeer(t, "web")
	must(t, b.Add(web))
	with := func(change func(*remote.Peer)) remote.Peer {
		p := newPeer(t, "other")
		change(&p)
		return p
	}
	for name, p := range map[string]remote.Peer{
		"the same name":          with(func(p *remote.Peer) { p.Name = "WEB" }),
		"the same key":           with(func(p *remote.Peer) { p.Key = web.Key }),
		"the same key to sign":   with(func(p *remote.Peer) { p.Key.Sign = web.Key.Sign }),
		"no name":                with(func(p *remote.Peer) { p.Name = "" }),
		"a long name":            with(func(p *remote.Peer) { p.Name = strings.Repeat("a", maxName+1) }),
		"a name with an end":     with(func(p *remote.Peer) { p.Name = "a\nb" }),
		"a name that hides":      with(func(p *remote.Peer) { p.Name = "web\u200b" }),
		"a name turned round":    with(func(p *remote.Peer) { p.Name = "\u202ebew" }),
		"a name with space":      with(func(p *remote.Peer) { p.Name = " web2" }),
		"a name of two spaces":   with(func(p *remote.Peer) { p.Name = "web  2" }),
		"markup":                 with(func(p *remote.Peer) { p.Name = "**web**" }),
		"no text":                with(func(p *remote.Peer) { p.Name = "\xff" }),
		"no role":                with(func(p *remote.Peer) { p.Role = "" }),
		"a machine with limits":  with(func(p *remote.Peer) { p.May.Questions = true }),
		"a machine without key":  with(func(p *remote.Peer) { p.Key = remote.Key{Sign: "x"} }),
		"a device without a key": {Name: "tel", Role: remote.RoleDevice},
		"a class that is none":   newDevice("tel", remote.May{Approvals: "all"}),
	} {
		if err := b.Add(p); err == nil {
			t.Errorf("%s: paired", name)
		}
	}
	if names(b.Peers()) != "web" {
		t.Errorf("%v", b.Peers())
	}
	if err := b.SetMay("web", remote.May{Questions: true}); err == nil {
		t.Error("a machine has limits")
	}
	if err := b.SetMay("none", remote.May{}); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
}

// Whatever another program does to the file, no peer counts that the user has not let in.
func TestNobodyElsePairs(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil    func(data []byte) []byte
		readable bool
	}{
		"another name": {func(data []byte) []byte { return bytes.Replace(data, []byte(`"web"`), []byte(`"wxb"`), 1) }, true},
		"another signature": {func(data []byte) []byte {
			return bytes.Replace(data, []byte(`"mac": "`), []byte(`"mac": "AAAA`), 1)
		}, true},
		"no signature": {func(data []byte) []byte {
			return append(data[:bytes.Index(data, []byte(`,
  "mac"`))], '}')
		}, true},
		"an unknown word": {func(data []byte) []byte {
			return bytes.Replace(data, []byte(`"role"`), []byte(`"rule"`), 1)
		}, false},
		"a later version": {func(data []byte) []byte {
			return bytes.Replace(data, []byte(": 2,"), []byte(": 3,"), 1)
		}, false},
		"half of it": {func(data []byte) []byte { return data[:len(data)/2] }, false},
		"nothing":    {func([]byte) []byte { return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "peers.json")
			must(t, Open(path, sealKey).Add(newPeer(t, "web")))
			data, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, tt.spoil(data), 0o600))
			b := Open(path, sealKey)
			held, err := b.Problem()
			if !errors.Is(err, errChanged) || len(b.Peers()) > 0 || (len(held) > 0) != tt.readable {
				t.Fatalf("%v count, %v are held, %v", b.Peers(), held, err)
			}
			if err := b.Add(newPeer(t, "db")); !errors.Is(err, errChanged) {
				t.Errorf("paired meanwhile: %v", err)
			}
			if _, err := b.Remove("web"); !errors.Is(err, errChanged) {
				t.Errorf("revoked meanwhile: %v", err)
			}
			if _, err := b.Serial("x", time.Now()); !errors.Is(err, errChanged) {
				t.Errorf("a policy meanwhile: %v", err)
			}
			if err := b.Settle(nil, true); err == nil {
				t.Error("accepted what nobody has seen")
			}
			if !tt.readable {
				must(t, b.Settle(nil, false))
				if again := Open(path, sealKey); len(again.Peers()) > 0 || again.err != nil {
					t.Errorf("after starting anew: %v, %v", again.Peers(), again.err)
				}
				return
			}
			must(t, b.Settle(held, true))
			if again := Open(path, sealKey); !reflect.DeepEqual(again.Peers(), held) {
				t.Errorf("accepted %v, kept %v", held, again.Peers())
			}
			if err := b.Settle(held, true); err == nil {
				t.Error("accepted twice")
			}
		})
	}
}

// A list that was signed with another key, as after the seal was lost, counts no more.
func TestAnotherSeal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peers.json")
	must(t, Open(path, sealKey).Add(newPeer(t, "web")))
	if b := Open(path, bytes.Repeat([]byte{8}, 32)); len(b.Peers()) > 0 || b.err == nil {
		t.Errorf("%v, %v", b.Peers(), b.err)
	}
}

// Who is revoked counts no longer, even when that cannot be written down.
func TestRevokeWithoutDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nod")
	b := Open(filepath.Join(dir, "peers.json"), sealKey)
	web := newPeer(t, "web")
	must(t, b.Add(web))
	must(t, os.RemoveAll(dir))
	must(t, os.WriteFile(dir, nil, 0o600)) // no folder: nobody, not even root, writes there
	if _, err := b.Remove("web"); err == nil {
		t.Error("no word that it comes back")
	}
	if _, ok := b.Find(web.Key); ok {
		t.Error("it counts")
	}
	if err := b.Add(newPeer(t, "db")); err == nil || len(b.Peers()) > 0 {
		t.Errorf("paired, though that cannot be kept: %v, %v", b.Peers(), err)
	}
}

func TestSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "peers.json")
		b := Open(path, sealKey)
		web := newPeer(t, "web")
		must(t, b.Add(web))
		seen := func() time.Time { p, _ := Open(path, sealKey).Find(web.Key); return p.Seen }
		first := time.Now()
		must(t, b.Seen(web.Key, first, nil))
		time.Sleep(seenPace / 2)
		must(t, b.Seen(web.Key, time.Now(), nil))
		if p, _ := b.Find(web.Key); !p.Seen.Equal(time.Now()) {
			t.Errorf("seen at %v", p.Seen)
		}
		if !seen().Equal(first) {
			t.Errorf("the file says %v, want %v: it is not written for every sign of life", seen(), first)
		}
		time.Sleep(seenPace / 2)
		must(t, b.Seen(web.Key, time.Now(), nil))
		if !seen().Equal(time.Now()) {
			t.Errorf("the file says %v", seen())
		}
		must(t, b.Seen(newPeer(t, "x").Key, time.Now(), nil))
		desks := []remote.Key{newPeer(t, "desk").Key}
		must(t, b.Seen(web.Key, time.Now(), desks))
		if p, _ := Open(path, sealKey).Find(web.Key); !slices.Equal(p.Desks, desks) {
			t.Errorf("the file says that it answers to %v", p.Desks)
		}
	})
}

// The serial rises with every other policy, also after a restart, and after the file was lost.
func TestSerialRises(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peers.json")
	now := time.Unix(1_700_000_000, 0)
	var last uint64
	for i, tt := range []struct {
		digest string
		lose   bool
		rises  bool
	}{{"a", false, true}, {"a", false, false}, {"b", false, true}, {"a", false, true}, {"c", true, true}} {
		if tt.lose {
			must(t, os.Remove(path))
			now = now.Add(time.Minute)
		}
		got, err := Open(path, sealKey).Serial(tt.digest, now)
		must(t, err)
		if got < last || (got > last) != tt.rises {
			t.Errorf("%d: serial %d after %d", i, got, last)
		}
		last = got
	}
}

// No text of the file makes a peer count, unless nod has signed it.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "peers.json")
	must(f, Open(path, sealKey).Add(newDevice("web", remote.May{})))
	good, err := os.ReadFile(path)
	must(f, err)
	signed := Open(path, sealKey)
	f.Add(good)
	f.Add([]byte(`{"version":2,"content":{"peers":[]},"mac":""}`))
	f.Add([]byte(`{"version":2,"content":{"peers":[
		{"name":"a","role":"device","key":{"sign":"x"},"added":"2026-01-01T00:00:00Z"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &Book{key: sealKey}
		err := b.read(data)
		if err != nil && len(b.Peers()) > 0 {
			t.Errorf("%v, and %v count", err, b.Peers())
		}
		if err == nil && !reflect.DeepEqual(b.Peers(), signed.Peers()) {
			t.Errorf("%q counts", data)
		}
		for i, p := range b.held {
			if check(p, b.held[:i]) != nil {
				t.Errorf("held: %+v", p)
			}
		}
	})
}
