package asking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/assets"
	"nod/dialogs/prompt"
	"nod/interact"
	"nod/ipc/device"
	"nod/ipc/device/page"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/book"
	"nod/policy/config"
)

const (
	certificateName = "phone.pem"  // beside the list of peers
	pushName        = "phone.json" // the same: who is woken, and by what keys

	// reachableFor is how long after a device was heard of it counts as there, though nothing can wake it.
	reachableFor = time.Minute
	// wakePace is how often devices are woken at most.
	wakePace = 20 * time.Second
	// wakePatience is how long waking them may take.
	wakePatience = 30 * time.Second
)

// devices connects the person's devices with what is pending in the windows: they see it once it has waited for a while
// with nobody answering, and what they answer counts as if it came from there. It implements [device.Desk].
type devices struct {
	devicesConfig

	mu       sync.Mutex
	server   *device.Server // nil: no address is set
	problem  error          // why there is none though one is set
	watchers map[chan struct{}]struct{}
	heard    map[string]time.Time // when a device last asked, by key
	told     map[interact.ID]bool // for which devices were woken
	woken    time.Time            // when they last were
	timer    *time.Timer          // ends when something else is handed over, or devices may be woken again
}

// devicesConfig is what [devices] works with. All fields but transport are required.
type devicesConfig struct {
	log     *slog.Logger
	about   func() device.About
	folder  string       // where certificate and push keys are kept
	seal    []byte       // signs the certificate's file
	push    *device.Push // nil: its keys cannot be kept, so Web Push wakes nobody
	book    *book.Book
	config  func() config.Config
	pending func() []operator.Prompt // in the windows, also what waits in the tray
	answer  func(context.Context, operator.Answer) error
	say     func(interact.Level, string)
	changed func() // there is another page, or a device asks to be paired
}

func newDevices(c devicesConfig) *devices {
	return &devices{
		devicesConfig: c, watchers: map[chan struct{}]struct{}{}, heard: map[string]time.Time{},
		told: map[interact.ID]bool{},
	}
}

// openDevices reads what devices are woken by. Nothing is served yet.
func (d *Desk) openDevices() error {
	path, err := book.DefaultPath()
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	push, err := device.OpenPush(filepath.Join(folder, pushName), nil)
	if err != nil {
		d.log.Warn("Web Push wakes no device", "err", err)
		push = nil
	}
	d.devices = newDevices(devicesConfig{
		log: d.log, folder: folder, seal: d.store.SealKey(), push: push, book: d.book, config: d.store.Config,
		about: func() device.About {
			language := assets.Language(d.store.Config().Look.Language)
			return device.About{Name: hostName(), Version: d.cfg.Version, Language: language}
		},
		pending: d.windows.open, answer: d.windows.Answer, say: d.Say,
		changed: func() { operator.Signal(d.machines.changed) },
	})
	d.presence.elsewhere = d.devices.ready
	return nil
}

// run serves devices, where the configuration says, until ctx ends.
func (d *devices) run(ctx context.Context, changes <-chan struct{}) {
	peers, stop := d.book.Changes()
	defer stop()
	var served string
	end := func() {}
	for {
		if address := d.config().Remote.Phone.Address; address != served {
			end()
			served, end = address, d.serve(ctx, address)
		}
		d.look(ctx)
		select {
		case <-ctx.Done():
			end()
			return
		case <-changes:
		case <-peers:
		}
	}
}

// serve serves devices at an address; nowhere when that is empty. It returns what ends that.
func (d *devices) serve(ctx context.Context, address string) (end func()) {
	server, err := d.newServer(address)
	if err != nil {
		d.log.Error("devices are not served", "err", err)
	}
	d.mu.Lock()
	d.server, d.problem = server, err
	d.mu.Unlock()
	d.changed()
	if server == nil {
		return func() {}
	}
	serving, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Run(serving)
	}()
	return func() {
		cancel()
		<-ended
	}
}

func (d *devices) newServer(address string) (*device.Server, error) {
	if address == "" {
		return nil, nil
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || at.Addr().IsUnspecified() {
		return nil, fmt.Errorf("remote.phone.address: %q: want one address of this machine, with a port", address)
	}
	c, replaced, err := device.Certificate(filepath.Join(d.folder, certificateName), d.seal, at.Addr())
	if err != nil {
		return nil, err
	}
	if replaced {
		d.say(interact.Warning, lang.L("The page for phones has a new certificate. Accept it on a phone only if its "+
			"SHA-256 is the one in nod's settings, under Machines and devices."))
	}
	return device.New(device.Config{
		Address: at, Certificate: c, Page: page.Files, Desk: d, Log: d.log,
		ArmAfter: func() time.Duration { return max(d.config().Prompt.ArmAfter, minArmAfter) },
	}), nil
}

// minArmAfter is the shortest time for which a device shows what can be allowed, as in the windows.
const minArmAfter = 700 * time.Millisecond

func (d *devices) current() (*device.Server, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.server, d.problem
}

// phone is how devices reach this desk, for the settings.
func (d *devices) phone() operator.Phone {
	var all operator.Phone
	addresses, err := device.Addresses()
	if err != nil {
		d.log.Warn("the addresses of this machine are not known", "err", err)
	}
	for _, a := range addresses {
		all.Addresses = append(all.Addresses,
			operator.Address{IP: a.IP.String(), Interface: a.Interface, Private: a.Private})
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

// invite has one device ask to be paired.
func (d *devices) invite(name string, may remote.May) (operator.Invitation, error) {
	server, problem := d.current()
	if server != nil {
		problem = server.Problem()
	}
	if _, isThere := d.book.Named(name); isThere {
		return operator.Invitation{}, fmt.Errorf("%q is the name of another: pick one that none has", name)
	}
	_, changed := d.book.Problem()
	err := cmp.Or(changed, book.CheckName(name))
	switch {
	case err != nil:
		return operator.Invitation{}, err
	case problem != nil:
		return operator.Invitation{}, fmt.Errorf("no device reaches nod: %w", problem)
	case server == nil:
		return operator.Invitation{}, errors.New("the page for phones is off: pick an address for it first")
	}
	url, until := server.Invite(name, may)
	return operator.Invitation{URL: url, Until: until}, nil
}

// withdrawInvitation has the invitation that was made last let in nobody any more.
func (d *devices) withdrawInvitation() {
	if server, _ := d.current(); server != nil {
		server.Withdraw()
		d.changed()
	}
}

// ready reports whether a device can answer in the person's place: one was heard of a moment ago, or can be woken.
func (d *devices) ready() bool {
	if server, _ := d.current(); server == nil || server.Problem() != nil {
		return false
	}
	return slices.ContainsFunc(d.book.Peers(), func(p remote.Peer) bool {
		return p.Role == remote.RoleDevice && (d.isNear(p) || d.wakes(p))
	})
}

// isNear reports whether a device was heard of a moment ago.
func (d *devices) isNear(p remote.Peer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, isHeard := d.heard[p.Key.Sign]
	return isHeard && time.Since(at) < reachableFor
}

// wakes reports whether something wakes a device.
func (d *devices) wakes(p remote.Peer) bool {
	switch d.config().Remote.Phone.Push {
	case "":
		return false
	case config.PushWeb:
		return d.push != nil && d.push.Has(p.Key.Sign)
	}
	return true
}

// handedOver lists what devices see: what has waited long enough, and was not put off.
func (d *devices) handedOver() []operator.Prompt {
	return slices.DeleteFunc(d.pending(), func(p operator.Prompt) bool { return d.handsOverIn(p) > 0 })
}

// handsOverIn is when a prompt is handed over.
func (d *devices) handsOverIn(p operator.Prompt) time.Duration {
	times := interact.TimesOf(*p.Request, time.Now())
	return max(d.config().Remote.HandOver-times.Age, times.Snoozed)
}

// look hands over what has waited long enough, and looks again when something else has. It does not block.
func (d *devices) look(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	pending := d.pending()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if ctx.Err() != nil {
		return
	}
	next, told, fresh := time.Duration(0), map[interact.ID]bool{}, false
	again := func(in time.Duration) {
		if next == 0 || in < next {
			next = in
		}
	}
	for _, p := range pending {
		wait := d.handsOverIn(p)
		switch {
		case wait > 0:
			again(wait)
		case d.told[p.ID]:
			told[p.ID] = true
		default:
			fresh = true
		}
	}
	if wait := wakePace - time.Since(d.woken); fresh && d.server != nil {
		if wait > 0 && !d.woken.IsZero() {
			again(wait)
		} else {
			d.woken = time.Now()
			go d.wake(ctx)
			for _, p := range pending {
				told[p.ID] = told[p.ID] || d.handsOverIn(p) <= 0
			}
		}
	}
	d.told = told
	if next > 0 {
		d.timer = time.AfterFunc(next, func() { d.look(ctx) })
	}
	for c := range d.watchers {
		operator.Signal(c)
	}
}

// wake tells the devices that something waits, and no more than that.
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
			err = d.push.WakeByNtfy(ctx, to, server.URL(), lang.L("Something is waiting for your answer."))
		}
	}
	if err != nil {
		d.log.Warn("a device was not woken", "err", err)
	}
}

// About implements [device.Desk].
func (d *devices) About() device.About { return d.about() }

// Find implements [device.Desk].
func (d *devices) Find(key string) (remote.Peer, bool) {
	p, isPaired := d.book.Find(remote.Key{Sign: key})
	return p, isPaired && p.Role == remote.RoleDevice
}

// Asked implements [device.Desk].
func (d *devices) Asked() {
	d.changed()
	d.say(interact.Info, lang.L("A device asks to be paired. Compare its words in nod's settings, under Machines and "+
		"devices."))
}

// asking lists the device that asks to be paired, if one does, under the name that it was invited by.
func (d *devices) asking() []operator.Joining {
	server, _ := d.current()
	if server == nil {
		return nil
	}
	p, came, ok := server.Asking()
	if !ok {
		return nil
	}
	return []operator.Joining{{
		Key: p.Key, Role: p.Role, Fingerprint: p.Key.Fingerprint(), Hello: remote.Hello{Name: p.Name}, May: p.May, Came: came,
	}}
}

// pair lets in the device with that key, which the person has compared.
func (d *devices) pair(key remote.Key, name string) error {
	server, err := d.current()
	if server == nil {
		return cmp.Or(err, errors.New("the page for phones is off"))
	}
	if err := server.Admit(key.Sign, func(p remote.Peer) error { p.Name = name; return d.book.Add(p) }); err != nil {
		return fmt.Errorf("pair: %w", err)
	}
	d.log.Info("paired", "name", name, "fingerprint", key.Fingerprint())
	d.changed()
	return nil
}

// Changes implements [device.Desk].
func (d *devices) Changes() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watchers[c] = struct{}{}
	return c, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers, c)
	}
}

// Prompts implements [device.Desk].
func (d *devices) Prompts(p remote.Peer) []device.Headline {
	d.hear(p)
	now, all := time.Now(), []device.Headline{}
	for _, one := range d.handedOver() {
		h, times := headlineOf(one, p.May), interact.TimesOf(*one.Request, now)
		h.AgeMS, h.LeftMS = times.Age.Milliseconds(), max(times.Left.Milliseconds(), 0)
		all = append(all, h)
	}
	return all
}

// hear takes note that a device is there.
func (d *devices) hear(p remote.Peer) {
	now := time.Now()
	d.mu.Lock()
	before, isKnown := d.heard[p.Key.Sign]
	d.heard[p.Key.Sign] = now
	d.mu.Unlock()
	if isKnown && now.Sub(before) < reachableFor {
		return
	}
	if err := d.book.Seen(p.Key, now, nil); err != nil {
		d.log.Warn("when a device was seen is not kept", "device", p.Name, "err", err)
	}
}

func (d *devices) find(id interact.ID) (operator.Prompt, error) {
	handed := d.handedOver()
	i := slices.IndexFunc(handed, func(p operator.Prompt) bool { return p.ID == id })
	if i < 0 {
		return operator.Prompt{}, device.Gone()
	}
	return handed[i], nil
}

// View implements [device.Desk].
func (d *devices) View(_ context.Context, p remote.Peer, id interact.ID) (device.View, error) {
	one, err := d.find(id)
	if err != nil {
		return device.View{}, err
	}
	return deviceView(one, p.May), nil
}

// Answer implements [device.Desk].
func (d *devices) Answer(ctx context.Context, p remote.Peer, id interact.ID, a interact.Answer) error {
	one, err := d.find(id)
	if err != nil {
		return err
	}
	if err := one.Request.Check(a); err != nil {
		return invalid(*one.Request, err)
	}
	if b, ok := one.Request.Body.(interact.Approve); ok {
		a.ShownSHA256 = interact.Digest(b.Input)
	}
	if a.Outcome == interact.Dismissed {
		a.Reason = "the person declined to answer"
	}
	a.Device = p.Name
	switch err := d.answer(ctx, operator.Answer{ID: id, Answer: a}); {
	case errors.Is(err, operator.ErrGone):
		return device.Gone()
	case errors.Is(err, operator.ErrChanged):
		return device.Changed()
	case err != nil:
		return fmt.Errorf("answer from %s: %w", p.Name, err)
	}
	d.log.Info("answered on a device", "device", p.Name, "id", id, "outcome", a.Outcome)
	return nil
}

// invalid says what is wrong with an answer as the windows do.
func invalid(r interact.Request, err error) error {
	if missing, ok := errors.AsType[*interact.MissingError](err); ok {
		return device.Invalid(lang.L("This needs an answer."), missing.ID)
	}
	wrong, ok := errors.AsType[*interact.InvalidError](err)
	if !ok {
		return device.Invalid(err.Error(), "")
	}
	why := lang.L("This {{.Problem}}.", map[string]any{"Problem": lang.L(wrong.Problem)})
	if f, isForm := r.Body.(interact.Form); isForm {
		i := slices.IndexFunc(f.Questions, func(q interact.Question) bool { return q.ID == wrong.ID })
		if i >= 0 {
			why = cmp.Or(prompt.HintOf(f.Questions[i]), why)
		}
	}
	return device.Invalid(why, wrong.ID)
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
		return device.Forbidden(lang.L("nod is not set to wake devices by Web Push."))
	}
	return d.push.Subscribe(p.Key.Sign, s)
}
