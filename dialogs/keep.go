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

// maxGrantInput is the size of an input, in bytes, above which only "once" is offered: nobody reads that much.
const maxGrantInput = 10_000

// keep is what Allow saves in addition to this one answer.
type keep struct {
	scope      policy.Scope
	cover      policy.Cover // what it applies to, unless the scope is once
	suggestion int          // a rule suggested by the agent, from 1, in place of a wider scope; 0: none
}

// chooseScope opens the list of scopes: once, this session, longer, and then the rules that the agent suggests.
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

// nextScope chooses the next scope, for the chord: this session first and, after the last one, once again.
func (a *approvePage) nextScope() {
	if all := a.offered(); a.scopes.Visible() && len(all) > 1 {
		a.setKeep(all[(slices.Index(all, a.keep)+1)%len(all)])
	}
}

// heading lists, above the choices for parts, the exact parts that will be saved.
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

// newParts returns the parts that no rule covers yet, without duplicates.
func (a *approvePage) newParts() []string {
	var texts []string
	for _, p := range a.parts {
		if p.State == policy.PartNew {
			texts = prompt.AppendNew(texts, p.Text)
		}
	}
	return texts
}

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

// Limits for a name in the menu and on the button, in characters; the rule shows all of it.
const maxObject, maxOnButton = 40, 18

// shortText returns the beginning of a text, at most limit characters, on one line.
func shortText(s string, limit int) string {
	if text := []rune(prompt.SafeEnds(s)); len(text) > limit {
		return string(text[:limit-1]) + "…"
	}
	return prompt.SafeEnds(s)
}

// keepName names a choice in the menu: how long it lasts and, unless that is obvious, what it covers.
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

// mayKeep reports whether the input can be read in full: only then can anything beyond once be offered.
func (a *approvePage) mayKeep() bool {
	return len(a.body.Input) <= maxGrantInput && !a.input.HasHidden()
}

func (a *approvePage) suggestionName() string {
	return tr("As {{.Agent}} suggests", values{"Agent": prompt.PlainText(a.entry.request.Requester.Agent)})
}

// spans lists the scopes beyond once; the first ends with the session or, if the agent names none, when nod ends. For
// another machine, its relay saves the rules; permanent ones have to be written as a rule here.
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

// maxOffered is the largest number of choices besides those of the agent: nobody reads a longer menu.
const maxOffered = 9

// offered lists the choices: once, then what the policy offers, by duration.
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

// offers reports whether k is offered. Anything beyond once needs an input that can be read in full. Allowing all edits
// needs only an input without hidden characters, since later edits are others anyway. If there are wider choices, only
// two for exactly this input are offered.
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

// offersWider reports whether more than exactly this input can be covered.
func (a *approvePage) offersWider() bool {
	return slices.ContainsFunc(policy.Covers, func(c policy.Cover) bool {
		return c != policy.CoverInput && a.offers(keep{scope: a.spans()[0], cover: c})
	})
}

func (a *approvePage) offer(k keep) policy.Offer {
	return a.w.p.options.Offers(a.entry.request.ID).Grant(k.scope, k.cover)
}

func scopeName(s policy.Scope) string {
	return cmp.Or(map[policy.Scope]string{
		policy.ThisSession: tr("This session"), policy.QuarterHour: tr("15 minutes"),
		policy.UntilQuit: tr("Until nod quits"), policy.Always: tr("Always"),
	}[s], tr("Once"))
}

// setKeep sets the choice and shows the rule that it saves; the wait for Allow starts again.
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
	SetVisible(a.rule, rule != "")
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

// inWords translates rules, one per line, into the language of the user.
func inWords(rules string) string {
	lines := strings.Split(rules, "\n")
	for i, line := range lines {
		lines[i] = ruleLine(line)
	}
	return strings.Join(lines, "\n")
}

// ruleLine translates one rule. A rule on its own lacks the comma that ends it inside a sentence.
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

// chosen returns the text of the scope button and, beyond once, the rule that will be saved.
func (a *approvePage) chosen() (name, heading, rule string) {
	k := a.keep
	switch {
	case k.suggestion > 0:
		rule = a.body.Suggestions[k.suggestion-1]
		return a.suggestionName(), tr("Allow will also save this rule with the agent:"), rule
	case k.scope == policy.Once:
		return scopeName(k.scope), "", ""
	}
	name, rule = a.keepName(k), a.offer(k).Text
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

func shortList(parts []string) string {
	if len(parts) > 1 {
		return tr("{{.Count}} parts", values{"Count": len(parts)})
	}
	return shortText(parts[0], maxOnButton)
}

// stillKept returns the current choice, or once if it is no longer offered.
func (a *approvePage) stillKept() keep {
	if a.keep.suggestion == 0 && a.keep.scope != policy.Once && a.offer(a.keep).Text == "" {
		return keep{scope: policy.Once}
	}
	return a.keep
}

// maxRule is the largest height of a rule; a longer one scrolls.
const maxRule = 122

// atMost is a layout that limits the minimum height of its content.
type atMost struct{ height float32 }

func (l atMost) MinSize(o []fyne.CanvasObject) fyne.Size {
	size := o[0].MinSize()
	return fyne.NewSize(size.Width, min(size.Height, l.height))
}

func (l atMost) Layout(o []fyne.CanvasObject, size fyne.Size) { fixed{}.Layout(o, size) }
