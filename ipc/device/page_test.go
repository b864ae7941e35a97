package device_test

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"nod/api"
	"nod/e2e/devicetest"
	"nod/interact"
	"nod/ipc/device"
	"nod/ipc/device/page"
	"nod/ipc/remote"
)

func TestPairAndAllow(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Command())
	if got := eval[string](p, "location.href"); got != p.server.URL() {
		t.Errorf("the address is still %s", got)
	}
	p.title("Claude Code · shop — wants to run rm, npm")
	p.says("‹U+202E›")
	p.says("Denied in 4:5")
	p.allow()
	p.says("Nothing is waiting")
	if got := p.answers(1)[0]; got.Outcome != api.Allowed || got.Device != "my phone" {
		t.Errorf("answer %+v", got)
	}
}

// The address with the secret is neither in the history nor used twice.
func TestAnInvitationLeavesNothing(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t)
	history := call(p, cdppage.GetNavigationHistory, cdp.Empty{})
	for _, entry := range history.Entries {
		if strings.Contains(entry.URL, "pair=") {
			t.Errorf("the history has %s", entry.URL)
		}
	}
	invitation, _ := p.server.Invite("other phone", everything)
	other := newPhone(t, p.desk, p.server)
	other.run(chromedp.Navigate(strings.Replace(invitation, "pair=", "pair=x", 1)))
	other.click("#pair")
	other.says("This invitation is no longer valid")
	other.forgive("403")
	if eval[bool](other, keyIsKept) {
		t.Error("a device that is not paired keeps a key")
	}
}

// On an iPhone the page on the home screen has a key of its own, and no camera leads there.
func TestPairByTheAddress(t *testing.T) {
	t.Parallel()
	desk, s := newDesk(t)
	p := newPhone(t, desk, s)
	p.run(chromedp.Navigate(s.URL()))
	p.fill("#invitation", "hello")
	p.clickText("Continue")
	p.says("This is not an address from a code.")
	invitation, _ := s.Invite("my phone", everything)
	eval[any](p, `(document.getElementById('invitation').value = '', null)`)
	p.fill("#invitation", invitation+kb.Enter)
	p.clickText("Pair")
	p.says("Nothing is waiting")
}

// keptAs is what the page keeps in IndexedDB under a name, as a promise.
func keptAs(name string) string {
	return `new Promise((resolve) => {
		const opening = indexedDB.open('nod', 1)
		opening.onsuccess = () => {
			const request = opening.result.transaction('nod').objectStore('nod').get('` + name + `')
			request.onsuccess = () => { opening.result.close(); resolve(request.result) }
		}
	})`
}

var (
	inStore   = keptAs("device")
	keyIsKept = `Promise.all([` + inStore + `, ` + keptAs("pairing") + `]).then((all) => all.some((one) => one))`
)

// comparing is a phone that shows the words of its key, and what it may do once the user has compared them.
func comparing(t *testing.T, views ...devicetest.View) *phone {
	t.Helper()
	desk, s := newDesk(t, views...)
	desk.Compares = true
	p := newPhone(t, desk, s)
	p.ask()
	return p
}

// ask has the page ask to be paired by an invitation, as far as to the words.
func (p *phone) ask() {
	p.t.Helper()
	invitation, _ := p.server.Invite("my phone", everything)
	p.run(chromedp.Navigate(invitation))
	p.click("#pair")
	p.until("it shows words", `document.getElementById('main').dataset.screen === 'words'`)
}

// words are those that the page shows.
func (p *phone) words() string {
	p.t.Helper()
	return strings.Join(eval[[]string](p, `[...document.querySelectorAll('.words li')].map((e) => e.textContent)`), " ")
}

// The words that the page shows are those of its own key, and until the desk has let that in it sees nothing.
func TestTheWordsAreCompared(t *testing.T) {
	t.Parallel()
	p := comparing(t, Confirm())
	peer, _, asks := p.server.Asking()
	key := eval[string](p, keptAs("pairing")+`.then((begun) => begun.key)`)
	if want := peer.Key.Fingerprint(); !asks || peer.Key.Sign != key || p.words() != want {
		t.Errorf("asks %v, the page shows %q, the desk %q", asks, p.words(), want)
	}
	if eval[bool](p, "document.body.innerText.includes('Deploy')") {
		t.Error("it shows what is asked")
	}
	p.run(chromedp.Reload()) // as a phone does with a page that was put aside
	p.says("Waiting for the desk…")
	if got := p.words(); got != peer.Key.Fingerprint() {
		t.Errorf("opened anew it shows %q", got)
	}
	if err := p.desk.Admit(); err != nil {
		t.Fatal(err)
	}
	p.says("Deploy to production now?")
	if eval[bool](p, keptAs("pairing")+`.then((begun) => begun !== undefined)`) {
		t.Error("the pairing still waits")
	}
}

// A desk that says no leaves nothing on the phone.
func TestTheDeskRefuses(t *testing.T) {
	t.Parallel()
	p := comparing(t)
	p.server.Withdraw()
	p.says("This invitation is no longer valid, or another device has used it.")
	p.forgive("403")
	if eval[bool](p, keyIsKept) {
		t.Error("a device that is not paired keeps a key")
	}
}

// A link to pair, whoever sent it, costs a phone that is paired nothing: not opened, not pressed, not cut off midway.
func TestALinkCostsNoKey(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Confirm())
	key := keyOf(p)
	works := func(after string) {
		t.Helper()
		p.run(chromedp.Navigate(p.server.URL()))
		p.says("Deploy to production now?")
		if got := keyOf(p); got != key {
			t.Errorf("%s: the key is another", after)
		}
	}
	link := p.server.URL() + "#pair=" + strings.Repeat("A", 43)
	p.run(chromedp.Navigate(link))
	p.says("It is already paired, as my phone")
	works("the link was opened")
	p.run(chromedp.Navigate(link))
	p.click("#pair")
	p.says("This invitation is no longer valid")
	p.forgive("403")
	if got := keyOf(p); got != key {
		t.Error("refused: the key is another")
	}
	p.clickText("Cancel")
	p.says("Deploy to production now?")
	works("it was refused")
	p.desk.Compares = true
	p.ask()
	p.clickText("Cancel")
	p.says("Deploy to production now?")
	works("it was cancelled")
	p.ask()
	p.run(chromedp.Navigate("about:blank")) // the user, or the system, closes the page
	p.server.Withdraw()
	p.run(chromedp.Navigate(p.server.URL()))
	p.says("This invitation is no longer valid")
	p.forgive("403")
	works("it was cut off")
	p.ask()
	if err := p.desk.Admit(); err != nil {
		t.Fatal(err)
	}
	p.says("Deploy to production now?")
	if keyOf(p) == key {
		t.Error("paired anew: the key is the old one")
	}
	p.mu.Lock()
	p.foreign = nil // about:blank
	p.mu.Unlock()
}

func TestTheKeyCannotBeReadOut(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t)
	got := eval[[]string](p, inStore+`.then(async ({privateKey}) => {
		const told = [privateKey.constructor.name, privateKey.algorithm.namedCurve, String(privateKey.extractable)]
		for (const format of ['jwk', 'pkcs8', 'raw']) {
			told.push(await crypto.subtle.exportKey(format, privateKey).then(() => 'exported', () => 'refused'))
		}
		return [...told, JSON.stringify({...localStorage, ...sessionStorage}) + document.cookie]
	})`)
	want := []string{"CryptoKey", "P-256", "false", "refused", "refused", "refused", "{}"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDenyWithReason(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Command())
	p.clickText("Deny with reason…")
	p.fill("#reason", "use npm run clean")
	if eval[bool](p, "document.querySelector('.affirm') !== null") {
		t.Error("what allows is there while a reason is written")
	}
	p.clickText("Deny with this reason")
	p.says("Nothing is waiting")
	if got := p.answers(1)[0]; got.Outcome != api.Denied || got.Reason != "use npm run clean" {
		t.Errorf("answer %+v", got)
	}
}

// A press counts only while the page has the focus and is visible, and has been so for a while.
func TestAllowWaitsForTheEye(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Command())
	p.armed()
	eval[any](p, `void (document.hasFocus = () => false)`)
	p.until("it disarms", "!("+works+")")
	p.click(".affirm")
	p.says("Not sent: that was too fast. Press again.")
	eval[any](p, `void (delete document.hasFocus)`)
	p.armed()
	p.hide(true)
	p.until("it disarms", "!("+works+")")
	p.click(".affirm")
	p.answers(0)
	p.hide(false)
	p.allow()
	p.says("Nothing is waiting")
	p.answers(1)
}

// A page that nobody looks at does not pretend to the desk that somebody does; once it is looked at it is up to date.
func TestAHiddenPageIsQuiet(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t)
	p.hide(true)
	p.desk.Show(Command())
	eval[any](p, `(async () => { for (let i = 0; i < 20; i++) await fetch('/nonce') })().then(() => null)`)
	if got := eval[string](p, "document.getElementById('title').textContent"); got != "Nothing is waiting" {
		t.Errorf("it shows %q", got)
	}
	p.hide(false)
	p.title("wants to run")
}

// hide has the page take itself for hidden, or for visible.
func (p *phone) hide(on bool) {
	p.t.Helper()
	property := "delete document.visibilityState"
	if on {
		property = "Object.defineProperty(document, 'visibilityState', {value: 'hidden', configurable: true})"
	}
	eval[any](p, "("+property+", document.dispatchEvent(new Event('visibilitychange')), null)")
}

// What a script presses is no answer: only a user's hand is.
func TestNoScriptAllows(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Command())
	p.armed()
	eval[any](p, `(document.querySelector('.affirm').click(), document.getElementById('refuse').click(),
		dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true})), null)`)
	p.title("Claude Code")
	p.answers(0)
}

func TestAChangedViewIsReadAgain(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Long())
	p.readToTheEnd()
	p.armed()
	changed := Long()
	changed.Revision, changed.Lines[399].Spans[0].Text = "2", "rm -rf /"
	p.desk.Show(changed)
	p.says("This has changed since. Look again.")
	p.until("it has to be read again", `document.querySelector('.affirm').textContent === 'Next unread part'`)
	p.readToTheEnd()
	p.says("rm -rf /")
	p.allow()
	p.says("Nothing is waiting")
	p.answers(1)
}

// readToTheEnd presses what goes on to the next unread part, until there is none.
func (p *phone) readToTheEnd() {
	p.t.Helper()
	for range 60 {
		p.until("the input is there", "document.querySelector('.affirm')")
		if eval[string](p, "document.querySelector('.affirm').textContent") != "Next unread part" {
			return
		}
		before := eval[float64](p, "document.getElementById('main').scrollTop")
		p.click(".affirm")
		p.until("it scrolls", fmt.Sprintf(`document.getElementById('main').scrollTop > %f ||
			document.querySelector('.affirm').textContent !== 'Next unread part'`, before))
	}
	p.t.Fatal("there is no end")
}

func TestALongInputIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Long())
	p.until("it says so", `document.querySelector('.affirm').textContent === 'Next unread part'`)
	p.click(".affirm")
	p.answers(0)
	p.readToTheEnd()
	// The last press may have met an Allow that was not armed: what says so covers some lines that were in view.
	if !eval[bool](p, `(() => { const rows = document.querySelectorAll('.input .line')
		return rows[rows.length - 1].getBoundingClientRect().bottom <=
			document.getElementById('main').getBoundingClientRect().bottom +
			document.getElementById('problem').getBoundingClientRect().height + 1 })()`) {
		t.Error("the last line has not been in view")
	}
	p.allow()
	p.says("Nothing is waiting")
	p.answers(1)
}

// Of a file's new content the page says how much has not been in view; nobody has to read it.
func TestContentNeedNotBeRead(t *testing.T) {
	t.Parallel()
	v := Long()
	v.Must, v.Facts = 2, nil
	p := pairedPhone(t, v)
	p.armed()
	p.says("lines unread")
	p.allow()
	p.says("Nothing is waiting")
	p.answers(1)
}

func TestWhatIsTooLongIsNotAllowed(t *testing.T) {
	t.Parallel()
	v := Command()
	v.TooLong = true
	p := pairedPhone(t, v)
	p.clickText("Too long to allow")
	p.says("This is too long to read here: answer it at the desk.")
	p.answers(0)
	p.click("#refuse")
	p.says("Nothing is waiting")
	p.answers(1)
}

func TestWhatADeviceMayNot(t *testing.T) {
	t.Parallel()
	desk, s := newDesk(t, Command())
	p := newPhone(t, desk, s)
	p.pair(remote.May{})
	p.says("You can answer this at the desk only.")
	if eval[int](p, "document.querySelectorAll('.affirm').length") != 0 {
		t.Error("there is a button to allow")
	}
	desk.SetMay(everything)
	p.says("Allow")
	p.allow()
	p.says("Nothing is waiting")
}

// ofMachine wants to run what a machine says much about.
func ofMachine() devicetest.View {
	v := Command()
	v.ID, v.Head.Machine, v.Head.Project = "machine", "on build-7", "shop — wants to read"
	v.Reporter, v.WhyLabel = "reported by build-7", "Why you're asked, as build-7 reports:"
	v.Reported = []devicetest.Fact{{Text: "Deletes a folder above the project", Level: devicetest.Danger}}
	v.Parts = []devicetest.Part{{Text: "make", State: "verified by nod", Note: "you allowed this before"}}
	v.Why = "nod has checked this"
	return v
}

// What a machine says is shown as its word.
func TestAMachineReports(t *testing.T) {
	t.Parallel()
	v := ofMachine()
	p := pairedPhone(t, v)
	p.title("Claude Code · shop — wants to read on build-7 — wants to run")
	got := eval[string](p, `document.querySelector('[aria-label="reported by build-7"]').textContent`)
	if want := "Danger: ‼\ufe0e Deletes a folder above the project"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	for what, selector := range map[string]string{"facts": ".facts", "parts": ".parts"} {
		before := eval[string](p, `[...document.querySelectorAll('main `+selector+`')].at(-1).
			closest('section').previousElementSibling?.textContent ?? ''`)
		if before != "reported by build-7:" {
			t.Errorf("before the %s it says %q", what, before)
		}
	}
	if got := eval[string](p, `document.querySelector('.parts b').textContent`); got != "new" {
		t.Errorf("a state that there is not is shown as %q", got)
	}
	p.says("Why you're asked, as build-7 reports: nod has checked this")
	names := eval[[]string](p, `[...document.querySelectorAll('#title b')].map((e) => e.textContent)`)
	weight := eval[string](p, `getComputedStyle(document.getElementById('title')).fontWeight`)
	if len(names) != 2 || names[1] != v.Head.Project || weight != "400" {
		t.Errorf("what the requester says does not look otherwise than what nod says: %q", names)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Plan())
	p.armed()
	p.clickText("Approve, allow edits")
	p.says("Nothing is waiting")
	if got := p.answers(1)[0]; got.Outcome != api.Allowed || got.Suggestion != 2 {
		t.Errorf("answer %+v", got)
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	t.Run("option", func(t *testing.T) {
		t.Parallel()
		p := pairedPhone(t, Ask())
		p.armed()
		p.clickText("Submit")
		p.says("No answer yet.")
		p.clickLabel("PostgreSQL")
		p.clickText("Submit")
		p.says("Nothing is waiting")
		if got := p.answers(1)[0]; got.Outcome != api.Answered || got.Text != "postgres" {
			t.Errorf("answer %+v", got)
		}
	})
	t.Run("other", func(t *testing.T) {
		t.Parallel()
		p := pairedPhone(t, Ask())
		p.clickLabel("Other…")
		p.armed()
		p.fill(".below", "none"+kb.Enter)
		p.says("Nothing is waiting")
		if got := p.answers(1)[0]; got.Text != "none" {
			t.Errorf("answer %+v", got)
		}
	})
	t.Run("decline", func(t *testing.T) {
		t.Parallel()
		p := pairedPhone(t, Ask())
		p.clickText("Decline")
		p.says("Nothing is waiting")
		if got := p.answers(1)[0]; got.Outcome != api.Dismissed {
			t.Errorf("answer %+v", got)
		}
	})
}

func TestForm(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Form())
	p.clickText("Submit")
	p.says("Still missing: 2 of 4 answers.")
	p.clickLabel("Minor")
	p.clickLabel("Unit tests")
	p.clickLabel("Other…")
	p.fill(".below", "smoke")
	p.fill("input[type=email]", "me@example.com")
	p.fill("textarea", "one\ntwo")
	p.armed()
	p.clickText("Submit")
	p.says("Nothing is waiting")
	want := map[string]api.Value{
		"level": interact.ListValue("minor"), "checks": interact.ListValue("unit", "smoke"),
		"mail": interact.TextValue("me@example.com"), "note": interact.TextValue("one\ntwo"),
	}
	if got := p.answers(1)[0]; got.Outcome != api.Answered || !reflect.DeepEqual(got.Values, want) {
		t.Errorf("answer %+v", got)
	}
}

// clickLabel picks the option with a label.
func (p *phone) clickLabel(label string) {
	p.t.Helper()
	selector := eval[string](p, fmt.Sprintf(`'#' + [...document.querySelectorAll('label.pick')].
		find((l) => l.textContent.startsWith(%q)).querySelector('input').id`, label))
	p.run(chromedp.ScrollIntoView(chromedp.CSS(selector)))
	p.click(selector)
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for label, yes := range map[string]bool{"Deploy": true, "Not now": false} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			p := pairedPhone(t, Confirm())
			p.armed()
			p.clickText(label)
			p.says("Nothing is waiting")
			if got := p.answers(1)[0]; got.Outcome != api.Answered || got.Confirmed != yes {
				t.Errorf("answer %+v", got)
			}
		})
	}
}

func TestQueue(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Command(), Edit(), Confirm())
	p.says("1 of 3")
	p.clickText("Deny with reason…")
	p.fill("#reason", "half a")
	p.clickText("›")
	p.title("wants to edit")
	p.says("2 of 3")
	p.clickText("‹")
	p.until("what was typed is there", `document.getElementById('reason')?.value === 'half a'`)
	p.fill("#reason", " thought")
	p.clickText("Deny with this reason")
	p.title("wants to edit")
	p.says("1 of 2")
	p.desk.Show(Confirm())
	p.title("asks you to confirm")
	p.until("it says why", `document.getElementById('alert').textContent === 'The last request is no longer waiting.'`)
	if got := p.answers(1)[0]; got.Reason != "half a thought" {
		t.Errorf("answer %+v", got)
	}
}

// A request that is away for a moment, as while nod restarts or it is snoozed, comes back with what was typed.
func TestWhatWasTypedComesBack(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Command())
	p.clickText("Deny with reason…")
	p.fill("#reason", "half a")
	p.desk.Show()
	p.says("Nothing is waiting")
	p.desk.Show(Command())
	p.until("what was typed is there", `document.getElementById('reason')?.value === 'half a'`)
}

// An answer is not followed by another one with the same press, or by the second half of a double tap.
func TestADoubleTapAnswersOnce(t *testing.T) {
	t.Parallel()
	first, second := Command(), Command()
	second.ID = "second"
	p := pairedPhone(t, first, second)
	p.armed()
	p.run(chromedp.DoubleClick(chromedp.CSS(".affirm")))
	p.until("the next is there", "!document.body.innerText.includes('of 2')")
	p.answers(1)
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Command())
	p.armed()
	p.desk.Revoke()
	p.says("This device was revoked")
	if eval[bool](p, "document.body.textContent.includes('rm -rf')") {
		t.Error("what was asked is still there")
	}
	p.clickText("Try again")
	p.says("This device was revoked")
	p.forgive("401")
	p.clickText("Forget this desk")
	p.says("This device is not paired")
	p.forgive("401")
	if eval[bool](p, keyIsKept) {
		t.Error("the key is still there")
	}
}

// workerIsActive is whether the worker has all files of the page and answers for the desk.
const workerIsActive = "navigator.serviceWorker.getRegistration().then((r) => r?.active)"

// The desk goes away and comes back, started anew: no nonce of before counts there.
func TestOfflineAndBack(t *testing.T) {
	t.Parallel()
	desk := &Desk{}
	desk.Show(Command())
	at := listen(t, "127.0.0.9:0") // where nobody else listens, who could take its port meanwhile
	address := netip.MustParseAddrPort(at.Addr().String())
	s := NewAt(t, desk, page.Files, address)
	stop := serve(t, s, at)
	p := newPhone(t, desk, s)
	p.pair(everything)
	p.armed()
	p.until("the worker keeps the shell", workerIsActive)
	stop()
	p.says("desk · The desk cannot be reached")
	p.until("it disarms", "!("+works+")")
	p.click(".affirm")
	p.says("Not sent: the desk cannot be reached.")

	p.run(chromedp.Reload())
	p.says("Is the desk on, and is this device in its network?")
	if got := eval[string](p, "document.querySelector('#foot a').getAttribute('href')"); got != "/?check" {
		t.Errorf("the connection is checked at %s", got)
	}
	kept := eval[[]string](p, `caches.open('shell').then((c) => c.keys()).
		then((all) => all.map((r) => new URL(r.url).pathname))`)
	for _, path := range kept {
		if _, err := fs.Stat(page.Files, cmp.Or(path[1:], "index.html")); err != nil {
			t.Errorf("the worker keeps %s, which is no file of the page", path)
		}
	}

	serve(t, NewAt(t, desk, page.Files, address), listen(t, address.String()))
	p.says("desk · Connected")
	p.allow()
	p.says("Nothing is waiting")
	p.answers(1)
	p.forgive("ERR_CONNECTION")
	p.forgive("401")
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// serve runs a server until stop is called, or the test ends.
func serve(t testing.TB, s *device.Server, l net.Listener) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(ctx, l)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

// A phone whose clock is wrong shows the same time left, and its answers count.
func TestAClockThatIsWrong(t *testing.T) {
	t.Parallel()
	desk, s := newDesk(t, Command())
	p := newPhone(t, desk, s)
	call(p, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{
		Source: `{ const now = Date.now; Date.now = () => now() + 400 * 86_400_000 }`,
	})
	p.pair(everything)
	p.says("Denied in 4:5")
	p.allow()
	p.says("Nothing is waiting")
	p.answers(1)
}

func TestKeyboard(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Command(), Edit(), Plan(), Confirm())
	p.armed()
	p.press(".", kb.ModifierCtrl)
	p.title("wants to edit")
	p.press(",", kb.ModifierCtrl)
	p.title("wants to run")
	p.armed()
	p.press(kb.Enter, kb.ModifierCtrl)
	p.title("wants to edit")
	p.clickText("Deny with reason…")
	p.press(kb.Escape)
	p.until("the reason is closed", "document.getElementById('reason') === null")
	p.until("the moment after an answer is over", works)
	p.press("d", kb.ModifierCtrl)
	p.title("wants to carry out this plan")
	got := p.answers(2)
	if got[0].Outcome != api.Allowed || got[1].Outcome != api.Denied {
		t.Errorf("answers %+v", got)
	}
}

func TestChinese(t *testing.T) {
	t.Parallel()
	desk := &Desk{Language: "zh-CN"}
	v := Command()
	v.Raw = v.Lines
	desk.Show(v, Ask())
	p := newPhone(t, desk, Start(t, desk, page.Files))
	p.pair(everything)
	for _, want := range []string{"desk · 已连接", "第 1 个，共 2 个", "代理说：", "完整输入（JSON）"} {
		p.says(want)
	}
	if got := eval[string](p, "document.documentElement.lang"); got != "zh-CN" {
		t.Errorf("lang is %s", got)
	}
}

// A device tells where it can be woken, and no more: what a subscription has beside that stays.
func TestPush(t *testing.T) {
	t.Parallel()
	const key = "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM"
	desk := &Desk{Push: key}
	p := newPhone(t, desk, Start(t, desk, page.Files))
	call(p, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `
		Notification.requestPermission = async () => 'granted'
		let kept = null
		PushManager.prototype.getSubscription = async () => kept
		PushManager.prototype.subscribe = async ({applicationServerKey, userVisibleOnly}) => kept = {
			toJSON: () => ({endpoint: 'https://push.example/' + applicationServerKey.length + userVisibleOnly, expirationTime: 1,
				keys: {p256dh: 'p', auth: 'a'}}),
			unsubscribe: async () => { kept = null; return true },
		}`})
	p.pair(everything)
	p.until("the worker is there", workerIsActive)
	p.click("#settings")
	p.clickText("Notify me here")
	p.says("Stop notifications")
	for _, got := range desk.Subscriptions() {
		if got.Endpoint != "https://push.example/87true" || got.Keys.P256DH != "p" || got.Keys.Auth != "a" {
			t.Errorf("subscription %+v", got)
		}
	}
	p.clickText("Stop notifications")
	p.says("Notify me here")
	for _, got := range desk.Subscriptions() {
		if got != (device.Subscription{}) {
			t.Errorf("subscription %+v", got)
		}
	}
}
