package history

import (
	"cmp"
	"context"
	"image/color"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/interact/history"
)

// entryList shows the entries of a query, newest first, by day and session. It fetches pages as the user scrolls.
type entryList struct {
	widget.List
	win      *Window
	query    history.Query
	onOpen   func(seq int64)
	onStatus func(error) // called when the result or the progress changes
	onTaken  func()      // called once, with the rows that are being fetched; nil: not

	rows   []row
	last   group           // of the last row
	end    int64           // number of the last entry
	more   bool            // there are further entries
	next   controls.Worker // fetches the pages of a query, one after the other
	chosen int64           // number of the shown entry; 0: none
}

type row struct {
	line    history.Line
	heading bool
	day     bool // the heading also shows the day
}

type group struct {
	day            time.Time
	agent, project string
	program        string
	session        string
	machine        string
}

func groupOf(l history.Line) group {
	return group{startOfDay(l.Settled), l.Agent, l.Project, l.Program, l.Session, l.Machine}
}

func newEntryList(w *Window, onOpen func(seq int64), onStatus func(error)) *entryList {
	l := &entryList{win: w, onOpen: onOpen, onStatus: onStatus, next: controls.Worker{Aside: w.Aside}}
	l.Length = func() int { return len(l.rows) }
	l.CreateItem = func() fyne.CanvasObject { return newRowView() }
	l.UpdateItem = l.fill
	l.OnSelected = l.open
	l.HideSeparators = true
	l.ExtendBaseWidget(l)
	return l
}

// find runs a query. The results of the last one are dropped, and its own if it renews them for a user who has begun to
// scroll.
func (l *entryList) find(q history.Query, renews bool) {
	l.query, l.onTaken = q, nil
	l.fetch(0, func(p history.Page, err error) {
		if renews && l.GetScrollOffset() > 0 {
			l.win.entries.renew()
			return
		}
		l.rows, l.last = nil, group{}
		l.UnselectAll()
		l.take(p, err)
		if err == nil && len(l.rows) == 0 {
			l.chosen = 0
			l.win.entries.detail.clear()
		}
		if at := l.selected(); at >= 0 {
			l.Highlight(at)
		}
		l.ScrollToTop()
	})
	l.onStatus(nil)
}

func (l *entryList) take(p history.Page, err error) {
	if err == nil {
		l.add(p.Lines)
	}
	l.more = err == nil && p.More && len(p.Lines) > 0
	l.onStatus(err)
	l.Refresh()
	l.mark()
	if then := l.onTaken; then != nil {
		l.onTaken = nil
		then()
	}
}

// add adds the rows of a page with headings: within a day, the entries of a session are together.
func (l *entryList) add(lines []history.Line) {
	if len(lines) > 0 {
		l.end = lines[len(lines)-1].Seq
	}
	rank := map[group]int{} // by the newest entry of each, which comes last
	days := map[time.Time]int{}
	for i, line := range slices.Backward(lines) {
		g := groupOf(line)
		rank[g], days[g.day] = i, i
	}
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b history.Line) int {
		ga, gb := groupOf(a), groupOf(b)
		return cmp.Or(days[ga.day]-days[gb.day], rank[ga]-rank[gb])
	})
	for _, line := range lines {
		if g := groupOf(line); g != l.last {
			l.rows = append(l.rows, row{line: line, heading: true, day: g.day != l.last.day})
			l.last = g
		}
		l.rows = append(l.rows, row{line: line})
	}
}

func (l *entryList) fill(i widget.ListItemID, o fyne.CanvasObject) {
	if i < len(l.rows) {
		o.(*rowView).show(l.rows[i], l.win.now())
	}
	if i >= len(l.rows)-history.PageSize/2 && l.more && !l.next.Busy() {
		l.fetch(l.end, l.take)
	}
}

func (l *entryList) fetch(before int64, show func(history.Page, error)) {
	q := l.query
	q.Before = before
	l.next.Drop()
	controls.Fetch(&l.next, func(ctx context.Context) (history.Page, error) {
		return l.win.opts.Operator.History(ctx, q)
	}, show)
}

func (l *entryList) open(i widget.ListItemID) {
	switch r := l.rows[i]; {
	case r.heading:
		l.Unselect(i)
		l.mark()
	case r.line.Seq != l.chosen:
		l.chosen = r.line.Seq
		l.onOpen(l.chosen)
	}
}

// mark selects the row of the shown entry without scrolling, if it is in the list.
func (l *entryList) mark() {
	if at := l.selected(); at >= 0 {
		offset := l.GetScrollOffset()
		l.Select(at)
		l.ScrollToOffset(offset)
	}
}

func (l *entryList) selected() int {
	return slices.IndexFunc(l.rows, func(r row) bool { return !r.heading && r.line.Seq == l.chosen })
}

func (l *entryList) TypedKey(k *fyne.KeyEvent) {
	screen := max(int(l.Size().Height/rowHeight)-1, 1)
	at, last := l.selected(), len(l.rows)-1
	step, moves := map[fyne.KeyName]struct{ to, by int }{
		fyne.KeyDown: {at + 1, +1}, fyne.KeyUp: {at - 1, -1}, fyne.KeyHome: {0, +1}, fyne.KeyEnd: {last, -1},
		fyne.KeyPageDown: {min(at+screen, last), +1}, fyne.KeyPageUp: {max(at-screen, 0), -1},
	}[k.Name]
	if !moves {
		dialogs.PassOn(l, k)
		return
	}
	l.step(step.to, step.by)
}

// step selects row to or, if that is a heading, the next entry in direction by or, if there is none, in the other
// direction.
func (l *entryList) step(to, by int) {
	for _, by := range []int{by, -by} {
		for i := to; i >= 0 && i < len(l.rows); i += by {
			if !l.rows[i].heading {
				if i > 0 && i < 3 {
					l.ScrollToTop() // shows the heading, too
				}
				l.Highlight(i)
				l.Select(i)
				return
			}
		}
	}
}

func (l *entryList) TypedShortcut(s fyne.Shortcut) { l.win.Shortcut(s) }

// rowHeight is the height of every row. With different heights Fyne would add up those of a million rows.
const rowHeight = 42

type rowView struct {
	widget.BaseWidget
	bar        *canvas.Rectangle
	what, meta *widget.Label // of an entry
	clock      *canvas.Text
	outcome    *canvas.Text
	day, who   *widget.Label // of a heading
	entry      *fyne.Container
	heading    fyne.CanvasObject
}

func oneLine(size fyne.ThemeSizeName) *widget.Label {
	l := widget.NewLabel("")
	l.SizeName, l.Truncation = size, fyne.TextTruncateEllipsis
	return l
}

func newRowView() *rowView {
	v := &rowView{
		bar: canvas.NewRectangle(color.Transparent), clock: canvas.NewText("", nil), outcome: canvas.NewText("", nil),
		what: oneLine(theme.SizeNameText), meta: oneLine(theme.SizeNameCaptionText),
		day: oneLine(theme.SizeNameText), who: oneLine(theme.SizeNameCaptionText),
	}
	v.bar.CornerRadius = 2
	v.meta.Importance, v.who.Importance = widget.LowImportance, widget.LowImportance
	v.day.TextStyle.Bold = true
	v.clock.Alignment, v.outcome.Alignment = fyne.TextAlignTrailing, fyne.TextAlignTrailing
	words := dialogs.Column(1, dialogs.Tight(v.what), dialogs.Tight(v.meta))
	v.entry = container.NewStack( // whose layouts ask no theme for a padding
		container.New(layout.NewCustomPaddedLayout(3, 3, 6, 0), container.NewHBox(dialogs.Sized(4, 0, v.bar))),
		container.New(layout.NewCustomPaddedLayout(0, 0, 18, 6),
			controls.Besides(8, words, dialogs.Column(2, v.clock, v.outcome))))
	v.heading = dialogs.Padded(0, 6, dialogs.Column(1, dialogs.Tight(v.day), dialogs.Tight(v.who)))
	v.heading.Hide()
	v.ExtendBaseWidget(v)
	return v
}

func (v *rowView) show(r row, now time.Time) {
	dialogs.SetVisible(v.heading, r.heading)
	dialogs.SetVisible(v.entry, !r.heading)
	if r.heading {
		day := ""
		if r.day {
			day = dayName(r.line.Settled, now)
		}
		setText(v.day, day)
		setText(v.who, sessionName(r.line))
		return
	}
	said := verdictOf(r.line.Result(), r.line.By)
	setText(v.what, safetext.Line(r.line.Gist, gistLimit))
	meta := toolName(r.line)
	if device := answeredOn(r.line.Device); device != "" {
		meta += " · " + device
	}
	setText(v.meta, meta)
	v.bar.FillColor = theme.ColorForWidget(said.color, v)
	v.bar.Refresh()
	v.set(v.clock, r.line.Settled.Local().Format("15:04"), dialogs.ColorMuted)
	v.set(v.outcome, said.word, said.color)
	v.Refresh()
}

func (v *rowView) set(t *canvas.Text, s string, c fyne.ThemeColorName) {
	t.Text, t.Color, t.TextSize = s, theme.ColorForWidget(c, v), theme.SizeForWidget(theme.SizeNameCaptionText, v)
	t.Refresh()
}

func (v *rowView) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(dialogs.Sized(200, rowHeight, container.NewStack(v.entry, v.heading)))
}

func setText(l *widget.Label, s string) {
	if l.Text != s {
		l.SetText(s)
	}
}
