package asking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/assets"
	"nod/changes"
	"nod/interact"
	"nod/ipc/device"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/book"
	"nod/policy/config"
)

const (
	certificateName = "phone.pem"  // next to the list of peers
	pushName        = "phone.json" // the same: who is woken, and by what keys

	// reachableFor is how long the user counts as able to answer on a device after its last request, even if nothing can
	// wake it.
	reachableFor = time.Minute
	// wakePace is the shortest time between two times that devices are woken.
	wakePace = 20 * time.Second
	// wakePatience is how long waking them may take.
	wakePatience = 30 * time.Second
)

// devices shows devices the requests that have been pending for a while, and wakes and pairs them. An answer from a
// device counts like one in a window. It implements [device.Desk].
type devices struct {
	devicesConfig
	changed      changes.Signal // there is another page, or a device asks to be paired
	shownChanged changes.Source // devices may see other prompts

	mu        sync.Mutex
	server    *device.Server       // nil: no address is set
	problem   error                // why the address is not served
	lastAsked map[string]time.Time // when a device last asked, by key

	queue   sync.Mutex           // guards all below
	woken   map[interact.ID]bool // the requests for which devices were woken
	wokenAt time.Time            // when they last were
	timer   *time.Timer          // runs until another request is shown, or devices may be woken again
}

// devicesConfig configures [devices]. All fields but push are required.
type devicesConfig struct {
	log     *slog.Logger
	version string       // of this nod
	folder  string       // where certificate and push keys are kept
	seal    []byte       // signs the certificate's file
	push    *device.Push // nil: its keys cannot be kept, so nothing wakes a device
	book    *book.Book
	config  func() config.Config
	say     func(string, string)
	answers answers
}

func newDevices(c devicesConfig) *devices {
	return &devices{
		devicesConfig: c, changed: changes.NewSignal(), lastAsked: map[string]time.Time{}, woken: map[interact.ID]bool{},
	}
}

// openDevices prepares the devices of the book. The data for waking them is in the book's folder. It serves nothing
// yet.
func (d *Desk) openDevices(folder string) {
	push, err := device.OpenPush(filepath.Join(folder, pushName), nil)
	if err != nil {
		d.log.Warn("Web Push can't wake any device", "err", err)
		push = nil
	}
	d.devices = newDevices(devicesConfig{
		log: d.log, version: d.cfg.Version, folder: folder, seal: d.store.SealKey(), push: push, book: d.book,
		config: d.store.Config, say: d.Say, answers: d.answers,
	})
}

// minArmAfter is the shortest time that a device shows a request before the user can allow it, as in the windows.
const minArmAfter = 700 * time.Millisecond

func (d *devices) current() (*device.Server, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.server, d.problem
}

// phone describes how devices reach this desk, for the settings.
func (d *devices) phone() operator.Phone {
	var all operator.Phone
	var err error
	if all.Addresses, err = addresses(); err != nil {
		d.log.Warn("this machine's addresses are unknown", "err", err)
	}
	server, err := d.current()
	if server != nil {
		all.URL, all.Fingerprint = server.URL(), server.Fingerprint()
		err = server.Problem()
	}
	if err != nil {
		all.Problem = err.Error()
	}
	return all
}

// ready reports whether the user can answer on a device: one has just asked, or can be woken.
func (d *devices) ready() bool {
	if server, _ := d.current(); server == nil || server.Problem() != nil {
		return false
	}
	return slices.ContainsFunc(d.book.Peers(), func(p remote.Peer) bool {
		return p.Role == remote.RoleDevice && (d.isNear(p) || d.wakes(p))
	})
}

// isNear reports whether a device has asked within [reachableFor].
func (d *devices) isNear(p remote.Peer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, isHeard := d.lastAsked[p.Key.Sign]
	return isHeard && time.Since(at) < reachableFor
}

func (d *devices) wakes(p remote.Peer) bool {
	to := d.config().Remote.Phone.Push
	return to != "" && d.push != nil && (to != config.PushWeb || d.push.Has(p.Key.Sign))
}

// wake tells the devices that a request is pending, and nothing about it.
func (d *devices) wake(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, wakePatience)
	defer cancel()
	server, _ := d.current()
	var err error
	switch to := d.config().Remote.Phone.Push; {
	case to == "" || server == nil || d.push == nil:
	case to == config.PushWeb:
		err = d.push.Wake(ctx, func(key string) bool { _, isPaired := d.Find(key); return isPaired })
	default:
		if slices.ContainsFunc(d.book.Peers(), func(p remote.Peer) bool { return p.Role == remote.RoleDevice }) {
			err = d.push.WakeByNtfy(ctx, to, server.URL(), lang.L("A prompt is waiting for you."))
		}
	}
	if err != nil {
		d.log.Warn("a device was not woken", "err", err)
	}
}

// About implements [device.Desk].
func (d *devices) About() device.About {
	language := assets.Language(d.config().Look.Language)
	return device.About{Name: hostName(), Version: d.version, Language: language}
}

// Find implements [device.Desk].
func (d *devices) Find(key string) (remote.Peer, bool) {
	p, isPaired := d.book.Find(remote.Key{Sign: key})
	return p, isPaired && p.Role == remote.RoleDevice
}

// Asked implements [device.Desk].
func (d *devices) Asked() {
	d.changed.Send()
	d.say(interact.Info, lang.L("A device asks to pair. Compare its words in nod's settings, under Machines and devices."))
}

// asking lists the device that asks to pair, if any, under the name in its invitation.
func (d *devices) asking() []operator.Joining {
	server, _ := d.current()
	if server == nil {
		return nil
	}
	p, since, ok := server.Asking()
	if !ok {
		return nil
	}
	return []operator.Joining{{
		Key: p.Key, Role: p.Role, Fingerprint: p.Key.Fingerprint(), Hello: remote.Hello{Name: p.Name},
		May: p.May, Came: since,
	}}
}

// pair admits the device with this key, which the user has compared.
func (d *devices) pair(key remote.Key, name string) error {
	server, err := d.current()
	if server == nil {
		return cmp.Or(err, errors.New("the phone page is off"))
	}
	if err := server.Admit(key.Sign, func(p remote.Peer) error { p.Name = name; return d.book.Add(p) }); err != nil {
		return fmt.Errorf("pair: %w", err)
	}
	d.log.Info("paired", "name", name, "fingerprint", key.Fingerprint())
	d.changed.Send()
	return nil
}

func (d *devices) noteAsked(p remote.Peer) {
	now := time.Now()
	d.mu.Lock()
	before, isKnown := d.lastAsked[p.Key.Sign]
	d.lastAsked[p.Key.Sign] = now
	d.mu.Unlock()
	if isKnown && now.Sub(before) < reachableFor {
		return
	}
	if err := d.book.Seen(p.Key, now, nil); err != nil {
		d.log.Warn("a device's last contact was not saved", "device", p.Name, "err", err)
	}
}

// PushKey implements [device.Desk].
func (d *devices) PushKey() string {
	if d.push == nil || d.config().Remote.Phone.Push != config.PushWeb {
		return ""
	}
	return d.push.Key()
}

// Subscribe implements [device.Desk].
func (d *devices) Subscribe(p remote.Peer, s device.Subscription) error {
	if d.PushKey() == "" {
		return device.Forbidden(lang.L("nod isn't set up to wake devices with Web Push."))
	}
	return d.push.Subscribe(p.Key.Sign, s)
}
