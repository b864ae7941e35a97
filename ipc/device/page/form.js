// The fields of a question or a form, and the answers in them.

import {h} from './dom.js'
import {lines} from './prompt.js'
import {t} from './words.js'

const manyOptions = 8 // more of them get a filter

// Field is one question: its element, its value, and what is wrong with that.
export class Field {
	constructor(field, {id, isOnly}, changed, next) {
		Object.assign(this, {field, id, isOnly, changed, next})
		this.problem = h('p', {class: 'problem', id: `${this.id}-problem`, hidden: true})
		this.isChoice = field.input === 'choice'
		this.element = this.isChoice ? this.#choice() : this.#text()
	}

	#words() {
		const {header, required, question = []} = this.field
		const needed = required ? !this.isOnly && t('required') : t('optional')
		return [
			(header || needed) && h('span', {class: 'small'}, header && h('b', {}, header, ' '), needed && h('span', {class: 'muted'}, needed)),
			question.length > 0 && lines(question, 'prose'),
		]
	}

	#notes() {
		return [this.field.hint && h('p', {class: 'small muted', id: `${this.id}-hint`}, this.field.hint), this.problem]
	}

	#described(extra = {}) {
		return {'aria-describedby': `${this.field.hint ? `${this.id}-hint ` : ''}${this.id}-problem`, ...extra}
	}

	#text() {
		const {multiline, format, placeholder, required} = this.field
		const kind = {
			email: {type: 'email', inputmode: 'email', autocomplete: 'off'}, uri: {type: 'url', inputmode: 'url'}, date: {type: 'date'},
			'date-time': {type: 'datetime-local', step: '1'}, integer: {type: 'text', inputmode: 'numeric'}, number: {type: 'text', inputmode: 'decimal'},
		}[format] ?? {type: 'text', autocapitalize: 'sentences'}
		const {type, ...rest} = kind
		this.input = h(multiline ? 'textarea' : 'input', this.#described({
			id: this.id, placeholder, 'aria-required': required ? 'true' : undefined, autocomplete: 'off', enterkeyhint: multiline ? undefined : 'next',
			...(multiline ? {rows: '4'} : {type}), ...rest, input: () => this.#touched(),
			keydown: (event) => {
				if (event.key !== 'Enter' || multiline || event.isComposing || event.ctrlKey || event.metaKey) return
				event.preventDefault()
				if (!event.repeat) this.next()
			},
		}))
		this.set((this.field.default ?? []).join(''))
		return h('div', {class: 'question tight'}, h('label', {class: 'field', for: this.id}, this.#words()), this.input, this.#notes())
	}

	#choice() {
		const {options = [], multi, other, default: chosen = []} = this.field
		this.picks = options.map((option, i) => this.#pick(option, i, chosen.includes(option.value)))
		if (other) this.#addOther()
		const filter = options.length > manyOptions && h('input', {
			type: 'search', 'aria-label': t('Filter {{.Count}} options', {Count: options.length}), placeholder: t('Filter {{.Count}} options', {Count: options.length}),
			input: (event) => this.#filter(event.target.value),
		})
		return h('fieldset', this.#described({class: 'question', role: multi ? 'group' : 'radiogroup'}),
			h('legend', {}, this.#words()), filter, this.picks.map((pick) => pick.element), this.otherText, this.#notes())
	}

	#pick({value, label, description, recommended, preview}, i, checked) {
		const input = h('input', {
			type: this.field.multi ? 'checkbox' : 'radio', name: this.id, id: `${this.id}-${i}`, checked,
			change: () => this.#touched(),
		})
		const label_ = h('label', {class: 'pick', for: input.id}, input,
			h('span', {class: 'grow'}, label, recommended && ' ', recommended && h('span', {class: 'badge'}, t('Recommended')),
				description && h('span', {class: 'small muted block'}, description)))
		const element = preview?.length > 0
			? h('div', {}, label_, h('details', {}, h('summary', {}, t('Preview of {{.Option}}', {Option: label})), h('div', {class: 'input'}, lines(preview))))
			: label_
		return {value, input, element, text: `${label} ${description ?? ''}`.toLowerCase()}
	}

	#addOther() {
		this.other = this.#pick({label: t('Other…')}, 'other', false)
		this.picks.push(this.other)
		this.otherText = h('input', {
			type: 'text', hidden: true, class: 'below', autocomplete: 'off', 'aria-label': t('Write your own answer'),
			placeholder: this.field.placeholder || t('Write your own answer'), input: () => this.#touched(),
			keydown: (event) => {
				if (event.key !== 'Enter' || event.isComposing || event.ctrlKey || event.metaKey) return
				event.preventDefault()
				if (!event.repeat) this.next()
			},
		})
	}

	#filter(text) {
		const wanted = text.trim().toLowerCase()
		for (const pick of this.picks) pick.element.hidden = pick !== this.other && !pick.text.includes(wanted)
	}

	#touched() {
		if (this.other) this.otherText.hidden = !this.other.input.checked
		this.complain('')
		this.changed()
	}

	// draft is what was given, as set takes it.
	get draft() {
		if (!this.isChoice) return this.input.value
		return {picked: this.picks.map((pick) => pick.input.checked), other: this.otherText?.value ?? ''}
	}

	set draft(draft) {
		if (!this.isChoice) {
			this.input.value = draft
			return
		}
		if (draft.picked.length !== this.picks.length) return
		this.picks.forEach((pick, i) => { pick.input.checked = draft.picked[i] })
		if (this.other) {
			this.otherText.value = draft.other
			this.otherText.hidden = !this.other.input.checked
		}
	}

	// set writes a text into the field.
	set(text) {
		const at = this.field.format === 'date-time' ? new Date(text) : undefined
		if (at && !Number.isNaN(at.valueOf())) text = new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
		this.input.value = text
	}

	// value is the answer: a list for a choice, else a text.
	get value() {
		if (this.isChoice) {
			const picked = this.picks.filter((pick) => pick.input.checked)
			return picked.map((pick) => pick === this.other ? this.otherText.value.trim() : pick.value)
		}
		if (this.field.format === 'date-time' && this.input.value) return new Date(this.input.value).toISOString().replace('.000Z', 'Z')
		return this.input.value
	}

	// isMissing reports whether an answer that there must be is not there.
	get isMissing() {
		const value = this.value
		if (Array.isArray(value)) return value.includes('') || this.field.required && value.length === 0
		return this.field.required && value.trim() === ''
	}

	complain(text) {
		this.problem.textContent = text
		this.problem.hidden = text === ''
		const at = this.isChoice ? this.element : this.input
		if (text) at.setAttribute('aria-invalid', 'true')
		else at.removeAttribute('aria-invalid')
	}

	focus() {
		const picked = this.picks?.find((pick) => pick.input.checked)
		if (picked && picked === this.other) this.otherText.focus()
		else (this.input ?? (picked ?? this.picks[0]).input).focus()
	}
}
