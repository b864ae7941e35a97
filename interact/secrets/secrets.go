// Package secrets finds likely secrets in JSON, such as cloud keys, or passwords next to their names, and replaces them
// with digests.
//
// The rules are those of gitleaks (https://github.com/gitleaks/gitleaks, MIT license): gitleaks.toml is a copy of
// config/gitleaks.toml in its version 8.30.1; replace it as a whole. gitleaks itself would add readers of a dozen kinds
// of archives. nod ignores what rules say about files and applies them to every text. Most texts contain none of the
// words that the rules ask for, so nod compiles no regular expression for them.
package secrets

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"
)

//go:embed gitleaks.toml
var gitleaks string

// detector returns the rules. It reads them when they are first needed.
var detector = sync.OnceValue(func() *rules {
	rules, err := parse(gitleaks)
	if err != nil { // the file is a part of the program, and a test reads it
		panic(err)
	}
	return rules
})

// Find returns likely secrets in a JSON text, and those of known that it contains, without escapes. It takes linear
// time.
func Find(text []byte, known ...string) []string {
	found := map[string]bool{}
	detector().find(string(text), known, func(secret string) { found[unescape(secret)] = true })
	if bytes.IndexByte(text, '\\') >= 0 {
		eachString(text, func(s string) {
			detector().find(s, known, func(secret string) { found[secret] = true })
		})
	}
	return slices.Collect(maps.Keys(found))
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var plain string
	if json.Unmarshal([]byte(`"`+s+`"`), &plain) != nil {
		return s
	}
	return plain
}

func eachString(text []byte, visit func(string)) {
	d := newDecoder(text)
	for {
		value, err := d.ReadToken()
		if err != nil { // the end, or what is no JSON
			return
		}
		if value.Kind() == '"' {
			visit(value.String())
		}
	}
}

func newDecoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// Redactor returns a replacer of secrets by marks.
func Redactor(secrets []string) *strings.Replacer {
	// The longest first: one may begin with another.
	longest := slices.Clone(secrets)
	slices.SortFunc(longest, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(longest))
	for _, secret := range longest {
		pairs = append(pairs, secret, mark(secret))
	}
	return strings.NewReplacer(pairs...)
}

// Redact replaces secrets in the strings of a JSON text, and fails for invalid JSON.
func Redact(text []byte, marks *strings.Replacer) ([]byte, error) {
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for d := newDecoder(text); ; {
		token, err := d.ReadToken()
		switch {
		case err == io.EOF && out.Len() > 0:
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
		case err != nil:
			return nil, fmt.Errorf("redact: %w", err)
		case token.Kind() == '"':
			token = jsontext.String(marks.Replace(token.String()))
		}
		if err := e.WriteToken(token); err != nil {
			return nil, fmt.Errorf("redact: %w", err)
		}
	}
}

// mark returns the replacement of a secret: the beginning of its SHA-256, by which a reader who has the secret can
// recognize it.
func mark(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return markStart + hex.EncodeToString(sum[:8])
}

const markStart = "sha256:"

// HasMark reports whether text may contain a mark.
func HasMark(text string) bool { return strings.Contains(text, markStart) }

type rules struct {
	allowed  allowlist
	keywords keywords
	rules    []func() *rule // read when they are first needed
}

type rule struct {
	form    *form
	group   int     // the group of the pattern that is the secret; 0: the first that matches something
	entropy float64 // bits for each character that a secret must have more than
	allowed []allowlist
}

// form is what a rule finds.
type form struct {
	pattern func() *regexp.Regexp
	// start is the pattern anchored at the beginning of a text, if matches begin with a keyword. It is tried only at
	// keywords.
	start     func() *regexp.Regexp
	isWord    bool // no letter is before the keyword
	isEndless bool // a match may be of any length
}

// allowlist says which findings of rules are not secrets.
type allowlist struct {
	target    string // what patterns are about: "match", "line" or the secret
	patterns  []func() *regexp.Regexp
	stopwords []string // parts of what is no secret, in small letters
}

// before is the beginning of many rules: it matches what may precede the name next to a secret. It makes matches longer
// but finds no others, at fifty times the cost; see [allowlist.about].
const before = `[\w.-]{0,50}?`

type file struct {
	Allowlist fileAllowlist `toml:"allowlist"`
	Rules     []fileRule    `toml:"rules"`
}

type fileRule struct {
	Path        string          `toml:"path"` // of the only files that it is about
	Regex       string          `toml:"regex"`
	SecretGroup int             `toml:"secretGroup"`
	Entropy     float64         `toml:"entropy"`
	Keywords    []string        `toml:"keywords"`
	Allowlists  []fileAllowlist `toml:"allowlists"`
}

type fileAllowlist struct {
	Condition   string   `toml:"condition"`
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	Stopwords   []string `toml:"stopwords"`
}

// parse reads only the keywords of the rules, because reading everything takes longer than searching most texts.
func parse(text string) (*rules, error) {
	const start = "\n[[rules]]\n"
	parts := strings.Split(text, start)
	var f file
	if err := toml.Unmarshal([]byte(parts[0]), &f); err != nil {
		return nil, fmt.Errorf("read gitleaks.toml: %w", err)
	}
	r := &rules{allowed: newAllowlist(f.Allowlist)}
	for _, part := range parts[1:] {
		if strings.Contains(part, "\npath = ") {
			continue
		}
		_, words, _ := strings.Cut(part, "\nkeywords = [")
		words, _, _ = strings.Cut(words, "]")
		quoted := strings.Split(words, `"`)
		if len(quoted) < 3 {
			return nil, fmt.Errorf("read gitleaks.toml: a rule has no keywords: %s", part)
		}
		for i := 1; i < len(quoted); i += 2 {
			r.keywords.add(quoted[i], len(r.rules))
		}
		r.rules = append(r.rules, sync.OnceValue(func() *rule { return newRule(start + part) }))
	}
	return r, nil
}

func newRule(text string) *rule {
	var f file
	if err := toml.Unmarshal([]byte(text), &f); err != nil { // a test reads them all
		panic(err)
	}
	in := f.Rules[0]
	out := &rule{form: newForm(in.Regex, in.Keywords), group: in.SecretGroup, entropy: in.Entropy}
	for _, a := range in.Allowlists {
		if a.Condition != "AND" { // else it holds for some files only
			out.allowed = append(out.allowed, newAllowlist(a))
		}
	}
	return out
}

func newForm(pattern string, keywords []string) *form {
	pattern = strings.ReplaceAll(pattern, before, "")
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil { // a test reads them all
		panic(err)
	}
	if slices.ContainsFunc(keywords, func(word string) bool { return !mayStart(parsed, word) }) {
		return &form{pattern: lazy(pattern)}
	}
	isWord := parsed.Op == syntax.OpConcat && parsed.Sub[0].Op == syntax.OpWordBoundary
	return &form{
		pattern: lazy(pattern), start: lazy("^(?:" + pattern + ")"), isWord: isWord, isEndless: isEndless(parsed),
	}
}

// isEndless reports whether a match of re may span any number of words.
func isEndless(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		if re.Max < 0 || re.Op != syntax.OpRepeat {
			return regexp.MustCompile(re.Sub[0].String()).MatchString(" ")
		}
	}
	return slices.ContainsFunc(re.Sub, isEndless)
}

func mayStart(re *syntax.Regexp, word string) bool {
	switch re.Op {
	case syntax.OpConcat:
		if re.Sub[0].Op == syntax.OpWordBoundary {
			return mayStart(re.Sub[1], word)
		}
		return mayStart(re.Sub[0], word)
	case syntax.OpCapture:
		return mayStart(re.Sub[0], word)
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, func(re *syntax.Regexp) bool { return mayStart(re, word) })
	case syntax.OpLiteral:
		text := strings.ToLower(string(re.Rune))
		return strings.HasPrefix(text, word) || strings.HasPrefix(word, text)
	case syntax.OpCharClass:
		class := regexp.MustCompile("^(?i:" + re.String() + ")")
		return class.MatchString(word)
	}
	return false
}

func newAllowlist(in fileAllowlist) allowlist {
	a := allowlist{target: in.RegexTarget, stopwords: in.Stopwords}
	for _, pattern := range in.Regexes {
		a.patterns = append(a.patterns, lazy(pattern))
	}
	return a
}

func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func (r *rules) find(text string, known []string, add func(string)) {
	for _, secret := range known {
		if secret != "" && strings.Contains(text, secret) {
			add(secret)
		}
	}
	for _, hit := range r.keywords.in(text) {
		rule := r.rules[hit.rule]()
		for _, at := range rule.form.matches(text, hit.at) {
			if secret := rule.secret(text, at); secret != "" && !r.allows(rule, text, at, secret) {
				add(secret)
			}
		}
	}
}

// matches returns where the pattern matches; at is where the keywords are.
func (f *form) matches(text string, at []int) (matches [][]int) {
	if f.start == nil || f.isEndless && len(at) > maxStarts {
		return f.pattern().FindAllStringSubmatchIndex(text, -1)
	}
	for _, start := range at {
		if f.isWord && start > 0 && isLetter(text[start-1]) {
			continue
		}
		match := f.start().FindStringSubmatchIndex(text[start:])
		for i := range match {
			if match[i] >= 0 {
				match[i] += start
			}
		}
		if match != nil {
			matches = append(matches, match)
		}
	}
	return matches
}

// maxStarts is at how many keywords an endless pattern is tried separately, since each try may read the whole text.
const maxStarts = 16

func (r *rule) secret(text string, at []int) string {
	group := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return text[at[2*i]:at[2*i+1]]
	}
	if r.group > 0 {
		return group(r.group)
	}
	for i := 1; i < len(at)/2; i++ {
		if s := group(i); s != "" {
			return s
		}
	}
	return strings.Trim(group(0), "\n")
}

func (r *rules) allows(found *rule, text string, at []int, secret string) bool {
	if found.entropy > 0 && entropy(secret) <= found.entropy || r.allowed.holds(text, at, secret) {
		return true
	}
	return slices.ContainsFunc(found.allowed, func(a allowlist) bool { return a.holds(text, at, secret) })
}

func (a allowlist) holds(text string, at []int, secret string) bool {
	about := a.about(text, at, secret)
	small := strings.ToLower(secret)
	return slices.ContainsFunc(a.patterns, func(p func() *regexp.Regexp) bool { return p().MatchString(about) }) ||
		slices.ContainsFunc(a.stopwords, func(word string) bool { return strings.Contains(small, word) })
}

func (a allowlist) about(text string, at []int, secret string) string {
	from, to := at[0], at[1]
	switch a.target {
	case "match":
		for from > 0 && at[0]-from < 50 && (isLetter(text[from-1]) || text[from-1] == '.' || text[from-1] == '-') {
			from--
		}
		return text[from:to]
	case "line":
		return line(text, from, to)
	}
	return secret
}

func isLetter(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

func line(text string, from, to int) string {
	from = strings.LastIndexByte(text[:from], '\n') + 1
	if n := strings.IndexByte(text[to:], '\n'); n >= 0 {
		return text[from : to+n]
	}
	return text[from:]
}

func entropy(s string) (bits float64) {
	counts := map[rune]int{}
	for _, c := range s {
		counts[c]++
	}
	for _, n := range counts {
		part := float64(n) / float64(len(s))
		bits -= part * math.Log2(part)
	}
	return bits
}
