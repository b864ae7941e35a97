package dialogs

import (
	"image/color"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gfm "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
)

const (
	maxMarkdownDepth  = 12 // nesting of blocks and emphasis; deeper ones are shown as source
	maxMarkdownBlocks = 2000
)

// newMarkdown renders text as simple Markdown: paragraphs, headings, bold, emphasis, code, lists, tables and quotes.
//
// The text comes from a requester, so newMarkdown walks an allow-list of its syntax tree and never uses Fyne's own
// Markdown, which loads pictures from the network and opens any link. It loads nothing; a link shows its whole target
// and opens on a click, after asking; everything else is shown as text. w is the window of a prompt; elsewhere it is
// nil, and no link opens.
func newMarkdown(w *window, source string) fyne.CanvasObject {
	if len(source) > prompt.MaxMarkdownBytes {
		return proseLabel(source)
	}
	m := markdown{w: w, source: []byte(source)}
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(m.source))
	blocks := m.blocks(root, 0)
	if len(blocks) == 0 {
		return proseLabel(source)
	}
	return blocksColumn(blocks...)
}

func proseLabel(source string) fyne.CanvasObject {
	return newLinkedText(nil, proseSegments(source, widget.RichTextStyleInline))
}

type markdown struct {
	w      *window
	source []byte
	count  int // blocks so far
}

func (m *markdown) blocks(n ast.Node, depth int) []fyne.CanvasObject {
	var objects []fyne.CanvasObject
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if o := m.block(c, depth); o != nil {
			objects = append(objects, o)
		}
	}
	return objects
}

func (m *markdown) block(n ast.Node, depth int) fyne.CanvasObject {
	if m.count++; m.count > maxMarkdownBlocks || depth > maxMarkdownDepth {
		return m.literal(n)
	}
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		return newLinkedText(m.w, m.inlines(n, widget.RichTextStyleInline, 0))
	case *ast.Heading:
		return m.heading(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return codeBlock(m.raw(n))
	case *ast.List:
		return m.list(n, depth)
	case *ast.Blockquote:
		quoted := blocksColumn(m.blocks(n, depth+1)...)
		bar := newTint(theme.ColorNameSeparator, 0xff, 1, container.New(fixed{width: 3, height: 3}))
		return inset(container.NewBorder(nil, nil, bar, nil, quoted))
	case *ast.ThematicBreak:
		return inset(widget.NewSeparator())
	case *gfm.Table:
		return m.table(n)
	}
	return m.literal(n)
}

var headingSizes = []fyne.ThemeSizeName{sizeHeading, theme.SizeNameSubHeadingText, sizeSmallHeading}

func (m *markdown) heading(n *ast.Heading) fyne.CanvasObject {
	style := widget.RichTextStyleInline
	style.TextStyle.Bold = true
	if n.Level <= len(headingSizes) {
		style.SizeName = headingSizes[n.Level-1]
	}
	text := newLinkedText(m.w, m.inlines(n, style, 0))
	if n.PreviousSibling() == nil {
		return text
	}
	const above = 6
	return container.New(layout.NewCustomPaddedLayout(above, 0, 0, 0), text)
}

func (m *markdown) list(list *ast.List, depth int) fyne.CanvasObject {
	var items []fyne.CanvasObject
	number := list.Start
	width := float32(26)
	if list.IsOrdered() {
		last := strconv.Itoa(number+list.ChildCount()-1) + "."
		width = max(width, fyne.MeasureText(last, theme.TextSize(), fyne.TextStyle{}).Width+theme.InnerPadding())
	}
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		bullet := "•"
		if list.IsOrdered() {
			bullet = strconv.Itoa(number) + "."
			number++
		}
		room := canvas.NewRectangle(color.Transparent)
		room.SetMinSize(fyne.NewSize(width+theme.InnerPadding(), 0))
		mark := container.NewStack(room, newLinkedText(nil, []widget.RichTextSegment{
			&widget.TextSegment{Text: bullet, Style: widget.RichTextStyleInline}}))
		body := blocksColumn(m.blocks(item, depth+1)...)
		items = append(items, container.New(&sides{gap: -theme.InnerPadding()}, mark, body, container.NewStack()))
	}
	return blocksColumn(items...)
}

func (m *markdown) literal(n ast.Node) fyne.CanvasObject {
	source := m.raw(n)
	if strings.TrimSpace(source) == "" {
		return nil
	}
	return proseLabel(strings.TrimRight(source, "\n"))
}

func (m *markdown) raw(n ast.Node) string {
	var b strings.Builder
	m.writeRaw(&b, n)
	return b.String()
}

func (m *markdown) writeRaw(b *strings.Builder, n ast.Node) {
	if _, isCell := n.(*gfm.TableCell); isCell {
		b.WriteString("|")
	}
	b.Write(n.Lines().Value(m.source))
	if html, ok := n.(*ast.HTMLBlock); ok && html.HasClosure() {
		b.Write(html.ClosureLine.Value(m.source))
	}
	if n.Lines().Len() > 0 {
		return
	}
	for c := n.FirstChild(); c != nil && c.Type() != ast.TypeInline; c = c.NextSibling() {
		m.writeRaw(b, c)
	}
	if _, isCell := n.LastChild().(*gfm.TableCell); isCell {
		b.WriteString("|\n")
	}
}

func (m *markdown) inlines(n ast.Node, style widget.RichTextStyle, depth int) []widget.RichTextSegment {
	var out []widget.RichTextSegment
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, m.inline(c, style, depth)...)
	}
	return out
}

func (m *markdown) inline(n ast.Node, style widget.RichTextStyle, depth int) []widget.RichTextSegment {
	if depth > maxMarkdownDepth {
		return proseSegments(m.innerText(n), style)
	}
	switch n := n.(type) {
	case *ast.Text:
		value := n.Value(m.source)
		if !n.IsRaw() {
			value = util.UnescapePunctuations(value)
		}
		s := string(value)
		if n.SoftLineBreak() || n.HardLineBreak() {
			s += "\n" // agents write line breaks on purpose
		}
		return proseSegments(s, style)
	case *ast.String:
		return proseSegments(string(n.Value), style)
	case *ast.Emphasis:
		if n.Level >= 2 {
			style.TextStyle.Bold = true
		} else {
			style.TextStyle.Italic = true
		}
		return m.inlines(n, style, depth+1)
	case *ast.CodeSpan:
		style.TextStyle = fyne.TextStyle{Monospace: true}
		return spanSegments(safetext.Render(m.innerText(n)), style)
	case *ast.Link:
		return m.link(m.inlines(n, style, depth+1), m.innerText(n), string(n.Destination), style)
	case *ast.AutoLink:
		return m.link(nil, "", string(n.URL(m.source)), style)
	case *ast.Image:
		alt := m.innerText(n) + " (" + string(n.Destination) + ")"
		return proseSegments(alt, style)
	case *ast.RawHTML:
		return proseSegments(string(n.Segments.Value(m.source)), style)
	}
	return proseSegments(m.innerText(n), style)
}

func (m *markdown) innerText(n ast.Node) string {
	var b strings.Builder
	var walk func(ast.Node)
	walk = func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(m.source))
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		}
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			walk(c)
		}
	}
	walk(n)
	return b.String()
}

// link shows a link: its text, then its whole target, which can be clicked if it is an unambiguous web address.
func (m *markdown) link(
	label []widget.RichTextSegment, labelText, target string, style widget.RichTextStyle,
) []widget.RichTextSegment {
	around := label != nil && labelText != target
	var out []widget.RichTextSegment
	if around {
		out = append(label, &widget.TextSegment{Text: " (", Style: style})
	}
	out = append(out, m.targetSegments(target, style)...)
	if around {
		out = append(out, &widget.TextSegment{Text: ")", Style: style})
	}
	return out
}

func (m *markdown) targetSegments(target string, style widget.RichTextStyle) []widget.RichTextSegment {
	u := webAddress(target)
	if u == nil || m.w == nil {
		return spanSegments(safetext.Render(target), style)
	}
	link := &widget.HyperlinkSegment{Text: safetext.Render(target)[0].String()}
	link.OnTapped = func() { m.w.askToOpen(u, target) }
	return []widget.RichTextSegment{link}
}

// webAddress parses target. It returns nil unless it is an address that may be opened.
func webAddress(target string) *url.URL {
	host, u := prompt.HostOf(target)
	if host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	return u
}

// askToOpen shows the whole address in a menu, and opens it if the user confirms. Escape closes the menu, and nothing
// below it can be affirmed.
func (w *window) askToOpen(u *url.URL, target string) {
	if w.page == nil {
		return
	}
	host, _ := prompt.HostOf(target)
	title := Words(tr("Open this address in the browser?"), theme.SizeNameText, theme.ColorNameForeground)
	w.openMenu(w.page.entry, w.page.head.more, []menuItem{
		{
			heading: Padded(6, menuIndent, Column(4, title, codeBlock(host), codeBlock(target))),
			text:    tr("Cancel"), do: func() {},
		},
		{text: tr("Open"), do: func() { _ = fyne.CurrentApp().OpenURL(u) }}, // the desktop reports failures
	})
}

func codeBlock(code string) fyne.CanvasObject {
	style := widget.RichTextStyleInline
	style.TextStyle = fyne.TextStyle{Monospace: true}
	segments := spanSegments(safetext.Render(strings.TrimRight(code, "\n")), style)
	return inset(newTint(ColorPaper, 0xff, theme.InputRadiusSize(), newLinkedText(nil, segments)))
}

func inset(o fyne.CanvasObject) fyne.CanvasObject {
	return Padded(theme.InnerPadding(), theme.InnerPadding(), o)
}

func proseSegments(s string, style widget.RichTextStyle) []widget.RichTextSegment {
	return spanSegments(safetext.Prose(s), style)
}

// spanSegments makes segments of rendered text. Hidden characters are in the error colour.
func spanSegments(rows []safetext.Row, style widget.RichTextStyle) []widget.RichTextSegment {
	var out []widget.RichTextSegment
	var plain strings.Builder
	flush := func() {
		out = append(out, textSegments(plain.String(), style)...)
		plain.Reset()
	}
	for i, row := range rows {
		if i > 0 {
			plain.WriteByte('\n')
		}
		for _, s := range row.Spans {
			if s.Kind != safetext.Hidden {
				plain.WriteString(s.Text)
				continue
			}
			flush()
			odd := style
			odd.ColorName, odd.TextStyle = theme.ColorNameError, fyne.TextStyle{Monospace: true}
			out = append(out, &widget.TextSegment{Text: s.Text, Style: odd})
		}
	}
	flush()
	return out
}

// maxSegment is the length in bytes after which a segment ends at the next gap: for each row of a segment Fyne decodes
// all of it.
const maxSegment = 3000

// isGap reports whether c ends a word or a clause, so that a row may end after it.
func isGap(c rune) bool {
	return c == ' ' || c > unicode.MaxASCII && unicode.In(c, unicode.Zs, unicode.Po, unicode.Pf)
}

// textSegments makes segments of text. Characters drawn in another style get segments of their own.
func textSegments(text string, style widget.RichTextStyle) []widget.RichTextSegment {
	var out []widget.RichTextSegment
	start, now := 0, style.TextStyle
	flush := func(end int) {
		if start < end {
			part := style
			part.TextStyle = now
			out = append(out, &widget.TextSegment{Text: text[start:end], Style: part})
		}
		start = end
	}
	var last rune
	for i, c := range text {
		other := now
		if style.TextStyle.Monospace {
			other = styleOf(c, style.TextStyle)
		}
		if other != now || i-start >= maxSegment && isGap(last) {
			flush(i)
			now = other
		}
		last = c
	}
	flush(len(text))
	return out
}

// blocksColumn puts blocks below one another. Between two texts, each of which has padding, it removes one padding.
func blocksColumn(blocks ...fyne.CanvasObject) *fyne.Container {
	return Column(-theme.InnerPadding(), blocks...)
}

// prose is a text to read, such as a plan, as simple Markdown. Its positions are pixels.
type prose struct {
	content fyne.CanvasObject
	width   float32 // that it was wrapped for
	height  float32
}

const proseWidth = 700

func newProse(content fyne.CanvasObject) *sheet {
	p := &prose{content: Padded(4, 6, content)}
	s := &sheet{ground: theme.ColorNameBackground}
	s.show(p, p.content)
	return s
}

func (p *prose) wrap(width float32) (moved bool) {
	moved = width != p.width
	p.width, p.height = width, resizeToWidth(p.content, width)
	return moved
}

func (p *prose) extent() (height float32, end int) { return p.height, max(int(p.height), 1) }

func (p *prose) between(top, bottom float32) (from, to int) {
	return int(max(top, 0)), int(min(bottom, p.height))
}

func (p *prose) top(position int) float32 {
	const overlap = 24 // a line that was already read, for orientation
	return float32(position) - overlap
}

func (p *prose) start(int) int {
	_, end := p.extent()
	return end
}

func (p *prose) unseen(seenRanges) (lines, of int) { return 0, 0 }

func (p *prose) wanted() float32 { return p.content.MinSize().Height + 2 }

func (p *prose) natural() float32 { return proseWidth }

const maxColumns = 8

var cellAlignments = map[gfm.Alignment]fyne.TextAlign{
	gfm.AlignCenter: fyne.TextAlignCenter, gfm.AlignRight: fyne.TextAlignTrailing,
}

// table shows a table in columns as wide as their longest cell, if there is room.
func (m *markdown) table(t *gfm.Table) fyne.CanvasObject {
	if len(t.Alignments) > maxColumns {
		return m.literal(t)
	}
	columns := &tableColumns{natural: make([]float32, len(t.Alignments))}
	var rows []fyne.CanvasObject
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		if m.count++; m.count > maxMarkdownBlocks {
			if o := m.literal(r); o != nil {
				rows = append(rows, o)
			}
			continue
		}
		_, isHeader := r.(*gfm.TableHeader)
		var row fyne.CanvasObject = container.New(columns, m.cells(r, isHeader, columns)...)
		if isHeader {
			row = Surface(ColorSunken, row)
		} else {
			rows = append(rows, Rule())
		}
		rows = append(rows, row)
	}
	return inset(Card(theme.ColorNameBackground, Padded(1, 1, Column(0, rows...))))
}

func (m *markdown) cells(row ast.Node, isHeader bool, columns *tableColumns) []fyne.CanvasObject {
	var cells []fyne.CanvasObject
	for n := row.FirstChild(); n != nil && len(cells) < len(columns.natural); n = n.NextSibling() {
		style := widget.RichTextStyleInline
		style.TextStyle.Bold = isHeader
		if cell, ok := n.(*gfm.TableCell); ok {
			style.Alignment = cellAlignments[cell.Alignment]
		}
		text := newLinkedText(m.w, m.inlines(n, style, 0))
		text.Wrapping = fyne.TextWrapOff
		columns.natural[len(cells)] = max(columns.natural[len(cells)], text.MinSize().Width)
		text.Wrapping = fyne.TextWrapWord
		cells = append(cells, text)
	}
	return cells
}

type tableColumns struct {
	rowLayout
	natural []float32 // width of each column without wrapping
}

// widths distributes the width of the table: columns that need less than their share leave the rest to the others.
func (c *tableColumns) widths(width float32) []float32 {
	widths := make([]float32, len(c.natural))
	open := len(widths)
	for again := true; again && open > 0; {
		again = false
		share := width / float32(open)
		for i, n := range c.natural {
			if widths[i] == 0 && n <= share {
				widths[i], width, open, again = max(n, 1), width-n, open-1, true
			}
		}
	}
	for i := range widths {
		if widths[i] == 0 {
			widths[i] = width / float32(open)
		}
	}
	return widths
}

func (c *tableColumns) Layout(cells []fyne.CanvasObject, size fyne.Size) {
	x := float32(0)
	widths := c.widths(size.Width)
	for i, o := range cells {
		resizeToWidth(o, widths[i])
		o.Move(fyne.NewPos(x, 0))
		x += widths[i]
	}
}
