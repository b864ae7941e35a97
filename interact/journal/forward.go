package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/policy"
	"nod/policy/config"
)

// maxForward limits the queue of outcomes; further ones are dropped.
const maxForward = 4096

// Outcome is the forwarded form of an entry, as a line of JSON.
type Outcome struct {
	Time    time.Time    `json:"time"`
	Seq     int64        `json:"seq"`
	ID      interact.ID  `json:"id"`
	Kind    api.Kind     `json:"kind"`
	Agent   string       `json:"agent,omitempty"`
	Session string       `json:"session,omitempty"`
	Project string       `json:"project,omitempty"`
	Tool    string       `json:"tool,omitempty"`
	Class   policy.Class `json:"class,omitempty"`
	Gist    string       `json:"gist,omitempty"`
	Outcome api.Outcome  `json:"outcome"`
	By      api.By       `json:"by,omitempty"`
	Rule    string       `json:"rule,omitempty"`
	Hash    string       `json:"hash"` // of the chain up to this entry
}

func newOutcome(l history.Line, hash digest) *Outcome {
	return &Outcome{
		Time: l.Settled.UTC(), Seq: l.Seq, ID: l.ID, Kind: l.Kind, Agent: l.Agent, Session: l.Session, Project: l.Project,
		Tool: l.Tool, Class: l.Class, Gist: l.Gist, Outcome: l.Outcome, By: l.By, Rule: l.Rule, Hash: hash.String(),
	}
}

// forwarder forwards outcomes to the configured target. Only the writer's goroutine adds to it, and never blocks.
type forwarder struct {
	config func() config.History
	failed func(to string, lost int, err error) // is called for every lost outcome
	queue  chan *Outcome
	ended  chan struct{} // closed once run has returned
	lost   atomic.Int64  // number of lost outcomes

	to string // where w leads; used by run's goroutine only, as is w
	w  io.WriteCloser
}

func newForwarder(config func() config.History, failed func(string, int, error)) *forwarder {
	return &forwarder{
		config: config, failed: failed, queue: make(chan *Outcome, maxForward), ended: make(chan struct{}),
	}
}

var errSlow = errors.New("it takes them too slowly")

// add queues an outcome, or drops it if the queue is full.
func (f *forwarder) add(l history.Line, hash digest) {
	to := f.config().Forward
	if to == "" {
		return
	}
	select {
	case f.queue <- newOutcome(l, hash):
	default:
		f.lose(to, errSlow)
	}
}

func (f *forwarder) lose(to string, err error) { f.failed(to, int(f.lost.Add(1)), err) }

func (f *forwarder) run() {
	defer close(f.ended)
	for o := range f.queue {
		if to := f.config().Forward; to != "" {
			if err := f.forward(to, o); err != nil {
				f.lose(to, err)
			}
		}
	}
	f.reset()
}

// close forwards the rest of the queue, for at most a second: the target may hang.
func (f *forwarder) close() {
	close(f.queue)
	select {
	case <-f.ended:
	case <-time.After(time.Second):
	}
}

func (f *forwarder) forward(to string, o *Outcome) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := f.lead(to); err != nil {
		return err
	}
	if _, err := f.w.Write(append(line, '\n')); err != nil {
		f.reset()
		return err
	}
	return nil
}

// lead opens the file or the system's log as w.
func (f *forwarder) lead(to string) (err error) {
	if f.w != nil && f.to == to && f.isThere() {
		return nil
	}
	f.reset()
	f.to = to
	if to == config.ForwardSyslog {
		f.w, err = dialSyslog()
		return err
	}
	if info, err := os.Stat(to); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file", to)
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		f.w = file
	}
	return err
}

// isThere reports whether w's file is still at its path: it may have been rotated away.
func (f *forwarder) isThere() bool {
	file, ok := f.w.(*os.File)
	if !ok {
		return true
	}
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	info, err := os.Stat(f.to)
	return err == nil && os.SameFile(opened, info)
}

func (f *forwarder) reset() {
	if f.w != nil {
		f.w.Close() // every line was written or lost already
		f.w = nil
	}
}
