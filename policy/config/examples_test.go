package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/policy"
)

const exampleFile = `policy:
  rules:
    - id: tests
      effect: allow
      agent: claude-code
      tool: Bash
      command: make test
      cwd: ~/src/**
      expires: 2001-01-01 # examples are of what it would do
      examples:
        match: [make test, '{"tool":"Bash","input":{"command":"make test","timeout":5}}']
        no_match:
          - make install
          - '{"input":{"command":"make test"},"cwd":"/elsewhere"}'
    - id: web
      effect: allow
      host: "*.example.com"
      args: [{field: prompt, value: "sum*"}]
      examples:
        match: ['{"tool":"WebFetch","input":{"url":"https://a.example.com","prompt":"sum up"}}']
        no_match:
          - '{"tool":"WebFetch","input":{"url":"https://example.com","prompt":"sum up"}}'
          - curl https://a.example.com
`

func TestExamplesHold(t *testing.T) {
	cfg, err := parse([]byte(exampleFile), "config.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := cfg.Policy.Rules[1]; len(r.Examples.NoMatch) != 2 ||
		r.Args[0] != (policy.Arg{Field: "prompt", Value: "sum*"}) ||
		cfg.Policy.Rules[0].Expires != "2001-01-01" {
		t.Errorf("read as %+v", cfg.Policy.Rules)
	}
}

func TestExamplesThatFailRefuseTheFile(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"[make test,", "[make tests,", `:11: policy.rules[0].examples.match[0]: "make tests": the rule does not match it`},
		{"- make install", "- make test", `:13: policy.rules[0].examples.no_match[0]: "make test": the rule matches it`},
		{`{"tool":"Bash"`, `{"tol":"Bash"`, `policy.rules[0].examples.match[1]: "{\"tol\":\"Bash\",`},
		{`"timeout":5}}`, `"timeout":5}} {}`, "after top-level value"},
		{`"timeout":5}}`, `"timeout":5},"tool":"Read"}`, "duplicate object member name"},
	} {
		_, err := parse([]byte(strings.Replace(exampleFile, tt.old, tt.new, 1)), "config.yaml", nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v\nwant %s", err, tt.want)
		}
	}
}

// What the new fields say survives a change of the file, and their own change leaves all else as it was.
func TestNewFieldsAreWrittenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, "# mine\n"+exampleFile)
	f := openFile(t, path)
	if err := f.State().Err; err != nil {
		t.Fatal(err)
	}
	err := f.Update(func(c *Config) error {
		c.Policy.Rules[1].Args = []policy.Arg{{Field: "prompt", Value: "sum*"}, {Field: "url", Value: "https://*"}}
		c.Policy.Rules[0].Expires = "2002-02-02"
		c.Policy.Rules = append(
			c.Policy.Rules,
			policy.Rule{
				ID:       "new",
				Effect:   policy.Deny,
				Server:   "prod",
				Session:  "s",
				Examples: policy.Examples{Match: []string{`{"tool":"mcp__prod__x","session":"s"}`}},
			},
		)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "# mine\n") ||
		!strings.Contains(string(text), "# examples are of what it would do") {
		t.Errorf("%v\n%s", err, text)
	}
	after := f.Config().Policy.Rules
	if len(after) != 3 || after[0].Examples.Match[0] != "make test" ||
		len(after[1].Args) != 2 ||
		after[2].Server != "prod" {
		t.Errorf("rules %+v", after)
	}
}

func TestTestExamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, strings.Replace(exampleFile, "- make install", "- make test", 1))
	results, err := TestExamples(path)
	if err != nil || len(results) != 7 {
		t.Fatalf("%v: %+v", err, results)
	}
	failed := 0
	for _, r := range results {
		if r.Problem != "" {
			failed++
			if r.Rule != "tests" || r.Match || r.Text != "make test" || r.Problem != "the rule matches it" {
				t.Errorf("failed: %+v", r)
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d failed, want one", failed)
	}
	write(t, path, "policy: {rules: [{id: x}]}\n")
	if _, err := TestExamples(path); err == nil {
		t.Error("a file that is wrong otherwise was tried")
	}
}

func openFile(t *testing.T, path string) *file {
	t.Helper()
	f, err := openConfig(path, policy.DefaultPlaces(), slog.New(slog.DiscardHandler), func() {})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
