package shell

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// Pattern says which simple commands a rule or a grant covers: those with these leading words and these Flags. A flag
// that does not restrain the program may be missing; other flags must be harmless, and operands must be plain words or
// paths in the project. Where the pattern was made from a text for people or from a number, any other will do. With a
// Text it covers only the command of exactly that text.
type Pattern struct {
	Words []string `json:"words"`
	Flags []string `json:"flags,omitempty"` // with their values, where the value could say what is done
	Text  string   `json:"text,omitempty"`

	begins  bool       // a user wrote it into a rule: more words may follow the leading ones
	spelled [][]string // the ways to write its words, for rules that ask or deny
	also    []string   // flags that a user saw in other answers about the same words
}

// Also returns the pattern for a user who saw more flags in commands with the same words.
func (t Pattern) Also(flags []string) Pattern {
	t.also = flags
	return t
}

// Pattern returns what remembering the part covers. It fails if the part cannot be remembered by itself.
func (p Part) Pattern() (Pattern, error) {
	if p.bound != "" {
		return Pattern{}, errors.New(p.bound)
	}
	if len(p.words.Words) == 0 {
		return Pattern{}, errors.New("it names no program")
	}
	return p.words, nil
}

// ParsePattern reads a pattern as a user writes it: a command's leading words, then the flags that it may have.
func ParsePattern(text string) (Pattern, error) {
	a := Analyze(text)
	parts := own(a.Parts)
	switch {
	case a.Unreadable:
		return Pattern{}, errors.New(a.Reasons[0])
	case a.Whole != "":
		return Pattern{}, errors.New(a.Whole)
	case len(parts) != 1 || len(parts[0].Output) > 0 || len(a.Folders) > 0:
		return Pattern{}, errors.New("write one command, such as go test: no pipe, no redirection, no cd")
	}
	t, err := parts[0].Pattern()
	if err != nil {
		return Pattern{}, err
	}
	isAny := func(text string) bool { return text == anyProse || text == anyNumber }
	if slices.ContainsFunc(parts[0].examples, func(e example) bool { return !isAny(e.text) }) {
		t.Flags = parts[0].exact
	}
	if t.Text == "" { // no path that follows from the words, such as the folder that cp -r takes when nothing is named
		t.Words, t.begins = slices.Clone(t.Words), true
		for _, arg := range parts[0].args {
			if slices.Contains(parts[0].Argv, arg) && !(isAny(arg) && parts[0].isExample(arg)) {
				t.Words = append(t.Words, arg)
			}
		}
	}
	t.spelled = programs().spellings(t.Words)
	return t, nil
}

func own(parts []Part) []Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Within })
}

// String returns the pattern in the form that [ParsePattern] reads.
func (t Pattern) String() string {
	if t.Text != "" {
		return t.Text
	}
	var settings, flags, operands []string
	for _, f := range t.Flags {
		if setting, ok := strings.CutPrefix(f, markSetting); ok {
			settings = append(settings, setting)
		} else if f == markText {
			operands = append(operands, "'"+anyProse+"'")
		} else if operand, ok := strings.CutPrefix(f, markOperand); ok {
			operands = append(operands, operand)
		} else {
			flags = append(flags, spellExample(f))
		}
	}
	if slices.ContainsFunc(operands, isFlag) {
		operands = append([]string{"--"}, operands...)
	}
	return strings.Join(slices.Concat(settings, t.Words, flags, operands), " ")
}

// The marks before variables and operands among the flags of a pattern: FOO=1 differs before and after a command, and
// --check after -- is no flag.
const (
	markSetting = "env "
	markOperand = "-- "
)

func divide(list []string) (words, flags []string) {
	return slices.DeleteFunc(slices.Clone(list), isFlag),
		slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !isFlag(s) })
}

// Rule returns the pattern as a rule may name it, for [ParsePattern]. ok is false if a rule would cover more: it
// applies to all commands that start with its words, as make test V=1 does with make test.
func (t Pattern) Rule() (text string, ok bool) {
	text = t.String()
	read, err := ParsePattern(text)
	if t.Text != "" || err != nil || !read.Equal(t) {
		return "", false
	}
	return text, t.IsOpen() && !programs().subs[strings.Join(t.Words, " ")]
}

// IsOpen reports whether the pattern also covers arguments that it does not name.
func (t Pattern) IsOpen() bool {
	longer := own(Analyze(strings.Join(t.Words, " ") + " other").Parts)
	return len(longer) == 1 && slices.Equal(longer[0].words.Words, t.Words)
}

// HasPath reports whether the pattern names its program by a relative path, which means another file in each folder.
func (t Pattern) HasPath() bool {
	return len(t.Words) > 0 && strings.Contains(t.Words[0], "/") && !strings.HasPrefix(t.Words[0], "/")
}

// Equal reports whether two patterns cover the same.
func (t Pattern) Equal(o Pattern) bool {
	return t.Text == o.Text && slices.Equal(t.Words, o.Words) && slices.Equal(t.Flags, o.Flags)
}

// Covers reports whether the pattern covers a part. inside reports whether an operand lies in the project.
func (t Pattern) Covers(p Part, inside func(operand string) bool) bool {
	switch {
	case p.bound != "" || len(t.Words) == 0:
		return false
	case t.Text != "" || p.words.Text != "":
		return t.Text != "" && t.Text == p.Text
	}
	if len(p.examples) > 0 {
		written := p
		written.words.Flags, written.examples = p.exact, nil
		if t.Covers(written, inside) {
			return true
		}
	}
	if !t.Fits(p) { // if it fits, nod knows the program
		return false
	}
	isRestrained := slices.ContainsFunc(t.Flags, func(f string) bool { // by more than a value that must be the same
		return p.entry.restrains(flagName(f)) && !p.entry.extends(flagName(f))
	})
	isNew := func(f string) bool {
		isFree := (!isRestrained || prints(f)) && slices.Contains(p.free, f) && !p.Understood
		return !isFree && !t.has(f)
	}
	return !slices.ContainsFunc(p.words.Flags, isNew) &&
		!slices.ContainsFunc(p.args, func(a string) bool { return !p.isExample(a) && !inside(a) })
}

// has reports whether a user saw this flag, or one with a similar value.
func (t Pattern) has(flag string) bool {
	isSeen := func(f string) bool { return f == flag || isLike(flag, f) }
	return slices.ContainsFunc(t.Flags, isSeen) || slices.ContainsFunc(t.also, isSeen)
}

// Fits reports whether a part has the leading words of the pattern and all flags that it must have.
func (t Pattern) Fits(p Part) bool {
	isMissing := func(f string) bool {
		has := slices.ContainsFunc(p.words.Flags, func(own string) bool { return own == f || isLike(own, f) })
		return !has && !strings.HasPrefix(f, markText) && !p.entry.mayLack(f)
	}
	if t.Text != "" || p.entry == nil || slices.ContainsFunc(t.Flags, isMissing) {
		return false
	}
	if !t.begins {
		return slices.Equal(p.words.Words, t.Words)
	}
	words, n := append(slices.Clone(p.words.Words), p.args...), len(t.Words)
	if len(words) < n || !slices.Equal(words[:n], t.Words) {
		return false
	}
	isTarget := func(word string) bool { // no variable, and no file, which recipes of just take
		return !strings.Contains(word, "=") && !(strings.Contains(word, "/") && path.Ext(word) != "")
	}
	namesNone := n == 1 || programs().find(strings.Join(t.Words, " ")) == p.entry
	return namesNone || !p.entry.traits[traitTargets] || !slices.ContainsFunc(words[n:], isTarget)
}

// Meets reports whether a part may be one of the pattern's commands, for rules that ask or deny: it starts with the
// words, whatever flags come between them, and has the flags.
func (t Pattern) Meets(p Part) bool {
	if len(p.Argv) == 0 {
		return p.varies
	}
	name := baseName(p.Argv[0])
	unversioned, _, _ := strings.Cut(name, "@") // npx runs prisma for prisma@5
	return slices.ContainsFunc(t.spelled, func(words []string) bool {
		return (name == words[0] || unversioned == words[0]) && (p.varies || leadBy(words, p))
	}) && (p.varies || !slices.ContainsFunc(t.Flags, func(f string) bool { return !t.isGiven(f, p) }))
}

func (t Pattern) isGiven(flag string, p Part) bool {
	if flag == markText {
		return true
	}
	flag = withoutExample(flag)
	name := flagName(flag)
	return p.hasFlag(flag) || slices.ContainsFunc(t.spelled, func(words []string) bool {
		return slices.ContainsFunc(programs().aliases[strings.Join(words, " ")+" "+name], func(other string) bool {
			return p.hasFlag(other[strings.LastIndexByte(other, ' ')+1:] + flag[len(name):])
		})
	})
}

// leadBy reports whether words lead a part: according to the program's entry or, where the entry does not say, by
// order.
func leadBy(words []string, p Part) bool {
	given, isAnywhere := append(slices.Clone(p.lead), p.args...), p.mayLeadElse()
	if isAnywhere {
		given = valuesApart(p.Argv)
	}
	at := 1
	for n := 1; n < len(words); n++ {
		isMeant := func(word string) bool { return programs().means(words[:n], words[n], word) }
		i := slices.IndexFunc(given[min(at, len(given)):], isMeant)
		if i < 0 || i > 0 && !isAnywhere {
			return false
		}
		at += i + 1
	}
	return true
}

// mayLeadElse reports whether words other than those the entry finds may say what a part does: nod does not read the
// words of a program that runs what it is told, the word after an unknown flag may be its value, and +nightly is none
// of cargo's commands.
func (p Part) mayLeadElse() bool {
	if len(p.lead) == 0 || p.entry == nil || p.entry.kind == told {
		return true
	}
	isOdd := func(word string) bool {
		if !isFlag(word) {
			return strings.HasPrefix(word, "+")
		}
		return !slices.ContainsFunc([]*program{p.entry, programs().find(p.lead[0])}, func(e *program) bool {
			return e != nil && e.lists(flagName(word)) && e.flags[flagName(word)].never == ""
		})
	}
	return slices.ContainsFunc(p.Argv[1:], isOdd)
}

// valuesApart returns the words with the values of flags split off.
func valuesApart(words []string) []string {
	var out []string
	for _, w := range words {
		if name, value, ok := strings.Cut(w, "="); ok && isFlag(w) {
			out = append(out, name, value)
			continue
		}
		out = append(out, w)
	}
	return out
}

// hasFlag reports whether the words include a flag, perhaps abbreviated, and perhaps with its value after a blank.
func (p Part) hasFlag(flag string) bool {
	if operand, ok := strings.CutPrefix(flag, markOperand); ok && strings.Contains(operand, " ") {
		return slices.Contains(p.Argv, operand)
	}
	flag = withoutExample(flag)
	name, value, hasValue := strings.Cut(strings.TrimPrefix(flag, markOperand), " ")
	if own := flagName(flag); isFlag(flag) && own != flag {
		name, value, hasValue = own, flag[len(own)+1:], true
	}
	words := valuesApart(p.Argv)
	for i, w := range words {
		bundled := len(name) == 2 && isFlag(w) && !strings.HasPrefix(w, "--") && strings.Contains(w, name[1:])
		isMeant := w == name || bundled || p.entry.abbreviates(w, name)
		if isMeant && (!hasValue || i+1 < len(words) && words[i+1] == value) {
			return true
		}
	}
	return false
}
