package ipc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
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
	want := before + referenceBegin + "\n" + reference(t) + referenceEnd + after
	if *update {
		if err := os.WriteFile(referencePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Errorf("%s says something else: run go test ./ipc -run 'Description|Reference' -update", referencePage)
	}
}

// shape is what the reference needs of a schema.
type shape struct {
	Ref        string           `json:"$ref"`
	Type       any              `json:"type"`
	Required   []string         `json:"required"`
	Properties map[string]shape `json:"properties"`
	Items      *shape           `json:"items"`
}

type content map[string]struct{ Schema shape }

// called is what the reference needs of a route.
type called struct {
	Summary     string
	Parameters  []struct{ Name, In, Description string }
	RequestBody struct{ Content content }
	Responses   map[string]struct{ Content content }
}

// reference lists, for people, the routes, the members of what callers send, and the codes of problems. The description
// says what each member means, and what comes back.
func reference(t *testing.T) string {
	t.Helper()
	var d struct {
		Paths      map[string]map[string]called
		Components struct{ Schemas map[string]shape }
	}
	if err := json.Unmarshal([]byte(description), &d); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| route | what it does | body | reply |\n|---|---|---|---|\n")
	var bodies []string
	for _, route := range routes() {
		op := d.Paths[route.path][strings.ToLower(route.method)]
		body := nameIn(op.RequestBody.Content)
		bodies = append(bodies, body)
		fmt.Fprintf(&b, "| `%s %s` | %s | %s | %s |\n", route.method, route.path, op.about(), body,
			nameIn(op.Responses["200"].Content))
	}
	return b.String() + "\n" + members(d.Components.Schemas, bodies) + "\n" + problems() + "\n"
}

// members is a table of the members of bodies, and of what these consist of.
func members(schemas map[string]shape, names []string) string {
	var b strings.Builder
	asks := shared(schemas, "AskRequest", "ConfirmRequest", "FormRequest", "ApproveRequest", "NotifyRequest")
	fmt.Fprintf(&b, "| body | members |\n|---|---|\n| every request that asks | %s |\n", asks.text())
	written := map[string]bool{}
	for ; len(names) > 0; names = names[1:] {
		name := names[0]
		s := schemas[name]
		if written[name] || len(s.Properties) == 0 {
			continue
		}
		written[name] = true
		for _, member := range s.members() {
			m := s.Properties[member]
			if m.Items != nil {
				m = *m.Items
			}
			names = slices.Insert(names, 1, m.name())
			if _, is := asks.Properties[member]; is {
				delete(s.Properties, member)
			}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, s.text())
	}
	return b.String()
}

// shared has the members that all of these schemas have.
func shared(schemas map[string]shape, names ...string) shape {
	all := maps.Clone(schemas[names[0]].Properties)
	maps.DeleteFunc(all, func(member string, _ shape) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			_, has := schemas[name].Properties[member]
			return !has
		})
	})
	return shape{Properties: all}
}

// about is what a route does, with its parameters, but for those in the path.
func (op called) about() string {
	about := op.Summary
	for _, p := range op.Parameters {
		if p.In != "path" && p.Name != "Idempotency-Key" {
			about += fmt.Sprintf("; %s `%s`: %s", p.In, p.Name, p.Description)
		}
	}
	return about
}

// nameIn is the name of the schema of a body; "" where there is none.
func nameIn(c content) string {
	for _, media := range c {
		return media.Schema.name()
	}
	return ""
}

func (s shape) name() string { return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] }

// members lists first what must be there, then the others, each by name.
func (s shape) members() []string {
	return slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		rank := func(name string) int { return slices.Index([]bool{true, false}, slices.Contains(s.Required, name)) }
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b))
	})
}

// text is the members with their types, unless they are strings.
func (s shape) text() string {
	var members []string
	for _, name := range s.members() {
		text := "`" + name + "`"
		if slices.Contains(s.Required, name) {
			text = "**" + text + "**"
		}
		if kind := s.Properties[name].kind(); kind != "string" {
			text += " " + kind
		}
		members = append(members, text)
	}
	return strings.Join(members, ", ")
}

// kind is the type of a member, in a word or two.
func (s shape) kind() string {
	switch {
	case s.Ref != "":
		return s.name()
	case s.Items != nil:
		return "list of " + strings.Replace(s.Items.kind(), "string", "strings", 1)
	case s.Type == nil:
		return "any"
	}
	return fmt.Sprint(s.Type)
}

// problems lists which status each code of a problem has.
func problems() string {
	byStatus := map[int][]string{}
	for _, code := range codes {
		byStatus[statusOf[code]] = append(byStatus[statusOf[code]], fmt.Sprintf("`%s`", api.Code(code)))
	}
	var all []string
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		all = append(all, fmt.Sprintf("%d %s", status, strings.Join(byStatus[status], ", ")))
	}
	return fmt.Sprintf("Codes of problems: %s.\n", strings.Join(all, "; "))
}
