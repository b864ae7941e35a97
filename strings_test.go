package main

import (
	"encoding/json"
	"errors"
	"flag"
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
)

var update = flag.Bool("update", false, "rewrite assets/strings.txt")

// TestStrings compares what a user can read with the list of what somebody has read aloud.
func TestStrings(t *testing.T) {
	const list = "assets/strings.txt"
	all := map[string]any{}
	for _, name := range []string{"zh-CN.json", "zh-CN.reasons.json"} { // which have what is data
		text, err := os.ReadFile("assets/translations/" + name)
		if err = errors.Join(err, json.Unmarshal(text, &all)); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && path != "." && slices.Contains(notNod, path) {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			err = collectStrings(path, all)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for s := range all {
		if regexp.MustCompile(`\pL{2}`).MatchString(s) {
			want = append(want, strings.ReplaceAll(s, "\n", `\n`)+"\n")
		}
	}
	slices.Sort(want)
	if *update {
		err = os.WriteFile(list, []byte(strings.Join(want, "")), 0o644)
	}
	read, readErr := os.ReadFile(list)
	if err = errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	have := strings.SplitAfter(string(read), "\n")
	have = have[:len(have)-1]
	for _, s := range want {
		if !slices.Contains(have, s) {
			t.Errorf("%q: a new sentence: read it aloud, then run go test -run TestStrings . -update", s)
		}
	}
	if !t.Failed() && len(have) != len(want) {
		t.Errorf("%s has sentences that nobody says any more: run go test -run TestStrings . -update", list)
	}
}

// notNod are folders without strings of the installed programs.
var notNod = []string{".git", "bench", "build", "dialogs/gl", "e2e", "examples", "packaging"}

// readable are functions and fields whose strings people read; usage are functions that make flags.
var (
	readable = regexp.MustCompile(`^(L|tr|New|Errorf|wrongUsage|ok|warning|failure|Short|Long|Example|` +
		`(Debug|Info|Warn|Error)(Context)?)$`)
	usage = regexp.MustCompile(`^(String|StringArray|Bool|Int|Int64|Duration)(Var|VarP|P)?$`)
)

func collectStrings(path string, all map[string]any) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	take := func(values ...ast.Expr) {
		for _, e := range values {
			all[stringOf(e)] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && readable.MatchString(key.Name) {
				take(n.Value)
			}
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if readable.MatchString(name) {
				take(n.Args...)
			} else if usage.MatchString(name) && len(n.Args) > 2 {
				take(n.Args[len(n.Args)-1])
			}
		}
		return true
	})
	return nil
}

// stringOf is the text of literals, added together, without the values between them.
func stringOf(e ast.Expr) (s string) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return stringOf(e.X) + stringOf(e.Y)
	case *ast.BasicLit:
		s, _ = strconv.Unquote(e.Value)
	}
	return s
}
