//go:build linux

package e2e

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"nod/api"
	"nod/e2e/devicetest"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
	"nod/ipc/endpoint"
	"nod/ipc/operator"
)

// mixedLife is how long nod-desktop lives at most where it has to reach a machine, too.
const mixedLife = 2500 * time.Millisecond

// mix puts half of the callers on another machine, and returns a phone. Both are paired before anything is killed.
func (k *killing) mix() *answeringPhone {
	k.t.Helper()
	k.there, k.life = k.n.newContainer("docker"), mixedLife
	host := fmt.Sprintf("127.0.0.1:%d", freePort(k.t))
	k.n.writeConfig(trafficConfig + remoteLines("docker") + "  hand_over: 0s\n  phone:\n    address: " + host + "\n")
	invitation := filepath.Join(k.n.Home(), "invitation")
	k.env = []string{"PATH=" + k.there.path("bin") + ":/usr/bin:/bin", admitVariable + "=" + invitation}
	k.start()
	k.ready()
	k.n.cmd = k.tray
	k.n.launch(k.command("nod", "evaluate", "--tool", "Look", "--input", "{}")).wants("allow", 0) // starts the stand-in
	p := newAnsweringPhone(k, host)
	for {
		if text, err := os.ReadFile(invitation); err == nil && len(text) > 0 {
			if status, code := p.Pair(string(text)); status != http.StatusOK {
				k.t.Fatalf("pair: %d %s", status, code)
			}
			break
		}
		k.wait(lookAgain)
	}
	k.n.peers("the machine and the phone to be paired", func(p operator.Peers) bool { return len(p.Peers) == 2 })
	k.end()
	return p
}

// killRelay kills the relay, if one runs.
func (k *killing) killRelay() {
	e, err := endpoint.Read(k.folder(&story{remote: true}))
	if err == nil && syscall.Kill(e.PID, syscall.SIGKILL) == nil {
		k.relays++
	}
}

// reported waits until the journal has every decision that callers on the other machine received. The audit reports
// those that are still missing after a while.
func (k *killing) reported() {
	k.t.Helper()
	r, err := journal.OpenReader(k.n.journalPath())
	must(k.t, err)
	defer r.Close()
	for begin := time.Now(); time.Since(begin) < callerTime; k.wait(10 * lookAgain) {
		has := map[string]bool{}
		for e, err := range r.Entries(k.t.Context(), history.Query{}) {
			must(k.t, err)
			text, err := json.Marshal(e)
			must(k.t, err)
			has[storyTokens.FindString(string(text))] = true
		}
		if !slices.ContainsFunc(k.stories, func(s *story) bool {
			return s.remote && !has[s.token] &&
				slices.ContainsFunc(s.replies, func(r reply) bool { return isDecision(r.outcome) })
		}) {
			return
		}
	}
}

// answeringPhone is a phone that answers some of what is pending, however often nod-desktop dies.
type answeringPhone struct {
	*devicetest.Phone
	notes  *os.File
	random *mathrand.Rand
}

func newAnsweringPhone(k *killing, host string) *answeringPhone {
	k.t.Helper()
	notes, err := os.OpenFile(k.notes, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(k.t, err)
	k.t.Cleanup(func() { notes.Close() })
	client := &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}
	return &answeringPhone{
		Phone: devicetest.At(k.t, host, devicetest.Network(client, host, func(*http.Request, error) {})),
		notes: notes, random: mathrand.New(mathrand.NewPCG(k.seed, 2)),
	}
}

// call sends a signed request. A status of 502 means that nobody is there.
func (p *answeringPhone) call(method, path string, body any) *httptest.ResponseRecorder {
	w := p.Send(p.Request("GET", "/nonce", nil))
	var n devicetest.Nonce
	if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &n) != nil {
		w.Code = http.StatusBadGateway
		return w
	}
	return p.Send(p.Sign(p.Request(method, path, body), n.Nonce, body))
}

// answer answers, one after another, what the windows leave to it, until ctx ends. It asks as seldom as a page.
func (p *answeringPhone) answer(ctx context.Context) {
	seen := map[interact.ID]int{}
	for ctx.Err() == nil {
		var pending devicetest.Prompts
		if w := p.call("GET", "/prompts", nil); w.Code == http.StatusOK {
			_ = json.Unmarshal(w.Body.Bytes(), &pending) // else it is empty
		}
		for _, h := range pending.Prompts {
			if seen[h.ID]++; seen[h.ID] == 2 {
				p.answerOne(h.ID)
				break
			}
		}
		time.Sleep(20 * lookAgain)
	}
}

func (p *answeringPhone) answerOne(id interact.ID) {
	w := p.call("GET", "/prompts/"+string(id), nil)
	var v devicetest.View
	if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &v) != nil {
		return
	}
	a, mark := p.decide(v)
	a.ID, a.Revision, a.Digest, a.Seen = v.ID, v.Revision, interact.Digest(w.Body.Bytes()), true
	time.Sleep(time.Duration(v.ArmMS) * time.Millisecond)
	p.note(note{What: gives, ID: id, Mark: mark, Outcome: a.Outcome})
	if w := p.call("POST", "/answer", a); w.Code == http.StatusNoContent {
		p.note(note{What: isTaken, ID: id, Mark: mark})
	}
}

// decide makes an answer, and returns what of it shows in the journal.
func (p *answeringPhone) decide(v devicetest.View) (a devicetest.Answer, mark string) {
	isYes := p.random.IntN(3) > 0
	mark = rand.Text()
	a.Outcome = api.Answered
	switch v.Kind {
	case api.KindApprove:
		if a.Outcome = api.Allowed; len(v.Affirm) > 0 && isYes {
			return a, ""
		}
		a.Outcome, a.Reason = api.Denied, mark
	case api.KindConfirm:
		a.Confirmed = isYes
		return a, ""
	case api.KindForm:
		a.Values = map[string]api.Value{v.Fields[0].ID: interact.TextValue(mark)}
	default:
		a.Text = mark
	}
	return a, mark
}

func (p *answeringPhone) note(n note) { _ = n.write(p.notes) }
