package ipc

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestDescriptionIsTheGoldenOne(t *testing.T) {
	text, err := buildDescription(versionMark)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	const golden = "openapi.json"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf(
			"the description differs from %s: look at the change, then run: go test ./ipc -run Description -update", golden,
		)
	}
}

func TestDescriptionIsServed(t *testing.T) {
	d := open(t)
	g := d.get("/v1/openapi.json")
	g.want(t, 200, map[string]any{"openapi": "3.1.0"})
	want, err := buildDescription("0.0.0-test")
	if err != nil {
		t.Fatal(err)
	}
	if g.text != string(want)+"\n" {
		t.Error("what is served is not what is built")
	}
}

// operation is what the tests need of an operation in the document.
type operation struct {
	OperationID string `json:"operationId"`
	RequestBody struct {
		Required bool
		Content  map[string]struct{ Schema schema }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema schema }
	}
	Security []map[string][]string
}

// schemas is the published document.
type schemas struct {
	Paths      map[string]map[string]operation
	Components struct {
		Schemas         map[string]schema
		SecuritySchemes map[string]struct{ Type, Scheme string }
	}
	Security []map[string][]string
}

func loadSchemas(t testing.TB) schemas {
	t.Helper()
	text, err := buildDescription("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	var s schemas
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s schemas) request(t testing.TB, path string) rooted {
	t.Helper()
	content, ok := s.Paths[path]["post"].RequestBody.Content["application/json"]
	if !ok {
		t.Fatalf("no body of %s is described", path)
	}
	return rooted{s, content.Schema}
}

func (s schemas) reply(t testing.TB, method, path string, status int, mediaType string) rooted {
	t.Helper()
	content, ok := s.Paths[path][strings.ToLower(method)].Responses[fmt.Sprint(status)].Content[mediaType]
	if !ok {
		t.Fatalf("no reply %d of %s %s is described", status, method, path)
	}
	return rooted{s, content.Schema}
}

func TestDescriptionHasEveryRoute(t *testing.T) {
	s := loadSchemas(t)
	described := 0
	for _, methods := range s.Paths {
		described += len(methods)
	}
	if described != len(routes()) {
		t.Errorf("%d operations are described, there are %d routes", described, len(routes()))
	}
	ids := map[string]bool{}
	for _, route := range routes() {
		op, ok := s.Paths[route.path][strings.ToLower(route.method)]
		if !ok {
			t.Errorf("%s %s is not described", route.method, route.path)
			continue
		}
		if ids[op.OperationID] {
			t.Errorf("two operations are called %s", op.OperationID)
		}
		ids[op.OperationID] = true
		if (route.method == "POST") != op.RequestBody.Required {
			t.Errorf("%s %s: is its body required? %v", route.method, route.path, op.RequestBody.Required)
		}
		if op.Security != nil {
			t.Errorf("%s %s has a security of its own", route.method, route.path)
		}
	}
	token := s.Components.SecuritySchemes["token"]
	if len(s.Security) != 1 || s.Security[0]["token"] == nil || token.Type != "http" || token.Scheme != "bearer" {
		t.Errorf("the token is not asked for everywhere: %v %v", s.Security, token)
	}
}

func TestSamplesFitTheDescription(t *testing.T) {
	s := loadSchemas(t)
	for path, body := range samples {
		if err := s.request(t, path).validate([]byte(body)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, body := range map[string]string{
		"/v1/ask":     `{"question":"a","answer":"b"}`,
		"/v1/confirm": `{"message":null}`,
		"/v1/form":    `{"questions":[]}`,
		"/v1/approve": `{"tool":"T","input":[]}`,
		"/v1/notify":  `{"message":"m","level":"fatal"}`,
	} {
		if s.request(t, path).validate([]byte(body)) == nil {
			t.Errorf("%s: the description allows %s", path, body)
		}
	}
}

// schema is a JSON schema: as much of one as the document uses. A keyword that is not known here is an
// error, lest it is taken for checked.
type schema map[string]any

// rooted is a schema in its document.
type rooted struct {
	in schemas
	schema
}

func (r rooted) validate(text []byte) error {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err
	}
	return r.check(v)
}

func (r rooted) sub(s any) rooted { return rooted{r.in, s.(map[string]any)} }

// check validates v, a decoded JSON value.
func (r rooted) check(v any) error {
	var errs []error
	for keyword, want := range r.schema {
		if err := r.keyword(keyword, want, v); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", keyword, err))
		}
	}
	return errors.Join(errs...)
}

func (r rooted) keyword(keyword string, want, v any) error {
	switch keyword {
	case "description", "default", "examples", "format":
		return nil
	case "$ref":
		name := strings.TrimPrefix(want.(string), "#/components/schemas/")
		target, ok := r.in.Components.Schemas[name]
		if !ok {
			return fmt.Errorf("no %s", want)
		}
		return rooted{r.in, target}.check(v)
	case "type":
		return checkType(want.(string), v)
	case "enum":
		if !slices.Contains(want.([]any), v) {
			return fmt.Errorf("%v is none of %v", v, want)
		}
		return nil
	case "minimum", "maximum", "minLength", "minItems":
		return checkBound(keyword, want.(float64), v)
	case "oneOf":
		return r.oneOf(want.([]any), v)
	case "items":
		return r.items(want, v)
	case "properties", "required", "additionalProperties":
		return r.members(keyword, want, v)
	}
	return errors.New("unknown keyword")
}

func checkType(want string, v any) error {
	got := "null"
	switch v := v.(type) {
	case map[string]any:
		got = "object"
	case []any:
		got = "array"
	case string:
		got = "string"
	case bool:
		got = "boolean"
	case json.Number:
		got = "number"
		if want == "integer" && !strings.ContainsAny(v.String(), ".eE") {
			got = "integer"
		}
	}
	if got != want {
		return fmt.Errorf("%v is no %s", v, want)
	}
	return nil
}

func checkBound(keyword string, bound float64, v any) error {
	size := bound
	switch v := v.(type) {
	case json.Number:
		size, _ = v.Float64()
	case string:
		size = float64(utf8.RuneCountInString(v))
	case []any:
		size = float64(len(v))
	}
	if keyword == "maximum" && size > bound || keyword != "maximum" && size < bound {
		return fmt.Errorf("%v", v)
	}
	return nil
}

func (r rooted) oneOf(choices []any, v any) error {
	fits := 0
	for _, choice := range choices {
		if r.sub(choice).check(v) == nil {
			fits++
		}
	}
	if fits != 1 {
		return fmt.Errorf("%v fits %d", v, fits)
	}
	return nil
}

func (r rooted) items(want, v any) error {
	list, _ := v.([]any)
	for i, item := range list {
		if err := r.sub(want).check(item); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	return nil
}

func (r rooted) members(keyword string, want, v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return nil // its type is another keyword's business
	}
	known, _ := r.schema["properties"].(map[string]any)
	switch keyword {
	case "required":
		for _, name := range want.([]any) {
			if _, ok := object[name.(string)]; !ok {
				return fmt.Errorf("no %v", name)
			}
		}
	case "properties":
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if value, ok := object[name]; ok {
				if err := r.sub(known[name]).check(value); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	case "additionalProperties":
		for name, value := range object {
			if _, ok := known[name]; ok {
				continue
			}
			if want == false {
				return fmt.Errorf("%q is unknown", name)
			}
			if err := r.sub(want).check(value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}
