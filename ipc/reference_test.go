package ipc

import (
	"bytes"
	"cmp"
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
	want := before + referenceBegin + "\n" + newReference(t).String() + referenceEnd + after
	if *update {
		if err := os.WriteFile(referencePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Errorf("%s says something else: run go test ./ipc -run 'Description|Reference' -update", referencePage)
	}
}

// reference writes the description of the interface for people.
type reference struct {
	bytes.Buffer
	schemas map[string]shape
	common  map[string]shape // members that every request that asks may have, or every reply to one has
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
	requests := r.everywhere("AskRequest", "ConfirmRequest", "FormRequest", "ApproveRequest", "NotifyRequest")
	replies := r.everywhere("AskReply", "ConfirmReply", "FormReply", "ApproveReply", "NotifyReply")
	r.common = maps.Clone(requests)
	maps.Copy(r.common, replies)
	everywhere := []string{"400", "401", "403", "500"}
	fmt.Fprint(r, "| route | what it does | body | reply | problems |\n|---|---|---|---|---|\n")
	for _, route := range routes() {
		op := d.Paths[route.path][strings.ToLower(route.method)]
		about := op.Summary
		for _, p := range op.Parameters {
			if p.In != "path" && p.Name != "Idempotency-Key" {
				about += fmt.Sprintf("; %s `%s`: %s", p.In, p.Name, p.Description)
			}
		}
		var replies, problems []string
		for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
			name := nameIn(op.Responses[status].Content)
			switch {
			case name != "Problem" && name != "":
				replies = append(replies, status+" "+link(name))
			case name != "Problem":
				replies = append(replies, status+" JSON")
			case slices.Contains(everywhere, status), len(op.RequestBody.Content) > 0 && (status == "413" || status == "415"):
			default:
				problems = append(problems, status)
			}
		}
		body := nameIn(op.RequestBody.Content)
		if body != "" {
			body = link(body)
		}
		fmt.Fprintf(r, "| `%s %s` | %s | %s | %s | %s |\n", route.method, route.path, about, body,
			strings.Join(replies, ", "), strings.Join(problems, ", "))
	}
	fmt.Fprintf(r, "\nAny route may also return %s, and one with a body 413 and 415: see [Problem](#problem).\n"+
		"The header `Idempotency-Key` is the same as `idempotency_key` in the body.\n\n", strings.Join(everywhere, ", "))
	fmt.Fprint(r, "### In every request that asks\n\n")
	r.members(shape{Properties: requests})
	fmt.Fprint(r, "### In every reply to one\n\n")
	r.members(shape{Properties: replies, Required: slices.Collect(maps.Keys(replies))})
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
	if strings.HasSuffix(name, "Request") || slices.Contains(s.Required, "outcome") {
		maps.DeleteFunc(own, func(member string, _ shape) bool { _, is := r.common[member]; return is })
	}
	switch {
	case name == "Value":
		fmt.Fprint(r, "A string; a list of strings if a question takes several picks.\n\n")
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

// members lists first what must be there, then the others, each by name.
func (r *reference) members(s shape) {
	names := slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		isOptional := func(name string) int {
			if slices.Contains(s.Required, name) {
				return 0
			}
			return 1
		}
		return cmp.Or(isOptional(a)-isOptional(b), cmp.Compare(a, b))
	})
	for _, name := range names {
		bold := ""
		if slices.Contains(s.Required, name) {
			bold = "**"
		}
		parts := []string{fmt.Sprintf("- %s`%s`%s", bold, name, bold)}
		if kind := s.Properties[name].kind(); kind != "string" {
			parts = append(parts, kind)
		}
		line := strings.Join(parts, " ")
		if about := s.Properties[name].about(); about != "" {
			line += ": " + about
		}
		fmt.Fprintln(r, line)
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
	if len(s.Enum) > 0 && len(s.Enum) < len(codes) { // codes have a list of their own
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

// codes lists which status each code of a problem has.
func (r *reference) codes() {
	byStatus := map[int][]string{}
	for _, code := range codes {
		byStatus[statusOf[code]] = append(byStatus[statusOf[code]], fmt.Sprintf("`%s`", api.Code(code)))
	}
	var all []string
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		all = append(all, fmt.Sprintf("%d %s", status, strings.Join(byStatus[status], ", ")))
	}
	fmt.Fprintf(r, "Codes by status: %s.\n\n", strings.Join(all, "; "))
}
