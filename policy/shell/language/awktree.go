package language

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/benhoyt/goawk/lexer"
	"github.com/benhoyt/goawk/parser"
)

// awkNode is a node of the syntax tree that goawk makes. Its types cannot be named outside of goawk; their names and
// fields serve instead, and whoever walks the tree refuses kinds that it does not know.
type awkNode struct {
	kind   string // PrintStmt, BinaryExpr, ...
	texts  map[string]string
	number float64
	op     string
	regex  bool
	fields []awkField
}

// awkField is a field of a node with the nodes in it.
type awkField struct {
	name string
	kids []*awkNode
}

// all are the nodes in a field.
func (n *awkNode) all(field string) []*awkNode {
	for _, f := range n.fields {
		if f.name == field {
			return f.kids
		}
	}
	return nil
}

// kid is the first node in a field, or nil.
func (n *awkNode) kid(field string) *awkNode {
	if kids := n.all(field); len(kids) > 0 {
		return kids[0]
	}
	return nil
}

// each calls f for the node and everything below it.
func (n *awkNode) each(f func(*awkNode)) {
	f(n)
	for _, field := range n.fields {
		for _, kid := range field.kids {
			kid.each(f)
		}
	}
}

// is reports whether the node, which may be nil, is a variable of this name.
func (n *awkNode) is(name string) bool {
	return n != nil && n.kind == "VarExpr" && n.texts["Name"] == name
}

// bare takes the parentheses off.
func (n *awkNode) bare() *awkNode {
	for n != nil && n.kind == "GroupingExpr" {
		n = n.kid("Expr")
	}
	return n
}

// spelling tells expressions apart.
func (n *awkNode) spelling() string {
	out := n.kind + n.op + n.texts["Name"] + n.texts["Array"] + n.texts["Value"]
	out += strconv.FormatFloat(n.number, 'g', -1, 64)
	for _, field := range n.fields {
		for _, kid := range field.kids {
			out += "(" + kid.spelling() + ")"
		}
	}
	return out
}

// parseAwk reads a program: blocks without a pattern, actions with theirs.
func parseAwk(program string) (blocks [][]*awkNode, actions []*awkNode, err error) {
	defer func() {
		if recover() != nil {
			err = errAwk
		}
	}()
	parsed, err := parser.ParseProgram([]byte(program), nil)
	if err != nil || len(parsed.Functions) > 0 {
		return nil, nil, errAwk
	}
	for _, b := range parsed.Begin {
		blocks = append(blocks, awkNodes(reflect.ValueOf(b)))
	}
	for _, b := range parsed.End {
		blocks = append(blocks, awkNodes(reflect.ValueOf(b)))
	}
	return blocks, awkNodes(reflect.ValueOf(parsed.Actions)), nil
}

const errAwk = refusal("nod cannot read the awk program.")

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
	n := &awkNode{kind: v.Type().Name(), texts: map[string]string{}}
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch field.Kind() {
		case reflect.String:
			n.texts[name] = field.String()
		case reflect.Float64:
			n.number = field.Float()
		case reflect.Bool:
			n.regex = n.regex || name == "Regex" && field.Bool()
		case reflect.Int:
			n.op = fmt.Sprint(lexer.Token(field.Int()))
		case reflect.Interface, reflect.Pointer:
			if !field.IsNil() {
				n.fields = append(n.fields, awkField{name, []*awkNode{makeAwkNode(field)}})
			}
		case reflect.Slice:
			n.fields = append(n.fields, awkField{name, awkNodes(field)})
		}
	}
	return n
}
