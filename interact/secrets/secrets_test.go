package secrets

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// Put together here, so that no scanner of this repository finds them.
var (
	aws    = "AKIA" + "Z7Q3MNB5VXKWT2LD"
	github = "ghp_" + "k3J8dQz1XvB6nM0pLs7RtYw2HcFa9GeUiO4q"
	hex40  = "9f2c4e7ab01d3c5f8e6a" + "7b94d0c1e2f3a5b6c7d8"
	pem    = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA7bq3x9\n", 20) +
		"-----END RSA PRIVATE " + "KEY-----"
	known = "0123456789-of-nod"
)

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		want  []string
	}{
		"nothing":                 {map[string]string{"command": "go test ./..."}, nil},
		"a path with a key":       {map[string]string{"file_path": "/src/keyboard/token.go"}, nil},
		"a digest":                {map[string]string{"command": "git show " + hex40}, nil},
		"a variable":              {[]string{"curl -H \"Authorization: Bearer $GITHUB_TOKEN\" https://x"}, nil},
		"in a command":            {[]string{"aws configure set aws_access_key_id " + aws}, []string{aws}},
		"beside its name":         {map[string]string{"api_key": hex40}, []string{hex40}},
		"in an escaped string":    {map[string]string{"command": "export \"GH=" + github + "\""}, []string{github}},
		"in a name":               {map[string]int{github: 1}, []string{github}},
		"in JSON that is in JSON": {map[string]string{"body": fmt.Sprintf("{\"secret_token\": %q}", hex40)}, []string{hex40}},
		"a key of many lines":     {map[string]string{"content": pem}, []string{pem}},
		"two":                     {[]string{aws + " ", github}, []string{aws, github}},
		"known":                   {[]string{"X-Token: " + known}, []string{known}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(c.value)
			if err != nil {
				t.Fatal(err)
			}
			found := Find(text, known, "")
			for _, secret := range c.want {
				if !slices.Contains(found, secret) {
					t.Errorf("%s: found %q, not %q", text, found, secret)
				}
			}
			if len(c.want) == 0 && len(found) > 0 {
				t.Errorf("%s: found %q", text, found)
			}
			redacted, err := Redact(text, Redactor(found))
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(redacted, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			all := fmt.Sprint(got)
			for _, secret := range c.want {
				if strings.Contains(all, secret) || !strings.Contains(all, mark(secret)) {
					t.Errorf("%s still says %q", redacted, secret)
				}
			}
			if len(c.want) == 0 && fmt.Sprint(want) != all {
				t.Errorf("%s became %s", text, redacted)
			}
		})
	}
}

func TestRedactKeepsTheRest(t *testing.T) {
	text := `{"b":1.50,"a":[true,null,"x\u0041"],"b":"` + aws + `","<&>":"ü"}`
	got, err := Redact([]byte(text), Redactor([]string{aws}))
	want := `{"b":1.50,"a":[true,null,"xA"],"b":"` + mark(aws) + `","<&>":"ü"}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	for _, broken := range []string{"", "{", `{"a":}`, `"a`, "{} {"} {
		if got, err := Redact([]byte(broken), Redactor(nil)); err == nil {
			t.Errorf("%q became %q", broken, got)
		}
	}
}

func TestRedactTakesTheLongestFirst(t *testing.T) {
	want := mark("abc") + " " + mark("abcdef")
	if got := Redactor([]string{"abc", "abcdef"}).Replace("abc abcdef"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEveryRuleCompiles(t *testing.T) {
	all := detector()
	if len(all.rules) < 200 {
		t.Errorf("%d rules", len(all.rules))
	}
	for _, read := range all.rules {
		rule := read()
		rule.form.pattern()
		if rule.form.start != nil {
			rule.form.start()
		}
		for _, a := range append(rule.allowed, all.allowed) {
			for _, p := range a.patterns {
				p()
			}
		}
	}
}

// What is full of keywords takes no longer than its length wants, or an agent could keep nod busy for hours; and hides
// nothing.
func TestFindAmongKeywords(t *testing.T) {
	for _, part := range []string{
		"curl -H ", "ey", "eyJhbGciOiJIUzI1NiIsInR5cCI6 ", "-----BEGIN PRIVATE KEY-----", "key=", "sk", "s.", "xapp-1-",
	} {
		const size = 1 << 14
		found := Find([]byte(`{"a":"` + strings.Repeat(part, size/len(part)) + " token = '" + hex40 + `'"}`))
		if !slices.Contains(found, hex40) {
			t.Errorf("%s: found only %q", part, found)
		}
	}
}

// Where keywords say where to look, as much is found as where patterns are tried everywhere.
func TestEveryRuleFinds(t *testing.T) {
	var f file
	if err := toml.Unmarshal([]byte(gitleaks), &f); err != nil {
		t.Fatal(err)
	}
	f.Rules = slices.DeleteFunc(f.Rules, func(in fileRule) bool { return in.Path != "" })
	if len(detector().rules) != len(f.Rules) {
		t.Fatalf("%d rules, want %d", len(detector().rules), len(f.Rules))
	}
	random, found := rand.New(rand.NewPCG(1, 2)), 0
	for i, in := range f.Rules {
		rule, pattern := detector().rules[i](), regexp.MustCompile(in.Regex)
		for _, word := range in.Keywords {
			if !slices.ContainsFunc(detector().keywords.in(word), func(h hit) bool { return h.rule == i }) {
				t.Errorf("%s is not a keyword of %s", word, in.Regex)
			}
		}
		re, err := syntax.Parse(in.Regex, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			text := in.Keywords[0] + " = '" + sample(random, re) + "' "
			if !pattern.MatchString(text) { // it wants a boundary of words elsewhere
				continue
			}
			found++
			if !slices.ContainsFunc(detector().keywords.in(text), func(h hit) bool {
				return h.rule == i && len(rule.form.matches(text, h.at)) > 0
			}) {
				t.Errorf("%s is not found in %q", in.Regex, text)
			}
		}
	}
	if found < 4*len(f.Rules) {
		t.Errorf("%d samples of %d rules", found, len(f.Rules))
	}
}

// sample is a text that a pattern matches.
func sample(random *rand.Rand, re *syntax.Regexp) string {
	var b strings.Builder
	repeat := func(low, high int) {
		if high < 0 {
			high = low + 3
		}
		for range low + random.IntN(high-low+1) {
			b.WriteString(sample(random, re.Sub[0]))
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		pair := 2 * random.IntN(len(re.Rune)/2)
		b.WriteRune(re.Rune[pair] + random.Int32N(min(re.Rune[pair+1]-re.Rune[pair], 90)+1))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('.')
	case syntax.OpCapture:
		b.WriteString(sample(random, re.Sub[0]))
	case syntax.OpConcat:
		for _, part := range re.Sub {
			b.WriteString(sample(random, part))
		}
	case syntax.OpAlternate:
		b.WriteString(sample(random, re.Sub[random.IntN(len(re.Sub))]))
	case syntax.OpStar:
		repeat(0, -1)
	case syntax.OpPlus:
		repeat(1, -1)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(re.Min, re.Max)
	}
	return b.String()
}

func FuzzRedact(f *testing.F) {
	f.Add(`{"command":"export KEY=` + aws + `"}`)
	f.Add(`{"a\u0041":["\ud800",1e400,{}]}`)
	f.Add(`{"password":"\"hunter2hunter2xQz\""}`)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		found := Find([]byte(text))
		redacted, err := Redact([]byte(text), Redactor(found))
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(redacted) {
			t.Fatalf("%q became %q", text, redacted)
		}
		for _, secret := range found {
			eachString(redacted, func(s string) {
				if strings.Contains(s, secret) && !strings.Contains(mark(secret), secret) {
					t.Errorf("%q became %q, with %q in it", text, redacted, secret)
				}
			})
		}
	})
}

func BenchmarkFind(b *testing.B) {
	source, err := os.ReadFile("secrets.go")
	if err != nil {
		b.Fatal(err)
	}
	edit, err := json.Marshal(map[string]string{"file_path": "/src/secrets.go", "content": string(source)})
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"command": []byte(`{"command":"go test ./interact/...","description":"run the tests"}`),
		"path":    []byte(`{"file_path":"/home/someone/src/shop/token/key.go"}`),
		"file":    edit,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Find(text)
			}
		})
	}
}
