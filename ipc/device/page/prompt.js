// A prompt as the desk describes it: who asks, the exact input, and what nod worked out. The words are the desk's.

import {h} from './dom.js'
import {t} from './words.js'

// head says who wants what. Names are bold and the object stands apart: they are the requester's words, the rest is nod's.
export function head(view) {
	const {agent, project, wish, object, machine, origin = []} = view.head
	return h('div', {class: 'who tight'},
		h('h1', {id: 'title', tabindex: '-1'},
			h('b', {}, bdi(agent)), project && ' · ', project && h('b', {}, bdi(project)),
			machine && ' ', machine && h('span', {class: 'claimed'}, bdi(machine)), project ? ` — ${wish}` : ` ${wish}`,
			object && ' ', object && h('code', {}, bdi(object))),
		origin.map(({label, level, text}) => h('p', {class: 'small muted'},
			h('span', {class: level === 'note' ? 'label' : 'claimed'}, bdi(label)), ' ', bdi(text))),
	)
}

// bdi keeps the direction of a text from turning what is around it.
const bdi = (text) => h('bdi', {}, text)

// levels are the words and signs that go with the colours.
const levels = {note: '', caution: '⚠\ufe0e ', danger: '‼\ufe0e '}

function levelWord(level) {
	if (level === 'danger') return h('span', {class: 'unseen'}, t('Danger:') + ' ')
	if (level === 'caution') return h('span', {class: 'unseen'}, t('Caution:') + ' ')
}

function fact({text, level}) {
	const sign = levels[level] ?? ''
	return h('li', {class: level in levels ? level : 'danger'}, levelWord(level), sign && h('span', {'aria-hidden': 'true'}, sign), bdi(text))
}

// body is all that is to be read: of an approval the facts, the input, and what the agent says.
// It returns the lines of the input too, and how many of them must be read.
export function body(view) {
	if (view.kind !== 'approve') {
		const text = lines(view.lines ?? [], 'prose')
		const title = view.title && h('h2', {}, bdi(view.title))
		const rows = [...text.children]
		return {element: h('div', {class: 'stack'}, title, text), rows, must: rows.length}
	}
	const input = lines(view.lines ?? [], view.prose ? 'lines prose' : 'lines exact')
	const rows = [...input.children]
	const block = h('section', {class: 'input', tabindex: '0', 'aria-labelledby': 'input-title'},
		h('h2', {id: 'input-title', class: 'unseen'}, view.prose ? t('The plan') : t('Exact input')), input)
	const element = h('div', {class: 'stack'},
		factsOf(t('Facts'), view.facts ?? []),
		reported(view, factsOf(view.reporter, view.reported ?? [])),
		(view.dangers ?? []).length > 0 && h('section', {class: 'warning', 'aria-label': t('Dangerous parts')},
			h('ul', {class: 'bare', role: 'list'}, view.dangers.map((text) => h('li', {class: 'exact'}, bdi(text))))),
		(view.warnings ?? []).map((text) => h('p', {class: 'warning'}, h('span', {'aria-hidden': 'true'}, levels.danger), bdi(text))),
		block,
		reported(view, parts(view.parts ?? [])),
		view.says && labelled(t('agent says:'), view.says),
		view.why && labelled(view.why_label, view.why),
		view.raw && h('details', {}, h('summary', {}, t('Whole input (JSON)')), h('div', {class: 'input'}, lines(view.raw, 'lines exact'))),
	)
	return {element, rows, must: view.must || rows.length}
}

// reported puts before something whose word it is, where that is not nod's.
const reported = ({reporter}, element) => element && reporter ? h('div', {class: 'tight'}, h('p', {class: 'small claimed'}, bdi(`${reporter}:`)), element) : element

function factsOf(title, facts) {
	return facts.length > 0 && h('section', {'aria-label': title}, h('ul', {class: 'facts', role: 'list'}, facts.map(fact)))
}

const labelled = (label, text) => h('p', {class: 'small'}, h('span', {class: 'muted'}, bdi(label)), ' ', bdi(text))

function parts(list) {
	if (list.length === 0) return undefined
	const words = {reads: t('reads'), covered: t('covered'), new: t('new')}
	return h('section', {'aria-label': t('Parts of the command')}, h('ul', {class: 'parts', role: 'list'},
		list.map(({text, state, note}) => h('li', {class: state === 'new' ? 'new' : 'old'},
			h('b', {class: 'small'}, words[state] ?? words.new), ' ', h('span', {class: 'exact'}, bdi(text)),
			note && h('p', {class: 'small muted'}, bdi(note))))))
}

// lines shows text line by line: each is there, wrapped in place of cut off.
export function lines(list, kind = 'lines exact') {
	return h('div', {class: kind}, list.map(line))
}

const styles = new Set(['text', 'added', 'removed', 'title', 'key', 'note', 'rule', 'cut'])
const lineWords = {added: () => t('added:'), removed: () => t('removed:')}

function line({style, lead, spans = []}) {
	const word = lineWords[style]
	return h('div', {class: styles.has(style) ? `line ${style}` : 'line'},
		lead && h('span', {class: 'lead', 'aria-hidden': 'true'}, lead),
		word && h('span', {class: 'unseen'}, word() + ' '),
		h('span', {class: 'text'}, spans.map(span)))
}

const spanKinds = new Set(['hidden', 'run', 'suspicious'])

function span({text, kind, why}) {
	return spanKinds.has(kind) ? h('span', {class: kind, title: why}, text) : text
}
