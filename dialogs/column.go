package dialogs

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
)

const (
	columnWidth = 236 // of the queue beside the prompt
	maxRows     = 40  // of pending, and of snoozed requests; more appear when these are gone
)

// queueColumn is the queue beside the prompt, on screens with enough room: the pending requests by session, and the
// snoozed ones. It is left of the prompt, so that the buttons do not move when it appears. It stays until the window
// closes, since shrinking the window would move the buttons, too. Arrow keys move through it, Delete gives the negative
// answer to the current request, and Enter opens its prompt.
type queueColumn struct {
	focusBase
	list     *fyne.Container
	scroll   *scrollArea
	rows     []*columnRow
	shown    bool    // the window was widened for it
	beside   float32 // minimum width of the prompt
	revealed *entry  // that has been brought into view
}

func newQueueColumn(w *window) *queueColumn {
	c := &queueColumn{list: Column(2)}
	c.scroll = &scrollArea{container.NewVScroll(Padded(8, 6, c.list))}
	c.extend(c, w)
	return c
}

func (c *queueColumn) CreateRenderer() fyne.WidgetRenderer {
	ring := canvas.NewRectangle(color.Transparent)
	edge := container.NewBorder(nil, nil, nil, Surface(colorHairline, container.New(fixed{width: 1})))
	return newPainted(Surface(ColorSunken, container.NewStack(c.scroll.Scroll, edge, ring)), func() {
		ring.StrokeWidth, ring.StrokeColor = 0, color.Transparent
		if c.focused {
			ring.StrokeWidth, ring.StrokeColor = 1.5, tint(colorOf(c, theme.ColorNamePrimary), 0x88)
		}
		ring.Refresh()
	})
}

// besideLayout shows the column if the window has room for it and the prompt.
type besideLayout struct{ c *queueColumn }

func (besideLayout) MinSize(o []fyne.CanvasObject) fyne.Size { return o[0].MinSize() }

func (l besideLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	page, x := o[0], float32(0)
	if l.c.shown && size.Width+slack >= l.c.beside+columnWidth {
		x = columnWidth
	}
	SetVisible(l.c, x > 0)
	l.c.Resize(fyne.NewSize(x, size.Height))
	page.Move(fyne.NewPos(x, 0))
	page.Resize(fyne.NewSize(size.Width-x, size.Height))
}

// widen returns the size of the window for a prompt of size page.
func (c *queueColumn) widen(page fyne.Size) fyne.Size {
	c.beside = page.Width
	if c.shown {
		page.Width += columnWidth
	}
	return page
}

// updateShown decides whether the column is shown beside a prompt of that size: if other requests are pending and the
// screen has the room. It reports whether the column appears now.
func (c *queueColumn) updateShown(page fyne.Size) (comes bool) {
	if c.shown || len(c.w.p.queue.entries) < 2 || !c.w.p.hasRoomBeside(c.w.win, page.Width+columnWidth) {
		return false
	}
	c.shown = true
	return true
}

// hasRoomBeside reports whether a window can have that width: a visible one, without moving its right edge; a hidden
// one, anywhere on the screen. Where nod cannot place a window, a visible one keeps its width.
func hasRoomBeside(w fyne.Window, width float32) bool {
	x, id := windowSystem(w)
	if x == nil {
		return false
	}
	monitor := x.monitor(id)
	room := monitor.Dx()
	if id != 0 && x.onScreen(id) {
		room = x.place(id).Max.X - monitor.Min.X
	}
	return float32(room) >= width*w.Canvas().Scale()
}

// follow shows the queue as it is now. It reports whether that changes as time goes by.
func (c *queueColumn) follow() (changes bool) {
	if !c.shown {
		return false
	}
	c.build()
	current := c.w.p.queue.current
	for _, row := range c.rows {
		row.Refresh()
		if row.entry == current && current != c.revealed && c.Visible() {
			c.revealed = current
			c.scroll.reveal(row)
		}
	}
	return true
}

// build makes new rows if the requests are others than before.
func (c *queueColumn) build() {
	groups := firstRows(c.w.p.queue.groups())
	snoozed := c.w.p.queue.snoozed()
	snoozed = snoozed[:min(len(snoozed), maxRows)]
	all := append(slices.Concat(groups...), snoozed...)
	isOf := func(e *entry, r *columnRow) bool { return r.entry == e && r.snoozed == e.isSnoozed() }
	if slices.EqualFunc(all, c.rows, isOf) {
		return
	}
	old := c.rows
	c.rows, c.list.Objects = nil, nil
	add := func(e *entry) {
		i := slices.IndexFunc(old, func(r *columnRow) bool { return isOf(e, r) })
		row := (*columnRow)(nil)
		if i >= 0 {
			row = old[i]
		} else {
			row = newColumnRow(c, e)
		}
		c.rows = append(c.rows, row)
		c.list.Add(row)
	}
	for _, group := range groups {
		c.list.Add(c.heading(group))
		for _, e := range group {
			add(e)
		}
	}
	if len(snoozed) > 0 {
		c.list.Add(Padded(6, 6, newWords(tr("Snoozed"), theme.SizeNameCaptionText, ColorMuted).bold()))
	}
	for _, e := range snoozed {
		add(e)
	}
	c.list.Refresh()
}

func firstRows(groups [][]*entry) [][]*entry {
	room := maxRows
	for i, group := range groups {
		switch {
		case room == 0:
			return groups[:i]
		case len(group) > room:
			return append(groups[:i:i], group[:room])
		}
		room -= len(group)
	}
	return groups
}

func (c *queueColumn) heading(group []*entry) fyne.CanvasObject {
	name := OneLine(prompt.SessionOf(group[0].request.Requester), theme.SizeNameCaptionText)
	name.TextStyle.Bold = true
	return Padded(6, 6, Tight(name))
}

// OneLine is a label that is cut at the end of its line.
func OneLine(s string, size fyne.ThemeSizeName) *widget.Label {
	l := widget.NewLabel(s)
	l.SizeName, l.Truncation = size, fyne.TextTruncateEllipsis
	return l
}

func (c *queueColumn) TypedKey(ev *fyne.KeyEvent) {
	list := slices.Concat(c.w.p.queue.groups()...)
	at, last := slices.Index(list, c.w.p.queue.current), len(list)-1
	to, moves := map[fyne.KeyName]int{
		fyne.KeyDown: min(at+1, last), fyne.KeyUp: max(at-1, 0), fyne.KeyHome: 0, fyne.KeyEnd: last,
	}[ev.Name]
	switch {
	case at < 0: // the current request has just ended
	case moves:
		c.w.p.show(list[to])
	case ev.Name == fyne.KeyDelete:
		c.w.pressing(c.w.refuse)()
	case presses(ev):
		c.w.pressing(func() { c.w.focus(c.w.page.start()) })()
	default:
		c.w.typedKey(ev)
	}
}

type columnRow struct {
	widget.BaseWidget
	hovering
	c       *queueColumn
	entry   *entry
	snoozed bool // when the row was made
	small   *widget.Label
	risk    string
	color   fyne.ThemeColorName
}

func newColumnRow(c *queueColumn, e *entry) *columnRow {
	r := &columnRow{c: c, entry: e, snoozed: e.isSnoozed()}
	r.risk, r.color = riskOf(e)
	r.small = OneLine("", theme.SizeNameCaptionText)
	r.small.Importance = widget.LowImportance
	r.ExtendBaseWidget(r)
	r.refresh = r.Refresh
	return r
}

func (r *columnRow) CreateRenderer() fyne.WidgetRenderer {
	ground := canvas.NewRectangle(nil)
	mark := Surface(r.color, container.New(fixed{width: 4}))
	text := Column(1, Tight(OneLine(prompt.SummaryOf(r.entry.request), theme.SizeNameText)), Tight(r.small))
	line := container.NewBorder(nil, nil, mark, nil, Padded(5, 8, text))
	return newPainted(container.NewStack(ground, line), func() {
		isCurrent := r.entry == r.c.w.p.queue.current
		ground.FillColor, ground.CornerRadius = color.Transparent, 4
		if isCurrent || r.hovered {
			ground.FillColor = colorOf(r, colorAccent)
		}
		if s := r.smallPrint(); r.small.Text != s {
			r.small.SetText(s)
		}
		ground.Refresh()
	})
}

func (r *columnRow) smallPrint() string {
	return r.c.w.ageOf(r.entry) + " · " + r.risk
}

// riskOf returns the risk of a request as its prompt shows it, from its worst fact or its class, and a colour.
func riskOf(e *entry) (string, fyne.ThemeColorName) {
	switch e.request.Body.(type) {
	case interact.Approve:
		color := riskColor(e.why.Class, e.view().AllFacts())
		if headlines, _ := e.view().Said(); len(headlines) > 0 {
			return headlines[0].Text, color
		}
		return e.view().Class.Text, color
	case api.Confirm:
		return tr("yes or no"), stripeOf(e)
	case api.Form:
		return tr("form"), stripeOf(e)
	}
	return tr("question"), stripeOf(e)
}

func (r *columnRow) Tapped(*fyne.PointEvent) { r.c.w.p.show(r.entry) }
