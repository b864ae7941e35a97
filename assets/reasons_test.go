package assets

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every sentence that a user may read of those made in English is there, and no other.
func TestReasonsAreComplete(t *testing.T) {
	translated, err := readReasons(chinese)
	if err != nil {
		t.Fatal(err)
	}
	said := sentencesSaid(t)
	for _, s := range slices.Sorted(maps.Keys(said)) {
		if translated[s] == "" {
			t.Errorf("%s: %q is not translated", said[s], s)
		}
	}
	problems := fieldProblems(t)
	for s, in := range translated {
		if said[s] == "" && !strings.Contains(problems, filled.ReplaceAllString(s, "%")) {
			t.Errorf("%q is translated, and nobody says it", s)
		}
		want, got := slices.Sorted(slices.Values(filled.FindAllString(s, -1))), filled.FindAllString(in, -1)
		if slices.Sort(got); !slices.Equal(slices.Compact(got), slices.Compact(want)) {
			t.Errorf("%q: the places of %q are others", s, in)
		}
	}
}

// sentencesSaid are the sentences in the code and the data of the packages whose sentences people read, with where they
// stand.
func sentencesSaid(t *testing.T) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, files := range []string{
		"../policy/shell/*.go", "../policy/shell/language/*.go", "../policy/git/*.go", "../agents/agent/agent.go",
		"../agents/agent/off.go",
	} {
		readCode(t, said, files, isWholeSentence)
	}
	for _, name := range []string{
		"decide", "commandline", "contain", "guard", "input", "grant", "granttool", "compile", "tool", "suggest",
	} {
		readCode(t, said, "../policy/"+name+".go", isPhrase)
	}
	readCode(t, said, "../agents/agent/check.go", isPhrase)
	for _, name := range []string{"claude/protected", "codex/hooks", "agent/own"} {
		readCode(t, said, "../agents/"+name+".go", func(s string) bool { return strings.Contains(s, " allow in nod") })
	}
	readLimits(t, said)
	readPrograms(t, said)
	return said
}

// fieldProblems is the code that says what is wrong with the fields of a rule, with a % for each value.
func fieldProblems(t *testing.T) string {
	t.Helper()
	var code strings.Builder
	for _, name := range []string{"rule", "matchers", "pattern", "examples", "shell/pattern"} {
		code.WriteString(strings.Join(readLines(t, "../policy/"+name+".go"), "\n"))
	}
	whole := regexp.MustCompile(`"\s*\+\s*"`).ReplaceAllString(code.String(), "")
	return verbs.ReplaceAllString(whole, "%")
}

func isWholeSentence(s string) bool {
	return strings.Contains(s, " ") && strings.HasSuffix(s, ".") && words.MatchString(filled.ReplaceAllString(s, ""))
}

// isPhrase reports whether a text has two words of its own, and nothing that only a program reads.
func isPhrase(s string) bool {
	return len(words.FindAllString(filled.ReplaceAllString(s, ""), -1)) > 1 && !strings.ContainsAny(s, "\\\n") &&
		strings.Contains(s, " ") && strings.TrimSpace(s) == s
}

var words = regexp.MustCompile(`[A-Za-z']+`)

// readCode takes note of the strings in files that is says are sentences, but for those of errors.
func readCode(t *testing.T, said map[string]string, files string, is func(string) bool) {
	t.Helper()
	names, err := filepath.Glob(files)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v", files, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if isError(n) || isWordList(n) {
				return false
			}
			e, isExpr := n.(ast.Expr)
			if !isExpr {
				return true
			}
			s, ok := template(e)
			if ok && is(s) {
				said[s] = set.Position(e.Pos()).String()
			}
			return !ok
		})
	}
}

// isWordList reports whether n declares lists of words, which no user reads.
func isWordList(n ast.Node) bool {
	v, ok := n.(*ast.ValueSpec)
	return ok && fmt.Sprint(v.Type) == "&{language Words}"
}

// isError reports whether n makes an error, which no user reads as a reason.
func isError(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	f := fmt.Sprint(call.Fun)
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		f = fmt.Sprint(s.X) + "." + s.Sel.Name
	}
	return f == "fmt.Errorf" || f == "errors.New" || f == "panic"
}

var verbs = regexp.MustCompile(`%[+]?[sqdvw]`)

// template is the pattern of a string that is put together in code.
func template(e ast.Expr) (string, bool) {
	var s strings.Builder
	hasText, isString := false, true
	var add func(ast.Expr)
	add = func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.BinaryExpr:
			if e.Op != token.ADD {
				isString = false
				return
			}
			add(e.X)
			add(e.Y)
			return
		case *ast.BasicLit:
			if text, ok := literal(e); ok {
				hasText = true
				s.WriteString(verbs.ReplaceAllString(text, "\x00"))
				return
			}
		}
		s.WriteString("\x00")
	}
	add(e)
	text, place := s.String(), 'A'
	for strings.Contains(text, "\x00") {
		text = strings.Replace(text, "\x00", "{{."+string(place)+"}}", 1)
		place++
	}
	return text, isString && hasText
}

// readLimits takes note of what nod cannot do with each agent.
func readLimits(t *testing.T, said map[string]string) {
	t.Helper()
	names, err := filepath.Glob("../agents/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok || fmt.Sprint(pair.Key) != "Limits" {
				return true
			}
			for _, e := range pair.Value.(*ast.CompositeLit).Elts {
				if s, ok := literal(e); ok {
					said[s] = set.Position(e.Pos()).String()
				}
			}
			return false
		})
	}
}

// readPrograms takes note of why programs, and flags of programs, are not harmless.
func readPrograms(t *testing.T, said map[string]string) {
	t.Helper()
	names, err := filepath.Glob("../policy/shell/programs/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	for _, name := range names {
		for i, line := range readLines(t, name) {
			keyword, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			_, reason, ok := strings.Cut(rest, ": ")
			if keyword == "why" {
				reason, ok = rest, true
			}
			if keyword == "outside" {
				said["{{.A}} "+rest] = fmt.Sprintf("%s:%d", name, i+1)
			}
			if ok && (keyword == "why" || keyword == "never" || keyword == "needs") {
				said[reason] = fmt.Sprintf("%s:%d", name, i+1)
			}
		}
	}
}

func readLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// A sentence is translated as a whole, also as a part of another, though a pattern with values fits it, too.
func TestReasonsAsPartsOfOthers(t *testing.T) {
	t.Cleanup(func() { reasons.Store(nil) })
	setReasons(chinese)
	translated, err := readReasons(chinese)
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range translated {
		if filled.MatchString(s) || !strings.HasSuffix(s, ".") {
			continue
		}
		part := strings.ToLower(s[:1]) + strings.TrimSuffix(s[1:], ".")
		if got := Reason(part); got != strings.TrimSuffix(want, "。") {
			t.Errorf("Reason(%q) = %q, want %q", part, got, want)
		}
	}
}

func TestReason(t *testing.T) {
	t.Cleanup(func() { reasons.Store(nil) })
	const english = `no rule covers this; "rm" removes files`
	if got := Reason(english); got != english {
		t.Errorf("in English: %q", got)
	}
	setReasons(chinese)
	for in, want := range map[string]string{
		english:                   `没有适用的规则；"rm" 会删除文件`,
		"It reaches the network.": "它会访问网络。",
		"codex (program not verified) may use Bash with any input in ~/src/shop, for 15 minutes": "codex（程序未核实）" +
			"可以在 ~/src/shop 中以任何输入使用 Bash，15 分钟内",
		"it reaches the network":             "它会访问网络",
		"run exactly “the x value”":          "运行 “the x value”（一字不差）",
		"“the x value” removes files":        "“the x value” 会删除文件",
		"it deletes what you like.":          "it deletes what you like.",
		`{{.Secret}}`:                        `{{.Secret}}`,
		`"It writes a file." removes files.`: `"It writes a file." 会删除文件。`,
	} {
		if got := Reason(in); got != want {
			t.Errorf("Reason(%q) = %q, want %q", in, got, want)
		}
	}
}
