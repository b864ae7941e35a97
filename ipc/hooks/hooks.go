// Package hooks answers the hooks of coding agents. What is specific to an agent is in its folder below agents: its
// [Protocol] only turns a payload into what nod does (a [Step]), and nod's answer into that agent's reply.
//
// A hook never results in an error that the agent would show, nor in an allow by mistake. For an event that nod does
// not know, or a tool that no rule covers, the reply is empty, "no decision", and the agent continues in its own way. A
// call that nod asked about and that was not decided is denied, unless the agent then asks the user itself; so is a
// call that nod cannot read.
package hooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// patience returns how long the call's request waits for the user, so that nod answers before the agent ends its hook.
func (c Call) patience() time.Duration {
	if c.Limit <= 0 {
		return api.MaxHookWait
	}
	return max(time.Second, min(api.MaxHookWait, c.Limit-max(5*time.Second, c.Limit/20)))
}

const noticeEvery = 30 * time.Second

// ErrUnknownAgent says that nod has no hooks for an agent of this name.
var ErrUnknownAgent = errors.New("nod knows no hooks of this agent")

// broker is the part of [interact.Broker] that hooks use.
type broker interface {
	Do(ctx context.Context, r interact.Request) (interact.Answer, error)
	Judge(
		ctx context.Context, r interact.Request, ask func(policy.Decision) bool, effects ...policy.Effect,
	) (interact.Answer, error)
	WithdrawWhere(owner interact.Requester, over func(interact.Request) bool)
}

// Call is one call of a hook.
type Call struct {
	Agent    string             // as in "nod hook AGENT"
	Event    string             // as the agent names it
	Payload  []byte             // what the agent wrote to the hook's standard input
	Who      interact.Requester // its Process is verified; the rest comes from the payload
	Headless bool               // the agent runs without a terminal: only nod can ask
	Version  string             // the agent's, as it says itself: 2.1.330; empty when it does not say
	Nod      string             // path of the nod command; empty when it is not known
	Gate     bool               // the agent's own prompt is switched off: what nod does not deny happens
	Shell    bool               // the agent has nod run its commands
	Limit    time.Duration      // how long the agent waits for its hook, by its settings; 0: as long as nod installs

	// Env says where the agent's settings are, in which Gate and Limit are looked up. If it is nil, they are in the call.
	Env func(string) string

	IdempotencyKey string // the same call comes with the same one when it is sent again; empty: it is not
}

// Config configures [Hooks]. Fields are required unless stated otherwise.
type Config struct {
	Agents  map[string]Protocol // by name, as in "nod hook NAME"
	Broker  broker
	AskMore func() bool            // also about what no rule speaks of, in modes in which the agent asks less
	Timeout func() time.Duration   // how long a request waits, as configured; at most as long as the agent does
	Nod     string                 // path of the nod command; may be empty
	OpenURL func(url string) error // shows an address in the user's browser, once the user agreed
	Log     *slog.Logger

	Sandbox sandbox // nil: nothing runs in one

	// Settings looks up Gate and Limit of a [Call]. It is required for calls with an Env.
	Settings func(agent string, env func(string) string) (gate bool, limit time.Duration)
}

// Hooks answers the hooks of every agent that nod knows. It is safe for concurrent use.
type Hooks struct {
	cfg Config

	mu        sync.Mutex // guards all below
	noticed   map[noticeKey]time.Time
	contacts  map[string]interact.Contact // by agent
	answers   map[callKey][]kept
	runs      map[runKey]judgedCall // calls that nod did not deny and that have not run yet
	rewritten map[runKey]bool       // sessions in which another hook changed one, without the id of a call
	appeals   map[callKey]time.Time // until when a call that the agent's own check refused is allowed
}

type noticeKey struct{ agent, session, kind string }

// New returns hooks that ask through cfg.Broker.
func New(cfg Config) *Hooks {
	return &Hooks{
		cfg: cfg, noticed: map[noticeKey]time.Time{}, contacts: map[string]interact.Contact{}, answers: map[callKey][]kept{},
		appeals: map[callKey]time.Time{}, runs: map[runKey]judgedCall{}, rewritten: map[runKey]bool{},
	}
}

// A Protocol reads and answers the hooks of one agent.
type Protocol struct {
	// Read turns a call into a step. An error means that the payload is not what it should be.
	Read func(Call) (Step, error)

	// Deny returns the reply with which the hook itself denies, or nil for an event that decides nothing.
	Deny func(event, reason string) any

	// Abstain is the exit status of a hook without a decision, for an agent that uses the exit status of its hooks; its
	// replies are [Exit]s. 0 means that the agent uses what its hooks print, and they end with status 0.
	Abstain int

	// Payload builds the payload from what the agent wrote and from the environment. It is nil if the agent writes the
	// whole payload.
	Payload func(written []byte, env func(string) string) ([]byte, error)
}

// DenyIn returns a [Protocol.Deny] that replies to these events and, since it may be one of them, to [api.NoEvent]. It
// decides nothing for others.
func DenyIn(deny func(reason string) any, events ...string) func(event, reason string) any {
	return func(event, reason string) any {
		if event != api.NoEvent && !slices.Contains(events, event) {
			return nil
		}
		return deny(reason)
	}
}

// Exit is how a hook ends, as the reply to an agent that uses the exit status.
type Exit struct {
	Status int    `json:"status"`
	Stderr string `json:"stderr,omitempty"`
}

// Step is what nod does for one call of a hook.
type Step struct {
	Session, CWD string
	Subagent     interact.Subagent

	Ask   interact.Body   // goes before the policy and the user
	Judge []policy.Effect // not nil: Ask goes before the policy alone, for these decisions

	// Reply returns what the agent reads of an answer; nil means nothing. If [Protocol.Deny] has a reply to the event,
	// that is used instead for an approval that is denied, and for an undecided one if Silence is [api.TakesNo].
	Reply func(interact.Answer) (any, error)

	// Otherwise is the answer if no rule covers the call; then the user is not asked. If it is zero, they are asked.
	Otherwise interact.Answer

	// If only the policy was asked and it insists on asking the user, the agent reads what Insist returns for the reason,
	// and asks; without Insist nod asks the user now, if AskNow is set. In a Quiet mode the user wants the agent to ask
	// less: what no rule covers passes, unless [Config.AskMore] says otherwise.
	Insist func(reason string) any
	AskNow bool
	Quiet  bool

	// Patience is how long nod may take, if the agent waits for a shorter time than its settings say, else 0.
	Patience time.Duration

	// Silence is what happens to Ask without a decision. Unless the agent is known to ask the user itself then, it is
	// [api.TakesNo]: nod denies.
	Silence api.Silence

	// Futile returns why the agent refuses the call even if nod allows it, and what to do, or "". nod then denies the
	// call. Futile is called only for a call that nod would otherwise allow or ask about. May be nil.
	Futile func() string

	// Call names a call that the agent may deliver twice; "" if it cannot be distinguished from others. The user's answer
	// to the first delivery counts for the second, which is marked with Again. If the second is only for what the policy
	// insists on, closing the window was no answer to that.
	Call  func() string
	Again bool

	// Run is the id of a call that another hook may still change or, with Ran, of the call that ran.
	Run string
	Ran interact.Body

	// Appeals says that the agent's own check refused the call, and that Ask is about overruling that. What the user then
	// allows is allowed once if the agent soon tries the same call again, unless a rule denies it.
	Appeals bool

	// Command is the command of the call if nod runs it for the agent. Release is the agent's release, which is empty if
	// nod is tested with it.
	Command, Release string

	Over       func(interact.Request) bool // these were answered elsewhere
	Notice     *api.Notify
	NoticeKind string
	Opens      string // an address that an allow opens

	key string // idempotency key of the call
}

// Reads returns a [Protocol.Read] that decodes the payload of a call. Names are compared byte for byte, and must be
// unique in the payload itself, because two readers must not understand a call differently. Duplicate names within a
// tool's input are kept for the policy and the user to see, because no call may pass due to them.
func Reads[P any](stepOf func(P, Call) (Step, error)) func(Call) (Step, error) {
	return func(c Call) (Step, error) {
		var payload P
		if c.Event == api.NoEvent {
			return Step{}, errors.New("it names no event")
		}
		if err := namedOnce(c.Payload); err != nil {
			return Step{}, err
		}
		if err := jsonv2.Unmarshal(c.Payload, &payload, lenient); err != nil {
			return Step{}, err
		}
		return stepOf(payload, c)
	}
}

// lenient reads what JavaScript writes, including half a surrogate pair, after which two names may look the same.
var lenient = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// namedOnce returns an error if a name appears twice in the object payload. It does not check its values.
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

const unreadable = "nod denied this, not the user: it could not read the call"

// Handle answers one call. An empty reply is "no decision". The error is [ErrUnknownAgent] or ctx's.
func (h *Hooks) Handle(ctx context.Context, c Call) ([]byte, error) {
	protocol, known := h.cfg.Agents[c.Agent]
	if !known {
		return nil, fmt.Errorf("%w: %q", ErrUnknownAgent, c.Agent)
	}
	h.note(c.Agent, called)
	c.Nod = h.cfg.Nod
	if c.Env != nil {
		c.Gate, c.Limit = h.cfg.Settings(c.Agent, c.Env)
	}
	s, err := protocol.Read(c)
	if err != nil {
		h.cfg.Log.Warn("hook: payload not understood", "agent", c.Agent, "event", c.Event, "err", err)
		return protocol.Refuse(c.Event, unreadable) // no rule can be held against it, and the agent may go on after silence
	}
	who := c.Who
	who.Agent, who.Session, who.Subagent = c.Agent, s.Session, s.Subagent
	if filepath.IsAbs(s.CWD) {
		who.CWD = s.CWD
	}
	s.key, s.Patience = c.IdempotencyKey, min(cmp.Or(s.Patience, api.MaxHookWait), c.patience())
	return h.run(ctx, who, s, func(reason string) any { return protocol.Deny(c.Event, reason) })
}

func (h *Hooks) run(
	ctx context.Context, who interact.Requester, s Step, deny func(reason string) any,
) ([]byte, error) {
	if s.Over != nil {
		h.cfg.Broker.WithdrawWhere(who, func(r interact.Request) bool {
			isOwn := s.key != "" && r.IdempotencyKey == s.key // this call was sent before
			// Agents do not wait for the hooks of some events: on a busy machine the next call can overtake them.
			at := who.Process.Started
			isLater := !at.IsZero() && r.Requester.Process.Started.After(at)
			isSame := r.Requester.Agent == who.Agent && r.Requester.Session == who.Session
			return isSame && !isOwn && !isLater && s.Over(r)
		})
	}
	if s.Notice != nil && h.mayNotice(who, s.NoticeKind) {
		s.Ask = *s.Notice
	}
	if s.Ran != nil {
		h.ran(ctx, who, s)
		h.edited(ctx, who, s)
	}
	a, insisted, err := h.answer(ctx, who, s)
	switch {
	case a.Outcome == api.Allowed && a.By == api.ByPolicy && !h.mayAllow(who, s):
		h.remember(who, s, false)
		return nil, nil
	case a.Outcome == api.Allowed, a.Outcome == "" && err == nil:
		h.remember(who, s, a.Outcome != "")
	}
	if s.Notice == nil {
		h.note(who.Agent, func(c *interact.Contact) { count(c, a) })
	}
	switch {
	case err != nil || s.Reply == nil:
		return nil, err
	case insisted != "":
		return json.Marshal(s.Insist(insisted))
	}
	if s.Opens != "" && a.Outcome == api.Allowed && a.By == api.ByHuman {
		if err := h.cfg.OpenURL(s.Opens); err != nil {
			h.cfg.Log.Warn("hook: address not opened", "agent", who.Agent, "err", err)
			return nil, nil
		}
	}
	reply, err := s.replyTo(a, deny)
	if err != nil {
		h.cfg.Log.Error("hook: the agent has no form for this answer",
			"agent", who.Agent, "outcome", a.Outcome, "err", err)
		if reply, err = s.replyTo(untranslated, deny); err != nil {
			return nil, err
		}
	}
	if reply == nil {
		return nil, nil
	}
	return json.Marshal(reply)
}

// untranslated replaces an answer that cannot be converted to the agent's format.
var untranslated = interact.Answer{Outcome: api.Unavailable, Reason: "nod could not pass the answer on"}

// replyTo converts an answer to the agent's reply. It refuses a denied call with the reason, and also an undecided one
// that the agent would otherwise run. Everything else goes to Reply, which the step must have. It fails if Reply cannot
// convert the answer.
func (s *Step) replyTo(a interact.Answer, deny func(reason string) any) (any, error) {
	var denial any
	switch _, isApproval := s.Ask.(interact.Approve); {
	case isApproval && a.Outcome == api.Denied:
		denial = deny(a.Refusal())
	case a.Outcome != "" && a.Outcome != api.Allowed && s.DeniesSilence():
		denial = deny(a.Undecided())
	}
	if denial != nil {
		return denial, nil
	}
	return s.Reply(a)
}

// DeniesSilence reports whether the call is denied if nod was asked and there is no decision.
func (s *Step) DeniesSilence() bool {
	_, isApproval := s.Ask.(interact.Approve)
	return isApproval && s.Silence == api.TakesNo
}

// answer returns the answer to a step. Without a decision it returns the zero answer, which no reply treats as one, or
// why the agent should ask.
func (h *Hooks) answer(ctx context.Context, who interact.Requester, s Step) (interact.Answer, string, error) {
	if s.Over != nil {
		h.forget(who, s)
	}
	if s.Ask == nil {
		return interact.Answer{}, "", nil
	}
	if s.Again {
		if a, ok := h.earlier(who, s); ok {
			h.cfg.Log.Info("hook: delivered twice", "agent", who.Agent, "outcome", a.Outcome)
			if !decided(a) { // the agent has asked itself since
				a = interact.Answer{}
			}
			return a, "", nil
		}
	}
	h.contain(ctx, who, &s)
	r := interact.Request{
		Requester: who, Body: s.Ask, Timeout: h.cfg.Timeout(), Patience: s.Patience, Silence: s.Silence,
		IdempotencyKey: s.key, Futile: s.Futile,
	}
	var insisted string
	a, isOverruled, err := h.overruled(ctx, r, s)
	if !isOverruled {
		a, insisted, err = h.decide(ctx, r, s)
	}
	if err != nil && ctx.Err() == nil { // a request that cannot be judged or shown is undecided
		h.cfg.Log.Warn("hook: not asked", "agent", who.Agent, "err", err)
		reason := "nod could not ask the user"
		if wrong, ok := errors.AsType[*interact.ParamError](err); ok { // the agent can mend its call
			reason += ": " + wrong.Error()
		}
		a, err = interact.Answer{Outcome: api.Unavailable, Reason: reason}, nil
	}
	a = h.expect(ctx, who, s, a)
	switch {
	case s.Again:
	case s.Appeals:
		h.appealed(who, s, a)
	case a.By == api.ByPolicy || a.Outcome == "": // what was kept of another call is not for this one
		h.forget(who, s)
	default:
		h.keep(who, s, a)
	}
	return a, insisted, err
}

func decided(a interact.Answer) bool {
	return slices.Contains([]api.Outcome{api.Allowed, api.Denied, api.Answered}, a.Outcome)
}

// decide asks the policy, the user, or first the policy whether to ask the user.
func (h *Hooks) decide(
	ctx context.Context, r interact.Request, s Step,
) (a interact.Answer, insisted string, err error) {
	if s.Judge == nil && s.Otherwise.Outcome == "" {
		a, err = h.cfg.Broker.Do(ctx, r)
		return a, "", err
	}
	var instead interact.Answer
	a, err = h.cfg.Broker.Judge(ctx, r, func(d policy.Decision) (asks bool) {
		switch {
		case s.Otherwise.Outcome != "" && d.Effect == policy.Ask && !d.Insists():
			instead = s.Otherwise
			return false
		case s.Judge == nil: // what the policy decides counts, and the user is asked about the rest
			return true
		case !d.Insists() && !(s.Quiet && d.Effect == policy.Ask && h.cfg.AskMore()):
			return false
		case s.Futile != nil && s.Futile() != "":
			return true
		case s.Insist != nil:
			insisted = d.Reason
			return false
		}
		return s.AskNow
	}, s.Judge...)
	if err == nil && a.Outcome == "" {
		a = instead
	}
	return a, insisted, err
}

func (h *Hooks) mayNotice(who interact.Requester, kind string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(h.noticed, func(_ noticeKey, last time.Time) bool { return now.Sub(last) >= noticeEvery })
	key := noticeKey{who.Agent, who.Session, kind}
	if _, recent := h.noticed[key]; recent {
		return false
	}
	h.noticed[key] = now
	return true
}

// Answered returns a Step.Reply that replies only to what the user has answered.
func Answered(reply func(interact.Answer) (any, error)) func(interact.Answer) (any, error) {
	return func(a interact.Answer) (any, error) {
		if a.Outcome != api.Answered {
			return nil, nil
		}
		return reply(a)
	}
}

// Allows returns a Step.Reply that replies only to an allow.
func Allows(reply any) func(interact.Answer) (any, error) {
	return func(a interact.Answer) (any, error) {
		if a.Outcome != api.Allowed {
			return nil, nil
		}
		return reply, nil
	}
}

// CallOf selects the approval of the call with this id.
func CallOf(id string) func(interact.Request) bool {
	return func(r interact.Request) bool {
		a, ok := r.Body.(interact.Approve)
		return ok && id != "" && a.ToolUseID == id
	}
}

// Notify passes on the agent's own notification, unless it is empty.
func (s *Step) Notify(kind, message string) {
	if message != "" {
		s.Notice, s.NoticeKind = notice(s.CWD, message), "notification/"+kind
	}
}

// Finished notes that the agent's turn is over, so that none of the session's requests is pending any longer.
func (s *Step) Finished() {
	s.Over = Everything
	s.Notice, s.NoticeKind = notice(s.CWD, "finished"), "stop"
}

// Gates makes the step ask about a call of an agent that runs the call if nod is silent: what neither the policy nor
// the user allows is denied. allow is the reply to an allowed call; nil means silence.
func (s *Step) Gates(call interact.Approve, allow any) {
	s.Ask, s.Silence, s.Reply = call, api.TakesNo, Allows(allow)
}

// Vetoes makes the step ask about a call of an agent that continues in its own way if nod is silent, whether it asks
// the user or not. So the step is silent about what no rule covers. It denies what the policy denies, and asks the user
// about what the policy insists on, which is denied unless they allow it. allow is as in [Step.Gates].
func (s *Step) Vetoes(call interact.Approve, allow any) {
	s.Gates(call, allow)
	s.Judge, s.AskNow = []policy.Effect{policy.Deny}, true
	if allow != nil {
		s.Judge = append(s.Judge, policy.Allow)
	}
}

// Everything selects all requests of a session.
func Everything(interact.Request) bool { return true }

// notice returns a notice of what happened in the folder cwd, prefixed with the folder's name.
func notice(cwd, what string) *api.Notify {
	if filepath.IsAbs(cwd) && filepath.Dir(cwd) != cwd {
		what = filepath.Base(cwd) + ": " + what
	}
	return &api.Notify{Message: Cut(what, 500)}
}

// Cut shortens s to n characters, visibly.
func Cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// Refuse returns the reply with which the hook itself denies, or nil for an event that decides nothing.
func (p Protocol) Refuse(event, reason string) ([]byte, error) {
	reply := p.Deny(event, reason)
	if reply == nil {
		return nil, nil
	}
	return json.Marshal(reply)
}
