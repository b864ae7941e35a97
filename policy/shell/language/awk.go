package language

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Awk judges an awk program that only prints. assigned holds the variables that the command sets, with -v or among the
// operands, as NAME=VALUE. Awk refuses other programs, files apart from the input, the environment, functions that the
// program defines, loops, formats and patterns that are not plain texts, and what may make a text longer with each
// line.
//
// What passes means the same to gawk, mawk, busybox and BSD awk, apart from what they print.
func Awk(program string, assigned []string) error {
	if err := cmp.Or(unreadable(program), scanAwk(program)); err != nil {
		return err
	}
	statements, err := parseAwk(program)
	if err != nil {
		return err
	}
	r := awkReader{given: map[string]string{}, set: map[string]bool{}, factor: 1}
	if err := r.assignments(assigned); err != nil {
		return err
	}
	for _, s := range statements {
		s.each(func(n *awkNode) {
			if target := n.changes(); target.kind == "VarExpr" {
				r.set[target.text] = true
			}
		})
	}
	if r.list(statements); r.factor > maxGrowth {
		r.refuse(awkGrows)
	}
	return r.err
}

var awkAssignment = Compiled(`(?s)^([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)

// awkSealed are variables that reach the environment, files or other variables, or change how files are opened or
// numbers are printed.
var awkSealed = Words("ENVIRON ARGV ARGC ARGIND SYMTAB FUNCTAB PROCINFO BINMODE LINT TEXTDOMAIN ERRNO " +
	"OFMT CONVFMT")

var awkPatterns = Words("FS RS FPAT")

func (r *awkReader) assignments(assigned []string) error {
	for _, a := range assigned {
		m := awkAssignment().FindStringSubmatch(a)
		if m == nil || unreadable(a) != nil {
			return refusal("nod can't read the variable " + Quote(a) + ".")
		}
		name, value := m[1], m[2]
		if awkSealed.Has(name) || name == "NF" || awkCode().MatchString(value) {
			return refusal("nod doesn't know that the variable " + Quote(a) + " is harmless.")
		}
		if err := special(name, value); err != nil {
			return err
		}
		_, twice := r.given[name]
		r.set[name] = r.set[name] || twice
		r.given[name] = value
	}
	return nil
}

func special(name, value string) error {
	if awkPatterns.Has(name) {
		return Regexp(value, awkExtended)
	}
	return nil
}

type awkReader struct {
	given  map[string]string // variables that the command sets
	set    map[string]bool   // those that the program sets, or the command twice
	factor float64           // how many times longer than its line the program may make a record
	err    error
}

func (r *awkReader) refuse(reason string) { r.err = cmp.Or(r.err, error(refusal(reason))) }

func (r *awkReader) list(statements []*awkNode) {
	for _, s := range statements {
		r.statement(s)
	}
}

func (r *awkReader) statement(s *awkNode) {
	switch s.kind {
	case "PrintStmt", "PrintfStmt":
		args := s.fields["Args"]
		if s.kid("Dest") != noAwkNode {
			r.refuse("The awk program may write a file.")
		}
		if r.expressions(args); s.kind == "PrintfStmt" {
			r.format(args)
		}
	case "ExprStmt", "DeleteStmt", "ExitStmt", "IfStmt", "BlockStmt", "Action", "NextStmt", "NextfileStmt":
		r.name(s.text) // of the array in a delete
		for _, field := range []string{"Expr", "Index", "Status", "Cond", "Pattern"} {
			r.expressions(s.fields[field])
		}
		for _, field := range []string{"Body", "Else", "Stmts"} {
			r.list(s.fields[field])
		}
	default:
		r.err = errAwk
	}
}

func (r *awkReader) name(name string) {
	if awkSealed.Has(name) {
		r.refuse("The awk program uses " + name + ", which reaches more than its input.")
	}
}

func (r *awkReader) expressions(list []*awkNode) {
	for _, e := range list {
		r.expression(e)
	}
}

func (r *awkReader) expression(e *awkNode) {
	r.expressions(e.kids)
	switch e.kind {
	case "NumExpr", "StrExpr", "UnaryExpr", "CondExpr", "GroupingExpr", "MultiExpr":
	case "RegExpr": // was judged before it was parsed
	case "VarExpr", "InExpr", "IndexExpr":
		r.name(e.text)
	case "BinaryExpr":
		if e.op == "~" || e.op == "!~" {
			r.matched(e.kid("Right"))
		}
	case "FieldExpr":
		if !r.small(e.kid("Index")) {
			r.refuse("nod can't tell which field the awk program uses; a high number takes much memory.")
		}
	case "AssignExpr", "AugAssignExpr", "IncrExpr":
		r.assign(e)
	case "CallExpr":
		r.call(e)
	default:
		r.refuse("The awk program may do more than print.")
	}
}

var awkPure = Words("atan2 cos exp index int length log rand sin sqrt srand substr tolower toupper")

func (r *awkReader) call(e *awkNode) {
	args := e.fields["Args"]
	switch e.op {
	case "sprintf":
		r.format(args)
	case "match":
		r.matched(args[1])
	case "split":
		if len(args) > 2 {
			r.matched(args[2])
		}
		r.name(args[1].text)
		r.change(args[1], args[0])
	case "sub", "gsub":
		r.matched(args[0])
		r.substitute(e.op == "gsub", args)
	default:
		if !awkPure.Has(e.op) {
			r.refuse("The awk program uses " + e.op + ", which may do more than print.")
		}
	}
}

// format judges the first operand of printf and sprintf, which must be a plain text.
func (r *awkReader) format(args []*awkNode) {
	if len(args) == 1 && args[0].kind == "MultiExpr" {
		args = args[0].fields["Exprs"]
	}
	text, ok := r.constant(args[0])
	if !ok {
		r.refuse("nod can't tell which format the awk program prints with.")
		return
	}
	r.err = cmp.Or(r.err, eachDirective(text, directive, func(_ []string, letter byte) error {
		if strings.IndexByte("diouxXeEfFgGaAcs%", letter) < 0 {
			return unknownDirective(letter)
		}
		return nil
	}))
}

// constant returns the text of an expression if it is known: texts, and variables of the command that nothing changes.
func (r *awkReader) constant(e *awkNode) (string, bool) {
	switch e = e.bare(); {
	case e.kind == "StrExpr":
		return e.text, true
	case e.kind == "VarExpr" && !awkBuiltIn.Has(e.text) && !r.set[e.text]:
		return r.given[e.text], true
	case e.kind == "BinaryExpr" && e.op == "<concat>":
		left, ok := r.constant(e.kid("Left"))
		right, both := r.constant(e.kid("Right"))
		return left + right, ok && both
	}
	return "", false
}

var (
	awkCounters = Words("NF NR FNR")
	awkBuiltIn  = awkCounters + " FILENAME FS RS OFS ORS RSTART RLENGTH RT SUBSEP FPAT FIELDWIDTHS IGNORECASE"
)

func (r *awkReader) matched(e *awkNode) {
	if e = e.bare(); e.kind == "RegExpr" {
		return
	}
	text, ok := r.constant(e)
	if !ok && !e.is("FS") && !(e.is("SUBSEP") && !r.set["SUBSEP"]) {
		r.refuse("nod can't tell which pattern the awk program matches.")
		return
	}
	r.err = cmp.Or(r.err, Regexp(text, awkExtended))
}

const (
	awkGrows   = "The awk program may make text endlessly long."
	awkEndless = "The awk program may loop without end."
	maxField   = 1000 // the highest number of a field
)

func (n *awkNode) changes() *awkNode {
	args := n.fields["Args"]
	switch {
	case n.kind == "AssignExpr", n.kind == "AugAssignExpr":
		return n.kid("Left")
	case n.kind == "IncrExpr":
		return n.kid("Expr")
	case n.kind == "CallExpr" && (n.op == "sub" || n.op == "gsub"):
		return substituted(args)
	}
	return noAwkNode
}

func substituted(args []*awkNode) *awkNode {
	if len(args) > 2 {
		return args[2]
	}
	return &awkNode{kind: "FieldExpr"} // $0
}

// small reports whether a number is at most about maxField or grows no faster than the input.
func (r *awkReader) small(e *awkNode) bool {
	switch e = e.bare(); {
	case e.kind == "NumExpr":
		return e.number >= 0 && e.number <= maxField
	case e.is("NF"), (e.is("NR") || e.is("FNR")) && !r.set[e.text]:
		return true
	case e.kind == "VarExpr" && !r.set[e.text] && !awkBuiltIn.Has(e.text):
		n, err := strconv.Atoi(cmp.Or(r.given[e.text], "0"))
		return err == nil && n >= 0 && n <= maxField
	case e.kind == "BinaryExpr" && (e.op == "+" || e.op == "-"):
		return r.small(e.kid("Left")) && e.kid("Right").kind == "NumExpr" && r.small(e.kid("Right"))
	}
	return false
}

func (r *awkReader) assign(e *awkNode) {
	target, to := e.changes(), e.kid("Right")
	if target.kind == "VarExpr" {
		r.assignSpecial(e, target.text)
	}
	if e.kind == "AssignExpr" {
		r.change(target, to)
	} else if target.kind == "FieldExpr" {
		r.change(target, noAwkNode)
	}
}

// change judges what a variable, an element or a field is set to. What variables hold may be copied to others, but not
// joined with more, and so stays as short as a line; fields hold none of it.
func (r *awkReader) change(target, to *awkNode) {
	if target.kind != "FieldExpr" {
		if r.joins(to) {
			r.refuse(awkGrows)
		}
		return
	}
	fields, hasItself := 0, false
	for _, n := range holds(to) {
		switch {
		case r.isKept(n):
			r.refuse(awkGrows)
		case !hasItself && reflect.DeepEqual(n, target):
			hasItself = true
		default:
			fields++
		}
	}
	r.factor *= float64(1 + fields)
}

// joins reports whether an expression joins what a variable holds with other text.
func (r *awkReader) joins(e *awkNode) bool {
	if e.op == "<concat>" || e.op == "sprintf" {
		return slices.ContainsFunc(holds(e), r.isKept)
	}
	return e.kind != "IndexExpr" && slices.ContainsFunc(e.kids, r.joins)
}

// isKept reports whether what [holds] returned keeps text of one line for the next.
func (r *awkReader) isKept(held *awkNode) bool {
	_, isConstant := r.constant(held)
	return held.kind != "FieldExpr" && !isConstant && !(held.kind == "VarExpr" && awkBuiltIn.Has(held.text))
}

// assignSpecial judges assignments to variables that awk itself uses.
func (r *awkReader) assignSpecial(e *awkNode, name string) {
	if !awkBuiltIn.Has(name) || name == "IGNORECASE" {
		return
	}
	text, ok := r.constant(e.kid("Right"))
	if !ok || e.kind != "AssignExpr" || awkCounters.Has(name) {
		r.refuse("nod can't tell what the awk program sets " + name + " to.")
	}
	r.err = cmp.Or(r.err, special(name, text))
}

// substitute judges how much longer sub or gsub may make a text. Only fields are reset with each line.
func (r *awkReader) substitute(global bool, args []*awkNode) {
	replacement, known := r.constant(args[1])
	replacement = strings.ReplaceAll(replacement, `\`, "x") // which awk may keep
	factor := sedFactor(replacement, global)
	if !known || factor > 1 && substituted(args).kind != "FieldExpr" {
		r.refuse(awkGrows)
	}
	r.factor *= factor
}

// holds returns the variables, elements and fields whose text an expression contains. Numbers are short.
func holds(e *awkNode) (all []*awkNode) {
	var parts []*awkNode
	switch {
	case e.kind == "VarExpr", e.kind == "FieldExpr", e.kind == "IndexExpr":
		return []*awkNode{e}
	case e.kind == "GroupingExpr", e.kind == "MultiExpr", e.op == "<concat>", e.op == "sprintf":
		parts = e.kids
	case e.kind == "CondExpr":
		parts = []*awkNode{e.kid("True"), e.kid("False")}
	case e.kind == "AssignExpr":
		parts = e.fields["Right"]
	case e.op == "substr", e.op == "tolower", e.op == "toupper":
		parts = e.kids[:1]
	}
	for _, part := range parts {
		all = append(all, holds(part)...)
	}
	return all
}
