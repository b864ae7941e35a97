package language

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/benhoyt/goawk/lexer"
	"github.com/benhoyt/goawk/parser"
)

// awkNode is a node of goawk's syntax tree, with the names of goawk's types and fields, which other packages cannot
// name. Code that walks the tree refuses unknown kinds. An empty field is a node without a kind.
type awkNode struct {
	kind   string // PrintStmt, BinaryExpr, ...
	text   string // its name, array, text or pattern
	number float64
	op     string
	fields map[string][]*awkNode
	kids   []*awkNode // of all fields, in their order
}

var noAwkNode = &awkNode{}

func (n *awkNode) kid(field string) *awkNode {
	if kids := n.fields[field]; len(kids) > 0 {
		return kids[0]
	}
	return noAwkNode
}

func (n *awkNode) each(f func(*awkNode)) {
	f(n)
	for _, kid := range n.kids {
		kid.each(f)
	}
}

func (n *awkNode) is(name string) bool { return n.kind == "VarExpr" && n.text == name }

func (n *awkNode) bare() *awkNode {
	for n.kind == "GroupingExpr" {
		n = n.kid("Expr")
	}
	return n
}

// parseAwk reads a program: the statements of BEGIN and END, and the actions with their patterns.
func parseAwk(program string) (statements []*awkNode, err error) {
	defer func() {
		if recover() != nil {
			err = errAwk
		}
	}()
	parsed, err := parser.ParseProgram([]byte(program), nil)
	if err != nil || len(parsed.Functions) > 0 {
		return nil, errAwk
	}
	for _, list := range slices.Concat(parsed.Begin, parsed.End) {
		statements = append(statements, awkNodes(reflect.ValueOf(list))...)
	}
	return append(statements, awkNodes(reflect.ValueOf(parsed.Actions))...), nil
}

const errAwk = refusal("nod can't read the awk program.")

func awkNodes(list reflect.Value) []*awkNode {
	out := make([]*awkNode, 0, list.Len())
	for i := range list.Len() {
		out = append(out, makeAwkNode(list.Index(i)))
	}
	return out
}

func makeAwkNode(v reflect.Value) *awkNode {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	n := &awkNode{kind: v.Type().Name(), fields: map[string][]*awkNode{}}
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch field.Kind() {
		case reflect.String:
			n.text = field.String()
		case reflect.Float64:
			n.number = field.Float()
		case reflect.Int:
			n.op = fmt.Sprint(lexer.Token(field.Int()))
		case reflect.Interface, reflect.Pointer:
			if !field.IsNil() {
				n.fields[name] = []*awkNode{makeAwkNode(field)}
			}
		case reflect.Slice:
			n.fields[name] = awkNodes(field)
		}
		n.kids = append(n.kids, n.fields[name]...)
	}
	return n
}
