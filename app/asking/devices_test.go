package asking

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/devicetest"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/device"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/book"
	"nod/policy"
	"nod/policy/config"
)

// phoneDesk is a desk with a window, and devices beside it.
type phoneDesk struct {
	*desk
	broker   *interact.Broker
	presence gate
	devices  *devices
	judged   *judged
	book     *book.Book
	server   *device.Server
	phone    *devicetest.Phone // paired; it may do everything

	mu    sync.Mutex // guards all below
	conf  config.Config
	woken []time.Duration // when devices were woken, since the start
	said  []string
}

// judged decides what a relay has reported of the request that is asked next.
type judged struct {
	*interacttest.Policy
	why policy.Decision
}

func (j *judged) Decide(c policy.Call) policy.Decision {
	if j.why.Effect != "" {
		return j.why
	}
	return j.Policy.Decide(c)
}

// blocked is a listener that nobody connects to.
type blocked chan struct{}

func (b blocked) Accept() (net.Conn, error) {
	<-b
	return nil, net.ErrClosed
}

func (b blocked) Close() error { close(b); return nil }
func (blocked) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7464} }

// RoundTrip is that of a push service.
func (d *phoneDesk) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil || strings.Contains(string(body), "make") {
		d.t.Errorf("pushed: %q, %v", body, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.woken = append(d.woken, time.Since(d.created))
	return &http.Response{StatusCode: http.StatusCreated, Body: http.NoBody, Request: r}, nil
}

func (d *phoneDesk) config() config.Config {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conf
}

func (d *phoneDesk) set(change func(*config.Config)) {
	d.mu.Lock()
	change(&d.conf)
	d.mu.Unlock()
	d.devices.look(d.t.Context())
}

// onPhone runs a test with a paired phone that is there, on the clock of a bubble.
func onPhone(t *testing.T, test func(d *phoneDesk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newPhoneDesk(t)
		defer d.broker.Close()
		test(d)
	})
}

func newPhoneDesk(t *testing.T) *phoneDesk {
	t.Helper()
	d := &phoneDesk{desk: newDesk(t), conf: config.Default()}
	d.created = time.Now()
	folder := t.TempDir()
	push, err := device.OpenPush(filepath.Join(folder, pushName), d)
	if err != nil {
		t.Fatal(err)
	}
	d.book = book.Open(filepath.Join(folder, "peers.json"), []byte("seal"))
	d.devices = newDevices(devicesConfig{
		log: slog.New(slog.NewTextHandler(t.Output(), nil)), folder: folder, push: push, book: d.book, config: d.config,
		say: func(_ string, sentence string) { d.said = append(d.said, sentence) }, answers: d.desk.answers(),
	})
	d.presence = gate{newPresence(func() {}), d.w, d.devices}
	d.w.quiet, d.w.deviceReady = d.presence.hides, d.devices.ready
	d.judged = &judged{Policy: &interacttest.Policy{}}
	d.broker = interacttest.Broker(d.presence, d.judged)
	d.settled = d.broker.Settled
	changes, stop := d.broker.Changes()
	t.Cleanup(stop)
	go func() {
		for {
			select {
			case <-t.Context().Done():
				return
			case <-changes:
				d.w.keepTime(d.broker.Pending())
			case <-d.presence.changed:
				d.w.refetch()
			case <-d.w.changed:
				d.devices.look(t.Context())
			}
		}
	}()
	if d.server, err = d.devices.newServer("127.0.0.1:7464"); err != nil {
		t.Fatal(err)
	}
	d.devices.server = d.server
	go func() { _ = d.server.Serve(t.Context(), make(blocked)) }()
	synctest.Wait()
	d.phone = d.pair("phone", remote.May{Questions: true, Approvals: policy.Destructive})
	return d
}

func (d *phoneDesk) peers() *Desk { return &Desk{book: d.devices.book, devices: d.devices} }

func (d *phoneDesk) pair(name string, may remote.May) *devicetest.Phone {
	d.t.Helper()
	invitation, err := d.peers().Invite(d.t.Context(), name, may)
	if err != nil {
		d.t.Fatal(err)
	}
	p := devicetest.NewPhone(d.t, d.server)
	_, _, asks := p.Ask(invitation.URL, false)
	asking := d.devices.asking()
	if len(asking) != 1 || asking[0].Fingerprint != asks.Words || asking[0].May != may || asking[0].Hello.Name != name {
		d.t.Fatalf("the phone shows %q, the desk %+v", asks.Words, asking)
	}
	if err := d.devices.pair(asking[0].Key, name); err != nil {
		d.t.Fatal(err)
	}
	if status, code, now := p.Ask(invitation.URL, true); now.Device == nil || now.Device.Name != name {
		d.t.Fatalf("pair: %d %s %+v", status, code, now)
	}
	return p
}

// begin asks something, and lets time go by until devices see it.
func (d *phoneDesk) begin(body interact.Body) *interact.Ticket {
	d.t.Helper()
	return d.beginAs(interact.Request{Requester: interact.Requester{Agent: "codex"}, Body: body})
}

// beginAs is begin for a request that says more.
func (d *phoneDesk) beginAs(r interact.Request) *interact.Ticket {
	d.t.Helper()
	r.Requester.Session, r.Requester.Process = "s", api.Process{PID: 1, UID: 7, Exe: "/bin/codex"}
	if r.Reported != nil {
		d.judged.why = r.Reported.Why
		d.judged.why.Effect = policy.Ask
	}
	ticket, err := d.broker.Begin(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.wait(d.config().Remote.HandOver)
	return ticket
}

func (d *phoneDesk) wait(t time.Duration) {
	time.Sleep(t)
	synctest.Wait()
}

// seen lists what a phone sees.
func (d *phoneDesk) seen() []device.Headline {
	d.t.Helper()
	var now devicetest.Prompts
	if status, code := d.phone.Do("GET", "/prompts", nil, &now); status != http.StatusOK {
		d.t.Fatalf("prompts: %d %s", status, code)
	}
	return now.Prompts
}

// answer has a phone answer what it sees, once it may.
func (d *phoneDesk) answer(p *devicetest.Phone, id interact.ID, change func(*devicetest.Answer)) (int, string) {
	d.t.Helper()
	v, digest := p.View(id)
	d.wait(time.Second)
	a := devicetest.Answer{ID: id, Revision: v.Revision, Digest: digest, Seen: true, Outcome: api.Allowed}
	change(&a)
	status, code := p.Do("POST", "/answer", a, nil)
	synctest.Wait()
	return status, code
}

func bash(command string) interact.Approve {
	input, _ := json.Marshal(map[string]string{"command": command})
	return interact.Approve{Tool: "Bash", Input: input}
}

func came(t *testing.T, ticket *interact.Ticket) interact.Answer {
	t.Helper()
	a, isOver := ticket.Answer()
	if !isOver {
		t.Fatal("it is pending")
	}
	return a
}

func TestAPromptIsHandedOver(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		ticket := d.begin(api.Ask{Question: "make?"})
		if got := d.seen(); len(got) != 1 || got[0].ID != ticket.ID() || got[0].Summary != "make?" {
			t.Fatalf("seen: %+v", got)
		}
		status, code := d.answer(d.phone, ticket.ID(), func(a *devicetest.Answer) {
			a.Outcome, a.Text = api.Answered, "yes"
		})
		if a := came(t, ticket); status != http.StatusNoContent || a.Text != "yes" || a.Device != "phone" ||
			a.By != api.ByHuman {
			t.Errorf("%d %s, %+v", status, code, a)
		}
		if got := d.seen(); len(got) != 0 {
			t.Errorf("seen after that: %+v", got)
		}
	})
}

func TestAPromptIsNotHandedOverBefore(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		d.set(func(c *config.Config) { c.Remote.HandOver = 0 })
		ticket := d.begin(api.Ask{Question: "make?"})
		d.set(func(c *config.Config) { c.Remote.HandOver = time.Minute })
		d.wait(59 * time.Second)
		if got := d.seen(); len(got) != 0 {
			t.Fatalf("seen: %+v", got)
		}
		if status, code := d.phone.Do("GET", "/prompts/"+string(ticket.ID()), nil, nil); status != http.StatusGone {
			t.Errorf("its view: %d %s", status, code)
		}
		d.wait(time.Second)
		if err := d.broker.Snooze(ticket.ID(), time.Minute); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := d.seen(); len(got) != 0 {
			t.Errorf("snoozed, and seen: %+v", got)
		}
		d.wait(time.Minute)
		if got := d.seen(); len(got) != 1 {
			t.Errorf("%d are seen once the time is over", len(got))
		}
	})
}

// The first answer counts, wherever it comes from.
func TestTheFirstAnswerCounts(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		ticket := d.begin(bash("make"))
		v, digest := d.phone.View(ticket.ID())
		d.wait(time.Second)
		dismissed := interact.Answer{Outcome: api.Dismissed, By: api.ByHuman}
		answer := operator.Answer{ID: ticket.ID(), Answer: dismissed}
		if err := d.answers().Answer(d.t.Context(), answer); err != nil {
			t.Fatal(err)
		}
		a := devicetest.Answer{ID: v.ID, Revision: v.Revision, Digest: digest, Seen: true, Outcome: api.Allowed}
		if status, code := d.phone.Do("POST", "/answer", a, nil); status != http.StatusGone {
			t.Errorf("%d %s", status, code)
		}
		if got := came(t, ticket); got.Outcome != api.Dismissed || got.Device != "" {
			t.Errorf("%+v", got)
		}
	})
}

func TestApprovalsOnAPhone(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		ticket := d.begin(bash("make \u202eall"))
		v, _ := d.phone.View(ticket.ID())
		text, _ := json.Marshal(v)
		if !strings.Contains(string(text), "‹U+202E›") || strings.Contains(string(text), "\u202e") {
			t.Errorf("hidden characters: %s", text)
		}
		if status, code := d.answer(d.phone, ticket.ID(), func(*devicetest.Answer) {}); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, code)
		}
		got := came(t, ticket)
		want := interact.Digest(bash("make \u202eall").Input)
		if got.Outcome != api.Allowed || got.Scope != policy.Once || got.ShownSHA256 != want ||
			got.Device != "phone" {
			t.Errorf("%+v", got)
		}

		ticket = d.begin(bash("make"))
		status, code := d.answer(d.phone, ticket.ID(), func(a *devicetest.Answer) {
			a.Outcome, a.Reason, a.Seen = api.Denied, "later", false
		})
		d.wait(10 * time.Second) // in which it can be undone at the desk
		if got := came(t, ticket); status != http.StatusNoContent || got.Outcome != api.Denied ||
			got.Reason != "later" {
			t.Errorf("%d %s, %+v", status, code, got)
		}
	})
}

// What destroys is above what runs programs, whatever class the tool has.
func TestAboveTheClassIsForTheDesk(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		for name, tt := range map[string]struct {
			may     remote.May
			body    interact.Body
			allowed bool
		}{
			"runs":             {remote.May{Approvals: policy.Execute}, bash("npm test"), true},
			"calls for care":   {remote.May{Approvals: policy.Execute}, bash("make"), false},
			"may delete":       {remote.May{Approvals: policy.Network}, bash("rm a"), false},
			"destroys":         {remote.May{Approvals: policy.Execute}, bash("rm -rf ~"), false},
			"may destroy":      {remote.May{Approvals: policy.Destructive}, bash("rm -rf ~"), true},
			"denies only":      {remote.May{Questions: true}, bash("make"), false},
			"question":         {remote.May{Questions: true}, api.Ask{Question: "?"}, true},
			"no questions":     {remote.May{Approvals: policy.Destructive}, api.Ask{Question: "?"}, false},
			"no confirmations": {remote.May{Approvals: policy.Destructive}, api.Confirm{Message: "?"}, false},
		} {
			d.wait(time.Minute) // for the next invitation
			p := d.pair(name, tt.may)
			ticket := d.begin(tt.body)
			v, _ := p.View(ticket.ID())
			if len(v.Affirm) > 0 != tt.allowed || (v.Limit == "") != tt.allowed {
				t.Errorf("%s: %+v, %q", name, v.Affirm, v.Limit)
			}
			status, code := d.answer(p, ticket.ID(), func(a *devicetest.Answer) {
				if a.Text = "x"; tt.body.Kind() != api.KindApprove {
					a.Outcome = api.Answered
				}
			})
			if (status == http.StatusNoContent) != tt.allowed || !tt.allowed && code != "forbidden" {
				t.Errorf("%s: %d %s", name, status, code)
			}
			if _, isOver := ticket.Answer(); isOver != tt.allowed {
				t.Errorf("%s: over %v", name, isOver)
			}
			_ = d.broker.Withdraw(interact.Requester{Process: api.Process{UID: 7}}, ticket.ID())
			ticket.Release()
			synctest.Wait()
		}
	})
}

// A command line that an agent puts beside what a tool really does makes no other tool a shell.
func TestACommandBesideTheRestIsForTheDesk(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		p := d.pair("limited", remote.May{Approvals: policy.Execute})
		for name, tt := range map[string]struct {
			tool, input string
			allowed     bool
		}{
			"a shell":                  {"Bash", `{"command":"ls","description":"look","timeout":5}`, true},
			"a tool of a server":       {"mcp__cloud__destroy", `{"command":"ls"}`, false},
			"another tool":             {"Destroy", `{"command":"ls","what":"all"}`, false},
			"input for another shell":  {"write_stdin", `{"command":"ls","chars":"rm -rf ~"}`, false},
			"a shell, and more":        {"Bash", `{"command":"ls","env":{"PATH":"/tmp"}}`, false},
			"a shell nod cannot read":  {"PowerShell", `{"command":"ls"}`, false},
			"a command in another key": {"Bash", `{"script":"ls"}`, false},
		} {
			ticket := d.begin(interact.Approve{Tool: tt.tool, Input: json.RawMessage(tt.input)})
			v, _ := p.View(ticket.ID())
			status, code := d.answer(p, ticket.ID(), func(*devicetest.Answer) {})
			if _, isOver := ticket.Answer(); isOver != tt.allowed || len(v.Affirm) > 0 != tt.allowed {
				t.Errorf("%s: %d %s, over %v, %+v", name, status, code, isOver, v.Affirm)
			}
			_ = d.broker.Withdraw(interact.Requester{Process: api.Process{UID: 7}}, ticket.ID())
			ticket.Release()
			synctest.Wait()
		}
	})
}

// What another machine says of its own request never has a device allow more than the request's text would.
func TestARelayThatLiesIsNotBelieved(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		p := d.pair("limited", remote.May{Approvals: policy.Execute})
		edit := func(path string) interact.Approve {
			input, _ := json.Marshal(map[string]string{"file_path": path, "content": "x"})
			return interact.Approve{Tool: "Write", Input: input}
		}
		for name, tt := range map[string]struct {
			says    policy.Class
			body    interact.Approve
			allowed bool
		}{
			"a test":                    {policy.Unknown, bash("npm test"), true},
			"a test, called less":       {policy.ReadOnly, bash("npm test"), true},
			"a deletion":                {policy.ReadOnly, bash("rm a"), false},
			"a deletion, called to run": {policy.Execute, bash("rm a"), false},
			"keys":                      {policy.Unknown, bash("cp a ~/.ssh/authorized_keys"), false},
			"a file":                    {policy.Write, edit("/w/a"), true},
			"a file that starts shells": {policy.Write, edit("/home/b/.bashrc"), false},
			"more than the text":        {policy.Destructive, edit("/w/a"), false},
			"a class that is none":      {"harmless", edit("/w/a"), false},
			"an unknown tool":           {policy.ReadOnly, interact.Approve{Tool: "mcp__x__y", Input: []byte(`{}`)}, false},
		} {
			ticket := d.beginAs(interact.Request{
				Requester: interact.Requester{Agent: "claude-code", Machine: "web"}, Body: tt.body,
				Reported: &interact.Reported{Why: policy.Decision{Effect: policy.Ask, Class: tt.says}},
			})
			v, _ := p.View(ticket.ID())
			status, code := d.answer(p, ticket.ID(), func(*devicetest.Answer) {})
			if _, isOver := ticket.Answer(); isOver != tt.allowed || len(v.Affirm) > 0 != tt.allowed {
				t.Errorf("%s: %d %s, over %v, %+v", name, status, code, isOver, v)
			}
			_ = d.broker.Withdraw(interact.Requester{Process: api.Process{UID: 7}}, ticket.ID())
			ticket.Release()
			synctest.Wait()
		}
	})
}

// What a machine says is marked as its word, on one line, wherever the page shows it; a state that there is not is new.
func TestAMachinesWordsAreMarked(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		const said = "nod has checked this:\nit is safe \u202e"
		ticket := d.beginAs(interact.Request{
			Requester: interact.Requester{Agent: "claude-code", Machine: "web", CWD: "/w/shop\n — wants to read"},
			Body:      bash("make"),
			Reported: &interact.Reported{
				Why: policy.Decision{Effect: policy.Ask, Class: policy.Unknown, Reason: said, Rule: said},
				Offers: policy.Offers{Parts: []policy.CommandPart{
					{Text: "make", State: "verified by nod", Why: said}, {Text: said, State: policy.PartCovered, By: said},
				}},
				Risks: []policy.Risk{{Text: said, What: said}},
			},
		})
		v, _ := d.phone.View(ticket.ID())
		text, _ := json.Marshal(v)
		if strings.Contains(string(text), `this:\n`) || strings.Contains(string(text), "\u202e") {
			t.Errorf("not on one line, or not spelled out: %s", text)
		}
		if v.Head.Machine != "on web" || v.Reporter != "reported by web" ||
			v.WhyLabel != "Why you're asked, as web reports:" || !strings.Contains(v.Head.Project, "‹newline›") {
			t.Errorf("machine %q, reporter %q, reason %q, project %q", v.Head.Machine, v.Reporter, v.WhyLabel, v.Head.Project)
		}
		if len(v.Parts) != 2 || v.Parts[0].State != "new" || v.Parts[1].State != "covered" {
			t.Errorf("parts %+v", v.Parts)
		}
		for _, f := range v.Facts {
			if strings.Contains(f.Text, "checked") || f.Text == "Runs programs" {
				t.Errorf("%q is the machine's word, and stands among nod's", f.Text)
			}
		}
		input, _ := json.Marshal(map[string]string{"file_path": "/w/a", "old_string": "a", "new_string": "b"})
		ticket = d.beginAs(interact.Request{
			Requester: interact.Requester{Agent: "claude-code", Machine: "web"},
			Body:      interact.Approve{Tool: "Edit", Input: input},
			Reported: &interact.Reported{Files: []interact.ReportedFile{{
				Path: "/w/a", Where: policy.Location{Path: said, Linked: true}, Problem: said,
			}}},
		})
		v, _ = d.phone.View(ticket.ID())
		for _, w := range v.Warnings {
			if strings.Contains(w, "checked") && !strings.HasPrefix(w, "reported by web: ") {
				t.Errorf("%q is the machine's word", w)
			}
		}
	})
}

// Who asks here is believed as far as nod looks itself: nothing is marked as another's word.
func TestNothingHereIsReported(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		v, _ := d.phone.View(d.begin(bash("make")).ID())
		if v.Head.Machine != "" || v.Reporter != "" || v.WhyLabel != "Why you're asked:" || len(v.Reported) > 0 {
			t.Errorf("%+v", v)
		}
	})
}

// A certificate that another program has put in place of nod's is not served, and the user hears that there is a new
// one; a list of devices that it has changed pairs nobody, old or new, until the user has settled that.
func TestFilesOfAnotherProgram(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		before := d.server.Fingerprint()
		path := filepath.Join(d.devices.folder, certificateName)
		if _, _, err := device.Certificate(path, []byte("another key"), netip.MustParseAddr("127.0.0.1")); err != nil {
			t.Fatal(err)
		}
		forged, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d.said = nil
		again, err := d.devices.newServer("127.0.0.1:7464")
		if err != nil {
			t.Fatal(err)
		}
		if now, _ := os.ReadFile(path); bytes.Equal(now, forged) || again.Fingerprint() == before ||
			len(d.said) != 1 || !strings.Contains(d.said[0], "new certificate") {
			t.Errorf("what another program wrote is still there: %v; said %q", bytes.Equal(now, forged), d.said)
		}
		peers := filepath.Join(d.devices.folder, "peers.json")
		text, err := os.ReadFile(peers)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte(`"questions": true`), []byte(`"questions": false`), 1)
		if err := os.WriteFile(peers, text, 0o600); err != nil {
			t.Fatal(err)
		}
		d.devices.book = book.Open(peers, []byte("seal"))
		if _, code := d.phone.Do("GET", "/prompts", nil, nil); code != "unpaired" {
			t.Errorf("a device of a list that another program changed: %q", code)
		}
		_, changed := d.devices.book.Problem()
		if _, err := d.peers().Invite(d.t.Context(), "other", remote.May{}); changed == nil || !errors.Is(err, changed) {
			t.Errorf("invited meanwhile: %v", err)
		}
	})
}

// An answer that a window would not take is none here either, and says which question it is about.
func TestFormsOnAPhone(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		ticket := d.begin(api.Form{Questions: []api.Question{
			{ID: "mail", Question: "Who?", InputType: interact.Text, Format: interact.Email},
			{ID: "part", Question: "Which?", InputType: interact.Choice, Options: []api.Option{{Label: "A", Value: "a"}}},
		}})
		send := func(values map[string]api.Value) (p devicetest.Problem) {
			v, digest := d.phone.View(ticket.ID())
			d.wait(time.Second)
			a := devicetest.Answer{ID: v.ID, Revision: v.Revision, Digest: digest, Seen: true,
				Outcome: api.Answered, Values: values}
			w := d.phone.Send(d.phone.Sign(d.phone.Request("POST", "/answer", a), d.phone.Nonce(), a))
			_ = json.Unmarshal(w.Body.Bytes(), &p)
			synctest.Wait()
			return p
		}
		part := interact.ListValue("a")
		if p := send(map[string]api.Value{"part": part}); p.Code != "invalid" || p.Question != "mail" {
			t.Errorf("missing: %+v", p)
		}
		p := send(map[string]api.Value{"part": part, "mail": interact.TextValue("me")})
		if p.Code != "invalid" || p.Question != "mail" || p.Message != "An e-mail address" {
			t.Errorf("invalid: %+v", p)
		}
		if p := send(map[string]api.Value{"part": part, "mail": interact.TextValue("me@example.com")}); p.Code != "" {
			t.Errorf("right: %+v", p)
		}
		if got := came(t, ticket); got.Values["mail"].String() != "me@example.com" {
			t.Errorf("%+v", got)
		}
	})
}

// While nod is paused a request waits for the device, and in the tray here. Without a device it is handed back.
func TestPausedADeviceIsAsked(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		d.seen()
		d.presence.setPause(operator.Pause{On: true})
		ticket := d.begin(api.Ask{Question: "make?"})
		if len(d.w.open()) != 1 || d.w.waiting() {
			t.Fatalf("%d open, on screen %v", len(d.w.open()), d.w.waiting())
		}
		if got := d.seen(); len(got) != 1 {
			t.Fatalf("seen: %+v", got)
		}
		d.presence.setPause(operator.Pause{})
		synctest.Wait()
		if !d.w.waiting() {
			t.Error("it is not on screen after the pause")
		}
		ticket.Release()
		synctest.Wait()

		d.presence.setPause(operator.Pause{On: true})
		d.wait(2 * time.Minute) // nothing was heard of the phone
		ticket = d.begin(api.Ask{Question: "again?"})
		if got := came(t, ticket); got.Outcome != api.Unavailable || !strings.Contains(got.Reason, "paused") {
			t.Errorf("without a device: %+v", got)
		}
	})
}

// Where no window can be shown the device is asked.
func TestWithoutADisplayADeviceIsAsked(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		d.seen()
		d.desk.set(&d.display, errors.New("no display"))
		ticket := d.begin(api.Ask{Question: "make?"})
		d.w.refetch() // after a change of the settings
		d.wait(time.Second)
		if got := d.seen(); len(got) != 1 {
			t.Fatalf("seen: %+v", got)
		}
		d.answer(d.phone, ticket.ID(), func(a *devicetest.Answer) { a.Outcome, a.Text = api.Answered, "yes" })
		if got := came(t, ticket); got.Text != "yes" || got.Device != "phone" {
			t.Errorf("%+v", got)
		}
		d.wait(2 * time.Minute) // nothing was heard of the phone
		if got := came(t, d.begin(api.Ask{Question: "again?"})); got.Outcome != api.Unavailable {
			t.Errorf("without a device: %+v", got)
		}
	})
}

// Who did not answer two prompts of a session is still asked on the device.
func TestAwayADeviceIsAsked(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		for range 2 {
			d.begin(api.Ask{Question: time.Now().String()})
			d.wait(5 * time.Minute)
		}
		if got := came(t, d.begin(api.Ask{Question: "third?"})); got.Outcome != api.Unavailable {
			t.Fatalf("without a device: %+v", got)
		}
		d.seen()
		ticket := d.begin(api.Ask{Question: "fourth?"})
		if got := d.seen(); len(got) != 1 || d.w.waiting() {
			t.Errorf("seen: %+v, on screen here %v", got, d.w.waiting())
		}
		d.answer(d.phone, ticket.ID(), func(a *devicetest.Answer) { a.Outcome, a.Text = api.Answered, "yes" })
		if sessions, _ := d.presence.away(); sessions != 0 {
			t.Error("who has answered on a device is away")
		}
	})
}

func subscription(t *testing.T) (s device.Subscription) {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.Endpoint = "https://fcm.googleapis.com/fcm/send/abc"
	s.Keys.P256DH = base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())
	s.Keys.Auth = base64.RawURLEncoding.EncodeToString(make([]byte, 16))
	return s
}

// A device is woken once it is its turn, rarely, and not told what for.
func TestADeviceIsWoken(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		if _, code := d.phone.Do("POST", "/push", subscription(t), nil); code != "forbidden" {
			t.Errorf("subscribed to what is off: %q", code)
		}
		d.set(func(c *config.Config) { c.Remote.Phone.Push = config.PushWeb })
		if status, code := d.phone.Do("POST", "/push", subscription(t), nil); status != http.StatusNoContent {
			t.Fatalf("subscribe: %d %s", status, code)
		}
		bad := subscription(t)
		for _, endpoint := range []string{
			"http://fcm.googleapis.com/x", "https://127.0.0.1/x", "https://evil.example/fcm.googleapis.com",
			"https://fcm.googleapis.com.evil.example/x", "https://fcm.googleapis.com:444/x", "https://a@fcm.googleapis.com/x",
		} {
			bad.Endpoint = endpoint
			if _, code := d.phone.Do("POST", "/push", bad, nil); code != "forbidden" {
				t.Errorf("subscribed to %s: %q", endpoint, code)
			}
		}
		d.created = time.Now()
		d.begin(api.Ask{Question: "make?"})
		d.begin(api.Ask{Question: "make it?"})
		d.wait(time.Minute)
		if got := d.woken; len(got) != 2 || got[0] != 30*time.Second || got[1] != 60*time.Second {
			t.Fatalf("woken after %v", got)
		}
		d.set(func(c *config.Config) { c.Remote.HandOver = 0 })
		for range 5 {
			d.begin(api.Ask{Question: "make " + time.Now().String()})
			d.wait(2 * time.Second)
		}
		d.wait(time.Minute)
		if got := d.woken[2:]; len(got) != 2 || got[1]-got[0] != wakePace {
			t.Errorf("for five in ten seconds woken after %v", got)
		}
		if _, err := d.book.Remove("phone"); err != nil {
			t.Fatal(err)
		}
		d.woken = nil
		d.begin(api.Ask{Question: "make at last?"})
		d.wait(time.Minute)
		if d.devices.ready() || len(d.woken) != 0 {
			t.Errorf("a revoked device: ready %v, woken after %v", d.devices.ready(), d.woken)
		}
	})
}

// nod sends to push services only, also when another program has written into the file with the subscriptions.
func TestSubscriptionsOfOthers(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		d.set(func(c *config.Config) { c.Remote.Phone.Push = config.PushWeb })
		if status, code := d.phone.Do("POST", "/push", subscription(t), nil); status != http.StatusNoContent {
			t.Fatalf("subscribe: %d %s", status, code)
		}
		path := filepath.Join(d.devices.folder, pushName)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("https://"), []byte("http://127.0.0.1/"))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if d.devices.push, err = device.OpenPush(path, d); err != nil {
			t.Fatal(err)
		}
		d.begin(api.Ask{Question: "make?"})
		d.wait(time.Minute)
		if len(d.woken) != 0 || d.devices.push.Has(d.phone.Key()) {
			t.Errorf("sent to another place, after %v", d.woken)
		}
	})
}

func TestRevokedAtOnce(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		ticket := d.begin(bash("make"))
		v, digest := d.phone.View(ticket.ID())
		d.wait(time.Second)
		codes := make(chan string, 1)
		var now devicetest.Prompts
		d.phone.Do("GET", "/prompts", nil, &now)
		ctx, stop := context.WithCancel(d.t.Context())
		defer stop()
		go d.devices.run(ctx, nil)
		synctest.Wait()
		d.devices.server = d.server
		go func() {
			_, code := d.phone.Do("GET", "/prompts?after="+now.Cursor, nil, nil)
			codes <- code
		}()
		synctest.Wait()
		if _, err := d.book.Remove("phone"); err != nil {
			t.Fatal(err)
		}
		if code := <-codes; code != "unpaired" {
			t.Errorf("while it waits: %q", code)
		}
		a := devicetest.Answer{ID: v.ID, Revision: v.Revision, Digest: digest, Seen: true, Outcome: api.Allowed}
		if _, code := d.phone.Do("POST", "/answer", a, nil); code != "unpaired" {
			t.Errorf("its answer: %q", code)
		}
		if _, isOver := ticket.Answer(); isOver {
			t.Error("it was answered")
		}
	})
}

// An invitation that the user has cancelled counts no more, and the next one does.
func TestAnInvitationIsWithdrawn(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		invitation, err := d.peers().Invite(d.t.Context(), "other", remote.May{})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.peers().WithdrawInvitation(d.t.Context()); err != nil {
			t.Fatal(err)
		}
		status, code := devicetest.NewPhone(t, d.server).Pair(invitation.URL)
		if _, isPaired := d.book.Named("other"); isPaired || code != "invitation" {
			t.Errorf("%d %s, paired %v", status, code, isPaired)
		}
		d.wait(time.Minute)
		d.pair("other", remote.May{})
	})
}

func TestInvitations(t *testing.T) {
	onPhone(t, func(d *phoneDesk) {
		if _, err := d.peers().Invite(d.t.Context(), "phone", remote.May{}); err == nil {
			t.Error("invited another of the same name")
		}
		if _, err := d.peers().Invite(d.t.Context(), "a\nb", remote.May{}); err == nil {
			t.Error("invited a name that is none")
		}
		d.devices.server = nil
		if _, err := d.peers().Invite(d.t.Context(), "other", remote.May{}); err == nil {
			t.Error("invited while nothing is served")
		}
		d.devices.problem = errors.New("no such address")
		_, err := d.peers().Invite(d.t.Context(), "other", remote.May{})
		if err == nil || !strings.Contains(err.Error(), "no such address") {
			t.Errorf("%v", err)
		}
		if d.devices.ready() {
			t.Error("nothing is served, and devices are there")
		}
	})
}

// Without its keys nothing wakes a device: who is paused is not asked there.
func TestNothingWakesWithoutPush(t *testing.T) {
	for _, to := range []string{"", config.PushWeb, "https://ntfy.example.com/me"} {
		c := config.Default()
		c.Remote.Phone.Push = to
		d := newDevices(devicesConfig{config: func() config.Config { return c }})
		if d.wakes(remote.Peer{}) {
			t.Errorf("%q wakes a device", to)
		}
	}
}
