// Command gen writes the packages beside it: of the bindings of github.com/go-gl/gl to OpenGL, the part that Fyne uses.
//
// The whole has 2,900 functions. cgo has gcc say of each what it is, by five errors that gcc looks up a similar name
// for, among all: two and a half minutes, two thirds of a build of nod from nothing. Fyne uses 50 of them. go.mod
// replaces the module by this one; when a newer Fyne uses more, the build fails by name, and this, run again by
// "make gl", adds what is missing.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	module = "github.com/go-gl/gl"
	user   = "fyne.io/fyne/v2"
)

// packages are those of the module that Fyne draws with: OpenGL and, on ARM, OpenGL ES.
var packages = []string{"v2.1/gl", "v3.1/gles2"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	if err := generate("."); err != nil {
		log.Fatal(err)
	}
}

// generate writes the packages below to.
func generate(to string) error {
	from, err := upstream()
	if err != nil {
		return err
	}
	painter, err := folderOf("list", "-m", "-json", user)
	if err != nil {
		return err
	}
	for _, p := range packages {
		used, err := namesUsed(painter, module+"/"+p)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(from, p), filepath.Join(to, p), used); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return copyFile(filepath.Join(from, "LICENSE"), filepath.Join(to, "LICENSE"))
}

// upstream is the folder of the module that this one replaces, in the version that go.mod of nod requires.
func upstream() (string, error) {
	version, err := goTool("list", "-m", "-f", "{{.Version}}", module)
	if err != nil {
		return "", err
	}
	return folderOf("mod", "download", "-json", module+"@"+strings.TrimSpace(string(version)))
}

func folderOf(args ...string) (string, error) {
	out, err := goTool(args...)
	if err != nil {
		return "", err
	}
	var m struct{ Dir string }
	return m.Dir, errors.Join(json.Unmarshal(out, &m))
}

// goTool runs go in nod's own module.
func goTool(args ...string) ([]byte, error) {
	cmd := exec.Command("go", append([]string{"-C", "../.."}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}

// namesUsed are the names of the package at path that the Go files below dir use.
func namesUsed(dir, path string) (map[string]bool, error) {
	used := map[string]bool{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte(strconv.Quote(path))) {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "gl" {
					used[s.Sel.Name] = true
					used[strings.TrimSuffix(s.Sel.Name, "WithOffset")] = true // which that one calls
				}
			}
			return true
		})
		return nil
	})
	return used, err
}

// write copies a package, with those of its functions and constants only that are used.
func write(from, to string, used map[string]bool) error {
	text, err := os.ReadFile(filepath.Join(from, "package.go"))
	if err != nil {
		return err
	}
	if text, err = reduce(text, used); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(to, "KHR"), 0o755); err != nil {
		return err
	}
	for _, name := range []string{"conversions.go", "procaddr.go", "KHR/khrplatform.h"} {
		if err := copyFile(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(to, "package.go"), text, 0o644)
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// reduce leaves of the file package.go of a package what is used.
func reduce(text []byte, used map[string]bool) ([]byte, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "package.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	r := reducer{text: text, file: set.File(f.Pos()), used: used}
	r.out.WriteString("// Reduced by gen to what is used.\n//\n")
	r.out.Write(text[:r.file.Offset(f.Name.End())])
	for _, d := range f.Decls {
		r.declaration(d)
	}
	return format.Source(r.out.Bytes())
}

type reducer struct {
	text []byte
	file *token.File
	used map[string]bool
	out  bytes.Buffer
}

func (r *reducer) source(n ast.Node) []byte {
	return r.text[r.file.Offset(n.Pos()):r.file.Offset(n.End())]
}

func (r *reducer) print(format string, args ...any) { fmt.Fprintf(&r.out, format, args...) }

func (r *reducer) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			r.print("\n\n%s%s", r.preamble(d.Doc), r.source(d))
			return
		}
		r.print("\n\n%s (", d.Tok)
		for _, s := range d.Specs {
			name := s.(*ast.ValueSpec).Names[0].Name
			if r.used[strings.TrimPrefix(name, "gp")] {
				r.print("\n%s", r.source(s))
			}
		}
		r.print("\n)")
	case *ast.FuncDecl:
		switch {
		case d.Name.Name == "InitWithProcAddrFunc":
			r.loader(d)
		case d.Name.Name == "Init", !d.Name.IsExported(), r.used[d.Name.Name]:
			r.print("\n\n")
			if d.Doc != nil {
				r.print("%s\n", r.source(d.Doc))
			}
			r.print("%s", r.source(d))
		}
	}
}

// loader writes the function that looks the others up: an assignment and, of what every OpenGL has, a check each.
func (r *reducer) loader(d *ast.FuncDecl) {
	r.print("\n\n%s\n%s {", r.source(d.Doc), bytes.TrimSpace(r.text[r.file.Offset(d.Pos()):r.file.Offset(d.Body.Lbrace)]))
	for _, s := range d.Body.List {
		var pointer ast.Expr
		switch s := s.(type) {
		case *ast.AssignStmt:
			pointer = s.Lhs[0]
		case *ast.IfStmt:
			pointer = s.Cond.(*ast.BinaryExpr).X
		}
		if pointer == nil || r.used[strings.TrimPrefix(string(r.source(pointer)), "gp")] {
			r.print("\n%s", r.source(s))
		}
	}
	r.print("\n}")
}

// What the C in front of import "C" declares, one line or, with a body, three.
var (
	pointerType = regexp.MustCompile(`^// typedef .*\(APIENTRYP GP(\w+)\)`)
	function    = regexp.MustCompile(`^// static .*\bglow(\w+)\(`)
	callback    = regexp.MustCompile(`^// extern .*glowDebugCallback`)
)

func (r *reducer) preamble(doc *ast.CommentGroup) []byte {
	if doc == nil {
		return nil
	}
	types := map[string]bool{}
	for name := range r.used {
		types[strings.ToUpper(name)] = true
	}
	var out bytes.Buffer
	drop := 0
	for line := range bytes.Lines(append(r.source(doc), '\n')) {
		switch {
		case drop > 0:
			drop--
			continue
		case callback.Match(line):
			continue
		}
		if m := pointerType.FindSubmatch(line); m != nil && !types[string(m[1])] {
			continue
		}
		if m := function.FindSubmatch(line); m != nil && !r.used[string(m[1])] {
			drop = 2
			continue
		}
		out.Write(line)
	}
	return out.Bytes()
}
