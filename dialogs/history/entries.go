package history

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/interact/history"
)

const searchDelay = 300 * time.Millisecond

// renewDelay is how long the list waits before it checks again whether it can show new entries.
const renewDelay = time.Second

type entriesPage struct {
	win       *Window
	content   fyne.CanvasObject
	search    *controls.TextField
	choices   []*choice
	elsewhere *fyne.Container // choices of machines and devices, which most users do not have
	times     *controls.Select
	asked     *controls.Check // leaves out what only passed
	chips     *fyne.Container // filters without a control
	status    *controls.Remark
	empty     *widget.Label
	list      *entryList
	detail    *detail

	filter   history.Query // by the controls above the list, but without text and time
	facets   controls.Worker
	setting  bool // follow is setting the controls
	outdated bool // the list lacks new entries
}

const firstElsewhere = 4

type choice struct {
	*controls.Select
	any    string
	values []string
	name   func(string) string
	get    func(history.Query) string
	set    func(*history.Query, string)
}

func newEntriesPage(w *Window) *entriesPage {
	p := &entriesPage{win: w, chips: dialogs.Row(6), status: controls.NewRemark(widget.LowImportance),
		facets: controls.Worker{Aside: w.Aside}}
	p.search = controls.NewTextField(w.Shortcut, false)
	p.search.SetPlaceHolder(lang.L("Search…"))
	p.search.OnChanged = func(string) { p.find() }
	p.search.Escape = p.clear
	p.search.OnSubmitted = func(string) { p.toList() }
	p.detail = newDetail(w)
	p.list = newEntryList(w, p.detail.open, p.showStatus)
	p.makeChoices()
	p.empty = dialogs.Lines("", theme.SizeNameText, widget.LowImportance)
	p.empty.Alignment = fyne.TextAlignCenter

	first := container.NewBorder(nil, nil, nil, dialogs.Row(8, p.asked, dialogs.Sized(150, 0, p.times)), p.search)
	var selects []fyne.CanvasObject
	for _, c := range p.choices {
		selects = append(selects, c.Select)
	}
	second := container.NewGridWithColumns(firstElsewhere, selects[:firstElsewhere]...)
	p.elsewhere = container.NewGridWithColumns(firstElsewhere, selects[firstElsewhere:]...)
	p.follow()
	top := dialogs.Padded(10, 12, dialogs.Column(8, first, second, p.elsewhere, p.chips, p.status.Content))
	found := container.NewStack(p.list, container.NewVBox(dialogs.Padded(40, 20, p.empty)))
	p.content = container.NewBorder(dialogs.Column(0, top, dialogs.Rule()), nil, nil, nil,
		container.New(splitLayout{}, dialogs.Padded(6, 6, found), dialogs.Surface(dialogs.ColorSunken, p.detail.content)))
	return p
}

func (p *entriesPage) makeChoices() {
	outcome := p.newChoice(lang.L("Any outcome"), func(r string) string { return result(r).name() }, nil)
	outcome.get = func(q history.Query) string { return string(resultOf(q.Outcome, q.By)) }
	outcome.set = func(q *history.Query, r string) { q.Outcome, q.By = result(r).parts() }
	p.choices = []*choice{
		p.newChoice(lang.L("Any agent"), agentName, func(q *history.Query) *string { return &q.Agent }),
		p.newChoice(lang.L("Any project"), projectName, func(q *history.Query) *string { return &q.Project }),
		p.newChoice(lang.L("Any tool"), plainName, func(q *history.Query) *string { return &q.Tool }),
		outcome,
		p.newChoice(lang.L("Any machine"), plainName, func(q *history.Query) *string { return &q.Machine }),
		p.newChoice(lang.L("Any device"), plainName, func(q *history.Query) *string { return &q.Device }),
	}
	for _, r := range shownResults {
		outcome.values = append(outcome.values, string(r))
	}
	p.times = controls.NewSelect([]string{lang.L("Any time"), lang.L("Last hour"), lang.L("Today"), lang.L("Yesterday"),
		lang.L("Last 7 days"), lang.L("Last 30 days")}, func(string) { p.picked() })
	p.times.Selected = p.times.Options[0]
	p.asked = controls.NewCheck(lang.L("Hide passed calls"), func(bool) { p.picked() })
}

func plainName(name string) string { return safetext.Line(name, nameLimit) }

func (p *entriesPage) newChoice(anything string, name func(string) string,
	field func(*history.Query) *string) *choice {
	c := &choice{any: anything, name: name,
		get: func(q history.Query) string { return *field(&q) },
		set: func(q *history.Query, value string) { *field(q) = value }}
	c.Select = controls.NewSelect(nil, func(string) { p.picked() })
	c.PlaceHolder = " " // never shown: it is what makes a list wide
	return c
}

func (p *entriesPage) follow() {
	p.setting = true
	defer func() { p.setting = false }()
	for _, c := range p.choices {
		c.offer(c.get(p.filter))
	}
	hasAny := func(c *choice) bool { return len(c.values) > 0 }
	dialogs.SetVisible(p.elsewhere, slices.ContainsFunc(p.choices[firstElsewhere:], hasAny))
	p.asked.SetChecked(p.filter.Asked)
	p.showChips()
}

func (c *choice) offer(value string) {
	if value != "" && !slices.Contains(c.values, value) { // from a link
		c.values = append(c.values, value)
	}
	c.Options = []string{c.any}
	for _, v := range c.values {
		c.Options = append(c.Options, c.name(v))
	}
	c.SetSelectedIndex(slices.Index(c.values, value) + 1)
	c.Refresh()
}

func (p *entriesPage) picked() {
	if p.setting || p.list == nil {
		return
	}
	for _, c := range p.choices {
		value := ""
		if i := c.SelectedIndex(); i > 0 {
			value = c.values[i-1]
		}
		c.set(&p.filter, value)
	}
	p.filter.Asked = p.asked.Checked
	p.find()
}

func (p *entriesPage) set(q history.Query) {
	p.filter = q
	p.setting = true
	p.search.SetText("")
	p.times.SetSelectedIndex(0)
	p.setting = false
	p.follow()
	p.find()
}

// showChips shows a chip for each filter without a control; pressing it removes the filter.
func (p *entriesPage) showChips() {
	p.chips.Objects = nil
	q := &p.filter
	add := func(filter *string, text string) {
		if *filter == "" {
			return
		}
		p.chips.Add(controls.NewButton(text, theme.CancelIcon(), func() {
			*filter = ""
			p.showChips()
			p.find()
		}))
	}
	add(&q.Session, lang.L("Session {{.Name}}", map[string]any{"Name": plainName(q.Session)}))
	add(&q.Rule, lang.L("Decided by {{.Name}}", map[string]any{"Name": plainName(q.Rule)}))
	dialogs.SetVisible(p.chips, len(p.chips.Objects) > 0)
}

func (p *entriesPage) query() history.Query {
	q := p.filter
	q.Text = p.search.Text
	now := p.win.now()
	today := startOfDay(now)
	switch p.times.SelectedIndex() {
	case 1:
		q.Since = now.Add(-time.Hour)
	case 2:
		q.Since = today
	case 3:
		q.Since, q.Until = today.AddDate(0, 0, -1), today
	case 4:
		q.Since = today.AddDate(0, 0, -6)
	case 5:
		q.Since = today.AddDate(0, 0, -29)
	}
	return q
}

func (p *entriesPage) find() {
	if !p.setting {
		p.run(false)
	}
}

// run fetches the entries anew. If it renews, they are dropped once the user has begun to scroll.
func (p *entriesPage) run(renews bool) {
	p.list.find(p.query(), renews)
	p.win.After(searchDelay, func() {
		if p.list.next.Busy() { // else the result is there, which may be an error
			p.showStatus(nil)
		}
	})
}

func (p *entriesPage) showStatus(err error) {
	searching := p.list.next.Busy()
	p.empty.SetText("")
	switch {
	case err != nil:
		p.status.Complain(err)
		return
	case searching && len(p.list.rows) == 0:
		p.empty.SetText(lang.L("Searching…"))
	case !searching && len(p.list.rows) == 0 && p.list.query != (history.Query{}):
		p.empty.SetText(lang.L("Nothing found."))
	case !searching && len(p.list.rows) == 0:
		p.empty.SetText(lang.L("No requests yet."))
	}
	p.status.Say("")
}

func (p *entriesPage) enter() {
	p.find()
	controls.Fetch(&p.facets, p.win.opts.Operator.Facets, func(f history.Facets, err error) {
		if err == nil {
			p.choices[0].values, p.choices[1].values, p.choices[2].values = f.Agents, f.Projects, f.Tools
			p.choices[firstElsewhere].values, p.choices[firstElsewhere+1].values = f.Machines, f.Devices
			p.follow()
		}
	})
}

// renew adds new entries, immediately or once the user is back at the top of the list.
func (p *entriesPage) renew() {
	if !p.outdated {
		p.outdated = true
		p.catchUp()
	}
}

func (p *entriesPage) catchUp() {
	switch {
	case !p.win.Visible(): // enter will find them
		p.outdated = false
	case p.list.GetScrollOffset() > 0, p.list.next.Busy():
		p.win.After(renewDelay, p.catchUp)
	default:
		p.outdated = false
		p.run(true)
	}
}

func (p *entriesPage) leave() {
	p.list.next.Drop()
	p.facets.Drop()
}

func (p *entriesPage) clear() bool {
	if p.search.Text == "" {
		return false
	}
	p.search.SetText("")
	return true
}

// toList moves the focus from the search to its results, once they have arrived.
func (p *entriesPage) toList() {
	if p.list.next.Busy() {
		p.list.onTaken = p.toList
		return
	}
	p.win.Win.Canvas().Focus(p.list)
	if p.list.selected() < 0 {
		p.list.step(0, +1)
	}
}

func (p *entriesPage) escape() bool {
	return p.detail.changes.cancel() || p.detail.actions.cancel() || p.clear()
}

// splitLayout gives a list its share of the width, and the object next to it the rest, but at least its minimum.
type splitLayout struct{}

const leastList, mostList = 215, 460

func (splitLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(leastList+o[1].MinSize().Width, 200)
}

func (splitLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	left := max(min(0.42*size.Width, mostList, size.Width-o[1].MinSize().Width), leastList)
	o[0].Resize(fyne.NewSize(left, size.Height))
	o[1].Move(fyne.NewPos(left, 0))
	o[1].Resize(fyne.NewSize(size.Width-left, size.Height))
}
