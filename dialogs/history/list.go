package history

import (
	"context"
	"slices"
	"sort"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/interact/history"
)

// keptPages is the number of pages kept in memory on either side of the one in view. Others are fetched again.
const keptPages = 20

// entryList shows the entries of a query, newest first, by day and session. It fetches pages as the user scrolls.
type entryList struct {
	widget.List
	win      *Window
	query    history.Query
	onOpen   func(seq int64)
	onStatus func(error) // called when the result or the progress changes

	pages  []*listPage
	rows   int             // number of all rows
	more   bool            // there are further entries
	next   controls.Worker // fetches the pages of a query, one after the other
	again  controls.Worker // fetches a page that was dropped
	chosen int64           // number of the shown entry; 0: none
}

type listPage struct {
	before int64 // as in its query
	first  int   // its first row
	size   int   // number of rows
	rows   []row // nil if dropped
	last   group // of the last row
	end    int64 // number of its last entry
}

// row is an entry, or the heading of the entries below it.
type row struct {
	line    history.Line
	heading bool
	day     bool // the heading also shows the day
}

// group identifies entries below one heading.
type group struct {
	day            time.Time
	agent, project string
	session        string
	machine        string
}

func groupOf(l history.Line) group {
	return group{startOfDay(l.Settled), l.Agent, l.Project, l.Session, l.Machine}
}

func newEntryList(w *Window, onOpen func(seq int64), onStatus func(error)) *entryList {
	l := &entryList{win: w, onOpen: onOpen, onStatus: onStatus}
	l.next.Aside, l.again.Aside = w.Aside, w.Aside
	l.Length = func() int { return l.rows }
	l.CreateItem = func() fyne.CanvasObject { return newRowView() }
	l.UpdateItem = l.fill
	l.OnSelected = l.open
	l.HideSeparators = true
	l.ExtendBaseWidget(l)
	return l
}

// find runs a query. The results of the last one are dropped.
func (l *entryList) find(q history.Query) {
	l.query = q
	l.again.Drop()
	l.fetch(&l.next, 0, func(p history.Page, err error) {
		l.pages, l.rows, l.more = nil, 0, false
		l.UnselectAll()
		l.take(p, 0, err)
		if at := l.selected(); at >= 0 {
			l.Highlight(at)
		}
		l.ScrollToTop()
	})
	l.onStatus(nil)
}

// isReading reports whether the list is scrolled, or rows are being fetched.
func (l *entryList) isReading() bool {
	return l.GetScrollOffset() > 0 || l.next.Busy() || l.again.Busy()
}

func (l *entryList) take(p history.Page, before int64, err error) {
	if err == nil && len(p.Lines) > 0 {
		page := &listPage{before: before, first: l.rows, end: p.Lines[len(p.Lines)-1].Seq}
		page.fill(p.Lines, l.lastGroup(len(l.pages)))
		l.pages = append(l.pages, page)
		l.rows += page.size
	}
	l.more = err == nil && p.More && len(p.Lines) > 0
	l.onStatus(err)
	l.Refresh()
	l.mark()
}

func (l *entryList) lastGroup(page int) group {
	if page == 0 {
		return group{}
	}
	return l.pages[page-1].last
}

// fill makes the rows of a page with headings: within a day, the entries of a session are together.
func (p *listPage) fill(lines []history.Line, last group) {
	rank := map[group]int{} // by the newest entry of each
	days := map[time.Time]int{}
	for i, line := range lines {
		g := groupOf(line)
		if _, known := rank[g]; !known {
			rank[g] = i
		}
		if _, known := days[g.day]; !known {
			days[g.day] = i
		}
	}
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b history.Line) int {
		ga, gb := groupOf(a), groupOf(b)
		if ga.day != gb.day {
			return days[ga.day] - days[gb.day]
		}
		return rank[ga] - rank[gb]
	})
	p.rows = nil
	for _, line := range lines {
		if g := groupOf(line); g != last {
			p.rows = append(p.rows, row{line: line, heading: true, day: g.day != last.day})
			last = g
		}
		p.rows = append(p.rows, row{line: line})
	}
	p.size, p.last = len(p.rows), last
}

func (l *entryList) pageOf(row int) int {
	return sort.Search(len(l.pages), func(i int) bool { return l.pages[i].first > row }) - 1
}

// at returns a row; false if it is not in memory.
func (l *entryList) at(i int) (row, bool) {
	if i < 0 || i >= l.rows {
		return row{}, false
	}
	p := l.pages[l.pageOf(i)]
	if p.rows == nil {
		return row{}, false
	}
	return p.rows[i-p.first], true
}

func (l *entryList) fill(i widget.ListItemID, o fyne.CanvasObject) {
	page := l.pageOf(i)
	r, known := l.at(i)
	o.(*rowView).show(r, known, l.win.now())
	if !known && page >= 0 {
		l.fetchAgain(page)
	}
	if i >= l.rows-history.PageSize/2 {
		l.fetchNext()
	}
	l.forget(page)
}

func (l *entryList) fetchNext() {
	if !l.more || l.next.Busy() {
		return
	}
	before := l.pages[len(l.pages)-1].end
	l.fetch(&l.next, before, func(p history.Page, err error) { l.take(p, before, err) })
}

// fetch fetches the page of the query before an entry, and shows it.
func (l *entryList) fetch(k *controls.Worker, before int64, show func(history.Page, error)) {
	q := l.query
	q.Before = before
	controls.FetchLatest(k, func(ctx context.Context) (history.Page, error) {
		return l.win.opts.Operator.History(ctx, q)
	}, show)
}

func (l *entryList) fetchAgain(page int) {
	if l.again.Busy() {
		return
	}
	p := l.pages[page]
	l.fetch(&l.again, p.before, func(found history.Page, err error) {
		if err != nil {
			l.onStatus(err)
			return
		}
		size := p.size
		p.fill(found.Lines, l.lastGroup(page))
		if p.size != size { // the oldest entries were deleted: start again
			l.find(l.query)
			return
		}
		l.Refresh()
	})
}

func (l *entryList) forget(page int) {
	for _, i := range []int{page - keptPages - 1, page + keptPages + 1} {
		if i >= 0 && i < len(l.pages) {
			l.pages[i].rows = nil
		}
	}
}

// open shows the entry of a row. A heading has none.
func (l *entryList) open(i widget.ListItemID) {
	r, known := l.at(i)
	switch {
	case !known:
	case r.heading:
		l.Unselect(i)
		l.mark()
	case r.line.Seq != l.chosen:
		l.chosen = r.line.Seq
		l.onOpen(l.chosen)
	}
}

// mark selects the row of the shown entry without scrolling, if it is in memory.
func (l *entryList) mark() {
	if at := l.selected(); at >= 0 {
		offset := l.GetScrollOffset()
		l.Select(at)
		l.ScrollToOffset(offset)
	}
}

// selected returns the row of the shown entry, or -1.
func (l *entryList) selected() int {
	for _, p := range l.pages {
		i := slices.IndexFunc(p.rows, func(r row) bool { return !r.heading && r.line.Seq == l.chosen })
		if i >= 0 {
			return p.first + i
		}
	}
	return -1
}

// TypedKey implements [fyne.Focusable]: moving also selects.
func (l *entryList) TypedKey(k *fyne.KeyEvent) {
	screen := max(int(l.Size().Height/rowHeight)-1, 1)
	at := l.selected()
	switch k.Name {
	case fyne.KeyDown:
		l.step(at+1, +1)
	case fyne.KeyUp:
		l.step(at-1, -1)
	case fyne.KeyPageDown:
		l.step(min(at+screen, l.rows-1), +1)
	case fyne.KeyPageUp:
		l.step(max(at-screen, 0), -1)
	case fyne.KeyHome:
		l.step(0, +1)
	case fyne.KeyEnd:
		l.step(l.rows-1, -1)
	default:
		dialogs.PassOn(l, k)
	}
}

// step selects row to or, if that is a heading, the next entry in direction by, else in the other direction.
func (l *entryList) step(to, by int) {
	for _, by := range []int{by, -by} {
		for i := to; i >= 0 && i < l.rows; i += by {
			r, known := l.at(i)
			if !known {
				l.ScrollTo(i)
				return
			}
			if !r.heading {
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

func (l *entryList) TypedShortcut(s fyne.Shortcut) { l.win.typedShortcut(s) }
