package settings

import (
	"reflect"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/safetext"
	"nod/policy"
)

// callsShown is how many of a suggestion's calls are listed.
const callsShown = 5

// suggestionsPage proposes rules for what the person always answered alike. Nothing here happens by itself.
type suggestionsPage struct {
	content fyne.CanvasObject
	body    *fyne.Container
	problem *remark
	suggest func() []policy.Suggestion
	change  change
	past    *lookBack

	refused []policy.Rule // those that the person does not want, until nod ends
	shown   []policy.Suggestion
	drawn   bool
}

func newSuggestionsPage(o Options, change change, aside func(func())) *suggestionsPage {
	p := &suggestionsPage{suggest: o.Suggest, change: change, body: container.NewStack(), problem: newRemark(widget.DangerImportance)}
	p.past = newLookBack(o, p.save, aside)
	p.content = page(dialogs.Column(9,
		header(lang.L("Suggestions"), lang.L("Rules for what you always answered the same way since nod was started. None is added unless you add it.")),
		p.problem.content, p.body), p.past.content)
	return p
}

// refresh shows what there is to suggest now. When that has not changed it leaves the rows alone.
func (p *suggestionsPage) refresh(editable bool) {
	found := slices.DeleteFunc(p.suggest(), func(s policy.Suggestion) bool {
		return slices.ContainsFunc(p.refused, func(r policy.Rule) bool { return reflect.DeepEqual(r, s.Rule) })
	})
	p.past.enable(editable)
	if p.drawn && reflect.DeepEqual(found, p.shown) {
		return
	}
	p.shown, p.drawn = found, true
	rows := dialogs.Column(14)
	for _, s := range found {
		rows.Add(p.row(s, editable))
	}
	if len(found) == 0 {
		rows.Add(card(emptyRow(lang.L("Nothing to suggest yet. When you answer like calls alike three times, the rule that would have spared you the question stands here."))))
	}
	p.body.Objects = []fyne.CanvasObject{rows}
	p.body.Refresh()
}

func (p *suggestionsPage) row(s policy.Suggestion, editable bool) fyne.CanvasObject {
	words := proposal(experience(s), s.Rule)
	words.Add(muted(lang.L("It would have decided:")))
	words.Add(p.calls(s))
	words.Add(choices(editable, func() { p.add(s.Rule) }, func() {
		p.refused = append(p.refused, s.Rule)
		p.refresh(true)
	}))
	return card(dialogs.Padded(12, 14, words))
}

// proposal is a rule to add, under what speaks for it.
func proposal(why string, r policy.Rule) *fyne.Container {
	badge := dialogs.Row(8, dialogs.Badge(effectName(r.Effect), dialogs.EffectColor(r.Effect)))
	return dialogs.Column(6, bold(why), container.NewBorder(nil, nil, badge, nil,
		dialogs.Padded(0, 8, dialogs.Tight(dialogs.Lines(sentence(r), theme.SizeNameText, widget.MediumImportance)))))
}

// bold is a paragraph that heads a card.
func bold(s string) fyne.CanvasObject {
	l := dialogs.Lines(s, theme.SizeNameText, widget.MediumImportance)
	l.TextStyle.Bold = true
	return dialogs.Tight(l)
}

// choices are what a person can say to a rule that is proposed.
func choices(editable bool, yes, no func()) fyne.CanvasObject {
	add := widget.NewButton(lang.L("Add rule"), yes)
	add.Importance = widget.HighImportance
	enable(editable, add)
	return container.NewHBox(add, quietButton(lang.L("No, thanks"), nil, no))
}

// experience says what a suggestion rests on.
func experience(s policy.Suggestion) string {
	n := map[string]any{"Count": len(s.Calls), "Folders": len(s.Folders)}
	switch {
	case s.Rule.Effect == policy.Deny && len(s.Folders) > 1:
		return lang.L("You denied this {{.Count}} times in {{.Folders}} folders", n)
	case s.Rule.Effect == policy.Deny:
		return lang.L("You denied this {{.Count}} times", n)
	case len(s.Folders) > 1:
		return lang.L("You allowed this {{.Count}} times in {{.Folders}} folders", n)
	}
	return lang.L("You allowed this {{.Count}} times", n)
}

// calls lists what the rule would have matched, each once.
func (p *suggestionsPage) calls(s policy.Suggestion) fyne.CanvasObject {
	var lines []string
	for _, c := range s.Calls {
		line := safetext.Line(c.Tool, 40) + "  " + safetext.Line(string(c.Input), 80) + "  " + lang.L("in {{.Folder}}", map[string]any{"Folder": safetext.Line(c.CWD, 60)})
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return safeLines(lines)
}

func (p *suggestionsPage) add(r policy.Rule) {
	p.problem.complain(p.save(r))
	p.refresh(true)
}

func (p *suggestionsPage) save(r policy.Rule) error {
	return p.change(func(c *policy.Config) error {
		c.Policy.Rules = append(c.Policy.Rules, r)
		return nil
	})
}
