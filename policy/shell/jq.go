package shell

import (
	"strings"
)

// judgeJQ accepts filters that only look at the input.
func judgeJQ(c *call) string {
	if len(c.operands) == 0 {
		return "jq needs a filter."
	}
	if !plainFilter(c.operands[0].text) {
		return "jq is a language that can read the environment and other files; nod knows only simple filters."
	}
	return ""
}

// plainFilter reports whether a jq program consists of paths, operators, plain strings, the keys of objects
// and the words in jqWords. Variables, definitions, imports and strings with code in them are refused.
func plainFilter(s string) bool {
	var open []byte // the brackets around the place that is read
	before := byte('|')
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ':
			i++
			continue
		case c == '"':
			end := strings.IndexByte(s[i+1:], '"')
			if end < 0 || strings.ContainsRune(s[i:i+1+end], '\\') {
				return false
			}
			i += end + 2
		case letter(c):
			name := s[i : i+wordLength(s[i:])]
			if !isField(s, i) && !isKey(s[i+len(name):], open, before) && !jqWords[name] {
				return false
			}
			i += len(name)
		case c == '@':
			n := wordLength(s[i+1:])
			if !jqFormats[s[i:i+1+n]] {
				return false
			}
			i += 1 + n
		case strings.IndexByte("([{", c) >= 0:
			open = append(open, c)
			i++
		case strings.IndexByte(")]}", c) >= 0:
			if len(open) == 0 {
				return false
			}
			open = open[:len(open)-1]
			i++
		case digit(c), strings.IndexByte(".,|?:;!<>+-/%", c) >= 0, c == '=' && compares(s, i):
			i++
		default:
			return false
		}
		before = s[i-1]
	}
	return len(open) == 0
}

var jqFormats = set("@text @json @csv @tsv @html @uri @sh @base64 @base64d")

// compares reports whether the = at i belongs to == != <= or >=. Assignments can make endlessly large arrays.
func compares(s string, i int) bool {
	return i > 0 && strings.IndexByte("=!<>", s[i-1]) >= 0 || i+1 < len(s) && s[i+1] == '='
}

// isField reports whether the word at i is a field's name: .name, but not ..name or 1.name.
func isField(s string, i int) bool {
	return i > 0 && s[i-1] == '.' && (i == 1 || s[i-2] != '.' && !digit(s[i-2]))
}

// isKey reports whether a word is a key of an object: {name: or , name: inside braces.
func isKey(rest string, open []byte, before byte) bool {
	return len(open) > 0 && open[len(open)-1] == '{' && (before == '{' || before == ',') &&
		strings.HasPrefix(strings.TrimLeft(rest, " "), ":")
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func wordLength(s string) int {
	for i := range len(s) {
		if !letter(s[i]) && !digit(s[i]) {
			return i
		}
	}
	return len(s)
}
