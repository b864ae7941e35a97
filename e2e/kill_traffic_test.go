//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/client"
	"nod/ipc/endpoint"
)

const (
	answerTime = 6 * time.Second  // how long a request of the traffic waits for the user
	callerTime = 40 * time.Second // … and its caller for a reply, through any number of kills
	lookAgain  = 10 * time.Millisecond
)

// A story is one request of the traffic, and what its caller saw of it. Its token is in all that it asks.
type story struct {
	number int
	token  string
	kind   api.Kind
	policy api.Outcome // what the policy makes of it; empty: it is for the user
	manner manner
	remote bool   // an agent on the other machine asks
	key    string // idempotency key; empty: the caller sends none of its own

	mu      sync.Mutex // guards all below: twins tell one story
	lines   []string
	replies []reply
}

// manner is how a caller asks.
type manner string

// The manners.
const (
	attached  manner = "attached"  // through the Go client, and waits
	keyed     manner = "keyed"     // … with a key of its own
	twins     manner = "twins"     // two at once with one key
	held      manner = "held"      // … and fetches the answer if it takes long
	detached  manner = "detached"  // fetches the answer
	program   manner = "program"   // nod approve, and the like
	hook      manner = "hook"      // nod hook, as an agent's
	impatient manner = "impatient" // hangs up after a moment
	murdered  manner = "murdered"  // nod approve, killed after a moment
	withdrawn manner = "withdrawn" // takes a detached request back after a moment
)

var manners = []manner{
	attached, attached, keyed, twins, held, detached, detached, program, program, hook, impatient, murdered, withdrawn,
}

// isPatient reports whether the caller waits until it has a reply.
func (s *story) isPatient() bool {
	return s.manner != impatient && s.manner != murdered && s.manner != withdrawn
}

// reply is what a caller was told in the end.
type reply struct {
	id      interact.ID // empty where the reply has none, as an agent's hook
	outcome api.Outcome
	by      api.By
	value   string // what was answered, in words
	err     error  // there is no answer
	at      time.Time
}

func (r reply) String() string {
	if r.err != nil {
		return r.err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s by %s %s", r.id, r.outcome, r.by, r.value))
}

// newStory makes a request from its number and the seed, and from nothing else. So many of a hundred are for the
// policy.
func newStory(seed uint64, number, easy int) *story {
	random := rand.New(rand.NewPCG(seed, uint64(number)))
	s := &story{number: number, token: fmt.Sprintf("tok%06d", number), manner: pick(random, manners)}
	s.kind = pick(random, []api.Kind{
		api.KindApprove, api.KindApprove, api.KindAsk, api.KindConfirm, api.KindForm,
	})
	if s.manner == hook {
		s.kind = api.KindApprove
	}
	if random.IntN(100) < easy {
		s.kind = api.KindApprove
		s.policy = pick(random, []api.Outcome{api.Allowed, api.Allowed, api.Denied})
	}
	if s.manner == keyed || s.manner == twins {
		s.key = "key-" + s.token
	}
	return s
}

// tell adds a line to the story.
func (s *story) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// end notes what a caller was told in the end.
func (s *story) end(r reply) {
	s.tell("reply: %v", r)
	r.at = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, r)
}

// input is the tool call of an approval, as [trafficConfig] knows it.
func (s *story) input() (tool, input string) {
	switch s.policy {
	case api.Allowed:
		return "Look", fmt.Sprintf(`{"at":%q}`, s.token)
	case api.Denied:
		return "Push", fmt.Sprintf(`{"to":%q}`, s.token)
	}
	return "Bash", fmt.Sprintf(`{"command":"make %s"}`, s.token)
}

// traffic is callers that ask all at once.
type traffic struct {
	n     *nod
	dir   string // of the programs
	seed  uint64
	easy  int           // how many requests of a hundred are for the policy
	pause time.Duration // of a caller between two requests, at most; 0: none
	there *machine      // where half of the callers are; nil: all are here

	mu      sync.Mutex // guards all below
	stories []*story
}

// next makes the next story.
func (t *traffic) next() *story {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := newStory(t.seed, len(t.stories), t.easy)
	s.remote = t.there != nil && s.number%2 == 1
	t.stories = append(t.stories, s)
	return s
}

// drive asks, as so many callers at once, until ctx ends, and waits until everybody has a reply.
func (t *traffic) drive(ctx context.Context, callers int) {
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for ctx.Err() == nil {
				t.live(t.next())
				if t.pause > 0 {
					time.Sleep(rand.N(t.pause))
				}
			}
		})
	}
	all.Wait()
}

// live has a caller ask in its manner.
func (t *traffic) live(s *story) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), callerTime, errors.New("no reply, ever"))
	defer cancel()
	random := rand.New(rand.NewPCG(t.seed, uint64(s.number)+1<<32))
	moment, hangUp := context.WithTimeoutCause(ctx, upTo(random, 300*time.Millisecond), errors.New("hung up"))
	defer hangUp()
	common := api.Common{
		Agent: "a-script", Session: fmt.Sprint("session-", s.number/5), CWD: t.project(s),
		Timeout: answerTime.Seconds(), IdempotencyKey: s.key,
	}
	switch s.manner {
	case twins:
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { s.end(t.ask(ctx, s, common)) })
		}
		both.Wait()
	case held:
		common.Hold = 0.05
		s.end(t.fetch(ctx, s, t.ask(ctx, s, common)))
	case detached:
		common.Detach = true
		s.end(t.fetch(ctx, s, t.ask(ctx, s, common)))
	case withdrawn:
		common.Detach = true
		r := t.ask(ctx, s, common)
		<-moment.Done()
		s.end(t.withdraw(ctx, s, r))
	case program:
		s.end(t.run(ctx, ctx, s))
	case hook:
		s.end(t.runHook(ctx, s))
	case murdered:
		s.end(t.run(ctx, moment, s))
	case impatient:
		s.end(t.ask(moment, s, common))
	default:
		s.end(t.ask(ctx, s, common))
	}
}

// folder is where the nod that a story asks publishes its endpoint.
func (t *traffic) folder(s *story) string {
	if s.remote {
		return t.there.path("run/nod")
	}
	return filepath.Join(t.n.Runtime(), "nod")
}

// project is the folder that a story's agent works in.
func (t *traffic) project(s *story) string {
	if s.remote {
		return t.there.path("home/src/shop")
	}
	return t.n.project()
}

// reach calls f with a client of the nod that a story asks, and again while it does not run. What f was accepted with
// it keeps.
func (t *traffic) reach(ctx context.Context, s *story, f func(c *client.Client) error) error {
	for {
		e, err := endpoint.Read(t.folder(s))
		if err == nil {
			c := &client.Client{Endpoint: e, Dir: t.folder(s)}
			err = f(c)
		}
		if !errors.Is(err, client.ErrNotRunning) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookAgain):
		}
	}
}

// ask asks through the Go client.
func (t *traffic) ask(ctx context.Context, s *story, common api.Common) (r reply) {
	err := t.reach(ctx, s, func(c *client.Client) error {
		s.tell("asks %+v", common)
		answer, err := s.send(ctx, c, common)
		r = replyOf(answer, err)
		return err
	})
	if r == (reply{}) {
		r.err = err
	}
	return r
}

// send sends the request of the story.
func (s *story) send(ctx context.Context, c *client.Client, common api.Common) (any, error) {
	text := "About " + s.token
	switch s.kind {
	case api.KindAsk:
		return anyOf(c.Ask(ctx, api.AskRequest{Ask: api.Ask{Question: text}, Common: common}))
	case api.KindConfirm:
		return anyOf(c.Confirm(ctx, api.ConfirmRequest{Confirm: api.Confirm{Message: text}, Common: common}))
	case api.KindForm:
		form := api.Form{Questions: []api.Question{{ID: "q", Question: text, InputType: "text"}}}
		return anyOf(c.Form(ctx, api.FormRequest{Form: form, Common: common}))
	}
	tool, input := s.input()
	approve := api.Approve{Tool: tool, Input: json.RawMessage(input), Description: text}
	return anyOf(c.Approve(ctx, api.ApproveRequest{Approve: approve, Common: common}))
}

func anyOf[T any](r T, err error) (any, error) { return r, err }

// replyOf is what an answer of the client amounts to.
func replyOf(answer any, err error) reply {
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Outcome != "" {
		return reply{id: interact.ID(p.ID), outcome: p.Outcome}
	}
	if p, ok := errors.AsType[*client.Pending](err); ok {
		return reply{id: interact.ID(p.ID), outcome: api.Pending}
	}
	if err != nil {
		return reply{err: err}
	}
	switch a := answer.(type) {
	case api.AskReply:
		return reply{id: interact.ID(a.ID), outcome: a.Outcome, by: api.ByHuman, value: a.Answer}
	case api.ConfirmReply:
		r := reply{id: interact.ID(a.ID), outcome: a.Outcome, by: api.ByHuman, value: fmt.Sprint(a.Confirmed)}
		if a.Defaulted {
			r.by = api.ByTimeout
		}
		return r
	case api.FormReply:
		text := strings.Join(a.Answer.Items, " ")
		return reply{id: interact.ID(a.ID), outcome: a.Outcome, by: api.ByHuman, value: text}
	case api.ApproveReply:
		r := reply{id: interact.ID(a.ID), outcome: a.Outcome, by: a.By}
		if a.Outcome == api.Denied && a.By == api.ByHuman {
			r.value = a.Reason
		}
		return r
	}
	return reply{err: fmt.Errorf("a reply of type %T", answer)}
}

// fetch waits for the answer of a request that is pending, however often nod goes meanwhile.
func (t *traffic) fetch(ctx context.Context, s *story, r reply) reply {
	for r.outcome == api.Pending {
		s.tell("pending: %s", r.id)
		var became api.RequestReply
		err := t.reach(ctx, s, func(c *client.Client) (err error) {
			became, err = c.Request(ctx, string(r.id), time.Second)
			return err
		})
		switch lost, isLost := errors.AsType[*client.LostError](err); {
		case isLost:
			s.tell("%v", lost)
		case err != nil:
			return reply{id: r.id, err: err}
		case became.Status != api.Pending:
			id := r.id
			r = replyOf(client.Answer(became))
			r.id = id
		}
	}
	return r
}

// withdraw takes a pending request back.
func (t *traffic) withdraw(ctx context.Context, s *story, r reply) reply {
	for r.outcome == api.Pending {
		var became api.RequestReply
		err := t.reach(ctx, s, func(c *client.Client) (err error) {
			became, err = c.Withdraw(ctx, string(r.id))
			return err
		})
		if _, isLost := errors.AsType[*client.LostError](err); isLost {
			s.tell("withdraw: %v", err)
			continue
		}
		if err != nil {
			return reply{id: r.id, err: err}
		}
		id := r.id
		r = replyOf(client.Answer(became))
		r.id = id
	}
	return r
}

// run asks through the nod command, which dies when alive ends.
func (t *traffic) run(ctx, alive context.Context, s *story) reply {
	args := []string{string(s.kind), "--json", "--agent", "a-script", "--session", fmt.Sprint("session-", s.number/5),
		"--timeout", answerTime.String()}
	text, stdin := "About "+s.token, ""
	switch s.kind {
	case api.KindApprove:
		tool, input := s.input()
		args = append(args, "--tool", tool, "--input", input, "--description", text)
	case api.KindForm:
		args = append(args, "-")
		stdin = fmt.Sprintf(`{"questions":[{"id":"q","question":%q,"input_type":"text"}]}`, text)
	default:
		args = append(args, text)
	}
	for {
		out, errout, err := t.launch(alive, s, stdin, args...)
		if err != nil {
			return reply{err: err}
		}
		if !strings.Contains(errout, "isn't running") {
			return s.read(out, errout)
		}
		select {
		case <-ctx.Done():
			return reply{err: context.Cause(ctx)}
		case <-alive.Done():
			return reply{err: context.Cause(alive)}
		case <-time.After(lookAgain):
		}
	}
}

// launch runs a nod command to its end, or kills it when alive ends first.
func (t *traffic) launch(
	alive context.Context, s *story, stdin string, args ...string,
) (out, errout string, err error) {
	var stdout, stderr bytes.Buffer
	cmd := t.command("nod", args...)
	if s.remote {
		cmd = t.there.command(filepath.Join(bin, "nod"), args...)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	s.tell("runs nod %q", args)
	ended, err := t.n.Launch(cmd)
	if err != nil {
		return "", "", err
	}
	select {
	case <-ended:
	case <-alive.Done():
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		if out := stdout.String(); out != "" { // it was too late
			break
		}
		return "", "", context.Cause(alive)
	}
	s.tell("nod: status %d, %q, %q", cmd.ProcessState.ExitCode(), stdout.String(), stderr.String())
	return stdout.String(), stderr.String(), nil
}

// command prepares one of the programs.
func (t *traffic) command(name string, args ...string) *exec.Cmd {
	return t.n.inProject(t.n.Command(filepath.Join(t.dir, name), args...))
}

// read reads what nod --json prints, as the client reads it.
func (s *story) read(out, errout string) reply {
	if strings.Contains(errout, "did not come back in time") {
		return reply{err: errGaveUp}
	}
	if out == "" {
		return reply{err: fmt.Errorf("nod: %s", strings.TrimSpace(errout))}
	}
	became := api.RequestReply{Kind: s.kind, Status: api.Answered, Answer: json.RawMessage(out)}
	r := replyOf(client.Answer(became))
	if r.err != nil {
		r.err = fmt.Errorf("%w: %s%s", r.err, out, errout)
	}
	return r
}

// runHook asks as Claude Code does, and reads what it would: no id, and nothing where nobody decided.
func (t *traffic) runHook(ctx context.Context, s *story) reply {
	event := "PermissionRequest"
	if s.policy != "" {
		event = "PreToolUse"
	}
	tool, input := s.input()
	payload := fmt.Sprintf(`{"session_id":"session-%d","cwd":%q,"permission_mode":"default","hook_event_name":%q,`+
		`"tool_name":%q,"tool_input":%s,"tool_use_id":"toolu_%s"}`, s.number/5, t.project(s), event, tool, input, s.token)
	out, _, err := t.launch(ctx, s, payload, "hook", "claude-code")
	switch {
	case err != nil:
		return reply{err: err}
	case strings.Contains(out, `"behavior":"allow"`), strings.Contains(out, `"permissionDecision":"allow"`):
		return reply{outcome: api.Allowed}
	case strings.Contains(out, `"behavior":"deny"`), strings.Contains(out, `"permissionDecision":"deny"`):
		return reply{outcome: api.Denied}
	}
	return reply{}
}

// errGaveUp means that nod was gone for so long that its own command waits no longer, as on a machine that is busy.
var errGaveUp = errors.New("nod was gone for too long")

// isRefusal reports whether err says that nod did not take a request in, or was not there for long.
func isRefusal(err error) bool {
	if errors.Is(err, errGaveUp) {
		return true
	}
	p, ok := errors.AsType[*client.Problem](err)
	return ok && p.Status == http.StatusTooManyRequests
}
