package asking

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
	"nod/ipc/device"
	"nod/ipc/device/page"
	"nod/ipc/operator"
	"nod/ipc/remote"
)

// run serves devices at the configured address until ctx ends.
func (d *devices) run(ctx context.Context, settings <-chan struct{}) {
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
		case <-settings:
		case <-peers:
		}
	}
}

// serve serves devices at an address, or nowhere if it is empty, until the function it returns is called.
func (d *devices) serve(ctx context.Context, address string) (end func()) {
	server, err := d.newServer(address)
	if err != nil {
		d.log.Error("devices can't connect", "err", err)
	}
	d.mu.Lock()
	d.server, d.problem = server, err
	d.mu.Unlock()
	d.changed.Send()
	if server == nil {
		return func() {}
	}
	serving, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { server.Run(serving) })
	return func() {
		cancel()
		running.Wait()
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
		d.say(interact.Warning, lang.L("The phone page has a new certificate. Accept it on a phone only if its SHA-256 "+
			"matches the one in nod's settings, under Machines and devices."))
	}
	return device.New(device.Config{
		Address: at, Certificate: c, Page: page.Files, Desk: d, Log: d.log,
	}), nil
}

// shown lists the prompts that devices see: those that have waited long enough and are not snoozed.
func (d *devices) shown() []operator.Prompt {
	return slices.DeleteFunc(d.answers.prompts.open(), func(p operator.Prompt) bool { return d.shownIn(p) > 0 })
}

func (d *devices) shownIn(p operator.Prompt) time.Duration {
	times := interact.TimesOf(*p.Request, time.Now())
	return max(d.config().Remote.HandOver-times.Age, times.Snoozed)
}

// look wakes devices for prompts that have waited long enough, and looks again when others have. It does not block.
func (d *devices) look(ctx context.Context) {
	d.queue.Lock()
	defer d.queue.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if ctx.Err() != nil {
		return
	}
	var waits []time.Duration
	var fresh []interact.ID
	woken := map[interact.ID]bool{}
	for _, p := range d.answers.prompts.open() {
		wait := d.shownIn(p)
		switch {
		case wait > 0:
			waits = append(waits, wait)
		case d.woken[p.ID]:
			woken[p.ID] = true
		default:
			fresh = append(fresh, p.ID)
		}
	}
	if server, _ := d.current(); len(fresh) > 0 && server != nil {
		if wait := wakePace - time.Since(d.wokenAt); wait > 0 {
			waits = append(waits, wait)
		} else {
			d.wokenAt = time.Now()
			go d.wake(ctx)
			for _, id := range fresh {
				woken[id] = true
			}
		}
	}
	d.woken = woken
	if len(waits) > 0 {
		d.timer = time.AfterFunc(slices.Min(waits), func() { d.look(ctx) })
	}
	d.shownChanged.Send()
}

// Changes implements [device.Desk].
func (d *devices) Changes() (<-chan struct{}, func()) { return d.shownChanged.Subscribe() }

// Prompts implements [device.Desk].
func (d *devices) Prompts(p remote.Peer) []device.Headline {
	d.noteAsked(p)
	now, all := time.Now(), []device.Headline{}
	for _, one := range d.shown() {
		h, times := headlineOf(one, p.May), interact.TimesOf(*one.Request, now)
		h.AgeMS, h.LeftMS = times.Age.Milliseconds(), max(times.Left.Milliseconds(), 0)
		all = append(all, h)
	}
	return all
}

func (d *devices) find(id interact.ID) (operator.Prompt, error) {
	list := d.shown()
	i := slices.IndexFunc(list, func(p operator.Prompt) bool { return p.ID == id })
	if i < 0 {
		return operator.Prompt{}, device.ErrGone
	}
	return list[i], nil
}

// View implements [device.Desk].
func (d *devices) View(_ context.Context, p remote.Peer, id interact.ID) (device.View, error) {
	one, err := d.find(id)
	if err != nil {
		return device.View{}, err
	}
	return deviceView(one, p.May, max(d.config().Prompt.ArmAfter, minArmAfter))
}

// Answer implements [device.Desk].
func (d *devices) Answer(ctx context.Context, p remote.Peer, id interact.ID, a interact.Answer) error {
	one, err := d.find(id)
	if err != nil {
		return err
	}
	if b, ok := one.Request.Body.(interact.Approve); ok {
		a.ShownSHA256 = interact.Digest(b.Input)
	}
	if a.Outcome == api.Dismissed {
		a.Reason = "the user does not want to answer"
	}
	a.Device = p.Name
	switch err := d.answers.Answer(ctx, operator.Answer{ID: id, Digest: one.Digest, Answer: a}); {
	case errors.Is(err, operator.ErrGone):
		return device.ErrGone
	case errors.Is(err, operator.ErrChanged):
		return device.ErrChanged
	case err != nil:
		if wrong, ok := errors.AsType[invalidError](err); ok {
			return invalid(*one.Request, wrong.error)
		}
		return fmt.Errorf("answer from %s: %w", p.Name, err)
	}
	d.log.Info("answered on a device", "device", p.Name, "id", id, "outcome", a.Outcome)
	return nil
}

// invalid returns an error that says what is wrong with an answer, in the same words as the windows.
func invalid(r interact.Request, err error) error {
	wrong, ok := errors.AsType[*interact.AnswerError](err)
	if !ok {
		return device.Invalid(err.Error(), "")
	}
	var asked api.Question
	if f, isForm := r.Body.(api.Form); isForm {
		if i := slices.IndexFunc(f.Questions, func(q api.Question) bool { return q.ID == wrong.ID }); i >= 0 {
			asked = f.Questions[i]
		}
	}
	return device.Invalid(prompt.ProblemOf(asked, err), wrong.ID)
}
