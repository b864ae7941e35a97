package language

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// JQ judges a jq filter. It may use the variables in vars, spelled without $. JQ refuses the environment, modules,
// definitions, variables that the filter sets, reduce, assignments, recursion other than .., functions that nod does
// not know, and filters whose output or work may grow out of proportion to the input.
//
// The syntax is that of the jq manual, versions 1.5 to 1.8.
func JQ(filter string, vars []string) error {
	if err := unreadable(filter); err != nil {
		return err
	}
	if strings.Contains(filter, "#") && (strings.Contains(filter, "\r") || strings.Contains(filter, "\\\n")) {
		return refusal("Versions of jq disagree on where a comment in the filter ends.")
	}
	query, err := gojq.Parse(filter)
	if err != nil {
		return refusal("nod can't read the jq filter.")
	}
	r := jqReader{vars: map[string]bool{}}
	for _, v := range vars {
		r.vars["$"+v] = isFree(v)
	}
	r.note(r.query(query))
	if r.squares > 1 || r.squares == 1 && r.bits > maxJQBitsOfSquare {
		r.refuse(errJQGrows)
	}
	return r.err
}

const errJQGrows = refusal("The jq filter may make its input much longer.")

// maxJQBits bounds how many times longer than its input, as a power of two, anything in a filter may get. In addition,
// one thing may be done with all of the input for each piece of it, which makes a square.
const (
	maxJQBits         = 13
	maxJQBitsOfSquare = 10
)

// flow bounds the output of a filter for one input.
type flow struct {
	bits  float64 // all outputs together may be 2^bits times as long as the input
	many  bool    // there may be more than one output
	whole bool    // their number or length depends on the input
	bound bool    // or on a variable
}

var (
	identity = flow{whole: true}
	elements = flow{many: true, whole: true}
	descent  = flow{bits: 5, many: true, whole: true} // all values at any depth, for depths up to 32
	flag     = flow{bits: 3}                          // true, a kind or a small number
	number   = flow{bits: 5}
)

func textOf(length int) flow { return flow{bits: math.Log2(float64(length + 1))} }

func sum(a, b float64) float64 { return max(a, b) + math.Log2(1+math.Exp2(-math.Abs(a-b))) }

func (f flow) longer(bits float64) flow {
	f.bits += bits
	return f
}

func (f flow) collected() flow {
	f.many = false
	return f
}

func (f flow) isSized() bool { return f.whole || f.bound }

type jqReader struct {
	vars    map[string]bool
	bits    float64 // the most of any flow
	squares int     // what is done with all of the input for each piece of it
	err     error
}

// isFree reports whether jq itself defines no variable of that name.
func isFree(name string) bool { return name != "ENV" && !strings.HasPrefix(name, "__") }

func (r *jqReader) refuse(err error) flow {
	r.err = cmp.Or(r.err, err)
	return identity
}

func (r *jqReader) unknown(what string) flow {
	return r.refuse(refusal("nod doesn't know that jq's " + what + " only looks at the input."))
}

// note checks a filter's output against the bounds.
func (r *jqReader) note(f flow) {
	if r.bits = max(r.bits, f.bits); r.bits > maxJQBits {
		r.refuse(errJQGrows)
	}
}

// then returns the flow of f | g.
func (r *jqReader) then(f, g flow) flow {
	r.note(f)
	if !g.isSized() && !f.many {
		return g
	}
	out := flow{f.bits + g.bits, f.many || g.many, f.whole && (g.whole || f.many), g.bound}
	out.bound = out.bound || f.bound && (g.whole || f.many)
	if f.many && f.isSized() && g.bound {
		r.squares++
	}
	return out
}

// and returns the flow of f, g: the outputs of both.
func (f flow) and(g flow) flow {
	f = f.or(flow{g.bits, true, g.whole, g.bound})
	f.bits = sum(f.bits, g.bits)
	return f
}

// or returns the flow of the outputs of either.
func (f flow) or(g flow) flow {
	return flow{max(f.bits, g.bits), f.many || g.many, f.whole || g.whole, f.bound || g.bound}
}

// with combines every output of f with every output of g.
func (r *jqReader) with(f, g flow) flow {
	out := f.or(g)
	switch {
	case f.many && g.many:
		r.refuse(errJQGrows)
	case f.many || g.many:
		out.bits = f.bits + g.bits
		if f.isSized() && g.isSized() {
			r.squares++
		}
	default:
		out.bits = sum(f.bits, g.bits)
	}
	r.note(out)
	return out
}

// asked returns the flow of f for each output of g, whose own text is not output.
func (r *jqReader) asked(f, g flow) flow {
	r.note(g)
	if g.many {
		if f.isSized() && g.isSized() {
			r.squares++
		}
		f = flow{f.bits + g.bits, true, f.whole || g.whole, f.bound || g.bound}
	}
	return f
}

func (r *jqReader) query(q *gojq.Query) flow {
	switch {
	case r.err != nil, q == nil:
		return identity
	case q.Meta != nil || len(q.Imports) > 0 || len(q.FuncDefs) > 0:
		return r.refuse(refusal("The jq filter loads a module or defines a function."))
	case len(q.Patterns) > 0:
		return r.refuse(refusal("The jq filter binds a variable in a way that nod can't follow."))
	case q.Term != nil:
		return r.term(q.Term)
	case q.Left == nil || q.Right == nil:
		return identity // nothing at all
	case q.Op == gojq.OpMul:
		return r.multiply(q)
	}
	left, right := r.query(q.Left), r.query(q.Right)
	switch q.Op {
	case gojq.OpPipe:
		return r.then(left, right)
	case gojq.OpComma:
		return left.and(right)
	case gojq.OpAdd, gojq.OpSub, gojq.OpMod:
		return r.with(left, right)
	case gojq.OpDiv:
		return r.with(left, right).longer(2) // divides a string at each comma
	case gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe, gojq.OpAnd, gojq.OpOr:
		both := r.with(left, right)
		both.bits = 0
		return r.asked(flag, both)
	case gojq.OpAlt:
		return left.or(right)
	}
	return r.refuse(refusal("The jq filter assigns to a path, which may make a very long array."))
}

// multiply judges a product. A string times a number is repeated.
func (r *jqReader) multiply(q *gojq.Query) flow {
	both := r.with(r.query(q.Left), r.query(q.Right))
	for _, side := range []*gojq.Query{q.Left, q.Right} {
		if n, ok := literalNumber(side); ok && math.Abs(n) <= maxWidth {
			return both.longer(math.Log2(max(math.Abs(n), 1)))
		}
	}
	return r.refuse(refusal("The jq filter multiplies, which may repeat a string without end."))
}

func literalNumber(q *gojq.Query) (float64, bool) {
	n, err := strconv.ParseFloat(q.String(), 64)
	return n, err == nil && decimal().MatchString(q.String())
}

func literalString(q *gojq.Query) (string, bool) {
	if q.Term == nil || q.Term.Type != gojq.TermTypeString || len(q.Term.SuffixList) > 0 || q.Term.Str.Queries != nil {
		return "", false
	}
	return q.Term.Str.Str, true
}

// term judges an operand and the paths after it.
func (r *jqReader) term(t *gojq.Term) flow {
	out := r.bare(t)
	for _, s := range t.SuffixList {
		switch {
		case s.Iter:
			out = r.then(out, elements)
		case s.Index != nil:
			out = r.index(out, s.Index)
		}
	}
	return out
}

// index judges f[key] or f[from:to]. The keys are computed from the filter's own input, once for each output of f.
func (r *jqReader) index(f flow, i *gojq.Index) flow {
	for _, q := range []*gojq.Query{i.Start, i.End} {
		if q != nil {
			f = r.asked(f, r.query(q))
		}
	}
	if i.Str != nil {
		f = r.asked(f, r.text(i.Str, 0))
	}
	return f
}

func (r *jqReader) bare(t *gojq.Term) flow {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return identity
	case gojq.TermTypeRecurse:
		return descent
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse:
		return flag
	case gojq.TermTypeNumber:
		return textOf(len(t.Number))
	case gojq.TermTypeIndex:
		return r.index(identity, t.Index)
	case gojq.TermTypeFunc:
		return r.call(t.Func)
	case gojq.TermTypeObject:
		return r.object(t.Object)
	case gojq.TermTypeArray:
		if t.Array.Query == nil {
			return flag
		}
		return r.query(t.Array.Query).collected()
	case gojq.TermTypeUnary:
		return r.term(t.Unary.Term)
	case gojq.TermTypeFormat:
		return r.format(t)
	case gojq.TermTypeString:
		return r.text(t.Str, 0)
	case gojq.TermTypeIf:
		return r.branches(t.If)
	case gojq.TermTypeTry:
		return r.query(t.Try.Body).and(r.query(t.Try.Catch))
	case gojq.TermTypeQuery:
		return r.query(t.Query)
	}
	return r.unknown("a form")
}

func (r *jqReader) branches(i *gojq.If) flow {
	tests, out := []flow{r.query(i.Cond)}, r.query(i.Then)
	for _, e := range i.Elif {
		tests, out = append(tests, r.query(e.Cond)), out.or(r.query(e.Then))
	}
	out = out.or(r.query(i.Else))
	for _, test := range tests {
		out = r.asked(out, test)
	}
	return out
}

func (r *jqReader) object(o *gojq.Object) flow {
	out := flag
	for _, kv := range o.KeyVals {
		key := textOf(len(kv.Key))
		switch {
		case kv.KeyString != nil:
			key = r.text(kv.KeyString, 0)
		case kv.KeyQuery != nil:
			key = r.query(kv.KeyQuery)
		}
		value := identity
		switch {
		case kv.Val != nil:
			value = r.query(kv.Val)
		case strings.HasPrefix(kv.Key, "$"):
			value = r.plain(kv.Key)
		}
		out = r.with(r.with(out, key), value)
	}
	return out
}

func (r *jqReader) text(s *gojq.String, bits float64) flow {
	out := textOf(len(s.Str))
	for _, q := range s.Queries {
		if text, ok := literalString(q); ok {
			out = r.with(out, textOf(len(text)))
		} else {
			out = r.with(out, r.query(q).longer(max(bits, 1))) // quotes in arrays become \"
		}
	}
	return out
}

// jqFormats say how many bits longer a format makes a string.
var jqFormats = map[string]float64{"@text": 1, "@json": 1, "@csv": 1, "@tsv": 1, "@html": 3, "@uri": 2, "@sh": 2,
	"@base64": 1, "@base64d": 0, "@base32": 1, "@base32d": 0}

func (r *jqReader) format(t *gojq.Term) flow {
	bits, ok := jqFormats[t.Format]
	switch {
	case !ok:
		return r.unknown(t.Format)
	case t.Str != nil:
		return r.text(t.Str, bits)
	}
	return identity.longer(bits)
}

// jqPlain are functions without operands. The output of those at index n may be 2^n times as long as the input.
var jqPlain = []Words{
	0: "not keys keys_unsorted values arrays objects iterables booleans numbers nulls strings scalars add any " +
		"all flatten sort min max unique reverse first last from_entries ascii_downcase ascii_upcase fromjson " +
		"ltrim rtrim trim toarray implode debug stderr input finites normals",
	1: "tojson tostring",
	3: "explode",
	4: "to_entries",
}

var jqShort = Words("empty error length utf8bytelength type floor sqrt abs ceil round fabs exp log " +
	"log2 log10 exp10 exp2 infinite nan isnan isinfinite isnormal isvalid todate fromdate todateiso8601 " +
	"fromdateiso8601 date mktime gmtime localtime now halt input_line_number tonumber")

// jqTaking are functions whose operands are filters of the same input that say what to look for.
var jqTaking = Words("has/1 in/1 inside/1 contains/1 startswith/1 endswith/1 ltrimstr/1 rtrimstr/1 trimstr/1 " +
	"getpath/1 nth/1 flatten/1 error/1 IN/1 IN/2 pow/2 bsearch/1 debug/1 select/1")

// jqFirst are functions that return one of the outputs of their last operand, or test them.
var jqFirst = Words("first/1 last/1 nth/2 isempty/1 path/1 del/1 pick/1 add/1")

var jqOf = Words("sort_by/1 group_by/1 unique_by/1 min_by/1 max_by/1 any/1 all/1 INDEX/1")

func (r *jqReader) call(f *gojq.Func) flow {
	if len(f.Args) == 0 {
		return r.plain(f.Name)
	}
	if pattern, ok := jqPatterns[f.Name]; ok && len(f.Args) <= pattern.most && len(f.Args) >= pattern.least {
		return r.matching(pattern, f.Args)
	}
	switch name := f.Name + "/" + strconv.Itoa(len(f.Args)); {
	case jqTaking.Has(name):
		out := identity
		for _, a := range f.Args {
			out = r.asked(out, r.query(a))
		}
		return out
	case jqFirst.Has(name):
		out := identity
		for _, a := range f.Args {
			out = out.and(r.query(a))
		}
		return out.collected()
	case jqOf.Has(name):
		r.note(r.then(elements, r.query(f.Args[0])))
		return identity.longer(2)
	case name == "map/1", name == "map_values/1", name == "with_entries/1":
		return r.then(elements, r.query(f.Args[0])).collected()
	case name == "any/2", name == "all/2":
		r.note(r.then(r.query(f.Args[0]), r.query(f.Args[1])))
		return flag
	case name == "limit/2", name == "skip/2":
		return r.asked(r.query(f.Args[1]), r.query(f.Args[0]))
	case name == "split/1":
		return r.asked(identity.longer(3), r.query(f.Args[0]))
	case name == "join/1":
		return r.join(f.Args[0])
	}
	return r.unknown(Quote(f.Name))
}

func (r *jqReader) plain(name string) flow {
	switch bits := slices.IndexFunc(jqPlain, func(list Words) bool { return list.Has(name) }); {
	case r.vars[name]:
		return flow{whole: true, bound: true} // may be as long as the input
	case jqShort.Has(name):
		return number
	case bits >= 0:
		return identity.longer(float64(bits))
	case name == "inputs":
		return elements
	case name == "recurse", name == "paths", name == "leaf_paths", name == "tostream":
		return descent
	}
	return r.unknown(Quote(name))
}

func (r *jqReader) join(arg *gojq.Query) flow {
	if s, ok := literalString(arg); ok {
		return identity.longer(textOf(len(s)).bits)
	}
	r.squares++ // as long as the input, between all elements of it
	return r.asked(identity, r.query(arg))
}

// jqPattern is a function with a regular expression and, as its last operand, flags.
type jqPattern struct {
	least, most int     // operands
	bits        float64 // how much longer than a match its result is
	every       bool    // it finds all matches, without a flag for it
	replaces    bool    // the second operand makes the replacement
}

var jqPatterns = map[string]jqPattern{
	"test": {least: 1, most: 2}, "match": {least: 1, most: 2, bits: 7},
	"capture": {least: 1, most: 2, bits: 7}, "scan": {least: 1, most: 2, bits: 7, every: true},
	"split": {least: 2, most: 2, bits: 3}, "splits": {least: 1, most: 2, bits: 3, every: true},
	"sub": {least: 2, most: 3, replaces: true}, "gsub": {least: 2, most: 3, replaces: true, every: true},
}

// matching judges the pattern and the flags, which must be plain texts.
func (r *jqReader) matching(p jqPattern, args []*gojq.Query) flow {
	text, ok := literalString(args[0])
	flags := ""
	if ok && len(args) == p.most {
		flags, ok = literalString(args[p.most-1])
	}
	if !ok {
		return r.refuse(refusal("nod can't tell which pattern the jq filter matches."))
	}
	if strings.Trim(flags, "gimnpsl") != "" {
		return r.refuse(refusal("nod doesn't know the flags " + Quote(flags) + " of jq."))
	}
	if err := Regexp(text, Perl); err != nil {
		return r.refuse(err)
	}
	every := p.every || strings.Contains(flags, "g")
	switch {
	case p.replaces && every && matchesNothing(text):
		return r.refuse(refusal("Some versions of jq never end where the pattern matches nothing."))
	case p.replaces:
		text := r.query(args[1])
		if text.many {
			return r.refuse(errJQGrows)
		}
		return r.then(elements, text).collected().longer(1).or(identity)
	}
	return flow{bits: p.bits, many: every, whole: true}
}

// matchesNothing reports whether a pattern may match no characters, or is one that Go cannot read.
func matchesNothing(pattern string) bool {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return true
	}
	return slices.ContainsFunc([]string{"", "a"}, func(text string) bool {
		at := re.FindStringIndex(text)
		return at != nil && at[0] == at[1]
	})
}
