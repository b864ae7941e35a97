package device_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"nod/api"
	"nod/changes"
	"nod/e2e/devicetest"
	"nod/interact"
	"nod/ipc/device"
	"nod/ipc/remote"
	"nod/policy"
)

// Desk is a device.Config without nod-desktop. The zero value has no paired device and nothing pending.
type Desk struct {
	Language string // that it speaks; empty: English
	Push     string // its key for Web Push; empty: none
	// Compares says that the test admits devices by [Desk.Admit]. Else they are admitted at once.
	Compares bool
	Viewed   func() // is called after each View; may be nil

	server  *device.Server
	mu      sync.Mutex
	peers   []remote.Peer
	views   []devicetest.View
	answers []interact.Answer
	changed changes.Source
	subs    map[string]device.Subscription
}

// New returns a server for a desk with a page. It does not listen.
func New(t testing.TB, d *Desk, page fs.FS) *device.Server {
	return NewAt(t, d, page, netip.MustParseAddrPort("127.0.0.1:7464"))
}

// NewAt is [New] for an address. Each has a certificate of its own.
func NewAt(t testing.TB, d *Desk, page fs.FS, at netip.AddrPort) *device.Server {
	t.Helper()
	c, _, err := device.Certificate(filepath.Join(t.TempDir(), "phone.pem"), nil, at.Addr())
	if err != nil {
		t.Fatal(err)
	}
	d.server = device.New(device.Config{
		Address: at, Certificate: c, Page: page, Desk: d, Log: slog.New(slog.DiscardHandler),
	})
	return d.server
}

// Start serves a desk with a page at a free port of this machine until the test ends.
func Start(t testing.TB, d *Desk, page fs.FS) *device.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewAt(t, d, page, netip.MustParseAddrPort(l.Addr().String()))
	serve(t, s, l)
	return s
}

// Show makes views pending, in this order, in place of all others.
func (d *Desk) Show(views ...devicetest.View) { d.change(func() { d.views = views }) }

// SetMay changes what all devices may do.
func (d *Desk) SetMay(may remote.May) {
	d.change(func() {
		for i := range d.peers {
			d.peers[i].May = may
		}
	})
}

// Revoke revokes all devices.
func (d *Desk) Revoke() { d.change(func() { d.peers = nil }) }

// Answers are those that counted.
func (d *Desk) Answers() []interact.Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.answers)
}

// Subscriptions are where devices want to be told, by key.
func (d *Desk) Subscriptions() map[string]device.Subscription {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.subs
}

func (d *Desk) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	d.changed.Send()
}

// About implements device.Config.
func (d *Desk) About() device.About {
	return device.About{Name: "desk", Version: "1.2.3", Language: cmp.Or(d.Language, "en")}
}

// PushKey implements device.Config.
func (d *Desk) PushKey() string { return d.Push }

// Subscribe implements device.Config.
func (d *Desk) Subscribe(p remote.Peer, s device.Subscription) error {
	d.change(func() { d.subs = map[string]device.Subscription{p.Key.Sign: s} })
	return nil
}

// Find implements device.Config.
func (d *Desk) Find(key string) (remote.Peer, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.peers, func(p remote.Peer) bool { return p.Key.Sign == key })
	if i < 0 {
		return remote.Peer{}, false
	}
	return d.peers[i], true
}

// Asked implements device.Config.
func (d *Desk) Asked() {
	if !d.Compares {
		_ = d.Admit()
	}
}

// Admit lets in the device that asks to be paired.
func (d *Desk) Admit() error {
	peer, _, _ := d.server.Asking()
	return d.server.Admit(peer.Key.Sign, func(p remote.Peer) error {
		d.change(func() { d.peers = append(d.peers, p) })
		return nil
	})
}

// Changes implements device.Config.
func (d *Desk) Changes() (<-chan struct{}, func()) { return d.changed.Subscribe() }

// Prompts implements device.Config.
func (d *Desk) Prompts(remote.Peer) []device.Headline {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := []device.Headline{}
	for _, v := range d.views {
		all = append(all, device.Headline{
			ID: v.ID, Revision: v.Revision, Kind: v.Kind, Agent: v.Head.Agent, Summary: v.Head.Wish + " " + v.Head.Object,
			AgeMS: 4000, LeftMS: 296_000,
		})
	}
	return all
}

// View implements device.Config.
func (d *Desk) View(_ context.Context, p remote.Peer, id interact.ID) (device.View, error) {
	if d.Viewed != nil {
		defer d.Viewed() // after the unlock
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.views, func(v devicetest.View) bool { return v.ID == id })
	if i < 0 {
		return device.View{}, device.ErrGone
	}
	v := d.views[i]
	may := p.May.Questions
	if v.Kind == api.KindApprove {
		may = p.May.Approvals == policy.Destructive
	}
	if !may {
		v.Affirm, v.Limit = nil, "You can answer this at the desk only."
	}
	return shown(v)
}

// shown is a view as the server gets it.
func shown(v devicetest.View) (device.View, error) {
	const armAfter = 700 * time.Millisecond
	v.ArmMS = armAfter.Milliseconds()
	text, err := json.Marshal(v)
	s := device.View{
		Text: text, Revision: v.Revision, Kind: v.Kind, ArmAfter: armAfter, Refuses: v.Refuse != nil, Limit: v.Limit,
	}
	for _, button := range v.Affirm {
		s.Suggestions = append(s.Suggestions, button.Suggestion)
	}
	for _, f := range v.Facts {
		s.Facts = append(s.Facts, f.Text)
	}
	return s, err
}

// Answer implements device.Config.
func (d *Desk) Answer(_ context.Context, _ remote.Peer, id interact.ID, a interact.Answer) error {
	err := error(device.ErrGone)
	d.change(func() {
		before := len(d.views)
		d.views = slices.DeleteFunc(d.views, func(v devicetest.View) bool { return v.ID == id })
		if len(d.views) < before {
			d.answers, err = append(d.answers, a), nil
		}
	})
	return err
}
