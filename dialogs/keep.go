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

// maxGrantInput is the size of an input, in bytes, above which only "once" is offered, because no user reads that much.
const maxGrantInput = 10_000

// keep is what Allow saves in addition to this one answer.
type keep struct {
	scope      policy.Scope
	cover      policy.Cover // what it applies to, unless the scope is once
	suggestion int          // a rule suggested by the agent, from 1, in place of a wider scope; 0: none
}

// chooseScope opens the list of scopes: once, how long the sentence above them holds, and the rules that the agent
// suggests.
func (a *approvePage) chooseScope() {
	if !a.scopes.Visible() {
		return
	}
	var items []menuItem
	var last keep
	for _, k := range a.offered() {
		item := menuItem{text: a.keepName(k), small: a.smallPrint(k), marked: k == a.keep, do: func() { a.setKeep(k) }}
		isRoaming := k.scope == policy.Everywhere
		if isRoaming || k.cover != last.cover || k.suggestion > 0 && last.suggestion == 0 {
			item.parted, item.heading = true, a.heading(k)
		}
		items, last = append(items, item), k
	}
	if len(items) == 1 {
		items[0].small = tr("nothing broader is offered for this input")
	}
	a.w.openMenu(a.entry, a.scopes, items)
}

func (a *approvePage) heading(k keep) fyne.CanvasObject {
	sentence := a.allows(k)
	if sentence == "" {
		return nil
	}
	const most, widest = 3, 380
	text := Column(1, Tight(Lines(sentence, theme.SizeNameCaptionText, widget.LowImportance)))
	if k.cover == policy.CoverCommands {
		parts := a.newParts()
		for _, p := range parts[:min(len(parts), most)] {
			text.Add(newElided(prompt.SafeEnds(p), theme.ColorNameForeground, widest))
		}
		if more := len(parts) - most; more > 0 {
			text.Add(Words(tr("and {{.Count}} more", values{"Count": more}), theme.SizeNameCaptionText, ColorMuted))
		}
	}
	return container.New(layout.NewCustomPaddedLayout(4, 2, menuIndent, 10), text)
}

func (a *approvePage) allows(k keep) string {
	head := a.input.Head
	v := values{"Agent": head.Agent, "Project": head.Project, "Object": shortText(a.offer(k).Object),
		"Tool": shortText(a.body.Tool)}
	switch {
	case k.scope != policy.Everywhere:
	case k.cover == policy.CoverCommands:
		return tr("{{.Agent}} may run in any folder:", v)
	case k.cover == policy.CoverHost:
		return tr("{{.Agent}} may fetch any page on {{.Object}} with {{.Tool}} in any folder, wherever it redirects to:", v)
	case k.cover == policy.CoverTool:
		return tr("{{.Agent}} may call {{.Tool}} in any folder, whatever its input:", v)
	}
	switch k.cover {
	case policy.CoverCommands:
		return tr("{{.Agent}} may run in {{.Project}}:", v)
	case policy.CoverBuilds:
		return tr("{{.Agent}} may build, test, check and format {{.Project}}:", v)
	case policy.CoverGit:
		return tr("{{.Agent}} may commit, tag, switch branches, merge, pull and push in {{.Project}}, never by force:", v)
	case policy.CoverContainers:
		return tr("{{.Agent}} may build, start and stop the containers of {{.Project}}, and run commands in them:", v)
	case policy.CoverEdits:
		return tr("{{.Agent}} may edit files in {{.Project}}, but no settings, hooks or keys:", v)
	case policy.CoverHost:
		if a.body.Tool == policy.NetworkTool {
			return tr("Commands in the sandbox of {{.Project}} may reach {{.Object}}:", v)
		}
		return tr("{{.Agent}} may fetch any page on {{.Object}} with {{.Tool}}, wherever it redirects to:", v)
	case policy.CoverReads:
		return tr("{{.Agent}} may read below {{.Object}}, but no keys, passwords or tokens:", v)
	case policy.CoverTool:
		if !a.remote() && a.offer(keep{scope: policy.Always, cover: k.cover}).Text == "" {
			return tr("{{.Agent}} may call {{.Tool}}; not for always: it may delete things or run code", v)
		}
		return tr("{{.Agent}} may call {{.Tool}}, whatever its input:", v)
	case policy.CoverServer:
		return tr("{{.Agent}} may call any tool of {{.Object}} that neither deletes nor runs code:", v)
	case policy.CoverInput:
		return tr("{{.Agent}} may do exactly this:", v)
	}
	return ""
}

func (a *approvePage) newParts() []string {
	var texts []string
	for _, p := range a.parts {
		if p.State == policy.PartNew && !slices.Contains(texts, p.Text) {
			texts = append(texts, p.Text)
		}
	}
	return texts
}

func (a *approvePage) smallPrint(k keep) string {
	if k.suggestion > 0 {
		return prompt.PlainText(a.body.Suggestions[k.suggestion-1])
	}
	if k.scope == policy.Everywhere && k.cover == policy.CoverCommands {
		return tr("Including projects you don't know, whose own files may decide what it does.")
	}
	if k.cover == policy.CoverSandbox {
		return tr("No network unless you allow a host; your secrets and other projects stay out of sight. Agents may also " +
			"edit the project's files. You can take changes back.")
	}
	return ""
}

const maxObject = 40

func shortText(s string) string {
	if text := []rune(prompt.SafeEnds(s)); len(text) > maxObject {
		return string(text[:maxObject-1]) + "…"
	}
	return prompt.SafeEnds(s)
}

func (a *approvePage) keepName(k keep) string {
	switch {
	case k.suggestion > 0:
		return a.suggestionName()
	case k.cover == policy.CoverSandbox:
		return tr("Run this project's commands in a sandbox, without asking")
	}
	return scopeName(k.scope)
}

// mayKeep reports whether the user can read the input in full, since only then anything beyond once can be offered.
func (a *approvePage) mayKeep() bool {
	return len(a.body.Input) <= maxGrantInput && !a.input.HasHidden
}

func (a *approvePage) suggestionName() string {
	return tr("As {{.Agent}} suggests", values{"Agent": prompt.PlainText(a.entry.request.Requester.Agent)})
}

// spans lists the scopes between once and everywhere. An agent that names no session does not get the scope of the
// session. For another machine its relay saves the rules; permanent ones have to be written as rules here.
func (a *approvePage) spans() []policy.Scope {
	spans := policy.Scopes[1 : len(policy.Scopes)-1]
	if a.remote() {
		spans = spans[:len(spans)-1]
	}
	if a.entry.request.Requester.Session == "" {
		spans = spans[1:]
	}
	return spans
}

// offered lists the choices: once; the widest that the policy offers; for the shortest and the longest time all of a
// kind of work, all tools of a server, and exactly this input; what the agent suggests; and finally the widest in any
// folder.
func (a *approvePage) offered() []keep {
	all := []keep{{scope: policy.Once}}
	for _, cover := range policy.Covers {
		for _, scope := range a.spans() {
			k := keep{scope: scope, cover: cover}
			isWidest := len(all) == 1 || all[1].cover == cover
			isShort := (cover == policy.CoverInput || cover == policy.CoverServer || slices.Contains(policy.Works, cover)) &&
				(scope == a.spans()[0] || scope == policy.Always)
			if a.offers(k) && (isWidest || isShort) {
				all = append(all, k)
			}
		}
	}
	for i := range a.body.Suggestions {
		if a.mayKeep() {
			all = append(all, keep{scope: policy.Once, suggestion: i + 1})
		}
	}
	if k := (keep{scope: policy.Always, cover: policy.CoverSandbox}); a.offers(k) {
		all = append(all, k)
	}
	for _, cover := range policy.Covers {
		k := keep{scope: policy.Everywhere, cover: cover}
		if here := (keep{scope: policy.Always, cover: cover}); a.offers(k) && slices.Contains(all, here) {
			all = append(all, k)
		}
	}
	return all
}

// offers reports whether k is offered. Anything beyond once needs an input that can be read in full. Allowing all edits
// needs only an input without hidden characters, since later edits differ anyway.
func (a *approvePage) offers(k keep) bool {
	switch {
	case a.offer(k).Text == "":
		return false
	case k.scope == policy.Everywhere && (a.remote() || a.isRed()):
		return false
	case k.cover == policy.CoverEdits:
		return !a.input.HasHidden
	case k.cover == policy.CoverSandbox:
		return !a.remote() && !a.isRed()
	}
	return a.mayKeep()
}

func (a *approvePage) offer(k keep) policy.Offer {
	return a.w.p.options.Offers(a.entry.request.ID).Grant(k.scope, k.cover)
}

func scopeName(s policy.Scope) string {
	return cmp.Or(map[policy.Scope]string{
		policy.ThisSession: tr("This session"), policy.QuarterHour: tr("15 minutes"),
		policy.UntilQuit: tr("Until nod quits"), policy.Always: tr("Always"),
		policy.Everywhere: tr("Always, everywhere"),
	}[s], tr("Once"))
}

// fromRepeats is how often a call must have been allowed today for its prompt to offer to allow it always.
const fromRepeats = 2

// showMemory says that the user keeps allowing this call, and offers to allow it always: the parts of a command in the
// project, or exactly this input. Red calls are never offered.
func (a *approvePage) showMemory() {
	times := a.w.p.options.Offers(a.entry.request.ID).Allowed
	k := keep{scope: policy.Always, cover: policy.CoverCommands}
	always := tr("Always in {{.Project}}", values{"Project": a.input.Head.Project})
	if !a.offers(k) || a.input.Head.Project == "" {
		k.cover, always = policy.CoverInput, tr("Always allow this")
	}
	a.memory.Objects = nil
	if times >= fromRepeats && !a.isRed() && !a.isOnce() && a.offers(k) {
		says := tr("You allowed this twice today.")
		if times > fromRepeats {
			says = tr("You allowed this {{.Count}} times today.", values{"Count": times})
		}
		button := newLink(a.w, always, func() { a.setKeep(k) })
		a.memory.Add(Row(4, Words(says, theme.SizeNameCaptionText, ColorMuted), button))
	}
}

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
	a.showMemory()
	if rule != "" {
		if a.keep.suggestion == 0 {
			rule = inWords(rule)
		}
		a.ruleText = newSheet(prompt.Unnumbered("", rule, prompt.LineText), rule)
		a.ruleText.most = maxRule
		a.ruleText.attach(a.w, a.w.rearm)
		above := Lines(heading, theme.SizeNameCaptionText, widget.MediumImportance)
		a.rule.Add(Column(4, Tight(above), a.ruleText))
	}
	a.showRefusing()
}

func inWords(rules string) string {
	const bullet = "· "
	lines := strings.Split(rules, "\n")
	for i, line := range lines {
		what, isItem := strings.CutPrefix(line, bullet)
		if lines[i] = assets.Reason(what); isItem {
			lines[i] = bullet + lines[i]
		}
	}
	return strings.Join(lines, "\n")
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
	switch {
	case k.cover == policy.CoverSandbox:
		return tr("In a sandbox"), tr("Allow runs this command outside the sandbox. From the next one on, nod will:"), rule
	case a.remote():
		return name, tr("What Allow will save on {{.Machine}}, as it reports:", values{"Machine": a.input.Machine}), rule
	case strings.Contains(rule, "\n"):
		return name, tr("Allow will save these rules:"), rule
	}
	return name, tr("Allow will save this rule:"), rule
}

func (a *approvePage) stillKept() keep {
	if a.keep.suggestion == 0 && a.keep.scope != policy.Once && a.offer(a.keep).Text == "" {
		return keep{scope: policy.Once}
	}
	return a.keep
}

const maxRule = 122 // height of the text that Allow saves; a longer one scrolls
