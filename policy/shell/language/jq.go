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
	return r.err
}

const errJQGrows = refusal("The jq filter may make its input much longer.")

// maxJQ bounds how many times longer than its input anything in a filter may get. In addition, one thing may be done
// with all of the input for each piece of it, which makes a square.
const maxJQ = 1 << 13

// flow bounds the output of a filter for one input. A number or a flag counts as no longer than the input.
type flow struct {
	times float64 // how many times as long as the input all outputs together may be
	many  bool    // there may be more than one output
	fixed bool    // its only output is a text that the filter spells out
}

var (
	identity = flow{times: 1}
	elements = flow{times: 1, many: true}
	descent  = flow{times: 32, many: true} // all values at any depth, for depths up to 32
)

func textOf(length int) flow { return flow{times: float64(length + 1), fixed: true} }

func (f flow) longer(times float64) flow {
	f.times *= times
	return f
}

func (f flow) collected() flow {
	f.many = false
	return f
}

type jqReader struct {
	vars    map[string]bool
	squares int // what is done with all of the input for each piece of it
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

// note checks a filter's output against the bound.
func (r *jqReader) note(f flow) flow {
	if f.times > maxJQ {
		r.refuse(errJQGrows)
	}
	return f
}

// then returns the flow of f | g.
func (r *jqReader) then(f, g flow) flow {
	return r.note(flow{times: f.times * g.times, many: f.many || g.many})
}

// and returns the flow of f, g: the outputs of both.
func (f flow) and(g flow) flow { return flow{times: f.times + g.times, many: true} }

// or returns the flow of the outputs of either.
func (f flow) or(g flow) flow { return flow{times: max(f.times, g.times), many: f.many || g.many} }

// combined returns the flow of a filter that combines the outputs of several others in every possible way.
func (r *jqReader) combined(flows ...flow) flow {
	var many []flow
	rest := flow{fixed: true}
	for _, f := range flows {
		if f.many {
			many = append(many, f)
			continue
		}
		rest.times, rest.fixed = rest.times+f.times, rest.fixed && f.fixed
	}
	rest.times = max(rest.times, 1)
	switch {
	case len(many) > 1:
		return r.refuse(errJQGrows)
	case len(many) == 0:
		return r.note(rest)
	case !rest.fixed:
		r.square()
	}
	return r.then(many[0], rest)
}

func (r *jqReader) square() {
	if r.squares++; r.squares > 1 {
		r.refuse(errJQGrows)
	}
}

// asked returns the flow of f for each output of g, whose own text is not output.
func (r *jqReader) asked(f, g flow) flow {
	r.note(g)
	if !g.many {
		return f
	}
	if !f.fixed {
		r.square()
	}
	return r.then(f, g)
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
		return r.combined(left, right)
	case gojq.OpDiv:
		if _, ok := literalNumber(q.Right); ok {
			return left
		}
		return r.combined(left, right).longer(4) // divides a string at each comma
	case gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe, gojq.OpAnd, gojq.OpOr:
		return flow{many: r.combined(left, right).many} // true or false
	case gojq.OpAlt:
		return left.or(right)
	}
	return r.refuse(refusal("The jq filter assigns to a path, which may make a very long array."))
}

// multiply judges a product. A string times a number is repeated.
func (r *jqReader) multiply(q *gojq.Query) flow {
	for _, sides := range [][2]*gojq.Query{{q.Left, q.Right}, {q.Right, q.Left}} {
		if n, ok := literalNumber(sides[0]); ok && math.Abs(n) <= maxWidth {
			return r.query(sides[1]).longer(max(math.Abs(n), 1))
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
		f = r.asked(f, r.text(i.Str, 1))
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
		return identity
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
			return identity
		}
		return r.query(t.Array.Query).collected()
	case gojq.TermTypeUnary:
		return r.term(t.Unary.Term)
	case gojq.TermTypeFormat:
		return r.format(t)
	case gojq.TermTypeString:
		return r.text(t.Str, 1)
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
	var parts []flow
	for _, kv := range o.KeyVals {
		switch {
		case kv.KeyString != nil:
			parts = append(parts, r.text(kv.KeyString, 1))
		case kv.KeyQuery != nil:
			parts = append(parts, r.query(kv.KeyQuery))
		default:
			parts = append(parts, textOf(len(kv.Key)))
		}
		switch {
		case kv.Val != nil:
			parts = append(parts, r.query(kv.Val))
		case strings.HasPrefix(kv.Key, "$"):
			parts = append(parts, r.plain(kv.Key))
		default:
			parts = append(parts, identity)
		}
	}
	return r.combined(parts...)
}

func (r *jqReader) text(s *gojq.String, longer float64) flow {
	parts := []flow{textOf(len(s.Str))}
	for _, q := range s.Queries {
		if text, ok := literalString(q); ok {
			parts = append(parts, textOf(len(text)))
		} else {
			parts = append(parts, r.query(q).longer(max(longer, 2))) // quotes in arrays become \"
		}
	}
	return r.combined(parts...)
}

// jqFormats say how many times longer a format makes a string.
var jqFormats = map[string]float64{"@text": 2, "@json": 2, "@csv": 2, "@tsv": 2, "@html": 8, "@uri": 4, "@sh": 4,
	"@base64": 2, "@base64d": 1, "@base32": 2, "@base32d": 1}

func (r *jqReader) format(t *gojq.Term) flow {
	times, ok := jqFormats[t.Format]
	switch {
	case !ok:
		return r.unknown(t.Format)
	case t.Str != nil:
		return r.text(t.Str, times)
	}
	return identity.longer(times)
}

// jqPlain are functions without operands. The output of those at index n may be 2^n times as long as the input.
var jqPlain = []Words{
	0: "not keys keys_unsorted values arrays objects iterables booleans numbers nulls strings scalars add any " +
		"all flatten sort min max unique reverse first last from_entries ascii_downcase ascii_upcase fromjson " +
		"ltrim rtrim trim toarray implode debug stderr input finites normals " +
		"empty error length utf8bytelength type floor sqrt abs ceil round fabs exp log " +
		"log2 log10 exp10 exp2 infinite nan isnan isinfinite isnormal isvalid todate fromdate todateiso8601 " +
		"fromdateiso8601 date mktime gmtime localtime now halt input_line_number tonumber",
	1: "tojson tostring",
	3: "explode",
	4: "to_entries",
}

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
		r.then(elements, r.query(f.Args[0]))
		return identity.longer(4)
	case name == "map/1", name == "map_values/1", name == "with_entries/1":
		return r.then(elements, r.query(f.Args[0])).collected()
	case name == "any/2", name == "all/2":
		r.then(r.query(f.Args[0]), r.query(f.Args[1]))
		return identity
	case name == "limit/2", name == "skip/2":
		return r.asked(r.query(f.Args[1]), r.query(f.Args[0]))
	case name == "split/1":
		return r.asked(identity.longer(8), r.query(f.Args[0]))
	case name == "join/1":
		return r.join(f.Args[0])
	}
	return r.unknown(Quote(f.Name))
}

func (r *jqReader) plain(name string) flow {
	switch power := slices.IndexFunc(jqPlain, func(list Words) bool { return list.Has(name) }); {
	case r.vars[name]:
		return identity // may be as long as the input
	case power >= 0:
		return identity.longer(math.Exp2(float64(power)))
	case name == "inputs":
		return elements
	case name == "recurse", name == "paths", name == "leaf_paths", name == "tostream":
		return descent
	}
	return r.unknown(Quote(name))
}

func (r *jqReader) join(arg *gojq.Query) flow {
	if s, ok := literalString(arg); ok {
		return identity.longer(textOf(len(s)).times)
	}
	r.square() // as long as the input, between all elements of it
	return r.asked(identity, r.query(arg))
}

// jqPattern is a function with a regular expression and, as its last operand, flags.
type jqPattern struct {
	least, most int     // operands
	times       float64 // how many times longer than a match its result is
	every       bool    // it finds all matches, without a flag for it
	replaces    bool    // the second operand makes the replacement
}

var jqPatterns = map[string]jqPattern{
	"test": {least: 1, most: 2}, "match": {least: 1, most: 2, times: 128},
	"capture": {least: 1, most: 2, times: 128}, "scan": {least: 1, most: 2, times: 128, every: true},
	"split": {least: 2, most: 2, times: 8}, "splits": {least: 1, most: 2, times: 8, every: true},
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
		return r.then(elements, text).collected().longer(2).or(identity)
	}
	return flow{times: p.times, many: every}
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
