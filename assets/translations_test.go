package assets

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nod/ipc/remote/session"
)

// Every sentence that the program translates is there, and no other.
func TestTranslationsAreComplete(t *testing.T) {
	translated, err := Sentences(chinese)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, name := range sources(t) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if e, isExpr := n.(ast.Expr); isExpr {
				if s, isLiteral := literal(e); isLiteral {
					used[s] = true
				}
			}
			if call, isCall := n.(*ast.CallExpr); isCall && translates(call) {
				if s, isLiteral := literal(call.Args[0]); isLiteral && translated[s] == "" {
					t.Errorf("%s: %q is not translated", set.Position(call.Pos()), s)
				}
			}
			return true
		})
	}
	for _, s := range slices.Concat(risks(t), hidden(t), session.Problems) {
		if used[s] = true; translated[s] == "" {
			t.Errorf("%q, which is data, is not translated", s)
		}
	}
	for s := range translated {
		if !used[s] {
			t.Errorf("%q is translated, and nobody says it", s)
		}
	}
}

// risks are the sentences on what a call may do: they are data.
func risks(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, line := range readLines(t, "../policy/shell/programs/risks.txt") {
		level, s, _ := strings.Cut(line, " ")
		if slices.Contains([]string{"note", "caution", "danger"}, level) {
			all = append(all, s)
		}
	}
	for _, name := range []string{"notable", "guarded"} {
		for _, line := range readLines(t, "../policy/names/"+name+".txt") {
			if s, isHeading := strings.CutPrefix(line, "["); isHeading {
				all = append(all, strings.TrimSuffix(s, "]")+": {{.What}}")
			}
		}
	}
	return all
}

// hidden are the words on characters that do not show.
func hidden(t *testing.T) (all []string) {
	t.Helper()
	source, err := os.ReadFile("../dialogs/safetext/classes.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`return "(.+)"`).FindAllSubmatch(source, -1) {
		all = append(all, string(found[1]))
	}
	if len(all) == 0 {
		t.Fatal("classes.go says nothing")
	}
	return all
}

// sources are the Go files of the programs.
func sources(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && (d.Name() == "e2e" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// translates reports whether a call is lang.L, or tr of package dialogs.
func translates(call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name == "L"
	case *ast.Ident:
		return f.Name == "tr"
	}
	return false
}

// literal is the text of a literal, or of several that are added.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		left, isLeft := literal(e.X)
		right, isRight := literal(e.Y)
		return left + right, isLeft && isRight
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	}
	return "", false
}
