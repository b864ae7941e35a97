package shell

import (
	"slices"
	"strings"
)

// drives reports whether a program drives the screen when called with these words. A terminal multiplexer does not when
// its first word only looks and no second command follows.
func drives(name string, args []string) bool {
	looks, ok := programs().screen[name]
	return ok && (len(args) == 0 || !looks.Has(args[0]) ||
		slices.ContainsFunc(args, func(a string) bool { return strings.HasSuffix(a, ";") }))
}

var withoutQuotes = strings.NewReplacer("'", "", `"`, "", `\`, "")

// namesScreen reports whether a text names a program that always drives the screen.
func namesScreen(source string) bool {
	text := strings.ToLower(withoutQuotes.Replace(source))
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) {
		if looks, ok := programs().screen[name]; ok && looks == "" || name == "send-keys" {
			return true
		}
	}
	return false
}
