package config

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A document is the text of a YAML file, changed line by line: yaml's encoder would lose blank lines and move comments.
// It parses the text again before each change to find the lines.
type document struct {
	lines []string // without line ends
	eol   string
}

// newDocument splits a text into lines. It refuses line breaks that YAML recognizes and editors do not.
func newDocument(data []byte) (*document, error) {
	d := &document{eol: "\n"}
	s := string(data)
	if n := strings.Count(s, "\r\n"); n > 0 && n == strings.Count(s, "\n") {
		d.eol = "\r\n"
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	if strings.ContainsAny(s, "\r\u0085\u2028\u2029\ufeff") {
		return nil, errRewrite
	}
	if s = strings.TrimSuffix(s, "\n"); s != "" {
		d.lines = strings.Split(s, "\n")
	}
	return d, nil
}

func (d *document) replace(start, end int, lines []string) {
	d.lines = slices.Replace(d.lines, start, end, lines...)
}

func (d *document) root() (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.Join(d.lines, "\n")), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || isEmpty(doc.Content[0]) {
		return nil, nil
	}
	return doc.Content[0], nil
}

func (d *document) find(section, key string) (*yaml.Node, error) {
	root, err := d.root()
	if err != nil || root == nil {
		return nil, err
	}
	_, m := entry(root, section)
	if m == nil {
		return nil, nil
	}
	m, key = inner(m, key)
	_, value := entry(m, key)
	return value, nil
}

// inner follows a key with dots to the mapping that holds its last part.
func inner(m *yaml.Node, key string) (*yaml.Node, string) {
	outer, rest, isNested := strings.Cut(key, ".")
	if !isNested {
		return m, key
	}
	_, m = entry(m, outer)
	return inner(m, rest)
}

// set writes the value of a key. Any mappings around it must exist, with one line per key.
func (d *document) set(section, key string, value any) error {
	root, err := d.root()
	if err != nil {
		return err
	}
	if root == nil {
		return d.appendSection(section, key, value)
	}
	if root.Style&yaml.FlowStyle != 0 {
		if err := d.writeOut(root, 0, len(d.lines), 0); err != nil {
			return err
		}
		return d.set(section, key, value)
	}
	name, m := entry(root, section)
	switch {
	case name == nil:
		return d.appendSection(section, key, value)
	case isEmpty(m):
		lines, err := render(map[string]any{key: value}, name.Column+1)
		d.replace(name.Line, name.Line, lines)
		return err
	case m.Style&yaml.FlowStyle != 0:
		start, end := d.span(name)
		both := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{name, m}}
		comment := trailing(d.lines[start], name, m)
		m.LineComment, name.LineComment = "", ""
		name.HeadComment, name.FootComment = "", "" // the lines around it are kept
		if err := d.writeOut(both, start, end, name.Column-1); err != nil {
			return err
		}
		d.lines[start] += comment
		return d.set(section, key, value)
	}
	m, key = inner(m, key)
	return d.setIn(m, key, value)
}

func (d *document) appendSection(section, key string, value any) error {
	lines, err := render(map[string]any{section: map[string]any{key: value}}, 0)
	if isBlank(d.lines) {
		d.lines = nil
	} else {
		lines = append([]string{""}, lines...)
	}
	d.lines = append(d.lines, lines...)
	return err
}

// writeOut rewrites a mapping in braces as one line per key, because the two styles do not mix.
func (d *document) writeOut(n *yaml.Node, start, end, indent int) error {
	unflow(n)
	lines, err := render(n, indent)
	d.replace(start, end, lines)
	return err
}

// unflow removes a node's braces; an empty mapping becomes an empty value.
func unflow(n *yaml.Node) {
	n.Style &^= yaml.FlowStyle
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		n.Kind, n.Tag = yaml.ScalarNode, "!!null"
	}
	for _, child := range n.Content {
		unflow(child)
	}
}

// setIn adds or replaces a key of a mapping that has one line per key.
func (d *document) setIn(m *yaml.Node, key string, value any) error {
	name, old := entry(m, key)
	if name == nil {
		_, end := d.span(m.Content[len(m.Content)-2])
		lines, err := render(map[string]any{key: value}, m.Content[0].Column-1)
		d.replace(end, end, lines)
		return err
	}
	lines, err := render(map[string]any{key: value}, 0)
	if err != nil {
		return err
	}
	// The first line keeps the text before the key (spaces, or the dash of a list) and its comment.
	line := d.lines[name.Line-1]
	if strings.Trim(line[:min(name.Column-1, len(line))], " -") != "" { // a tag, or an explicit key
		return errRewrite
	}
	before, comment := line[:name.Column-1], trailing(line, name, old)
	for i := range lines {
		if i > 0 {
			lines[i] = strings.Repeat(" ", name.Column-1) + lines[i]
		}
	}
	lines[0] = before + lines[0] + comment
	start, end := d.span(name)
	if isOneLine(line[name.Column-1:], old) { // the deeper lines below are comments
		end = start + 1
	}
	d.replace(start, end, lines)
	return nil
}

func isOneLine(text string, value *yaml.Node) bool {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 || len(doc.Content[0].Content) != 2 {
		return false
	}
	alone := doc.Content[0].Content[1]
	return alone.Kind == value.Kind && alone.Value == value.Value && len(alone.Content) == len(value.Content) &&
		value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// trailing returns the comment at the end of an entry's first line, with the space before it.
func trailing(line string, name, value *yaml.Node) string {
	for _, n := range []*yaml.Node{value, name} {
		if n.LineComment == "" || (n == value && value.Line != name.Line) {
			continue
		}
		if i := strings.LastIndex(line, n.LineComment); i > 0 {
			return line[len(strings.TrimRight(line[:i], " \t")):]
		}
	}
	return ""
}

// span returns the lines of the entry that starts with a key, up to the next line that is not indented deeper. It
// leaves out trailing blank lines and comments that are not indented deeper.
func (d *document) span(name *yaml.Node) (start, end int) {
	start = name.Line - 1
	return start, d.blockEnd(start, name.Column-1, true)
}

// blockEnd returns the end of the block that begins at start. A list may have the same indentation as its key.
func (d *document) blockEnd(start, indent int, ofKey bool) int {
	end := start + 1
	for i := start + 1; i < len(d.lines); i++ {
		if isBlank(d.lines[i : i+1]) {
			continue
		}
		depth := indentOf(d.lines[i])
		isItem := ofKey && depth == indent && d.isItemLine(i) && !d.isItemLine(start)
		switch {
		case depth > indent || isItem:
			end = i + 1
		case d.lines[i][depth] != '#': // comments may have any indentation
			return end
		}
	}
	return end
}

func (d *document) isItemLine(i int) bool {
	line := strings.TrimLeft(d.lines[i], " ")
	return line == "-" || strings.HasPrefix(line, "- ")
}

type chunk struct {
	loose []string // blank lines, and comments separated from the element by a blank line
	own   []string // the element and the comments right above it
}

func (c chunk) dashAt() int {
	return slices.IndexFunc(c.own, func(line string) bool {
		return strings.HasPrefix(strings.TrimLeft(line, " "), "-")
	})
}

func (d *document) chunks(list *yaml.Node) (chunks []chunk, start, end int) {
	for i, item := range list.Content {
		dash := item.Line - 1
		for !d.isItemLine(dash) {
			dash--
		}
		top := dash
		for top > end && strings.HasPrefix(strings.TrimLeft(d.lines[top-1], " "), "#") {
			top--
		}
		if i == 0 {
			start, end = top, top
		}
		c := chunk{loose: d.lines[end:top]}
		end = d.blockEnd(dash, indentOf(d.lines[dash]), false)
		c.own = d.lines[top:end]
		chunks = append(chunks, c)
	}
	return chunks, start, end
}

func entry(m *yaml.Node, key string) (name, value *yaml.Node) {
	for i := 0; m != nil && i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i], m.Content[i+1]
		}
	}
	return nil, nil
}

func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value == ""
}

func isBlockList(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0
}

func isBlank(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return strings.TrimSpace(line) != "" })
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func render(value any, indent int) ([]string, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", indent) + line
		}
	}
	return lines, nil
}
