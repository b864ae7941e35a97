package asking

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"
	"github.com/google/uuid"

	"nod/api"
	"nod/interact"
	"nod/ipc/remote"
	"nod/policy"
)

// Limits of what machines may ask.
const (
	maxAsked        = interact.MaxPending / 2 // pending requests of all machines …
	maxAskedBytes   = 16 << 20                // … and their size in memory
	minSize         = 1 << 10                 // of each, besides its text
	keptEnded       = 1024                    // ended requests that are known if they are sent again
	maxReported     = 300 << 10               // bytes of files that a relay reports with one request …
	maxReportedAll  = 1 << 20                 // … and with everything else but the input
	maxReportedList = 500                     // risks, files, parts and offers, each
)

const (
	deadlineSlack   = 2 * time.Second        // after the deadline, for the relay to say how the request ended
	askAgainAfter   = 5 * time.Second        // after the user could not be asked
	recordAgain     = 5 * time.Second        // after the journal could not record an outcome
	commitFirst     = 250 * time.Millisecond // pause after an answer could not be sent; doubled each time …
	commitMost      = 5 * time.Second        // … up to this
	closingCommit   = 700 * time.Millisecond // how long nod waits, when it ends, for relays to take answers
	resendTime      = 30 * time.Second       // how long an answer from before a restart is sent at least
	deliverPatience = 5 * time.Second        // how long the windows wait for a relay to take an answer
)

// The reasons in the journal why a machine's request ended without an answer from here.
const (
	reasonRevoked   = "the machine was revoked before anybody answered"
	reasonElsewhere = "it was answered on another desk first"
	reasonAtMachine = "the machine needs no answer any more"
	reasonNoAnswer  = "nobody answered in time"
	reasonGone      = "the caller went away before anybody answered"
	reasonNotTaken  = "the machine did not take the answer"
)

var (
	errUnpaired      = errors.New("the machine was revoked")
	errDeviceRevoked = errors.New("the device that answered was revoked")
)

// remoteRequest is a pending request of a machine. The broker of its relay owns it: an answer counts once the relay has
// taken it.
type remoteRequest struct {
	peer   remote.Peer
	id     interact.ID // at the relay
	digest string      // of the request as it was sent: an answer is bound to it
	// request is what the user is asked. Its ID is that of its record here; its IdempotencyKey is id.
	request interact.Request
	why     policy.Decision
	size    int             // approximate size in memory, in bytes
	ctx     context.Context // ends with the request
	end     context.CancelCauseFunc
	done    chan struct{} // closed when the request has left the list

	// Guarded by machines.mu:
	snoozed time.Time        // the user wants to be asked again then
	sent    interact.Answer  // the user's answer, which the relay may not have taken yet; no outcome: none
	ended   *interact.Answer // how it ended, as the relay says; nil: it has not
	result  interact.Answer  // recorded in the journal; set before done is closed

	writing    sync.Mutex // held while the journal is written, and guards all below
	inFile     bool       // the journal has it as pending
	isRecorded bool       // the journal has what came of it
}

// recordID returns the ID of a machine's request at this desk: the same each time, and different from any other. use
// distinguishes the records that one request can have.
func recordID(use string, machine remote.Key, id interact.ID) interact.ID {
	space := sha256.Sum256([]byte(machine.Sign))
	return interact.ID(uuid.NewHash(sha256.New(), uuid.UUID(space[:16]), []byte(use+string(id)), 8).String())
}

// useAsked is the use for records of requests that the user was asked about.
const useAsked = "asked "

// Take implements [remote.Desk]. The error wraps [interact.ErrUnavailable] while the user would not be asked here.
func (m *machines) Take(from remote.Peer, sent remote.Request) error {
	peer, ok := m.machine(from.Key)
	if !ok {
		return remote.ErrNotPaired
	}
	r, err := taken(peer, sent)
	if err != nil {
		return err
	}
	if r.Body.Kind() == api.KindNotify && !m.limitsOf(peer.Key).notices.Allow() {
		return errors.New("too many notices")
	}
	one := &remoteRequest{peer: peer, id: sent.Request.ID, digest: sent.Digest(), request: r, size: len(sent.Text)}
	if isNew, err := m.enter(one, time.Until(r.Until)); err != nil || !isNew {
		return err
	}
	room := m.limitsOf(peer.Key).requests
	switch {
	case !room.AllowN(time.Now(), min(one.size, room.Burst())): // otherwise it could fill the history
		m.leave(one)
		return &interact.BusyError{RetryAfter: 5 * time.Second}
	case m.silences(r):
		m.leave(one)
		m.miss(peer, sent.Request.ID, r)
		return fmt.Errorf("%w right now", interact.ErrUnavailable)
	}
	go m.run(one)
	return nil
}

// taken returns a machine's request in the form in which the user is asked about it.
func taken(peer remote.Peer, sent remote.Request) (interact.Request, error) {
	r, now := sent.Request, time.Now()
	r.Body = interact.Normalize(r.Body)
	isRead, rest := true, len(sent.Text)
	if approve, isApproval := r.Body.(interact.Approve); isApproval {
		rest -= base64.StdEncoding.EncodedLen(len(approve.Input))
		approve = approve.Keep()
		r.Body = approve
		call := approve.Call(r.Requester)
		isRead = call.Input.IsObject()
	}
	switch {
	case uuid.Validate(string(r.ID)) != nil:
		return r, &interact.ParamError{Param: "id", Problem: "want a UUID"}
	case sent.Times.Left <= 0:
		return r, &interact.ParamError{Param: "times.left", Problem: "its time is over"}
	case r.Reported != nil && (rest > maxReportedAll || !isPlausible(r.Reported)):
		return r, &interact.ParamError{Param: "reported", Problem: "there is too much of it"}
	case !isRead:
		return r, &interact.ParamError{Param: "input", Problem: "want a JSON object"}
	}
	r.ID, r.IdempotencyKey = recordID(useAsked, peer.Key, r.ID), string(r.ID)
	r.Requester.Machine, r.Requester.Title = peer.Name, ""
	r.Timeout = min(sent.Times.Left+deadlineSlack, interact.MaxTimeout)
	r.Patience = r.Timeout
	r.Created, r.Deadline, r.Until, r.Snoozed = now, now.Add(r.Timeout), now.Add(r.Timeout), time.Time{}
	return r, r.Validate()
}

// isPlausible reports whether r is no larger than what a relay would send.
func isPlausible(r *interact.Reported) bool {
	size := 0
	for _, f := range r.Files {
		size += len(f.Text) + len(f.Path) + len(f.Problem)
	}
	return size <= maxReported &&
		max(len(r.Files), len(r.Risks), len(r.Offers.Parts), len(r.Offers.Grants)) <= maxReportedList
}

// enter adds a request to the list, where it stays for at most left. A request that is or was on the list is not new.
func (m *machines) enter(one *remoteRequest, left time.Duration) (isNew bool, err error) {
	one.size, one.done = one.size+minSize, make(chan struct{})
	if r := one.request.Reported; r != nil {
		one.why = r.Why
	}
	one.why.Effect = policy.Ask // the relay's policy has judged it
	m.mu.Lock()
	defer m.mu.Unlock()
	id := one.request.ID
	if other := m.asked[id]; other != nil {
		if other.digest != one.digest {
			return false, &interact.ParamError{Param: "id", Problem: "it is that of another request"}
		}
		return false, nil
	}
	bytes := one.size
	for _, other := range m.asked {
		bytes += other.size
	}
	switch {
	case slices.Contains(m.ended, id):
		return false, nil
	case m.life.Err() != nil:
		return false, interact.ErrClosing
	case m.askedBy(one.peer.Key) >= interact.MaxPendingPerRequester, len(m.asked) >= maxAsked,
		len(m.asked) > 0 && bytes > maxAskedBytes:
		return false, &interact.BusyError{Pending: len(m.asked), RetryAfter: 5 * time.Second}
	}
	ctx, cancel := context.WithTimeoutCause(m.life, left, interact.ErrTimedOut)
	one.ctx, one.end = context.WithCancelCause(ctx)
	context.AfterFunc(one.ctx, cancel)
	m.asked[id] = one
	m.prompts.Add(1)
	m.requestsChanged()
	return true, nil
}

// askedBy counts the requests of a machine. The caller holds m.mu.
func (m *machines) askedBy(machine remote.Key) (n int) {
	for _, one := range m.asked {
		if one.peer.Key == machine {
			n++
		}
	}
	return n
}

func (m *machines) leave(one *remoteRequest) {
	one.end(nil)
	m.mu.Lock()
	delete(m.asked, one.request.ID)
	m.mu.Unlock()
	m.requestsChanged()
	close(one.done)
	m.prompts.Done()
}

func (m *machines) requestsChanged() {
	m.requests.Send()
	m.changed.Send()
}

// run asks the user about a request and records the outcome. If nod ends meanwhile, the relay still has the request and
// the journal has the user's answer.
func (m *machines) run(one *remoteRequest) {
	defer m.leave(one)
	answer := m.outcome(one)
	if answer.Outcome == "" {
		return
	}
	answer.At = time.Now()
	if approve, isApproval := one.request.Body.(interact.Approve); isApproval {
		answer.ShownSHA256 = interact.Digest(approve.Input)
	}
	for err := m.record(one, answer); err != nil; err = m.record(one, answer) {
		m.log.Error("the journal does not record a machine's request", "id", one.request.ID, "err", err)
		select {
		case <-time.After(recordAgain):
		case <-m.life.Done():
			return
		}
	}
	m.log.Info("settled", "id", one.request.ID, "machine", one.peer.Name, "kind", one.request.Body.Kind(),
		"outcome", answer.Outcome, "by", answer.By)
	m.mu.Lock()
	defer m.mu.Unlock()
	one.result = answer
	m.ended = append(m.ended, one.request.ID)
	m.ended = m.ended[max(0, len(m.ended)-keptEnded):]
}

func (m *machines) record(one *remoteRequest, a interact.Answer) error {
	one.writing.Lock()
	defer one.writing.Unlock()
	r := interact.Record{Request: one.request, Why: one.why, Answer: a}
	r.Request.IdempotencyKey = ""
	err := m.journal.Settle(context.Background(), r)
	if one.isRecorded = err == nil || errors.Is(err, interact.ErrSettled); one.isRecorded {
		return nil
	}
	return err
}

// outcome returns the outcome of a request. It is empty if nod ends first.
func (m *machines) outcome(one *remoteRequest) interact.Answer {
	if one.request.Body.Kind() == api.KindNotify {
		return m.showNotice(one)
	}
	for {
		m.mu.Lock()
		answer := one.sent
		m.mu.Unlock()
		if answer.Outcome == "" {
			if answer = m.ask(one); answer.By != api.ByHuman {
				return answer
			}
			m.keepSent(one, answer)
		}
		if a, err := m.deliver(one, answer); err == nil {
			return a
		}
		m.keepSent(one, interact.Answer{}) // the device was revoked
	}
}

// showNotice passes a notice on, and tells the machine whether the desktop took it.
func (m *machines) showNotice(one *remoteRequest) interact.Answer {
	a := interact.Answer{Outcome: api.Answered, Sent: m.notify(one.ctx, one.request)}
	out := a
	out.At, out.Device = time.Now(), m.name
	if _, err := m.send(one, out); err != nil {
		m.log.Warn("a machine was not told that its notice was shown", "machine", one.peer.Name, "err", err)
	}
	return a
}

// ask asks the user until they answer or the request ends.
func (m *machines) ask(one *remoteRequest) interact.Answer {
	for {
		err := error(interact.ErrUnavailable)
		if one.ctx.Err() == nil && !m.silences(one.request) {
			var a interact.Answer
			if a, err = m.prompt(one); err == nil {
				return a
			}
		}
		switch {
		case one.ctx.Err() != nil:
			return m.endOf(one)
		case !errors.Is(err, interact.ErrUnavailable):
			m.log.Error("prompt", "id", one.request.ID, "err", err)
			return interact.Answer{Outcome: api.Unavailable, Reason: "nod could not show its window, so nobody was asked"}
		}
		select { // another desk may answer, or the user here be back
		case <-one.ctx.Done():
		case <-time.After(askAgainAfter):
		}
	}
}

// prompt asks the user once. The error wraps [interact.ErrUnavailable] if they cannot be asked now.
func (m *machines) prompt(one *remoteRequest) (a interact.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	r := one.request
	if a, err = m.prompter.Prompt(one.ctx, r, one.why); err != nil {
		return a, err
	}
	if err := r.Check(a); err != nil {
		return a, err
	}
	a.By = api.ByHuman
	return a, nil
}

// keepSent writes the user's answer to the journal before it is sent, so that it is sent again after a restart.
func (m *machines) keepSent(one *remoteRequest, a interact.Answer) {
	if err := m.keepPending(context.Background(), one, &a); err != nil {
		m.log.Error("an answer to a machine would not survive a restart", "id", one.request.ID, "err", err)
	}
	m.requestsChanged()
}

// keepPending writes a pending request and the user's answer to the journal. A sent that is not nil replaces the
// answer.
func (m *machines) keepPending(ctx context.Context, one *remoteRequest, sent *interact.Answer) error {
	one.writing.Lock()
	defer one.writing.Unlock()
	if one.isRecorded {
		return interact.ErrNotFound
	}
	m.mu.Lock()
	a := one.sent
	m.mu.Unlock()
	if sent != nil {
		a = *sent
		defer func() {
			m.mu.Lock()
			one.sent = a
			m.mu.Unlock()
		}()
	}
	record := interact.Record{Request: one.request, Why: one.why, Content: one.digest, Sent: a}
	if one.inFile {
		return m.journal.Update(ctx, record)
	}
	err := m.journal.Open(ctx, record)
	one.inFile = err == nil
	return err
}

// deliver sends an answer until the relay accepts it, and returns the answer that counts. The error is errDeviceRevoked
// if the answer is from a device that was revoked before then.
func (m *machines) deliver(one *remoteRequest, answer interact.Answer) (interact.Answer, error) {
	out := answer
	out.At, out.Device, out.Shown = time.Now(), cmp.Or(answer.Device, m.name), interact.Shown{}
	back, stop := m.back.Subscribe()
	defer stop()
	for wait := commitFirst; ; wait = min(2*wait, commitMost) {
		if answer.Device != "" && !m.isDevice(answer.Device) {
			return answer, errDeviceRevoked
		}
		settled, err := m.send(one, out)
		switch {
		case err == nil:
			return counts(answer, out, settled), nil
		case !errors.Is(err, remote.ErrDown):
			m.log.Error("a machine does not take an answer", "machine", one.peer.Name, "id", one.id, "err", err)
			m.undelivered(one)
			return interact.Answer{Outcome: api.Unavailable, Reason: reasonNotTaken}, nil
		}
		m.log.Warn("an answer waits for its machine", "machine", one.peer.Name, "id", one.id, "err", err)
		select {
		case <-one.ctx.Done():
			return m.endOfSent(one, answer, out), nil
		case <-back:
		case <-time.After(wait):
		}
	}
}

// endOfSent returns the outcome of a request that ended before its relay confirmed the answer.
func (m *machines) endOfSent(one *remoteRequest, answer, out interact.Answer) interact.Answer {
	m.mu.Lock()
	ended := one.ended
	m.mu.Unlock()
	if ended != nil {
		return counts(answer, out, *ended)
	}
	a := m.endOf(one)
	if a.Outcome == api.TimedOut {
		m.undelivered(one)
	}
	return a
}

// send sends an answer once. The error wraps [remote.ErrDown] while the machine cannot be reached.
func (m *machines) send(one *remoteRequest, a interact.Answer) (interact.Answer, error) {
	if _, isPaired := m.machine(one.peer.Key); !isPaired {
		return interact.Answer{}, remote.ErrNotPaired
	}
	line := m.lineTo(one.peer.Key)
	if line == nil {
		return interact.Answer{}, remote.ErrDown
	}
	return line.Commit(m.sending, one.peer.Key, remote.Answer{ID: one.id, Digest: one.digest, Answer: a})
}

// undelivered tells the user that their answer did not arrive in time.
func (m *machines) undelivered(one *remoteRequest) {
	m.say(interact.Warning, lang.L("Your answer did not reach {{.Machine}} in time, so it does not count.",
		map[string]any{"Machine": one.peer.Name}))
}

// counts returns the outcome of a request that the user answered with answer, sent as out, and that the relay settled
// with settled: the user's answer, if the relay says it accepted that. Nothing else that a machine says about the user
// counts.
func counts(answer, out, settled interact.Answer) interact.Answer {
	if settled.By == api.ByHuman && settled.Outcome == out.Outcome && settled.Device == out.Device {
		return answer
	}
	return elsewhere(settled)
}

func (m *machines) isDevice(name string) bool {
	peer, isPaired := m.book.Named(name)
	return isPaired && peer.Role == remote.RoleDevice
}

// endOf returns the outcome of a request that ended without an answer from here. It is empty if nod is ending.
func (m *machines) endOf(one *remoteRequest) interact.Answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch cause := context.Cause(one.ctx); {
	case cause == interact.ErrClosing:
		return interact.Answer{}
	case cause == errUnpaired:
		return interact.Answer{Outcome: api.Withdrawn, Reason: reasonRevoked}
	case one.ended != nil:
		return elsewhere(*one.ended)
	}
	return interact.Answer{Outcome: api.TimedOut, By: api.ByTimeout, Reason: reasonNoAnswer}
}

// elsewhere returns what the journal records for a request that was not answered here. It contains no text from the
// machine.
func elsewhere(settled interact.Answer) interact.Answer {
	switch {
	case settled.Outcome == api.TimedOut:
		return interact.Answer{Outcome: api.TimedOut, By: api.ByTimeout, Reason: reasonNoAnswer}
	case settled.Outcome == api.Cancelled:
		return interact.Answer{Outcome: api.Cancelled, Reason: reasonGone}
	case settled.By != api.ByHuman:
		return interact.Answer{Outcome: api.Withdrawn, Reason: reasonAtMachine}
	}
	return interact.Answer{Outcome: api.Withdrawn, Reason: reasonElsewhere}
}

// Open implements [remote.Desk].
func (m *machines) Open(from remote.Peer) []interact.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []interact.ID
	for _, one := range m.asked {
		if one.peer.Key == from.Key {
			ids = append(ids, one.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// End implements [remote.Desk].
func (m *machines) End(from remote.Peer, a remote.Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.asked[recordID(useAsked, from.Key, a.ID)]
	if one == nil || one.ctx.Err() != nil {
		return
	}
	one.ended = &a.Answer
	if a.Answer.Outcome == api.TimedOut {
		one.end(interact.ErrTimedOut) // so that it counts as an unanswered prompt
		return
	}
	one.end(context.Canceled)
}

// pending lists the requests that wait for the user's answer, in no order.
func (m *machines) pending() []interact.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []interact.Request
	for _, one := range m.asked {
		if one.sent.Outcome != "" || one.ctx.Err() != nil || one.request.Body.Kind() == api.KindNotify {
			continue
		}
		r := one.request
		if one.snoozed.After(time.Now()) {
			r.Snoozed = one.snoozed
		}
		list = append(list, r)
	}
	return list
}

// find returns a request on the list. The error is [interact.ErrNotFound].
func (m *machines) find(id interact.ID) (*remoteRequest, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.asked[id]; one != nil {
		return one, nil
	}
	return nil, interact.ErrNotFound
}

// Settled waits until the relay has accepted the answer to a request, but not for long: the journal keeps the answer
// until the relay can be reached. The error is [interact.ErrNotFound] or ctx's.
func (m *machines) Settled(ctx context.Context, id interact.ID) (interact.Answer, error) {
	one, err := m.find(id)
	if err != nil {
		return interact.Answer{}, err
	}
	select {
	case <-one.done:
	case <-time.After(deliverPatience):
	case <-ctx.Done():
		return interact.Answer{}, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if one.result.Outcome != "" {
		return one.result, nil
	}
	return one.sent, nil
}

// Snooze hides a request for a while. Its deadline, which the relay sets, stays the same. The error wraps
// [interact.ErrNotFound] or [interact.ErrImpatient].
func (m *machines) Snooze(id interact.ID, d time.Duration) error {
	one, err := m.find(id)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	until := time.Now().Add(d)
	if !until.Before(one.request.Until) {
		return fmt.Errorf("snooze for %s: %w", d, interact.ErrImpatient)
	}
	one.snoozed = until
	m.requestsChanged()
	time.AfterFunc(d, m.requestsChanged)
	return nil
}

// SaveDraft writes the user's unfinished answer to the journal. The error is [interact.ErrNotFound] if the request is
// not on the list.
func (m *machines) SaveDraft(ctx context.Context, id interact.ID, draft []byte) error {
	one, err := m.find(id)
	if err != nil {
		return err
	}
	if err := m.keepPending(ctx, one, nil); err != nil {
		return err
	}
	return m.journal.SaveDraft(ctx, id, draft)
}

// restore resumes a request that the user had begun to answer when nod ended, and sends the answer if they gave one.
func (m *machines) restore(r interact.Record) {
	peer, isPaired := m.book.Named(r.Request.Requester.Machine)
	one := &remoteRequest{
		peer: peer, id: interact.ID(r.Request.IdempotencyKey), digest: r.Content, request: r.Request,
		sent: r.Sent, inFile: true, size: interact.SizeOf(r.Request),
	}
	isSame := isPaired && recordID(useAsked, peer.Key, one.id) == r.Request.ID // and not another one of that name
	left := min(time.Until(r.Request.Until), interact.MaxTimeout)
	if !isSame || r.Sent.Outcome != "" {
		left = max(left, resendTime)
	}
	if !isSame {
		one.sent = interact.Answer{}
	}
	isNew, err := m.enter(one, left)
	if err != nil || !isNew {
		m.log.Error("a machine's request is not restored", "id", r.Request.ID, "err", err)
		return
	}
	if !isSame {
		one.end(errUnpaired)
	}
	go m.run(one)
}

// hasEnded notes a request that was recorded before nod ended.
func (m *machines) hasEnded(id interact.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = append(m.ended, id)
}

// Close ends all prompts. Answers being sent get a moment to arrive; the next nod sends the rest.
func (m *machines) Close() {
	m.mu.Lock() // so that no request comes once Wait has begun
	m.endLife(interact.ErrClosing)
	m.mu.Unlock()
	late := time.AfterFunc(closingCommit, m.endSending)
	defer late.Stop()
	m.prompts.Wait()
}

// miss records a request that the user here was not asked about. Its machine and other desks decide its outcome.
func (m *machines) miss(peer remote.Peer, id interact.ID, r interact.Request) {
	record := interact.Record{Request: r, Answer: interact.Answer{
		Outcome: api.Unavailable, Reason: "nobody at this desk was asked: nod was paused, or the user away",
	}}
	record.Request.ID = id
	if approve, isApproval := r.Body.(interact.Approve); isApproval {
		record.Answer.ShownSHA256 = interact.Digest(approve.Input)
	}
	if r.Reported != nil {
		record.Why = r.Reported.Why
	}
	if err := m.keep(peer.Key, ownRecord(peer, record, time.Now())); err != nil {
		m.log.Warn("a request that nobody was asked about is not in the journal", "machine", peer.Name, "err", err)
	}
}

// Keep implements [remote.Desk]. It records decisions of a relay's policy and nothing else: a machine cannot claim what
// a user answered. The error is an [*interact.BusyError] for a machine that reports too much.
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

// keep writes a machine's record to the journal, unless that machine has written too much lately.
func (m *machines) keep(machine remote.Key, r interact.Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep a machine's record: %w", err)
	}
	now := time.Now()
	limit := m.limitsOf(machine).records
	room := limit.ReserveN(now, min(len(text), limit.Burst()))
	if wait := room.DelayFrom(now); wait > 0 {
		room.CancelAt(now)
		return &interact.BusyError{RetryAfter: wait}
	}
	err = m.journal.Settle(context.Background(), r)
	if err != nil {
		room.CancelAt(now)
	}
	if errors.Is(err, interact.ErrSettled) { // it was reported before
		return nil
	}
	return err
}

// kept returns the journal record of a decision by a machine's policy.
func kept(peer remote.Peer, r interact.Record, now time.Time) (interact.Record, error) {
	approve, isApproval := r.Request.Body.(interact.Approve)
	isDecision := r.Answer.Outcome == api.Allowed || r.Answer.Outcome == api.Denied
	switch {
	case uuid.Validate(string(r.Request.ID)) != nil:
		return r, errors.New("its id is not a UUID")
	case !isApproval || !isDecision || r.Answer.By != api.ByPolicy:
		return r, errors.New("it is not a policy decision")
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

// ownRecord returns a machine's record in the form for this journal, under an ID of this desk.
func ownRecord(peer remote.Peer, r interact.Record, now time.Time) interact.Record {
	own := interact.Record{Request: r.Request, Why: r.Why, Answer: r.Answer}
	own.Request.ID = recordID("", peer.Key, r.Request.ID)
	own.Request.IdempotencyKey, own.Request.Reported = "", nil
	own.Request.Requester.Machine, own.Request.Requester.Title = peer.Name, ""
	own.Request.Snoozed, own.Answer.Device, own.Answer.Shown = time.Time{}, "", interact.Shown{}
	for _, t := range []*time.Time{&own.Request.Created, &own.Answer.At} { // by the machine's clock
		if t.IsZero() || t.After(now) {
			*t = now
		}
	}
	return own
}
