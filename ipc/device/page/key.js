// The key of this device. The browser makes it and keeps it in IndexedDB; it signs, and nothing can read it out.

const algorithm = {name: 'ECDSA', namedCurve: 'P-256'}

// make makes a key that is not kept yet. Its name is its public half.
export async function make() {
	const {privateKey, publicKey} = await crypto.subtle.generateKey(algorithm, false, ['sign'])
	return {privateKey, key: base64url(await crypto.subtle.exportKey('raw', publicKey))}
}

// sign returns the signature of text in base64url: r and s, 32 bytes each.
export async function sign(privateKey, text) {
	return base64url(await crypto.subtle.sign({name: 'ECDSA', hash: 'SHA-256'}, privateKey, utf8(text)))
}

// digest returns the hex SHA-256 of bytes, or of a text.
export async function digest(data) {
	const bytes = typeof data === 'string' ? utf8(data) : data
	const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
	return Array.from(sum, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const utf8 = (text) => new TextEncoder().encode(text)

function base64url(buffer) {
	const binary = String.fromCharCode(...new Uint8Array(buffer))
	return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

// load returns what this device keeps, or undefined: under "device" its pairing, under "pairing" one that the desk has
// not confirmed yet.
export const load = (name) => inStore('readonly', (store) => store.get(name))

// begin keeps a pairing that the desk is to confirm, beside the one that counts.
export const begin = (pairing) => inStore('readwrite', (store) => store.put(pairing, 'pairing'))

// drop ends a pairing that the desk has not confirmed.
export const drop = () => inStore('readwrite', (store) => store.delete('pairing'))

// save keeps the pairing that counts: none waits any more.
export const save = (device) => inStore('readwrite', (store) => {
	store.delete('pairing')
	return store.put(device, 'device')
})

// forget ends all pairing on this side.
export const forget = () => inStore('readwrite', (store) => store.clear())

async function inStore(mode, use) {
	const opening = indexedDB.open('nod', 1)
	opening.onupgradeneeded = () => opening.result.createObjectStore('nod')
	const database = await done(opening)
	try {
		return await done(use(database.transaction('nod', mode).objectStore('nod')))
	} finally {
		database.close()
	}
}

function done(request) {
	return new Promise((resolve, reject) => {
		request.onsuccess = () => resolve(request.result)
		request.onerror = () => reject(request.error)
	})
}
