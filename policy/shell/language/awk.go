package language

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Awk judges an awk program that only prints. assigned holds the variables that the command sets, with -v or among the
// operands, as NAME=VALUE. Awk refuses other programs, files apart from the input, the environment, functions that the
// program defines, loops, formats and patterns that are not plain texts, and what may make a text longer by a factor
// with each line.
//
// What passes means the same to gawk, mawk, busybox and BSD awk, apart from what they print. grows is how many times it
// prints what it has collected.
func Awk(program string, assigned []string) (grows float64, err error) {
	if err := cmp.Or(unreadable(program), scanAwk(program)); err != nil {
		return 0, err
	}
	statements, err := parseAwk(program)
	if err != nil {
		return 0, err
	}
	r := awkReader{
		given: map[string]string{}, set: map[string]bool{}, made: map[string][]*awkNode{}, long: map[string]bool{}, factor: 1,
	}
	if err := r.assignments(assigned); err != nil {
		return 0, err
	}
	for _, s := range statements {
		s.each(r.collect)
	}
	r.findLong()
	r.list(statements)
	if r.factor > maxGrowth {
		r.refuse(awkGrows)
	}
	if grows = 1; r.collects && r.shows {
		grows = perLine
	}
	return grows, r.err
}

var awkAssignment = Compiled(`(?s)^([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)

// awkSealed are variables that reach the environment, files or other variables, or change how files are opened or
// numbers are printed.
var awkSealed = Words("ENVIRON ARGV ARGC ARGIND SYMTAB FUNCTAB PROCINFO BINMODE LINT TEXTDOMAIN ERRNO " +
	"OFMT CONVFMT")

var awkPatterns = Words("FS RS FPAT")

// awkCode is a character spelled by its number, which could be part of a pattern or format.
var awkCode = Compiled(`\\[0-9xu]`)

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

	made map[string][]*awkNode // what the text of each variable and array is made of
	long map[string]bool       // those whose text may grow with each line; in many elements, it takes all memory

	eachLine        bool // what follows is done for each line: BEGIN and END come before
	collects, shows bool // a variable grows with each line; one is printed for each line

	err error
}

func (r *awkReader) refuse(reason string) { r.err = cmp.Or(r.err, error(refusal(reason))) }

func (r *awkReader) collect(n *awkNode) {
	if target := n.changes(); target.kind == "VarExpr" {
		r.set[target.text] = true
	}
	target, to := n.kid("Left"), n.kid("Right")
	if n.kind == "CallExpr" && n.op == "split" {
		target, to = n.fields["Args"][1], n.fields["Args"][0]
	} else if n.kind != "AssignExpr" {
		return
	}
	r.made[target.text] = append(r.made[target.text], holds(to)...)
	to.each(func(e *awkNode) {
		if e.op == "<concat>" || e.op == "sprintf" {
			r.long[target.text] = true // which findLong checks
		}
	})
}

// findLong works out which texts may grow with each line: those that are joined and, however indirectly, made of
// themselves, and all that are made of those.
func (r *awkReader) findLong() {
	isMade := func(n *awkNode) bool { return isKept(n) && r.made[n.text] != nil }
	for left := 0; left != len(r.made); { // what stays is made of itself, or of a text that is
		left = len(r.made)
		maps.DeleteFunc(r.made, func(_ string, parts []*awkNode) bool { return !slices.ContainsFunc(parts, isMade) })
	}
	for name := range r.long {
		r.long[name] = r.made[name] != nil
	}
	for range r.made {
		for name, parts := range r.made {
			r.long[name] = r.long[name] || slices.ContainsFunc(parts, r.isLong)
		}
	}
}

// isLong reports whether a part of a text may grow with each line.
func (r *awkReader) isLong(held *awkNode) bool { return isKept(held) && r.long[held.text] }

func (r *awkReader) list(statements []*awkNode) {
	for _, s := range statements {
		r.statement(s)
	}
}

func (r *awkReader) statement(s *awkNode) {
	switch s.kind {
	case "PrintStmt", "PrintfStmt":
		args := s.fields["Args"]
		r.shows = r.shows || r.eachLine && slices.ContainsFunc(allHold(args), isKept)
		if s.kid("Dest") != noAwkNode {
			r.refuse("The awk program may write a file.")
		}
		if r.expressions(args); s.kind == "PrintfStmt" {
			r.format(args)
		}
	case "ExprStmt":
		r.expression(s.kid("Expr"))
	case "IfStmt":
		r.expression(s.kid("Cond"))
		r.list(s.fields["Body"])
		r.list(s.fields["Else"])
	case "BlockStmt":
		r.list(s.fields["Body"])
	case "DeleteStmt":
		r.name(s.text)
		r.expressions(s.fields["Index"])
	case "ExitStmt":
		r.expressions(s.fields["Status"])
	case "Action":
		r.eachLine = true
		r.expressions(s.fields["Pattern"])
		r.list(s.fields["Stmts"])
	case "NextStmt", "NextfileStmt":
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
	case "VarExpr", "InExpr":
		r.name(e.text)
	case "IndexExpr":
		if r.name(e.text); slices.ContainsFunc(allHold(e.fields["Index"]), r.isLong) {
			r.refuse(awkGrows)
		}
	case "RegExpr": // was judged before it was parsed
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
		isOther := func(n *awkNode) bool { return r.isLong(n) && !reflect.DeepEqual(n, target) }
		if target.kind == "IndexExpr" && slices.ContainsFunc(holds(to), isOther) {
			r.refuse(awkGrows)
		}
		r.change(target, to)
	} else if target.kind == "FieldExpr" {
		r.change(target, noAwkNode)
	}
}

// change judges what a variable, an element or a field is set to. A variable may hold one other or its own old value,
// and so grows by lines only; fields hold no variables.
func (r *awkReader) change(target, to *awkNode) {
	variables, fields, hasItself := 0, 0, false
	for _, n := range holds(to) {
		switch {
		case isKept(n):
			variables++
		case !hasItself && reflect.DeepEqual(n, target):
			hasItself = true
		default:
			fields++
		}
	}
	switch {
	case target.kind != "FieldExpr":
		if r.collects = r.collects || hasItself || variables > 0; variables > 1 {
			r.refuse(awkGrows)
		}
		return
	case variables > 0:
		r.refuse(awkGrows)
	}
	r.factor *= float64(1 + fields)
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
	pattern, ok := r.constant(args[0])
	if args[0].bare().kind == "RegExpr" {
		pattern, ok = args[0].bare().text, true
	}
	shape, err := measure(pattern, awkExtended)
	replacement, known := r.constant(args[1])
	if !ok || err != nil {
		return // refused already
	}
	replacement = strings.ReplaceAll(replacement, `\`, "x") // which awk may keep
	factor := sedFactor(shape, replacement, global)
	if !known || factor > 1 && substituted(args).kind != "FieldExpr" {
		r.refuse(awkGrows)
	}
	r.factor *= factor
}

// isKept reports whether a variable, element or field that [holds] returned keeps its text for the next line.
func isKept(held *awkNode) bool { return held.kind != "FieldExpr" }

// holds returns the variables, elements and fields whose text an expression contains. Numbers are short.
func holds(e *awkNode) []*awkNode {
	switch e.kind {
	case "VarExpr", "FieldExpr", "IndexExpr":
		return []*awkNode{e}
	case "BinaryExpr":
		if e.op == "<concat>" {
			return append(holds(e.kid("Left")), holds(e.kid("Right"))...)
		}
	case "CondExpr":
		return append(holds(e.kid("True")), holds(e.kid("False"))...)
	case "GroupingExpr":
		return holds(e.kid("Expr"))
	case "AssignExpr":
		return holds(e.kid("Right"))
	case "MultiExpr":
		return allHold(e.fields["Exprs"])
	case "CallExpr":
		switch args := e.fields["Args"]; e.op {
		case "substr", "tolower", "toupper":
			return holds(args[0])
		case "sprintf":
			return allHold(args)
		}
	}
	return nil
}

func allHold(list []*awkNode) (all []*awkNode) {
	for _, e := range list {
		all = append(all, holds(e)...)
	}
	return all
}
