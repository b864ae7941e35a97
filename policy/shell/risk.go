package shell

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"nod/policy/shell/language"
)

// A Level says how urgently a user should look at something.
type Level uint8

// The levels, in rising order.
const (
	Note    Level = iota // good to know
	Caution              // look again
	Danger               // hard to undo, or more than the agent was asked to do
)

// String returns the level's name.
func (l Level) String() string { return [...]string{"note", "caution", "danger"}[min(l, Danger)] }

var levels = map[string]Level{Note.String(): Note, Caution.String(): Caution, Danger.String(): Danger}

// A Risk is one thing that a user should see before allowing a command. No decision depends on it.
type Risk struct {
	Level Level
	Text  string // in a user's words; {{.What}} is replaced by What
	What  string // a program, place or address, as the command spells it
	At    int    // the byte of the command where the simple command starts
	Line  string // the simple command
}

// String returns the risk as a sentence.
func (r Risk) String() string { return strings.ReplaceAll(r.Text, "{{.What}}", r.What) }

// A riskRule says which commands have a risk.
type riskRule struct {
	level  Level
	text   string
	words  []string   // after the program's name
	with   [][]string // one word of each list is present
	unless []string   // none of these words is present
}

// risksFile is one of the program files, and documents its own format.
const risksFile = "risks.txt"

// A riskBook holds rules by the name of a program; under *, those whose name contains one.
type riskBook map[string][]namedRisk

// risks holds all rules. They are read when a user is first shown what a command does: no decision needs them. The file
// is embedded, and tests ensure that it has no mistake.
var risks = sync.OnceValue(func() riskBook {
	b, _ := readRules(risksFile, levels)
	return b
})

// readRules reads a file of rules. Each follows a line that starts with one of the keywords.
func readRules(file string, keywords map[string]Level) (riskBook, error) {
	b := riskBook{}
	text, err := programFiles.ReadFile(path.Join("programs", file))
	return b, cmp.Or(err, b.read(file, string(text), keywords))
}

func (b riskBook) read(file, text string, keywords map[string]Level) error {
	var level Level
	var risk string
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		keyword, rest, _ := strings.Cut(line, " ")
		var err error
		switch l, isLevel := keywords[keyword]; {
		case isLevel:
			level, risk = l, rest
		case keyword == "when":
			err = b.add(level, risk, rest)
		default:
			err = fmt.Errorf("%s: use when, or one of %v", keyword, slices.Sorted(maps.Keys(keywords)))
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return nil
}

// add files the rules of a line that starts with when.
func (b riskBook) add(level Level, text, rest string) error {
	if text == "" {
		return errors.New("when: want a line before it that says what for")
	}
	for item := range strings.SplitSeq(rest, ",") {
		item, unless, _ := strings.Cut(item, " unless ")
		parts := strings.Split(item, " with ")
		words := strings.Fields(parts[0])
		if len(words) == 0 {
			return errors.New("when: want the name of a program")
		}
		rule := riskRule{level: level, text: text, words: words[1:], unless: strings.Fields(unless)}
		for _, list := range parts[1:] {
			rule.with = append(rule.with, strings.Fields(list))
		}
		for name := range strings.SplitSeq(words[0], "|") {
			if strings.Contains(name, "*") && name != "*" {
				b["*"] = append(b["*"], namedRisk{name, rule})
				continue
			}
			name = strings.ToLower(name)
			b[name] = append(b[name], namedRisk{name, rule})
		}
	}
	return nil
}

// A namedRisk is a rule with its program's name, which may contain *.
type namedRisk struct {
	name string
	riskRule
}

// rulesOf returns the rules that match a call, each text once.
func (b riskBook) rulesOf(name string, args []string) []namedRisk {
	var found []namedRisk
	rules := slices.Concat(b[name], b[unversioned(name)], b["*"])
	if len(rules) == 0 {
		return nil
	}
	c := programs()
	bundles := c.find(name).bundles()
	_, given := divide(args)
	isOther := func(o []string) bool { // another program, or flags by their other names
		_, flags := divide(o)
		return o[0] != name || !slices.Equal(flags, given)
	}
	spelled := slices.DeleteFunc(c.spellings(append([]string{name}, args...)), isOther)
	for _, rule := range rules {
		isSame := func(r namedRisk) bool { return r.text == rule.text }
		fits := func(words []string) bool { return rule.fits(words, bundles) }
		isNamed := language.Wildcard(rule.name, name) || rule.name == unversioned(name)
		if isNamed && slices.ContainsFunc(spelled, fits) && !slices.ContainsFunc(found, isSame) {
			found = append(found, rule)
		}
	}
	return found
}

// ofRunner returns the rules that match the program that npx, cmd /c and their like run.
func (b riskBook) ofRunner(runner string, args []string) []namedRisk {
	const runners language.Words = "npx bunx pnpm yarn npm cmd powershell pwsh"
	const verbs language.Words = "exec dlx x run /c /C /k /K /q /s /d"
	i := slices.IndexFunc(args, func(arg string) bool { return !isFlag(arg) && !verbs.Has(arg) })
	if i < 0 || !runners.Has(runner) || strings.TrimSpace(args[i]) == "" {
		return nil
	}
	words := slices.Concat(strings.Fields(args[i]), args[i+1:])
	isScript := func(r namedRisk) bool { // a bare name may be that of a script of the project
		return len(r.words)+len(r.with) == 0 && language.Words("pnpm yarn npm").Has(runner)
	}
	return slices.DeleteFunc(b.rulesOf(baseName(words[0]), words[1:]), isScript)
}

func (r *riskRule) fits(words []string, bundles bool) bool {
	has := func(want string) bool { return hasWord(words[1:], want, bundles) }
	hasNone := func(list []string) bool { return !slices.ContainsFunc(list, has) }
	isSet := func(flag string) bool { // and not taken back
		return has(flag) && !(isLong(flag) && (has(flag+"=false") || has("--no-"+flag[2:])))
	}
	return leads(r.words, words) && !slices.ContainsFunc(r.unless, isSet) && !slices.ContainsFunc(r.with, hasNone)
}

// leads reports whether the words that say what a program does come first after its name, perhaps abbreviated. The word
// after a flag may be its value.
func leads(want, words []string) bool {
	skip, anywhere, before := 0, false, words[:1:1]
	for _, arg := range words[1:] {
		for len(want) > 0 && want[0] == "..." {
			want, anywhere = want[1:], true
		}
		switch {
		case len(want) == 0:
			return true
		case oneIn(want[0], arg, before):
			want, anywhere, before = want[1:], false, append(before, arg)
		case isFlag(arg):
			skip++
		case anywhere, strings.HasPrefix(arg, "+"): // cargo +nightly publish
		case skip > 0:
			skip--
		default:
			return false
		}
	}
	return len(want) == 0
}

// oneIn reports whether a word that follows the words before is, or may mean, one of the alternatives.
func oneIn(alternatives, word string, before []string) bool {
	for want := range strings.SplitSeq(alternatives, "|") {
		if language.Wildcard(want, word) || programs().means(before, want, word) {
			return true
		}
	}
	return false
}

// hasWord reports whether a word of a rule is among args.
func hasWord(args []string, want string, bundles bool) bool {
	flag, value, hasValue := strings.Cut(want, "=")
	hasValue = hasValue && isFlag(want)
	for i, arg := range args {
		switch {
		case language.Wildcard(want, arg):
			return true
		case hasValue && arg == flag && i+1 < len(args) && language.Wildcard(value, args[i+1]):
			return true
		case hasValue && strings.HasPrefix(arg, flag) && len(flag) == 2 && language.Wildcard(value, arg[2:]):
			return true
		case hasValue || !isFlag(want) || !isFlag(arg):
		case isLong(want):
			own, _, _ := strings.Cut(arg, "=")
			isShort := isLong(own) && 2*len(own) > len(want)+2 && strings.HasPrefix(want, own)
			if own == want || isShort {
				return true
			}
		case len(want) == 2 && bundles && !isLong(arg) && strings.Contains(arg[1:], want[1:]):
			return true
		}
	}
	return false
}

func isLong(flag string) bool { return strings.HasPrefix(flag, "--") }
