package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// lazyColumn is a scrolling column of many rows, each laid out only when it comes near the view.
type lazyColumn struct {
	scroll *scrollArea
	box    *fyne.Container // the visible rows laid out so far
	above  float32         // above the first row, and below the last
	gap    float32
	width  float32
	rows   []*lazyRow
}

type lazyRow struct {
	object  fyne.CanvasObject
	height  float32 // guessed until it is laid out
	laidOut bool
	hidden  bool
}

func newLazyColumn(gap, v, h float32) *lazyColumn {
	c := &lazyColumn{gap: gap, above: v}
	c.box = container.New(c)
	c.scroll = &scrollArea{container.NewVScroll(Padded(v, h, c.box))}
	c.scroll.OnScrolled = func(fyne.Position) { c.fill() }
	return c
}

func (c *lazyColumn) add(o fyne.CanvasObject, guess float32) {
	c.rows = append(c.rows, &lazyRow{object: o, height: guess})
}

func (c *lazyColumn) filter(keep func(i int) bool) {
	for i, r := range c.rows {
		r.hidden = !keep(i)
	}
	c.scroll.Offset = fyne.Position{}
	c.fill()
	c.scroll.Refresh()
}

func (c *lazyColumn) show(i int) {
	if c.rows[i].laidOut {
		return
	}
	c.scroll.scrollBy(c.top(i) - c.scroll.Offset.Y)
	c.fill()
}

func (c *lazyColumn) top(i int) float32 {
	var y float32
	for _, r := range c.rows[:i] {
		if !r.hidden {
			y += r.height + c.gap
		}
	}
	return y
}

func (c *lazyColumn) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(widest(objects), max(c.top(len(c.rows))-c.gap, 0))
}

func (c *lazyColumn) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	c.width = size.Width
	for _, r := range c.rows {
		if r.laidOut {
			r.height = resizeToWidth(r.object, c.width)
		}
	}
	c.fill()
}

func (c *lazyColumn) fill() {
	if c.width == 0 {
		return
	}
	before := len(c.box.Objects)
	for again := true; again; {
		again, c.box.Objects = false, nil
		view := c.scroll.Size().Height
		from, to := c.scroll.Offset.Y-c.above-view, c.scroll.Offset.Y-c.above+2*view
		var y float32
		for _, r := range c.rows {
			if r.hidden {
				continue
			}
			if near := y+r.height >= from && y <= to; near && !r.laidOut {
				guess := r.height
				r.height, r.laidOut, again = resizeToWidth(r.object, c.width), true, true
				if y+guess < c.scroll.Offset.Y-c.above {
					c.scroll.Offset.Y += r.height - guess
				}
			}
			if r.laidOut {
				r.object.Move(fyne.NewPos(0, y))
				c.box.Objects = append(c.box.Objects, r.object)
			}
			y += r.height + c.gap
		}
		if bottom := max(y-c.gap+2*c.above-view, 0); c.scroll.Offset.Y > bottom {
			c.scroll.Offset.Y, again = bottom, true // rows are lower than was guessed
		}
	}
	if len(c.box.Objects) != before {
		offset := c.scroll.Offset
		c.scroll.Offset.Y-- // Fyne sets the scroll bar only if the offset changes
		c.scroll.ScrollToOffset(offset)
	}
}
