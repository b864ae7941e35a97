// The worker of the page: it keeps the page's own files, for when the desk cannot be reached, and wakes the user.
// It keeps nothing of what anybody asked, and answers nothing.

const cacheName = 'shell'
const shell = [
	'/', '/style.css', '/app.js', '/arm.js', '/desk.js', '/dom.js', '/form.js', '/key.js', '/prompt.js', '/settings.js', '/words.js',
	'/zh-CN.json', '/manifest.webmanifest', '/icon-192.png', '/icon-512.png',
]
const patience = 3_000 // ms for a file from the desk, before the kept one takes its place

self.addEventListener('install', (event) => event.waitUntil(install()))
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

async function install() {
	const cache = await caches.open(cacheName)
	await cache.addAll(shell.map((path) => new Request(path, {cache: 'reload'})))
	await self.skipWaiting()
}

// What is not of the shell goes to the desk untouched, as does /?check, which shows what the browser has to say about
// the certificate.
self.addEventListener('fetch', (event) => {
	const {pathname, search, origin} = new URL(event.request.url)
	if (event.request.method === 'GET' && origin === location.origin && search === '' && shell.includes(pathname)) {
		event.respondWith(fromDesk(pathname))
	}
})

// fromDesk is the file as the desk has it, else the kept one.
async function fromDesk(pathname) {
	const cache = await caches.open(cacheName)
	try {
		const fresh = await fetch(pathname, {cache: 'no-cache', signal: AbortSignal.timeout(patience)})
		if (!fresh.ok) throw new Error(fresh.statusText)
		await cache.put(pathname, fresh.clone())
		return fresh
	} catch (error) {
		const kept = await cache.match(pathname)
		if (kept) return kept
		throw error
	}
}

self.addEventListener('push', (event) => event.waitUntil(self.registration.showNotification('nod', {
	body: /^zh/i.test(navigator.language) ? '有请求在等待您。' : 'Something is waiting for you.',
	icon: '/icon-192.png', badge: '/icon-192.png', tag: 'waiting', renotify: true,
})))

self.addEventListener('notificationclick', (event) => {
	event.notification.close()
	event.waitUntil(open())
})

async function open() {
	const [page] = await self.clients.matchAll({type: 'window'})
	return page ? page.focus() : self.clients.openWindow('/')
}
