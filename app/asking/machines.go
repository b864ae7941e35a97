package asking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"
	"golang.org/x/time/rate"

	"nod/changes"
	"nod/dialogs/safetext"
	"nod/interact"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/book"
)

// Limits on what nod keeps and shows for machines.
const (
	maxWantedDesks = 8                // of one machine
	maxJoining     = 32               // keys that ask to join and are remembered
	joiningFor     = 10 * time.Minute // after its last attempt a key no longer asks to join
	joiningPace    = time.Minute      // between two warnings that something asks to join
	otherDeskPace  = 10 * time.Minute // between two warnings that a machine has another desk
	maxDesksShown  = 64
	maxClaim       = 60               // characters of what a machine says about itself
	historyShare   = 20               // part of the history that machines may add a day, by reports and requests each
	noticeBurst    = 5                // notices of a machine that are shown at once …
	noticeEvery    = 30 * time.Second // … and the pause between further ones
)

// machines is this desk's side of the connections with other machines. It lists their pending requests, asks the user
// about them, and sends the answers; the brokers of their relays own the requests. It never looks up on this machine
// what a request names.
type machines struct {
	machinesConfig
	changed  changes.Signal // a machine came or went, something asks to join, or requests was sent
	requests changes.Signal // other requests are pending, or one is snoozed
	back     changes.Source // a machine has connected

	life       context.Context // ends when nod does
	endLife    context.CancelCauseFunc
	sending    context.Context // ends a little later: answers are being sent
	endSending context.CancelFunc
	prompts    sync.WaitGroup // requests in asked
	runs       sync.WaitGroup // lines

	mu      sync.Mutex
	lines   map[string]*machineLine // by name
	online  map[string]*connected   // by the machine's key; also those that were connected
	joining []joining               // the newest first
	asked   map[interact.ID]*remoteRequest
	ended   []interact.ID          // of asked, the oldest first
	serial  uint64                 // of the policy that machines were told last
	limits  map[string]*peerLimits // by the machine's key
	warned  time.Time              // when the user was last warned that something asks to join
}

// machinesConfig configures [machines]. All fields are required.
type machinesConfig struct {
	log      *slog.Logger
	name     string // of this desk, as others call it
	book     *book.Book
	journal  requestJournal
	prompter interact.Prompter
	silences func(interact.Request) bool                  // the user would not be asked
	notify   func(context.Context, interact.Request) bool // shows a notice
	policy   func() remote.Policy                         // for the machines; without its serial
	history  func() int64                                 // maximum size of the history in bytes
	say      func(level, sentence string)                 // notifies the user
	dial     func(lineSpec, remote.Desk) (remote.Line, error)
}

// requestJournal records the outcomes of requests and keeps unfinished answers.
type requestJournal interface {
	interact.Journal
	SaveDraft(ctx context.Context, id interact.ID, draft []byte) error
}

type connected struct {
	line  *machineLine
	hello remote.Hello
	isUp  bool
}

// joining is a key that is not paired.
type joining struct {
	operator.Joining
	tried time.Time // last
}

// peerLimits limit what one machine adds to the history, in bytes, and shows.
type peerLimits struct {
	records  *rate.Limiter // reports …
	requests *rate.Limiter // … and requests, which must not wait for a backlog of reports
	notices  *rate.Limiter
	warnings *rate.Limiter // that it has another desk
}

func newMachines(c machinesConfig) *machines {
	m := &machines{
		machinesConfig: c, changed: changes.NewSignal(), requests: changes.NewSignal(),
		lines: map[string]*machineLine{}, online: map[string]*connected{}, asked: map[interact.ID]*remoteRequest{},
		limits: map[string]*peerLimits{},
	}
	m.life, m.endLife = context.WithCancelCause(context.Background())
	m.sending, m.endSending = context.WithCancel(context.Background())
	return m
}

// lineDesk is the view that one line has of [machines].
type lineDesk struct {
	*machines
	line *machineLine
}

var _ remote.Desk = lineDesk{}

// Join implements [remote.Desk].
func (d lineDesk) Join(machine remote.Key, h remote.Hello) (remote.Peer, error) {
	if err := machine.Check(); err != nil {
		return remote.Peer{}, fmt.Errorf("a machine connects: %w", err)
	}
	h = plainHello(h)
	peer, ok := d.machine(machine)
	if !ok {
		d.asksToJoin(remote.RoleMachine, d.line.name(), machine, h)
		return remote.Peer{}, remote.ErrNotPaired
	}
	if err := d.book.Seen(machine, time.Now(), h.Desks); err != nil {
		d.log.Warn("a machine's last contact was not saved", "machine", peer.Name, "err", err)
	}
	d.mu.Lock()
	was := d.online[machine.Sign]
	isNew := was == nil || !was.isUp || was.line != d.line
	d.online[machine.Sign] = &connected{line: d.line, hello: h, isUp: true}
	d.mu.Unlock()
	d.back.Send()
	if len(peer.Desks) > 0 { // else it is here for the first time, and the settings list them
		d.warnOfDesks(peer, h.Desks)
	}
	d.wantDesks(peer, h.Wants)
	if isNew {
		d.log.Info("a machine is connected", "machine", peer.Name, "line", d.line.name(), "version", h.Version)
	}
	d.changed.Send()
	return peer, nil
}

// warnOfDesks warns the user if a machine accepts desks that it did not at its last connection.
func (m *machines) warnOfDesks(machine remote.Peer, desks []remote.Key) {
	for _, key := range desks {
		if !slices.Contains(machine.Desks, key) {
			if !m.limitsOf(machine.Key).warnings.Allow() {
				return // the user was just warned, and the settings list all
			}
			m.log.Warn("a machine takes answers from another desk", "machine", machine.Name, "desk", key.Fingerprint())
			m.say(interact.Warning, lang.L("{{.Machine}} now also takes answers from another desk. Its fingerprint is in "+
				"nod's settings, under Machines and devices.", map[string]any{"Machine": machine.Name}))
			return
		}
	}
}

// wantDesks adds the desks that a machine was asked to accept to the keys that ask to join, unless they are paired.
func (m *machines) wantDesks(machine remote.Peer, keys []remote.Key) {
	for _, key := range keys[:min(len(keys), maxWantedDesks)] {
		if _, isPaired := m.book.Find(key); !isPaired {
			m.asksToJoin(remote.RoleDesk, machine.Name, key, remote.Hello{})
		}
	}
}

func (m *machines) keys() []remote.Key { return m.paired(remote.RoleMachine) }

// Desks implements [remote.Desk].
func (m *machines) Desks() []remote.Key { return m.paired(remote.RoleDesk) }

func (m *machines) paired(role remote.Role) []remote.Key {
	keys := []remote.Key{}
	for _, peer := range m.book.Peers() {
		if peer.Role == role {
			keys = append(keys, peer.Key)
		}
	}
	return keys
}

func (m *machines) machine(key remote.Key) (remote.Peer, bool) {
	peer, ok := m.book.Find(key)
	return peer, ok && peer.Role == remote.RoleMachine
}

// plainHello returns h limited and escaped for display.
func plainHello(h remote.Hello) remote.Hello {
	for _, claim := range []*string{&h.Name, &h.User, &h.System, &h.Version} {
		*claim = safetext.Line(*claim, maxClaim)
	}
	for _, keys := range []*[]remote.Key{&h.Desks, &h.Wants} {
		first := (*keys)[:min(len(*keys), maxDesksShown)]
		*keys = slices.DeleteFunc(first, func(k remote.Key) bool { return k.Check() != nil })
	}
	return h
}

// asksToJoin adds a key to those that ask to join and warns the user, but not too often. A key that connects as a
// machine has proved to be one, whatever another machine says about it.
func (m *machines) asksToJoin(role remote.Role, line string, key remote.Key, h remote.Hello) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.IndexFunc(m.joining, func(j joining) bool { return j.Key == key }); i >= 0 {
		if one := &m.joining[i]; role == remote.RoleMachine || one.Role == role {
			one.Role, one.Hello, one.Line, one.tried = role, h, line, now
		}
		return
	}
	one := joining{tried: now, Joining: operator.Joining{
		Key: key, Role: role, Fingerprint: key.Fingerprint(), Hello: h, Line: line, Came: now,
	}}
	m.joining = slices.Insert(m.joining, 0, one)
	m.joining = m.joining[:min(len(m.joining), maxJoining)]
	m.log.Info("a key asks to join", "role", role, "line", line, "fingerprint", one.Fingerprint)
	m.changed.Send()
	if now.Sub(m.warned) >= joiningPace {
		m.warned = now
		go m.say(interact.Warning, lang.L("A machine or desk asks to join. Compare its fingerprint in nod's settings, "+
			"under Machines and devices."))
	}
}

// Leave implements [remote.Desk].
func (d lineDesk) Leave(machine remote.Key) {
	d.mu.Lock()
	if c := d.online[machine.Sign]; c != nil && c.line == d.line {
		c.isUp = false
	}
	d.mu.Unlock()
	d.changed.Send()
}

// limitsOf returns the limits of a machine. All paired machines share a part of the history a day.
func (m *machines) limitsOf(machine remote.Key) *peerLimits {
	day := max(1<<20, m.history()/historyShare/int64(max(1, len(m.keys()))))
	daily := func() *rate.Limiter { return rate.NewLimiter(rate.Limit(day)/rate.Limit(24*60*60), int(day)) }
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limits[machine.Sign] == nil {
		m.limits[machine.Sign] = &peerLimits{
			records: daily(), requests: daily(), notices: rate.NewLimiter(rate.Every(noticeEvery), noticeBurst),
			warnings: rate.NewLimiter(rate.Every(otherDeskPace), 1),
		}
	}
	return m.limits[machine.Sign]
}

// Policy implements [remote.Desk].
func (m *machines) Policy() (remote.Policy, error) {
	p := m.policy()
	digest, err := digestOf(p)
	if err == nil {
		p.Serial, err = m.book.Serial(digest, time.Now())
	}
	if err != nil {
		return p, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.serial = p.Serial
	return p, nil
}

// greet immediately tells all connected machines that they are paired, which other desks are, and what the policy is.
func (m *machines) greet() {
	for _, one := range m.made() {
		one.Greet()
	}
}

// made lists the lines that were created without an error.
func (m *machines) made() []*machineLine {
	m.mu.Lock()
	defer m.mu.Unlock()
	lines := slices.Collect(maps.Values(m.lines))
	return slices.DeleteFunc(lines, func(one *machineLine) bool { return one.Line == nil })
}

// lineTo returns the line that a machine last connected over or, if it has not connected yet, the line shared by all
// machines; nil if there is none.
func (m *machines) lineTo(key remote.Key) remote.Line {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.online[key.Sign]; c != nil && c.line.Line != nil {
		return c.line.Line
	}
	if shared := m.lines[operator.NATSLine]; shared != nil && shared.Line != nil {
		return shared.Line
	}
	return nil
}

func (m *machines) count() (n int) {
	keys := m.keys()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		if c := m.online[key.Sign]; c != nil && c.isUp {
			n++
		}
	}
	return n
}

// pair pairs a key that asks to join, in the role that the user was shown.
func (m *machines) pair(key remote.Key, role remote.Role, name string) error {
	m.mu.Lock()
	i := slices.IndexFunc(m.joining, func(j joining) bool { return j.Key == key })
	if i < 0 {
		m.mu.Unlock()
		return errors.New("this key no longer asks to join: have its machine ask again")
	}
	asks := m.joining[i]
	m.mu.Unlock()
	if asks.Role != role {
		return fmt.Errorf("this key now asks to join as a %s: compare it again", asks.Role)
	}
	if err := m.book.Add(remote.Peer{Name: name, Role: asks.Role, Key: key, Added: time.Now()}); err != nil {
		return fmt.Errorf("pair: %w", err)
	}
	m.mu.Lock()
	m.joining = slices.DeleteFunc(m.joining, func(j joining) bool { return j.Key == key })
	m.mu.Unlock()
	m.log.Info("paired", "name", name, "fingerprint", asks.Fingerprint)
	m.greet()
	m.changed.Send()
	return nil
}

// revoked ends the connections and requests of a peer that is no longer paired.
func (m *machines) revoked(peer remote.Peer) {
	m.log.Info("revoked", "name", peer.Name)
	for _, one := range m.made() { // it may be connected over several
		one.Drop(peer.Key)
	}
	m.mu.Lock()
	delete(m.online, peer.Key.Sign)
	delete(m.limits, peer.Key.Sign)
	for _, one := range m.asked {
		if one.peer.Key == peer.Key {
			one.end(errUnpaired)
		}
	}
	m.mu.Unlock()
	m.changed.Send()
}

// asking lists the keys that ask to join, the newest first.
func (m *machines) asking() []operator.Joining {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.joining = slices.DeleteFunc(m.joining, func(j joining) bool {
		_, isPaired := m.book.Find(j.Key)
		return isPaired || time.Since(j.tried) > joiningFor
	})
	return each(m.joining, func(j joining) operator.Joining { return j.Joining })
}

func digestOf(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	return interact.Digest(text), nil
}
