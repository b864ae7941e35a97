// The sheet on this device: what it is called and may do, how it is woken, and how to end that.

import {button, fill, h} from './dom.js'
import {t} from './words.js'

// openSettings shows the sheet until it is closed. A device has desk, name and may; connection sends to the desk;
// forget ends the pairing on this side.
export function openSettings({device, connection, forget, closed}) {
	const problem = h('p', {class: 'problem', role: 'alert'})
	const sheet = h('dialog', {'aria-labelledby': 'sheet-title', close: () => { sheet.remove(); closed() }},
		h('div', {class: 'stack'},
			h('h2', {id: 'sheet-title'}, t('This device')),
			h('dl', {},
				h('dt', {}, t('Name')), h('dd', {}, device.name),
				h('dt', {}, t('Desk')), h('dd', {}, device.desk ? `${device.desk.name} · nod ${device.desk.version}` : location.host),
				h('dt', {}, t('It may')), h('dd', {}, rights(device.may)),
			),
			push(device, connection, problem),
			h('p', {class: 'small muted'}, t('To allow more than once, use the desk. Rules and settings are there too.')),
			problem,
			h('div', {class: 'actions'},
				forgetButton(forget, problem),
				button(t('Close'), () => sheet.close(), {class: 'strong'}))))
	document.body.append(sheet)
	sheet.showModal()
}

function rights({questions, approvals} = {}) {
	const classes = {
		read_only: t('Only reads'), write: t('Writes'), execute: t('Runs programs'),
		network: t('Uses the network'), destructive: t('Deletes or destroys'), unknown: t('Unknown effect'),
	}
	return [
		t('see and deny pending prompts'), questions && t('answer questions'),
		approvals && t('allow up to: {{.Class}}', {Class: classes[approvals] ?? approvals}),
	].filter(Boolean).join(' · ')
}

// forgetButton asks once: the key that goes cannot be had again.
function forgetButton(forget, problem) {
	let isAsked = false
	const element = button(t('Forget this desk'), () => {
		if (isAsked) return forget()
		isAsked = true
		element.textContent = t('Press again to forget it')
		problem.textContent = t('The key of this device is deleted here. Revoke it at the desk, too.')
	})
	return element
}

const canPush = () => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

function push(device, connection, problem) {
	const area = h('div', {class: 'tight'})
	const say = (text) => h('p', {class: 'small muted'}, text)
	const show = async () => {
		const registration = canPush() && await navigator.serviceWorker.getRegistration()
		if (!device.push) return fill(area, h('h3', {}, t('Wake this device')), say(t('Web Push is off at the desk. If it uses ntfy, the ntfy app wakes this device.')))
		if (!registration) {
			return fill(area, h('h3', {}, t('Wake this device')),
				say(t('This browser cannot notify you here: it must trust the certificate, and on an iPhone the page must be on the home screen. ntfy needs neither.')),
				h('a', {class: 'button', href: '/nod.crt', download: 'nod.crt'}, t('Certificate to trust')))
		}
		const subscription = await registration.pushManager.getSubscription()
		fill(area, h('h3', {}, t('Wake this device')),
			say(t('Notifications say only that a prompt is waiting.')),
			button(subscription ? t('Stop notifications') : t('Notify me here'), () => {
				problem.textContent = ''
				const done = subscription ? stop(subscription, connection) : start(registration, device.push, connection)
				done.then(show, (error) => { problem.textContent = error.message || t("That didn't work.") })
			}))
	}
	show()
	return area
}

async function start(registration, key, connection) {
	if (await Notification.requestPermission() !== 'granted') throw new Error(t('The browser does not permit notifications for this page.'))
	const subscription = await registration.pushManager.subscribe({userVisibleOnly: true, applicationServerKey: key})
	const {endpoint, keys} = subscription.toJSON()
	try {
		await connection.push({endpoint, keys})
	} catch (error) {
		await subscription.unsubscribe()
		throw error
	}
}

async function stop(subscription, connection) {
	await subscription.unsubscribe()
	await connection.push()
}
