package prompt

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"nod/assets"
	"nod/interact"
	"nod/policy"
)

// Why nod asks is said only where the facts and the list of the parts do not say it.
func TestWhyIsSaidWhereItAddsSomething(t *testing.T) {
	if err := assets.SetLanguage("en"); err != nil {
		t.Fatal(err)
	}
	rules, err := policy.Compile(policy.Policy{Rules: []policy.Rule{
		{ID: "releases", Effect: policy.Ask, Tool: "Bash", Command: "git push --force"},
	}}, policy.DefaultPlaces())
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"git push":                     "",
		"git push --force":             `rule "releases" asks about it`,
		"rm notes.txt":                 "",
		"sudo ls":                      "",
		"curl https://example.com":     "",
		"frobnicate --all":             "",
		"git commit -m x":              "it makes a commit, and runs the repository's hooks",
		"make":                         "it runs the commands of the project's makefile",
		"terraform plan":               "it runs plugins that the project names, with keys to the cloud",
		"cat .env":                     "the path may contain keys, passwords or tokens",
		"rm notes.txt && sudo ls":      "",
		"echo \u202ex":                 "the input contains invisible characters",
		"printenv | tee out.txt":       "",
		strings.Repeat("make a; ", 60): "",
	} {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		r := interact.Request{Body: interact.Approve{Tool: "Bash", Input: input}}
		r.Requester = interact.Requester{Agent: "claude-code", CWD: t.TempDir()}
		call := r.Body.(interact.Approve).Call(r.Requester)
		now := time.Now()
		view := ViewOf(r, policy.Decide(call, rules, now))
		if got := view.WhyBeside(policy.NewOffers(call, rules, rules, now).Parts); got != want {
			t.Errorf("%s: %q, want %q, beside %v", command, got, want, view.Facts)
		}
	}
}

func TestSpelled(t *testing.T) {
	if err := assets.SetLanguage("en"); err != nil {
		t.Fatal(err)
	}
	for d, want := range map[time.Duration]string{
		0: "0 seconds", 700 * time.Millisecond: "0.7 seconds", time.Second: "1 second", time.Minute: "1 minute",
		90 * time.Minute: "1 hour 30 minutes", 24 * time.Hour: "1 day", 49 * time.Hour: "2 days 1 hour",
		61500 * time.Millisecond: "1 minute 1.5 seconds",
	} {
		if got := Spelled(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// An option's explanation keeps its lines, and nothing of it is taken for a line break that is none.
func TestExplanation(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\nb\n\nc\n": "a‹CR›\nb\n\nc", "a‹newline›b": "a‹U+2039›newline›b", "x\u202e": "x‹U+202E›",
		strings.Repeat("x", 2000): strings.Repeat("x", 1000) + "… ‹1000 more characters›",
	} {
		if got := Explanation(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A model often ends an explanation with a newline. Within it, nothing is left out.
func TestRemark(t *testing.T) {
	for text, want := range map[string]string{
		"Run the tests\n": "Run the tests", " \t": "", "a\nb ": "a‹newline›b", "x\u200b ": "x‹U+200B›",
	} {
		if got := Remark(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	v := ViewOf(interact.Request{Body: interact.Approve{
		Tool: "Bash", Input: []byte(`{"command":"ls"}`), Description: "List \n",
	}}, policy.Decision{})
	if v.Says != "List" {
		t.Errorf("the agent says %q", v.Says)
	}
}
