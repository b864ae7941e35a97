package shell

import "strings"

// tool says how a program may be called and still only read. The zero value of every field is the strict
// one: what is not listed is not accepted.
type tool struct {
	short  string // flags of one letter without a value; bundles are read letter by letter
	value  string // flags of one letter with a value: the rest of the word, or the next word
	long   string // long flags, exact: name, name= (with a value) or name[=] (a value only after =)
	exact  string // whole words that are accepted as they are
	number bool   // -5 is a flag
	raw    bool   // every word is an operand
	single bool   // short flags stand alone: the program does not read bundles
	apart  bool   // a short flag's value is always the next word: the program reads the rest as more flags

	operands  operands
	ordered   bool                 // flags come before operands, for BSD reads later ones as operands
	glob      globs                // where unquoted patterns may stand
	recursive string               // flags of one letter that make it read whole folders, or always
	here      bool                 // without a path it reads the current folder
	judge     func(c *call) string // further conditions; returns a problem or ""

	letters map[byte]bool // letter -> takes a value
	names   map[string]valueRule
	words   map[string]bool
}

// operands says what the operands of a tool are.
type operands struct {
	max  int    // the most that are accepted
	text int    // how many of the first are text, not paths
	flag string // with this flag or --regexp, none is text
}

// always, as tool.recursive, means without any flag.
const always = "*"

const many = 1 << 30

var (
	none             = operands{}
	anyWords         = operands{max: many, text: many}
	files            = operands{max: many}
	oneFile          = operands{max: 1}
	twoFiles         = operands{max: 2}
	textThenFiles    = operands{max: many, text: 1}
	patternThenFiles = operands{max: many, text: 1, flag: "e"}
)

// globs says where unquoted patterns may stand. A pattern may become any file's name, "-delete" too.
type globs int

const (
	noGlobs    globs = iota
	namedGlobs       // only behind an ordinary character, so that no match can be a flag
	anyGlobs         // anywhere: every flag that the program has is harmless
)

// valueRule says whether a long flag has a value.
type valueRule int

const (
	withoutValue valueRule = iota
	needsValue
	mayHaveValue
)

// call is one call of a tool, its flags told from its operands.
type call struct {
	tool     *tool
	name     string
	flags    []flag
	operands []word
	dashes   int      // the number of operands before --, or -1 without one
	paths    []string // what it reads; folders for all that is in them
	deep     bool     // it reads whole folders
}

// flag is a flag as the tool reads it, with its value.
type flag struct {
	name  string // "n" or "lines"
	value string
}

func (c *call) has(names ...string) bool {
	for _, f := range c.flags {
		for _, name := range names {
			if f.name == name {
				return true
			}
		}
	}
	return false
}

// compile prepares a table for look-ups. A key may hold several names that share one tool, divided by |.
func compile(table map[string]tool) map[string]*tool {
	out := map[string]*tool{}
	for names, t := range table {
		t.compile()
		for name := range strings.SplitSeq(names, "|") {
			out[name] = &t
		}
	}
	return out
}

func (t *tool) compile() {
	t.letters, t.names, t.words = map[byte]bool{}, map[string]valueRule{}, map[string]bool{}
	for i := range len(t.short) {
		t.letters[t.short[i]] = false
	}
	for i := range len(t.value) {
		t.letters[t.value[i]] = true
	}
	for name := range strings.FieldsSeq(t.long) {
		if short, ok := strings.CutSuffix(name, "[=]"); ok {
			t.names[short] = mayHaveValue
		} else if short, ok := strings.CutSuffix(name, "="); ok {
			t.names[short] = needsValue
		} else {
			t.names[name] = withoutValue
		}
	}
	for w := range strings.FieldsSeq(t.exact) {
		t.words[w] = true
	}
}

// read tells the flags of args from the operands and judges both. It returns what is wrong, or "".
func (t *tool) read(name string, args []word) (*call, string) {
	c := &call{tool: t, name: name, dashes: -1}
	for i := 0; i < len(args); {
		taken, problem := c.word(args, i)
		if problem != "" {
			return c, problem
		}
		i += taken
	}
	if problem := c.judgeOperands(); problem != "" {
		return c, problem
	}
	if t.judge != nil {
		return c, t.judge(c)
	}
	return c, ""
}

// word reads the word at place i and returns how many words it took.
func (c *call) word(args []word, i int) (int, string) {
	w, t := args[i], c.tool
	switch {
	case w.glob && t.glob == noGlobs:
		return 0, c.name + " has flags that write or run programs, and a file's name that " + quote(w.text) + " matches could be one."
	case w.glob && t.glob == namedGlobs && strings.ContainsAny(w.text[:1], "-*?["):
		return 0, "A file's name that " + quote(w.text) + " matches could be a flag of " + c.name + "."
	case t.raw, c.dashes >= 0, w.text == "-", !strings.HasPrefix(w.text, "-"):
		c.operands = append(c.operands, w)
		return 1, ""
	case t.ordered && len(c.operands) > 0:
		return 0, "It gives " + c.name + " a flag behind an operand, which some systems read as a file."
	case w.text == "--":
		c.dashes = len(c.operands)
		return 1, ""
	case t.words[w.text]:
		c.flags = append(c.flags, flag{name: w.text})
		return 1, ""
	case strings.HasPrefix(w.text, "--"):
		return c.long(args, i)
	case t.number && digits(w.text[1:]):
		c.flags = append(c.flags, flag{name: "number", value: w.text[1:]})
		return 1, ""
	}
	return c.short(args, i)
}

func (c *call) long(args []word, i int) (int, string) {
	name, value, glued := strings.Cut(args[i].text[2:], "=")
	rule, ok := c.tool.names[name]
	switch {
	case !ok, glued && rule == withoutValue:
		return 0, c.notListed(args[i].text)
	case glued || rule != needsValue:
		c.flags = append(c.flags, flag{name, value})
		return 1, ""
	}
	return c.nextValue(name, args, i)
}

func (c *call) short(args []word, i int) (int, string) {
	text, t := args[i].text, c.tool
	for j := 1; j < len(text); j++ {
		takesValue, ok := t.letters[text[j]]
		glued := j+1 < len(text)
		switch {
		case !ok, glued && t.single && !takesValue, glued && t.apart && takesValue:
			return 0, c.notListed(text)
		case !takesValue:
			c.flags = append(c.flags, flag{name: text[j : j+1]})
		case glued:
			c.flags = append(c.flags, flag{text[j : j+1], text[j+1:]})
			return 1, ""
		default:
			return c.nextValue(text[j:j+1], args, i)
		}
	}
	return 1, ""
}

// nextValue takes the next word as a flag's value. A value that looks like a flag is one for a version of
// the program that knows the flag differently; only negative numbers pass.
func (c *call) nextValue(name string, args []word, i int) (int, string) {
	if i+1 == len(args) {
		return 0, "The flag " + quote(args[i].text) + " of " + c.name + " lacks its value."
	}
	value := args[i+1]
	if rest, dash := strings.CutPrefix(value.text, "-"); dash && !digits(rest) || value.glob {
		return 0, c.notListed(args[i].text + " " + value.text)
	}
	c.flags = append(c.flags, flag{name, value.text})
	return 2, ""
}

func (c *call) notListed(text string) string {
	return "nod does not know " + c.name + " with " + quote(text) + " to be harmless."
}

// judgeOperands counts the operands and takes the paths among them.
func (c *call) judgeOperands() string {
	rule := c.tool.operands
	if len(c.operands) > rule.max {
		return "It gives " + c.name + " more operands than nod knows to be harmless."
	}
	c.deep = c.tool.recursive == always || c.tool.recursive != "" && c.has("recursive", "dereference-recursive")
	for i := range len(c.tool.recursive) {
		c.deep = c.deep || c.has(c.tool.recursive[i:i+1])
	}
	text := rule.text
	if rule.flag != "" && c.has(rule.flag, "regexp") {
		text = 0
	}
	c.takePaths(text)
	return ""
}

// takePaths takes the operands behind the first text ones for paths, and every pattern.
func (c *call) takePaths(text int) {
	c.paths = nil
	for i, w := range c.operands {
		if (i >= text || w.glob) && w.text != "-" && w.text != "" {
			c.paths = append(c.paths, w.text)
		}
	}
	if (c.tool.here || c.deep) && len(c.paths) == 0 {
		c.paths = append(c.paths, ".")
	}
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
