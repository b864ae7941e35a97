package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/yuin/goldmark/ast"
	gfm "github.com/yuin/goldmark/extension/ast"
)

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
