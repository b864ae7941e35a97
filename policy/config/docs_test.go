package config

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The reference has each key of the file once, in its order, with its default. What a rule has is with the rules.
func TestReference(t *testing.T) {
	const page, rules = "../../docs/configuration.md", "../../docs/policy.md"
	var got []string
	for _, m := range rows(t, page, "([a-z_.]+)` \\|(?: `(.*?)`)? \\|") {
		got = append(got, m[1]+" "+m[2])
	}
	var ofRules []string
	for _, m := range rows(t, rules, "([a-z_.]+)` \\|") {
		ofRules = append(ofRules, m[1])
	}
	var want, wantOfRules []string
	for _, key := range reference("", reflect.ValueOf(Default())) {
		of, ok := strings.CutPrefix(key, "policy.rules.")
		if !ok {
			want = append(want, key)
		} else if of, _, _ = strings.Cut(of, " "); !strings.Contains(of, ".") { // what is in args is said with them
			wantOfRules = append(wantOfRules, of)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s has the keys and defaults\n%s\nwant\n%s", page, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	slices.Sort(ofRules)
	slices.Sort(wantOfRules)
	if !slices.Equal(ofRules, wantOfRules) {
		t.Errorf("%s has the keys of a rule\n%q\nwant\n%q", rules, ofRules, wantOfRules)
	}
}

// rows finds the rows of the tables of a document that begin with a key.
func rows(t *testing.T, page, begin string) [][]string {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?m)^\\| `"+begin).FindAllStringSubmatch(string(text), -1)
}

// Each recipe is a file that nod takes, and each of its rules shows what it matches and what not.
func TestRecipes(t *testing.T) {
	text, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, recipe := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		cfg, err := parse([]byte(recipe[1]), "config.yaml", nil)
		if err != nil {
			t.Errorf("%v\nin\n%s", err, recipe[1])
			continue
		}
		for _, r := range cfg.Policy.Rules {
			if len(r.Examples.Match) == 0 || len(r.Examples.NoMatch) == 0 || ids[r.ID] {
				t.Errorf("recipe %q: want a name of its own, and examples of what it matches and what not", r.ID)
			}
			ids[r.ID] = true
		}
	}
	if len(ids) < 12 {
		t.Errorf("%d recipes, want at least 12", len(ids))
	}
}

// reference lists the keys below a value, each with the value as the file says it. What the items of a list hold has
// no default but false.
func reference(prefix string, v reflect.Value) []string {
	var keys []string
	for f, value := range v.Fields() {
		key, of := prefix+yamlKey(f), f.Type
		switch {
		case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
			keys = append(keys, key+" "+inFile(prefix, value))
			keys = append(keys, reference(key+".", reflect.Zero(of.Elem()))...)
		case of.Kind() == reflect.Struct:
			if prefix != "" {
				keys = append(keys, key+" ")
			}
			keys = append(keys, reference(key+".", value)...)
		default:
			keys = append(keys, key+" "+inFile(prefix, value))
		}
	}
	return keys
}

func inFile(prefix string, v reflect.Value) string {
	d, isTime := v.Interface().(time.Duration)
	switch {
	case isTime:
		return FormatDuration(d)
	case v.Kind() == reflect.Bool, v.Kind() == reflect.Int:
		return fmt.Sprint(v)
	case strings.HasPrefix(prefix, "policy.rules."):
		return ""
	case v.Kind() == reflect.Slice:
		return fmt.Sprint(v)
	case v.String() == "":
		return `""`
	}
	return v.String()
}
