package history

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/interact/history"
)

type awayPage struct {
	win     *Window
	content fyne.CanvasObject
	status  *controls.Remark
	body    *fyne.Container
	work    controls.Worker
}

func newAwayPage(w *Window) *awayPage {
	p := &awayPage{win: w, status: controls.NewRemark(widget.LowImportance), body: container.NewStack()}
	p.work.Aside = w.Aside
	p.content = controls.Page(dialogs.Column(9,
		controls.Header(lang.L("While you were away"), lang.L("What happened the last time nod was paused or quiet, "+
			"your screen was locked, or you did not answer.")),
		p.status.Content, p.body))
	return p
}

func (p *awayPage) enter() {
	controls.FetchLatest(&p.work, p.win.opts.Operator.Away, func(a history.Away, err error) {
		p.status.Complain(err)
		if err == nil {
			p.draw(a)
		}
	})
}

func (p *awayPage) leave() { p.work.Drop() }

func (p *awayPage) draw(a history.Away) {
	if a.Nothing() {
		controls.SetContent(p.body, controls.Card(controls.EmptyRow(lang.L("Nothing happened while you were away."))))
		return
	}
	span := spanName(a.From, a.To, p.win.now())
	between := func(q history.Query) history.Query {
		q.Since, q.Until = a.From, a.To
		return q
	}
	controls.SetContent(p.body, dialogs.Column(18,
		controls.Bold(span, theme.SizeNameText),
		p.section(lang.L("Waited for you"), a.Waited, history.Query{}),
		p.section(lang.L("Timed out, or nobody could be asked"), a.Missed,
			between(history.Query{Outcome: api.TimedOut})),
		p.section(lang.L("Denied"), a.Denied, between(history.Query{Outcome: api.Denied})),
		p.section(lang.L("Passed without asking you"), a.Passed,
			between(history.Query{Outcome: api.Allowed, By: api.ByPolicy})),
	))
}

func spanName(from, to, now time.Time) string {
	format := func(t time.Time) string { return dayName(t, now) + " " + t.Local().Format("15:04") }
	return lang.L("{{.From}} to {{.To}}", map[string]any{"From": format(from), "To": format(to)})
}

const awayRows = 10

// section lists entries of one kind. all finds the rest of them; zero if there is no such query.
func (p *awayPage) section(name string, f history.Found, all history.Query) fyne.CanvasObject {
	lines := f.Lines[:min(len(f.Lines), awayRows)]
	row := func(l history.Line) fyne.CanvasObject { return newEntryLink(p.win, l, func() { p.open(l) }) }
	content := dialogs.Column(9, controls.Header(name, ""), controls.List(lines, row, lang.L("Nothing.")))
	if f.Count > len(lines) && all != (history.Query{}) {
		text := lang.L("All {{.Count}} in History", map[string]any{"Count": f.Count})
		content.Add(container.NewHBox(controls.QuietButton(text, theme.NavigateNextIcon(), func() {
			p.win.find(filter{query: all})
		})))
	}
	return content
}

func (p *awayPage) open(l history.Line) {
	if l.Seq == 0 {
		p.win.opts.Prompt(l.ID)
		return
	}
	p.win.find(filter{})
	p.win.entries.open(l.Seq)
}
