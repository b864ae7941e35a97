package language

import "strings"

// Test judges the words behind test, or between [ and ]. Paths are in Use.Looks. Numbers must be plain, for zsh
// computes them, which can run commands; -v and -R do so in bash.
//
// A word may be an operator for one shell and a text for another, so that every word is held to what it could be.
func Test(words []string) (Use, error) {
	use := Use{}
	if err := unreadable(strings.Join(words, " ")); err != nil {
		return use, err
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
		case !strings.HasPrefix(w, "-") || w == "-" || integer().MatchString(w), testText.has(w):
		case testFile.has(w):
			use.look(after)
		case testFiles.has(w):
			use.look(before, after)
		case testNumber.has(w):
			// As the only word, or the last one, it is a text.
			if i > 0 && i+1 < len(words) && !(integer().MatchString(before) && integer().MatchString(after)) {
				return use, errComputes
			}
		case w == "-t":
			if after != "" && !descriptor().MatchString(after) {
				return use, refusal("nod does not know the descriptor " + quote(after) + ".")
			}
		default:
			return use, refusal("nod does not know the test " + quote(w) + " to only look.")
		}
	}
	return use, nil
}

var descriptor = compiled(`^[0-9]$|^[])]$`)

const errComputes = refusal("zsh computes the numbers that it compares, and computing can run commands.")

var (
	testText   = words("-n -z -o")
	testFile   = words("-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S")
	testFiles  = words("-nt -ot -ef")
	testNumber = words("-eq -ne -lt -le -gt -ge")
)

// look notes paths, but no operators and nothing.
func (u *Use) look(paths ...string) {
	for _, p := range paths {
		if p != "" && p != ")" && p != "]" {
			u.Looks = append(u.Looks, p)
		}
	}
}
