package asking

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/interact"
	"nod/ipc/remote"
	"nod/policy"
)

const (
	askAgainAfter = 5 * time.Second        // after nobody could be asked about a machine's request
	commitFirst   = 250 * time.Millisecond // after an answer could not be sent; then twice as long each time …
	commitMost    = 5 * time.Second        // … up to this
	closingCommit = 700 * time.Millisecond // how long nod waits, when it ends, for a machine to take an answer
)

// Why a request of a machine ends here without an answer; for the journal.
const (
	reasonRevoked   = "the machine was revoked before anybody answered"
	reasonElsewhere = "it was answered on another desk first"
	reasonAtMachine = "the machine needs no answer any more"
	reasonNoAnswer  = "nobody answered in time"
	reasonGone      = "the caller went away before anybody answered"
)

// Prompt implements [interact.Prompter]: it stands between the broker and whoever asks the person. What the person says
// about a request of a machine is sent there first, and counts only when the machine has taken it; what it says then is
// the answer, here too. A machine that cannot be reached is tried until the request's time is over. When nod ends
// meanwhile, the request is asked again by the next nod: the machine keeps the answer that it took first.
func (m *machines) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	if !r.Requester.IsRemote() {
		return m.prompter.Prompt(ctx, r, why)
	}
	at, digest, ok := parseReference(r.IdempotencyKey)
	if !ok {
		return interact.Answer{}, fmt.Errorf("request %s of %s: it is not known where it came from",
			r.ID, r.Requester.Machine)
	}
	one, _, err := m.enter(at, digest, r.Size())
	if err != nil {
		return interact.Answer{}, fmt.Errorf("%w: %w", interact.ErrUnavailable, err)
	}
	defer m.leave(one)
	peer, isPaired := m.book.Named(r.Requester.Machine)
	if !isPaired || peer.Key.Sign != at.machine {
		return interact.Answer{Outcome: interact.Withdrawn, Reason: reasonRevoked}, nil
	}
	for {
		a, err := m.askAndSend(ctx, one, peer, r, why)
		if !errors.Is(err, errDeviceRevoked) {
			return a, err
		}
	}
}

// errDeviceRevoked says that an answer comes from a device that was revoked before the machine had taken it.
var errDeviceRevoked = errors.New("the device that answered was revoked")

// askAndSend has the person asked, and sends the machine what they say.
func (m *machines) askAndSend(
	ctx context.Context, one *remoteRequest, peer remote.Peer, r interact.Request, why policy.Decision,
) (interact.Answer, error) {
	answer, err := m.ask(ctx, one, r, why)
	if err != nil || answer.Outcome == "" {
		return m.endOf(one), err
	}
	if answer.Scope == policy.Always {
		return interact.Answer{}, fmt.Errorf("%w: what holds for good is kept here, for agents here", interact.ErrUnavailable)
	}
	if ctx.Err() != nil && context.Cause(ctx) != interact.ErrClosing {
		return interact.Answer{}, ctx.Err()
	}
	sending, cancel := outlasting(ctx)
	defer cancel()
	return m.commit(sending, one, peer, answer)
}

// outlasting ends with ctx, but a little later when nod ends: the machine may have taken the answer already, and then
// it counts.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	sending, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if cause == interact.ErrClosing {
			select {
			case <-sending.Done():
			case <-time.After(closingCommit):
			}
		}
		end(cause)
	})
	return sending, func() {
		stop()
		end(nil)
	}
}

// ask has the person asked. The answer has no outcome when the machine says first how the request ended.
func (m *machines) ask(
	ctx context.Context, one *remoteRequest, r interact.Request, why policy.Decision,
) (interact.Answer, error) {
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-one.over:
			stop(causeOf(one.ended))
		case <-asking.Done():
		}
	}()
	for {
		err := error(interact.ErrUnavailable)
		if !m.silences(r) {
			var a interact.Answer
			if a, err = m.prompter.Prompt(asking, r, why); err == nil {
				return a, nil
			}
		}
		if isOver(one) {
			return interact.Answer{}, nil
		}
		if ctx.Err() != nil || !errors.Is(err, interact.ErrUnavailable) {
			return interact.Answer{}, err
		}
		select { // somebody elsewhere may answer, or the person here be back
		case <-one.over:
			return interact.Answer{}, nil
		case <-ctx.Done():
			return interact.Answer{}, ctx.Err()
		case <-time.After(askAgainAfter):
		}
	}
}

func isOver(one *remoteRequest) bool {
	select {
	case <-one.over:
		return true
	default:
		return false
	}
}

// causeOf is the cause with which a prompt leaves the screen: whoever counts unanswered prompts counts this one.
func causeOf(ended interact.Answer) error {
	if ended.Outcome == interact.TimedOut {
		return interact.ErrTimedOut
	}
	return context.Canceled
}

// commit sends an answer until the machine has taken it, and returns what counts. It fails when the request ends
// meanwhile, the machine refuses the answer, or the device that it came from is revoked.
func (m *machines) commit(
	ctx context.Context, one *remoteRequest, peer remote.Peer, answer interact.Answer,
) (interact.Answer, error) {
	out := answer
	out.By, out.At, out.Device = interact.ByHuman, time.Now(), cmp.Or(answer.Device, m.name)
	out.Shown = interact.Shown{} // for the journal here
	out.Proof = m.proof(one, out)
	for wait := commitFirst; ; wait = min(2*wait, commitMost) {
		back := m.comesBack()
		if answer.Device != "" && !m.isDevice(answer.Device) { // it may have waited for its machine
			return interact.Answer{}, errDeviceRevoked
		}
		settled, err := m.send(ctx, peer, remote.Answer{ID: one.id, Digest: one.digest, Answer: out})
		switch {
		case err == nil:
			return m.counts(one, answer, out, settled), nil
		case errors.Is(err, remote.ErrDown):
		case ctx.Err() == nil:
			m.log.Error("a machine does not take an answer", "machine", peer.Name, "id", one.id, "err", err)
			m.undelivered(peer)
			return interact.Answer{}, fmt.Errorf("%w: %s did not take the answer", interact.ErrUnavailable, peer.Name)
		}
		m.log.Warn("an answer waits for its machine", "machine", peer.Name, "id", one.id, "err", err)
		select {
		case <-one.over:
			return m.counts(one, answer, out, one.ended), nil
		case <-ctx.Done():
			if context.Cause(ctx) != interact.ErrClosing { // else the next nod asks again
				m.undelivered(peer)
			}
			return interact.Answer{}, ctx.Err()
		case <-back:
		case <-time.After(wait):
		}
	}
}

// comesBack is closed when a machine is connected next.
func (m *machines) comesBack() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.back
}

// send sends an answer once. The error is [remote.ErrDown] while the machine cannot be reached.
func (m *machines) send(ctx context.Context, peer remote.Peer, a remote.Answer) (interact.Answer, error) {
	if _, isPaired := m.machine(peer.Key); !isPaired {
		return interact.Answer{}, remote.ErrNotPaired
	}
	line := m.lineTo(peer.Key)
	if line == nil {
		return interact.Answer{}, remote.ErrDown
	}
	return line.Commit(ctx, peer.Key, a)
}

// undelivered tells the person that what they said reached nobody.
func (m *machines) undelivered(peer remote.Peer) {
	m.say(interact.Warning, lang.L("Your answer did not reach {{.Machine}} in time, so it does not count.",
		map[string]any{"Machine": peer.Name}))
}

// byPerson are the outcomes that a person brings about.
var byPerson = []interact.Outcome{interact.Allowed, interact.Denied, interact.Answered, interact.Dismissed}

// counts is the answer that counts here. answer is what the person said, out what was sent, and settled how the machine
// says that the request ended. That the person had given another answer before nod was killed must be proven: a machine
// cannot say so.
func (m *machines) counts(one *remoteRequest, answer, out, settled interact.Answer) interact.Answer {
	isAnswer := settled.By == interact.ByHuman && slices.Contains(byPerson, settled.Outcome)
	switch {
	case one.isRevoked:
		return interact.Answer{Outcome: interact.Withdrawn, Reason: reasonRevoked}
	case !isAnswer || !m.isOwn(settled.Device):
		return elsewhere(settled)
	case settled.Outcome == out.Outcome && settled.Device == out.Device:
		return answer
	}
	if settled.Outcome != interact.Denied { // a relay gives a reason of its own where the person gave none
		settled.Reason = ""
	}
	if settled.Proof == "" || !hmac.Equal([]byte(settled.Proof), []byte(m.proof(one, settled))) {
		return elsewhere(settled)
	}
	if settled.Device == m.name { // which the person gave before nod was killed
		settled.Device = ""
	}
	settled.Proof = ""
	return settled
}

// proof is what only this desk can put beside an answer to a request: it covers all that the person says. Without a key
// there is none.
func (m *machines) proof(one *remoteRequest, a interact.Answer) string {
	if a.Outcome != interact.Denied {
		a.Reason = ""
	}
	said, err := json.Marshal(interact.Answer{
		Outcome: a.Outcome, Reason: a.Reason, Suggestion: a.Suggestion, Text: a.Text, Confirmed: a.Confirmed,
		Values: a.Values, Device: a.Device,
	})
	if err != nil || len(m.seal) == 0 {
		return ""
	}
	h := hmac.New(sha256.New, m.seal)
	fmt.Fprintf(h, "nod answer 1\n%s\n%s\n%s\n%s", one.machine, one.id, one.digest, said)
	return hex.EncodeToString(h.Sum(nil))
}

// isOwn reports whether that is what answers from here are marked with.
func (m *machines) isOwn(device string) bool {
	return device == m.name || m.isDevice(device)
}

// isDevice reports whether a device of that name is paired.
func (m *machines) isDevice(name string) bool {
	peer, isPaired := m.book.Named(name)
	return isPaired && peer.Role == remote.RoleDevice
}

// endOf is how a request ended that its machine says has ended; nothing while it has not.
func (m *machines) endOf(one *remoteRequest) interact.Answer {
	if !isOver(one) {
		return interact.Answer{}
	}
	return m.counts(one, interact.Answer{}, interact.Answer{}, one.ended)
}

// elsewhere is the end, as the journal here has it, of a request that had its own elsewhere. It says nothing in the
// words of anybody there.
func elsewhere(settled interact.Answer) interact.Answer {
	switch {
	case settled.Outcome == interact.TimedOut:
		return interact.Answer{Outcome: interact.TimedOut, By: interact.ByTimeout, Reason: reasonNoAnswer}
	case settled.Outcome == interact.Cancelled:
		return interact.Answer{Outcome: interact.Cancelled, Reason: reasonGone}
	case settled.By != interact.ByHuman:
		return interact.Answer{Outcome: interact.Withdrawn, Reason: reasonAtMachine}
	}
	return interact.Answer{Outcome: interact.Withdrawn, Reason: reasonElsewhere} // on which desk is its machine's word
}

// Notify passes a notice on, and tells the machine from which one comes whether the desktop took it.
func (m *machines) Notify(ctx context.Context, r interact.Request) bool {
	sent := m.notify(ctx, r)
	at, digest, ok := parseReference(r.IdempotencyKey)
	peer, isPaired := m.book.Named(r.Requester.Machine)
	if !r.Requester.IsRemote() || !ok || !isPaired || peer.Key.Sign != at.machine {
		return sent
	}
	a := interact.Answer{Outcome: interact.Answered, Sent: sent, At: time.Now(), Device: m.name}
	if _, err := m.send(ctx, peer, remote.Answer{ID: at.id, Digest: digest, Answer: a}); err != nil {
		m.log.Warn("a machine does not know that its notice came", "machine", peer.Name, "err", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.asked, at)
	return sent
}
