// Package hooks speaks the hook protocols of coding agents: one file per agent turns its payload into what
// nod does (a [step]) and nod's answer into that agent's own reply, and nothing else.
//
// A hook must never make things worse. An event, a field or a tool that nod does not know, a prompt that
// nobody answered, a window that was closed: each is "no decision", an empty reply, after which the agent
// asks in its own way. It is never an error that the agent would show, and never an allow.
package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// Broker is all that the hooks can do with [interact.Broker].
type Broker interface {
	Do(ctx context.Context, r interact.Request) (interact.Answer, error)
	Judge(ctx context.Context, r interact.Request, effects ...policy.Effect) (interact.Answer, error)
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
	contacts map[string]interact.Contact // by agent
}

type noticeKey struct{ agent, session, kind string }

// New returns hooks that ask through cfg.Broker.
func New(cfg Config) *Hooks {
	return &Hooks{cfg: cfg, noticed: map[noticeKey]time.Time{}, contacts: map[string]interact.Contact{}}
}

// step is what one call of a hook amounts to.
type step struct {
	session, cwd string
	ask          interact.Body               // goes before the policy and the human
	judge        []policy.Effect             // not nil: ask goes before the policy alone, for these decisions
	over         func(interact.Request) bool // these were answered elsewhere
	notice       *interact.Notify
	noticeKind   string
	opens        string                             // an address that an allow opens
	reply        func(interact.Answer) (any, error) // what the agent reads; nil: nothing
}

// agents turn a call into a step. An error means that the payload is not what it should be.
var agents = map[string]func(Call) (step, error){
	"claude-code": reads(claude.step),
	"codex":       reads(codex.step),
	"gemini-cli":  reads(gemini.step),
	"opencode":    reads(opencode.step),
	"generic":     reads(claude.genericStep),
}

// reads decodes the payload of a call for the agent that it came from. Names count byte for byte, and those of the
// payload itself appear once: two readers must not understand a call in two ways. What a tool's input says twice is for
// the policy and the person to see: no agent may be let through for it.
func reads[P any](stepOf func(P, Call) (step, error)) func(Call) (step, error) {
	return func(c Call) (step, error) {
		var payload P
		if err := namedOnce(c.Payload); err != nil {
			return step{}, err
		}
		if err := jsonv2.Unmarshal(c.Payload, &payload, lenient); err != nil {
			return step{}, err
		}
		return stepOf(payload, c)
	}
}

// lenient reads what JavaScript writes: half a surrogate pair as it is, after which two names may look the same.
var lenient = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// namedOnce returns an error when a name appears twice in the object that payload is, whatever is in its values.
func namedOnce(payload []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(payload), lenient)
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.StackDepth() > 0 && d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		if seen[key] {
			return fmt.Errorf("%q appears twice", key)
		}
		seen[key] = true
		if err := d.SkipValue(); err != nil {
			return err
		}
	}
	return nil
}

// Handle answers one call. An empty reply is "no decision". The error is [ErrUnknownAgent] or ctx's.
func (h *Hooks) Handle(ctx context.Context, c Call) ([]byte, error) {
	read, known := agents[c.Agent]
	if !known {
		return nil, fmt.Errorf("%w: %q", ErrUnknownAgent, c.Agent)
	}
	h.note(c.Agent, (*interact.Contact).Called)
	s, err := read(c)
	if err != nil {
		h.cfg.Log.Warn("hook: payload not understood", "agent", c.Agent, "event", c.Event, "err", err)
		if c.Gate { // the agent goes on after silence
			return Refuse(c.Agent, c.Event, "nod could not read this call, so it is denied. The person has not refused.")
		}
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
		h.note(who.Agent, func(c *interact.Contact) { c.Count(a) })
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
	reply, err := s.reply(a)
	if err != nil {
		h.cfg.Log.Error("hook: the answer has no form that the agent understands",
			"agent", who.Agent, "outcome", a.Outcome, "err", err)
		if reply, err = s.reply(untranslated); err != nil {
			return nil, err
		}
	}
	if reply == nil {
		return nil, nil
	}
	return json.Marshal(reply)
}

// untranslated takes the place of an answer that cannot be put into the agent's words.
var untranslated = interact.Answer{Outcome: interact.Unavailable, Reason: "nod could not pass the answer on"}

// answer returns the zero answer, which no reply takes for a decision, when there is none.
func (h *Hooks) answer(ctx context.Context, who interact.Requester, s step) (interact.Answer, error) {
	if s.ask == nil {
		return interact.Answer{}, nil
	}
	r := interact.Request{Requester: who, Body: s.ask, Timeout: min(h.cfg.Timeout(), MaxWait)}
	var a interact.Answer
	var err error
	if s.judge != nil {
		a, err = h.cfg.Broker.Judge(ctx, r, s.judge...)
	} else {
		a, err = h.cfg.Broker.Do(ctx, r)
	}
	if err != nil && ctx.Err() == nil {
		h.cfg.Log.Warn("hook: not asked", "agent", who.Agent, "err", err)
		return interact.Answer{}, nil
	}
	return a, err
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

// answered makes a reply to what the person has answered, and to nothing else.
func answered(reply func(interact.Answer) (any, error)) func(interact.Answer) (any, error) {
	return func(a interact.Answer) (any, error) {
		if a.Outcome != interact.Answered {
			return nil, nil
		}
		return reply(a)
	}
}

// finished says that the agent's turn is over: nothing of the session's is pending any more.
func (s *step) finished() {
	s.over = everything
	s.notice, s.noticeKind = notice(s.cwd, "finished"), "stop"
}

// everything picks all requests of a session.
func everything(interact.Request) bool { return true }

// notice makes a notice of what happened in the folder cwd, under the folder's name.
func notice(cwd, what string) *interact.Notify {
	if filepath.IsAbs(cwd) && filepath.Dir(cwd) != cwd {
		what = filepath.Base(cwd) + ": " + what
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
		reply = permission(&decision{Behavior: "deny", Message: reason})
	case event == "PreToolUse":
		reply = preTool(&decision{Behavior: "deny", Message: reason})
	default:
		return nil, nil
	}
	return json.Marshal(reply)
}
