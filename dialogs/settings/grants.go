package settings

import (
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/assets"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/policy"
)

type grantList struct {
	part
	all    *controls.Button
	grants []policy.Grant
	held   []policy.Grant
	most   int  // maximum number of rows
	sure   bool // "Revoke all" was pressed once
}

func newGrantList(w *Window) *grantList {
	l := &grantList{part: newPart(w), most: rowsShown}
	l.all = controls.NewButton(lang.L("Revoke all"), nil, l.revokeAll)
	l.content = dialogs.Column(9,
		header(lang.L("Saved approvals"), lang.L("Everything you allowed beyond a single call, each for one "+
			"agent, in one project or everywhere."), l.all),
		l.problem.Content, l.body)
	return l
}

func (l *grantList) refresh(s operator.State) {
	if !l.drawn.changed(s.Grants, s.HeldGrants) {
		return
	}
	l.grants, l.held = s.Grants, s.HeldGrants
	l.ready(false)
	controls.Enable(len(l.grants)+len(l.held) > 0, l.all)
	l.draw()
}

func (l *grantList) draw() {
	rows := l.heldRows()
	for _, g := range l.grants[:min(len(l.grants), l.most)] {
		revoke := controls.NewButton(lang.L("Revoke"), nil, func() { l.revoke(g.ID) })
		rows = append(rows, dialogs.Padded(9, 14, controls.Besides(12, l.words(g), revoke)))
	}
	switch all := max(len(l.grants), len(l.held)); {
	case all == 0:
		rows = append(rows, emptyRow(lang.L("Nothing saved: so far you allowed everything just once.")))
	case all > l.most:
		rows = append(rows, showMore(&l.most, l.draw))
	}
	controls.SetContent(l.body, card(rows...))
}

func showMore(most *int, draw func()) fyne.CanvasObject {
	return container.NewCenter(controls.QuietButton(lang.L("Show more"), nil, func() {
		*most += rowsShown
		draw()
	}))
}

// heldRows show approvals changed by another program, which are not in effect.
func (l *grantList) heldRows() []fyne.CanvasObject {
	if len(l.held) == 0 {
		return nil
	}
	accept := controls.NewButton(lang.L("Accept these"), nil, func() {
		l.win.Act(l.win.opts.Operator.AcceptGrants, l.problem.Complain)
	})
	controls.Enable(len(l.held) <= l.most, accept) // only if all are visible
	text := controls.Paragraph(lang.L("Another program wrote these approvals. They don't count until you accept them. "+
		"Revoke all to discard them."), widget.DangerImportance)
	rows := []fyne.CanvasObject{dialogs.Padded(9, 14, controls.Besides(12, text, accept))}
	for _, g := range l.held[:min(len(l.held), l.most)] {
		rows = append(rows, dialogs.Padded(9, 14, l.words(g)))
	}
	return rows
}

func (l *grantList) words(g policy.Grant) fyne.CanvasObject {
	allows := controls.Stop(safetext.Line(assets.Reason(g.Text()), grantLimit))
	return dialogs.Column(4, controls.Exact(safetext.Line(g.Shown, controls.QuoteLimit), theme.SizeNameText),
		controls.Muted(allows), controls.Muted(about(g, time.Now())))
}

const grantLimit = 400

func about(g policy.Grant, now time.Time) string {
	day := g.Created.In(now.Location()).Format(time.DateOnly)
	parts := []string{holds(g, now), lang.L("since {{.Day}}", map[string]any{"Day": day})}
	if g.Uses > 0 {
		parts = append(parts, lang.L("last used {{.Ago}}", map[string]any{"Ago": ago(g.LastUsed, now)}))
		used := lang.L("used once")
		if g.Uses > 1 {
			used = lang.L("used {{.Count}} times", map[string]any{"Count": g.Uses})
		}
		parts = append(parts, used)
	}
	return strings.Join(parts, " · ")
}

func holds(g policy.Grant, now time.Time) string {
	switch {
	case !g.Expires.IsZero():
		return lang.L("until {{.Time}}", map[string]any{"Time": g.Expires.In(now.Location()).Format("15:04")})
	case g.Rests(now):
		return lang.L("always, but not used for 30 days: nod asks again")
	}
	return controls.ScopeName(g.Scope)
}

func (l *grantList) revokeAll() {
	if !l.sure {
		l.ready(true)
		return
	}
	l.revoke("")
	l.ready(false)
}

func (l *grantList) revoke(id string) {
	l.win.Act(func(ctx context.Context) error { return l.win.opts.Operator.Revoke(ctx, id) }, l.problem.Complain)
}

func (l *grantList) ready(sure bool) {
	l.sure = sure
	l.all.Importance, l.all.Text = widget.MediumImportance, lang.L("Revoke all")
	if sure {
		l.all.Importance, l.all.Text = widget.DangerImportance, lang.L("Press again to revoke all")
	}
	l.all.Refresh()
}
