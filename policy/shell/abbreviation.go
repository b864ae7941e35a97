package shell

import (
	"errors"
	"slices"
	"strings"

	"nod/policy/shell/language"
)

// Programs have several names for what they do, and some accept the start of a name. Rules that ask or deny
// apply to everything that a command may mean. Rules and grants that allow apply only to what they spell.

const maxSpellings = 200

// alias files names for the same thing, perhaps after words that they share: npm: install, i.
func (c catalogue) alias(text string) error {
	start, list, ok := strings.Cut(text, ":")
	if !ok {
		start, list = "", text
	}
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		names = append(names, strings.Join(strings.Fields(start+" "+name), " "))
	}
	if len(names) < 2 || slices.Contains(names, start) {
		return errors.New("alias: want several names")
	}
	for _, name := range names {
		others := slices.DeleteFunc(slices.Clone(names), func(o string) bool { return o == name })
		c.aliases[name] = append(c.aliases[name], others...)
	}
	return nil
}

// abbreviate files a program, or its command, that accepts the start of a word for the word, and the words that
// abbreviate nothing because they are words themselves.
func (c catalogue) abbreviate(text string) {
	name, words, _ := strings.Cut(text, ":")
	c.abbreviated[name] = true
	for word := range strings.FieldsSeq(words) {
		c.whole[name+" "+word] = true
	}
}

// spellings returns the ways to write the start of a command: as it is, and with aliases.
func (c catalogue) spellings(words []string) [][]string {
	words = slices.Clone(words)
	words[0] = baseName(words[0])
	all := [][]string{words}
	for i := 0; i < len(all); i++ {
		for n := 1; n <= min(len(all[i]), maxName); n++ {
			for _, name := range c.aliases[strings.Join(all[i][:n], " ")] {
				next := slices.Concat(strings.Fields(name), all[i][n:])
				isNew := !slices.ContainsFunc(all, func(o []string) bool { return slices.Equal(o, next) })
				if isNew && len(all) < maxSpellings {
					all = append(all, next)
				}
			}
		}
	}
	return all
}

// means reports whether a word may mean another one after the words before. One that could be the start of several
// counts as each of them.
func (c catalogue) means(before []string, want, word string) bool {
	if want == word || !c.abbreviated[strings.Join(before, " ")] && !c.abbreviated[before[0]+" ..."] {
		return want == word
	}
	short, long := want, word
	if len(short) > len(long) {
		short, long = long, short
	}
	name := strings.Join(before, " ") + " " + short
	return !c.whole[name] && c.aliases[name] == nil && begins(long, short)
}

// capital matches a capital within a word: npm reads distTag as dist-tag, and Gradle pTML as publishToMavenLocal.
var capital = language.Compiled(`\B[A-Z]`)

// begins reports whether a word starts as another one, or each of its parts does: d:m-f as db:migrate-fresh. It ignores
// case: gem reads PUSH as push.
func begins(long, short string) bool {
	parts := func(word string) []string {
		return strings.FieldsFunc(strings.ToLower(capital().ReplaceAllString(word, "-$0")), func(r rune) bool {
			return r == '-' || r == ':'
		})
	}
	if strings.HasPrefix(strings.ToLower(long), strings.ToLower(short)) {
		return short != ""
	}
	all, starts := parts(long), parts(short)
	return !isFlag(short) && len(starts) > 0 && len(starts) <= len(all) &&
		slices.EqualFunc(all[:len(starts)], starts, strings.HasPrefix)
}

// abbreviates reports whether a flag may be the start of a longer one, which the parsers of GNU, git and Python accept.
// A flag that the program has itself abbreviates no other.
func (p *program) abbreviates(flag, long string) bool {
	return len(flag) > 2 && isLong(flag) && strings.HasPrefix(long, flag) && (p == nil || !p.lists(flag))
}

// lists reports whether the entry has a flag, or each letter of a bundle, harmless or not.
func (p *program) lists(flag string) bool {
	_, ok := p.flags[flag]
	if ok || isLong(flag) || !p.bundles() {
		return ok
	}
	for _, letter := range flag[1:] {
		f, ok := p.flags["-"+string(letter)]
		if !ok || f.typ != nil {
			return ok
		}
	}
	return true
}
