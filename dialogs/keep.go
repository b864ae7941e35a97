package dialogs

import (
	"cmp"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/assets"
	"nod/dialogs/prompt"
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

// chooseScope opens the list of what can be kept: for once, for this session, for longer, and then the rules that the
// agent itself would keep.
func (a *approvePage) chooseScope() {
	var items []menuItem
	var last keep
	shortest, isHeaded := a.spans()[0], false
	for i, k := range a.offered() {
		item := menuItem{text: a.keepName(k), small: a.smallPrint(k), marked: k == a.keep, do: func() { a.setKeep(k) }}
		item.parted = i == 1 || i > 0 && last.scope == shortest && k.scope != shortest ||
			k.suggestion > 0 && last.suggestion == 0
		if k.cover == policy.CoverCommands && !isHeaded {
			item.heading, isHeaded = a.heading(), true
		}
		items, last = append(items, item), k
	}
	if len(items) == 1 {
		items[0].small = tr("nothing broader is offered for this input")
	}
	a.w.openMenu(a.entry, a.scopes, items)
}

// nextScope chooses the next thing that can be kept, for the chord: this session comes first, and behind the last one
// once again.
func (a *approvePage) nextScope() {
	if all := a.offered(); a.scopes.Visible() && len(all) > 1 {
		a.setKeep(all[(slices.Index(all, a.keep)+1)%len(all)])
	}
}

// heading stands above the choices for parts: the parts that will be remembered, word for word.
func (a *approvePage) heading() fyne.CanvasObject {
	parts := a.newParts()
	if len(parts) == 0 {
		return nil
	}
	const most, widest = 3, 380
	title := tr("Remember the new parts, in other commands too:")
	text := Column(1, newWords(title, theme.SizeNameCaptionText, ColorMuted))
	for _, p := range parts[:min(len(parts), most)] {
		text.Add(newElided(prompt.SafeEnds(p), theme.ColorNameForeground, widest))
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
			texts = prompt.AppendNew(texts, p.Text)
		}
	}
	return texts
}

// smallPrint says what a choice will cover.
func (a *approvePage) smallPrint(k keep) string {
	if k.suggestion > 0 {
		return prompt.PlainText(a.body.Suggestions[k.suggestion-1])
	}
	offer := a.offer(k)
	v := values{"Object": shortText(offer.Object, maxObject), "Tool": shortText(a.body.Tool, maxObject)}
	switch k.cover {
	case policy.CoverEdits:
		return tr("never files of settings, hooks or keys: those are asked about")
	case policy.CoverHost:
		return tr("any page on {{.Object}}, for {{.Tool}}, wherever it redirects to", v)
	case policy.CoverReads:
		return tr("any file below {{.Object}}, but no keys, passwords or tokens", v)
	case policy.CoverTool:
		if !a.remote() && a.offer(keep{scope: policy.Always, cover: k.cover}).Text == "" {
			return tr("any call of {{.Tool}}; not for always: it may delete things or run code", v)
		}
		return tr("any call of {{.Tool}}, whatever its input", v)
	}
	return ""
}

// How much is shown of a name in the menu and on the button, in characters; all of it is in the rule.
const maxObject, maxOnButton = 40, 18

// shortText is the beginning of a text in one line.
func shortText(s string, most int) string {
	if text := []rune(prompt.SafeEnds(s)); len(text) > most {
		return string(text[:most-1]) + "…"
	}
	return prompt.SafeEnds(s)
}

// keepName says what is kept, in the menu: for how long, and what where that is not plain.
func (a *approvePage) keepName(k keep) string {
	switch {
	case k.suggestion > 0:
		return a.suggestionName()
	case k.scope == policy.Once || k.cover == policy.CoverInput && !a.offersWider():
		return scopeName(k.scope)
	}
	return scopeName(k.scope) + " · " + a.coverName(k)
}

func (a *approvePage) coverName(k keep) string {
	switch k.cover {
	case policy.CoverCommands:
		return tr("these commands")
	case policy.CoverEdits:
		return tr("edits in this project")
	case policy.CoverTool:
		return tr("this tool")
	case policy.CoverHost:
		return shortText(a.offer(k).Object, maxOnButton)
	case policy.CoverReads:
		return tr("reading in this folder")
	}
	return tr("exactly this input")
}

// mayKeep reports whether the input can be read in full: only then is anything wider than once offered.
func (a *approvePage) mayKeep() bool {
	return len(a.body.Input) <= maxGrantInput && !a.input.HasHidden()
}

// suggestionName says whose rule it is that the agent would keep.
func (a *approvePage) suggestionName() string {
	return tr("As {{.Agent}} suggests", values{"Agent": prompt.PlainText(a.entry.request.Requester.Agent)})
}

// spans are the scopes beyond once: first the one that ends with the session or, where the agent names none, with nod.
// On another machine its relay keeps what lasts; what holds for always is for the person here to write as a rule.
func (a *approvePage) spans() []policy.Scope {
	spans := policy.Scopes[1:]
	if a.entry.request.Requester.Session == "" {
		spans = []policy.Scope{policy.UntilQuit, policy.QuarterHour, policy.Always}
	}
	if a.remote() {
		return slices.DeleteFunc(slices.Clone(spans), func(s policy.Scope) bool { return s == policy.Always })
	}
	return spans
}

// maxOffered is how many choices there are at most, but for the agent's own: nobody reads a longer menu.
const maxOffered = 9

// offered lists what can be kept: once, then what the policy offers, by how long it lasts.
func (a *approvePage) offered() []keep {
	all := []keep{{scope: policy.Once}}
	for _, scope := range a.spans() {
		for _, cover := range policy.Covers {
			if k := (keep{scope: scope, cover: cover}); len(all) < maxOffered && a.offers(k) {
				all = append(all, k)
			}
		}
	}
	for i := range a.body.Suggestions {
		if a.mayKeep() {
			all = append(all, keep{scope: policy.Once, suggestion: i + 1})
		}
	}
	return all
}

// offers reports whether a choice is one. Wider than once takes an input that can be read in full, but what edits will
// be is not in this one; and beside wider choices two about exactly this input will do.
func (a *approvePage) offers(k keep) bool {
	switch {
	case a.offer(k).Text == "":
		return false
	case k.cover == policy.CoverEdits:
		return !a.input.HasHidden()
	case k.cover == policy.CoverInput && a.offersWider():
		return a.mayKeep() && (k.scope == a.spans()[0] || k.scope == policy.Always)
	}
	return a.mayKeep()
}

// offersWider reports whether something beyond exactly this input can be kept.
func (a *approvePage) offersWider() bool {
	return slices.ContainsFunc(policy.Covers, func(c policy.Cover) bool {
		return c != policy.CoverInput && a.offers(keep{scope: a.spans()[0], cover: c})
	})
}

// offer is what the policy offers for a choice.
func (a *approvePage) offer(k keep) policy.Offer {
	return a.w.p.options.Offers(a.entry.request.ID).Grant(k.scope, k.cover)
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
	a.edited()
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
	if a.keep.suggestion == 0 {
		rule = inWords(rule)
	}
	a.ruleText = newSheet(prompt.Unnumbered("", rule, prompt.LineText), rule)
	a.ruleText.attach(a.w, a.w.rearm)
	above := Lines(heading, theme.SizeNameCaptionText, widget.MediumImportance)
	a.rule.Add(Column(4, Tight(above), container.New(atMost{height: maxRule}, a.ruleText)))
}

// inWords puts rules, one to a line, into the person's language.
func inWords(rules string) string {
	lines := strings.Split(rules, "\n")
	for i, line := range lines {
		lines[i] = ruleLine(line)
	}
	return strings.Join(lines, "\n")
}

// ruleLine puts a line of rules into the person's language. What stands in a list of grants lacks the comma that ends
// it inside a sentence.
func ruleLine(line string) string {
	const bullet = "· "
	what, isItem := strings.CutPrefix(line, bullet)
	if !isItem {
		return assets.Reason(line)
	}
	if said := assets.Reason(what + ","); !strings.HasSuffix(said, ",") {
		return bullet + said
	}
	return bullet + assets.Reason(what)
}

// chosen is what the scope button says and, for more than once, what will be saved.
func (a *approvePage) chosen() (name, heading, rule string) {
	k := a.keep
	switch {
	case k.suggestion > 0:
		rule = a.body.Suggestions[k.suggestion-1]
		return a.suggestionName(), tr("Allow will also save this rule with the agent:"), rule
	case k.scope == policy.Once:
		return scopeName(k.scope), "", ""
	}
	name, rule = a.keepName(k), a.grantText(k)
	if parts := a.newParts(); k.cover == policy.CoverCommands && len(parts) > 0 {
		name = scopeName(k.scope) + " · " + shortList(parts)
	}
	switch {
	case a.remote():
		return name, tr("What Allow will save on {{.Machine}}, as it reports:", a.machine()), rule
	case strings.Contains(rule, "\n"):
		return name, tr("Allow will save these rules:"), rule
	}
	return name, tr("Allow will save this rule:"), rule
}

// shortList is what fits on a button of some parts.
func shortList(parts []string) string {
	if len(parts) > 1 {
		return tr("{{.Count}} parts", values{"Count": len(parts)})
	}
	return shortText(parts[0], maxOnButton)
}

// grantText is what an allow saves, one rule a line; "" when there is nothing.
func (a *approvePage) grantText(k keep) string { return a.offer(k).Text }

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
