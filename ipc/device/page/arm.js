// When a press of Allow is a decision: only after the prompt has been visible, focused and unchanged for a while, and the
// whole input has been in view. The windows on the desk arm by the same rules.

const minAfter = 700 // ms: the desk can only ask for more
const quietAfterAnswer = 500 // ms in which nothing decides: the second half of a double tap is no answer
const maxGap = 400 // ms of silence at most while it arms: a page that stood still may not have drawn the prompt

export class Arming {
	#now
	#after = minAfter
	#state = {visible: false, focused: false, online: false, seen: false}
	#since = 0
	#heard = 0
	#ready = false
	#quiet = 0

	constructor(now) {
		this.#now = now
	}

	// begin starts with a new prompt, or with one whose view has changed.
	begin(after) {
		this.#after = Math.max(after || 0, minAfter)
		this.#state.seen = false
		this.disturb()
	}

	// set notes whether the page is visible, focused or online, or the end of the input has been seen.
	set(name, value) {
		if (this.#state[name] === value) return
		this.#state[name] = value
		this.disturb()
	}

	// disturb starts the wait again.
	disturb() {
		this.#since = this.#heard = this.#now()
		this.#ready = false
	}

	// hear notes that the page runs. It is to be called several times a second.
	hear() {
		if (this.#ready) return
		const now = this.#now()
		if (now - this.#heard > maxGap) this.disturb()
		this.#heard = now
		this.#ready = Object.values(this.#state).every(Boolean) && now - this.#since >= this.#after
	}

	// block says that what comes now may be an echo of the answer just given.
	block() {
		this.#quiet = this.#now() + quietAfterAnswer
	}

	// quiet reports whether nothing decides, for a moment after another answer.
	get quiet() {
		return this.#now() < this.#quiet
	}

	// armed reports whether a press decides now.
	get armed() {
		return this.#ready && !this.quiet
	}

	// press reports whether a press decides. After one that came too early the wait starts again.
	press() {
		if (this.armed) return true
		this.disturb()
		return false
	}
}
