package shell

import (
	"slices"
	"strings"
)

// DrivesScreen reports whether a command starts a program that presses keys, moves the pointer, clicks,
// types into another terminal or speaks on the session bus. Such a program could answer nod's own prompts, so
// no rule should allow it. Where the command runs a script in another language, or a program that runs others,
// the name alone counts, wherever it stands.
func DrivesScreen(a Analysis) bool { return a.screen }

// findScreen looks for programs that drive the screen.
func (w *walk) findScreen() {
	for _, p := range w.Programs {
		if p.Name != "" && drives(baseName(p.Name), p.Argv[1:]) {
			w.screen = true
		}
	}
	if w.interprets || w.Opaque {
		w.screen = w.screen || namesScreen(w.source)
	}
}

// drives reports whether a program drives the screen with these words.
func drives(name string, args []string) bool {
	if screenPrograms[name] {
		return true
	}
	looks, ok := multiplexers[name]
	return ok && !onlyLooks(looks, args)
}

// onlyLooks reports whether the words of a multiplexer start with one that only looks, and hold no second
// command.
func onlyLooks(looks map[string]bool, args []string) bool {
	return len(args) > 0 && looks[args[0]] && !slices.ContainsFunc(args, func(a string) bool { return strings.HasSuffix(a, ";") })
}

// namesScreen reports whether a text names a program that drives the screen.
func namesScreen(source string) bool {
	text := strings.ToLower(strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(source))
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) {
		if screenPrograms[name] || name == "send-keys" {
			return true
		}
	}
	return false
}
