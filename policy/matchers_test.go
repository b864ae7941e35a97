package policy

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func fetch(address string) Call {
	input, _ := json.Marshal(map[string]string{"url": address, "prompt": "sum it up"})
	return Call{Agent: "claude-code", Tool: "WebFetch", CWD: "/src", Input: ReadInput(input)}
}

func withInput(tool, input string) Call {
	return Call{Agent: "a", Tool: tool, CWD: "/src", Input: ReadInput(json.RawMessage(input))}
}

func TestNewMatchers(t *testing.T) {
	inSession := func(c Call, s string) Call { c.Session = s; return c }
	for name, tt := range map[string]struct {
		rule  Rule
		call  Call
		allow bool // as an allow
		deny  bool // as a deny
	}{
		"session":                {Rule{Session: "s1"}, inSession(withInput("T", "{}"), "s1"), true, true},
		"another session":        {Rule{Session: "s1"}, inSession(withInput("T", "{}"), "s2"), false, false},
		"no session":             {Rule{Session: "s1"}, withInput("T", "{}"), false, false},
		"server":                 {Rule{Server: "github"}, withInput("mcp__github__list", "{}"), true, true},
		"servers":                {Rule{Server: "git*"}, withInput("mcp__gitlab__list", "{}"), true, true},
		"another server":         {Rule{Server: "github"}, withInput("mcp__gitlab__list", "{}"), false, false},
		"server, cut in two":     {Rule{Server: "github"}, withInput("mcp__github__evil__list", "{}"), false, true},
		"server, the longer cut": {Rule{Server: "github__evil"}, withInput("mcp__github__evil__list", "{}"), false, true},
		"no tool of a server":    {Rule{Server: "*"}, withInput("Bash", `{"command":"ls"}`), false, false},
		"server, unsure":         {Rule{Server: "github"}, withInput("mcp_github_list", "{}"), false, true},
		"only the server":        {Rule{Server: "*"}, withInput("mcp__github", "{}"), false, false},
		"host":                   {Rule{Host: "example.com"}, fetch("https://example.com/x?y"), true, true},
		"host, large letters":    {Rule{Host: "example.com"}, fetch("HTTPS://Example.COM:8443/"), true, true},
		"host, dot at the end":   {Rule{Host: "example.com"}, fetch("https://example.com./"), true, true},
		"below a host":           {Rule{Host: "*.example.com"}, fetch("https://a.b.example.com/"), true, true},
		"below is not itself":    {Rule{Host: "*.example.com"}, fetch("https://example.com/"), false, false},
		"host that looks like":   {Rule{Host: "*.example.com"}, fetch("https://evilexample.com/"), false, false},
		"host as a user name":    {Rule{Host: "good.com"}, fetch("https://good.com@evil.com/"), false, true},
		"backslash":              {Rule{Host: "good.com"}, fetch(`https://evil.com\@good.com/`), false, true},
		"percent":                {Rule{Host: "good.com"}, fetch("https://good%2ecom/"), false, true},
		"foreign letters":        {Rule{Host: "good.com"}, fetch("https://gооd.com/"), false, true},
		"another scheme":         {Rule{Host: "good.com"}, fetch("ftp://good.com/"), false, true},
		"no scheme":              {Rule{Host: "good.com"}, fetch("good.com/x"), false, true},
		"empty address":          {Rule{Host: "good.com"}, fetch(""), false, true},
		"no address":             {Rule{Host: "good.com"}, withInput("WebFetch", `{"q":"x"}`), false, false},
		"IPv6":                   {Rule{Host: "::1"}, fetch("http://[::1]:8080/"), true, true},
		"two hosts": {
			Rule{Host: "good.com"}, withInput("web_fetch", `{"prompt":"see https://good.com/a and (https://evil.com/b)"}`),
			false, true,
		},
		"one host in a text": {
			Rule{Host: "good.com"}, withInput("web_fetch", `{"prompt":"see https://good.com/a, please"}`), true, true,
		},
		"two in one word": {
			Rule{Host: "good.com"}, withInput("web_fetch", `{"prompt":"https://good.com,https://evil.com"}`), false, true,
		},
		"nested": {
			Rule{Host: "good.com"}, withInput("T", `{"a":[{"urls":["https://good.com","https://evil.com"]}]}`), false, true,
		},
		"a command": {
			Rule{Host: "good.com"}, withInput("Bash", `{"command":"curl https://good.com"}`), false, true,
		},
		"other protocols": {
			Rule{Host: "good.com"}, withInput("Bash", `{"command":"git clone ssh://git@evil.com/x"}`), false, false,
		},
		"argument":         {Rule{Args: []Arg{{"force", "true"}}}, withInput("T", `{"force":true}`), true, true},
		"argument, number": {Rule{Args: []Arg{{"n", "1?"}}}, withInput("T", `{"n":12}`), true, true},
		"argument, deep": {
			Rule{Args: []Arg{{"/a/0/b~1c", "x*"}}}, withInput("T", `{"a":[{"b/c":"xyz"}]}`), true, true,
		},
		"argument, otherwise": {
			Rule{Args: []Arg{{"branch", "release/*"}}}, withInput("T", `{"branch":"main"}`), false, false,
		},
		"argument, missing": {Rule{Args: []Arg{{"branch", "*"}}}, withInput("T", `{}`), false, false},
		"argument, null":    {Rule{Args: []Arg{{"branch", "*"}}}, withInput("T", `{"branch":null}`), false, false},
		"argument, a list":  {Rule{Args: []Arg{{"branch", "*"}}}, withInput("T", `{"branch":["main"]}`), false, false},
		"argument, twice":   {Rule{Args: []Arg{{"b", "x"}}}, withInput("T", `{"b":"y","b":"x"}`), false, true},
		"all arguments": {
			Rule{Args: []Arg{{"a", "1"}, {"b", "2"}}}, withInput("T", `{"a":"1","b":"3"}`), false, false,
		},
		"index out of range":  {Rule{Args: []Arg{{"/a/1", "*"}}}, withInput("T", `{"a":["x"]}`), false, false},
		"index like no other": {Rule{Args: []Arg{{"/a/00", "*"}}}, withInput("T", `{"a":["x"]}`), false, false},
		"expired":             {Rule{Tool: "T", Expires: "2026-01-01"}, withInput("T", "{}"), false, false},
		"not expired":         {Rule{Tool: "T", Expires: "2030-01-01"}, withInput("T", "{}"), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			for effect, want := range map[Effect]bool{Allow: tt.allow, Deny: tt.deny} {
				r := tt.rule
				r.ID, r.Effect = "r", effect
				p := compiled(t, Policy{Rules: []Rule{r}})
				at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
				if d := Decide(tt.call, p, at); (d.Effect == effect) != want {
					t.Errorf("%s: %+v, want it to match: %v", effect, d, want)
				}
			}
		})
	}
}

// A day is over when it is over where the user is; a rule counts to the last moment of it.
func TestExpiry(t *testing.T) {
	p := compiled(t, Policy{Rules: []Rule{{ID: "r", Effect: Allow, Tool: "T", Expires: "2026-03-02"}}})
	last := time.Date(2026, 3, 2, 23, 59, 59, 0, time.Local)
	if d := Decide(withInput("T", "{}"), p, last); d.Effect != Allow {
		t.Errorf("on its last day: %+v", d)
	}
	if d, steps := Explain(withInput("T", "{}"), p, last.Add(time.Second)); d.Effect != Ask ||
		!strings.Contains(strings.Join(steps, "\n"), "has expired") {
		t.Errorf("on the next day: %+v, %q", d, steps)
	}
}

// A rule holds on the whole of its last day.
func TestRulesExpire(t *testing.T) {
	day := time.Date(2026, 3, 2, 23, 59, 59, 0, time.Local)
	for expires, want := range map[string][2]bool{ // on that day, and a second later
		"": {false, false}, "2026-03-01": {true, true}, "2026-03-02": {false, true}, "2026-03-03": {false, false},
	} {
		r := newCompiledRule(Rule{Expires: expires}, "")
		if got := [2]bool{!r.inForce(day), !r.inForce(day.Add(time.Second))}; got != want {
			t.Errorf("a rule until %q has expired: %v, want %v", expires, got, want)
		}
	}
}

func TestMatchersAreRefused(t *testing.T) {
	for key, r := range map[string]Rule{
		"host":              {Host: "Example.com"},
		"host ":             {Host: "*"},
		"host  ":            {Host: "https://example.com"},
		"host   ":           {Host: "a.*.com"},
		"mcp_server":        {Server: "a b"},
		"args[0].field":     {Args: []Arg{{"", "x"}}},
		"args[1].value":     {Args: []Arg{{"x", "x"}, {"y", ""}}},
		"args":              {Args: make([]Arg, maxArgs+1)},
		"expires":           {Tool: "T", Expires: "soon"},
		"session":           {Session: "s\u200b"},
		"args[0].value ":    {Args: []Arg{{"x", "a\u202e"}}},
		"examples":          {Tool: "T", Examples: Examples{Match: make([]string, maxExamples+1)}},
		"examples.match[0]": {Tool: "T", Examples: Examples{Match: []string{"a\u200b"}}},
	} {
		r.ID, r.Effect = "r", Deny
		err := r.Validate()
		field, ok := err.(*FieldError)
		if !ok || field.Key != strings.TrimSpace(key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// A rule that allows commands is about a command line when it and reading are all that there is to it.
func TestExamplesOfCommands(t *testing.T) {
	for name, tt := range map[string]struct {
		rule Rule
		text string
		want bool
	}{
		"the command": {Rule{Run: []string{"go test"}}, "go test ./...", true},
		"among what reads": {
			Rule{Run: []string{"go test"}}, "cd sub && go test -run X ./a 2>&1 | tail -5; git status", true,
		},
		"beside another":      {Rule{Run: []string{"go test"}}, "go test && go build", false},
		"both":                {Rule{Run: []string{"go test", "go build"}}, "go test && go build", true},
		"nothing but reading": {Rule{Run: []string{"go test"}}, "ls | head", false},
		"a flag not seen":     {Rule{Run: []string{"go test"}}, "go test -exec ./x", false},
		"outside":             {Rule{Run: []string{"go test"}}, "go test /etc/x", false},
		"to a file":           {Rule{Run: []string{"go test"}}, "go test > out.txt", false},
		"in the folder":       {Rule{Run: []string{"go test"}, CWD: "/srv/shop/**"}, "go test /srv/shop/a", true},
		"at the top of it":    {Rule{Run: []string{"./gradlew test"}, CWD: "/srv/shop/**"}, "./gradlew test", true},
		"in another folder": {
			Rule{Run: []string{"go test"}, CWD: "/srv/shop"}, `{"input":{"command":"go test"},"cwd":"/srv/blog"}`, false,
		},
		"exactly":          {Rule{Run: []string{"python x.py"}}, "python x.py", true},
		"another text":     {Rule{Run: []string{"python x.py"}}, "python y.py", false},
		"another agent":    {Rule{Run: []string{"go test"}, Agent: "codex", Tool: "exec_*"}, "go test ./...", true},
		"denied as a part": {Rule{Effect: Deny, Run: []string{"git push"}}, "go test && git push origin", true},
		"not denied":       {Rule{Effect: Deny, Run: []string{"git push"}}, "git log", false},
	} {
		r := tt.rule
		r.ID, r.Effect, r.Examples = "x", cmp.Or(r.Effect, Allow), Examples{NoMatch: []string{tt.text}}
		if tt.want {
			r.Examples = Examples{Match: []string{tt.text}}
		}
		if err := errors.Join(r.Validate(), r.CheckExamples()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
