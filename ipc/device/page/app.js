// The page: what waits at the desk, one prompt at a time, and the user's answers.

import {Arming} from './arm.js'
import {Desk, Offline, Problem, Stopped} from './desk.js'
import {button, fill, h} from './dom.js'
import {Field} from './form.js'
import * as key from './key.js'
import {body as bodyOf, head as headOf} from './prompt.js'
import {openSettings} from './settings.js'
import {clock, speak, t} from './words.js'

const [headPlace, mainPlace, footPlace, live, alarm] = ['head', 'main', 'foot', 'live', 'alert'].map((id) => document.getElementById(id))
const beat = 100 // ms
const longAgo = 10_000 // ms without the desk, after which the page says what else may be wrong

const arming = new Arming(() => performance.now())
const drafts = new Map() // by prompt: what was typed, in case its view changes, or it is away while nod restarts

let device // what this device keeps: {privateKey, key, name, may, desk, push}
let connection // to the desk
let queue = [] // headlines, oldest first
let current // the prompt on screen, see [Prompt]; undefined: none
let lostAt // since when the desk is out of reach; undefined: it is not
let hasNews = false // the desk has said what waits
let isOver = false // the page follows the desk no more: the device was revoked, or is paired anew
let stopWaiting = () => {} // ends the wait for news
let fetches = 0 // of views: what was asked for last is shown
let pairings = 0 // that were begun, or left: only the last goes on

// Prompt is one prompt on screen.
class Prompt {
	constructor(headline, view) {
		Object.assign(this, {id: headline.id, headline, view, refusing: false, sending: false, problem: ''})
		this.isOwn = view.kind === 'ask' || view.kind === 'form' // an answer of the user's own: nothing is allowed
		Object.assign(this, bodyOf(view))
		this.unread = this.rows.map(() => true)
		this.fields = (view.fields ?? []).map((field, i) => new Field(field, {id: `field-${i}`, isOnly: view.fields.length === 1}, () => this.touched(), () => this.next(i)))
		this.reason = h('textarea', {
			id: 'reason', rows: '3', maxlength: '4000', 'aria-label': view.refuse?.placeholder ?? '', placeholder: view.refuse?.placeholder ?? '',
			input: () => keepDraft(this),
		})
		this.takeDraft(drafts.get(this.id))
	}

	takeDraft(draft) {
		if (!draft) return
		this.refusing = draft.refusing
		this.reason.value = draft.reason
		this.fields.forEach((field) => {
			if (field.field.id in draft.fields) field.draft = draft.fields[field.field.id]
		})
	}

	touched() {
		keepDraft(this)
		if (this.problem) complain('')
	}

	next(i) {
		if (i + 1 < this.fields.length) this.fields[i + 1].focus()
		else affirm(this.view.affirm?.[0])
	}

	// isRead reports whether the end of what must be read has been in view.
	get isRead() {
		return !this.view.too_long && (this.must === 0 || this.unread[this.must - 1] === false)
	}

	get unreadCount() {
		return this.unread.filter(Boolean).length
	}
}

function keepDraft(prompt) {
	drafts.set(prompt.id, {
		refusing: prompt.refusing, reason: prompt.reason.value,
		fields: Object.fromEntries(prompt.fields.map((field) => [field.field.id, field.draft])),
	})
}

// ---- what is shown ----

function showBar(...more) {
	const problem = lostAt !== undefined && !isOver ? t('The desk cannot be reached') : ''
	const state = isOver || !connection ? '' : problem || (hasNews ? t('Connected') : t('Connecting…'))
	fill(headPlace,
		h('div', {class: 'bar'},
			h('img', {src: '/icon-192.png', alt: '', width: '28', height: '28', class: 'logo'}),
			h('p', {class: problem ? 'state bad grow' : 'state grow'}, [device?.desk?.name, state].filter(Boolean).join(' · ')),
			device && connection && !isOver && button('⋯', settings, {class: 'plain', 'aria-label': t('This device'), id: 'settings'})),
		...more)
}

// screen shows a page that is no prompt.
function screen(name, title, texts, actions = []) {
	current = undefined
	delete headPlace.dataset.level
	showBar()
	mainPlace.dataset.screen = name
	fill(mainPlace, h('div', {class: 'welcome stack'},
		h('img', {src: '/icon-192.png', alt: '', width: '96', height: '96'}),
		h('h1', {id: 'title', tabindex: '-1'}, title),
		texts.map((text) => typeof text === 'string' ? h('p', {}, text) : text)))
	fill(footPlace, actions.length > 0 && h('div', {class: 'actions'}, actions))
	document.title = 'nod'
}

function showIdle() {
	screen('idle', t('Nothing is waiting'), [
		h('p', {class: 'muted'}, t('Requests from your agents appear here.')),
	])
	tellBadge(0)
}

function showUnpaired() {
	const address = h('input', {
		id: 'invitation', type: 'url', autocomplete: 'off', 'aria-describedby': 'problem',
		keydown: (event) => { if (event.key === 'Enter' && !event.repeat) go() },
	})
	const go = () => {
		const {secret, fingerprint} = invitationIn(address.value.split('#')[1] ?? '')
		if (secret) showPairing(secret, fingerprint)
		else complain(t('This is not an address from a code.'))
	}
	screen('unpaired', t('This device is not paired'), [
		t('At the desk, open Settings → Machines and devices, choose Add a device…, and scan the code with this device’s camera.'),
		h('div', {class: 'start'}, h('label', {class: 'field', for: 'invitation'}, t('Or paste the address from the code')), address,
			h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: true})),
	], [button(t('Continue'), go, {class: 'strong wide'})])
}

function showRevoked() {
	drafts.clear()
	queue = []
	screen('revoked', t('This device was revoked'), [
		t('It can no longer see or answer anything. To use it, pair it again at the desk.'),
	], [
		button(t('Try again'), start),
		button(t('Forget this desk'), forget, {class: 'strong'}),
	])
}

function showBroken(error) {
	screen('broken', t('This page cannot work here'), [error.message], [button(t('Try again'), () => location.reload(), {class: 'strong'})])
}

function showPairing(secret, fingerprint) {
	screen('pairing', t('Pair this device?'), [
		t('It then shows requests from your agents at {{.Host}}, and answers those you let it answer.', {Host: location.host}),
		device && t('It is already paired, as {{.Name}}, and stays paired until the desk confirms the new pairing.', {Name: device.name}),
		fingerprint && h('details', {}, h('summary', {}, t('Compare the certificate')),
			h('p', {class: 'small'}, t('The browser’s certificate viewer must show this SHA-256:')),
			h('p', {}, h('code', {}, fingerprint.toUpperCase().match(/.{1,2}/g).join(':')))),
		h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: true}),
	], [device && button(t('Cancel'), goBack), button(t('Pair'), () => begin(secret), {class: 'strong wide', id: 'pair'})])
}

// showWords shows what stands for this device's new key, for the user to compare.
function showWords(words) {
	screen('words', t('Compare these words'), [
		t('The desk shows six words, too. Confirm there only if they are the same:'),
		h('ol', {class: 'words'}, words.split(' ').map((word) => h('li', {lang: 'en'}, word))),
		h('p', {class: 'muted', role: 'status'}, t('Waiting for the desk…')),
		h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: true}),
	], [button(t('Cancel'), goBack)])
}

// showPrompt draws the current prompt from its beginning.
function showPrompt() {
	const {view, headline, element} = current
	headPlace.dataset.level = view.level ?? 'note'
	showBar(headOf(view))
	mainPlace.dataset.screen = 'prompt'
	fill(mainPlace, h('article', {class: 'stack', 'aria-labelledby': 'title'},
		element, current.fields.map((field) => field.element), view.limit && h('p', {class: 'warning caution'}, view.limit)))
	mainPlace.scrollTop = 0
	drawFoot()
	document.title = queue.length > 1 ? `nod (${queue.length})` : 'nod'
	tellBadge(queue.length)
	arming.begin(view.arm_ms)
	performance.mark('prompt')
	requestAnimationFrame(look)
	live.textContent = [place(headline), view.head.agent, view.head.machine, view.head.wish].filter(Boolean).join(' · ')
}

function place(headline) {
	const at = queue.findIndex(({id}) => id === headline.id)
	return queue.length > 1 && at >= 0 ? t('{{.Place}} of {{.Count}}', {Place: at + 1, Count: queue.length}) : ''
}

function drawFoot() {
	const {view, headline} = current
	const where = place(headline)
	const yes = current.refusing ? [] : (view.affirm ?? []).map((affirmation, i) => button(affirmation.label, () => affirm(affirmation), {
		class: i === 0 ? 'strong affirm' : 'affirm', 'data-label': affirmation.label, 'aria-keyshortcuts': i === 0 ? 'Control+Enter' : undefined,
	}))
	const no = view.refuse && button(current.refusing ? view.refuse.send : view.refuse.label, refuse, {
		id: 'refuse', class: current.refusing ? 'strong' : undefined, 'aria-keyshortcuts': 'Control+D',
	})
	const why = view.refuse?.why && button(current.refusing ? t('Cancel') : view.refuse.why, toggleReason, {id: 'why', class: 'plain'})
	fill(footPlace,
		h('div', {class: 'queue'},
			where && button('‹', () => step(-1), {'aria-label': t('Previous request'), class: 'plain'}),
			where && h('span', {id: 'place', class: 'small'}, where),
			where && button('›', () => step(+1), {'aria-label': t('Next request'), class: 'plain'}),
			h('p', {id: 'left', class: 'grow', role: 'timer'})),
		h('p', {class: 'problem', id: 'problem', role: 'alert', hidden: current.problem === ''}, current.problem),
		current.refusing && current.reason,
		(yes.length > 0 || no) && h('div', {class: 'actions'}, why, no, yes))
	drawState()
}

// drawState shows whether the affirmative works, and how much time is left. It is called with every beat.
function drawState() {
	if (!current) return
	const left = document.getElementById('left')
	const text = leftOf(current)
	if (left && left.textContent !== text) left.textContent = text
	for (const yes of footPlace.querySelectorAll('.affirm')) {
		const works = arming.armed && !current.sending
		if ((yes.getAttribute('aria-disabled') !== 'true') !== works) yes.setAttribute('aria-disabled', String(!works))
		const label = current.view.too_long ? t('Too long to allow') : current.isRead ? yes.dataset.label : t('Next unread part')
		if (yes.textContent !== label) yes.textContent = label
	}
}

function leftOf({view, deadline, isRead, unreadCount}) {
	if (view.kind === 'approve' && isRead && view.must > 0 && unreadCount > 0) {
		return unreadCount === 1 ? t('1 line unread') : t('{{.Lines}} lines unread', {Lines: unreadCount})
	}
	return (view.silence ?? '').replace('{time}', () => clock(deadline - performance.now()))
}

function complain(text) {
	if (current) current.problem = text
	const problem = document.getElementById('problem')
	if (!problem) return
	problem.textContent = text
	problem.hidden = text === ''
}

function tellBadge(count) {
	if (count > 0) navigator.setAppBadge?.(count).catch(() => {})
	else {
		navigator.clearAppBadge?.().catch(() => {})
		navigator.serviceWorker?.getRegistration().then((worker) => worker?.getNotifications()).then((all) => all?.forEach((one) => one.close()), () => {})
	}
}

// ---- what has been in view ----

// look notes which lines of the input are in view now.
function look() {
	if (!current || document.visibilityState !== 'visible' || document.querySelector('dialog[open]')) return
	const view = mainPlace.getBoundingClientRect()
	const {rows, unread} = current
	let low = 0
	for (let high = rows.length; low < high;) { // the first line whose end is in view, or below
		const middle = (low + high) >> 1
		if (rows[middle].getBoundingClientRect().bottom < view.top) low = middle + 1
		else high = middle
	}
	for (; low < rows.length && rows[low].getBoundingClientRect().bottom <= view.bottom + 1; low++) unread[low] = false
	arming.set('seen', current.isRead || current.isOwn)
	drawState()
}

// goOn scrolls to what has not been in view.
function goOn() {
	const first = current.rows[current.unread.indexOf(true)]
	if (!first) return
	const reduced = matchMedia('(prefers-reduced-motion: reduce)').matches
	const distance = Math.min(first.getBoundingClientRect().top - mainPlace.getBoundingClientRect().top - 8, mainPlace.clientHeight * .9)
	mainPlace.scrollBy({top: distance > 1 ? distance : mainPlace.clientHeight * .8, behavior: reduced ? 'instant' : 'smooth'})
}

// ---- what the user does ----

function affirm(affirmation) {
	if (!current || !affirmation || current.refusing || current.sending) return
	if (current.isOwn && !isComplete()) return
	if (!current.isRead && !current.isOwn) {
		if (current.view.too_long) complain(t('This is too long to read here: answer it at the desk.'))
		else goOn()
		return
	}
	if (lostAt !== undefined) return complain(t('Not sent: the desk cannot be reached.'))
	if (!arming.press()) return complain(t('Not sent: that was too fast. Press again.'))
	const {view} = current
	if (view.kind === 'approve') send({outcome: 'allowed', suggestion: affirmation.suggestion})
	else if (view.kind === 'confirm') send({outcome: 'answered', confirmed: true})
	else if (view.kind === 'ask') send({outcome: 'answered', text: [current.fields[0].value].flat().join('')})
	else send({outcome: 'answered', values: Object.fromEntries(current.fields.map((field) => [field.field.id, field.value]))})
}

// isComplete says what is missing, and goes there.
function isComplete() {
	const missing = current.fields.filter((field) => field.isMissing || current.view.kind === 'ask' && [field.value].flat().join('').trim() === '')
	current.fields.forEach((field) => field.complain(missing.includes(field) ? t('This needs an answer.') : ''))
	if (missing.length === 0) return true
	complain(current.fields.length === 1 ? t('No answer yet.')
		: t('Still missing: {{.Count}} of {{.All}} answers.', {Count: missing.length, All: current.fields.length}))
	missing[0].focus()
	return false
}

function refuse() {
	if (!current?.view.refuse || current.sending) return
	if (arming.quiet) return complain(t('Not sent: that was too fast. Press again.'))
	if (lostAt !== undefined) return complain(t('Not sent: the desk cannot be reached.'))
	const {kind} = current.view
	if (kind === 'approve') send({outcome: 'denied', reason: current.refusing ? current.reason.value.trim() || undefined : undefined})
	else if (kind === 'confirm') send({outcome: 'answered', confirmed: false})
	else send({outcome: 'dismissed'})
}

function toggleReason() {
	if (!current || current.sending) return
	current.refusing = !current.refusing
	keepDraft(current)
	arming.disturb()
	drawFoot()
	if (current.refusing) current.reason.focus()
	else document.getElementById('why').focus()
}

async function send(answer) {
	const prompt = current
	const {id, revision, digest} = prompt.view
	prompt.sending = true
	footPlace.inert = true
	complain('')
	drawState()
	try {
		await connection.answer({id, revision, digest, seen: prompt.isRead || prompt.isOwn, ...answer})
		arming.block()
		drafts.delete(prompt.id)
		over(prompt.id, said(answer))
	} catch (error) {
		prompt.sending = false
		await failed(prompt, error)
	} finally {
		footPlace.inert = false
	}
}

function said({outcome, confirmed}) {
	if (outcome === 'allowed') return t('Allowed')
	if (outcome === 'denied') return t('Denied')
	if (outcome === 'dismissed') return t('Declined')
	return confirmed === false ? t('No') : confirmed ? t('Yes') : t('Answered')
}

// failed says why an answer did not count, and what is to be done.
async function failed(prompt, error) {
	if (error instanceof Offline) return complain(t('No reply from the desk: it may not have your answer.'))
	if (!(error instanceof Problem)) throw error
	switch (error.code) {
	case 'unpaired': return revoked()
	case 'gone': return over(prompt.id, error.message)
	case 'changed': return show(prompt.headline, error.message)
	case 'early':
		arming.begin(Math.max(error.wait ?? 0, prompt.view.arm_ms))
		arming.set('seen', prompt.isRead || prompt.isOwn)
		return complain(error.message || t('Not sent: that was too fast. Press again.'))
	case 'invalid': {
		const field = prompt.fields.find((one) => error.question !== undefined && one.field.id === error.question)
		field?.complain(error.message)
		complain(field ? t("One answer isn't valid yet.") : error.message)
		return field?.focus()
	}
	}
	complain(error.message)
}

// over takes a prompt out of the queue and shows the next.
function over(id, text) {
	const at = Math.max(queue.findIndex((headline) => headline.id === id), 0)
	queue = queue.filter((headline) => headline.id !== id)
	alarm.textContent = text
	const next = queue[Math.min(at, queue.length - 1)]
	current = undefined
	if (next) show(next)
	else showIdle()
	focusTitle()
}

const focusTitle = () => document.getElementById('title')?.focus({preventScroll: true})

function step(by) {
	const at = queue.findIndex(({id}) => id === current?.id)
	if (queue.length < 2) return
	show(queue[(at + by + queue.length) % queue.length]).then(focusTitle)
}

function settings() {
	arming.set('visible', false)
	openSettings({device, connection, forget, closed: noteVisible})
}

async function forget() {
	isOver = true
	stopWaiting()
	const told = connection.push().catch(() => {})
	await Promise.race([told, new Promise((resolve) => { setTimeout(resolve, 2000) })])
	await key.forget()
	await (await navigator.serviceWorker?.getRegistration())?.unregister()
	await globalThis.caches?.delete('shell')
	location.replace('/')
}

// ---- the desk ----

// show fetches a prompt and shows it. The text says why it is shown again.
async function show(headline, text = '') {
	const turn = ++fetches
	try {
		const view = await connection.view(headline.id)
		if (turn !== fetches || isOver) return
		if (queue.length > 0 && !queue.some(({id}) => id === headline.id)) return // it ended meanwhile
		current = new Prompt(headline, view)
		current.deadline = headline.deadline
		current.problem = text
		showPrompt()
	} catch (error) {
		if (error instanceof Problem && error.code === 'gone') return over(headline.id, error.message)
		if (error instanceof Problem && error.code === 'unpaired') return revoked()
		if (error instanceof Offline) lost()
		else complain(error.message)
		setTimeout(() => stopWaiting(), 1000) // what waits is asked for again
	}
}

// follow shows what waits, until the device is revoked.
async function follow() {
	let cursor
	for (let failures = 0; !isOver;) {
		while (document.visibilityState !== 'visible') await new Promise((resolve) => { stopWaiting = resolve })
		if (isOver) return
		const stop = new AbortController()
		stopWaiting = () => stop.abort()
		try {
			const news = await connection.news(cursor, stop.signal)
			failures = 0
			cursor = news.cursor
			await back(news)
			await take(news)
		} catch (error) {
			cursor = undefined
			if (error instanceof Stopped) continue
			if (error instanceof Problem && error.code === 'unpaired') return revoked()
			if (error instanceof Offline) lost()
			else complain(error.message)
			await pause(Math.min(1000 * 2 ** failures++, 10_000))
		}
	}
}

// pause waits, or less: until the page is looked at again, or the network is back.
function pause(milliseconds) {
	return new Promise((resolve) => {
		stopWaiting = resolve
		setTimeout(resolve, milliseconds)
	})
}

function lost() {
	if (lostAt === undefined) {
		lostAt = performance.now()
		arming.set('online', false)
		alarm.textContent = t('The desk cannot be reached')
		redrawBar()
		if (!current) showLost()
	} else if (!current && performance.now() - lostAt > longAgo) showLost()
}

function showLost() {
	const texts = [t('Is the desk on, and is this device in its network? This page reconnects by itself.')]
	if (performance.now() - lostAt > longAgo) texts.push(
		t('If so, its certificate may have changed, and the browser warns about it. Accept it only after you have compared its SHA-256 with the one in the settings at the desk.'))
	screen('lost', t('The desk cannot be reached'), texts, [h('a', {class: 'button wide', href: '/?check'}, t('Check the connection'))])
}

async function back({desk, device: {name, may}, push}) {
	const wasLost = lostAt !== undefined || !hasNews
	const isNew = JSON.stringify([device.desk, device.name, device.may, device.push]) !== JSON.stringify([desk, name, may, push])
	lostAt = undefined
	hasNews = true
	arming.set('online', true)
	if (current && JSON.stringify(device.may) !== JSON.stringify(may)) current.view.revision = undefined // it is to be fetched anew
	Object.assign(device, {desk, name, may, push})
	if (isNew) await key.save(device)
	const isOther = await speak(desk.language)
	if (wasLost || isNew || isOther) redrawBar()
	if (wasLost) alarm.textContent = t('Connected')
}

// redrawBar draws the top line anew, below which the head of the prompt stays.
function redrawBar() {
	const focused = document.activeElement?.id === 'settings'
	showBar(headPlace.querySelector('.who') ?? '')
	if (focused) document.getElementById('settings')?.focus()
}

// take shows what the desk says that waits.
async function take({prompts}) {
	const now = performance.now()
	const before = queue.length
	queue = prompts.map((headline) => ({...headline, deadline: now + headline.left_ms}))
	if (current?.sending) return
	const same = current && queue.find(({id}) => id === current.id)
	if (current && !same) {
		const label = t('The last request is no longer waiting.')
		if (queue.length > 0) await show(queue[0], label)
		else showIdle()
		alarm.textContent = label
		return
	}
	if (same) {
		current.headline = same
		current.deadline = same.deadline
		if (same.revision !== current.view.revision) return show(same, t('This has changed since. Look again.'))
		if (queue.length !== before) drawFootKeepingFocus()
		if (queue.length > before) live.textContent = t('{{.Count}} waiting', {Count: queue.length})
		return
	}
	if (queue.length > 0) return show(queue[0])
	showIdle()
}

function drawFootKeepingFocus() {
	const id = document.activeElement?.id
	const at = current.reason.selectionStart
	drawFoot()
	tellBadge(queue.length)
	if (id === 'reason') {
		current.reason.focus()
		current.reason.setSelectionRange(at, at)
	} else if (id && footPlace.querySelector(`[id="${CSS.escape(id)}"]`)) document.getElementById(id).focus()
}

function revoked() {
	isOver = true
	stopWaiting()
	showRevoked()
	alarm.textContent = t('This device was revoked')
}

// ---- pairing ----

// begin makes a key for an invitation, beside the one that may be here: that one counts until the desk has confirmed.
async function begin(secret) {
	document.getElementById('pair').disabled = true
	try {
		const begun = {...await key.make(), secret}
		await key.begin(begun) // a browser that keeps nothing says so before the desk is asked
		await compare(begun)
	} catch {
		refused(secret, t('This browser keeps no key: leave its private mode.'))
	}
}

// compare shows the words of a new key until the user has compared them at the desk.
async function compare(begun) {
	const desk = new Desk(begun)
	const turn = ++pairings
	for (let words; turn === pairings;) {
		try {
			const paired = await desk.pair(begun.secret, words !== undefined)
			if (turn !== pairings) return
			if (paired.device) {
				const {privateKey, key: name} = begun
				device = {privateKey, key: name, ...paired.device}
				await key.save(device)
				navigator.storage?.persist?.()
				return start()
			}
			if (words === undefined) showWords(paired.words)
			words = paired.words
			complain('')
		} catch (error) {
			if (turn !== pairings) return
			const isBusy = error instanceof Problem && error.code === 'busy'
			if (words !== undefined && (isBusy || error instanceof Offline)) { // the phone may have slept
				complain(t('The desk cannot be reached'))
				await pause(1000)
				continue
			}
			await key.drop()
			if (error instanceof Problem && error.code === 'invitation') refused(begun.secret, t('This invitation is no longer valid, or another device has used it. Make a new one at the desk.'))
			else if (error instanceof Offline) refused(begun.secret, t('The desk cannot be reached'))
			else if (error instanceof Problem) refused(begun.secret, error.message)
			else throw error
			return
		}
	}
}

// refused says why this device was not paired anew.
function refused(secret, text) {
	showPairing(secret)
	complain(text)
}

// goBack leaves pairing: what was here before is as it was.
async function goBack() {
	pairings++
	await key.drop()
	if (device) start()
	else showUnpaired()
}

// invitation takes what the camera has read out of the address, and out of the browser's history.
function invitation() {
	const found = invitationIn(location.hash.slice(1))
	if (location.hash || location.search) history.replaceState(null, '', location.pathname)
	return found
}

function invitationIn(fragment) {
	const told = new URLSearchParams(fragment)
	return {secret: told.get('pair'), fingerprint: told.get('fp')?.replace(/[^0-9a-f]/gi, '')}
}

function start() {
	connection = new Desk(device)
	hasNews = isOver = false
	arming.set('online', false)
	screen('loading', t('Connecting…'), [])
	follow()
}

async function open() {
	const {secret, fingerprint} = invitation()
	if (!globalThis.crypto?.subtle || !globalThis.indexedDB) throw new Error(t('This browser cannot keep a key for this page: it needs https, and no private mode.'))
	device = await key.load('device')
	const begun = await key.load('pairing')
	await speak(device?.desk?.language ?? navigator.language)
	if (secret) return showPairing(secret, fingerprint)
	if (begun) return compare(begun)
	if (device) return start()
	showUnpaired()
}

// keepShell has the worker keep the page's files. Without one all else works.
function keepShell() {
	if (!('serviceWorker' in navigator)) return
	const policy = globalThis.trustedTypes?.createPolicy('nod', {createScriptURL: () => '/sw.js'})
	navigator.serviceWorker.register(policy ? policy.createScriptURL('') : '/sw.js').catch(() => {})
}

// ---- events ----

function noteVisible() {
	arming.set('visible', document.visibilityState === 'visible' && !document.querySelector('dialog[open]'))
	arming.set('focused', document.hasFocus())
}

document.addEventListener('visibilitychange', () => {
	noteVisible()
	stopWaiting() // a page that nobody looks at asks for nothing; and the line may have died meanwhile
})
addEventListener('focus', noteVisible)
addEventListener('blur', noteVisible)
addEventListener('online', () => stopWaiting())
addEventListener('hashchange', () => {
	const {secret, fingerprint} = invitation()
	if (!secret) return
	stopWaiting()
	isOver = true
	pairings++
	showPairing(secret, fingerprint)
})
addEventListener('resize', () => {
	if (current && !current.isOwn) arming.disturb()
	requestAnimationFrame(look)
})
mainPlace.addEventListener('scroll', () => requestAnimationFrame(look), {passive: true})
mainPlace.addEventListener('toggle', () => requestAnimationFrame(look), true)
addEventListener('keydown', (event) => {
	if (!event.isTrusted || event.repeat || event.isComposing || !current || document.querySelector('dialog[open]')) return
	const isCommand = event.ctrlKey || event.metaKey
	if (isCommand && event.key === 'Enter') current.refusing ? refuse() : affirm(current.view.affirm?.[0])
	else if (isCommand && event.key.toLowerCase() === 'd') refuse()
	else if (isCommand && event.key === '.') step(+1)
	else if (isCommand && event.key === ',') step(-1)
	else if (event.key === 'Escape' && current.refusing) toggleReason()
	else return
	event.preventDefault()
})
setInterval(() => {
	noteVisible()
	look()
	arming.hear()
	drawState()
}, beat)

keepShell()
open().catch(showBroken)
