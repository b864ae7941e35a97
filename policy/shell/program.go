package shell

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nod/policy/shell/language"
)

// What nod knows about programs is data: the files in the folder programs, one for each program or family. A line
// that starts with # is a comment. The other lines start with a keyword:
//
//	manual   what the entries below were read from, with versions. Every entry needs one.
//	screen   programs, without an entry, that could answer nod's own prompts, unless one of the words after the word
//	         unless comes first
//	setting  variables that may be set for a command, or the start of their names and *, and the type of their values
//	public   before the first manual of a file: variables whose values may be shown, because they hold no secrets
//	work     a kind of work, a colon and a command that belongs to it, by all words that lead it: see work.txt
//	changes  before the first manual of a file: flags with which such a command changes files of the project
//	alias    names for the same thing, separated by commas, perhaps after words that they share and a colon:
//	         npm: install, i. Rules that ask or deny apply to all of them when they name one. Flags, too
//	abbreviates  a program, or a command of it, that accepts the start of the next word for the word, or with ... of
//	         any; perhaps a colon and words that abbreviate no other. Rules that ask or deny apply to all that is meant
//	program  starts an entry: the names, separated by commas, of programs that read their words alike. A name
//	         may have several words: "git log", "npm run". More such lines right after it have more names. A
//	         blank line ends the entry.
//	synopsis the types of the operands, in order: FILE, [FILE], FILE... ; of two types in a row the first may
//	         have the dots: FILE... INTO. PATTERN/-e/--regexp is no operand when one of those flags is there.
//	         Without a synopsis there are no operands.
//	letters  flags of one letter without a value, in one word: alhR
//	flag     flags that mean the same, and the type of their value if they have one: -n --lines NUMBER. A long
//	         flag whose value can only follow = is written --color[=TEXT].
//	tree     flags (as with letters or flag, without a value) with which FILE operands are whole folders, or
//	         the word always
//	edit     flags, without a value, with which FILE operands are changed in place
//	past     flags with which it shows what files held at any time, below its REVS operands, or in all of the
//	         repository; also its names, as git-show, that do so without any
//	         flag listed after the word brief
//	brief    flags with which it shows less: names, but not what files hold
//	never    flags that are never harmless, perhaps the type of their value, which then says what they do to it,
//	         a colon and the reason as a sentence for a user
//	restrains  flags without which it does more: --dry-run. They are in the entry or, before the first program of a
//	         file, for all entries. Allowing a command with one does not allow it without
//	extends  flags with which it does more: --force. Allowing a command without one does not allow it with it. Before the
//	         first program of a file they count for all entries, and no program does more without them
//	prints   before the first program of a file: flags that only change what any program prints: --verbose
//	needs    flags, or the word OPERAND, of which one must be there, perhaps the word with and flags without which none
//	         need be, a colon and the reason as a sentence for a user
//	grows    how many times it may lengthen its input, perhaps the word with and flags without which it
//	         does not
//	output   an example of everything that it prints: an object id
//	deletes  words with which it removes something, or always; perhaps the word unless and words with which it does
//	         not. They are read as those of risks.txt
//	keeps    flags with which it prints some of its input lines, whole, as it does without any; or none
//	traits   any of the words in the constant block below
//	kind     task: its words do not say all that it does (it builds, tests, installs), so it never passes
//	         as reading; a user may allow it with its leading words. told: it runs what it is told, so only
//	         exactly what a user saw can be remembered. Without a kind, the entry says everything that the program
//	         does: it reads and writes what its words name, and nothing else.
//	why      the reason, a sentence for a user, why nod asks about a task or a told program
//
// A flag, an operand or a value that is not in an entry is not known to be harmless.
//
//go:embed programs/*.txt
var programFiles embed.FS

// A program is one entry of a data file.
type program struct {
	operands []operand
	flags    map[string]flag // by name, or always
	traits   map[string]bool
	kind     programKind
	why      string
	needs    []need
	grows    []growth
	output   string
	deletes  []string
	spares   []string // words with which it removes nothing
	keeps    language.Words
	past     language.Words
	brief    language.Words
}

type programKind int

const (
	understood programKind = iota
	task
	told
)

type operand struct {
	typ    *wordType
	many   bool     // it may be repeated
	unless []string // flags that replace it
}

type flag struct {
	typ, second *wordType // of its value, or values, such as jq --arg NAME VALUE; nil: it has none
	optional    bool      // its value only follows =
	tree, edit  bool      // FILE operands are whole folders, or are changed in place
	restrains   bool      // without it the program does more
	extends     bool      // with it the program does more
	never       string    // why it is never harmless
}

type need struct {
	flags, with []string // no flags in with: always
	why         string
}

// growth is how many times longer than its input a program's output may be, if one of some flags is given.
type growth struct {
	times float64
	with  []string // none: always
}

// always, in place of the flags of a tree line, means that no flag is needed.
const always = "always"

// flag returns the flag of that name, unless it is never harmless.
func (p *program) flag(name string) (flag, bool) {
	f, ok := p.flags[name]
	return f, ok && f.never == ""
}

// bundles reports whether the program may read several single-letter flags in one word. An unknown program may.
func (p *program) bundles() bool { return p == nil || !p.traits[traitDashes] && !p.traits[traitAlone] }

// takesFiles reports whether some operand may name a file, as far as the entry says.
func (p *program) takesFiles() bool {
	isFile := func(o operand) bool { return !o.typ.free }
	return len(p.operands) == 0 || slices.ContainsFunc(p.operands, isFile)
}

// restrains reports whether a program allowed with a flag may do more without it.
func (p *program) restrains(name string) bool {
	return p.flags[name].restrains || programs().restrains.Has(name)
}

// extends reports whether a program allowed without a flag may do more with it.
func (p *program) extends(name string) bool {
	return p.flags[name].extends || programs().extends.Has("--"+strings.TrimLeft(name, "-"))
}

// mayLack reports whether a command may lack a flag, perhaps with a value, that it was allowed with: nod must know the
// flag, and it must not restrain the command.
func (p *program) mayLack(flag string) bool {
	name := flagName(flag)
	_, listed := p.flag(name)
	return !p.restrains(name) && (listed || name == flag && p.extends(name))
}

// prints reports whether a flag only changes what is printed, even if the program's entry lacks it.
func prints(flag string) bool { return programs().prints.Has(flag) }

// flagName returns a flag without its value.
func flagName(flag string) string {
	if end := strings.IndexAny(flag, "= "); end >= 0 {
		return flag[:end]
	}
	return flag
}

// The traits of programs.
const (
	traitNumbers = "numbers"     // -5 is a flag
	traitBundle  = "bundle"      // a first word without a dash is a bundle of flags, whose values are the next words
	traitFirst   = "flags-first" // flags come before operands, for some systems read later ones as operands
	traitAlone   = "alone"       // short flags stand alone: the program reads no bundles
	traitApart   = "apart"       // a short flag's value is always the next word
	traitDashes  = "long-dash"   // long flags start with one dash, and none is bundled: -name
	traitRaw     = "raw"         // no word is a flag
	traitGlobs   = "globs"       // a pattern may be anywhere: no flag of the program does harm
	traitNamed   = "named-globs" // a pattern may be where no name that it matches can be a flag
	traitEnded   = "ended-globs" // as globs, for names that start with a path or end as in *.go: its flags only read
	traitAssigns = "assigns"     // an operand NAME=value names no file: it sets a variable
	traitHere    = "here"        // without a path it reads the current folder
	traitAtFiles = "at-files"    // a word that starts with @ is read as a file of more words
	traitNetwork = "network"     // it reaches the network
	traitRepo    = "repository"  // it reads the git repository it is started in, whose configuration may name programs
	traitRemotes = "remotes"     // it prints addresses of the repository's remotes
	traitInput   = "input"       // a told program that runs its standard input when it is given no operand
	traitCode    = "code"        // it runs code in its words, its input or a file, which nod does not read
	traitFed     = "fed-operand" // without an operand, what is fed to it is the first one
	traitLines   = "lines"       // a word may hold line ends: it changes files, so it never counts as reading
	traitHoards  = "hoards"      // it keeps all that it is fed, in memory or on the disk
	traitWhole   = "whole-lines" // it keeps a line of what it is fed, however long
	traitTargets = "targets"     // each operand is one more thing to do: a rule for make test is none for make test deploy
)

const allTraits language.Words = traitNumbers + " " + traitBundle + " " + traitFirst + " " + traitAlone + " " +
	traitApart + " " + traitDashes + " " + traitRaw + " " + traitGlobs + " " + traitNamed + " " +
	traitEnded + " " + traitAssigns + " " + traitHere + " " + traitAtFiles + " " + traitNetwork + " " +
	traitRepo + " " + traitInput + " " + traitCode + " " + traitFed + " " + traitLines + " " + traitHoards + " " +
	traitRemotes + " " + traitWhole + " " + traitTargets

// A catalogue finds entries by name. Each is parsed when it is first needed: there are thousands, and most runs of the
// nod command read no shell.
type catalogue struct {
	entries map[string]*entry
	subs    map[string]bool // the names that names of subcommands start with
	screen  map[string]language.Words

	settings map[string]*wordType // by the names of variables
	public   language.Words
	work     map[string]string // by all words that lead a command, its kind
	changes  language.Words

	aliases     map[string][]string // other names of subcommands and flags
	abbreviated map[string]bool     // the names after which the start of a word will do
	whole       map[string]bool     // words that abbreviate no other, with the words before them

	restrains, extends, prints language.Words // flags that mean the same in all programs
}

func newCatalogue() catalogue {
	return catalogue{
		entries: map[string]*entry{}, subs: map[string]bool{}, screen: map[string]language.Words{},
		settings: map[string]*wordType{}, aliases: map[string][]string{}, abbreviated: map[string]bool{},
		whole: map[string]bool{}, work: map[string]string{},
	}
}

type entry struct {
	file   string
	line   int // of the first line of text
	text   []string
	parsed sync.Once
	*program
}

// programs holds all entries. The files are embedded, and tests ensure that they have no mistake.
var programs = sync.OnceValue(func() catalogue {
	c, _ := readPrograms()
	return c
})

// find returns the program of that name, or nil.
func (c catalogue) find(name string) *program {
	e := c.entries[name]
	if e == nil {
		return nil
	}
	e.parsed.Do(func() { e.program, _ = e.parse() })
	return e.program
}

func readPrograms() (catalogue, error) {
	c := newCatalogue()
	files, err := programFiles.ReadDir("programs")
	for _, f := range files {
		if f.Name() == risksFile || f.Name() == outsideFile {
			continue
		}
		text, unread := programFiles.ReadFile(path.Join("programs", f.Name()))
		err = cmp.Or(err, unread, c.read(f.Name(), string(text)))
	}
	return c, err
}

func (c *catalogue) read(file, text string) error {
	lists := map[string]*language.Words{"public": &c.public, "changes": &c.changes, "prints": &c.prints,
		"restrains": &c.restrains, "extends": &c.extends}
	var now *entry
	var manual string
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" {
			now = nil
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var err error
		keyword, rest, _ := strings.Cut(line, " ")
		switch {
		case keyword == "manual":
			manual, now = rest, nil
		case keyword == "screen":
			names, looks, _ := strings.Cut(rest, " unless ")
			for name := range strings.FieldsSeq(names) {
				c.screen[name] = language.Words(strings.TrimSpace(string(c.screen[name]) + " " + looks))
			}
		case keyword == "setting":
			err = c.setting(strings.Fields(rest))
		case keyword == "work":
			kind, words, _ := strings.Cut(rest, ":")
			c.belongs(kind, nil, strings.Fields(words))
		case keyword == "alias":
			err = c.alias(rest)
		case keyword == "abbreviates":
			c.abbreviate(rest)
		case keyword == "program":
			if now == nil || len(now.text) > 0 {
				now = &entry{file: file, line: n}
			}
			err = c.add(now, manual, rest)
		case lists[keyword] != nil && manual == "":
			*lists[keyword] += language.Words(rest + " ")
		case now == nil:
			err = fmt.Errorf("%s: want a line that starts with program before it", keyword)
		default:
			now.text = append(now.text, line)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return nil
}

// belongs files a command under a kind of work, once for each choice of its words.
func (c catalogue) belongs(kind string, first, rest []string) {
	if len(rest) == 0 {
		c.work[strings.Join(first, " ")] = kind
		return
	}
	for word := range strings.SplitSeq(rest[0], "|") {
		c.belongs(kind, append(slices.Clip(first), word), rest[1:])
	}
}

// setting files the type of the values of variables.
func (c catalogue) setting(words []string) error {
	names := words[:len(words)-1]
	typ, err := parseType(words[len(words)-1])
	if err != nil || len(names) == 0 {
		return cmp.Or(err, errors.New("setting: want names and a type"))
	}
	for _, name := range names {
		c.settings[name] = typ
	}
	return nil
}

func (c catalogue) add(e *entry, manual, names string) error {
	if manual == "" {
		return errors.New("want a line that starts with manual before it")
	}
	own := map[string]bool{}
	for name := range strings.SplitSeq(names, ",") {
		words := strings.Fields(name)
		name = strings.Join(words, " ")
		if name == "" || c.entries[name] != nil {
			return fmt.Errorf("program %q: want a name that no other entry has", name)
		}
		c.entries[name], own[name] = e, true
		for i := 1; i < len(words); i++ {
			start := strings.Join(words[:i], " ")
			c.subs[start] = c.subs[start] || !isFlag(words[i])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		words := strings.Fields(name)
		for i := 1; i < len(words); i++ {
			if own[strings.Join(words[i:], " ")] { // npx eslint runs eslint
				run := strings.Join(append([]string{baseName(words[i])}, words[i+1:]...), " ")
				c.aliases[run] = append(c.aliases[run], name)
			}
		}
	}
	return nil
}

func (e *entry) parse() (*program, error) {
	p := &program{flags: map[string]flag{}, traits: map[string]bool{}}
	for _, line := range e.text {
		keyword, rest, _ := strings.Cut(line, " ")
		if err := p.line(keyword, strings.TrimSpace(rest)); err != nil {
			return nil, fmt.Errorf("%s: program at line %d: %s: %w", e.file, e.line, keyword, err)
		}
	}
	return p, nil
}

func (p *program) line(keyword, rest string) error {
	if rest == "" {
		return errors.New("nothing follows")
	}
	lists := map[string]*language.Words{"keeps": &p.keeps, "past": &p.past, "brief": &p.brief}
	if list := lists[keyword]; list != nil {
		*list += language.Words(rest + " ")
		return nil
	}
	flags, reason, isReasoned := strings.Cut(rest, ": ")
	if (keyword == "never" || keyword == "needs") && (!isReasoned || !strings.HasSuffix(reason, ".")) {
		return errors.New("want flags, a colon and a sentence")
	}
	switch keyword {
	case "synopsis":
		return p.synopsis(rest)
	case "letters":
		return p.addFlags("-"+strings.Join(strings.Split(rest, ""), " -"), flag{})
	case "flag", "tree", "edit":
		return p.addFlags(rest, flag{tree: keyword == "tree", edit: keyword == "edit"})
	case "never":
		return p.addFlags(flags, flag{never: reason})
	case "restrains":
		return p.mark(rest, func(f *flag) *bool { return &f.restrains })
	case "extends":
		return p.mark(rest, func(f *flag) *bool { return &f.extends })
	case "needs":
		flags, with, _ := strings.Cut(flags, " with ")
		p.needs = append(p.needs, need{strings.Fields(flags), strings.Fields(with), reason})
	case "grows":
		times, with, _ := strings.Cut(rest, " with ")
		factor, err := strconv.ParseFloat(times, 64)
		p.grows = append(p.grows, growth{factor, strings.Fields(with)})
		return err
	case "output":
		p.output = rest
	case "deletes":
		deletes, spares, _ := strings.Cut(rest, "unless")
		p.deletes, p.spares = strings.Fields(deletes), strings.Fields(spares)
	case "traits":
		for t := range strings.FieldsSeq(rest) {
			if !allTraits.Has(t) {
				return fmt.Errorf("unknown trait %q", t)
			}
			p.traits[t] = true
		}
	case "kind":
		kinds := map[string]programKind{"task": task, "told": told}
		if p.kind = kinds[rest]; p.kind == understood {
			return fmt.Errorf("unknown kind %q: want task or told", rest)
		}
	case "why":
		p.why = rest
	default:
		return errors.New("it is not a keyword")
	}
	return nil
}

var withoutBrackets = strings.NewReplacer("[", "", "]", "")

func (p *program) synopsis(text string) error {
	for token := range strings.FieldsSeq(withoutBrackets.Replace(text)) {
		var o operand
		token, o.many = strings.CutSuffix(token, "...")
		name, unless, _ := strings.Cut(token, "/")
		if unless != "" {
			o.unless = strings.Split(unless, "/")
		}
		var err error
		if o.typ, err = parseType(name); err != nil {
			return err
		}
		if n := len(p.operands); n > 0 && p.operands[n-1].many && (o.many || n > 1 && p.operands[n-2].many) {
			return errors.New("nothing but one last operand may follow dots")
		}
		p.operands = append(p.operands, o)
	}
	return nil
}

// addFlags adds flags by their names, which the types of their values follow.
func (p *program) addFlags(text string, f flag) (err error) {
	names := strings.Fields(text)
	for last := len(names) - 1; last >= 0 && !isFlag(names[last]) && names[last] != always; last-- {
		f.second = f.typ
		if f.typ, err = parseType(names[last]); err != nil {
			return err
		}
		names = names[:last]
	}
	for _, name := range names {
		own := f
		if base, typ, ok := strings.Cut(strings.TrimSuffix(name, "]"), "[="); ok {
			if own.typ, err = parseType(typ); err != nil {
				return err
			}
			own.optional, name = true, base
		}
		if _, twice := p.flags[name]; twice || len(name) < 2 {
			return fmt.Errorf("%q is not a flag, or appears twice", name)
		}
		p.flags[name] = own
	}
	return nil
}

// mark sets a property of flags that earlier lines list.
func (p *program) mark(names string, of func(*flag) *bool) error {
	for name := range strings.FieldsSeq(names) {
		f, ok := p.flag(name)
		if !ok || *of(&f) {
			return fmt.Errorf("%q is not a flag of the lines before, or appears twice", name)
		}
		*of(&f) = true
		p.flags[name] = f
	}
	return nil
}

// parseType reads a type, perhaps with the largest number or the words that it allows.
func parseType(text string) (*wordType, error) {
	if words, ok := strings.CutPrefix(text, "one("); ok && strings.HasSuffix(words, ")") {
		return oneOf(strings.Split(strings.TrimSuffix(words, ")"), "|")), nil
	}
	if limit, ok := strings.CutPrefix(text, "NUMBER<="); ok {
		most, err := strconv.Atoi(limit)
		return &wordType{check: number(most)}, err
	}
	if typ := wordTypes[text]; typ != nil {
		return typ, nil
	}
	return nil, fmt.Errorf("unknown type %q", text)
}
