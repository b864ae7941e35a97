// What this device says to its desk: every request is signed with its key. The protocol is that of package device.

import {digest, sign} from './key.js'
import {t} from './words.js'

const patience = 15_000 // ms for a reply
const newsPatience = 35_000 // for one that waits for news
const nonceFor = 100_000 // ms that a nonce is kept: it counts for two minutes

// Problem is what the desk answers in place of what was asked for.
export class Problem extends Error {
	constructor({code, message, question, wait_ms: wait}) {
		super(t(message))
		Object.assign(this, {code, question, wait})
	}
}

// Offline says that there is no reply: the desk sleeps, the network is another, or the certificate is.
export class Offline extends Error {}

// Stopped says that this page has given the request up.
export class Stopped extends Error {}

export class Desk {
	#device
	#nonces = [] // {nonce, at}

	// A device is {privateKey, key}.
	constructor(device) {
		this.#device = device
	}

	// pair asks to be paired. It returns the words to compare and, once the user has, what the device is called and may
	// do; with waits it waits for that.
	pair(secret, waits) {
		return this.#json('POST', '/pair', {secret, key: this.#device.key, waits}, {patience: newsPatience})
	}

	// news returns what is pending, at once or, with the cursor of the last reply, when that has changed.
	news(cursor, signal) {
		const path = cursor ? `/prompts?after=${encodeURIComponent(cursor)}` : '/prompts'
		return this.#json('GET', path, undefined, {signal, patience: newsPatience})
	}

	// view returns a prompt, with the digest of the very bytes that it came in.
	async view(id) {
		const bytes = await this.#bytes('GET', `/prompts/${encodeURIComponent(id)}`)
		return {...parse(bytes), digest: await digest(bytes)}
	}

	answer(answer) {
		return this.#bytes('POST', '/answer', answer)
	}

	// push says where this device can be woken; without a subscription nowhere.
	push(subscription = {}) {
		return this.#bytes('POST', '/push', subscription)
	}

	async #json(...call) {
		return parse(await this.#bytes(...call))
	}

	async #bytes(method, path, body, options = {}) {
		const text = body === undefined ? undefined : JSON.stringify(body)
		for (let isAgain = false; ; isAgain = true) {
			const reply = await this.#send(method, path, text, options)
			const {bytes} = reply
			if (reply.ok) return bytes
			const problem = problemOf(reply.status, bytes)
			if (problem.code !== 'nonce' || isAgain) throw problem
			this.#nonces = [] // of a desk that was started anew
		}
	}

	async #send(method, path, text, options) {
		const nonce = await this.#nonce()
		const signed = ['nod-device-1', `${method} ${location.host}`, path, await digest(text ?? ''), nonce].join('\n')
		const headers = {Authorization: `Nod key=${this.#device.key}, nonce=${nonce}, sig=${await sign(this.#device.privateKey, signed)}`}
		if (text !== undefined) headers['Content-Type'] = 'application/json'
		return this.#fetch(path, {method, headers, body: text}, options)
	}

	async #nonce() {
		while (this.#nonces.length > 0) {
			const {nonce, at} = this.#nonces.pop()
			if (performance.now() - at < nonceFor) return nonce
		}
		const reply = await this.#fetch('/nonce', {})
		const {bytes} = reply
		if (!reply.ok) throw problemOf(reply.status, bytes)
		return parse(bytes).nonce
	}

	async #fetch(path, request, {signal, patience: limit = patience} = {}) {
		const stop = new AbortController()
		const give = () => stop.abort()
		signal?.addEventListener('abort', give)
		const timer = setTimeout(give, limit)
		try {
			signal?.throwIfAborted()
			const reply = await fetch(path, {
				...request, signal: stop.signal, cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer',
			})
			const bytes = await reply.arrayBuffer()
			const next = reply.headers.get('Nod-Nonce')
			if (next) this.#nonces.push({nonce: next, at: performance.now()})
			return {ok: reply.ok, status: reply.status, bytes}
		} catch {
			throw signal?.aborted ? new Stopped() : new Offline()
		} finally {
			clearTimeout(timer)
			signal?.removeEventListener('abort', give)
		}
	}
}

const parse = (bytes) => JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(bytes))

function problemOf(status, bytes) {
	try {
		return new Problem(parse(bytes))
	} catch {
		return new Problem({code: 'broken', message: `HTTP ${status}`})
	}
}
