package dialogs

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/assets"
	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy"
)

// approvePage asks leave for one tool call.
type approvePage struct {
	*page
	body interact.Approve

	input  *inputView
	view   *fyne.Container // holds the input, or the whole of it as JSON
	facts  *fyne.Container // what nod worked out from it: badges, and dangerous parts
	badges *fyne.Container
	rows   *factRows           // the layout of that
	jumps  []fyne.CanvasObject // the dangerous parts
	others *button             // opens those that are left out
	banner *fyne.Container     // holds the input's warnings
	warns  *brief              // shows them; nil when there are none
	words  *brief              // what the agent says, and why the person is asked

	allJumps bool // all dangerous parts are shown

	parts    []policy.CommandPart // of a command line
	partList *fyne.Container      // shows them

	disclosure *button
	rawShown   bool
	keep       keep // what an allow keeps
	scopes     *button
	rule       *fyne.Container // holds ruleText under a heading
	ruleText   *sheet          // what a wider scope will save; nil for once
	shownRule  string          // the text in it
	why        *button
	reason     *field
}

func newApprovePage(w *window, e *entry, h *head, b interact.Approve) *page {
	a := &approvePage{
		page: newPage(e, w, h), body: b, keep: keep{scope: policy.Once},
		view: container.NewStack(), banner: Column(0), facts: Column(5), partList: Column(0),
	}
	a.badges, a.rows = newFactRows(w)
	a.page.affirm, a.page.refuse, a.page.unwind = a.allow, a.deny, a.closeReason
	a.page.scope = a.nextScope
	a.page.wanted, a.page.renew = a.wantedHeight, a.renew
	a.page.look, a.page.read = a.lookAtAll, a.isRead
	a.page.unread = func() int { return a.input.block.unread }
	a.page.said, a.page.choice, a.page.choose = a.saidOf, a.draftChoice, a.choose
	a.page.wantedWidth, a.page.compactBody = a.wantedWidth, a.setCompact
	a.disclosure = newButton(w, a.disclosureText(), a.toggleRaw)
	a.disclosure.look = linkButton
	a.look()
	a.assemble(a.bodyObject(), a.footObject())
	return a.page
}

// remote reports whether another machine asks, whose word is all that is known of its files and its relay's rules.
func (a *approvePage) remote() bool { return a.entry.request.Requester.IsRemote() }

// machine names it, for a sentence.
func (a *approvePage) machine() values {
	return values{"Machine": prompt.MachineName(a.entry.request.Requester.Machine)}
}

// look makes the view of the input, afresh when a file that it compares with has changed.
func (a *approvePage) look() {
	a.input = newInputView(a.w, a.entry.request)
	a.input.block.attach(a.w, a.w.rearm)
	a.rawShown = false
	a.put(a.input.block)
	a.warns, a.banner.Objects = nil, nil
	if len(a.input.Warnings) > 0 {
		a.warns = newWarnings(a.w, a.input.Warnings)
		a.banner.Objects = []fyne.CanvasObject{newTint(theme.ColorNameError, 0x1c, 8, Padded(4, 8, a.warns.object))}
	}
	a.showFacts()
	a.head.setColor(riskColor(a.entry.why.Class, a.input.AllFacts()))
	a.showParts(a.partsNow())
}

func (a *approvePage) partsNow() []policy.CommandPart {
	if len(a.body.Input) > maxGrantInput {
		return nil
	}
	return a.w.p.options.Offers(a.entry.request.ID).Parts
}

func (a *approvePage) showParts(parts []policy.CommandPart) {
	a.parts, a.partList.Objects = parts, nil
	if list := Parts(parts); list != nil {
		if a.remote() {
			said := prompt.ReportedBy(a.entry.request.Requester) + ":"
			list = Column(2, newWords(said, theme.SizeNameCaptionText, ColorMuted), list)
		}
		a.partList.Add(Padded(3, 0, list))
	}
	setVisible(a.partList, len(a.partList.Objects) > 0)
}

// renew shows what an answer to another prompt, or a new rule, has made of the parts.
func (a *approvePage) renew() {
	if parts := a.partsNow(); !slices.Equal(parts, a.parts) {
		a.showParts(parts)
		a.setKeep(a.stillKept())
	}
}

// put makes b the text of the prompt, which has the focus.
func (a *approvePage) put(b *sheet) {
	a.text = b
	a.view.Objects = []fyne.CanvasObject{b}
	a.view.Refresh()
}

func newWarnings(w *window, warnings []string) *brief {
	var parts []briefPart
	for _, text := range warnings {
		icon := widget.NewIcon(theme.NewColoredResource(theme.WarningIcon(), theme.ColorNameError))
		parts = append(parts, newBriefPart(container.New(fixed{width: 16, height: 16}, icon), text, widget.DangerImportance))
	}
	return newBrief(w, parts...)
}

// bodyObject is what nod worked out, under it the exact input, then what the agent says and why the person is asked.
func (a *approvePage) bodyObject() fyne.CanvasObject {
	var parts []briefPart
	if says := a.agentSays(); says != "" {
		parts = append(parts, labelled(tr("agent says:"), says))
	}
	why := prompt.WhyLabel(a.entry.request.Requester)
	parts = append(parts, labelled(why, prompt.PlainText(assets.Reason(a.entry.why.Reason))))
	a.words = newBrief(a.w, parts...)
	a.words.end = a.disclosure
	a.words.object.Add(a.disclosure)
	return container.New(approveLayout{a}, a.facts, a.banner, a.view, container.NewVScroll(a.partList), a.words.object)
}

func (a *approvePage) agentSays() string {
	if a.body.Description != "" {
		return prompt.PlainText(a.body.Description)
	}
	return prompt.PlainText(a.input.AgentSays)
}

// labelled is one of nod's own labels, and beside it text from elsewhere.
func labelled(label, text string) briefPart {
	return newBriefPart(newWords(label, theme.SizeNameCaptionText, ColorMuted), text, widget.MediumImportance)
}

// setCompact leaves one row to each of what stands around the input.
func (a *approvePage) setCompact(v bool) {
	facts, warnings, words := 3, 6, 5
	if v {
		facts, warnings, words = 1, 1, 1
	}
	a.rows.most, a.words.most = facts, words
	a.foldJumps()
	a.disclosure.setText(a.disclosureText())
	if a.warns != nil {
		a.warns.most = warnings
	}
}

// wantedHeight is the height of the body at which the whole input is in view.
func (a *approvePage) wantedHeight(width float32) float32 {
	body := a.object.(*fyne.Container).Objects[0].(*fyne.Container)
	height := float32(2 * bodyMargin)
	for i, o := range body.Objects {
		h := o.MinSize().Height
		switch i {
		case inputIndex:
			h = a.text.(*sheet).text.wanted()
		case partsIndex:
			h = a.partList.MinSize().Height
		}
		if h > 0 {
			height += h + bodyGap
		}
	}
	return height - bodyGap
}

// wantedWidth is the width of the page at which no line of the input is broken.
func (a *approvePage) wantedWidth() float32 {
	return a.input.block.text.natural() + 2*sideMargin
}

func (a *approvePage) footObject() *foot {
	labels := prompt.LabelsOf(a.body)
	a.reason = newField(a.w, labels.Placeholder, true)
	a.reason.SetMinRowsVisible(2)
	a.reason.onEnter(a.w.refuse)
	a.reason.OnChanged = func(string) { a.edited() }
	a.inputs[""] = a.reason
	a.reason.Hide()
	a.no = newDecision(a.w, "", "", plainButton, a.w.refuse)
	a.why = newButton(a.w, labels.Why, a.openReason)
	a.scopes = newButton(a.w, "", a.chooseScope)
	a.scopes.icon, a.scopes.trailing, a.scopes.hint = theme.IconNameArrowDropDown, true, commandName()+"+S"
	a.yes = newDecision(a.w, labels.Yes, affirmativeHint(), strongButton, a.w.affirm)
	right := []fyne.CanvasObject{a.scopes, a.yes}
	if prompt.IsPlan(a.body) {
		right = slices.Insert(right, 1, a.planEdits()...)
	}
	a.rule = container.NewStack()
	a.showScope()
	a.showRefusing()
	return &foot{
		above: []fyne.CanvasObject{a.rule, a.reason},
		left:  []fyne.CanvasObject{a.no, a.why},
		right: right,
	}
}

// toggleRaw shows the whole input as JSON in place of the view of it, or goes back.
func (a *approvePage) toggleRaw() {
	a.rawShown = !a.rawShown
	a.disclosure.setText(a.disclosureText())
	if a.rawShown {
		raw := newRawView(a.body.Input)
		raw.attach(a.w, nil)
		a.put(raw)
	} else {
		a.put(a.input.block)
	}
	a.w.changed()
}

func (a *approvePage) disclosureText() string {
	if a.rawShown {
		return tr("Back from the JSON")
	}
	if a.compact {
		return tr("JSON")
	}
	return tr("Whole input (JSON)")
}

// openReason opens the field for the reason.
func (a *approvePage) openReason() {
	a.refusing = true
	a.showRefusing()
	a.edited()
	a.w.changed()
	a.w.enter(a.reason)
}

// closeReason closes it again. What was typed stays, but is not sent.
func (a *approvePage) closeReason() bool {
	if !a.refusing {
		return false
	}
	a.refusing = false
	a.showRefusing()
	a.edited()
	a.w.fit()
	a.w.focus(a.text)
	return true
}

// showRefusing shows the field for the reason and what sends it in place of all that allows, or the other way round.
func (a *approvePage) showRefusing() {
	labels := prompt.LabelsOf(a.body)
	a.no.text, a.no.hint, a.no.look = labels.No, negativeHint(), plainButton
	if a.refusing {
		a.no.text, a.no.hint, a.no.look = labels.Send, tr("Enter"), strongButton
	}
	a.no.Refresh()
	// A plan is carried out once, no rule opens an address, and none overrules an agent's own check.
	isOnce := prompt.IsPlan(a.body) || a.body.Tool == interact.OpenURL || a.body.Refused
	if isOnce {
		a.page.scope = nil
	}
	if a.otherwise != nil {
		setVisible(a.otherwise, !a.refusing)
	}
	setVisible(a.reason, a.refusing)
	setVisible(a.why, !a.refusing && labels.Why != "")
	setVisible(a.yes, !a.refusing)
	setVisible(a.scopes, !a.refusing && !isOnce)
	setVisible(a.rule, !a.refusing && a.shownRule != "")
}

func (a *approvePage) deny() {
	answer := a.answer(interact.Denied)
	if a.refusing {
		answer.Reason = strings.TrimSpace(a.reason.Text)
	}
	a.w.finish(a.page, answer)
}

// allow allows the call, unless what the human saw is no longer what would happen.
func (a *approvePage) allow() {
	if a.input.Stale() {
		a.look()
		a.w.changed()
		a.tell(tr("The file has changed meanwhile: look again."))
		return
	}
	if _, _, rule := a.chosen(); rule != a.shownRule {
		a.showParts(a.partsNow())
		a.setKeep(a.stillKept())
		a.tell(tr("What Allow will save has changed meanwhile: look again."))
		return
	}
	answer := a.answer(interact.Allowed)
	answer.Scope, answer.Covers, answer.Suggestion = a.keep.scope, a.keep.cover, a.keep.suggestion
	a.w.finish(a.page, answer)
}

// answer is the start of an answer. It says which bytes were shown.
func (a *approvePage) answer(o interact.Outcome) interact.Answer {
	answer := human(o, "")
	answer.ShownSHA256 = interact.Digest(a.body.Input)
	return answer
}

// lookAtAll takes note of what is in view.
func (a *approvePage) lookAtAll() {
	a.input.block.noteSeen()
	if a.ruleText != nil {
		a.ruleText.noteSeen()
	}
}

// isRead reports whether the input, and the rule if one will be saved, has been read as far as it must be.
func (a *approvePage) isRead() bool {
	return a.input.block.read && (a.ruleText == nil || a.ruleText.read)
}

// The distances in a body, and between its parts when there is little room.
const (
	bodyMargin        = 10
	bodyGap, tightGap = 8, 5
)

// Of the parts of a command, which stand under it: the share of the body that they take at most when the input wants
// more room than there is, and the height below which they go.
const (
	inputIndex = 2
	partsIndex = 3
	maxParts   = 0.35
	leastParts = 28
)

// leastInput is the height of the input, some rows and its foot, which the parts leave to it.
const leastInput = 76

// approveLayout is facts, warnings, input, the parts of a command, and the small print from top to bottom. The input
// takes the room that is left; where that is short, the parts scroll.
type approveLayout struct{ a *approvePage }

// leastRow is the height of an input of which one row is in view. Where it would get less, the warnings and the small
// print show only the first of each.
const leastRow = 34

func (approveLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (l approveLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	input, parts := o[inputIndex], o[partsIndex].(*container.Scroll)
	l.a.showAll(true)
	margin, gap := float32(bodyMargin), float32(bodyGap)
	if l.a.compact {
		margin, gap = tightGap, tightGap
	}
	width := size.Width - 2*sideMargin
	y, bottom := l.around(o, width, margin, gap, size.Height-margin)
	if l.a.compact && bottom-y < leastRow {
		l.a.showAll(false)
		y, bottom = l.around(o, width, margin, gap, size.Height-margin)
	}

	room := max(bottom-y, 0)
	wanted := resizeToWidth(parts.Content, width)
	var needs float32
	l.a.w.unseen(func() {
		resizeToWidth(input, width)
		needs = l.a.text.(*sheet).text.wanted()
	})
	low := min(wanted, max(room*maxParts, room-needs-gap))
	if wanted == 0 || low < min(wanted, leastParts) || room-low-gap < min(leastInput, needs-1) {
		low = 0
	}
	parts.Move(fyne.NewPos(sideMargin, bottom-low))
	parts.Resize(fyne.NewSize(width, low))
	parts.Refresh()
	if low > 0 {
		bottom -= low + gap
	}
	input.Move(fyne.NewPos(sideMargin, y))
	input.Resize(fyne.NewSize(width, max(bottom-y, 0)))
}

// showAll has the warnings and the small print show all of their parts, or the first of each and what opens the others.
func (a *approvePage) showAll(v bool) {
	a.words.first = !v
	if a.warns != nil {
		a.warns.first = !v
	}
}

// around places what stands above the input, from y on, and what stands under it, and returns the room that is left.
func (l approveLayout) around(o []fyne.CanvasObject, width, y, gap, bottom float32) (top, end float32) {
	for _, above := range o[:inputIndex] {
		if h := resizeToWidth(above, width); h > 0 {
			above.Move(fyne.NewPos(sideMargin, y))
			y += h + gap
		}
	}
	words := o[partsIndex+1]
	bottom -= resizeToWidth(words, width)
	words.Move(fyne.NewPos(sideMargin, bottom))
	return y, bottom - gap
}
