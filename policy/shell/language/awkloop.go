package language

import (
	"math"
	"strconv"
)

// maxSteps is the highest number that a loop may count to, all loops multiplied, and the highest number of a field.
const maxSteps = 10_000

// maxLoops is how deep loops may stand in one another.
const maxLoops = 3

// awkLoop is a loop around the place that is judged.
type awkLoop struct {
	variable string
	array    string         // of for (k in a)
	limits   map[string]int // what its end depends on
}

const awkEndless = "The awk program may loop without end."

// forLoop judges a loop, which must count towards a limit that stays where it is.
func (r *awkReader) forLoop(s *awkNode) {
	variable, limit, ok := r.counts(s)
	if !ok || changesAny(s, variable, limit) {
		r.refuse(awkEndless)
		return
	}
	r.statement(s.kid("Pre"))
	before := r.repeats
	r.repeats = max(r.repeats, 1) * r.weight(limit)
	if r.repeats > maxSteps || r.repeats*r.size > maxOutput {
		r.refuse("The awk program repeats something very often.")
	}
	r.loop(awkLoop{variable: variable, limits: mentions(limit)}, func() {
		r.expression(s.kid("Cond"))
		r.statement(s.kid("Post"))
		r.list(s.fields["Body"])
	})
	r.repeats = before
}

// loop judges what stands inside a loop.
func (r *awkReader) loop(l awkLoop, body func()) {
	outer := r.fresh
	r.fresh = nil
	if r.loops = append(r.loops, l); len(r.loops) > maxLoops {
		r.refuse("The awk program holds loops deep inside one another.")
	}
	body()
	r.loops, r.fresh = r.loops[:len(r.loops)-1], outer
}

func (r *awkReader) forIn(s *awkNode) {
	array := s.text
	r.name(array)
	r.name(s.kid("Var").text)
	if awkBuiltIn.Has(s.kid("Var").text) {
		r.refuse("The awk program changes " + s.kid("Var").text + ".")
	}
	r.change(s.kid("Var").text, map[string]int{array: 1}, nil)
	l := awkLoop{variable: s.kid("Var").text, array: array, limits: map[string]int{array: 1}}
	r.loop(l, func() { r.list(s.fields["Body"]) })
}

// counts reads for (i = SMALL; i < LIMIT; i++), and the same downwards.
func (r *awkReader) counts(s *awkNode) (variable string, limit *awkNode, ok bool) {
	start, step := s.kid("Pre").kid("Expr"), s.kid("Post").kid("Expr")
	if start.kind != "AssignExpr" || start.kid("Left").kind != "VarExpr" || !r.small(start.kid("Right")) {
		return "", nil, false
	}
	variable = start.kid("Left").text
	up, ok := direction(step, variable)
	if !ok || awkBuiltIn.Has(variable) {
		return "", nil, false
	}
	limit = r.limit(s.kid("Cond"), variable, up)
	if limit != nil && !up {
		limit = start.kid("Right") // how far it has to go
	}
	return variable, limit, limit != nil
}

// direction reads i++, i--, i += 2 or i -= 2.
func direction(step *awkNode, variable string) (up, ok bool) {
	switch step.kind {
	case "IncrExpr":
		return step.op == "++", step.kid("Expr").is(variable)
	case "AugAssignExpr":
		by := step.kid("Right")
		ok = step.kid("Left").is(variable) && by.kind == "NumExpr" && by.number >= 1
		return step.op == "+", ok && (step.op == "+" || step.op == "-")
	}
	return false, false
}

// limit finds what a condition compares the variable with. Parts joined by && may end the loop earlier.
func (r *awkReader) limit(cond *awkNode, variable string, up bool) *awkNode {
	cond = cond.bare()
	if cond.kind != "BinaryExpr" {
		return nil
	}
	left, right := cond.kid("Left"), cond.kid("Right")
	switch {
	case cond.op == "&&":
		if found := r.limit(left, variable, up); found != nil {
			return found
		}
		return r.limit(right, variable, up)
	case up && (cond.op == "<" || cond.op == "<=") && left.is(variable) && r.small(right):
		return right
	case !up && (cond.op == ">" || cond.op == ">=") && left.is(variable) && right.bare().kind == "NumExpr":
		return right
	}
	return nil
}

// changesAny reports whether the body of a loop changes the variable that counts or what the limit depends on. Changing
// field number i, where i counts up to NF, makes no fields.
func changesAny(s *awkNode, variable string, limit *awkNode) bool {
	watched := mentions(limit)
	watched[variable]++
	changed := false
	for _, b := range s.fields["Body"] {
		b.each(func(n *awkNode) bool {
			target, _ := n.changes()
			if target.kind != "FieldExpr" || !target.kid("Index").is(variable) {
				changed = changed || watched[keyOf(target)] > 0
			}
			return !changed
		})
	}
	s.kid("Cond").each(func(n *awkNode) bool {
		target, _ := n.changes()
		changed = changed || target != noAwkNode
		return !changed
	})
	return changed
}

// changes says what a node changes, and to what as far as that can be told.
func (n *awkNode) changes() (target, to *awkNode) {
	switch args := n.fields["Args"]; {
	case n.kind == "AssignExpr", n.kind == "AugAssignExpr" && (n.op == "+" || n.op == "-"):
		return n.kid("Left"), n.kid("Right")
	case n.kind == "AugAssignExpr":
		return n.kid("Left"), noAwkNode
	case n.kind == "IncrExpr":
		return n.kid("Expr"), &awkNode{kind: "NumExpr", number: 1}
	case n.kind == "ForInStmt":
		return n.kid("Var"), noAwkNode
	case n.kind == "DeleteStmt":
		return &awkNode{kind: "IndexExpr", text: n.text}, noAwkNode
	case n.kind == "CallExpr" && n.op == "split":
		return &awkNode{kind: "IndexExpr", text: args[1].text}, noAwkNode
	case n.kind == "CallExpr" && (n.op == "sub" || n.op == "gsub"):
		return substituted(args), noAwkNode
	}
	return noAwkNode, noAwkNode
}

// substituted is what sub and gsub change.
func substituted(args []*awkNode) *awkNode {
	if len(args) > 2 {
		return args[2]
	}
	return &awkNode{kind: "FieldExpr"} // $0
}

// keyOf names what an expression that can be assigned to is part of.
func keyOf(target *awkNode) string {
	if target.kind == "FieldExpr" || target.is("NF") {
		return "$"
	}
	return target.text
}

// mentions names all that the value of an expression depends on. Which field or element it is does not count.
func mentions(e *awkNode) map[string]int {
	out := map[string]int{}
	e.each(func(n *awkNode) bool {
		args := n.fields["Args"]
		switch n.kind {
		case "VarExpr", "FieldExpr", "IndexExpr":
			out[keyOf(n)]++
			return false
		case "InExpr":
			out[n.text]++
		case "RegExpr":
			out["$"]++
		case "CallExpr":
			if n.op == "length" && len(args) == 0 {
				out["$"]++
			}
			if n.op == "split" { // the array is only written
				add(out, mentions(args[0]))
				return false
			}
		}
		return true
	})
	return out
}

// small reports whether a number is at most about maxSteps or grows no faster than the input.
func (r *awkReader) small(e *awkNode) bool { return r.weight(e) <= 2*maxSteps }

// weight bounds a number by a multiple of the length of the input; it is infinite when nod cannot tell. Variables
// that depend on themselves by more than counting have no weight.
func (r *awkReader) weight(e *awkNode) float64 {
	switch e = e.bare(); e.kind {
	case "NumExpr":
		if e.number >= 0 {
			return max(e.number, 1)
		}
	case "VarExpr":
		return r.weightOf(e.text)
	case "BinaryExpr":
		left, right := r.weight(e.kid("Left")), r.weight(e.kid("Right"))
		number := e.kid("Right").bare().kind == "NumExpr"
		switch {
		case e.op == "+", e.op == "-", e.op == "%":
			return left + right
		case e.op == "*" && number:
			return left * right
		case e.op == "/" && number && e.kid("Right").bare().number >= 1:
			return left
		}
	case "IncrExpr":
		return r.weight(e.kid("Expr")) + 1
	case "CondExpr":
		return max(r.weight(e.kid("True")), r.weight(e.kid("False")))
	case "CallExpr":
		switch e.op {
		case "length", "index", "match", "split":
			return 1
		case "int":
			return r.weight(e.kid("Args"))
		}
	}
	return math.Inf(1)
}

func (r *awkReader) weightOf(name string) float64 {
	if name == "NF" || (name == "NR" || name == "FNR") && len(r.set[name]) == 0 {
		return 1
	}
	if w, ok := r.weights[name]; ok {
		return w
	}
	r.weights[name] = math.Inf(1) // until it is known, for those that depend on themselves
	if awkBuiltIn.Has(name) {
		return r.weights[name]
	}
	w := 1.0
	if value, ok := r.given[name]; ok {
		if len(value) > 5 || !integer().MatchString(value) {
			return r.weights[name]
		}
		n, _ := strconv.Atoi(value)
		w = max(1, math.Abs(float64(n)))
	}
	for _, to := range r.set[name] {
		w += r.weight(to)
	}
	r.weights[name] = w
	return w
}
