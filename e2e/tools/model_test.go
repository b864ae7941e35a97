package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The tools are found in the requests of every API.
func TestOffers(t *testing.T) {
	const schema = `{"properties": {"a": {"type": "string"},
			"b": {"items": {"properties": {"c": {}, "d": {"$ref": "#/e"}}}}},
		"e": {"anyOf": [{"properties": {"f": {}}}, {"type": "null"}]}}`
	one := map[string][]string{"T": {"a", "b.c", "b.d.f"}}
	for name, test := range map[string]struct {
		tools string
		want  map[string][]string
	}{
		"messages":          {`[{"name": "T", "input_schema": ` + schema + `}]`, one},
		"chat":              {`[{"type": "function", "function": {"name": "T", "parameters": ` + schema + `}}]`, one},
		"responses":         {`[{"type": "function", "name": "T", "parameters": ` + schema + `}]`, one},
		"Gemini":            {`[{"functionDeclarations": [{"name": "T", "parametersJsonSchema": ` + schema + `}]}]`, one},
		"of the API itself": {`[{"type": "web_search"}]`, map[string][]string{"web_search": nil}},
		"in namespaces": {
			`[{"name": "functions", "tools": [{"name": "wait"}]}, {"name": "clock", "tools": [{"name": "sleep"}]},
				{"name": "mcp__x", "tools": [{"name": "y"}]}]`,
			map[string][]string{"wait": nil, "clocksleep": nil}},
		"called from a program": {
			`[{"name": "exec", "description": "declare const tools: { apply_patch(input: string): Promise<unknown>; };\n` +
				`declare const tools: { clock__now(args: {\n  // A zone.\n  zone?: string;\n}): Promise<unknown>; };"}]`,
			map[string][]string{"exec": nil, "apply_patch": nil, "clocknow": {"zone"}}},
	} {
		var part any
		if err := json.Unmarshal([]byte(test.tools), &part); err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		offers(got, "", part)
		if !maps.EqualFunc(got, test.want, slices.Equal) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestDeclared(t *testing.T) {
	const text = `
export interface EmptyInput {}
export interface FileReadInput {
  /**
   * path: of the file
   */
  file_path: string;
  "-n"?: boolean;
  mode?: "a" | "b";
  list:
    | [
        {
          name: string;
          edits?: [
            {
              old: string;
            }
          ];
        }
      ]
    | [
        {
          name: string;
        }
      ];
  last?: {
    [k: string]: unknown;
  };
}
export interface ReadOutput {
  other: string;
}
`
	path := filepath.Join(t.TempDir(), "types.ts")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	if err := declared(got, path); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"Empty": nil, "Read": {"-n", "file_path", "last", "list.edits.old", "list.name", "mode"}}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v, want %v", got, want)
	}
}
