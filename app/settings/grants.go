package settings

import (
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/safetext"
	"nod/policy"
)

// grantList is the list of the answers that hold longer than once.
type grantList struct {
	content fyne.CanvasObject
	body    *fyne.Container
	all     *widget.Button
	problem *remark
	store   Store

	grants []policy.Grant
	held   []policy.Grant
	drawn  bool
	sure   bool // "Revoke all" was pressed once
}

func newGrantList(store Store) *grantList {
	l := &grantList{store: store, body: container.NewStack(), problem: newRemark(widget.DangerImportance)}
	l.all = widget.NewButton(lang.L("Revoke all"), l.revokeAll)
	l.content = dialogs.Column(9,
		header(lang.L("Answers that still hold"), lang.L("What you allowed for longer than once, for one program: one input in one folder; or, in one project, a command as part of any line, or changes of files."), l.all),
		l.problem.content, l.body)
	return l
}

// show shows grants. When they have not changed it leaves the rows alone.
func (l *grantList) show(grants, held []policy.Grant) {
	if l.drawn && slices.Equal(grants, l.grants) && slices.Equal(held, l.held) {
		return
	}
	l.grants, l.held, l.drawn = slices.Clone(grants), slices.Clone(held), true
	l.ready(false)
	enable(len(grants)+len(held) > 0, l.all)
	rows := l.heldRows()
	for _, g := range grants {
		rows = append(rows, l.row(g))
	}
	if len(grants)+len(held) == 0 {
		rows = append(rows, emptyRow(lang.L("None: every answer so far was for once.")))
	}
	l.body.Objects = []fyne.CanvasObject{card(rows...)}
	l.body.Refresh()
}

// heldRows show what another program made of the file, which is not in force.
func (l *grantList) heldRows() []fyne.CanvasObject {
	if len(l.held) == 0 {
		return nil
	}
	accept := widget.NewButton(lang.L("Accept these"), func() {
		l.problem.complain(l.store.AcceptGrants())
		l.refresh()
	})
	text := dialogs.Lines(lang.L("Another program wrote these answers. None of them counts until you accept them; revoke all to be rid of them."),
		theme.SizeNameText, widget.DangerImportance)
	rows := []fyne.CanvasObject{dialogs.Padded(9, 14, container.New(besides{gap: 12}, dialogs.Tight(text), accept))}
	for _, g := range l.held {
		rows = append(rows, dialogs.Padded(9, 14, l.words(g)))
	}
	return rows
}

func (l *grantList) refresh() { l.show(l.store.Grants(), l.store.HeldGrants()) }

func (l *grantList) row(g policy.Grant) fyne.CanvasObject {
	revoke := widget.NewButton(lang.L("Revoke"), func() {
		l.problem.complain(l.store.Revoke(g.ID))
		l.refresh()
	})
	return dialogs.Padded(9, 14, container.New(besides{gap: 12}, l.words(g), revoke))
}

func (l *grantList) words(g policy.Grant) fyne.CanvasObject {
	input := dialogs.Lines(safetext.Line(g.Shown, quoteLimit), theme.SizeNameText, widget.MediumImportance)
	input.TextStyle.Monospace = true
	input.Wrapping = fyne.TextWrapBreak
	return dialogs.Column(4, dialogs.Tight(input), muted(safetext.Line(g.Text(), grantLimit)+"."), muted(about(g, time.Now())))
}

// grantLimit is how much is shown of what a grant allows: it names a command, a folder and a program.
const grantLimit = 400

// about says how long a grant holds, and how much it was used.
func about(g policy.Grant, now time.Time) string {
	parts := []string{holds(g, now)}
	parts = append(parts, lang.L("since {{.Day}}", map[string]any{"Day": g.Created.In(now.Location()).Format(time.DateOnly)}))
	if g.Uses > 0 {
		parts = append(parts, lang.L("last used {{.Ago}}", map[string]any{"Ago": ago(g.LastUsed, now)}))
		parts = append(parts, lang.L("used {{.Count}} times", map[string]any{"Count": g.Uses}))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

func holds(g policy.Grant, now time.Time) string {
	switch {
	case !g.Expires.IsZero():
		return lang.L("until {{.Time}}", map[string]any{"Time": g.Expires.In(now.Location()).Format("15:04")})
	case g.Scope == policy.ThisSession:
		return lang.L("this session")
	case g.Scope == policy.UntilQuit:
		return lang.L("until nod quits")
	case g.Rests(now):
		return lang.L("always, but unused for 30 days: asked again")
	}
	return lang.L("always")
}

// revokeAll asks once more, in its own place: the second press does it.
func (l *grantList) revokeAll() {
	if !l.sure {
		l.ready(true)
		return
	}
	l.problem.complain(l.store.RevokeAll())
	l.refresh()
	l.ready(false)
}

func (l *grantList) ready(sure bool) {
	l.sure = sure
	l.all.Importance = widget.MediumImportance
	l.all.Text = lang.L("Revoke all")
	if sure {
		l.all.Importance = widget.DangerImportance
		l.all.Text = lang.L("Press again to revoke all")
	}
	l.all.Refresh()
}
