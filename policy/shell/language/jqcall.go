package language

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// jqPlain are functions without operands. At place n are those whose output may be 2^n times as long as the input.
var jqPlain = []words{
	0: "not keys keys_unsorted values arrays objects iterables booleans numbers nulls strings scalars add any " +
		"all flatten sort min max unique reverse first last from_entries ascii_downcase ascii_upcase fromjson " +
		"ltrim rtrim trim toarray implode debug stderr input finites normals",
	1: "tojson tostring",
	3: "explode",
	4: "to_entries",
}

// jqShort are functions without operands whose output is short.
var jqShort = words("empty error length utf8bytelength type floor sqrt abs ceil round fabs exp log " +
	"log2 log10 exp10 exp2 infinite nan isnan isinfinite isnormal isvalid todate fromdate todateiso8601 " +
	"fromdateiso8601 date mktime gmtime localtime now halt input_line_number tonumber")

// jqTaking are functions whose operands are filters of the same input that give what to look for.
var jqTaking = words("has/1 in/1 inside/1 contains/1 startswith/1 endswith/1 ltrimstr/1 rtrimstr/1 trimstr/1 " +
	"getpath/1 nth/1 flatten/1 error/1 IN/1 IN/2 pow/2 bsearch/1 debug/1")

// jqFirst are functions that give one of the outputs of their last operand, or ask about them.
var jqFirst = words("first/1 last/1 nth/2 isempty/1 path/1 del/1 pick/1")

// jqOf are functions that ask a filter about each element.
var jqOf = words("sort_by/1 group_by/1 unique_by/1 min_by/1 max_by/1 any/1 all/1 INDEX/1")

// call is a function by its name and the number of its operands.
func (r *jqReader) call(f *gojq.Func) flow {
	if len(f.Args) == 0 {
		return r.plain(f.Name)
	}
	name := f.Name + "/" + strconv.Itoa(len(f.Args))
	switch {
	case jqPatterns[name] != nil:
		return r.matching(jqPatterns[name], f.Args)
	case jqTaking.has(name):
		out := identity
		for _, a := range f.Args {
			out = out.with(r.query(a))
		}
		return out
	case jqFirst.has(name):
		return r.first(f.Args)
	case jqOf.has(name):
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
	return r.unknown(quote(f.Name))
}

func (r *jqReader) plain(name string) flow {
	switch bits := slices.IndexFunc(jqPlain, func(list words) bool { return list.has(name) }); {
	case r.vars[name]:
		return identity // may be as long as the input
	case jqShort.has(name):
		return single(growth{5, 0})
	case name == "transpose":
		return single(growth{2, 2})
	case bits >= 0:
		return identity.longer(float64(bits))
	case name == "inputs":
		return elements
	case name == "recurse", name == "paths", name == "leaf_paths", name == "tostream":
		return flow{linear, linear, deep, once}
	}
	return r.unknown(quote(name))
}

// first has one output, no longer than the input and the longest output of its last operand.
func (r *jqReader) first(args []*gojq.Query) flow {
	work := once
	size := linear
	for _, a := range args {
		f := r.query(a)
		work, size = work.plus(f.work).plus(f.total), size.or(f.size)
	}
	return flow{once, size, size, work}
}

// paths asks a filter about all values at any depth.
func (r *jqReader) paths(arg *gojq.Query) flow {
	f := r.query(arg)
	if r.err == nil && f.count != once {
		return r.refuse(errJQGrows)
	}
	return flow{linear, linear, deep, f.work.plus(f.total).each(linear, deep)}
}

// recurse follows paths downwards. Only a path through .[] surely ends: .a of null is null again.
func (r *jqReader) recurse(args []*gojq.Query) flow {
	t := args[0].Term
	if t == nil || t.Type != gojq.TermTypeIdentity && t.Type != gojq.TermTypeIndex {
		return r.refuse(refusal("The jq filter may go on without end."))
	}
	through := false
	for _, s := range t.SuffixList {
		through = through || s.Iter
		if s.Index != nil && s.Index.Name == "" {
			return r.refuse(refusal("The jq filter may go on without end."))
		}
	}
	if !through || t.Index != nil && t.Index.Name == "" {
		return r.refuse(refusal("The jq filter may go on without end."))
	}
	if len(args) == 2 {
		return r.paths(args[1])
	}
	return flow{linear, linear, deep, once}
}

// walk changes all values from the innermost ones on: what doubles them doubles them at each depth.
func (r *jqReader) walk(arg *gojq.Query) flow {
	f := r.query(arg)
	if r.err == nil && (f.count != once || f.size.degree > 1 || f.size.degree == 1 && f.size.log > 0.01) {
		return r.refuse(errJQGrows)
	}
	return flow{once, linear, linear, f.work.plus(f.total).each(linear, deep)}
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
	return flow{count, flag, count.times(flag), once}
}

func (r *jqReader) join(arg *gojq.Query) flow {
	if s, ok := literalString(arg); ok {
		return single(linear.times(lengthOf(s)))
	}
	f := r.query(arg)
	return f.sized(linear.times(f.size))
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

// jqPattern is a function that takes a regular expression.
type jqPattern struct {
	text  int    // which operand makes the replacement; 0 for none
	flags int    // which operand holds the flags; 0 for none
	size  growth // of what it makes of a match
	every bool   // it finds all matches, without a flag for it
}

var (
	matches = growth{7, 1} // what jq tells of each match
	pieces  = growth{3, 1}
)

var jqPatterns = map[string]*jqPattern{
	"test/1": {size: flag}, "test/2": {size: flag, flags: 1},
	"match/1": {size: matches}, "match/2": {size: matches, flags: 1},
	"capture/1": {size: matches}, "capture/2": {size: matches, flags: 1},
	"scan/1": {size: matches, every: true}, "scan/2": {size: matches, flags: 1, every: true},
	"split/2":  {size: pieces, flags: 1},
	"splits/1": {size: pieces, every: true}, "splits/2": {size: pieces, flags: 1, every: true},
	"sub/2": {text: 1}, "sub/3": {text: 1, flags: 2},
	"gsub/2": {text: 1, every: true}, "gsub/3": {text: 1, flags: 2, every: true},
}

// matching judges the pattern and the flags, which must be plain texts.
func (r *jqReader) matching(p *jqPattern, args []*gojq.Query) flow {
	text, ok := literalString(args[0])
	flags := ""
	if ok && p.flags > 0 {
		flags, ok = literalString(args[p.flags])
	}
	if !ok {
		return r.refuse(refusal("nod cannot tell which pattern the jq filter matches."))
	}
	if strings.Trim(flags, "gimnpsl") != "" {
		return r.refuse(refusal("nod does not know the flags " + quote(flags) + " of jq."))
	}
	pattern, err := measure(text, Perl)
	if err != nil {
		return r.refuse(err)
	}
	every := p.every || strings.Contains(flags, "g")
	switch {
	case p.text > 0:
		return r.replacing(args[p.text], every && pattern.least == 0)
	case every && p.size != flag:
		return flow{linear, p.size, p.size, p.size}
	}
	return single(p.size)
}

// replacing is sub and gsub. The replacement is a filter of what was matched.
func (r *jqReader) replacing(text *gojq.Query, endless bool) flow {
	f := r.query(text)
	switch {
	case endless:
		return r.refuse(refusal("Some versions of jq never end where the pattern matches nothing."))
	case r.err == nil && f.count != once:
		return r.refuse(errJQGrows)
	}
	size := linear.plus(f.total.each(linear, linear))
	return flow{once, size, size, f.work.each(linear, matches).plus(matches)}
}
