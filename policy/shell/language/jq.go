package language

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// JQ judges a jq filter. It may use the variables in vars, spelled without $, and those that it binds. Refused are the
// environment, modules, definitions, assignments, functions that nod does not know, and filters whose output
// or work may grow out of proportion to the input.
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
		return refusal("nod cannot read the jq filter.")
	}
	r := jqReader{vars: map[string]bool{}}
	for _, v := range vars {
		r.vars["$"+v] = isFree(v)
	}
	f := r.query(query)
	if r.err != nil {
		return r.err
	}
	all, most := f.work.plus(f.total), float64(maxJQBits)
	if all.degree == 0 {
		most = maxJQBitsAlone
	}
	if all.log > most || all.degree > maxJQDegree {
		return errJQGrows
	}
	return nil
}

const errJQGrows = refusal("The jq filter may make its input very much longer.")

// A filter may do 2^maxJQBits times as much work as the length of its input, or as the square of that. Without input it
// may do 2^maxJQBitsAlone of it.
const (
	maxJQBits      = 13
	maxJQBitsAlone = 22
	maxJQDegree    = 2
)

// growth bounds a quantity by 2^log * n^degree, where n is the length of a filter's input. The length of an array or
// object is that of its JSON.
type growth struct {
	log    float64
	degree int
}

var (
	once   = growth{0, 0}
	linear = growth{0, 1}
	flag   = growth{3, 0} // the length of true, of a kind or a small number
)

func (a growth) capped() growth { return growth{min(a.log, 1e6), min(a.degree, 100)} }

func (a growth) times(b growth) growth { return growth{a.log + b.log, a.degree + b.degree}.capped() }

func (a growth) plus(b growth) growth {
	high, low := max(a.log, b.log), min(a.log, b.log)
	return growth{high + math.Log2(1+math.Exp2(low-high)), max(a.degree, b.degree)}.capped()
}

func (a growth) or(b growth) growth { return growth{max(a.log, b.log), max(a.degree, b.degree)} }

// of is a behind b: its input is as long as b.
func (a growth) of(b growth) growth {
	if a.degree == 0 {
		return a
	}
	return growth{a.log + float64(a.degree)*b.log, a.degree * b.degree}.capped()
}

// each sums a over values that are count in number and total in length.
func (a growth) each(count, total growth) growth {
	if a.degree == 0 {
		return a.times(count)
	}
	return a.of(total)
}

// flow bounds what a filter does with one input.
type flow struct {
	count growth // how many outputs
	total growth // the length of all together
	work  growth // the length of all values made on the way
}

var (
	identity = flow{once, linear, once}
	elements = flow{linear, linear, once} // .[]
	deep     = growth{5, 1}               // all values at any depth, for depths up to 32
	descent  = flow{linear, deep, once}   // ..
)

// single is a filter with one output of a length.
func single(size growth) flow { return flow{once, size, once} }

// then is f | g.
func (f flow) then(g flow) flow {
	return flow{
		count: g.count.each(f.count, f.total),
		total: g.total.each(f.count, f.total),
		work:  f.work.plus(f.total).plus(g.work.each(f.count, f.total)),
	}
}

// and is f, g: the outputs of both.
func (f flow) and(g flow) flow {
	return flow{f.count.plus(g.count), f.total.plus(g.total), f.work.plus(g.work)}
}

// or is the outputs of one of both.
func (f flow) or(g flow) flow {
	return flow{f.count.or(g.count), f.total.or(g.total), f.work.plus(g.work)}
}

// with joins every output of f with every output of g to one.
func (f flow) with(g flow) flow {
	total := f.total.times(g.count).plus(g.total.times(f.count))
	return flow{f.count.times(g.count), total, f.work.plus(g.work).plus(total)}
}

// sized is a filter with as many outputs, each as long as size says.
func (f flow) sized(size growth) flow {
	return flow{f.count, f.count.times(size), f.work.plus(f.total)}
}

// longer makes each output 2^bits times longer.
func (f flow) longer(bits float64) flow {
	f.total.log += bits
	return f
}

// collected is [f].
func (f flow) collected() flow {
	return flow{once, f.total.plus(once), f.work.plus(f.total)}
}

// mapped is [f] for an f that begins with .[], so that brackets count already.
func (f flow) mapped() flow { return flow{once, f.total, f.work} }

// jqReader walks through a filter. The first thing that is not harmless stays in err.
type jqReader struct {
	vars  map[string]bool
	bound string // the variable that the filter has bound here, with its $
	err   error
}

// isFree reports whether jq gives no variable of that name by itself.
func isFree(name string) bool { return name != "ENV" && !strings.HasPrefix(name, "__") }

func (r *jqReader) refuse(err error) flow {
	r.err = cmp.Or(r.err, err)
	return identity
}

func (r *jqReader) unknown(what string) flow {
	return r.refuse(refusal("nod does not know " + what + " of jq to only look at the input."))
}

func (r *jqReader) query(q *gojq.Query) flow {
	switch {
	case r.err != nil, q == nil:
		return identity
	case q.Meta != nil || len(q.Imports) > 0 || len(q.FuncDefs) > 0:
		return r.refuse(refusal("The jq filter loads a module or defines a function."))
	case len(q.Patterns) > 0:
		if q.Left.Term != nil && q.Left.Term.Type == gojq.TermTypeIdentity && len(q.Left.Term.SuffixList) == 0 {
			return r.refuse(refusal("The jq filter binds a variable to all of its input."))
		}
		return r.binding(q.Left, q.Patterns, func(source flow) flow { return r.query(q.Right).bound(source) })
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
		return left.then(right)
	case gojq.OpComma:
		return left.and(right)
	case gojq.OpAdd, gojq.OpSub, gojq.OpMod:
		return left.with(right)
	case gojq.OpDiv:
		return left.with(right).longer(2) // divides a string at each comma
	case gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe, gojq.OpAnd, gojq.OpOr:
		return left.with(right).sized(flag)
	case gojq.OpAlt:
		return left.or(right)
	}
	return r.refuse(refusal("The jq filter assigns to a path, which may make a very long array."))
}

// multiply judges a product. A string times a number is repeated.
func (r *jqReader) multiply(q *gojq.Query) flow {
	both := r.query(q.Left).with(r.query(q.Right))
	for _, side := range []*gojq.Query{q.Left, q.Right} {
		if n, ok := literalNumber(side); ok && math.Abs(n) <= maxWidth {
			return both.longer(math.Log2(max(math.Abs(n), 1)))
		}
	}
	return r.refuse(refusal("The jq filter multiplies, which may repeat a string without end."))
}

func literalNumber(q *gojq.Query) (float64, bool) {
	if q.Term == nil || len(q.Term.SuffixList) > 0 {
		return 0, false
	}
	t, sign := q.Term, 1.0
	if t.Type == gojq.TermTypeUnary && len(t.Unary.Term.SuffixList) == 0 {
		t, sign = t.Unary.Term, -1
	}
	if t.Type != gojq.TermTypeNumber {
		return 0, false
	}
	n, err := strconv.ParseFloat(t.Number, 64)
	return sign * n, err == nil
}

// literalString is the text of a filter that is a string without code in it.
func literalString(q *gojq.Query) (string, bool) {
	if q.Term == nil || q.Term.Type != gojq.TermTypeString || len(q.Term.SuffixList) > 0 || q.Term.Str.Queries != nil {
		return "", false
	}
	return q.Term.Str.Str, true
}

func lengthOf(s string) growth { return growth{math.Log2(float64(len(s) + 1)), 0} }

// term is an operand with the paths behind it.
func (r *jqReader) term(t *gojq.Term) flow {
	out := r.bare(t)
	for _, s := range t.SuffixList {
		switch {
		case s.Iter:
			out = out.then(elements)
		case s.Index != nil:
			out = r.index(out, s.Index)
		}
	}
	return out
}

// index is f[key] or f[from:to]. The keys are computed from the filter's own input, once for each output of f.
func (r *jqReader) index(f flow, i *gojq.Index) flow {
	keys := flow{count: once, work: once}
	for _, q := range []*gojq.Query{i.Start, i.End} {
		if q != nil {
			keys = keys.with(r.query(q))
		}
	}
	if i.Str != nil {
		keys = keys.with(r.text(i.Str, 0))
	}
	f.count, f.total = f.count.times(keys.count), f.total.times(keys.count)
	f.work = f.work.plus(keys.work)
	return f
}

func (r *jqReader) bare(t *gojq.Term) flow {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return identity
	case gojq.TermTypeRecurse:
		return descent
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse:
		return single(flag)
	case gojq.TermTypeNumber:
		return single(lengthOf(t.Number))
	case gojq.TermTypeIndex:
		return r.index(identity, t.Index)
	case gojq.TermTypeFunc:
		return r.call(t.Func)
	case gojq.TermTypeObject:
		return r.object(t.Object)
	case gojq.TermTypeArray:
		if t.Array.Query == nil {
			return single(flag)
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
	case gojq.TermTypeReduce:
		return r.reduce(t.Reduce)
	case gojq.TermTypeQuery:
		return r.query(t.Query)
	}
	return r.unknown("a form")
}

func (r *jqReader) branches(i *gojq.If) flow {
	tests, out := r.query(i.Cond), r.query(i.Then)
	for _, e := range i.Elif {
		tests, out = tests.with(r.query(e.Cond)), out.or(r.query(e.Then))
	}
	out = out.or(r.query(i.Else))
	out.count, out.total = out.count.times(tests.count), out.total.times(tests.count)
	out.work = out.work.plus(tests.work).plus(tests.total)
	return out
}

func (r *jqReader) object(o *gojq.Object) flow {
	out := single(flag)
	for _, kv := range o.KeyVals {
		switch {
		case kv.KeyString != nil:
			out = out.with(r.text(kv.KeyString, 0))
		case kv.KeyQuery != nil:
			out = out.with(r.query(kv.KeyQuery))
		case strings.HasPrefix(kv.Key, "$"):
			out = out.with(single(lengthOf(kv.Key))).with(r.plain(kv.Key))
			continue
		default:
			out = out.with(single(lengthOf(kv.Key)))
		}
		if kv.Val != nil {
			out = out.with(r.query(kv.Val))
		} else {
			out = out.with(identity)
		}
	}
	return out
}

// text is a string, with the filters in it. A format makes what is put in longer.
func (r *jqReader) text(s *gojq.String, bits float64) flow {
	out := single(lengthOf(s.Str))
	for _, q := range s.Queries {
		if text, ok := literalString(q); ok {
			out = out.with(single(lengthOf(text)))
		} else {
			out = out.with(r.query(q).longer(max(bits, 1))) // quotes in arrays become \"
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
