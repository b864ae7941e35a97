package ipc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nod/api"
)

const (
	referencePage  = "../docs/http-api.md"
	referenceBegin = "<!-- reference: begin -->\n"
	referenceEnd   = "<!-- reference: end -->\n"
)

// TestReferenceIsWhatIsDescribed has the page for people say what the description says.
func TestReferenceIsWhatIsDescribed(t *testing.T) {
	page, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(page), referenceBegin)
	_, after, hasEnd := strings.Cut(rest, referenceEnd)
	if !hasBegin || !hasEnd {
		t.Fatalf("%s has no %q before %q", referencePage, referenceBegin, referenceEnd)
	}
	want := before + referenceBegin + "\n" + newReference(t).String() + "\n" + referenceEnd + after
	if *update {
		if err := os.WriteFile(referencePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Errorf("%s says something else: run go test ./ipc -run 'Description|Reference' -update", referencePage)
	}
}

// placeOf says where a parameter stands.
var placeOf = map[string]string{"path": "In the path", "query": "Query", "header": "Header"}

// reference writes the description of the interface for people.
type reference struct {
	bytes.Buffer
	schemas map[string]shape
	common  map[string]shape // members that every request may have
	written map[string]bool  // schemas that have their table
}

// shape is what the reference needs of a schema.
type shape struct {
	Ref         string           `json:"$ref"`
	Type        any              `json:"type"`
	Description string           `json:"description"`
	Default     any              `json:"default"`
	Enum        []any            `json:"enum"`
	Minimum     *float64         `json:"minimum"`
	Maximum     *float64         `json:"maximum"`
	Required    []string         `json:"required"`
	Properties  map[string]shape `json:"properties"`
	Items       *shape           `json:"items"`
	OneOf       []shape          `json:"oneOf"`
}

type content map[string]struct{ Schema shape }

func newReference(t *testing.T) *reference {
	t.Helper()
	var d struct {
		Paths map[string]map[string]struct {
			Summary     string
			Parameters  []struct{ Name, In, Description string }
			RequestBody struct{ Content content }
			Responses   map[string]struct{ Content content }
		}
		Components struct {
			Schemas map[string]shape
		}
	}
	if err := json.Unmarshal([]byte(description), &d); err != nil {
		t.Fatal(err)
	}
	r := &reference{schemas: d.Components.Schemas, written: map[string]bool{}}
	r.common = r.everywhere("AskRequest", "ConfirmRequest", "FormRequest", "ApproveRequest", "NotifyRequest")
	for _, route := range routes() {
		op := d.Paths[route.path][strings.ToLower(route.method)]
		fmt.Fprintf(r, "### %s %s\n\n%s.\n\n", route.method, route.path, op.Summary)
		for _, p := range op.Parameters {
			fmt.Fprintf(r, "- %s `%s`: %s\n", placeOf[p.In], p.Name, p.Description)
		}
		if name := nameIn(op.RequestBody.Content); name != "" {
			fmt.Fprintf(r, "- Body: %s\n", link(name))
		}
		var problems []string
		for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
			name := nameIn(op.Responses[status].Content)
			switch {
			case name == "Problem":
				problems = append(problems, status)
			case name != "":
				fmt.Fprintf(r, "- %s: %s\n", status, link(name))
			default:
				fmt.Fprintf(r, "- %s: JSON\n", status)
			}
		}
		fmt.Fprintf(r, "- [Problems](#problem): %s\n\n", strings.Join(problems, ", "))
	}
	fmt.Fprintf(r, "### In every request\n\nThe body of every request that asks may also have:\n\n")
	r.members(shape{Properties: r.common})
	for _, route := range routes() {
		op := d.Paths[route.path][strings.ToLower(route.method)]
		r.object(nameIn(op.RequestBody.Content))
		for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
			r.object(nameIn(op.Responses[status].Content))
		}
	}
	return r
}

// everywhere returns the members that all of these schemas have.
func (r *reference) everywhere(names ...string) map[string]shape {
	all := maps.Clone(r.schemas[names[0]].Properties)
	maps.DeleteFunc(all, func(member string, _ shape) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			_, has := r.schemas[name].Properties[member]
			return !has
		})
	})
	return all
}

// nameIn is the name of the schema of a body; "" where there is none.
func nameIn(c content) string {
	for _, media := range c {
		return media.Schema.name()
	}
	return ""
}

func (s shape) name() string { return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] }

func link(name string) string { return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name)) }

// object writes the table of a schema, and of those that it needs, once.
func (r *reference) object(name string) {
	s, isKnown := r.schemas[name]
	if !isKnown || r.written[name] {
		return
	}
	r.written[name] = true
	fmt.Fprintf(r, "### %s\n\n", name)
	own := maps.Clone(s.Properties)
	if strings.HasSuffix(name, "Request") {
		maps.DeleteFunc(own, func(member string, _ shape) bool { _, is := r.common[member]; return is })
		fmt.Fprintf(r, "And what is [in every request](#in-every-request).\n\n")
	}
	switch {
	case name == "Value":
		fmt.Fprint(r, "A string, or a list of strings where a question takes several picks.\n\n")
	case len(own) == 0:
		fmt.Fprint(r, "A JSON object, in the agent's own words.\n\n")
	default:
		s.Properties = own
		r.members(s)
	}
	if name == "Problem" {
		r.codes()
	}
	for _, member := range slices.Sorted(maps.Keys(own)) {
		m := own[member]
		if m.Items != nil {
			m = *m.Items
		}
		r.object(m.name())
	}
}

// members writes a table: first what must be there, then by name.
func (r *reference) members(s shape) {
	names := slices.Sorted(maps.Keys(s.Properties))
	optional := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(s.Required, name) })
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(optional, name) })
	names = append(names, optional...)
	fmt.Fprint(r, "| member | type | what it says |\n|---|---|---|\n")
	for _, name := range names {
		bold := ""
		if slices.Contains(s.Required, name) {
			bold = "**"
		}
		fmt.Fprintf(r, "| %s`%s`%s | %s | %s |\n", bold, name, bold, s.Properties[name].kind(), s.Properties[name].about())
	}
	fmt.Fprintln(r)
}

// kind is the type of a member, in a word or two.
func (s shape) kind() string {
	switch {
	case s.Ref != "":
		return link(s.name())
	case s.Items != nil:
		return "list of " + strings.Replace(s.Items.kind(), "string", "strings", 1)
	case s.Type == nil:
		return "any"
	}
	return fmt.Sprint(s.Type)
}

// about is what a member says, with its values and bounds.
func (s shape) about() string {
	var parts []string
	if s.Description != "" {
		parts = append(parts, strings.ReplaceAll(s.Description, "|", `\|`))
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprintf("`%v`", v))
		}
		parts = append(parts, strings.Join(values, ", "))
	}
	if s.Minimum != nil && s.Maximum != nil {
		parts = append(parts, fmt.Sprintf("%v to %v", *s.Minimum, strconv.FormatFloat(*s.Maximum, 'f', -1, 64)))
	}
	if s.Default != nil {
		parts = append(parts, fmt.Sprintf("default: `%v`", s.Default))
	}
	return strings.Join(parts, "; ")
}

// codes writes which status each code of a problem has.
func (r *reference) codes() {
	fmt.Fprint(r, "| status | `code` |\n|---|---|\n")
	byStatus := map[int][]string{}
	for _, code := range codes {
		byStatus[statusOf[code]] = append(byStatus[statusOf[code]], fmt.Sprintf("`%s`", api.Code(code)))
	}
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		fmt.Fprintf(r, "| %d | %s |\n", status, strings.Join(byStatus[status], ", "))
	}
	fmt.Fprintln(r)
}
