// The page's own words, in the language of the desk. Words that the windows have, too, are the same there.

let chinese = {}

// speak loads the words of a language: "en" or "zh-CN". It reports whether that is another than before.
export async function speak(language) {
	const lang = /^zh/i.test(language ?? '') ? 'zh-CN' : 'en'
	if (document.documentElement.lang === lang && (lang === 'en' || Object.keys(chinese).length > 0)) return false
	if (lang === 'zh-CN') {
		const reply = await fetch('/zh-CN.json').catch(() => undefined)
		if (!reply?.ok) return false // the page works in English, too
		chinese = await reply.json()
	}
	document.documentElement.lang = lang
	return true
}

// t is a sentence in that language, with values in the places of {{.Name}}.
export function t(english, values = {}) {
	const sentence = (document.documentElement.lang === 'zh-CN' && chinese[english]) || english
	return sentence.replace(/\{\{\.(\w+)\}\}/g, (mark, name) => values[name] ?? mark)
}

// clock writes a time that is left: 4:30, or 1:04:30.
export function clock(milliseconds) {
	const seconds = Math.round(Math.max(milliseconds, 0) / 1000)
	const two = (n) => String(n).padStart(2, '0')
	const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
	return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}
