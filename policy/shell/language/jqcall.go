package language

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// jqPlain are functions without operands. At place n are those whose output may be 2^n times as long as the input.
var jqPlain = []Words{
	0: "not keys keys_unsorted values arrays objects iterables booleans numbers nulls strings scalars add any " +
		"all flatten sort min max unique reverse first last from_entries ascii_downcase ascii_upcase fromjson " +
		"ltrim rtrim trim toarray implode debug stderr input finites normals",
	1: "tojson tostring",
	3: "explode",
	4: "to_entries",
}

// jqShort are functions without operands whose output is short.
var jqShort = Words("empty error length utf8bytelength type floor sqrt abs ceil round fabs exp log " +
	"log2 log10 exp10 exp2 infinite nan isnan isinfinite isnormal isvalid todate fromdate todateiso8601 " +
	"fromdateiso8601 date mktime gmtime localtime now halt input_line_number tonumber")

// jqTaking are functions whose operands are filters of the same input that give what to look for.
var jqTaking = Words("has/1 in/1 inside/1 contains/1 startswith/1 endswith/1 ltrimstr/1 rtrimstr/1 trimstr/1 " +
	"getpath/1 nth/1 flatten/1 error/1 IN/1 IN/2 pow/2 bsearch/1 debug/1")

// jqFirst are functions that give one of the outputs of their last operand, or ask about them.
var jqFirst = Words("first/1 last/1 nth/2 isempty/1 path/1 del/1 pick/1")

// jqOf are functions that ask a filter about each element.
var jqOf = Words("sort_by/1 group_by/1 unique_by/1 min_by/1 max_by/1 any/1 all/1 INDEX/1")

// call is a function by its name and the number of its operands.
func (r *jqReader) call(f *gojq.Func) flow {
	if len(f.Args) == 0 {
		return r.plain(f.Name)
	}
	pattern, name := jqPatterns[f.Name], f.Name+"/"+strconv.Itoa(len(f.Args))
	switch {
	case len(f.Args) <= pattern.most && len(f.Args) >= pattern.least:
		return r.matching(pattern, f.Args)
	case jqTaking.Has(name):
		out := identity
		for _, a := range f.Args {
			out = out.with(r.query(a))
		}
		return out
	case jqFirst.Has(name):
		return r.first(f.Args)
	case jqOf.Has(name):
		asked := elements.then(r.query(f.Args[0]))
		out := single(growth{2, 1})
		out.work = asked.work.plus(asked.total)
		return out
	}
	switch name {
	case "map/1", "map_values/1", "with_entries/1":
		return elements.then(r.query(f.Args[0])).mapped()
	case "add/1":
		return r.query(f.Args[0]).collected()
	case "limit/2", "skip/2":
		r.query(f.Args[0])
		return r.query(f.Args[1])
	case "paths/1":
		return r.paths(f.Args[0])
	case "select/1":
		return r.query(f.Args[0]).sized(linear)
	case "any/2", "all/2":
		return r.query(f.Args[0]).then(r.query(f.Args[1])).collected().sized(flag)
	case "recurse/1", "recurse/2":
		return r.recurse(f.Args)
	case "walk/1":
		return r.walk(f.Args[0])
	case "range/1", "range/2", "range/3":
		return r.counting(f.Args)
	case "split/1":
		return identity.with(r.query(f.Args[0])).longer(pieces.log)
	case "join/1":
		return r.join(f.Args[0])
	case "index/1", "rindex/1", "indices/1":
		return r.indices(f.Args[0])
	case "strftime/1", "strptime/1", "strflocaltime/1":
		return r.time(f.Args[0])
	}
	return r.unknown(Quote(f.Name))
}

func (r *jqReader) plain(name string) flow {
	switch bits := slices.IndexFunc(jqPlain, func(list Words) bool { return list.Has(name) }); {
	case name == r.bound && name != "":
		return single(growth{boundBits, 0})
	case r.vars[name]:
		return identity // may be as long as the input
	case jqShort.Has(name):
		return single(growth{5, 0})
	case name == "transpose":
		return single(growth{2, 2})
	case bits >= 0:
		return identity.longer(float64(bits))
	case name == "inputs":
		return elements
	case name == "recurse", name == "paths", name == "leaf_paths", name == "tostream":
		return descent
	}
	return r.unknown(Quote(name))
}

// first has one output, no longer than the input and the longest output of its last operand.
func (r *jqReader) first(args []*gojq.Query) flow {
	work := once
	size := linear
	for _, a := range args {
		f := r.query(a)
		work, size = work.plus(f.work).plus(f.total), size.or(f.total)
	}
	return flow{once, size, work}
}

// single judges a filter that must have one output.
func (r *jqReader) single(arg *gojq.Query) flow {
	f := r.query(arg)
	if f.count != once || max(f.total.log, f.work.log) > boundBits/2 {
		r.refuse(errJQGrows)
	}
	return f
}

// paths asks a filter about all values at any depth.
func (r *jqReader) paths(arg *gojq.Query) flow {
	f := r.single(arg)
	return flow{linear, deep, f.work.plus(f.total).each(linear, deep)}
}

// recurse follows paths downwards. Only a path through .[] surely ends: .a of null is null again.
func (r *jqReader) recurse(args []*gojq.Query) flow {
	t := args[0].Term
	isNamed := func(i *gojq.Index) bool { return i == nil || i.Name != "" }
	ends := t != nil && (t.Type == gojq.TermTypeIdentity || t.Type == gojq.TermTypeIndex) && isNamed(t.Index) &&
		slices.ContainsFunc(t.SuffixList, func(s *gojq.Suffix) bool { return s.Iter }) &&
		!slices.ContainsFunc(t.SuffixList, func(s *gojq.Suffix) bool { return !isNamed(s.Index) })
	if !ends {
		return r.refuse(refusal("The jq filter may go on without end."))
	}
	if len(args) == 2 {
		return r.paths(args[1])
	}
	return descent
}

// walk changes all values from the innermost ones on: what doubles them doubles them at each depth.
func (r *jqReader) walk(arg *gojq.Query) flow {
	f := r.single(arg)
	if f.total.degree > 1 || f.total.degree == 1 && f.total.log > 0.01 {
		return r.refuse(errJQGrows)
	}
	return flow{once, linear, f.work.plus(f.total).each(linear, deep)}
}

// counting is range with plain numbers.
func (r *jqReader) counting(args []*gojq.Query) flow {
	n := []float64{}
	for _, a := range args {
		v, ok := literalNumber(a)
		if !ok {
			return r.refuse(refusal("nod cannot tell how far the jq filter counts."))
		}
		n = append(n, v)
	}
	from, to, step := 0.0, n[0], 1.0
	if len(n) > 1 {
		from, to = n[0], n[1]
	}
	if len(n) > 2 {
		step = n[2]
	}
	steps := math.Abs((to-from)/step) + 1
	if step == 0 || !(steps <= maxLines) {
		return r.refuse(refusal("The jq filter counts very far."))
	}
	count := growth{math.Log2(steps), 0}
	return flow{count, count.times(flag), once}
}

func (r *jqReader) join(arg *gojq.Query) flow {
	if s, ok := literalString(arg); ok {
		return single(linear.times(lengthOf(s)))
	}
	f := r.query(arg)
	return f.sized(linear.times(f.total))
}

// indices looks for a plain text: for an empty one, jq 1.6 never ends.
func (r *jqReader) indices(arg *gojq.Query) flow {
	s, ok := literalString(arg)
	if _, number := literalNumber(arg); !number && (!ok || s == "") {
		return r.refuse(refusal("Some versions of jq look for an empty text without end."))
	}
	return single(pieces)
}

func (r *jqReader) time(arg *gojq.Query) flow {
	s, ok := literalString(arg)
	if !ok {
		return r.refuse(refusal("nod cannot tell which format the jq filter uses."))
	}
	if err := TimeFormat(s); err != nil {
		return r.refuse(err)
	}
	return single(growth{8, 0})
}

// jqPattern is a function that takes a regular expression and, behind all others, an operand with flags.
type jqPattern struct {
	least, most int    // operands
	size        growth // of what it makes of a match
	every       bool   // it finds all matches, without a flag for it
	text        bool   // the second operand makes the replacement
}

var (
	matches = growth{7, 1} // what jq tells of each match
	pieces  = growth{3, 1}
)

var jqPatterns = map[string]jqPattern{
	"test": {least: 1, most: 2, size: flag}, "match": {least: 1, most: 2, size: matches},
	"capture": {least: 1, most: 2, size: matches}, "scan": {least: 1, most: 2, size: matches, every: true},
	"split": {least: 2, most: 2, size: pieces}, "splits": {least: 1, most: 2, size: pieces, every: true},
	"sub": {least: 2, most: 3, text: true}, "gsub": {least: 2, most: 3, text: true, every: true},
}

// matching judges the pattern and the flags, which must be plain texts.
func (r *jqReader) matching(p jqPattern, args []*gojq.Query) flow {
	text, ok := literalString(args[0])
	flags := ""
	if ok && len(args) == p.most {
		flags, ok = literalString(args[p.most-1])
	}
	if !ok {
		return r.refuse(refusal("nod cannot tell which pattern the jq filter matches."))
	}
	if strings.Trim(flags, "gimnpsl") != "" {
		return r.refuse(refusal("nod does not know the flags " + Quote(flags) + " of jq."))
	}
	pattern, err := measure(text, Perl)
	if err != nil {
		return r.refuse(err)
	}
	every := p.every || strings.Contains(flags, "g")
	switch {
	case p.text:
		return r.replacing(args[1], every && pattern.least == 0)
	case every && p.size != flag:
		return flow{linear, p.size, p.size}
	}
	return single(p.size)
}

// replacing is sub and gsub. The replacement is a filter of what was matched.
func (r *jqReader) replacing(text *gojq.Query, endless bool) flow {
	if endless {
		return r.refuse(refusal("Some versions of jq never end where the pattern matches nothing."))
	}
	f := r.single(text)
	return flow{once, linear.plus(f.total.each(linear, linear)), f.work.each(linear, matches).plus(matches)}
}
