// Elements of the page. Text becomes text nodes and nothing else: whatever an agent wrote is never markup.

// h makes an element. Attributes that are functions are listeners; those that are false or undefined are left out.
export function h(tag, attributes = {}, ...children) {
	const element = document.createElement(tag)
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === 'function') element.addEventListener(name, value)
		else if (value === true) element.setAttribute(name, '')
		else if (value !== false && value !== undefined) element.setAttribute(name, value)
	}
	fill(element, ...children)
	return element
}

// button makes a button that only a user presses: no script's click counts, and no key that is held down.
export function button(label, press, attributes = {}) {
	return h('button', {
		type: 'button', ...attributes,
		keydown: (event) => { if (event.repeat) event.preventDefault() },
		click: (event) => { if (event.isTrusted) press(event) },
	}, label)
}

// fill gives an element other children, without those that are not there.
export function fill(element, ...children) {
	element.replaceChildren(...children.flat().filter((child) => child !== undefined && child !== null && child !== false && child !== ''))
}
