package device_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"nod/api"
	"nod/e2e/devicetest"
)

const script = `<script>document.title='owned'</script>`

// hostile is a prompt in which every text wants to be something else, also those that a desk would have spelled out.
func hostile() devicetest.View {
	const (
		markup  = `<img src=x onerror="document.title='owned'">` + script + `<a href="javascript:alert(1)">x</a>`
		turned  = "safe \u202egnp.exe\u202c \u2067tfel\u2069 \u200b\u200d\ufeff end"
		marker  = "{{.Time}} ${document.title} &lt;b&gt; \u0007 \u2028 \u2029"
		stacked = "z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b"
	)
	long := strings.Repeat("aaaaaaaaaaaaaaaa", 300)
	line := func(style, text string) devicetest.Line {
		return devicetest.Line{Style: style, Lead: "1 ", Spans: []devicetest.Span{
			{Text: text, Kind: "hidden", Why: markup}, {Text: text, Kind: markup},
		}}
	}
	fact := func(text string) devicetest.Fact { return devicetest.Fact{Text: text, Level: devicetest.Danger} }
	v := Command()
	v.ID, v.Head = "hostile", devicetest.Head{
		Agent: markup, Project: turned, Wish: "wants to run", Object: long, Machine: markup + turned,
		Origin: []devicetest.Origin{{Label: markup, Level: markup, Text: turned + long}},
	}
	v.Facts = []devicetest.Fact{fact(markup + turned), fact(long), {Text: markup, Level: markup}}
	v.Reported, v.Reporter, v.WhyLabel, v.Level = v.Facts, markup+turned, markup, markup
	v.Dangers, v.Warnings = []string{markup, long}, []string{turned, marker}
	v.Lines = []devicetest.Line{
		line("text", markup), line("text", turned), line(markup, marker), line("added", stacked), line("title", long),
	}
	v.Parts = []devicetest.Part{{Text: markup + long, State: markup, Note: turned}}
	v.Raw = v.Lines
	v.Says, v.Why, v.Silence, v.Limit = markup+marker, turned, markup, markup
	v.Affirm = []devicetest.Affirmation{{Label: "Allow"}}
	v.Refuse = &devicetest.Refusal{Label: "Deny", Why: markup, Send: markup, Placeholder: turned}
	return v
}

// hostileForm is the same with questions.
func hostileForm() devicetest.View {
	h := hostile()
	v := Form()
	v.ID, v.Head, v.Title = "hostile-form", h.Head, h.Says
	for i := range v.Fields {
		f := &v.Fields[i]
		f.ID, f.Header, f.Question, f.Hint, f.Placeholder = `"]<b>`+h.Why+f.ID, h.Says, h.Lines, h.Why, h.Says
		for j := range f.Options {
			o := &f.Options[j]
			o.Label, o.Description, o.Preview = h.Says, h.Head.Object, h.Lines
		}
	}
	v.Kind = api.KindForm
	return v
}

// TestHostileText shows what wants to be markup, or to hide, as the text that it is.
func TestHostileText(t *testing.T) {
	t.Parallel()
	for _, v := range []devicetest.View{hostile(), hostileForm()} {
		t.Run(string(v.ID), func(t *testing.T) {
			t.Parallel()
			p := pairedPhone(t, v)
			p.says(script)
			if got := eval[string](p, "document.title"); got != "nod" {
				t.Errorf("the title is %q", got)
			}
			if got := eval[[]string](p, `[...document.querySelectorAll('main *, .who *')].map((e) => e.localName).
				filter((name) => ['img', 'script', 'a', 'iframe', 'style', 'link', 'object'].includes(name))`); len(got) > 0 {
				t.Errorf("there are %v", got)
			}
			if got := eval[[]string](p, `[...document.querySelectorAll('*')].flatMap((e) => [...e.attributes]).
				filter((a) => a.name.startsWith('on') || a.name === 'style' || /^(javascript|data):/.test(a.value)).
				map((a) => a.name)`); len(got) > 0 {
				t.Errorf("there are the attributes %v", got)
			}
			for _, width := range []int64{320, 360, 768} {
				p.screen(width, 740)
				if got := eval[[]string](p, tooWide); len(got) > 0 {
					t.Errorf("at %d pixels wider than the screen: %q", width, got)
				}
			}
			if got := eval[float64](p, "document.getElementById('main').clientHeight"); got < 150 {
				t.Errorf("only %v pixels are left for what is asked", got)
			}
		})
	}
}

// tooWide are elements that stick out of the screen, or that scroll aside.
const tooWide = `[...document.querySelectorAll('body, main, header, footer, main *, .who *')].
	filter((e) => !e.closest('.unseen') && (e.getBoundingClientRect().right > innerWidth + 1 ||
		e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).overflowX !== 'visible')).
	map((e) => e.outerHTML.slice(0, 80))`

// The letters of a requester turn no word of nod's around.
func TestDirectionStaysInside(t *testing.T) {
	t.Parallel()
	v := Command()
	v.Head.Agent, v.Head.Project, v.Head.Object = "\u202eABC", "\u2067DEF", "\u202eGHI"
	v.Says = "\u202eJKL"
	p := pairedPhone(t, v)
	p.says("wants to run")
	got := eval[[]string](p, `[...document.getElementById('title').childNodes].
		filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data)`)
	if want := []string{" · ", " — wants to run", " "}; !slices.Equal(got, want) {
		t.Errorf("nod's own words are %q, want %q", got, want)
	}
	if !eval[bool](p, `[...document.querySelectorAll('bdi')].
		every((e) => getComputedStyle(e).unicodeBidi === 'isolate')`) {
		t.Error("a text is not isolated")
	}
}

// TestWithoutAKey has a page without a key try what a paired one can do.
func TestWithoutAKey(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Command())
	p.armed()
	other := newPhone(t, p.desk, p.server)
	other.run(chromedp.Navigate(p.server.URL()))
	other.says("This device is not paired")
	got := eval[[]int](other, `(async () => {
		const {make, sign, digest} = await import('/key.js')
		const {privateKey, key} = await make()
		const told = []
		const ask = async (method, path, body, headers = {}) => {
			if (body) headers['Content-Type'] = 'application/json'
			told.push((await fetch(path, {method, headers, body})).status)
		}
		const signed = async (method, path, body = '', name = key) => {
			const {nonce} = await (await fetch('/nonce')).json()
			const text = ['nod-device-1', method + ' ' + location.host, path, await digest(body), nonce].join('\n')
			const sig = await sign(privateKey, text)
			await ask(method, path, body || undefined, {Authorization: 'Nod key=' + name + ', nonce=' + nonce + ', sig=' + sig})
		}
		const answer = JSON.stringify({id: 'command', revision: '1', digest: '', seen: true, outcome: 'allowed'})
		await ask('GET', '/prompts')
		await ask('GET', '/prompts/command')
		await ask('POST', '/answer', answer)
		await signed('GET', '/prompts')
		await signed('POST', '/answer', answer)
		await signed('GET', '/prompts', '', '`+keyOf(p)+`')
		await signed('POST', '/answer', answer, '`+keyOf(p)+`')
		await signed('POST', '/pair', JSON.stringify({secret: 'guess', key}))
		return told
	})()`)
	if want := []int{401, 401, 401, 401, 401, 401, 401, 403}; !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
	other.forgive("401")
	other.forgive("403")
	p.answers(0)
}

// keyOf is the public key of a paired page, which anybody on the way may know.
func keyOf(p *phone) string { return eval[string](p, inStore+`.then((device) => device.key)`) }

// TestAnotherOrigin has a page from elsewhere, open in the browser of a paired phone, try to use it.
func TestAnotherOrigin(t *testing.T) {
	t.Parallel()
	p := pairedPhone(t, Command())
	p.armed()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>elsewhere</title>"))
	}))
	t.Cleanup(elsewhere.Close)
	p.run(chromedp.Navigate(elsewhere.URL))
	got := eval[[]string](p, `(async (desk) => {
		const told = []
		const tried = async (what, f) => told.push(what + ': ' + await f().then((s) => s, () => 'refused'))
		const load = (tag, attributes) => new Promise((resolve, reject) => {
			const e = Object.assign(document.createElement(tag), attributes)
			e.onload = () => resolve('loaded')
			e.onerror = reject
			document.head.append(e)
		})
		const body = JSON.stringify({id: 'command', revision: '1', digest: '', seen: true, outcome: 'allowed'})
		const read = async (path, request) => (await fetch(desk + path, request)).text()
		for (const path of ['', 'nonce', 'prompts', 'app.js']) await tried('read /' + path, () => read(path))
		const headers = {'Content-Type': 'application/json'}
		await tried('answer', () => read('answer', {method: 'POST', body, headers}))
		await tried('script', () => load('script', {src: desk + 'app.js', type: 'module'}))
		await tried('plain script', () => load('script', {src: desk + 'sw.js'}))
		await tried('style', () => load('link', {rel: 'stylesheet', href: desk + 'style.css'}))
		await tried('picture', () => load('img', {src: desk + 'icon-192.png'}))
		await tried('store', async () => (await indexedDB.databases()).map((d) => d.name).join() || Promise.reject())
		await tried('blind answer', async () => {
			const reply = await fetch(desk + 'answer', {method: 'POST', mode: 'no-cors', body})
			return reply.type === 'opaque' ? Promise.reject() : 'read'
		})
		return told
	})('`+p.server.URL()+`')`)
	for _, told := range got {
		if !strings.HasSuffix(told, ": refused") {
			t.Errorf("a page from elsewhere: %s", told)
		}
	}
	if len(got) != 11 {
		t.Errorf("tried %q", got)
	}
	eval[any](p, `(document.body.innerHTML = '<iframe src="`+p.server.URL()+`"></iframe>', null)`)
	p.until("the frame is refused", `document.querySelector('iframe').contentWindow.length === 0`)
	p.run(chromedp.Navigate(p.server.URL()))
	p.allow()
	p.says("Nothing is waiting")
	p.answers(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems, p.foreign = nil, nil // of the other page
}
