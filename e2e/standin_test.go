//go:build linux

package e2e

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nod/api"
	"nod/changes"
	"nod/interact"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/policy"
)

// standInName is the name under which this test's own binary stands in for nod's windows and for the user before
// them. It starts within milliseconds, so it can be killed thousands of times.
const standInName = "nod-dialogs"

// What the stand-in finds in its environment.
const (
	notesVariable   = "NOD_TEST_NOTES"   // path of its notes; without it takes none
	seedVariable    = "NOD_TEST_SEED"    // of what it answers; without it says yes to everything
	versionVariable = "NOD_TEST_VERSION" // of nod-desktop: see versionFor
	inviteVariable  = "NOD_TEST_INVITE"  // path to which it writes an invitation; then it answers nothing itself
	admitVariable   = "NOD_TEST_ADMIT"   // the same, but it pairs with all who ask and answers, too
)

// versionFor is the setting by which a stand-in gives itself for the windows of this nod-desktop.
func versionFor(t *testing.T, program string) string {
	t.Helper()
	out, err := exec.Command(program, "--version").Output() // nod-desktop 1.2.3 (0123abcd, 2026-11-22)
	must(t, err)
	words := strings.Fields(string(out))
	if len(words) < 2 {
		t.Fatalf("%s --version says %q", program, out)
	}
	return versionVariable + "=" + words[1]
}

// A note is a line of the stand-in's notes. It is in the kernel before the stand-in goes on, so no kill loses it.
type note struct {
	What noted       `json:"what"`
	ID   interact.ID `json:"id"`
	// Mark is different for every answer, and the answer carries it wherever it goes; or it is a draft.
	Mark    string      `json:"mark,omitempty"`
	Outcome api.Outcome `json:"outcome,omitempty"`
	At      time.Time   `json:"at"`
	PID     int         `json:"pid"`
}

// write writes a note in one piece. It begins a line of its own: a kill may cut the note before in the middle.
func (n note) write(to *os.File) error {
	n.At, n.PID = time.Now(), os.Getpid()
	line, err := json.Marshal(n)
	if err == nil {
		_, err = to.Write(slices.Concat([]byte{'\n'}, line, []byte{'\n'}))
	}
	return err
}

// noted says what a note is about.
type noted string

const (
	isShown noted = "shown" // the request is before the user, with that draft
	types   noted = "types" // the user has typed a draft
	isSaved noted = "saved" // … and nod has saved it
	gives   noted = "gives" // the user has answered; nod does not know yet
	isTaken noted = "taken" // nod has taken the answer
	isGone  noted = "gone"  // nod has not: the request was not pending any more
)

// standIn is the user who answers, after a random short time.
type standIn struct {
	client *operator.Client
	notes  *os.File
	wake   changes.Signal // what is pending may have changed
	away   bool           // then the user looks and answers nothing
	leaves bool           // … or leaves some prompts to the phone

	mu     sync.Mutex // guards random
	random *mathrand.Rand
}

// beStandIn answers what nod-desktop asks until that hangs up.
func beStandIn() int {
	notes, err := os.OpenFile(cmp.Or(os.Getenv(notesVariable), os.DevNull), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := &standIn{notes: notes, wake: changes.NewSignal()}
	if text, isRandom := os.LookupEnv(seedVariable); isRandom {
		seed, _ := strconv.ParseUint(text, 10, 64)
		s.random = mathrand.New(mathrand.NewPCG(seed, uint64(os.Getpid())))
	}
	ctx := context.Background()
	s.client, err = operator.Connect(ctx, os.Stdin, os.Stdout, os.Getenv(versionVariable), operator.Events{
		PromptsChanged: func() { s.wake.Send() },
		StateChanged:   func() {},
		HistoryChanged: func() {},
		Ping:           func(context.Context) error { return nil },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if path := os.Getenv(inviteVariable); path != "" {
		s.away = true
		if err := s.invite(ctx, path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if path := os.Getenv(admitVariable); path != "" {
		s.leaves = true
		go s.admitAll(ctx, path)
	}
	go s.follow(ctx)
	<-s.client.Done()
	return 0
}

// invite lets in a phone that may do everything, and leaves the answers to it.
func (s *standIn) invite(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil // nod-desktop has started the windows anew
	}
	if err := s.writeInvitation(ctx, path); err != nil {
		return err
	}
	go s.admit(ctx, path)
	return nil
}

func (s *standIn) writeInvitation(ctx context.Context, path string) error {
	invitation, err := s.client.Invite(ctx, phoneName, remote.May{Questions: true, Approvals: policy.Unknown})
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(invitation.URL), 0o600)
}

// phoneName is what the user calls the phone.
const phoneName = "my phone"

// admitAll pairs with the machine and the phone that ask to join, until nod-desktop is gone.
func (s *standIn) admitAll(ctx context.Context, path string) {
	if _, err := os.Stat(path); err != nil && s.writeInvitation(ctx, path) != nil {
		return
	}
	for {
		peers, err := s.client.Peers(ctx)
		if err != nil {
			return
		}
		for _, j := range peers.Joining {
			_ = s.client.Pair(ctx, j.Key, j.Role, string(j.Role))
		}
		time.Sleep(10 * lookAgain)
	}
}

// admit lets in the phone once it asks, and writes down the words that the user at the desk compares.
func (s *standIn) admit(ctx context.Context, path string) {
	for ctx.Err() == nil {
		peers, err := s.client.Peers(ctx)
		if err != nil {
			return // nod-desktop is gone
		}
		for _, j := range peers.Joining {
			if j.Role == remote.RoleDevice && os.WriteFile(path+".words", []byte(j.Fingerprint), 0o600) == nil {
				if _, err := os.Stat(path + ".same"); err == nil {
					_ = s.client.Pair(ctx, j.Key, j.Role, j.Hello.Name)
					return
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookAgain):
		}
	}
}

// follow takes on what is pending, and what comes.
func (s *standIn) follow(ctx context.Context) {
	known := map[interact.ID]int{}
	for {
		pending, err := s.client.Prompts(ctx, known)
		if err != nil {
			return // nod-desktop is gone
		}
		for id := range known {
			if !slices.ContainsFunc(pending.Prompts, func(p operator.Prompt) bool { return p.ID == id }) {
				delete(known, id)
			}
		}
		for _, p := range pending.Prompts {
			_, isKnown := known[p.ID]
			if p.Request == nil {
				continue
			}
			s.wake.Send() // there may be more
			known[p.ID] = p.Revision
			if !isKnown {
				s.note(note{What: isShown, ID: p.ID, Mark: string(p.Draft)})
				switch {
				case s.away:
				case s.random == nil:
					go s.oblige(ctx, p)
				default:
					go s.answer(ctx, p)
				}
			}
		}
		<-s.wake
	}
}

// thinks is how long the user takes at most.
const thinks = 150 * time.Millisecond

// answer answers one prompt, or leaves it to its time.
func (s *standIn) answer(ctx context.Context, p operator.Prompt) {
	mark := rand.Text()
	s.mu.Lock()
	a, thought, mood := s.decide(*p.Request, mark), upTo(s.random, thinks), s.random.IntN(20)
	s.mu.Unlock()
	if mood >= 12 {
		s.draft(ctx, p.ID)
	}
	time.Sleep(thought)
	switch mood {
	case 0: // the user is away
		return
	case 3, 4, 5, 6, 7:
		if s.leaves { // and takes the phone
			return
		}
	case 1:
		_ = s.client.Snooze(ctx, p.ID, thought) // it may be gone, or its caller too impatient
	case 2:
		_ = s.client.Report(ctx, operator.Screen{Focused: thought%2 == 0})
	}
	s.note(note{What: gives, ID: p.ID, Mark: mark, Outcome: a.Outcome})
	switch err := s.client.Answer(ctx, operator.Answer{ID: p.ID, Digest: p.Digest, Answer: a}); {
	case err == nil:
		s.note(note{What: isTaken, ID: p.ID, Mark: mark})
	case errors.Is(err, operator.ErrGone):
		s.note(note{What: isGone, ID: p.ID, Mark: mark})
	}
}

// oblige says yes at once, and picks what comes first.
func (s *standIn) oblige(ctx context.Context, p operator.Prompt) {
	a := interact.Answer{Outcome: api.Answered, Confirmed: true}
	switch b := p.Request.Body.(type) {
	case interact.Approve:
		a.Outcome, a.ShownSHA256 = api.Allowed, policy.ReadInput(b.Input).SHA256
	case api.Ask:
		a.Text = "as you like"
		if len(b.Options) > 0 {
			a.Text = b.Options[0]
		}
	case api.Form:
		a.Values = map[string]api.Value{}
		for _, q := range b.Questions {
			a.Values[q.ID] = firstValue(q)
		}
	}
	_ = s.client.Answer(ctx, operator.Answer{ID: p.ID, Digest: p.Digest, Answer: a}) // its caller may be gone
}

// firstValue is the first option of a question, or a text in the format that it wants.
func firstValue(q api.Question) api.Value {
	if q.InputType == interact.Choice {
		return interact.ListValue(q.Options[0].Value)
	}
	text, isFormatted := map[string]string{
		"email": "person@example.com", "uri": "https://example.com", "date": "2030-01-01",
		"date-time": "2030-01-01T12:00:00Z", "integer": "1", "number": "1",
	}[q.Format]
	if !isFormatted {
		text = "as you like"
	}
	return interact.TextValue(text)
}

// draft types something and does not send it.
func (s *standIn) draft(ctx context.Context, id interact.ID) {
	draft := rand.Text()
	s.note(note{What: types, ID: id, Mark: draft})
	if s.client.SaveDraft(ctx, id, []byte(draft)) == nil {
		s.note(note{What: isSaved, ID: id, Mark: draft})
	}
}

// decide makes an answer that carries mark. The caller holds s.mu.
func (s *standIn) decide(r interact.Request, mark string) interact.Answer {
	a := interact.Answer{Outcome: api.Answered, Shown: interact.Shown{Facts: []string{mark}}}
	if s.random.IntN(10) == 0 {
		a.Outcome = api.Dismissed
		return a
	}
	switch b := r.Body.(type) {
	case interact.Approve:
		if a.Outcome, a.Reason = api.Denied, mark; s.random.IntN(3) > 0 {
			a.Outcome, a.Reason, a.ShownSHA256 = api.Allowed, "", policy.ReadInput(b.Input).SHA256
		}
	case api.Ask:
		a.Text = mark
	case api.Confirm:
		a.Confirmed = s.random.IntN(2) == 0
	case api.Form:
		a.Values = map[string]api.Value{}
		for _, q := range b.Questions {
			a.Values[q.ID] = interact.TextValue(mark)
		}
	}
	return a
}

// note writes a note.
func (s *standIn) note(n note) {
	if err := n.write(s.notes); err != nil { // without notes no run means anything
		fmt.Fprintln(os.Stderr, "stand-in:", err)
		os.Exit(1)
	}
}
