// Package hooks speaks the hook protocols of coding agents: one file per agent turns its payload into what
// nod does (a [step]) and nod's answer into that agent's own reply, and nothing else.
//
// A hook must never make things worse. An event, a field or a tool that nod does not know, a prompt that
// nobody answered, a window that was closed: each is "no decision", an empty reply, after which the agent
// asks in its own way. It is never an error that the agent would show, and never an allow.
package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"nod/interact"
	"nod/policy"
)

// MaxWait is the longest that a hook's request waits for the human. Agents cut a hook off after the time-out
// in their settings (600 s as nod installs them), and most then go on as if it had allowed; Claude Code has
// been seen to do so a little before its ten minutes.
const MaxWait = 9*time.Minute + 30*time.Second

// noticeEvery is how long a session waits before nod passes on another notice of the same kind.
const noticeEvery = 30 * time.Second

// ErrUnknownAgent says that nod has no hooks for an agent of this name.
var ErrUnknownAgent = errors.New("nod knows no hooks of this agent")

// Broker is what the hooks need of [interact.Broker].
type Broker interface {
	Do(ctx context.Context, r interact.Request) (interact.Answer, error)
	Evaluate(who interact.Requester, a interact.Approve) (policy.Decision, error)
	WithdrawWhere(owner interact.Requester, over func(interact.Request) bool)
}

// Call is one call of a hook.
type Call struct {
	Agent    string             // as in "nod hook AGENT"
	Event    string             // as the agent names it
	Payload  []byte             // what the agent wrote to the hook's standard input
	Who      interact.Requester // its Process is verified; the rest comes from the payload
	Headless bool               // the agent runs without a terminal: nobody else would ask
	Gate     bool               // the agent's own prompt is switched off: what nod does not deny happens
}

// Config is what [Hooks] work with. All fields are required.
type Config struct {
	Broker  Broker
	Timeout func() time.Duration   // how long a request waits, as configured; cut to MaxWait
	OpenURL func(url string) error // shows an address in the person's browser, once the person agreed
	Log     *slog.Logger
}

// Hooks answers the hooks of every agent that nod knows. It is safe for concurrent use.
type Hooks struct {
	cfg Config

	mu       sync.Mutex // guards all below
	noticed  map[noticeKey]time.Time
	contacts map[string]Contact // by agent
}

type noticeKey struct{ agent, session, kind string }

// New returns hooks that ask through cfg.Broker.
func New(cfg Config) *Hooks {
	return &Hooks{cfg: cfg, noticed: map[noticeKey]time.Time{}, contacts: map[string]Contact{}}
}

// step is what one call of a hook amounts to.
type step struct {
	session, cwd string
	ask          interact.Body               // goes before the policy and the human
	judge        *interact.Approve           // goes before the policy alone
	over         func(interact.Request) bool // these were answered elsewhere
	notice       *interact.Notify
	noticeKind   string
	opens        string                    // an address that an allow opens
	reply        func(interact.Answer) any // what the agent reads; nil: nothing
}

// read turns a payload into a step. An error means that the payload is not what it should be.
type read func(c Call) (step, error)

var agents = map[string]read{
	"claude-code": readClaude,
	"codex":       readCodex,
	"gemini-cli":  readGemini,
	"opencode":    readOpencode,
	"generic":     readGeneric,
}

// Handle answers one call. An empty reply is "no decision". The error is [ErrUnknownAgent] or ctx's.
func (h *Hooks) Handle(ctx context.Context, c Call) ([]byte, error) {
	read, known := agents[c.Agent]
	if !known {
		return nil, fmt.Errorf("%w: %q", ErrUnknownAgent, c.Agent)
	}
	h.met(c.Agent)
	s, err := read(c)
	if err != nil {
		h.cfg.Log.Warn("hook: payload not understood", "agent", c.Agent, "event", c.Event, "err", err)
		return nil, nil
	}
	who := c.Who
	who.Agent, who.Session = c.Agent, s.session
	if filepath.IsAbs(s.cwd) {
		who.CWD = s.cwd
	}
	return h.run(ctx, who, s)
}

func (h *Hooks) run(ctx context.Context, who interact.Requester, s step) ([]byte, error) {
	if s.over != nil {
		h.cfg.Broker.WithdrawWhere(who, func(r interact.Request) bool {
			return r.Requester.Agent == who.Agent && r.Requester.Session == who.Session && s.over(r)
		})
	}
	if s.notice != nil && h.mayNotice(who, s.noticeKind) {
		s.ask = *s.notice
	}
	a, err := h.answer(ctx, who, s)
	if s.notice == nil {
		h.count(who.Agent, a)
	}
	if err != nil || s.reply == nil {
		return nil, err
	}
	if s.opens != "" && a.Outcome == interact.Allowed && a.By == interact.ByHuman {
		if err := h.cfg.OpenURL(s.opens); err != nil {
			h.cfg.Log.Warn("hook: address not opened", "agent", who.Agent, "err", err)
			return nil, nil
		}
	}
	reply := s.reply(a)
	if reply == nil {
		return nil, nil
	}
	return json.Marshal(reply)
}

// answer returns the zero answer, which no reply takes for a decision, when there is none.
func (h *Hooks) answer(ctx context.Context, who interact.Requester, s step) (interact.Answer, error) {
	switch {
	case s.judge != nil:
		d, err := h.cfg.Broker.Evaluate(who, *s.judge)
		if err != nil {
			h.cfg.Log.Warn("hook: not judged", "agent", who.Agent, "err", err)
			return interact.Answer{}, nil
		}
		return judged(d), nil
	case s.ask != nil:
		r := interact.Request{Requester: who, Body: s.ask, Timeout: min(h.cfg.Timeout(), MaxWait)}
		a, err := h.cfg.Broker.Do(ctx, r)
		if err != nil && ctx.Err() == nil {
			h.cfg.Log.Warn("hook: not asked", "agent", who.Agent, "err", err)
			return interact.Answer{}, nil
		}
		return a, err
	}
	return interact.Answer{}, nil
}

// judged is what a decision of the policy says without a human.
func judged(d policy.Decision) interact.Answer {
	switch d.Effect {
	case policy.Allow:
		return interact.Answer{Outcome: interact.Allowed, By: interact.ByPolicy, Rule: d.Rule, Reason: d.Reason}
	case policy.Deny:
		return interact.Answer{Outcome: interact.Denied, By: interact.ByPolicy, Rule: d.Rule, Reason: d.Reason}
	}
	return interact.Answer{}
}

// mayNotice lets one notice of a kind through per session and while.
func (h *Hooks) mayNotice(who interact.Requester, kind string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for k, last := range h.noticed {
		if now.Sub(last) >= noticeEvery {
			delete(h.noticed, k)
		}
	}
	key := noticeKey{who.Agent, who.Session, kind}
	if _, recent := h.noticed[key]; recent {
		return false
	}
	h.noticed[key] = now
	return true
}

// everything picks all requests of a session.
func everything(interact.Request) bool { return true }

// project names the folder an agent works in, for a notice.
func project(cwd string) string {
	if !filepath.IsAbs(cwd) || filepath.Dir(cwd) == cwd {
		return ""
	}
	return filepath.Base(cwd)
}

// notice makes a notice of what happened in the folder cwd.
func notice(cwd, what string) *interact.Notify {
	if p := project(cwd); p != "" {
		what = p + ": " + what
	}
	return &interact.Notify{Message: cut(what, 500)}
}

// cut shortens s to n characters, visibly.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// Refuse returns the reply with which an agent's hook denies on its own, when nod cannot be asked. It is nil
// for an event that decides nothing.
func Refuse(agent, event, reason string) ([]byte, error) {
	var reply any
	switch {
	case agent == "gemini-cli" && event == "BeforeTool":
		reply = geminiDeny(reason)
	case agent == "opencode" && event == "permission.asked":
		reply = map[string]string{"reply": "reject", "message": reason}
	case agent == "gemini-cli", agent == "opencode":
		return nil, nil
	case event == "PermissionRequest":
		reply = claude{}.permission(decision{Behavior: "deny", Message: reason})
	case event == "PreToolUse":
		reply = claude{}.preTool(decision{Behavior: "deny", Message: reason})
	default:
		return nil, nil
	}
	return json.Marshal(reply)
}
