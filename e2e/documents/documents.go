// Package documents reads nod's documents and holds them to what they say. Its own tests check what can be told from
// the text alone; the tests of cmd/nod check command lines, those of e2e run what the documents have people type.
//
// What a fenced block is, its first word says. A block without one is refused, so nothing escapes the tests:
//
//	sh       commands, run as one script; run=… names who runs them instead: see [Runner]
//	console  a transcript: what follows "$ " is run, the rest is compared with what it prints; … stands for anything
//	yaml     a part of config.yaml, with all keys above it; "yaml other" is another program's
//	json     JSON; jsonc has comments
//	toml     TOML
//	go       a whole file, or from=FILE: an excerpt of that file, in which lines of … stand for what is left out
//	js       what nod itself writes, into an agent's settings
//	text     anything else
package documents

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"go.yaml.in/yaml/v3"
)

// A Document is one file of Markdown.
type Document struct {
	Path     string // relative to the repository's folder, with slashes
	Blocks   []Block
	Spans    []Span // `code` within sentences
	Links    []Link
	Anchors  []string // what #… may name in it
	Titles   []Span   // headings of the first level
	Tags     []Span   // of HTML
	Indented []int    // lines of indented code, which nothing says how to test
}

// A Block is a fenced block of code.
type Block struct {
	Path     string // of its document
	Line     int    // of its first line of text
	Language string
	Options  []string // the rest of the info string, such as run=make
	Text     string
}

// A Span is a piece of text in a line.
type Span struct {
	Line int
	Text string
}

// A Link leads to a file or to the web.
type Link struct {
	Line   int
	Target string
	Image  bool
	Text   string // of an image: what it shows, in words
}

// Read reads all documents of the repository in the folder root, and the workflows of a public forge.
func Read(root string) ([]Document, error) {
	files := os.DirFS(root)
	var paths []string
	for _, pattern := range []string{"*.md", "packaging/*.md", "agents/*.md", ".github/*.md"} {
		found, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	err := fs.WalkDir(files, "docs", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	workflows, err := fs.Glob(files, ".github/workflows/*.yml")
	if err != nil {
		return nil, err
	}
	documents := make([]Document, 0, len(paths)+len(workflows))
	for _, path := range append(paths, workflows...) {
		source, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		if filepath.Ext(path) == ".md" {
			documents = append(documents, Parse(path, source))
			continue
		}
		d, err := parseWorkflow(path, source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		documents = append(documents, d)
	}
	return documents, nil
}

// parseWorkflow reads what a public forge runs, as a document whose blocks are the scripts in it.
func parseWorkflow(path string, source []byte) (Document, error) {
	d := Document{Path: path}
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "run" {
				options := []string{"run=" + string(Make)}
				d.Blocks = append(d.Blocks, Block{path, child.Line, "sh", options, child.Value})
			}
			visit(child)
		}
	}
	var tree yaml.Node
	err := yaml.Unmarshal(source, &tree)
	visit(&tree)
	return d, err
}

// Parse reads one document.
func Parse(path string, source []byte) Document {
	r := reader{Document: Document{Path: path}, source: source, slugs: map[string]int{}}
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // visit cannot fail
		if entering {
			r.visit(n)
		}
		return ast.WalkContinue, nil
	})
	return r.Document
}

type reader struct {
	Document
	source []byte
	slugs  map[string]int // how many headings have had that anchor
}

func (r *reader) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.FencedCodeBlock:
		r.Blocks = append(r.Blocks, r.block(n))
	case *ast.CodeBlock:
		r.Indented = append(r.Indented, r.line(n))
	case *ast.CodeSpan:
		r.Spans = append(r.Spans, Span{r.line(n), r.text(n)})
	case *ast.Heading:
		r.Anchors = append(r.Anchors, r.slug(r.text(n)))
		if n.Level == 1 {
			r.Titles = append(r.Titles, Span{r.line(n), r.text(n)})
		}
	case *ast.Link:
		r.Links = append(r.Links, Link{Line: r.line(n), Target: string(n.Destination)})
	case *ast.Image:
		r.Links = append(r.Links, Link{Line: r.line(n), Target: string(n.Destination), Image: true, Text: r.text(n)})
	case *ast.AutoLink:
		r.Links = append(r.Links, Link{Line: r.line(n), Target: string(n.URL(r.source))})
	case *ast.HTMLBlock:
		r.html(r.line(n), n.Lines().Value(r.source))
	case *ast.RawHTML:
		r.html(r.line(n), n.Segments.Value(r.source))
	}
}

func (r *reader) block(n *ast.FencedCodeBlock) Block {
	b := Block{Path: r.Path, Line: r.line(n), Text: string(n.Lines().Value(r.source))}
	if n.Info != nil {
		words := strings.Fields(string(n.Info.Value(r.source)))
		b.Language, b.Options = words[0], words[1:]
	}
	return b
}

// text is what a node and those under it say, without markup.
func (r *reader) text(n ast.Node) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, is := child.(*ast.Text); is {
			b.Write(t.Segment.Value(r.source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
			continue
		}
		b.WriteString(r.text(child))
	}
	return b.String()
}

// line is where a node begins. What is within a sentence has no place of its own but that of its text.
func (r *reader) line(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if at, ok := place(n); ok {
			return 1 + bytes.Count(r.source[:at], []byte("\n"))
		}
	}
	return 1
}

func place(n ast.Node) (at int, ok bool) {
	if t, is := n.(*ast.Text); is {
		return t.Segment.Start, true
	}
	if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
		return n.Lines().At(0).Start, true
	}
	if f, is := n.(*ast.FencedCodeBlock); is && f.Info != nil {
		return f.Info.Segment.Start, true
	}
	if n.Type() == ast.TypeInline && n.FirstChild() != nil {
		return place(n.FirstChild())
	}
	return 0, false
}

// slug is the anchor that GitHub gives a heading.
func (r *reader) slug(heading string) string {
	slug := strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-' || c == '_' || isWord(c):
			return c
		}
		return -1
	}, strings.ToLower(heading))
	count := r.slugs[slug]
	r.slugs[slug]++
	if count > 0 {
		return fmt.Sprintf("%s-%d", slug, count)
	}
	return slug
}
