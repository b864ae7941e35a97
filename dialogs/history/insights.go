package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	"nod/policy"
)

var spans = []int{7, 30, 90, 365}

// insightsPage shows statistics of requests, and how many prompts each rule has spared the user.
type insightsPage struct {
	win     *Window
	content fyne.CanvasObject
	span    *controls.Select
	status  *controls.Remark
	body    *fyne.Container
	work    controls.Worker
}

func newInsightsPage(w *Window) *insightsPage {
	p := &insightsPage{win: w, status: controls.NewRemark(widget.LowImportance), body: container.NewStack()}
	p.work.Aside = w.Aside
	var names []string
	for _, days := range spans {
		names = append(names, lang.L("Last {{.Count}} days", map[string]any{"Count": days}))
	}
	p.span = controls.NewSelect(names, nil)
	p.span.SetSelectedIndex(1)
	p.span.OnChanged = func(string) { p.enter() }
	p.content = controls.Page(dialogs.Column(9,
		controls.Header(lang.L("Insights"), lang.L("What agents asked, what passed and which prompts your rules saved "+
			"you."), p.span),
		p.status.Content, p.body))
	return p
}

func (p *insightsPage) since() time.Time {
	return startOfDay(p.win.now()).AddDate(0, 0, 1-spans[p.span.SelectedIndex()])
}

type found struct {
	history.Insights
	rules []policy.Rule
}

func (p *insightsPage) enter() {
	since := p.since()
	controls.FetchLatest(&p.work, func(ctx context.Context) (found, error) {
		sums, err := p.win.opts.Operator.Insights(ctx, since)
		if err != nil {
			return found{}, err
		}
		s, err := p.win.opts.Operator.State(ctx)
		return found{sums, s.Config.Policy.Rules}, err
	}, func(f found, err error) {
		p.status.Complain(err)
		if err == nil {
			p.draw(since, f)
		}
	})
	p.win.After(searchDelay, func() {
		if p.work.Busy() {
			p.status.Say(lang.L("Adding up…"))
		}
	})
}

func (p *insightsPage) leave() { p.work.Drop() }

func (p *insightsPage) draw(since time.Time, f found) {
	days := everyDay(since, startOfDay(p.win.now()), f.Days)
	var all history.Count
	for _, d := range days {
		all.Asked, all.Passed, all.Denied, all.Missed = all.Asked+d.Asked, all.Passed+d.Passed, all.Denied+d.Denied,
			all.Missed+d.Missed
		all.Answered += d.Answered
	}
	if all.Asked+all.Passed+all.Denied+all.Missed == 0 {
		controls.SetContent(p.body, controls.Card(controls.EmptyRow(lang.L("No prompts in this period."))))
		return
	}
	controls.SetContent(p.body, dialogs.Column(22,
		figures(all),
		p.perDay(days),
		p.tables(f),
		p.savings(f),
	))
}

func everyDay(from, to time.Time, known []history.Count) []history.Count {
	var days []history.Count
	for day := from; !day.After(to); day = startOfDay(day.AddDate(0, 0, 1)) {
		i := slices.IndexFunc(known, func(c history.Count) bool { return startOfDay(c.Day).Equal(day) })
		one := history.Count{}
		if i >= 0 {
			one = known[i]
		}
		one.Day = day
		days = append(days, one)
	}
	return days
}

func figures(all history.Count) fyne.CanvasObject {
	one := func(value, name string, color fyne.ThemeColorName) fyne.CanvasObject {
		return dialogs.Card(dialogs.ColorSunken, dialogs.Padded(10, 12, dialogs.Column(2,
			dialogs.BoldWords(value, theme.SizeNameHeadingText, color),
			dialogs.Words(name, theme.SizeNameCaptionText, dialogs.ColorMuted))))
	}
	return container.NewGridWithColumns(5,
		one(fmt.Sprint(all.Asked), lang.L("you decided"), theme.ColorNamePrimary),
		one(fmt.Sprint(all.Passed), lang.L("passed"), theme.ColorNameSuccess),
		one(fmt.Sprint(all.Denied), lang.L("denied"), theme.ColorNameError),
		one(fmt.Sprint(all.Missed), lang.L("nobody decided"), theme.ColorNameWarning),
		one(mean(all), lang.L("to answer"), theme.ColorNameForeground))
}

func mean(c history.Count) string {
	if c.Asked == 0 {
		return "–"
	}
	return duration(c.Answered / time.Duration(c.Asked))
}

func (p *insightsPage) perDay(days []history.Count) fyne.CanvasObject {
	var labels []string
	of := func(f func(history.Count) float64) []float64 {
		var values []float64
		for _, d := range days {
			values = append(values, f(d))
		}
		return values
	}
	for _, d := range days {
		labels = append(labels, d.Day.Format("01-02"))
	}
	asked := []series{
		{lang.L("you decided"), theme.ColorNamePrimary, of(func(c history.Count) float64 { return float64(c.Asked) })},
		{lang.L("nobody decided"), theme.ColorNameWarning, of(func(c history.Count) float64 { return float64(c.Missed) })},
	}
	passed := series{lang.L("passed"), theme.ColorNameSuccess,
		of(func(c history.Count) float64 { return float64(c.Passed) })}
	denied := series{lang.L("denied"), theme.ColorNameError,
		of(func(c history.Count) float64 { return float64(c.Denied) })}
	answer := series{lang.L("seconds to answer"), dialogs.ColorMuted, of(func(c history.Count) float64 {
		return c.Answered.Seconds() / float64(max(c.Asked, 1))
	})}
	return dialogs.Column(14,
		p.chart(lang.L("Prompts per day"), labels, asked...),
		p.chart(lang.L("Passed per day"), labels, passed),
		p.chart(lang.L("Denied per day"), labels, denied),
		p.chart(lang.L("Average time to answer"), labels, answer))
}

func (p *insightsPage) chart(name string, labels []string, all ...series) fyne.CanvasObject {
	legend := dialogs.Row(12)
	for _, s := range all {
		legend.Add(dialogs.Row(5, swatch(s.color), dialogs.Words(s.name, theme.SizeNameCaptionText, dialogs.ColorMuted)))
	}
	head := container.NewBorder(nil, nil, nil, legend,
		dialogs.BoldWords(name, theme.SizeNameText, theme.ColorNameForeground))
	return dialogs.Card(dialogs.ColorSunken, dialogs.Padded(10, 12, dialogs.Column(6, head,
		newChart(labels, all...))))
}

func swatch(c fyne.ThemeColorName) fyne.CanvasObject {
	return dialogs.Sized(9, 9, dialogs.Surface(c, container.NewWithoutLayout()))
}

// tables shows totals by agent, project and tool. Each line is a link to its entries.
func (p *insightsPage) tables(f found) fyne.CanvasObject {
	return dialogs.Column(14,
		p.table(lang.L("By agent"), f.Agents, func(c history.Count) (string, history.Query) {
			return agentName(c.Agent), history.Query{Agent: c.Agent}
		}),
		p.table(lang.L("By project"), f.Projects, func(c history.Count) (string, history.Query) {
			return projectName(c.Project), history.Query{Project: c.Project}
		}),
		p.table(lang.L("By tool"), f.Tools, func(c history.Count) (string, history.Query) {
			if c.Tool == "" {
				return lang.L("Questions and notices"), history.Query{}
			}
			return safetext.Line(c.Tool, nameLimit), history.Query{Tool: c.Tool}
		}))
}

const tableRows = 8

func (p *insightsPage) table(name string, counts []history.Count,
	what func(history.Count) (string, history.Query)) fyne.CanvasObject {
	most := 1
	for _, c := range counts {
		most = max(most, c.Asked+c.Passed+c.Denied+c.Missed)
	}
	row := func(c history.Count) fyne.CanvasObject {
		text, q := what(c)
		var show *controls.Button
		if q != (history.Query{}) {
			show = controls.QuietButton("", theme.NavigateNextIcon(), func() { p.win.find(filter{query: q}) })
		}
		return p.countRow(text, c, most, show)
	}
	return dialogs.Column(9, controls.Header(name, ""), controls.List(
		counts[:min(len(counts), tableRows)], row, lang.L("No prompts in this period.")))
}

func (p *insightsPage) countRow(name string, c history.Count, most int, show *controls.Button) fyne.CanvasObject {
	words := dialogs.Column(3, dialogs.Tight(dialogs.OneLine(name, theme.SizeNameText)), newBars(most, c),
		controls.Muted(countWords(c)))
	if show == nil {
		return dialogs.Padded(8, 14, words)
	}
	return dialogs.Padded(8, 14, container.NewBorder(nil, nil, nil, container.NewCenter(show), words))
}

func countWords(c history.Count) string {
	var parts []string
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, text)
		}
	}
	add(c.Asked, lang.L("{{.Count}} decided by you", map[string]any{"Count": c.Asked}))
	add(c.Passed, lang.L("{{.Count}} passed", map[string]any{"Count": c.Passed}))
	add(c.Denied, lang.L("{{.Count}} denied", map[string]any{"Count": c.Denied}))
	add(c.Missed, lang.L("{{.Count}} undecided", map[string]any{"Count": c.Missed}))
	add(int(c.Answered), lang.L("{{.Time}} to answer", map[string]any{"Time": mean(c)}))
	return strings.Join(parts, " · ")
}

// newBars shows the parts of a count as bars side by side. most has the full width.
func newBars(most int, c history.Count) fyne.CanvasObject {
	parts := []struct {
		n     int
		color fyne.ThemeColorName
	}{
		{c.Passed, theme.ColorNameSuccess}, {c.Asked, theme.ColorNamePrimary},
		{c.Missed, theme.ColorNameWarning},
	}
	layout := &barLayout{most: most}
	var bars []fyne.CanvasObject
	for _, part := range parts {
		if part.n > 0 {
			layout.counts = append(layout.counts, part.n)
			bars = append(bars, dialogs.Surface(part.color, container.NewWithoutLayout()))
		}
	}
	return container.New(layout, bars...)
}

// barLayout gives objects widths in proportion to counts, where most has the full width.
type barLayout struct {
	most   int
	counts []int
}

const barHeight = 5

func (*barLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, barHeight) }

func (l *barLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x := float32(0)
	for i, o := range objects {
		width := max(size.Width*float32(l.counts[i])/float32(l.most), 2)
		o.Move(fyne.NewPos(x, 0))
		o.Resize(fyne.NewSize(width, barHeight))
		x += width
	}
}

// savings shows how many prompts each rule has spared the user, and which rules never matched.
func (p *insightsPage) savings(f found) fyne.CanvasObject {
	show := func(id string) *controls.Button {
		return controls.QuietButton(lang.L("Show"), theme.NavigateNextIcon(), func() { p.win.opts.Rule(id) })
	}
	used := map[string]bool{}
	for _, r := range f.Rules {
		used[r.Rule] = true
	}
	saved := func(r history.RuleCount) fyne.CanvasObject {
		text := lang.L("Prompts saved: {{.Count}} · last on {{.Day}}",
			map[string]any{"Count": r.Saved, "Day": r.Last.Local().Format(time.DateOnly)})
		name := controls.Paragraph(p.ruleName(r.Rule, f.rules), widget.MediumImportance)
		words := dialogs.Column(2, name, controls.Muted(text))
		row := fyne.CanvasObject(words)
		if canShow(r.Rule) {
			row = container.New(controls.Besides{Gap: 8}, words, show(r.Rule))
		}
		return dialogs.Padded(8, 14, row)
	}
	sections := dialogs.Column(14, dialogs.Column(9, controls.Header(lang.L("Prompts saved by rules"), ""),
		controls.List(f.Rules[:min(len(f.Rules), tableRows)], saved,
			lang.L("No rule saved you a prompt in this period."))))
	unused := slices.DeleteFunc(slices.Clone(f.rules), func(r policy.Rule) bool { return r.Disabled || used[r.ID] })
	if len(unused) > 0 {
		sections.Add(dialogs.Column(9,
			controls.Header(lang.L("Rules that saved no prompts"), lang.L("In this period, including rules that ask or "+
				"deny.")),
			controls.List(unused[:min(len(unused), 3*tableRows)], func(r policy.Rule) fyne.CanvasObject {
				words := dialogs.Column(2, controls.Paragraph(controls.Sentence(r), widget.MediumImportance), controls.Muted(r.ID))
				return dialogs.Padded(8, 14, container.New(controls.Besides{Gap: 8}, words, show(r.ID)))
			}, "")))
	}
	return sections
}

func (p *insightsPage) ruleName(id string, rules []policy.Rule) string {
	if i := slices.IndexFunc(rules, func(r policy.Rule) bool { return r.ID == id }); i >= 0 {
		return controls.Sentence(rules[i])
	}
	if class, ok := strings.CutPrefix(id, "class:"); ok {
		return lang.L("Allowed automatically: {{.Class}}", map[string]any{"Class": controls.ClassName(policy.Class(class))})
	}
	i := slices.IndexFunc(p.win.state.Grants, func(g policy.Grant) bool { return g.ID == id })
	if i >= 0 {
		return lang.L("Saved approval: {{.What}}",
			map[string]any{"What": safetext.Line(p.win.state.Grants[i].Shown, gistLimit)})
	}
	return safetext.Line(id, nameLimit)
}
