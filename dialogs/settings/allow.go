package settings

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
)

// allowPage shows what is allowed without asking: classes of tools, and the user's rules.
type allowPage struct {
	part  // its body is the lists, or the editor
	lists fyne.CanvasObject
	cfg   policy.Policy // as last shown

	ask     *checkRow
	classes map[policy.Class]*checkRow
	rules   *ruleList
	editor  *editor // nil unless a rule is being edited
}

func newAllowPage(w *Window) *allowPage {
	p := &allowPage{part: newPart(w), classes: map[policy.Class]*checkRow{}}
	p.rules = newRuleList(w, p.edit)
	p.ask = newSwitch(w, lang.L("Ask about everything"),
		lang.L("nod asks even where a rule allows. Deny rules still apply."),
		func(c *config.Config) *bool { return &c.Policy.AskEverything })
	p.lists = page(
		card(p.ask.Content),
		section(lang.L("Allow automatically"), lang.L("By what a tool does. Your rules can still ask or deny."),
			p.classRows()...),
		p.rules.content,
	)
	controls.SetContent(p.body, p.lists)
	p.content = p.body
	return p
}

func (p *allowPage) classRows() []fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, c := range policy.Classes {
		r := newMember(p.win, controls.ClassName(c), explain(c), c,
			func(cfg *config.Config) *[]policy.Class { return &cfg.Policy.AutoAllow })
		if c != policy.ReadOnly {
			r.confirm = func(answer func(yes bool)) { p.confirm(c, answer) }
		}
		p.classes[c] = r
		rows = append(rows, r.Content)
	}
	return rows
}

func explain(c policy.Class) string {
	return cmp.Or(map[policy.Class]string{
		policy.ReadOnly: lang.L("Reads files and lists, changes nothing. Never files that contain secrets."),
		policy.Write: lang.L("Changes files. An agent that may write without asking can change anything " +
			"you can."),
		policy.Execute: lang.L("Runs programs. A program can do everything you can: with this on, nod " +
			"protects nothing."),
		policy.Network:     lang.L("Talks to other computers. Anything an agent has read can leave this computer."),
		policy.Destructive: lang.L("Deletes or overwrites for good. There is no undo."),
	}[c], lang.L("Tools that nod doesn't know. They can do anything."))
}

func (p *allowPage) confirm(c policy.Class, answer func(yes bool)) {
	const width, height = 420, 180
	d := dialog.NewCustomConfirm(lang.L("Stop asking about this?"), lang.L("Stop asking"), lang.L("Cancel"),
		controls.Paragraph(explain(c), widget.MediumImportance), answer, p.win.Win)
	d.Resize(fyne.NewSize(width, height))
	p.win.ask(d)
}

func (p *allowPage) refresh(s operator.State) {
	cfg, editable := s.Config.Policy, s.Problem == ""
	p.cfg = cfg
	p.ask.refresh(s)
	for c, r := range p.classes {
		r.refresh(s)
		r.warn(r.on && c != policy.ReadOnly)
	}
	p.rules.show(cfg.Rules, editable)
	if p.editor != nil {
		p.editor.refresh(editable)
	}
}

func (r *checkRow) warn(on bool) {
	if on == r.warns {
		return // keep showing the failure
	}
	r.warns = on
	r.Problem.Say("")
	if on {
		r.Problem.Label.Importance = widget.WarningImportance
		r.Problem.Say(lang.L("These calls run without asking you."))
	}
}

// edit opens the editor for a rule; a rule without id is a new one.
func (p *allowPage) edit(r policy.Rule) {
	p.editor = newEditor(p.win, r, p.cfg.Rules, func() { p.escape() })
	controls.SetContent(p.body, p.editor.content)
	p.win.Win.Canvas().Focus(p.editor.texts["tool"])
}

func (p *allowPage) escape() bool {
	if p.editor == nil {
		return false
	}
	p.editor = nil
	controls.SetContent(p.body, p.lists)
	return true
}

const (
	rowsShown   = 50 // of a list; more would make the page slow
	rulesFilter = 6  // number of rules from which on there is a filter
)

type ruleList struct {
	part
	filter *controls.TextField
	add    *controls.Button
	edit   func(policy.Rule)

	rules    []policy.Rule
	texts    []string // of rules, for the filter; nil until needed
	shown    []policy.Rule
	editable bool
}

func newRuleList(w *Window, edit func(policy.Rule)) *ruleList {
	l := &ruleList{part: newPart(w), edit: edit}
	l.add = controls.NewButton(lang.L("Add rule"), theme.ContentAddIcon(), func() { edit(policy.Rule{}) })
	l.filter = controls.NewTextField(w.Shortcut, false)
	l.filter.SetPlaceHolder(lang.L("Find a rule"))
	l.filter.OnChanged = func(string) { l.find() }
	l.filter.Hide()
	l.content = dialogs.Column(9,
		header(lang.L("Your rules"), lang.L("The strictest matching rule decides. Order doesn't matter."),
			l.add),
		l.filter, l.body)
	return l
}

// show shows rules. If they have not changed, it keeps the rows and their focus.
func (l *ruleList) show(rules []policy.Rule, editable bool) {
	if !l.drawn.changed(rules, editable) {
		return
	}
	l.rules, l.texts, l.editable = rules, nil, editable
	controls.Enable(editable, l.add)
	dialogs.SetVisible(l.filter, len(rules) >= rulesFilter)
	l.find()
}

func (l *ruleList) draw() {
	found := l.shown
	rows := each(found[:min(len(found), rowsShown)], l.row)
	switch {
	case len(l.rules) == 0:
		rows = append(rows, emptyRow(lang.L("No rules yet. nod asks about everything that isn't allowed "+
			"automatically.")))
	case len(found) == 0:
		rows = append(rows, emptyRow(lang.L("No rules found.")))
	case len(found) > rowsShown:
		rows = append(rows, emptyRow(lang.L("{{.Shown}} of {{.All}} rules. Type above to find others.",
			map[string]any{"Shown": rowsShown, "All": len(found)})))
	}
	controls.SetContent(l.body, card(rows...))
}

func (l *ruleList) find() {
	if l.drawn == nil {
		return // the list is being built
	}
	rules, texts, want := l.rules, l.texts, strings.ToLower(l.filter.Text)
	l.work.Do(func(context.Context) func() {
		if want != "" && texts == nil {
			texts = searchTexts(rules)
		}
		var found []policy.Rule
		for i, r := range rules {
			if want == "" || strings.Contains(texts[i], want) {
				found = append(found, r)
			}
		}
		return func() {
			if len(rules) == len(l.rules) && (len(rules) == 0 || &rules[0] == &l.rules[0]) {
				l.texts, l.shown = texts, found
				l.draw()
			}
		}
	})
}

func searchTexts(rules []policy.Rule) []string {
	return each(rules, func(r policy.Rule) string {
		words := []string{controls.EffectName(r.Effect), r.Agent, r.ID, controls.Sentence(r), r.Note}
		return strings.ToLower(strings.Join(words, " "))
	})
}

func (l *ruleList) row(r policy.Rule) fyne.CanvasObject {
	on := controls.NewCheck("", nil)
	on.SetChecked(!r.Disabled)
	on.OnChanged = func(want bool) {
		l.win.change(func(c *config.Config) error {
			for i := range c.Policy.Rules {
				if c.Policy.Rules[i].ID == r.ID {
					c.Policy.Rules[i].Disabled = !want
				}
			}
			return nil
		}, func(err error) {
			l.win.Fail(err)
			if err != nil {
				on.Checked = !want
				on.Refresh()
			}
		})
	}
	edit := controls.QuietButton("", theme.DocumentCreateIcon(), func() { l.edit(r) })
	remove := controls.QuietButton("", theme.DeleteIcon(), func() {
		l.win.change(func(c *config.Config) error {
			c.Policy.Rules = slices.DeleteFunc(c.Policy.Rules, func(o policy.Rule) bool { return o.ID == r.ID })
			return nil
		}, l.win.Fail)
	})
	controls.Enable(l.editable, on, edit, remove)

	return badged(r.Effect, controls.Besides(8, ruleWords(r), container.NewHBox(on, edit, remove)))
}

func ruleWords(r policy.Rule) fyne.CanvasObject {
	importance := widget.MediumImportance
	if r.Disabled {
		importance = widget.LowImportance
	}
	return dialogs.Column(4, controls.Paragraph(controls.Sentence(r), importance), controls.Muted(footnote(r)))
}

func footnote(r policy.Rule) string {
	parts := []string{r.ID}
	if r.Disabled {
		parts = append(parts, lang.L("switched off"))
	}
	if r.Note != "" {
		parts = append(parts, safetext.Line(r.Note, controls.QuoteLimit))
	}
	return strings.Join(parts, " · ")
}
