package device_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/devicetest"
	"nod/ipc/device"
	"nod/ipc/remote"
	"nod/policy"
)

var (
	testPage = fstest.MapFS{
		"index.html": {Data: []byte("<!doctype html>")}, "app.js": {Data: []byte("1")}, "go.mod": {Data: []byte("secret")},
	}
	all = remote.May{Questions: true, Approvals: policy.Destructive}
)

// paired is a phone that may do everything, and what it is paired with. The time is that of a synctest bubble.
func paired(t *testing.T) (*Desk, *device.Server, *devicetest.Phone) {
	t.Helper()
	d := &Desk{}
	s := New(t, d, testPage)
	p := devicetest.NewPhone(t, s)
	invitation, _ := s.Invite("my phone", all)
	if status, code := p.Pair(invitation); status != http.StatusOK {
		t.Fatalf("pair: %d %s", status, code)
	}
	return d, s, p
}

// yes is an answer that allows what a view shows.
func yes(v devicetest.View, digest string) devicetest.Answer {
	return devicetest.Answer{ID: v.ID, Revision: v.Revision, Digest: digest, Seen: true, Outcome: api.Allowed}
}

func TestAPhoneAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _, p := paired(t)
		d.Show(Views()...)
		var now devicetest.Prompts
		if status, code := p.Do("GET", "/prompts", nil, &now); status != http.StatusOK || len(now.Prompts) != 7 {
			t.Fatalf("prompts: %d %s, %+v", status, code, now)
		}
		if now.Device.Name != "my phone" || now.Device.May != all {
			t.Errorf("device %+v", now.Device)
		}
		v, digest := p.View("command")
		a := yes(v, digest)
		if _, code := p.Do("POST", "/answer", a, nil); code != "early" {
			t.Errorf("at once: %q, want early", code)
		}
		time.Sleep(700 * time.Millisecond)
		a.Seen = false
		if _, code := p.Do("POST", "/answer", a, nil); code != "early" {
			t.Errorf("without the end in view: %q, want early", code)
		}
		a.Seen = true
		if status, code := p.Do("POST", "/answer", a, nil); status != http.StatusNoContent {
			t.Errorf("allow: %d %s", status, code)
		}
		if _, code := p.Do("POST", "/answer", a, nil); code != "gone" {
			t.Errorf("again: %q, want gone", code)
		}
		got := d.Answers()
		if len(got) != 1 || got[0].Outcome != api.Allowed || got[0].Device != "my phone" ||
			got[0].Scope != policy.Once || got[0].By != api.ByHuman {
			t.Errorf("answers %+v", got)
		}
	})
}

// A no needs no arming, and its reason goes along.
func TestAPhoneDeniesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _, p := paired(t)
		d.Show(Command())
		v, digest := p.View("command")
		a := devicetest.Answer{ID: v.ID, Revision: v.Revision, Digest: digest, Outcome: api.Denied, Reason: "not now"}
		if status, code := p.Do("POST", "/answer", a, nil); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, code)
		}
		if got := d.Answers(); got[0].Outcome != api.Denied || got[0].Reason != "not now" {
			t.Errorf("%+v", got)
		}
	})
}

// What was shown is what is answered: a view that has changed, was never sent, or went to another device does not do.
func TestAnAnswerIsBoundToTheView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s, p := paired(t)
		d.Show(Command())
		v, digest := p.View("command")
		time.Sleep(time.Second)
		other := devicetest.NewPhone(t, s)
		invitation, _ := s.Invite("other phone", all)
		if status, _ := other.Pair(invitation); status != http.StatusOK {
			t.Fatal("not paired")
		}
		if _, code := other.Do("POST", "/answer", yes(v, digest), nil); code != "changed" {
			t.Errorf("a view that another device has: %q", code)
		}
		for name, change := range map[string]func(*devicetest.Answer){
			"digest":   func(a *devicetest.Answer) { a.Digest = strings.Repeat("0", 64) },
			"revision": func(a *devicetest.Answer) { a.Revision = "2" },
			"empty":    func(a *devicetest.Answer) { a.Digest = "" },
		} {
			a := yes(v, digest)
			change(&a)
			if _, code := p.Do("POST", "/answer", a, nil); code != "changed" {
				t.Errorf("%s: %q, want changed", name, code)
			}
		}
		changed := Command()
		changed.Lines[0].Spans[0].Text = "rm -rf /"
		d.Show(changed)
		if _, code := p.Do("POST", "/answer", yes(v, digest), nil); code != "changed" {
			t.Errorf("the view has changed: %q", code)
		}
		if len(d.Answers()) != 0 {
			t.Errorf("%+v", d.Answers())
		}
	})
}

// A device answers what the user lets it, also when they change that while it looks.
func TestADeviceAnswersWhatItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _, p := paired(t)
		d.Show(Command(), Ask())
		v, digest := p.View("command")
		time.Sleep(time.Second)
		d.SetMay(remote.May{Questions: true, Approvals: policy.Write})
		if _, code := p.Do("POST", "/answer", yes(v, digest), nil); code != "changed" {
			t.Errorf("shown before: %q, want changed", code)
		}
		v, digest = p.View("command")
		if len(v.Affirm) != 0 || v.Limit == "" || v.Refuse == nil {
			t.Errorf("%+v, %q, %+v", v.Affirm, v.Limit, v.Refuse)
		}
		time.Sleep(time.Second)
		if _, code := p.Do("POST", "/answer", yes(v, digest), nil); code != "forbidden" {
			t.Errorf("above the class: %q, want forbidden", code)
		}
	})
}

// An approval is allowed or denied, all else is answered or declined: no other outcome of a device counts.
func TestOutcomes(t *testing.T) {
	counts := map[api.Kind][]api.Outcome{
		api.KindApprove: {api.Allowed, api.Denied},
		api.KindAsk:     {api.Answered, api.Dismissed},
		api.KindConfirm: {api.Answered, api.Dismissed},
		api.KindForm:    {api.Answered, api.Dismissed},
	}
	outcomes := []api.Outcome{
		api.Allowed, api.Denied, api.Answered, api.Dismissed, api.Withdrawn, api.TimedOut,
		api.Unavailable, api.Cancelled, "pending", "Allowed", "allowed ", "",
	}
	for _, view := range []devicetest.View{
		Command(), Plan(), Ask(), Confirm(), Form(),
	} {
		for _, outcome := range outcomes {
			synctest.Test(t, func(t *testing.T) {
				d, _, p := paired(t)
				d.Show(view)
				v, digest := p.View(view.ID)
				time.Sleep(time.Second)
				a := yes(v, digest)
				a.Outcome, a.Suggestion = outcome, 0
				if outcome == api.Allowed && view.ID == "plan" {
					a.Suggestion = 1
				}
				want := slices.Contains(counts[view.Kind], outcome)
				_, code := p.Do("POST", "/answer", a, nil)
				if len(d.Answers()) > 0 != want || !want && code != "invalid" {
					t.Errorf("%s, %q: %q, %d answers, want it to count: %v", view.ID, outcome, code, len(d.Answers()), want)
				}
			})
		}
	}
}

// What the user changes while an answer is looked at counts for that answer.
func TestRightsThatChangeMeanwhile(t *testing.T) {
	for want, change := range map[string]func(*Desk){
		"unpaired": (*Desk).Revoke,
		"changed":  func(d *Desk) { d.SetMay(remote.May{Approvals: policy.ReadOnly}) },
	} {
		synctest.Test(t, func(t *testing.T) {
			d, _, p := paired(t)
			d.Show(Command())
			v, digest := p.View("command")
			time.Sleep(time.Second)
			d.Viewed = func() { change(d) }
			if _, code := p.Do("POST", "/answer", yes(v, digest), nil); code != want || len(d.Answers()) != 0 {
				t.Errorf("%q, want %s; %d answers", code, want, len(d.Answers()))
			}
		})
	}
}

func TestWhoIsNotPairedDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s, p := paired(t)
		d.Show(Views()...)
		stranger := devicetest.NewPhone(t, s)
		for _, at := range []struct{ method, path string }{
			{"GET", "/prompts"}, {"GET", "/prompts/command"}, {"POST", "/answer"}, {"POST", "/push"},
		} {
			var body any
			if at.method == "POST" {
				body = struct{}{}
			}
			for name, r := range map[string]*http.Request{
				"no signature": p.Request(at.method, at.path, body),
				"a stranger's": stranger.Sign(stranger.Request(at.method, at.path, body), stranger.Nonce(), body),
				"of another path": func() *http.Request {
					r := p.Sign(p.Request(at.method, "/other", body), p.Nonce(), body)
					r.URL.Path, r.RequestURI = at.path, at.path
					return r
				}(),
				"of another body": p.Sign(p.Request(at.method, at.path, body), p.Nonce(), map[string]int{"a": 1}),
				"of another nonce": func() *http.Request {
					r := p.Sign(p.Request(at.method, at.path, body), p.Nonce(), body)
					_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "sig=")
					r.Header.Set("Authorization", "Nod key="+p.Key()+", nonce="+p.Nonce()+", sig="+rest)
					return r
				}(),
				"in another's name": func() *http.Request {
					r := stranger.Sign(stranger.Request(at.method, at.path, body), p.Nonce(), body)
					h := r.Header.Get("Authorization")
					r.Header.Set("Authorization", strings.Replace(h, stranger.Key(), p.Key(), 1))
					return r
				}(),
			} {
				w := p.Send(r)
				if code := devicetest.Read(t, w, nil); w.Code != http.StatusUnauthorized || code != "unpaired" {
					t.Errorf("%s %s, %s: %d %s", at.method, at.path, name, w.Code, code)
				}
				if w.Header().Get("Nod-Nonce") != "" {
					t.Errorf("%s %s, %s: a nonce along with it", at.method, at.path, name)
				}
				time.Sleep(time.Second)
			}
		}
	})
}

func TestARequestCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, p := paired(t)
		nonce := p.Nonce()
		send := func() (int, string) {
			w := p.Send(p.Sign(p.Request("GET", "/prompts", nil), nonce, nil))
			return w.Code, devicetest.Read(t, w, nil)
		}
		if status, _ := send(); status != http.StatusOK {
			t.Fatal(status)
		}
		if _, code := send(); code != "nonce" {
			t.Errorf("again: %q, want nonce", code)
		}
		nonce = p.Nonce()
		time.Sleep(2 * time.Minute)
		if _, code := send(); code != "nonce" {
			t.Errorf("late: %q, want nonce", code)
		}
		nonce = strings.Repeat("A", len(nonce))
		if _, code := send(); code != "nonce" {
			t.Errorf("made up: %q, want nonce", code)
		}
	})
}

func TestOnlyTheOwnPageAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s, p := paired(t)
		own := strings.TrimSuffix(s.URL(), "/")
		for name, tt := range map[string]struct {
			change func(*http.Request)
			want   int
		}{
			"as it is":        {func(*http.Request) {}, http.StatusOK},
			"own origin":      {func(r *http.Request) { r.Header.Set("Origin", own) }, http.StatusOK},
			"same origin":     {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, http.StatusOK},
			"rebound name":    {func(r *http.Request) { r.Host = "evil.example:7464" }, http.StatusMisdirectedRequest},
			"no host":         {func(r *http.Request) { r.Host = "" }, http.StatusMisdirectedRequest},
			"localhost":       {func(r *http.Request) { r.Host = "localhost" }, http.StatusMisdirectedRequest},
			"other origin":    {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
			"null origin":     {func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
			"plain origin":    {func(r *http.Request) { r.Header.Set("Origin", "http"+own[5:]) }, http.StatusForbidden},
			"two origins":     {func(r *http.Request) { r.Header["Origin"] = []string{own, own} }, http.StatusForbidden},
			"cross site":      {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
			"same site":       {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, http.StatusForbidden},
			"unknown to come": {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "else") }, http.StatusForbidden},
		} {
			r := p.Sign(p.Request("GET", "/prompts", nil), p.Nonce(), nil)
			tt.change(r)
			w := p.Send(r)
			if w.Code != tt.want {
				t.Errorf("%s: %d, want %d", name, w.Code, tt.want)
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != "" || len(w.Result().Cookies()) > 0 {
				t.Errorf("%s: lets in %q, or sets a cookie", name, got)
			}
		}
		r := p.Request("OPTIONS", "/answer", nil)
		r.Header.Set("Origin", "https://evil.example")
		if w := p.Send(r); w.Code != http.StatusForbidden {
			t.Errorf("preflight: %d", w.Code)
		}
	})
}

func TestAnInvitationCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s, p := paired(t)
		first, _ := s.Invite("one", all)
		second, until := s.Invite("two", all)
		if got := time.Until(until); got != 5*time.Minute {
			t.Errorf("it counts for %v", got)
		}
		pair := func(invitation string) string {
			time.Sleep(10 * time.Second)
			_, code := devicetest.NewPhone(t, s).Pair(invitation)
			return code
		}
		if code := pair(first); code != "invitation" {
			t.Errorf("another took its place: %q", code)
		}
		if code := pair(second); code != "" {
			t.Errorf("the first use: %q", code)
		}
		if code := pair(second); code != "invitation" {
			t.Errorf("the second use: %q", code)
		}
		third, _ := s.Invite("three", all)
		time.Sleep(5 * time.Minute)
		if code := pair(third); code != "invitation" {
			t.Errorf("late: %q", code)
		}
		body := devicetest.Pairing{Secret: "x", Key: devicetest.NewPhone(t, s).Key()}
		if status, code := p.Do("POST", "/pair", body, nil); code != "unpaired" {
			t.Errorf("a key that did not sign: %d %q", status, code)
		}
	})
}

// Whoever has not the secret ends no invitation, and takes nothing from whoever has: no number of attempts counts
// against others, and none is remembered.
func TestGuessingTakesNothingFromOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s, p := paired(t)
		right, _ := s.Invite("other", all)
		stranger := devicetest.NewPhone(t, s)
		body := devicetest.Pairing{Secret: strings.Repeat("A", 43), Key: stranger.Key(), Waits: true}
		nonce := stranger.Nonce()
		from := func(r *http.Request, address string) string {
			r.RemoteAddr = address
			return devicetest.Read(t, p.Send(r), nil)
		}
		busy := 0
		for range 1000 {
			switch code := from(stranger.Sign(stranger.Request("POST", "/pair", body), nonce, body), "192.0.2.66:1"); code {
			case "busy":
				busy++
			case "invitation": // not "nonce": those of strangers are not kept
			default:
				t.Fatalf("%q", code)
			}
		}
		if busy < 800 {
			t.Errorf("%d of 1000 attempts at once were refused", busy)
		}
		if _, code := devicetest.NewPhone(t, s).Pair(right); code != "" {
			t.Errorf("the right secret after the guesses: %q", code)
		}
	})
}

// Who has the link is not let in by that: the user compares words, of which no other key has the same, and the first
// device that asks keeps its place.
func TestTheDeskLetsIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &Desk{Compares: true}
		s := New(t, d, testPage)
		p, thief := devicetest.NewPhone(t, s), devicetest.NewPhone(t, s)
		invitation, _ := s.Invite("phone", all)
		_, _, asks := p.Ask(invitation, false)
		if want := (remote.Key{Sign: p.Key()}).Fingerprint(); asks.Words != want || asks.Device != nil {
			t.Errorf("it is told %+v, want the words %q", asks, want)
		}
		if _, code, _ := thief.Ask(invitation, false); code != "invitation" {
			t.Errorf("another with the same link: %q", code)
		}
		if _, code := p.Do("GET", "/prompts", nil, nil); code != "unpaired" {
			t.Errorf("before the user has compared: %q", code)
		}
		began := time.Now()
		if _, _, now := p.Ask(invitation, true); now.Device != nil || time.Since(began) != 25*time.Second {
			t.Errorf("undecided: %+v after %v", now, time.Since(began))
		}
		if err := s.Admit(thief.Key(), func(remote.Peer) error { t.Error("let in"); return nil }); err == nil {
			t.Error("the thief is let in")
		}
		came := make(chan devicetest.Paired, 1)
		go func() {
			_, _, now := p.Ask(invitation, true)
			came <- now
		}()
		synctest.Wait()
		if err := d.Admit(); err != nil {
			t.Fatal(err)
		}
		if now := <-came; now.Device == nil || now.Device.Name != "phone" || now.Device.May != all {
			t.Errorf("let in: %+v", now)
		}
		if _, _, now := p.Ask(invitation, false); now.Device == nil {
			t.Error("whose reply was lost does not hear it again")
		}
		if err := d.Admit(); err == nil {
			t.Error("let in twice")
		}
		if status, code := p.Do("GET", "/prompts", nil, nil); status != http.StatusOK {
			t.Errorf("paired: %d %s", status, code)
		}
	})
}

// What the user withdraws, replaces or lets run out lets in nobody, and whoever waits hears of it.
func TestAnInvitationThatEnds(t *testing.T) {
	for name, end := range map[string]func(*device.Server){
		"withdrawn": (*device.Server).Withdraw,
		"replaced":  func(s *device.Server) { s.Invite("another", all) },
		"over":      func(*device.Server) { time.Sleep(5 * time.Minute) },
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &Desk{Compares: true}
			s := New(t, d, testPage)
			p := devicetest.NewPhone(t, s)
			invitation, _ := s.Invite("phone", all)
			codes := make(chan string, 1)
			go func() {
				_, code := p.Pair(invitation)
				codes <- code
			}()
			synctest.Wait()
			peer, _, asks := s.Asking()
			end(s)
			if code := <-codes; !asks || code != "invitation" {
				t.Errorf("%s: asked %v, and is told %q", name, asks, code)
			}
			if err := s.Admit(peer.Key.Sign, func(remote.Peer) error { t.Error("let in"); return nil }); err == nil {
				t.Errorf("%s: it can be let in", name)
			}
			if _, _, asks := s.Asking(); asks {
				t.Errorf("%s: it still asks", name)
			}
		})
	}
}

// News comes at once, and a device that is revoked hears of it while it waits.
func TestNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _, p := paired(t)
		var before devicetest.Prompts
		p.Do("GET", "/prompts", nil, &before)
		type news struct {
			devicetest.Prompts
			status int
			code   string
			after  time.Duration
		}
		wait := func(cursor string) <-chan news {
			came := make(chan news, 1)
			began := time.Now()
			go func() {
				var n news
				n.status, n.code = p.Do("GET", "/prompts?after="+url.QueryEscape(cursor), nil, &n.Prompts)
				n.after = time.Since(began)
				came <- n
			}()
			synctest.Wait()
			return came
		}
		if n := <-wait(before.Cursor); n.after != 25*time.Second || n.Cursor != before.Cursor {
			t.Errorf("without news: %+v", n)
		}
		waiting := wait(before.Cursor)
		time.Sleep(time.Second)
		d.Show(Command())
		n := <-waiting
		if n.after != time.Second || len(n.Prompts.Prompts) != 1 {
			t.Errorf("with news: %+v", n)
		}
		waiting = wait(n.Cursor)
		d.Revoke()
		if n := <-waiting; n.status != http.StatusUnauthorized || n.code != "unpaired" || n.after != 0 {
			t.Errorf("revoked: %+v", n)
		}
	})
}

// A testPage that a browser holds open many times takes no more than its share.
func TestADeviceWaitsAFewTimesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, p := paired(t)
		var now devicetest.Prompts
		p.Do("GET", "/prompts", nil, &now)
		codes := make(chan string, 8)
		for range 8 {
			go func() {
				_, code := p.Do("GET", "/prompts?after="+now.Cursor, nil, nil)
				codes <- code
			}()
		}
		busy := 0
		for range 8 {
			if <-codes == "busy" {
				busy++
			}
		}
		if busy != 4 {
			t.Errorf("%d of 8 were refused, want 4", busy)
		}
	})
}

func TestWhoAsksTooOftenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, p := paired(t)
		refused := 0
		for range 200 {
			if w := p.Send(p.Request("GET", "/nonce", nil)); w.Code == http.StatusTooManyRequests {
				refused++
			}
		}
		if refused < 70 {
			t.Errorf("%d of 200 at once were refused", refused)
		}
		time.Sleep(5 * time.Second)
		if w := p.Send(p.Request("GET", "/nonce", nil)); w.Code != http.StatusOK {
			t.Errorf("later: %d", w.Code)
		}
	})
}

func TestThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, p := paired(t)
		for path, want := range map[string]int{
			"/": 200, "/app.js": 200, "/go.mod": 404, "/../go.mod": 404, "/none.js": 404, "/prompts/": 404,
		} {
			if w := p.Send(p.Request("GET", path, nil)); w.Code != want && !(path == "/../go.mod" && w.Code/100 == 3) {
				t.Errorf("%s: %d, want %d", path, w.Code, want)
			}
		}
		w := p.Send(p.Request("GET", "/", nil))
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "script-src 'self';"} {
			if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, part) ||
				strings.Contains(csp, "unsafe") {
				t.Errorf("policy %q has no %q", csp, part)
			}
		}
		r := p.Request("GET", "/", nil)
		r.Header.Set("If-None-Match", w.Header().Get("ETag"))
		if w := p.Send(r); w.Code != http.StatusNotModified {
			t.Errorf("known: %d", w.Code)
		}
		r = p.Request("GET", "/", nil)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if w := p.Send(r); w.Code != http.StatusForbidden {
			t.Errorf("in a frame of another page: %d", w.Code)
		}
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		r.Header.Set("Sec-Fetch-Dest", "document")
		if w := p.Send(r); w.Code != http.StatusOK {
			t.Errorf("by a link: %d", w.Code)
		}
		if w := p.Send(p.Request("GET", "/nonce", nil)); w.Header().Get("Cache-Control") != "no-store" {
			t.Error("data may be kept")
		}
	})
}

func TestBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _, p := paired(t)
		d.Show(Ask())
		for name, tt := range map[string]struct {
			body any
			want string
		}{
			"unknown field": {map[string]any{"id": "ask", "more": 1}, "invalid"},
			"too long":      {devicetest.Answer{ID: "ask", Text: strings.Repeat("x", 300<<10)}, "invalid"},
			"another type":  {[]int{1}, "invalid"},
			"of nothing":    {devicetest.Answer{ID: "none"}, "gone"},
		} {
			if _, code := p.Do("POST", "/answer", tt.body, nil); code != tt.want {
				t.Errorf("%s: %q, want %q", name, code, tt.want)
			}
		}
		r := p.Sign(p.Request("POST", "/answer", struct{}{}), p.Nonce(), struct{}{})
		r.Header.Set("Content-Type", "text/plain")
		if w := p.Send(r); w.Code != http.StatusForbidden {
			t.Errorf("a form's content type: %d", w.Code)
		}
	})
}
