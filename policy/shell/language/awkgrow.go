package language

import (
	"cmp"
	"maps"
	"math"
	"reflect"
)

// awkChange is a place that makes a text, an array or a number longer or larger.
type awkChange struct {
	target string         // a variable, an array, or $ for the fields
	from   map[string]int // how often the new text holds others
	needs  map[string]int // all that it depends on
	limits map[string]int // what the loops around it depend on
	adds   bool           // to what the target was before
	looped bool
	once   bool // runs once, in BEGIN or END
	reset  int  // the change that surely set the target before, in the same round of the same loop; or -1
}

// change notes that target changes.
func (r *awkReader) change(target string, from map[string]int, needs []*awkNode) {
	c := awkChange{target: target, from: from, needs: maps.Clone(from), limits: map[string]int{},
		adds: from[target] > 0, looped: len(r.loops) > 0, once: r.once && len(r.loops) == 0, reset: -1}
	for _, n := range needs {
		add(c.needs, mentions(n))
	}
	for _, l := range r.loops {
		maps.Copy(c.limits, l.limits)
	}
	if at, ok := r.fresh[target]; ok {
		c.reset = at
	}
	r.changes = append(r.changes, c)
}

// assign judges an assignment, or ++ and --.
func (r *awkReader) assign(e *awkNode) {
	target, to := e.kid("Left"), e.kid("Right")
	if e.kind == "IncrExpr" {
		target = e.kid("Expr")
	}
	from := map[string]int{}
	if e.kind == "AssignExpr" {
		from = holds(to)
	}
	if target.kind == "VarExpr" {
		r.assignSpecial(e, target.text, to)
	}
	if target.kind == "FieldExpr" && !isRecord(target) && !changesOneField(target, to) {
		from["$"]++ // the other fields stay
	}
	r.change(keyOf(target), from, []*awkNode{to})
	last := &r.changes[len(r.changes)-1]
	last.adds = last.adds || e.kind != "AssignExpr"
}

// isRecord reports whether a field is $0.
func isRecord(field *awkNode) bool {
	index := field.kid("Index")
	return index.kind == "NumExpr" && index.number == 0
}

// changesOneField reports whether a field is made of nothing but itself and plain texts.
func changesOneField(target, to *awkNode) bool {
	own := 0
	to.each(func(n *awkNode) bool {
		own += b2i(reflect.DeepEqual(n, target))
		return true
	})
	for name, times := range holds(to) {
		if name != "$" || times > own || times > 1 {
			return false
		}
	}
	return true
}

// assignSpecial judges assignments to variables that awk itself uses.
func (r *awkReader) assignSpecial(e *awkNode, name string, to *awkNode) {
	switch {
	case !awkBuiltIn.Has(name):
	case name == "NF":
		if to != noAwkNode && !r.small(to) {
			r.refuse("nod cannot tell how many fields the awk program makes.")
		}
	case name == "NR" || name == "FNR" || name == "IGNORECASE" || name == "RSTART" || name == "RLENGTH":
	default:
		text, ok := "", false
		if e.kind == "AssignExpr" {
			text, ok = r.constant(to)
		}
		if !ok {
			r.refuse("nod cannot tell what the awk program sets " + name + " to.")
		}
		r.err = cmp.Or(r.err, special(name, text))
	}
}

// element notes that an array gets an element. What for (k in a) finds is there already.
func (r *awkReader) element(e *awkNode) {
	index := e.fields["Index"]
	for _, l := range r.loops {
		if l.array == e.text && len(index) == 1 && index[0].is(l.variable) {
			return
		}
	}
	r.arrays[e.text] = true
	from := map[string]int{}
	for _, i := range index {
		add(from, holds(i))
	}
	r.change(e.text, from, index)
}

// substitute notes that sub or gsub may make a text longer.
func (r *awkReader) substitute(global bool, args []*awkNode) {
	target := keyOf(substituted(args))
	from := holds(args[1])
	pattern, ok := r.constant(args[0])
	shape, err := measure(pattern, AwkExtended)
	replacement, known := r.constant(args[1])
	switch {
	case !ok || err != nil:
		return // refused already
	case known:
		from = map[string]int{target: int(min(sedFactor(shape, replacement, global), maxGrowth))}
	default:
		from[target] += 128 // a line of 100 characters may match at each
	}
	r.change(target, from, args[1:2])
}

func add(to, from map[string]int) {
	for name, times := range from {
		to[name] += times
	}
}

// holds counts how often the text of an expression holds that of others. Numbers are short.
func holds(e *awkNode) map[string]int {
	out := map[string]int{}
	switch e.kind {
	case "VarExpr", "FieldExpr", "IndexExpr":
		out[keyOf(e)]++
	case "BinaryExpr":
		if e.op == "<concat>" {
			add(out, holds(e.kid("Left")))
			add(out, holds(e.kid("Right")))
		}
	case "CondExpr":
		out = holds(e.kid("False"))
		for name, times := range holds(e.kid("True")) {
			out[name] = max(out[name], times)
		}
	case "GroupingExpr":
		return holds(e.kid("Expr"))
	case "AssignExpr":
		return holds(e.kid("Right"))
	case "CallExpr":
		switch args := e.fields["Args"]; e.op {
		case "substr", "tolower", "toupper":
			return holds(args[0])
		case "sprintf":
			for _, a := range args {
				add(out, holds(a))
			}
		}
	}
	return out
}

const (
	awkGrows      = "The awk program may make a text endlessly long."
	maxAwkChanges = 300
	maxAwkDegree  = 2
)

// growth refuses programs in which something may grow by a factor with each line or round of a loop, or like more than
// the square of the input.
func (r *awkReader) growth() error {
	if len(r.changes) > maxAwkChanges {
		return errAwk
	}
	bits := 0.0
	for _, c := range r.changes {
		copies, all := 0, 0
		for name, times := range c.from {
			if all += times; r.depends(name, c.target) {
				copies += times
			}
		}
		if bits += math.Log2(float64(max(all, 1))); !c.once && (copies > 1 && !r.startsOver(c) || r.feedsLoop(c)) {
			return refusal(awkGrows)
		}
		if r.degree(c.target) > maxAwkDegree {
			return refusal(awkGrows)
		}
	}
	if bits > math.Log2(maxGrowth) {
		return refusal(awkGrows)
	}
	return nil
}

// depends reports whether name is made of target, in any number of steps that a program may repeat.
func (r *awkReader) depends(name, target string) bool {
	if r.reached[name] == nil {
		r.reached[name] = map[string]bool{}
		r.reach(name, r.reached[name])
	}
	return r.reached[name][target]
}

func (r *awkReader) reach(name string, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	for _, c := range r.changes {
		if c.target != name || c.once {
			continue
		}
		for _, from := range []map[string]int{c.needs, c.limits} {
			for other, times := range from {
				if times > 0 && (other != "$" || name != "$") {
					r.reach(other, seen)
				}
			}
		}
	}
}

// startsOver reports whether the target is set anew before the change, from nothing that depends on it. Fields are
// set anew with each line.
func (r *awkReader) startsOver(c awkChange) bool {
	from := c.from
	switch {
	case c.target == "$":
		if c.looped {
			return false
		}
	case c.reset < 0:
		return false
	default:
		from = r.changes[c.reset].needs
	}
	for name := range from {
		if name != c.target && r.depends(name, c.target) || name == c.target && c.target != "$" {
			return false
		}
	}
	return true
}

// feedsLoop reports whether a loop makes larger what decides how long it runs. That a loop over fields changes none
// that it counts was seen before.
func (r *awkReader) feedsLoop(c awkChange) bool {
	if c.target == "$" {
		return false
	}
	for name, times := range c.limits {
		if times > 0 && r.depends(name, c.target) {
			return true
		}
	}
	return false
}

// degree is the power of the length of the input that something may grow like.
func (r *awkReader) degree(name string) int {
	if d, ok := r.degrees[name]; ok {
		return d
	}
	r.degrees[name] = 0
	most := 0
	for _, c := range r.changes {
		if c.target != name {
			continue
		}
		others := 0
		for other, times := range c.from {
			if other != name && times > 0 {
				others = max(others, r.degree(other))
			}
		}
		for other := range c.limits {
			if c.adds || r.arrays[name] {
				others = max(others, r.degree(other))
			}
		}
		most = max(most, others+b2i(c.adds && name != "$" && !r.arrays[name]))
	}
	r.degrees[name] = most
	return most
}
