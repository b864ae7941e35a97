package language

import (
	"slices"
	"strings"
)

// Test judges the words after test, or between [ and ]. Whether a file exists, and its kind, is no secret. Numbers must
// be plain, because zsh evaluates them, which can run commands; -v and -R do so in bash.
//
// A word may be an operator to one shell and text to another, so every word must be safe as either. For words known
// only when the test runs, see [openTest].
func Test(words []string, open []bool) error {
	if err := unreadable(strings.Join(words, " ")); err != nil {
		return err
	}
	if slices.Contains(open, true) {
		return openTest(words, open)
	}
	for i, w := range words {
		before, after := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			after = words[i+1]
		}
		switch {
		case w == "=~":
			return refusal("zsh matches a pattern with =~, which may take all memory.")
		case !strings.HasPrefix(w, "-") || w == "-" || integer().MatchString(w), testPlain.Has(w):
		case testNumber.Has(w):
			// As the only word, or the last one, it is a text.
			if i > 0 && i+1 < len(words) && !(integer().MatchString(before) && integer().MatchString(after)) {
				return errComputes
			}
		case w == "-t":
			if after != "" && !descriptor().MatchString(after) {
				return refusal("nod doesn't know the descriptor " + Quote(after) + ".")
			}
		default:
			return refusal("nod doesn't know the test " + Quote(w) + ".")
		}
	}
	return nil
}

// openTest judges a test with words that are known only when it runs. It passes if all shells read these as text,
// whatever they are: after an operator of one operand, and on either side of = or !=.
func openTest(words []string, open []bool) error {
	if words[0] == "!" && !open[0] {
		words, open = words[1:], open[1:]
	}
	isUnary := len(words) == 2 && !open[0] && strings.HasPrefix(words[0], "-") && testPlain.Has(words[0])
	isBinary := len(words) == 3 && !open[1] && (words[1] == "=" || words[1] == "!=")
	if isUnary && !Words("-o -a -nt -ot -ef").Has(words[0]) || isBinary {
		return nil
	}
	return refusal("It tests a word that is known only when it runs, and that may be an operator.")
}

var descriptor = Compiled(`^[0-9]$|^[])]$`)

const errComputes = refusal("zsh evaluates the numbers that it compares, and evaluation can run commands.")

var (
	testPlain  = Words("-n -z -o -a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S -nt -ot -ef")
	testNumber = Words("-eq -ne -lt -le -gt -ge")
)
