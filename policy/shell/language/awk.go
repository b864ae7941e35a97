package language

import (
	"cmp"
	"maps"
	"strings"
)

// Awk judges an awk program that only prints. Variables that the command sets, with -v or among the operands, are in
// assigned as NAME=VALUE. Refused are other programs, files apart from the input, the environment, functions of the
// program's own, loops without a clear end, formats and patterns that are not plain texts, and text that may grow by a
// factor with each line.
//
// What passes means the same to gawk, mawk, busybox and the awk of BSD, apart from what they print.
func Awk(program string, assigned []string) error {
	if err := unreadable(program); err != nil {
		return err
	}
	if err := scanAwk(program); err != nil {
		return err
	}
	if !smallIntervals(program) {
		return errAwk
	}
	blocks, actions, err := parseAwk(program)
	if err != nil {
		return err
	}
	r := awkReader{size: float64(len(program)), given: map[string]string{}, set: map[string][]*awkNode{},
		weights: map[string]float64{}, arrays: map[string]bool{}, reached: map[string]map[string]bool{},
		degrees: map[string]int{}}
	if err := r.assignments(assigned); err != nil {
		return err
	}
	for _, b := range append(blocks, actions) {
		for _, n := range b {
			n.each(r.collect)
		}
	}
	r.once = true
	for _, b := range blocks {
		r.list(b)
	}
	r.once = false
	for _, a := range actions {
		r.expressions(a.fields["Pattern"])
		r.list(a.fields["Stmts"])
	}
	if r.err != nil {
		return r.err
	}
	return r.growth()
}

// awkInterval is a repetition in a pattern.
var awkInterval = Compiled(`\{[0-9, ]*\}`)

// smallIntervals keeps the parser, which compiles all patterns, from much work.
func smallIntervals(program string) bool {
	total := len(program)
	for _, m := range awkInterval().FindAllString(program, -1) {
		for _, n := range gitNumber().FindAllString(m, -1) {
			total *= max(count(n), 1)
			if total > 1_000_000 {
				return false
			}
		}
	}
	return true
}

// awkAssignment is a variable that the command sets.
var awkAssignment = Compiled(`(?s)^([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)

// awkSealed are variables that reach the environment, files or other variables, or change how files are opened.
var awkSealed = Words("ENVIRON ARGV ARGC ARGIND SYMTAB FUNCTAB PROCINFO BINMODE LINT TEXTDOMAIN ERRNO")

// awkPatterns are variables that hold a pattern, awkFormats those that hold a format.
var (
	awkPatterns = Words("FS RS FPAT")
	awkFormats  = Words("OFMT CONVFMT")
)

// awkCode is a character spelled by its number, which could be part of a pattern or format.
var awkCode = Compiled(`\\[0-9xu]`)

func (r *awkReader) assignments(assigned []string) error {
	for _, a := range assigned {
		m := awkAssignment().FindStringSubmatch(a)
		if m == nil || unreadable(a) != nil {
			return refusal("nod cannot read the variable " + Quote(a) + ".")
		}
		name, value := m[1], m[2]
		if awkSealed.Has(name) || name == "NF" || awkCode().MatchString(value) {
			return refusal("nod does not know the variable " + Quote(a) + " to be harmless.")
		}
		if err := special(name, value); err != nil {
			return err
		}
		if _, twice := r.given[name]; twice {
			r.set[name] = append(r.set[name], noAwkNode)
		}
		r.given[name] = value
	}
	return nil
}

// special judges the value of a variable that awk uses as a pattern or format.
func special(name, value string) error {
	switch {
	case awkPatterns.Has(name):
		return Regexp(value, AwkExtended)
	case awkFormats.Has(name):
		return awkFormat(value)
	}
	return nil
}

// awkReader walks through a program. The first thing that is not harmless stays in err.
type awkReader struct {
	given   map[string]string     // variables that the command sets
	set     map[string][]*awkNode // what the program sets variables to; empty: unknown
	weights map[string]float64
	loops   []awkLoop
	repeats float64 // how often what is judged runs, for the length of the input
	once    bool    // in BEGIN or END
	size    float64 // the length of the program
	changes []awkChange
	arrays  map[string]bool
	reached map[string]map[string]bool // by name, all that it is made of
	degrees map[string]int
	fresh   map[string]int // by name, the assignment before that surely ran in this round of the loop
	err     error
}

func (r *awkReader) refuse(reason string) { r.err = cmp.Or(r.err, error(refusal(reason))) }

// collect notes what variables are set to.
func (r *awkReader) collect(n *awkNode) bool {
	if target, to := n.changes(); target.kind == "VarExpr" {
		r.set[target.text] = append(r.set[target.text], to)
	}
	return true
}

// list judges the statements of a block.
func (r *awkReader) list(statements []*awkNode) {
	outer := r.fresh
	r.fresh = map[string]int{}
	maps.Copy(r.fresh, outer)
	for _, s := range statements {
		r.statement(s)
		if e := s.kid("Expr"); s.kind == "ExprStmt" && e.kind == "AssignExpr" && e.kid("Left").kind == "VarExpr" {
			r.fresh[e.kid("Left").text] = len(r.changes) - 1
		}
	}
	r.fresh = outer
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
	case "ExprStmt":
		r.expression(s.kid("Expr"))
	case "IfStmt":
		r.expression(s.kid("Cond"))
		r.list(s.fields["Body"])
		r.list(s.fields["Else"])
	case "BlockStmt":
		r.list(s.fields["Body"])
	case "ForStmt":
		r.forLoop(s)
	case "ForInStmt":
		r.forIn(s)
	case "WhileStmt", "DoWhileStmt":
		r.refuse("The awk program may loop without end.")
	case "DeleteStmt":
		r.name(s.text)
		r.expressions(s.fields["Index"])
	case "ExitStmt":
		r.expressions(s.fields["Status"])
	case "BreakStmt", "ContinueStmt", "NextStmt", "NextfileStmt":
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

// expression judges an expression with all that is in it.
func (r *awkReader) expression(e *awkNode) {
	if e.kind == "AssignExpr" && sortsPROCINFO(e) {
		return
	}
	r.expressions(e.kids)
	switch e.kind {
	case "NumExpr", "StrExpr", "UnaryExpr", "CondExpr", "GroupingExpr", "MultiExpr":
	case "VarExpr":
		r.name(e.text)
	case "InExpr":
		r.name(e.text)
	case "IndexExpr":
		r.name(e.text)
		r.element(e)
	case "RegExpr":
		r.pattern(e.text)
	case "BinaryExpr":
		if e.op == "~" || e.op == "!~" {
			r.matched(e.kid("Right"))
		}
	case "FieldExpr":
		if !r.small(e.kid("Index")) {
			r.refuse("nod cannot tell which field the awk program uses; a high number takes much memory.")
		}
	case "AssignExpr", "AugAssignExpr", "IncrExpr":
		r.assign(e)
	case "CallExpr":
		r.call(e)
	default:
		r.refuse("The awk program may do more than print.")
	}
}

// sortsPROCINFO reports whether gawk is told the order of for (k in a), by one of its own names.
func sortsPROCINFO(e *awkNode) bool {
	left, right := e.kid("Left"), e.kid("Right")
	index := left.kid("Index")
	return left.kind == "IndexExpr" && left.text == "PROCINFO" && len(left.kids) == 1 &&
		index.kind == "StrExpr" && index.text == "sorted_in" &&
		right.kind == "StrExpr" && gawkOrder().MatchString(right.text)
}

var gawkOrder = Compiled(`^@(unsorted|(ind|val)_(str|num|type)_(asc|desc))$`)

// awkPure are functions that only compute.
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
		r.change(args[1].text, holds(args[0]), args[:1])
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
		r.refuse("nod cannot tell which format the awk program prints with.")
		return
	}
	r.err = cmp.Or(r.err, awkFormat(text))
}

func awkFormat(format string) error {
	return eachDirective(format, directive, func(_ []string, letter byte) error {
		if strings.IndexByte("diouxXeEfFgGaAcs%", letter) < 0 {
			return unknownDirective(letter)
		}
		return nil
	})
}

// constant is the text of an expression that is known: texts and variables of the command that nothing changes.
func (r *awkReader) constant(e *awkNode) (string, bool) {
	switch e = e.bare(); {
	case e.kind == "StrExpr":
		return e.text, true
	case e.kind == "VarExpr" && !awkBuiltIn.Has(e.text) && len(r.set[e.text]) == 0:
		return r.given[e.text], true
	case e.kind == "BinaryExpr" && e.op == "<concat>":
		left, ok := r.constant(e.kid("Left"))
		right, both := r.constant(e.kid("Right"))
		return left + right, ok && both
	}
	return "", false
}

// awkBuiltIn are variables that awk sets.
var awkBuiltIn = Words("NF NR FNR FILENAME FS RS OFS ORS RSTART RLENGTH RT SUBSEP OFMT CONVFMT FPAT " +
	"FIELDWIDTHS IGNORECASE")

// matched judges an expression that is used as a pattern.
func (r *awkReader) matched(e *awkNode) {
	if e = e.bare(); e.kind == "RegExpr" {
		return
	}
	text, ok := r.constant(e)
	if !ok && !e.is("FS") && !(e.is("SUBSEP") && len(r.set["SUBSEP"]) == 0) {
		r.refuse("nod cannot tell which pattern the awk program matches.")
		return
	}
	r.pattern(text)
}

func (r *awkReader) pattern(text string) { r.err = cmp.Or(r.err, Regexp(text, AwkExtended)) }
