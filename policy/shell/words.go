package shell

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"nod/policy/shell/language"
)

// word is one word of a command as a shell reads it.
type word struct {
	text  string // without its quotes; the pattern itself when glob
	known bool   // text is certain
	glob  bool   // an unquoted pattern, which becomes the names of the files it matches
	wild  bool   // it is one itself; else a variable in quotes holds it, and it becomes one name
	plain bool   // spelled without any quotes
	// hat says that a ^ or ~ is outside quotes, where zsh with extended patterns treats the word as a pattern.
	hat bool
	// splits says that the unknown part may become any number of words.
	splits bool
	stream bool // it is the output of a command, as a file: <(sort x)
	// below says where the names lie that a command inside it prints and that become its words.
	below []Access
	// sample is an example of the word, if everything that a command inside it prints is alike.
	sample string
	// found says that it stands for a name that a command finds; many, for any number of them; listed, that a name may be
	// any word at all.
	found, many, listed bool
	said                string // the here-document inside it, if it holds only that and its text
	subs                int    // how many commands run inside it
	spelled             bool   // each name starts with a path, although blanks may split it into several words

	home     bool   // it starts with the home folder
	mixed    bool   // a quoted part of it would be a pattern outside quotes
	escaped  bool   // so would a character after a backslash
	doubt    string // why shells may read the word in several ways; empty when they cannot
	unfit    string // why a command that only reads may not hold it, although every shell reads it alike
	isBraced bool   // it comes from expanded braces
	isStatus bool   // it is nothing but the exit status of a command
	isValue  bool   // it is nothing but a variable's value, in quotes
	varies   bool   // shells read it as different words, and it could be any word to one of them
}

func (w *word) stands() bool { return w.glob || w.found }

// fits reports whether the word may be the value of a flag: a single word, and a file name only if the type takes one.
func (w *word) fits(typ *wordType) bool {
	return !w.stands() || !w.glob && !w.many && !w.listed && (typ.names || typ.free)
}

func (w *word) problem() string {
	return cmp.Or(w.doubt, w.unfit)
}

// readWord evaluates a word. Only literal text, the variables of loops and a few more are known: nod never
// guesses a value.
func (w *walk) readWord(from *syntax.Word) word {
	out := word{known: true, plain: len(from.Parts) == 1}
	var text strings.Builder
	for i, part := range from.Parts {
		switch part := part.(type) {
		case *syntax.ParamExp:
			out.plain = false
			text.WriteString(w.variable(&out, part, false, i == 0))
		case *syntax.Lit:
			out.dollars(from.Parts[i:])
			text.WriteString(out.unquoted(part.Value, i == 0, i == len(from.Parts)-1))
		case *syntax.SglQuoted:
			out.plain = false
			s := out.single(part, len(from.Parts) == 1)
			out.mixed = out.mixed || strings.ContainsAny(s, `*?[]\^`)
			text.WriteString(s)
		case *syntax.DblQuoted:
			out.plain = false
			text.WriteString(w.double(&out, part, i == 0, len(from.Parts) == 1))
		case *syntax.ExtGlob:
			out.expand(part, false)
			text.WriteByte('*') // what it may be, for rules that deny
		default:
			out.expand(part, false)
		}
	}
	out.text = text.String()
	out.wholeWord(from)
	return out
}

func (w *word) distrust(problem string) {
	w.doubt = cmp.Or(w.doubt, problem)
}

// refuse notes that a command that only reads may not hold the word.
func (w *word) refuse(problem string) {
	w.unfit = cmp.Or(w.unfit, problem)
}

func (w *word) unknown(problem string) {
	w.known = false
	w.distrust(problem)
}

// expand notes a part that a shell replaces. The commands in it are judged separately.
func (w *word) expand(part syntax.WordPart, quoted bool) {
	if sub, ok := part.(*syntax.ProcSubst); ok && sub.Op == syntax.CmdIn && !quoted {
		w.known, w.stream = false, true
		return
	}
	sub, ok := part.(*syntax.CmdSubst)
	if !ok {
		w.unknown(describe(part))
		return
	}
	w.known, w.said, w.splits = false, "", w.splits || !quoted
	if w.subs++; w.subs == 1 && quoted {
		w.said = said(sub)
	}
}

// said returns what "$(cat <<'EOF' ...)" prints: the here-document verbatim. It returns "" for any other command.
func said(sub *syntax.CmdSubst) string {
	if len(sub.Stmts) != 1 || sub.TempFile || sub.ReplyVar {
		return ""
	}
	s := sub.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	isPlain := ok && !s.Negated && !s.Background && !s.Coprocess && !s.Disown && len(s.Redirs) == 1
	if !isPlain || len(c.Assigns) > 0 || len(c.Args) != 1 || c.Args[0].Lit() != "cat" {
		return ""
	}
	r := s.Redirs[0]
	if r.Op != syntax.Hdoc || r.N != nil || r.Hdoc == nil || len(r.Hdoc.Parts) != 1 || !isVerbatim(r) {
		return ""
	}
	return strings.TrimRight(r.Hdoc.Lit(), "\n")
}

// variable evaluates $NAME. Most values are not known, and the environment may hold secrets.
func (w *walk) variable(out *word, p *syntax.ParamExp, quoted, first bool) string {
	var name string
	if p.Param != nil {
		name = p.Param.Value
	}
	simple := p.Param != nil && p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.NestedParam == nil &&
		len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
	value, bound := w.vars[name]
	shown := ""
	if w.watch != nil && simple { // the word may be a script, and the name that of a secret
		shown = "$" + name
	}
	switch {
	case !w.endsAlike(p):
		out.vary(w.source[p.Pos().Offset() : p.End().Offset()+1])
		return ""
	case !simple, p.Index != nil && !isStatusIndex(name, p.Index):
	case bound && !w.spend(len(value.text)):
		out.unknown("It makes text longer than nod can follow.")
		return ""
	case bound && (quoted || value.plain && !value.glob):
		out.glob, out.known = out.glob || value.glob, out.known && value.known
		return value.text
	case bound && !value.known:
		out.known, out.splits = false, true
		return ""
	case bound:
		out.distrust("It uses $" + name + " outside quotes, where some shells cut it into words.")
		return value.text
	case first && name == "HOME" && p.Index == nil:
		if !quoted {
			out.refuse(usesValue)
		}
		out.home = true
		return "~"
	case statusNames.Has(name): // digits
		out.known, out.isStatus = false, true
		return ""
	case quoted && p.Index == nil && programs().public.Has(name):
		out.known = false
		return shown
	default:
		out.isValue = quoted && p.Index == nil
	}
	out.unknown(usesValue)
	switch { // what it may be, for rules that deny
	case name == "IFS":
		return " "
	case p.Exp != nil && p.Exp.Word != nil:
		return w.readWord(p.Exp.Word).text
	}
	return shown
}

const usesValue = "It uses the value of a variable, which is not known before it runs."

func isStatusIndex(name string, index syntax.ArithmExpr) bool {
	literal, ok := index.(*syntax.Word)
	return ok && digits(literal.Lit()) && strings.EqualFold(name, "pipestatus")
}

const statusNames language.Words = "? # PIPESTATUS pipestatus"

// unquoted evaluates text outside quotes. It accepts only characters that are ordinary in every shell, the patterns * ?
// [ ], and marks after a backslash.
func (w *word) unquoted(s string, first, last bool) string {
	var text strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == '\\' {
			w.plain = false
			if i+1 == len(s) || !strings.ContainsRune("()!;{}*?[]", rune(s[i+1])) {
				w.distrust("It hides a character behind a backslash.")
			} else if strings.ContainsRune("*?[]", rune(s[i+1])) {
				w.escaped = true
			}
			i++
			if i < len(s) {
				text.WriteByte(s[i])
				i++
			}
			continue
		}
		w.bare(s, i, r, first, last)
		text.WriteString(s[i : i+size])
		i += size
	}
	return text.String()
}

func (w *word) bare(s string, i int, r rune, first, last bool) {
	switch {
	case r >= utf8.RuneSelf:
		// 0x85 and 0xA0 are blanks to shells in some single-byte character sets, so unquoted they could
		// split the word. Anything else was judged as raw bytes.
		if enc := string(r); strings.IndexByte(enc, 0x85) >= 0 || strings.IndexByte(enc, 0xa0) >= 0 {
			w.distrust("It contains " + quote(string(r)) + " outside quotes, part of which some shells read as a blank.")
		}
		if !unicode.IsLetter(r) {
			w.refuse("It contains " + quote(string(r)) + " outside quotes.")
		}
	case first && last && testWords.Has(s): // of test and find
	case strings.ContainsRune("*?[]", r):
		w.glob, w.wild = true, true
	case r == '~':
		w.tilde(s, i, first, last)
	case r == '^' && (i > 0 || !first):
		w.hat = true // HEAD^ is fine for git
	case r == '{' || r == '}':
		w.hat = w.hat || strings.Contains(s, "@{") // stash@{0} is fine for git
		if strings.ContainsAny(oneInBraces().ReplaceAllString(s, ""), "{}") {
			w.unknown("It contains braces outside quotes, which shells expand.")
		}
	case r == '=' && i == 0 && first:
		w.distrust("It starts a word with =, which zsh expands.")
	case !strings.ContainsRune(ordinary, r):
		w.distrust("It contains " + quote(string(r)) + " outside quotes.")
	}
}

// oneInBraces matches braces as find and xargs have them, and as git has them around a single character, of which zsh
// can make no more than one word.
var oneInBraces = language.Compiled(`\{\}|@\{[0-9u]\}`)

// ordinary characters mean nothing but themselves to bash, zsh and dash.
const ordinary = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:@%+="

const testWords language.Words = "[ ] ! = !="

// tilde judges a ~ at index i of s. The home folder (~ and ~/...) passes; a ~ that cannot mean a home folder (HEAD~2)
// is at most a pattern.
func (w *word) tilde(s string, i int, first, last bool) {
	switch {
	case i > 0 && s[i-1] != '=' && s[i-1] != ':':
		w.hat = true
	case i > 0 || !first:
		w.unknown("It contains a ~ that some shells expand and others do not.")
	case strings.HasPrefix(s, "~/"), s == "~" && last:
		w.home = true
	default:
		w.unknown("It names another user's home folder, or one that only the shell knows.")
	}
}

func (w *word) single(q *syntax.SglQuoted, alone bool) string {
	if q.Dollar {
		w.unknown("It spells text in $'...' quotes.")
		text, _ := expand.Literal(nil, &syntax.Word{Parts: []syntax.WordPart{q}})
		return text
	}
	w.quoted(q.Value, alone)
	return q.Value
}

func (w *walk) double(out *word, q *syntax.DblQuoted, first, alone bool) string {
	if q.Dollar {
		out.unknown("It spells text in $\"...\" quotes, which are translated.")
	}
	var text strings.Builder
	for i, part := range q.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsRune(part.Value, '!') {
				out.refuse("It contains ! in double quotes, which an interactive shell replaces by an earlier command.")
			}
			out.mixed = out.mixed || strings.ContainsAny(part.Value, `*?[]\^`)
			out.dollars(q.Parts[i:])
			text.WriteString(escaped().ReplaceAllString(part.Value, "$1"))
		case *syntax.ParamExp:
			text.WriteString(w.variable(out, part, true, first && i == 0))
		default:
			out.expand(part, true)
		}
	}
	out.quoted(text.String(), alone && len(q.Parts) == 0)
	return text.String()
}

const lineEnd = "It contains a line end inside quotes."

func (w *word) quoted(s string, alone bool) {
	if s == "" && !alone && w.known {
		w.distrust("It contains empty quotes inside a word.")
	}
	if strings.ContainsRune(s, '\n') {
		w.refuse(lineEnd)
	}
}

// escaped matches a backslash inside double quotes with a character that it quotes.
var escaped = language.Compiled("\\\\([$`\"\\\\])")

func (w *word) wholeWord(from *syntax.Word) {
	w.isStatus = w.isStatus && isSingle(from.Parts)
	w.isValue = w.isValue && isSingle(from.Parts) && w.doubt == usesValue
	switch {
	case w.stream && (w.text != "" || len(from.Parts) != 1):
		w.distrust("It joins the output of a command with other text.")
	case w.home && w.text != "~" && !strings.HasPrefix(w.text, "~/"):
		w.unknown("It joins the home folder with other text.")
	case !w.home && (w.text == "~" || strings.HasPrefix(w.text, "~/")):
		w.distrust("It names a file called ~ in quotes, which is easily taken for the home folder.")
	case w.glob && (w.mixed || w.escaped):
		w.distrust("It mixes a pattern with text in quotes that looks like one.")
	case w.glob && !evenSets().MatchString(w.text):
		w.distrust("It contains a pattern with a [ or ] of its own, which zsh refuses.")
	case w.glob && manyStars(w.text) != "":
		w.distrust(manyStars(w.text))
	case w.hat && w.glob:
		w.distrust("It mixes a pattern with ~ or ^, which zsh reads differently.")
	case w.hat && strings.HasPrefix(w.text, "-"):
		w.distrust("It contains ~ or ^ in a flag, which zsh may read as a pattern.")
	}
}

// isName reports whether a word names one file in every shell.
func (w word) isName() bool { return w.known && !w.glob && !w.hat && w.text != "" }

// isHeld reports whether a word is one name out of those that a pattern matches: "$f" in for f in *.go.
func (w word) isHeld() bool { return w.known && w.glob && !w.wild && !w.hat }

// isSingle reports whether a word has one part, perhaps in quotes.
func isSingle(parts []syntax.WordPart) bool {
	if q, ok := parts[0].(*syntax.DblQuoted); ok && len(parts) == 1 {
		parts = q.Parts
	}
	return len(parts) == 1
}

// evenSets matches patterns in which every [ opens a plain set such as [a-z].
var evenSets = language.Compiled(`^([^\[\]]|\[[^\[\]/]+\])*$`)

// plainRevision matches a git revision with ~, ^ or @{ that names no file of note, however a shell reads it; plainBlob,
// a file in one.
var (
	plainRevision = language.Compiled(`^-{0,2}` + aRevision + `(\.{2,3}(` + aRevision + `)?)?$`)
	plainBlob     = language.Compiled(`^` + aRevision + `:[A-Za-z0-9_./-]+$`)
)

const aRevision = `((HEAD|ORIG_HEAD|main|master|develop|origin/main|origin/master|stash|[0-9a-f]{7,40})(@\{[0-9u]\})?` +
	`|@(\{[0-9u]\})?)([~^][0-9]*)*`

func quote(s string) string { return language.Quote(s) }
