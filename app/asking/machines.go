package asking

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"
	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"nod/changes"
	"nod/dialogs/safetext"
	"nod/interact"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/book"
)

// Limits of what machines may have nod keep.
const (
	maxWantedDesks  = 8                       // of one machine
	maxJoining      = 32                      // keys that ask to join and are remembered
	joiningFor      = 10 * time.Minute        // after its last try a key no longer asks to join
	joiningPace     = time.Minute             // how often the person is told at most that something asks to join
	maxAsked        = interact.MaxPending / 2 // requests of machines that wait: agents here always find room …
	maxAskedBytes   = 16 << 20                // … also for what they hold
	maxDesksShown   = 64
	maxClaim        = 60        // characters of what a machine says of itself
	maxReported     = 300 << 10 // bytes of files that a relay reports with one request …
	maxReportedAll  = 1 << 20   // … and with all else that it reports
	maxReportedList = 500       // risks, files, parts and offers, each
	historyShare    = 20        // machines add no more than this part of the history a day, reports and
	//                                           requests each
	noticeBurst   = 5                // notices of a machine that are shown at once …
	noticeEvery   = 30 * time.Second // … and how often from then on
	deadlineSlack = 2 * time.Second  // after a relay's deadline, for its word on how that ended to come
)

// machines is this desk's end of what connects other machines with it. It takes their requests in, has the person
// asked, and gives the answers out: see [machines.Prompt]. Of what machines say of a request nothing is looked up here.
type machines struct {
	machinesConfig
	changed changes.Signal // another number of machines is connected, or others ask to join

	runs sync.WaitGroup // the lines

	mu       sync.Mutex
	lines    map[string]*machineLine // by what the configuration calls them
	online   map[string]*connected   // by the key by which a machine signs; also those that were connected
	joining  []joining               // the newest first
	asked    map[place]*remoteRequest
	back     chan struct{}            // closed when a machine is connected
	applied  map[string]applied       // by the key by which a machine signs: what it was told to apply
	keeping  map[string]*rate.Limiter // by the same, of bytes for the journal …
	taking   map[string]*rate.Limiter // … and of those of requests, which no backlog of the former holds up
	notices  map[string]*rate.Limiter // … and of notices
	joinSaid time.Time                // when the person was told last that something asks to join
}

// machinesConfig is what [machines] works with. All fields are required.
type machinesConfig struct {
	log      *slog.Logger
	name     string // of this desk, as others call it
	seal     []byte // the key that proves what was answered here
	book     *book.Book
	broker   func() *interact.Broker
	prompter interact.Prompter                                // asks the person
	silences func(interact.Request) bool                      // nobody would be asked
	notify   func(context.Context, interact.Request) bool     // passes on a notice
	settle   func(context.Context, interact.Record) error     // writes into the journal
	policy   func() remote.Policy                             // what machines are to apply; without its serial
	history  func() int64                                     // bytes that the history may have
	say      func(level interact.Level, sentence string)      // tells the person
	dial     func(lineSpec, remote.Desk) (remote.Line, error) // makes a line, which does not run yet
}

// connected is what is known of a machine that is connected, or was.
type connected struct {
	line  *machineLine
	hello remote.Hello
	isUp  bool
}

// joining is a key that nobody has paired yet.
type joining struct {
	operator.Joining
	tried time.Time // last
}

// applied is what a machine was told to apply, and by which line.
type applied struct {
	line   remote.Line
	serial uint64
}

// place is where a request came from: the key by which a machine signs, and the id that it has there.
type place struct {
	machine string
	id      interact.ID
}

// remoteRequest is a request of a machine that is pending here.
type remoteRequest struct {
	place
	size      int             // bytes that it holds, roughly
	digest    string          // to which the answer is bound
	over      chan struct{}   // closed when it has ended
	ended     interact.Answer // how, as the machine says
	isRevoked bool            // it ended because its machine was revoked
}

func newMachines(c machinesConfig) *machines {
	return &machines{
		machinesConfig: c, changed: changes.NewSignal(),
		lines: map[string]*machineLine{}, online: map[string]*connected{}, asked: map[place]*remoteRequest{},
		applied: map[string]applied{}, back: make(chan struct{}), keeping: map[string]*rate.Limiter{},
		taking: map[string]*rate.Limiter{}, notices: map[string]*rate.Limiter{},
	}
}

// lineDesk is [machines] as one line sees it.
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
		d.asksToJoin(remote.RoleMachine, d.line.name, machine, h)
		return remote.Peer{}, remote.ErrNotPaired
	}
	if err := d.book.Seen(machine, time.Now(), h.Desks); err != nil {
		d.log.Warn("when a machine was seen is not kept", "machine", peer.Name, "err", err)
	}
	d.mu.Lock()
	was := d.online[machine.Sign]
	isNew := was == nil || !was.isUp || was.line != d.line
	d.online[machine.Sign] = &connected{line: d.line, hello: h, isUp: true}
	close(d.back)
	d.back = make(chan struct{})
	d.mu.Unlock()
	if len(peer.Desks) > 0 { // else it is here for the first time, and the settings list them
		d.tellOfDesks(peer, h.Desks)
	}
	d.wantDesks(peer, h.Wants)
	if isNew {
		d.log.Info("a machine is connected", "machine", peer.Name, "line", d.line.name, "version", h.Version)
		d.apply(d.line.Line, peer)
	}
	d.changed.Send()
	return peer, nil
}

// tellOfDesks tells the person when a machine takes answers of another desk than when it was connected last.
func (m *machines) tellOfDesks(machine remote.Peer, desks []remote.Key) {
	for _, key := range desks {
		if !slices.Contains(machine.Desks, key) {
			m.log.Warn("a machine takes answers of another desk", "machine", machine.Name, "desk", key.Fingerprint())
			m.say(interact.Warning, lang.L("{{.Machine}} now takes answers of another desk, too. Its words are in nod's "+
				"settings, under Machines and devices.", map[string]any{"Machine": machine.Name}))
			return
		}
	}
}

// wantDesks remembers the desks that ask a machine to take their answers: that is for this desk's person to say, who
// pairs them. One that is paired already the machine learns of by itself.
func (m *machines) wantDesks(machine remote.Peer, keys []remote.Key) {
	for _, key := range keys[:min(len(keys), maxWantedDesks)] {
		if _, isPaired := m.book.Find(key); !isPaired {
			m.asksToJoin(remote.RoleDesk, machine.Name, key, remote.Hello{})
		}
	}
}

// keys lists the machines that are paired.
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

// machine is the paired machine with a key.
func (m *machines) machine(key remote.Key) (remote.Peer, bool) {
	peer, ok := m.book.Find(key)
	return peer, ok && peer.Role == remote.RoleMachine
}

// plainHello is what a machine says of itself, fit to be shown.
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

// asksToJoin remembers a key that nobody has paired, and tells the person, though not too often. A key that connects as
// a machine has proved that it is one: what another machine says, that it is a desk, does not count beside that.
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
	if now.Sub(m.joinSaid) >= joiningPace {
		m.joinSaid = now
		go m.say(interact.Warning, lang.L("A machine or a desk asks to join. Compare its fingerprint in nod's settings, "+
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

// Take implements [remote.Desk]. While nobody would be asked here the error wraps [interact.ErrUnavailable].
func (m *machines) Take(from remote.Peer, r remote.Request) error {
	peer, ok := m.machine(from.Key)
	if !ok {
		return remote.ErrNotPaired
	}
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	request, err := taken(peer, r, digest)
	if err != nil {
		return err
	}
	if request.Body != nil && request.Body.Kind() == interact.KindNotify && !m.noticeOf(peer.Key).Allow() {
		return fmt.Errorf("%w: too many notices", interact.ErrUnavailable)
	}
	one, isNew, err := m.enter(place{peer.Key.Sign, r.Request.ID}, digest, request.Size())
	if err != nil || !isNew {
		return err
	}
	room := m.limit(m.taking, peer.Key)
	if !room.AllowN(time.Now(), min(request.Size(), room.Burst())) { // else it rolls the history over
		m.leave(one)
		return &interact.BusyError{RetryAfter: 5 * time.Second}
	}
	if m.silences(request) {
		m.leave(one)
		m.miss(peer, request)
		return fmt.Errorf("%w here now", interact.ErrUnavailable)
	}
	ticket, err := m.broker().Begin(context.Background(), request)
	if err != nil {
		m.leave(one)
		return err
	}
	ticket.Detach()
	if _, isSettled := ticket.Answer(); isSettled { // it was answered before
		m.leave(one)
		return nil
	}
	go func() { // its prompt may be over already, and then nobody else does
		<-ticket.Done()
		m.leave(one)
	}()
	return nil
}

// taken is what the broker gets of a request that a machine sends.
func taken(peer remote.Peer, sent remote.Request, digest string) (interact.Request, error) {
	r := sent.Request
	switch {
	case uuid.Validate(string(r.ID)) != nil:
		return r, &interact.ParamError{Param: "id", Problem: "want a UUID"}
	case sent.Times.Left <= 0:
		return r, &interact.ParamError{Param: "times.left", Problem: "its time is over"}
	case !isPlausible(r.Reported):
		return r, &interact.ParamError{Param: "reported", Problem: "there is too much of it"}
	}
	r.Requester.Machine, r.Requester.Title = peer.Name, ""
	r.IdempotencyKey = reference(place{peer.Key.Sign, r.ID}, digest)
	r.Timeout = min(sent.Times.Left+deadlineSlack, interact.MaxTimeout)
	r.Patience = r.Timeout // it ends there, whatever the person puts off here
	return r, nil
}

// isPlausible reports whether r is no more than a relay sends.
func isPlausible(r *interact.Reported) bool {
	if r == nil {
		return true
	}
	size := 0
	for _, f := range r.Files {
		size += len(f.Text) + len(f.Path) + len(f.Problem)
	}
	return size <= maxReported && r.Size() <= maxReportedAll &&
		max(len(r.Files), len(r.Risks), len(r.Offers.Parts), len(r.Offers.Grants)) <= maxReportedList
}

// reference is the idempotency key of a machine's request. It says where the request came from and to what its answer
// is bound: the journal keeps it, so that both are known after a restart.
func reference(at place, digest string) string {
	return at.machine + "/" + string(at.id) + "/" + digest
}

func parseReference(text string) (at place, digest string, ok bool) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return place{}, "", false
	}
	return place{parts[0], interact.ID(parts[1])}, parts[2], true
}

// enter makes a request of a machine known. One that is known already is not new.
func (m *machines) enter(at place, digest string, size int) (one *remoteRequest, isNew bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one = m.asked[at]; one != nil {
		if one.digest != digest {
			return nil, false, &interact.ParamError{Param: "id", Problem: "it is that of another request"}
		}
		return one, false, nil
	}
	bytes := size
	for _, other := range m.asked {
		bytes += other.size
	}
	if m.waitingOf(at.machine) >= interact.MaxPendingPerRequester || len(m.asked) >= maxAsked ||
		len(m.asked) > 0 && bytes > maxAskedBytes {
		return nil, false, &interact.BusyError{Pending: len(m.asked), RetryAfter: 5 * time.Second}
	}
	one = &remoteRequest{place: at, size: size, digest: digest, over: make(chan struct{})}
	m.asked[at] = one
	m.changed.Send()
	return one, true, nil
}

// leave forgets a request of a machine that waits no longer.
func (m *machines) leave(one *remoteRequest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked[one.place] == one {
		delete(m.asked, one.place)
		m.changed.Send()
	}
}

// waitingOf counts the requests of a machine that wait. The caller holds m.mu.
func (m *machines) waitingOf(machine string) (n int) {
	for at := range m.asked {
		if at.machine == machine {
			n++
		}
	}
	return n
}

// Open implements [remote.Desk].
func (m *machines) Open(from remote.Peer) []interact.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []interact.ID
	for at := range m.asked {
		if at.machine == from.Key.Sign {
			ids = append(ids, at.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// End implements [remote.Desk].
func (m *machines) End(from remote.Peer, a remote.Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.asked[place{from.Key.Sign, a.ID}]; one != nil && !isOver(one) { // else the machine says it once more
		one.ended = a.Answer
		close(one.over)
	}
}

// Keep implements [remote.Desk]. What is no decision of a policy's is left out: a machine has no word on what a person
// said. Whoever sends too much is to come back later.
func (m *machines) Keep(from remote.Peer, decided []interact.Record) error {
	peer, ok := m.machine(from.Key)
	if !ok {
		return remote.ErrNotPaired
	}
	for _, r := range decided {
		own, err := kept(peer, r, time.Now())
		if err != nil {
			m.log.Warn("a record of a machine is left out", "machine", peer.Name, "err", err)
			continue
		}
		if err := m.keep(peer.Key, own); err != nil {
			return err
		}
	}
	return nil
}

// keep has the journal keep a machine's record, if the machine has not had it keep too much of late.
func (m *machines) keep(machine remote.Key, r interact.Record) error {
	text, err := json.Marshal(r) // as the journal has it: whatever a machine makes long counts
	if err != nil {
		return fmt.Errorf("keep a machine's record: %w", err)
	}
	now := time.Now()
	limit := m.limit(m.keeping, machine)
	room := limit.ReserveN(now, min(len(text), limit.Burst()))
	if wait := room.DelayFrom(now); wait > 0 {
		room.CancelAt(now)
		return &interact.BusyError{RetryAfter: wait}
	}
	err = m.settle(context.Background(), r)
	if err != nil {
		room.CancelAt(now)
	}
	if errors.Is(err, interact.ErrSettled) { // it was reported before
		return nil
	}
	return err
}

// limit is how much a machine adds to the journal in one of the two ways: all that are paired share a part of it a day.
func (m *machines) limit(of map[string]*rate.Limiter, machine remote.Key) *rate.Limiter {
	day := max(1<<20, m.history()/historyShare/int64(max(1, len(m.keys()))))
	m.mu.Lock()
	defer m.mu.Unlock()
	if of[machine.Sign] == nil {
		of[machine.Sign] = rate.NewLimiter(rate.Limit(day)/rate.Limit(24*60*60), int(day))
	}
	return of[machine.Sign]
}

// noticeOf is how often a machine has a notice shown.
func (m *machines) noticeOf(machine remote.Key) *rate.Limiter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notices[machine.Sign] == nil {
		m.notices[machine.Sign] = rate.NewLimiter(rate.Every(noticeEvery), noticeBurst)
	}
	return m.notices[machine.Sign]
}

// kept is a decision of a machine's policy as the journal has it.
func kept(peer remote.Peer, r interact.Record, now time.Time) (interact.Record, error) {
	approve, isApproval := r.Request.Body.(interact.Approve)
	isDecision := r.Answer.Outcome == interact.Allowed || r.Answer.Outcome == interact.Denied
	switch {
	case uuid.Validate(string(r.Request.ID)) != nil:
		return r, errors.New("its id is no UUID")
	case !isApproval || !isDecision || r.Answer.By != interact.ByPolicy:
		return r, errors.New("it is no decision of a policy")
	}
	checked := r.Request
	if len(approve.Input) == 0 && r.Answer.ShownSHA256 != "" { // it was too large to be sent
		approve.Input = json.RawMessage("{}")
		checked.Body = approve
	}
	if err := checked.Validate(); err != nil {
		return r, err
	}
	return ownRecord(peer, r, now), nil
}

// ownRecord is a machine's record as the journal has it. Its id is another than any here, and the same each time.
func ownRecord(peer remote.Peer, r interact.Record, now time.Time) interact.Record {
	space := sha256.Sum256([]byte(peer.Key.Sign))
	id := uuid.NewHash(sha256.New(), uuid.UUID(space[:16]), []byte(r.Request.ID), 8)
	own := interact.Record{Request: r.Request, Why: r.Why, Answer: r.Answer}
	own.Request.ID, own.Request.IdempotencyKey, own.Request.Reported = interact.ID(id.String()), "", nil
	own.Request.Requester.Machine, own.Request.Requester.Title = peer.Name, ""
	own.Request.Snoozed, own.Answer.Device, own.Answer.Shown = time.Time{}, "", interact.Shown{}
	for _, t := range []*time.Time{&own.Request.Created, &own.Answer.At} { // by the machine's clock
		if t.IsZero() || t.After(now) {
			*t = now
		}
	}
	return own
}

// miss has the journal know of a request about which nobody here was asked. What comes of it is between its machine and
// other desks.
func (m *machines) miss(peer remote.Peer, r interact.Request) {
	err := r.Validate()
	if err == nil {
		record := interact.Record{Request: r, Answer: interact.Answer{
			Outcome: interact.Unavailable, Reason: "nobody at this desk was asked: nod was paused, or the person away",
		}}
		if approve, isApproval := r.Body.(interact.Approve); isApproval {
			record.Answer.ShownSHA256 = interact.Digest(approve.Input)
		}
		if r.Reported != nil {
			record.Why = r.Reported.Why
		}
		err = m.keep(peer.Key, ownRecord(peer, record, time.Now()))
	}
	if err != nil {
		m.log.Warn("a request about which nobody was asked is not in the journal", "machine", peer.Name, "err", err)
	}
}

// push has every machine apply the policy as it is now.
func (m *machines) push() {
	for _, peer := range m.book.Peers() {
		if line := m.lineTo(peer.Key); peer.Role == remote.RoleMachine && line != nil {
			m.apply(line, peer)
		}
	}
}

// apply has a machine apply the policy as it is now, unless it was told already.
func (m *machines) apply(line remote.Line, peer remote.Peer) {
	p := m.policy()
	digest, err := digestOf(p)
	if err == nil {
		p.Serial, err = m.book.Serial(digest, time.Now())
	}
	if err != nil {
		m.log.Error("a machine is not told the policy", "machine", peer.Name, "err", err)
		return
	}
	now := applied{line, p.Serial}
	m.mu.Lock()
	isNew := m.applied[peer.Key.Sign] != now
	m.applied[peer.Key.Sign] = now
	m.mu.Unlock()
	if isNew {
		line.Apply(peer.Key, p)
	}
}

// forget has a machine end what was allowed there for longer than once.
func (m *machines) forget(ctx context.Context, name string) error {
	peer, ok := m.book.Named(name)
	line := m.lineTo(peer.Key)
	switch {
	case !ok || peer.Role != remote.RoleMachine:
		return fmt.Errorf("forget what was allowed on %q: %w", name, book.ErrUnknown)
	case line == nil:
		return fmt.Errorf("forget what was allowed on %s: %w", name, remote.ErrDown)
	}
	if err := line.Forget(ctx, peer.Key); err != nil {
		return fmt.Errorf("forget what was allowed on %s: %w", name, err)
	}
	return nil
}

// lineTo is the line over which a machine was connected last; before that, the one that all may come over. nil: none.
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

// count is how many paired machines are connected.
func (m *machines) count() (n int) {
	for _, p := range m.book.Peers() {
		m.mu.Lock()
		if c := m.online[p.Key.Sign]; p.Role == remote.RoleMachine && c != nil && c.isUp {
			n++
		}
		m.mu.Unlock()
	}
	return n
}

// pair lets in a key that asks to join.
func (m *machines) pair(key remote.Key, name string) error {
	m.mu.Lock()
	i := slices.IndexFunc(m.joining, func(j joining) bool { return j.Key == key })
	if i < 0 {
		m.mu.Unlock()
		return errors.New("this key does not ask to join any more: have its machine ask again")
	}
	asks := m.joining[i]
	m.mu.Unlock()
	if err := m.book.Add(remote.Peer{Name: name, Role: asks.Role, Key: key, Added: time.Now()}); err != nil {
		return fmt.Errorf("pair: %w", err)
	}
	m.mu.Lock()
	m.joining = slices.DeleteFunc(m.joining, func(j joining) bool { return j.Key == key })
	m.mu.Unlock()
	m.log.Info("paired", "name", name, "fingerprint", asks.Fingerprint)
	m.letIn(asks)
	m.changed.Send()
	return nil
}

// letIn has those who care look at once whether what asked to join may: the line of a machine, and all machines for a
// desk.
func (m *machines) letIn(asks joining) {
	m.mu.Lock()
	line := m.lines[asks.Line]
	lines := slices.Collect(maps.Values(m.lines))
	delete(m.applied, asks.Key.Sign) // the line has forgotten
	m.mu.Unlock()
	if asks.Role == remote.RoleDesk {
		for _, one := range lines {
			if one.Line != nil {
				one.Greet()
			}
		}
		return
	}
	if peer, ok := m.machine(asks.Key); ok && line != nil && line.Line != nil {
		m.apply(line.Line, peer)
	}
}

// settlePeers ends the time in which no peer counts, as [book.Book.Settle] does.
func (m *machines) settlePeers(seen []remote.Peer, accept bool) error {
	if err := m.book.Settle(seen, accept); err != nil {
		return err
	}
	m.mu.Lock()
	asking := slices.Clone(m.joining)
	m.mu.Unlock()
	for _, asks := range asking {
		m.letIn(asks)
	}
	m.changed.Send()
	return nil
}

// revoked ends what is left of a peer that is paired no longer.
func (m *machines) revoked(peer remote.Peer) {
	m.log.Info("revoked", "name", peer.Name)
	m.mu.Lock()
	lines := slices.Collect(maps.Values(m.lines))
	m.mu.Unlock()
	for _, one := range lines { // it may be connected over several
		if one.Line != nil {
			one.Drop(peer.Key)
		}
	}
	m.mu.Lock()
	delete(m.online, peer.Key.Sign)
	delete(m.applied, peer.Key.Sign)
	delete(m.keeping, peer.Key.Sign)
	delete(m.taking, peer.Key.Sign)
	delete(m.notices, peer.Key.Sign)
	m.mu.Unlock()
	m.mu.Lock()
	for at, one := range m.asked {
		if at.machine == peer.Key.Sign && !isOver(one) {
			one.isRevoked = true
			close(one.over)
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
	list := make([]operator.Joining, len(m.joining))
	for i, j := range m.joining {
		list[i] = j.Joining
	}
	return list
}

// digestOf is the same for policies that say the same.
func digestOf(p remote.Policy) (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("digest of the policy: %w", err)
	}
	return interact.Digest(text), nil
}
