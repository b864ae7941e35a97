package shell

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
)

// What nod knows about programs is data: the files in the folder programs, one for each program or family. A line
// that starts with # is a comment. The other lines start with a keyword:
//
//	manual   what the entries below were read from, with versions. Every entry needs one.
//	program  starts an entry: the names, divided by commas, of programs that read their words alike. A name
//	         may have several words: "git log", "npm run".
//	synopsis the types of the operands, in order: FILE, [FILE], FILE... ; of two types in a row the first may
//	         have the dots: FILE... INTO. PATTERN/-e/--regexp is no operand when one of those flags is there.
//	         Without a synopsis there are no operands.
//	letters  flags of one letter without a value, in one word: alhR
//	flag     flags that mean the same, and the type of their value if they have one: -n --lines NUMBER. A long
//	         flag whose value can only stand behind = is written --color[=TEXT].
//	tree     flags (as with letters or flag, without a value) with which FILE operands are whole folders, or
//	         the word always
//	edit     flags, without a value, with which FILE operands are changed in place
//	never    flags that are never harmless, then a colon and the reason as a sentence for a person
//	traits   any of the words in the constant block below
//	kind     task: what it does is not all said by its words (it builds, tests, installs), so it never passes
//	         as reading; a person may allow it with its leading words. told: it runs what it is told, so only
//	         exactly what a person saw can be remembered. Without a kind, the entry says all that the program
//	         does: it reads and writes what its words name, and nothing else.
//	why      the reason, a sentence for a person, why a task or a told program is asked about
//
// A flag, an operand or a value that is not in an entry is not known to be harmless.
//
//go:embed programs/*.txt
var programFiles embed.FS

// A program is one entry of a data file.
type program struct {
	operands []operand
	letters  map[byte]valueType // flags of one letter
	long     map[string]valueType
	never    map[string]string // reasons, by flag
	trees    map[string]bool
	edits    map[string]bool
	traits   map[string]bool
	kind     programKind
	why      string
}

type programKind int

const (
	understood programKind = iota
	task
	told
)

// An operand is one place in a synopsis.
type operand struct {
	typ    *wordType
	limit  int      // the largest number, or 0
	many   bool     // it may be repeated
	unless []string // flags that stand for it
}

// A valueType is the type of a flag's value.
type valueType struct {
	typ      *wordType // nil: it has none
	limit    int
	second   *wordType // of flags with two values, such as jq --arg NAME VALUE
	optional bool      // only behind =
}

// The traits of programs.
const (
	traitNumbers = "numbers"     // -5 is a flag
	traitFirst   = "flags-first" // flags come before operands, for some systems read later ones as operands
	traitAlone   = "alone"       // short flags stand alone: the program reads no bundles
	traitApart   = "apart"       // a short flag's value is always the next word
	traitDashes  = "long-dash"   // long flags start with one dash, and none is bundled: -name
	traitRaw     = "raw"         // no word is a flag
	traitGlobs   = "globs"       // a pattern may stand anywhere: no flag of the program does harm
	traitNamed   = "named-globs" // a pattern may stand where no name that it matches can be a flag
	traitHere    = "here"        // without a path it reads the current folder
	traitAtFiles = "at-files"    // a word that starts with @ is read as a file of more words
	traitNetwork = "network"     // it reaches the network
	traitRepo    = "repository"  // it reads the git repository that it is started in, whose configuration may name programs
	traitInput   = "input"       // a told program that runs its standard input when it is given no operand
	traitAny     = "any-words"   // of a task: any flag that is not under never may be remembered with what is seen
)

var allTraits = set(traitNumbers + " " + traitFirst + " " + traitAlone + " " + traitApart + " " + traitDashes + " " +
	traitRaw + " " + traitGlobs + " " + traitNamed + " " + traitHere + " " + traitAtFiles + " " + traitNetwork + " " +
	traitRepo + " " + traitInput + " " + traitAny)

// A catalogue finds entries by name. Each is parsed when it is first needed: there are thousands, and most starts of
// the nod command read no shell.
type catalogue struct {
	entries map[string]*entry
	heads   map[string]head // by the first word of names that have several
}

// head says what entries there are for names that start with a word.
type head struct {
	named bool // some
	subs  bool // some of sub-commands, not only of flags
}

// An entry is the text of one entry.
type entry struct {
	file   string
	line   int // of the first line of text
	manual string
	text   []string
	parsed sync.Once
	*program
}

// programs holds all entries. The files are part of the program and tested; a mistake in one would only make nod ask.
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
	e.parsed.Do(func() {
		if p, err := e.parse(); err == nil {
			e.program = p
		}
	})
	return e.program
}

func readPrograms() (catalogue, error) {
	c := catalogue{entries: map[string]*entry{}, heads: map[string]head{}}
	files, err := programFiles.ReadDir("programs")
	if err != nil {
		return c, err
	}
	for _, f := range files {
		text, err := programFiles.ReadFile(path.Join("programs", f.Name()))
		if err != nil {
			return c, err
		}
		if err := c.read(f.Name(), string(text)); err != nil {
			return c, err
		}
	}
	return c, nil
}

// read cuts a file into its entries.
func (c catalogue) read(file, text string) error {
	var now *entry
	var manual string
	inManual := false
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		keyword, rest, _ := strings.Cut(line, " ")
		if keyword == "manual" {
			if inManual { // several lines are one list
				rest = manual + "; " + rest
			}
			manual, inManual, now = rest, true, nil
			continue
		}
		inManual = false
		if keyword == "program" {
			now = &entry{file: file, line: n, manual: manual}
			if err := c.add(now, rest); err != nil {
				return fmt.Errorf("%s:%d: %w", file, n, err)
			}
			continue
		}
		if now == nil {
			return fmt.Errorf("%s:%d: %s: want a line that starts with program before it", file, n, keyword)
		}
		now.text = append(now.text, line)
	}
	return nil
}

// add files an entry under its names.
func (c catalogue) add(e *entry, names string) error {
	if e.manual == "" {
		return errors.New("want a line that starts with manual before it")
	}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.Join(strings.Fields(name), " ")
		if name == "" || c.entries[name] != nil {
			return fmt.Errorf("program %q: want a name that no other entry has", name)
		}
		c.entries[name] = e
		if first, second, ok := strings.Cut(name, " "); ok {
			c.heads[first] = head{named: true, subs: c.heads[first].subs || second[0] != '-'}
		}
	}
	return nil
}

// parse reads the lines of an entry.
func (e *entry) parse() (*program, error) {
	p := &program{
		letters: map[byte]valueType{}, long: map[string]valueType{}, never: map[string]string{},
		trees: map[string]bool{}, edits: map[string]bool{}, traits: map[string]bool{},
	}
	for _, line := range e.text {
		keyword, rest, _ := strings.Cut(line, " ")
		if rest = strings.TrimSpace(rest); rest == "" {
			return nil, fmt.Errorf("%s: program at line %d: %s: nothing follows", e.file, e.line, keyword)
		}
		if err := p.line(keyword, rest); err != nil {
			return nil, fmt.Errorf("%s: program at line %d: %w", e.file, e.line, err)
		}
	}
	return p, nil
}

// line reads one line of an entry.
func (p *program) line(keyword, rest string) error {
	switch keyword {
	case "synopsis":
		return p.synopsis(rest)
	case "letters":
		for i := range len(rest) {
			if err := p.addFlag("-"+rest[i:i+1], valueType{}); err != nil {
				return err
			}
		}
	case "flag":
		return p.flag(strings.Fields(rest))
	case "tree":
		return p.marks(p.trees, strings.Fields(rest))
	case "edit":
		return p.marks(p.edits, strings.Fields(rest))
	case "never":
		flags, reason, ok := strings.Cut(rest, ": ")
		if !ok || !strings.HasSuffix(reason, ".") {
			return fmt.Errorf("never: want flags, a colon and a sentence")
		}
		for f := range strings.FieldsSeq(flags) {
			p.never[f] = reason
		}
	case "traits":
		for t := range strings.FieldsSeq(rest) {
			if !allTraits[t] {
				return fmt.Errorf("traits: %q is none", t)
			}
			p.traits[t] = true
		}
	case "kind":
		kinds := map[string]programKind{"task": task, "told": told}
		if p.kind = kinds[rest]; p.kind == understood {
			return fmt.Errorf("kind: %q: want task or told", rest)
		}
	case "why":
		p.why = rest
	default:
		return fmt.Errorf("%q is no keyword", keyword)
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
		if o.typ, o.limit, err = parseType(name); err != nil {
			return fmt.Errorf("synopsis: %w", err)
		}
		if n := len(p.operands); n > 0 && p.operands[n-1].many && (o.many || n > 1 && p.operands[n-2].many) {
			return fmt.Errorf("synopsis: nothing but one last operand may follow dots")
		}
		p.operands = append(p.operands, o)
	}
	return nil
}

func (p *program) flag(words []string) error {
	var v valueType
	for len(words) > 0 && !strings.HasPrefix(words[len(words)-1], "-") {
		v.second = v.typ
		var err error
		if v.typ, v.limit, err = parseType(words[len(words)-1]); err != nil {
			return fmt.Errorf("flag: %w", err)
		}
		words = words[:len(words)-1]
	}
	for _, name := range words {
		own := v
		if base, typ, ok := strings.Cut(strings.TrimSuffix(name, "]"), "[="); ok {
			var err error
			if own.typ, own.limit, err = parseType(typ); err != nil {
				return fmt.Errorf("flag %s: %w", name, err)
			}
			own.optional, name = true, base
		}
		if err := p.addFlag(name, own); err != nil {
			return err
		}
	}
	return nil
}

// addFlag notes a flag by its name: a letter, or a whole word for all others.
func (p *program) addFlag(name string, v valueType) error {
	_, isLetter := p.letters[name[len(name)-1]]
	_, isLong := p.long[name]
	switch {
	case len(name) < 2 || name[0] != '-':
		return fmt.Errorf("%q is no flag", name)
	case isLong, isLetter && len(name) == 2:
		return fmt.Errorf("flag %s is there twice", name)
	case len(name) == 2 && name[0] == '-':
		p.letters[name[1]] = v
	default:
		p.long[name] = v
	}
	return nil
}

// marks notes flags that change what FILE operands are.
func (p *program) marks(kind map[string]bool, words []string) error {
	for _, name := range words {
		kind[name] = true
		if name == always {
			continue
		}
		if err := p.addFlag(name, valueType{}); err != nil {
			return err
		}
	}
	return nil
}

// always, in place of the flags of a tree line, means without any flag.
const always = "always"

// parseType reads a type, perhaps with the largest number or the words that it allows.
func parseType(text string) (typ *wordType, limit int, err error) {
	name, most, bounded := strings.Cut(text, "<=")
	if bounded {
		if limit, err = strconv.Atoi(most); err != nil {
			return nil, 0, fmt.Errorf("%q: want a number behind <=", text)
		}
	}
	if words, ok := strings.CutPrefix(name, "one("); ok && strings.HasSuffix(words, ")") {
		return oneOf(strings.Split(strings.TrimSuffix(words, ")"), "|")), 0, nil
	}
	if typ = wordTypes[name]; typ == nil {
		return nil, 0, fmt.Errorf("%q is no type", name)
	}
	return typ, limit, nil
}
