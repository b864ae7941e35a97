package shell

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nod/policy/shell/language"
)

// An example is a word that similar ones may replace: a text for people, or a number. A user who allowed bd close 7
// --reason="Mended" allowed other texts with it. Three things must hold for a text: it is where one belongs, it reads
// like prose, and the program does not run what it is told.
type example struct {
	text  string
	mark  string   // its place among the flags of a pattern that covers others like it
	exact []string // its place among the flags of a pattern that does not
}

// The marks among the flags of a pattern: for a text as an operand, and before a flag whose value is a text or a
// number.
const (
	markText   = "text"
	markTold   = markText + " "
	markNumber = "number "
)

// anyProse and anyNumber are placeholders in a pattern that users read and write: any similar value may replace them.
const (
	anyProse  = "any text"
	anyNumber = "any number"
)

// textFlags are the last parts of names of flags that take a text: --reason, --release-notes.
const textFlags language.Words = "reason message msg body title description desc notes note comment subject text"

// countFlags are the last parts of names of flags that take a number: their 0 and 1 do not switch anything on or off.
const countFlags language.Words = "priority limit count max min days lines depth page size width height"

// textVerbs are the subcommands that take a text as an operand: bd create "Mend the build".
const textVerbs language.Words = "create new comment comments note notes remember describe log say search"

// takesText reports whether an unknown flag takes a text, going by its name.
func (r *reading) takesText(flag string) bool {
	if flag == "-m" {
		return r.isFree(flag)
	}
	name, ok := strings.CutPrefix(flag, "--")
	parts := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c == '-' || c == '_' })
	last := len(parts) - 1
	return ok && last >= 0 && textFlags.Has(parts[last]) && r.isFree(flag) &&
		!slices.ContainsFunc(parts[:last], func(part string) bool { return takesName("--" + part) })
}

// takesNumber reports whether the number after an unknown flag may be any other.
func (r *reading) takesNumber(flag string) bool {
	return r.isFree(flag) && (len(flag) == 2 || !takesName(flag)) && !r.isDrastic()
}

// isDrastic reports whether the command's words say that it takes something away: then how much counts.
func (r *reading) isDrastic() bool {
	isBetween := func(c rune) bool { return strings.ContainsRune(":.-_", c) }
	return slices.ContainsFunc(r.lead, func(word string) bool {
		return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(word), isBetween), drastic.Has)
	})
}

// isFree reports whether a flag may have another value: it does not limit or extend what the program does, and the
// program does not run what it is told.
func (r *reading) isFree(flag string) bool {
	return r.program.kind == task && !r.program.traits[traitCode] && !runsCode(r.lead[0]) &&
		!r.program.restrains(flag) && !r.program.extends(flag)
}

// isProse reports whether a text reads as words of a language, not as a path, an address, a setting or shell code: it
// has several words, and the first has no character that is typical of those.
func isProse(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	words := strings.Fields(text)
	isFit := unicode.In(first, unicode.L, unicode.Nd) || first >= utf8.RuneSelf || strings.ContainsRune(`#*("'[`, first)
	return len(words) > 1 && isFit && !strings.ContainsAny(words[0], "/\\=$`|&;<>{}~@") &&
		!strings.Contains(text, "$(") && !strings.Contains(text, "${") && !upwards().MatchString(text)
}

var upwards = language.Compiled(`(^|[\s/\\])\.\.($|[\s/\\])`)

// isProseWord reports whether a single word is acceptable as a text: after the = of a flag that takes one.
func isProseWord(text string) bool {
	return subcommand(text) && !switches.Has(strings.ToLower(text)) && !drastic.Has(strings.ToLower(text))
}

// isCount reports whether the value of a flag is a number that does not switch it on or off.
func isCount(flag, text string) bool {
	name := strings.ToLower(flag[strings.LastIndexByte(flag, '-')+1:])
	return digits(text) && (!switches.Has(text) || countFlags.Has(name)) || text == anyNumber
}

// like reads --flag=value or --flag value if a similar value may replace it, and returns how many words that took. The
// word after a flag that hardly takes a value is an operand: see likeOperand.
func (r *reading) like(args []word) (taken int) {
	flag, value, isJoined := strings.Cut(args[0].text, "=")
	w := args[0]
	if !isJoined && w.known && len(args) > 1 && (takesName(flag) || !args[1].known) {
		w, value = args[1], args[1].text
	} else if !isJoined {
		return 0
	}
	mark := ""
	value, ok := w.told(value)
	if ok && !w.glob {
		mark = r.markFor(flag, value, isJoined)
	}
	switch {
	case mark == "":
		return 0
	case isJoined:
		r.note(value, mark, flag+"="+value)
		return 1
	}
	r.note(value, mark, flag+" "+value)
	return 2
}

// markFor returns the mark for a value of a flag that similar ones may replace, or "".
func (r *reading) markFor(flag, value string, isJoined bool) string {
	switch {
	case r.takesText(flag) && (isProse(value) || isJoined && isProseWord(value)):
		return markTold + flag
	case r.takesNumber(flag) && isCount(flag, value):
		return markNumber + flag
	}
	return ""
}

// told returns the text of a word or of its end, or the here-document in it if that is all of it.
func (w word) told(text string) (string, bool) {
	if !w.known && text == "" {
		return w.said, w.said != ""
	}
	return text, w.known
}

func (r *reading) note(text, mark string, exact ...string) {
	r.seen = append(r.seen, exact...)
	r.examples = append(r.examples, example{text, mark, exact})
}

// likeOperand accepts an operand that similar ones may replace: the value of a flag, or a text for an unknown program.
func (r *reading) likeOperand(w word, typ *wordType) bool {
	flag, mark := r.behind[r.at], ""
	text, ok := w.told(w.text)
	switch {
	case !ok || typ != wordTypes["ARG"] || w.stands():
	case flag != "":
		mark = r.markFor(flag, text, false)
	case r.program == unknown && len(r.lead) > 1 && textVerbs.Has(r.lead[1]) && r.isFree("") &&
		isProse(text):
		mark = markText
	}
	if mark == "" {
		return false
	}
	seen := len(r.seen)
	if !w.known || isRemote(text) {
		r.seen = append(r.seen, markOperand+text)
	} else {
		argument(r, w)
	}
	exact := slices.Clone(r.seen[seen:])
	if flag != "" {
		exact = append(exact, flag)
	}
	r.examples = append(r.examples, example{text, mark, exact})
	return true
}

// withExamples returns the flags of a call for a pattern that covers similar calls.
func (r *reading) withExamples(flags []string) []string {
	var marks []string
	isExact := map[string]bool{}
	for _, e := range r.examples {
		marks = append(marks, e.mark)
		for _, f := range e.exact {
			isExact[f] = true
		}
	}
	return sorted(append(slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return isExact[f] }), marks...))
}

func (p Part) isExample(text string) bool {
	return slices.ContainsFunc(p.examples, func(e example) bool { return e.text == text })
}

// isLike reports whether the value of a flag is covered by a pattern's flag with a placeholder: any word or file of the
// project, which is checked separately, or 0 and 1 in place of other numbers.
func isLike(flag, seen string) bool {
	name := flagName(flag)
	isNumber := name != flag && digits(flag[len(name)+1:])
	return seen == markTold+flag || seen == markNumber+flag || isNumber && seen == markNumber+name
}

func spellExample(flag string) string {
	for mark, value := range map[string]string{markTold: anyProse, markNumber: anyNumber} {
		if name, ok := strings.CutPrefix(flag, mark); ok {
			return name + " '" + value + "'"
		}
	}
	return flag
}

// withoutExample returns a flag of a pattern without its placeholder mark.
func withoutExample(flag string) string {
	return strings.TrimPrefix(strings.TrimPrefix(flag, markTold), markNumber)
}
