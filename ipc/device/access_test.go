package device_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"nod/ipc/remote"
)

// TestEverybodyCanUseIt checks each state of the page as an audit of its accessibility does, light and dark, on a phone
// and on a tablet: contrast, the size of what is touched, names, the order of Tab, and nothing from elsewhere.
func TestEverybodyCanUseIt(t *testing.T) {
	t.Parallel()
	for _, v := range append(Views(), ofMachine(), hostile()) {
		t.Run(string(v.ID), func(t *testing.T) {
			t.Parallel()
			p := pairedPhone(t, v, Confirm())
			p.says("1 of 2")
			p.audit()
			if v.Refuse != nil && v.Refuse.Why != "" {
				p.click("#why")
				p.audit()
			}
		})
	}
	t.Run("may not", func(t *testing.T) {
		t.Parallel()
		desk, s := newDesk(t, Command())
		p := newPhone(t, desk, s)
		p.pair(remote.May{})
		p.says("You can answer this at the desk only.")
		p.audit()
	})
	t.Run("other states", func(t *testing.T) {
		t.Parallel()
		desk, s := newDesk(t)
		p := newPhone(t, desk, s)
		p.run(chromedp.Navigate(s.URL()))
		p.says("not paired")
		p.audit()
		invitation, _ := s.Invite("my phone", everything)
		p.run(chromedp.Navigate(invitation))
		p.click("summary")
		p.audit()
		desk.Compares = true
		p.clickText("Pair")
		p.says("Waiting for the desk…")
		p.audit()
		if err := desk.Admit(); err != nil {
			t.Fatal(err)
		}
		p.says("Nothing is waiting")
		p.audit()
		p.click("#settings")
		p.says("Forget this desk")
		p.audit()
		p.clickText("Close")
		desk.Revoke()
		p.says("This device was revoked")
		p.forgive("401")
		p.audit()
	})
}

func (p *phone) audit() {
	p.t.Helper()
	for _, l := range looks {
		p.screen(l.width, l.height)
		p.scheme(l.scheme)
		for _, problem := range slices.Concat(eval[[]string](p, lowContrast), eval[[]string](p, smallTargets)) {
			p.t.Errorf("%s: %s", l.name, problem)
		}
	}
	p.screen(360, 740)
	for _, problem := range slices.Concat(p.nameless(), p.unreached(), eval[[]string](p, structure)) {
		p.t.Error(problem)
	}
}

// lowContrast lists the texts that stand out from their ground by less than 4.5 to 1.
const lowContrast = `(() => {
	const parse = (color) => {
		const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number)
		return color.startsWith('color(srgb') ? [r * 255, g * 255, b * 255, a] : [r, g, b, a]
	}
	const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a)]
	const ground = (e) => {
		const layers = []
		for (; e; e = e.parentElement) {
			layers.push(parse(getComputedStyle(e).backgroundColor))
			if (layers.at(-1)[3] === 1) break
		}
		return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255])
	}
	const light = (rgb) => rgb.map((c) => c / 255).map((c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4).
		reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0)
	const told = new Set()
	const check = (e, color, what) => {
		const on = ground(e)
		const [a, b] = [light(over(parse(color), on)), light(on)].sort((x, y) => y - x)
		const ratio = (a + .05) / (b + .05)
		if (ratio >= 4.5) return
		told.add(what.slice(0, 40) + ': ' + ratio.toFixed(2) + ' to 1, ' + color + ' on ' + on.map(Math.round))
	}
	const open = document.querySelector('dialog[open]') ?? document.body
	const walk = document.createTreeWalker(open, NodeFilter.SHOW_TEXT)
	let count = 0
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement
		if (!walk.currentNode.data.trim() || e.closest('.unseen, noscript') || e.getClientRects().length === 0) continue
		count++
		check(e, getComputedStyle(e).color, walk.currentNode.data)
	}
	for (const e of open.querySelectorAll('input, textarea')) {
		check(e, getComputedStyle(e).color, 'a field')
		check(e, getComputedStyle(e, '::placeholder').color, 'a placeholder')
	}
	if (count === 0) told.add('there is no text')
	return [...told]
})()`

// controls are those that can be used now.
const controls = `[...(document.querySelector('dialog[open]') ?? document).
	querySelectorAll('a[href], button, input, textarea, select, summary, [tabindex="0"]')].
	filter((e) => e.getClientRects().length > 0 && !e.disabled && !e.closest('[inert]'))`

// smallTargets lists what is touched and less than 48 pixels wide or high.
const smallTargets = controls + `.filter((e) => !e.matches('[tabindex="0"]')).map((e) => e.closest('label.pick') ?? e).
	filter((e) => e.getBoundingClientRect().width < 48 || e.getBoundingClientRect().height < 48).
	map((e) => 'too small: ' + e.outerHTML.slice(0, 80))`

// structure lists what is missing of the page as a whole.
const structure = `[
	['a language', document.documentElement.lang], ['a title', document.title],
	['one main part', document.querySelectorAll('main').length === 1],
	['one heading of the first level', document.querySelectorAll('h1').length === 1],
	['room to zoom', !/user-scalable|maximum-scale/.test(document.querySelector('meta[name=viewport]').content)],
	['ids that are each there once', ((all) => new Set(all.map((e) => e.id)).size === all.length)(
		[...document.querySelectorAll('[id]')])],
	['parts that exist where others refer to them', ['aria-labelledby', 'aria-describedby', 'for'].every((name) =>
		[...document.querySelectorAll('[' + name + ']')].every((e) =>
			e.getAttribute(name).split(' ').every((id) => document.getElementById(id))))],
	['pictures with a text, or none on purpose', [...document.images].every((e) => e.hasAttribute('alt'))],
	['a live region', document.querySelector('[role=status]') && document.querySelector('[role=alert]')],
].filter(([, is]) => !is).map(([what]) => 'there is no: ' + what)`

// nameless lists the controls that a screen reader has no name for.
func (p *phone) nameless() (problems []string) {
	p.t.Helper()
	tree := call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	wanted := []string{
		"button", "link", "textbox", "radio", "checkbox", "radiogroup", "region", "dialog", "article", "DisclosureTriangle",
	}
	count := 0
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil || !slices.Contains(wanted, strings.Trim(string(n.Role.Value), `"`)) {
			continue
		}
		count++
		if n.Name == nil || strings.Trim(string(n.Name.Value), `" `) == "" {
			problems = append(problems, fmt.Sprintf("a %s has no name", n.Role.Value))
		}
	}
	if count == 0 && eval[int](p, controls+".length") > 0 {
		problems = append(problems, "the tree of the screen reader has no controls")
	}
	return problems
}

// unreached lists the controls that Tab does not get to. Of radio buttons it gets to one.
func (p *phone) unreached() []string {
	p.t.Helper()
	count := eval[int](p, `((all) => {
		all.forEach((e) => { delete e.reached })
		document.activeElement?.blur()
		return all.length
	})(`+controls+`)`)
	for range count + 2 {
		p.press(kb.Tab)
		eval[any](p, `void (document.activeElement.reached = true)`)
	}
	return eval[[]string](p, controls+`.filter((e) => !e.reached && !(e.type === 'radio' &&
		[...document.getElementsByName(e.name)].some((other) => other.reached))).
		map((e) => 'Tab does not reach ' + e.outerHTML.slice(0, 80))`)
}
