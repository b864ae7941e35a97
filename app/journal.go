package app

import (
	"context"
	"errors"
	"time"

	"nod/app/asking"
	"nod/interact"
	"nod/interact/journal"
	"nod/ipc/operator"
	"nod/ownfile/ownprocess"
	"nod/policy"
	"nod/policy/config"
)

// knownAnswers is how many of the last requests nod recognizes by id and idempotency key after a restart.
const knownAnswers = 1024

// openJournal opens the journal. nod runs even if something is wrong with its file: see watchJournal.
func (p *program) openJournal() error {
	path, err := journal.DefaultPath()
	if err != nil {
		return err
	}
	p.journal = journal.Open(path, journal.Options{
		Log: p.log, Changed: p.journalChanged, Added: p.journaled,
		Config: func() config.History { return p.store.Config().History },
		// No request has an outcome before the server exists.
		Token: func() string { return p.server.Endpoint().Token },
	})
	return nil
}

// restorePace is the time between attempts to restore while another program locks the journal.
const restorePace = time.Second

// restore makes the requests pending again that were pending when nod ended. It does so before the server answers any
// caller, and even if nod is already ending, because a caller that reconnects must not hear that its request is
// unknown. What cannot be read now stays in the file and is restored once it can be read.
func (p *program) restore(take func(open, last []interact.Record)) {
	err := p.tryRestore(take)
	if err == nil {
		return
	}
	p.log.Error("the last run's pending requests can't be read yet", "err", err)
	p.broker.AwaitRestore()
	p.parts.Go(func() {
		for {
			select {
			case <-p.ctx.Done():
				return
			case <-time.After(restorePace):
			}
			if p.tryRestore(take) == nil {
				return
			}
		}
	})
}

func (p *program) tryRestore(take func(open, last []interact.Record)) error {
	open, last, err := p.journal.Restore(context.WithoutCancel(p.ctx), knownAnswers)
	if err == nil {
		take(open, last)
	}
	return err
}

// watchJournal tells the user once about each problem of the journal.
func (p *program) watchJournal() {
	var last string
	for {
		if sentence := asking.JournalProblem(p.journal.Problem()); sentence != last {
			if last = sentence; last != "" {
				p.desk.Say(interact.Error, last)
			}
			p.desk.Refresh()
		}
		select {
		case <-p.ctx.Done():
			return
		case <-p.journalChanged:
		}
	}
}

// historyPace is the shortest time between two fetches of the history by the windows.
const historyPace = time.Second

// quiet is how long nothing must be journaled before nod returns the memory that its start or many calls took. By then
// the journal's index is up to date.
const quiet = 5 * time.Second

// followJournal makes the windows show new entries of the history, and returns memory when no more arrive.
func (p *program) followJournal() {
	rest := time.NewTimer(quiet)
	defer rest.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-rest.C:
			ownprocess.GiveBack()
			continue
		case <-p.journaled:
			p.desk.HistoryChanged()
			rest.Reset(quiet)
		}
		select {
		case <-p.ctx.Done():
			return
		case <-time.After(historyPace):
		}
	}
}

// keptPatience limits how long the settings wait for the size of a journal that another program locks.
const keptPatience = 200 * time.Millisecond

// kept describes the journal, without what it does not report in time.
func (p *program) kept(ctx context.Context) operator.Journal {
	ctx, cancel := context.WithTimeout(ctx, keptPatience)
	defer cancel()
	k := operator.Journal{Problem: asking.JournalProblem(p.journal.Problem())}
	var errs [3]error
	k.Path, errs[0] = journal.DefaultPath()
	k.Head, errs[1] = p.journal.Head(ctx)
	k.Entries, k.Bytes, errs[2] = p.journal.Size(ctx)
	if err := errors.Join(errs[:]...); err != nil {
		p.log.Warn("the size of the history is unknown", "err", err)
	}
	return k
}

// Suggest implements [operator.Operator].
func (o operatorAPI) Suggest(ctx context.Context) ([]policy.Suggestion, error) {
	var past []policy.Past
	for decided, err := range o.p.journal.Past(ctx) {
		if err != nil {
			return nil, err
		}
		past = append(past, decided)
	}
	return o.p.store.Suggest(ctx, past)
}
