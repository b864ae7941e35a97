package dialogs

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/policy"
)

// maxGrantInput is the size of an input, in bytes, above which only "once" is offered: nobody reads that
// much carefully enough to allow it for ever.
const maxGrantInput = 10_000

// keep is what an allow keeps beyond this once.
type keep struct {
	scope      policy.Scope
	cover      policy.Cover // what it is about, when it is wider than once
	suggestion int          // the agent's own rule to keep, counted from 1, in place of a wider scope; 0: none
}

// chooseScope opens the list of what can be kept: for the new parts of a command line, for edits in the project,
// for exactly this input, and then the rules that the agent itself would keep.
func (a *approvePage) chooseScope() {
	var items []menuItem
	var last keep
	for _, k := range a.offered() {
		item := menuItem{text: a.keepName(k), small: a.smallPrint(k), marked: k == a.keep, do: func() { a.setKeep(k) }}
		if k.cover != last.cover || k.suggestion > 0 && last.suggestion == 0 {
			item.heading = a.heading(k)
			item.parted = item.heading != nil || last.cover != "" || k.cover != policy.CoverInput
		}
		items, last = append(items, item), k
	}
	if len(items) == 1 {
		items[0].small = tr("nothing wider is offered for this input")
	}
	a.w.openMenu(a.entry, a.scopes, items)
}

// heading stands above the choices for parts: the parts that will be remembered, word for word.
func (a *approvePage) heading(k keep) fyne.CanvasObject {
	parts := a.newParts()
	if k.cover != policy.CoverCommands || len(parts) == 0 {
		return nil
	}
	const most, widest = 3, 380
	title := tr("Remember what is new, also as a part of other commands:")
	text := Column(1, newWords(title, theme.SizeNameCaptionText, ColorMuted))
	for _, p := range parts[:min(len(parts), most)] {
		text.Add(newElided(safeEnds(p), theme.ColorNameForeground, widest))
	}
	if more := len(parts) - most; more > 0 {
		text.Add(newWords(tr("and {{.Count}} more", values{"Count": more}), theme.SizeNameCaptionText, ColorMuted))
	}
	return container.New(layout.NewCustomPaddedLayout(4, 2, menuIndent, 10), text)
}

// newParts are the texts of the parts that nothing covers yet, each once.
func (a *approvePage) newParts() []string {
	var texts []string
	for _, p := range a.parts {
		if p.State == policy.PartNew {
			texts = appendNew(texts, p.Text)
		}
	}
	return texts
}

func (a *approvePage) smallPrint(k keep) string {
	switch {
	case k.suggestion > 0:
		return plainText(a.body.Suggestions[k.suggestion-1])
	case k.cover == policy.CoverEdits:
		return tr("never files of settings, hooks or keys: those are asked about")
	}
	return ""
}

// keepName says what is kept, in the menu.
func (a *approvePage) keepName(k keep) string {
	switch {
	case k.suggestion > 0:
		return a.suggestionName()
	case k.cover == policy.CoverEdits:
		return tr("Edits in this project") + " · " + scopeName(k.scope)
	case k.cover == policy.CoverInput && a.offersWider():
		return tr("Exactly this input") + " · " + scopeName(k.scope)
	}
	return scopeName(k.scope)
}

// mayKeep reports whether the input can be read in full: only then is anything wider than once offered.
func (a *approvePage) mayKeep() bool {
	return len(a.body.Input) <= maxGrantInput && !a.input.hasHidden()
}

// suggestionName says whose rule it is that the agent would keep.
func (a *approvePage) suggestionName() string {
	return tr("As {{.Agent}} suggests", values{"Agent": plainText(a.entry.request.Requester.Agent)})
}

// The choices. Which of them are there for a call is for the policy to say.
var (
	allScopes   = policy.Scopes[1:]
	editScopes  = []policy.Scope{policy.ThisSession, policy.UntilQuit}
	besideWider = []policy.Scope{policy.ThisSession, policy.Always} // of exactly this input
)

// maxOffered is how many choices there are at most, but for the agent's own: nobody reads a longer menu.
const maxOffered = 9

// offered lists what can be kept. Wider than once takes an input that can be read in full, and a rule to show.
func (a *approvePage) offered() []keep {
	all := append([]keep{{scope: policy.Once}}, a.wider()...)
	if !a.mayKeep() {
		return all
	}
	scopes := allScopes
	if len(all) > 1 {
		scopes = besideWider
	}
	exact := a.keeps(policy.CoverInput, scopes)
	all = append(all, exact[:min(len(exact), max(maxOffered-len(all), 0))]...)
	for i := range a.body.Suggestions {
		all = append(all, keep{scope: policy.Once, suggestion: i + 1})
	}
	return all
}

// wider lists the choices that are about more than exactly this input. What edits will be is not in this one, so it
// may be long.
func (a *approvePage) wider() []keep {
	var all []keep
	if a.mayKeep() {
		all = a.keeps(policy.CoverCommands, allScopes)
	}
	if !a.input.hasHidden() {
		all = append(all, a.keeps(policy.CoverEdits, editScopes)...)
	}
	return all
}

func (a *approvePage) offersWider() bool { return len(a.wider()) > 0 }

// keeps lists the choices of one kind that the policy offers.
func (a *approvePage) keeps(cover policy.Cover, scopes []policy.Scope) []keep {
	var all []keep
	for _, s := range scopes {
		k := keep{scope: s, cover: cover}
		if (s != policy.ThisSession || a.entry.request.Requester.Session != "") && a.grantText(k) != "" {
			all = append(all, k)
		}
	}
	return all
}

func scopeName(s policy.Scope) string {
	return cmp.Or(map[policy.Scope]string{
		policy.ThisSession: tr("This session"), policy.QuarterHour: tr("15 minutes"),
		policy.UntilQuit: tr("Until nod quits"), policy.Always: tr("Always"),
	}[s], tr("Once"))
}

// setKeep chooses what an allow keeps, and shows the rule that it saves; the wait for Allow starts again.
func (a *approvePage) setKeep(k keep) {
	a.keep = k
	a.showScope()
	a.w.changed()
}

func (a *approvePage) showScope() {
	name, heading, rule := a.chosen()
	a.scopes.setText(name)
	a.rule.Objects, a.ruleText, a.shownRule = nil, nil, rule
	setVisible(a.rule, rule != "")
	if rule == "" {
		return
	}
	a.ruleText = newSheet(unnumbered("", rule, lineText), rule)
	a.ruleText.attach(a.w, a.w.rearm)
	above := Lines(heading, theme.SizeNameCaptionText, widget.MediumImportance)
	a.rule.Add(Column(4, Tight(above), container.New(atMost{height: maxRule}, a.ruleText)))
}

// chosen is what the scope button says and, for more than once, what will be saved.
func (a *approvePage) chosen() (name, heading, rule string) {
	k := a.keep
	switch {
	case k.suggestion > 0:
		rule = a.body.Suggestions[k.suggestion-1]
		return a.suggestionName(), tr("Allow will have the agent keep this rule of its own:"), rule
	case k.scope == policy.Once:
		return scopeName(k.scope), "", ""
	}
	name, rule = a.keepName(k), a.grantText(k)
	if parts := a.newParts(); k.cover == policy.CoverCommands && len(parts) > 0 {
		name += " · " + shortList(parts)
	}
	if strings.Contains(rule, "\n") {
		return name, tr("Allow will save these rules:"), rule
	}
	return name, tr("Allow will save this rule:"), rule
}

// shortList is what fits on a button of some parts.
func shortList(parts []string) string {
	const room = 18
	if len(parts) > 1 {
		return tr("{{.Count}} parts", values{"Count": len(parts)})
	}
	if part := []rune(safeEnds(parts[0])); len(part) > room {
		return string(part[:room-1]) + "…"
	}
	return safeEnds(parts[0])
}

// grantText is what an allow saves, one rule a line; "" when there is nothing.
func (a *approvePage) grantText(k keep) string {
	return a.w.p.options.Offers(a.entry.request.ID).GrantText(k.scope, k.cover)
}

// stillKept is what is chosen, or once when there is nothing left to keep.
func (a *approvePage) stillKept() keep {
	if a.keep.suggestion == 0 && a.keep.scope != policy.Once && a.grantText(a.keep) == "" {
		return keep{scope: policy.Once}
	}
	return a.keep
}

// maxRule is the height up to which a rule takes room from the rest; a longer one scrolls.
const maxRule = 122

// atMost is a layout that keeps its content from asking for more than a height.
type atMost struct{ height float32 }

func (l atMost) MinSize(o []fyne.CanvasObject) fyne.Size {
	size := o[0].MinSize()
	return fyne.NewSize(size.Width, min(size.Height, l.height))
}

func (l atMost) Layout(o []fyne.CanvasObject, size fyne.Size) { fixed{}.Layout(o, size) }
