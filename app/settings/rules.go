package settings

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/safetext"
	"nod/policy"
)

const (
	rulesShown  = 100 // rows at a time; more would make the page slow
	rulesFilter = 6   // from this many rules on there are fields to find some
)

// ruleList is the list of the person's rules.
type ruleList struct {
	content fyne.CanvasObject
	body    *fyne.Container // the rows
	search  *fyne.Container // filter, effect and agent
	filter  *widget.Entry
	effect  *widget.Select
	agent   *widget.Select
	add     *widget.Button
	take    *widget.Button // over, from agents
	edit    func(policy.Rule)
	change  change

	rules    []policy.Rule
	editable bool
	drawn    bool
}

func newRuleList(edit func(policy.Rule), take func(), change change) *ruleList {
	l := &ruleList{edit: edit, change: change, body: container.NewStack()}
	l.add = widget.NewButtonWithIcon(lang.L("Add rule"), theme.ContentAddIcon(), func() { edit(policy.Rule{}) })
	l.take = widget.NewButton(lang.L("Import…"), take)
	l.filter = widget.NewEntry()
	l.filter.SetPlaceHolder(lang.L("Find a rule"))
	l.filter.OnChanged = func(string) { l.draw() }
	names := []string{lang.L("Every effect")}
	for _, e := range effects {
		names = append(names, effectName(e))
	}
	l.effect = widget.NewSelect(names, func(string) { l.draw() })
	l.agent = widget.NewSelect(nil, func(string) { l.draw() })
	l.search = container.NewBorder(nil, nil, nil, container.NewHBox(l.effect, l.agent), l.filter)
	l.search.Hide()
	l.content = dialogs.Column(9,
		header(lang.L("Your rules"), lang.L("The strictest rule that matches decides, whatever the order."), l.take, l.add),
		l.search, l.body)
	l.offerAgents(nil)
	l.effect.SetSelectedIndex(0)
	return l
}

// show shows rules. When they have not changed it leaves the rows, and the focus among them, alone.
func (l *ruleList) show(rules []policy.Rule, editable bool) {
	if l.drawn && l.editable == editable && policy.SameRules(rules, l.rules) {
		return
	}
	l.rules, l.editable, l.drawn = slices.Clone(rules), editable, true
	enable(editable, l.add, l.take)
	setVisible(l.search, len(rules) >= rulesFilter)
	l.offerAgents(rules)
	l.draw()
}

// offerAgents offers the agents that rules are for.
func (l *ruleList) offerAgents(rules []policy.Rule) {
	names := []string{lang.L("Every agent")}
	for _, r := range rules {
		if r.Agent != "" && !slices.Contains(names, r.Agent) {
			names = append(names, r.Agent)
		}
	}
	was := l.agent.Selected
	l.agent.Options = names
	if !slices.Contains(names, was) {
		was = names[0]
	}
	l.agent.SetSelected(was)
}

func (l *ruleList) draw() {
	found := l.found()
	var rows []fyne.CanvasObject
	for _, r := range found[:min(len(found), rulesShown)] {
		rows = append(rows, l.row(r))
	}
	switch {
	case len(l.rules) == 0:
		rows = append(rows, emptyRow(lang.L("No rules yet: what no class lets pass is asked about.")))
	case len(found) == 0:
		rows = append(rows, emptyRow(lang.L("No rule contains that.")))
	case len(found) > rulesShown:
		rows = append(rows, emptyRow(lang.L("{{.Shown}} of {{.All}} rules. Type above to find others.",
			map[string]any{"Shown": rulesShown, "All": len(found)})))
	}
	l.body.Objects = []fyne.CanvasObject{card(rows...)}
	l.body.Refresh()
}

// found are the rules that contain what the person looks for.
func (l *ruleList) found() []policy.Rule {
	want, effect, agent := strings.ToLower(l.filter.Text), l.effect.SelectedIndex(), l.agent.SelectedIndex()
	return slices.DeleteFunc(slices.Clone(l.rules), func(r policy.Rule) bool {
		return !strings.Contains(strings.ToLower(r.ID+" "+sentence(r)+" "+r.Note), want) ||
			effect > 0 && r.Effect != effects[effect-1] || agent > 0 && r.Agent != l.agent.Selected
	})
}

func (l *ruleList) row(r policy.Rule) fyne.CanvasObject {
	on := widget.NewCheck("", nil)
	on.SetChecked(!r.Disabled)
	on.OnChanged = func(on bool) { _ = l.update(r.ID, func(r *policy.Rule) { r.Disabled = !on }) }
	edit := quietButton("", theme.DocumentCreateIcon(), func() { l.edit(r) })
	remove := quietButton("", theme.DeleteIcon(), func() { _ = l.remove(r.ID) })
	enable(l.editable, on, edit, remove)

	importance := widget.MediumImportance
	if r.Disabled {
		importance = widget.LowImportance
	}
	words := dialogs.Column(4, dialogs.Tight(dialogs.Lines(sentence(r), theme.SizeNameText, importance)), muted(aside(r)))
	badge := container.New(topLeft{width: 58}, dialogs.Badge(effectName(r.Effect), dialogs.EffectColor(r.Effect)))
	return dialogs.Padded(9, 12, container.NewBorder(nil, nil, badge, nil,
		container.New(besides{gap: 8}, words, container.NewHBox(on, edit, remove))))
}

// aside is what stands in small letters under a rule.
func aside(r policy.Rule) string {
	parts := []string{r.ID}
	if r.Disabled {
		parts = append(parts, lang.L("switched off"))
	}
	if r.Note != "" {
		parts = append(parts, safetext.Line(r.Note, quoteLimit))
	}
	return strings.Join(parts, " · ")
}

func (l *ruleList) update(id string, f func(*policy.Rule)) error {
	return l.change(func(c *policy.Config) error {
		for i := range c.Policy.Rules {
			if c.Policy.Rules[i].ID == id {
				f(&c.Policy.Rules[i])
			}
		}
		return nil
	})
}

func (l *ruleList) remove(id string) error {
	return l.change(func(c *policy.Config) error {
		c.Policy.Rules = slices.DeleteFunc(c.Policy.Rules, func(r policy.Rule) bool { return r.ID == id })
		return nil
	})
}

// topLeft keeps its only object in the upper left of a column.
type topLeft struct{ width float32 }

func (l topLeft) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(l.width, objects[0].MinSize().Height)
}

func (l topLeft) Layout(objects []fyne.CanvasObject, _ fyne.Size) {
	objects[0].Resize(objects[0].MinSize())
	objects[0].Move(fyne.Position{})
}
