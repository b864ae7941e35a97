package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDocuments checks what the repository's documents say.
func TestDocuments(t *testing.T) {
	const root = "../.."
	all, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Check(root, all) {
		t.Error(p)
	}
}

// page makes a good document that says something more.
func page(more ...string) string {
	return "# Title\n\n## A part\n\n" + strings.ReplaceAll(strings.Join(more, "\n"), "~~~", "```") + "\n"
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string // part of the only problem; none: nothing is wrong
	}{
		"nothing":               {text: page()},
		"no title":              {"Text.\n", "README.md:1: 0 headings of the first level"},
		"two titles":            {page("# Another"), "2 headings"},
		"indented":              {page("Run:", "", "    nod start"), "README.md:7: indented code"},
		"indented in a list":    {page("- Run:", "", "      nod start"), "indented code"},
		"no language":           {page("~~~", "nod start", "~~~"), `README.md:6: block of language ""`},
		"unknown language":      {page("~~~bash", "nod start", "~~~"), `block of language "bash"`},
		"empty":                 {page("~~~sh", "~~~"), "empty block"},
		"more fences":           {page("~~~`bash", "nod start", "~~~`"), `block of language "bash"`},
		"script":                {text: page("~~~sh", "nod ask 'Which?' && echo ok", "~~~")},
		"script with a runner":  {text: page("~~~sh run=desk", "nod start", "~~~")},
		"script of nobody":      {page("~~~sh run=nobody", "nod start", "~~~"), `no option "run=nobody"`},
		"script with an option": {page("~~~sh title=x", "nod start", "~~~"), `no option "title=x"`},
		"script with a prompt":  {page("~~~sh", "$ nod start", "~~~"), "a prompt in a block of sh"},
		"script cut off":        {page("~~~sh", "echo 'a", "~~~"), "without closing quote"},
		"make without runner":   {page("~~~sh", "make build", "~~~"), "say run=make"},
		"transcript":            {text: page("~~~console", "$ nod status", "nod ready", "~~~")},
		"transcript of output":  {page("~~~console", "nod ready", "~~~"), "begins with"},
		"yaml":                  {text: page("~~~yaml", "prompt:", "  timeout: 5m", "~~~")},
		"yaml, unknown key":     {page("~~~yaml", "prompt:", "  time: 5m", "~~~"), "time"},
		"yaml, wrong value":     {page("~~~yaml", "prompt:", "  timeout: soon", "~~~"), "soon"},
		"yaml, key without its own": {
			page("~~~yaml", "rules:", "  - id: a", "    effect: allow", "    tool: Read", "~~~"), "rules",
		},
		"yaml, failing example": {
			page("~~~yaml", "policy:", "  rules:", "    - {id: a, effect: allow, run: [make],",
				"       examples: {match: [ls], no_match: [make all]}}", "~~~"), "examples.match[0]",
		},
		"yaml of others":     {text: page("~~~yaml other", "a: b", "~~~")},
		"broken yaml":        {page("~~~yaml other", "a: [", "~~~"), "yaml"},
		"json":               {text: page("~~~json", `{"a": 1}`, "~~~")},
		"broken json":        {page("~~~json", `{"a": 1,}`, "~~~"), "json"},
		"json with a double": {page("~~~json", `{"a": 1, "a": 2}`, "~~~"), "duplicate"},
		"jsonc":              {text: page("~~~jsonc", `{"a": 1,} // one`, "~~~")},
		"toml":               {text: page("~~~toml", "a = 1", "~~~")},
		"broken toml":        {page("~~~toml", "a = ", "~~~"), "toml"},
		"go":                 {text: page("~~~go", "package main", "func main() {}", "~~~")},
		"broken go":          {page("~~~go", "package main", "func main() { x() }", "~~~"), "undefined: x"},
		"go without package": {page("~~~go", "x()", "~~~"), "go build"},
		"excerpt":            {text: page("~~~go from=main.go", "func main() {", "…", "b()", "~~~")},
		"changed excerpt":    {page("~~~go from=main.go", "a()", "…", "c()", "~~~"), `or not in this order: "c()"`},
		"excerpt of another": {page("~~~go from=other.go", "a()", "~~~"), "other.go"},
		"links": {
			text: page("[a](docs/page.md#a-part) [b](#a-part) <https://go.dev> ![c](docs/c.png) [d](docs)", "",
				`<a id="x"></a>`, "[e](#x)"),
		},
		"link to nothing":        {page("[a](docs/none.md)"), "README.md:5: link to docs/none.md: there is no docs/none.md"},
		"link to no heading":     {page("[a](docs/page.md#other)"), "no heading for #other"},
		"link out":               {page("[a](../a.md)"), "leaves the repository"},
		"link to /":              {page("[a](/docs/page.md)"), "leaves the repository"},
		"link to a host":         {page("[a](https://example.com)"), "want https and one of the hosts"},
		"link without TLS":       {page("[a](http://go.dev)"), "want https and one of the hosts"},
		"bare link":              {page("See https://example.com."), "want https and one of the hosts"},
		"picture that is gone":   {page("![a](docs/a.png)"), "there is no docs/a.png"},
		"picture without words":  {page("![](docs/c.png)"), "does not say in words"},
		"HTML picture":           {page(`<img src="docs/a.png" alt="a">`), "there is no docs/a.png"},
		"HTML picture, no words": {page(`<img src="docs/c.png">`), "does not say in words"},
		"HTML source":            {page(`<source srcset="docs/a.png"><img src="docs/c.png" alt="c">`), "docs/a.png"},
		"HTML that hides code":   {page("<pre>nod frobnicate</pre>"), "README.md:5: HTML <pre>"},
		"link in a table":        {page("| a |", "|---|", "| [b](none.md) |"), "there is no none.md"},
		"make in a sentence":     {text: page("`make build`, `make -j4 build COUNT=3` and `make …`.")},
		"make of no target":      {page("Run `make everything`."), "README.md:5: make everything"},
		"make of no variable":    {page("Run `make build SPEED=3`."), "the Makefile has no SPEED"},
		"make in a block":        {page("~~~sh run=make", "git pull", "make all", "~~~"), "README.md:7: make all"},
		"test":                   {text: page("Held by `TestMain` and `TestMain(t)`.")},
		"test that is gone":      {page("Held by `TestGone`."), "README.md:5: there is no test TestGone"},
		"make in a transcript":   {page("~~~console", "$ true", "$ make all", "~~~"), "README.md:7: make all"},
	} {
		t.Run(name, func(t *testing.T) {
			root := repository(t, map[string]string{"README.md": test.text + "\n[page](docs/page.md)\n", "docs/page.md": page()})
			all, err := Read(root)
			if err != nil {
				t.Fatal(err)
			}
			problems := Check(root, all)
			switch {
			case test.want == "" && len(problems) > 0:
				t.Errorf("got %v, want no problem", problems)
			case test.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].Error(), test.want)):
				t.Errorf("got %v, want one problem with %q", problems, test.want)
			}
		})
	}
}

// repository makes one of these files, and of a few that the documents may speak of.
func repository(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	files["Makefile"] = "COUNT ?= 1\n\nbuild test: need ## build\n\tcc\n"
	files["go.mod"] = "module nod\n\ngo 1.26\n"
	files["main.go"] = "package main\n\nfunc main() {\n\ta()\n\tb()\n}\n"
	files["docs/c.png"] = "a picture"
	files["deep/main_test.go"] = "package main\n\nfunc TestMain(*testing.M) {}\n"
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCheckSeesTheWhole(t *testing.T) {
	root := repository(t, map[string]string{
		"README.md":                page("[one](docs/one.md)"),
		"docs/one.md":              page("[two](deep/two.md)"),
		"docs/deep/two.md":         page("[back](../../README.md)"),
		"docs/lonely.md":           page("[one](one.md)"),
		".github/template.md":      "No title.\n",
		".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - run: make build\n      - run: make evrything\n",
		"packaging/README.md":      page(),
	})
	all, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range Check(root, all) {
		got = append(got, p.Error())
	}
	slices.Sort(got)
	want := []string{
		".github/workflows/ci.yml:5: make evrything: the Makefile has no evrything",
		"docs/lonely.md:1: no way of links leads here from README.md",
		"packaging/README.md:1: no way of links leads here from README.md",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCommands(t *testing.T) {
	d := Parse("a.md", []byte(page("Run `nod wait ID`, `bin/nod start` or `other thing`.", "",
		"~~~sh", `nod approve --input '{"a":"b"}' && sudo -u me nod stop`, "E=$(nod status | jq .a)", "~~~", "",
		"~~~console", "$ nod ask \\", "> \"$Q\"", "nod said", "> nod said", "$ nod start", "~~~")))
	got, problems := d.Commands("nod")
	if problems != nil {
		t.Fatal(problems)
	}
	want := []string{
		`8 false nod approve --input {"a":"b"}`, "8 false sudo -u me nod stop", "8 false nod stop", "9 false nod status",
		"9 false jq .a", "13 false nod ask $Q", "17 false nod start", "5 true nod wait ID", "5 true nod start",
	}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i, c := range got {
		if is := fmt.Sprint(c.Line, " ", c.InText, " ", strings.Join(c.Words, " ")); is != want[i] {
			t.Errorf("got %q, want %q", is, want[i])
		}
	}
}

func TestSlugs(t *testing.T) {
	d := Parse("a.md", []byte("# Who's `nod mcp` for?\n## Editors (ACP)\n## Editors (ACP)\n## 日本 – é_x\n"))
	want := []string{"whos-nod-mcp-for", "editors-acp", "editors-acp-1", "日本--é_x"}
	if !slices.Equal(d.Anchors, want) {
		t.Errorf("got %q, want %q", d.Anchors, want)
	}
}

func TestSteps(t *testing.T) {
	b := Block{Text: "$ a \\\n> b\nout\n> quoted\n$ c\n$ d\nlast\n"}
	want := []Step{{"a \\\nb\n", "out\n> quoted\n"}, {"c\n", ""}, {"d\n", "last\n"}}
	if got := b.Steps(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		want, got string
		matches   bool
	}{
		{"", "", true},
		{"", "a\n", false},
		{"a\n", "a  \n\n", true},
		{"a\n", "ab\n", false},
		{"a\n", "", false},
		{"id … in …s\n", "id 7 in 3s\n", true},
		{"id … in …s\n", "id 7 in 3m\n", false},
		{"a\n…\nb\n", "a\nx\ny\nb\n", true},
		{"a\n…\nb\n", "a\nx\nb\nc\n", false},
		{"…\n", "anything\nat all\n", true},
		{"a…a\n", "a\n", false},
	} {
		if got := (Step{Output: test.want}).Matches(test.got); got != test.matches {
			t.Errorf("%q for %q: %v, want %v", test.got, test.want, got, test.matches)
		}
	}
}
