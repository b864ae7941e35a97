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
		r.list(s.all("Body"))
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
	array := s.texts["Array"]
	r.name(array)
	r.name(s.texts["Var"])
	if awkBuiltIn.has(s.texts["Var"]) {
		r.refuse("The awk program changes " + s.texts["Var"] + ".")
	}
	r.change(s.texts["Var"], map[string]int{array: 1}, nil)
	l := awkLoop{variable: s.texts["Var"], array: array, limits: map[string]int{array: 1}}
	r.loop(l, func() { r.list(s.all("Body")) })
}

// counts reads for (i = SMALL; i < LIMIT; i++), and the same downwards.
func (r *awkReader) counts(s *awkNode) (variable string, limit *awkNode, ok bool) {
	pre, post := s.kid("Pre"), s.kid("Post")
	if pre == nil || post == nil || s.kid("Cond") == nil || pre.kind != "ExprStmt" || post.kind != "ExprStmt" {
		return "", nil, false
	}
	start, step := pre.kid("Expr"), post.kid("Expr")
	if start.kind != "AssignExpr" || start.kid("Left").kind != "VarExpr" || !r.small(start.kid("Right")) {
		return "", nil, false
	}
	variable = start.kid("Left").texts["Name"]
	up, ok := direction(step, variable)
	if !ok || awkBuiltIn.has(variable) {
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

// changesAny reports whether the body of a loop changes the variable that counts or what the limit depends on.
func changesAny(s *awkNode, variable string, limit *awkNode) bool {
	watched := mentions(limit)
	watched[variable]++
	changed := false
	for _, b := range s.all("Body") {
		b.each(func(n *awkNode) {
			for _, name := range changedBy(n, variable) {
				changed = changed || watched[name] > 0
			}
		})
	}
	s.kid("Cond").each(func(n *awkNode) {
		changed = changed || len(changedBy(n, "")) > 0
	})
	return changed
}

// changedBy names what a node changes: variables, arrays, and $ for fields. Changing field number i, where i counts
// up to NF, makes no fields.
func changedBy(n *awkNode, counter string) []string {
	target := n.kid("Left")
	switch n.kind {
	case "AssignExpr", "AugAssignExpr":
	case "IncrExpr":
		target = n.kid("Expr")
	case "ForInStmt":
		return []string{n.texts["Var"]}
	case "DeleteStmt":
		return []string{n.texts["Array"]}
	case "CallExpr":
		args := n.all("Args")
		switch {
		case n.op == "split":
			return []string{args[1].texts["Name"]}
		case n.op != "sub" && n.op != "gsub":
			return nil
		case len(args) < 3:
			return []string{"$"}
		}
		target = args[2]
	default:
		return nil
	}
	if target.kind == "FieldExpr" && target.kid("Index").is(counter) && counter != "" {
		return nil
	}
	return []string{keyOf(target)}
}

// keyOf names what an expression that can be assigned to is part of.
func keyOf(target *awkNode) string {
	switch {
	case target.kind == "FieldExpr", target.is("NF"):
		return "$"
	case target.kind == "IndexExpr":
		return target.texts["Array"]
	}
	return target.texts["Name"]
}

// mentions names all that the value of an expression depends on. Which field or element it is does not count.
func mentions(e *awkNode) map[string]int {
	out := map[string]int{}
	addMentions(e, out)
	return out
}

func addMentions(e *awkNode, out map[string]int) {
	switch e.kind {
	case "VarExpr", "FieldExpr", "IndexExpr":
		out[keyOf(e)]++
		return
	case "InExpr":
		out[e.texts["Array"]]++
	case "RegExpr":
		out["$"]++
	case "CallExpr":
		switch args := e.all("Args"); {
		case e.op == "length" && len(args) == 0:
			out["$"]++
		case e.op == "split": // the array is only written
			addMentions(args[0], out)
			return
		}
	}
	for _, f := range e.fields {
		for _, kid := range f.kids {
			addMentions(kid, out)
		}
	}
}

// small reports whether a number is at most about maxSteps or grows no faster than the input.
func (r *awkReader) small(e *awkNode) bool { return r.weight(e) <= 2*maxSteps }

// weight bounds a number by a multiple of the length of the input; it is infinite when nod cannot tell. Variables
// that depend on themselves by more than counting have no weight.
func (r *awkReader) weight(e *awkNode) float64 {
	unknown := math.Inf(1)
	if e = e.bare(); e == nil {
		return unknown
	}
	switch e.kind {
	case "NumExpr":
		if e.number >= 0 {
			return max(e.number, 1)
		}
	case "VarExpr":
		return r.weightOf(e.texts["Name"])
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
	return unknown
}

func (r *awkReader) weightOf(name string) float64 {
	if name == "NF" || (name == "NR" || name == "FNR") && len(r.set[name]) == 0 {
		return 1
	}
	if w, ok := r.weights[name]; ok {
		return w
	}
	r.weights[name] = math.Inf(1) // until it is known, for those that depend on themselves
	if awkBuiltIn.has(name) {
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
