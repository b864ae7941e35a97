package dialogs

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/interact"
	"nod/policy"
)

// approvePage asks leave for one tool call.
type approvePage struct {
	*page
	body interact.Approve

	input  *inputView
	view   *fyne.Container // holds the input, or the whole of it as JSON
	banner *fyne.Container // the input's warnings
	facts  *fyne.Container // what nod worked out from it

	factsOpen bool // all of that is shown

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
		view: container.NewStack(), banner: Column(6), facts: Column(5), partList: Column(0),
	}
	a.page.affirm, a.page.refuse, a.page.unwind = a.allow, a.deny, a.closeReason
	a.page.scope = a.nextScope
	a.page.wanted, a.page.renew = a.wantedHeight, a.renew
	a.page.look, a.page.read = a.lookAtAll, a.isRead
	a.page.unread = func() int { return a.input.block.unread }
	a.look()
	a.assemble(a.bodyObject(), a.footObject())
	return a.page
}

// look makes the view of the input, afresh when a file that it compares with has changed.
func (a *approvePage) look() {
	a.input = newInputView(a.body, a.entry.request.Requester)
	a.input.block.attach(a.w, a.w.rearm)
	a.rawShown = false
	a.put(a.input.block)
	a.banner.Objects = nil
	for _, s := range a.input.warnings {
		a.banner.Add(newBanner(s))
	}
	a.showFacts()
	a.head.setColor(riskColor(a.entry.why.Class, a.input.facts))
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

func newBanner(s string) fyne.CanvasObject {
	icon := widget.NewIcon(theme.NewColoredResource(theme.WarningIcon(), theme.ColorNameError))
	text := Lines(s, theme.SizeNameText, widget.DangerImportance)
	line := beside(container.New(fixed{width: 20, height: 20}, icon), 8, Tight(text))
	return newTint(theme.ColorNameError, 0x1c, 8, Padded(8, 10, line))
}

// bodyObject is the exact input, and under it what nod worked out and what the agent says.
func (a *approvePage) bodyObject() fyne.CanvasObject {
	details := Column(5, a.facts, a.partList)
	if says := a.agentSays(); says != "" {
		details.Add(labelled(tr("agent says:"), says))
	}
	details.Add(labelled(tr("asking because:"), plainText(a.entry.why.Reason)))
	return container.New(approveLayout{a}, a.banner, a.view, container.NewVScroll(details))
}

func (a *approvePage) agentSays() string {
	if a.body.Description != "" {
		return plainText(a.body.Description)
	}
	return plainText(a.input.agentSays)
}

// labelled is one of nod's own labels, and beside it text from elsewhere.
func labelled(label, text string) fyne.CanvasObject {
	l := Lines(text, theme.SizeNameCaptionText, widget.MediumImportance)
	return beside(newWords(label, theme.SizeNameCaptionText, ColorMuted), 6, Tight(l))
}

// wantedHeight is the height of the body at which the whole input is in view.
func (a *approvePage) wantedHeight(width float32) float32 {
	body := a.object.(*fyne.Container).Objects[0].(*fyne.Container)
	height := a.view.Objects[0].MinSize().Height
	if b := body.Objects[0].MinSize().Height; b > 0 {
		height += b + bodyGap
	}
	return height + bodyGap + detailsOf(body).MinSize().Height + 2*bodyMargin
}

func (a *approvePage) footObject() *foot {
	a.disclosure = newIconButton(a.w, tr("Whole input (JSON)"), theme.IconNameMenuExpand, a.toggleRaw)
	labels := labelsOf(a.body)
	a.reason = newField(a.w, labels.placeholder, true)
	a.reason.SetMinRowsVisible(2)
	a.reason.onEnter(a.w.refuse)
	a.reason.Hide()
	a.no = newDecision(a.w, "", "", plainButton, a.w.refuse)
	a.why = newButton(a.w, labels.why, a.openReason)
	a.scopes = newButton(a.w, "", a.chooseScope)
	a.scopes.icon, a.scopes.trailing, a.scopes.hint = theme.IconNameArrowDropDown, true, commandName()+"+S"
	a.yes = newDecision(a.w, labels.yes, affirmativeHint(), strongButton, a.w.affirm)
	right := []fyne.CanvasObject{a.scopes, a.yes}
	if isPlan(a.body) {
		right = slices.Insert(right, 1, a.planEdits()...)
	}
	a.rule = container.NewStack()
	a.showScope()
	a.showRefusing()
	outdent := layout.NewCustomPaddedLayout(-4, 0, -10, 0) // its text in line with what is below
	return &foot{
		split:      true,
		disclosure: []fyne.CanvasObject{container.New(outdent, a.disclosure)},
		above:      []fyne.CanvasObject{a.rule, a.reason},
		left:       []fyne.CanvasObject{a.no, a.why},
		right:      right,
	}
}

// approveLabels is what the buttons say.
type approveLabels struct{ yes, no, why, send, placeholder string }

func labelsOf(a interact.Approve) approveLabels {
	if isPlan(a) {
		return approveLabels{
			yes: tr("Approve plan"), no: tr("Keep planning"), why: tr("Keep planning with feedback…"),
			send: tr("Keep planning with this feedback"), placeholder: tr("What to change? The agent reads this."),
		}
	}
	return approveLabels{
		yes: tr("Allow"), no: tr("Deny"), why: tr("Deny with reason…"),
		send: tr("Deny with this reason"), placeholder: tr("Why not? The agent reads this."),
	}
}

// toggleRaw shows the whole input as JSON in place of the view of it, or goes back.
func (a *approvePage) toggleRaw() {
	a.rawShown = !a.rawShown
	a.disclosure.icon = theme.IconNameMenuExpand
	if a.rawShown {
		a.disclosure.icon = theme.IconNameArrowDropDown
		raw := newRawView(a.body.Input)
		raw.attach(a.w, nil)
		a.put(raw)
	} else {
		a.put(a.input.block)
	}
	a.disclosure.Refresh()
	a.w.changed()
}

// openReason opens the field for the reason.
func (a *approvePage) openReason() {
	a.refusing = true
	a.showRefusing()
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
	a.w.fit()
	a.w.focus(a.text)
	return true
}

// showRefusing shows the field for the reason and what sends it in place of all that allows, or the other way round.
func (a *approvePage) showRefusing() {
	labels := labelsOf(a.body)
	a.no.text, a.no.hint, a.no.look = labels.no, negativeHint(), plainButton
	if a.refusing {
		a.no.text, a.no.hint, a.no.look = labels.send, tr("Enter"), strongButton
	}
	a.no.Refresh()
	isOnce := isPlan(a.body) || a.body.Tool == interact.OpenURL // carried out once, and no rule opens an address
	if isOnce {
		a.page.scope = nil
	}
	if a.otherwise != nil {
		setVisible(a.otherwise, !a.refusing)
	}
	setVisible(a.reason, a.refusing)
	setVisible(a.why, !a.refusing)
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
	if a.input.stale() {
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

// The distances in a body, and when there is little room.
const (
	bodyMargin, tightMargin = 18, 8
	bodyGap, tightGap       = 10, 6
)

// maxDetails is the part of the body that details may take when the input wants more room than there is.
const maxDetails, tightDetails = 0.45, 0.25

// leastInput is the height of the input, some rows and its foot, below which the details go altogether.
const leastInput = 76

// approveLayout is banner, input, details from top to bottom. The input takes the room that is left; where
// room is short, the details scroll.
type approveLayout struct{ a *approvePage }

func (approveLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (l approveLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	banner, input, details := o[0], o[1], o[2]
	margin, gap, share := float32(bodyMargin), float32(bodyGap), float32(maxDetails)
	if l.a.compact {
		margin, gap, share = tightMargin, tightGap, tightDetails
	}
	width := size.Width - 2*margin
	y, bottom := margin, size.Height-margin

	if h := resizeToWidth(banner, width); h > 0 {
		banner.Move(fyne.NewPos(margin, y))
		y += h + gap
	}
	room := max(bottom-y-gap, 0)
	wanted := resizeToWidth(details.(*container.Scroll).Content, width)
	var needs float32
	l.a.w.unseen(func() { needs = resizeToWidth(input, width) })
	low := min(wanted, max(room*share, room-needs))
	if room-low < min(leastInput, needs-1) {
		low = 0
	}
	details.Move(fyne.NewPos(margin, bottom-low))
	details.Resize(fyne.NewSize(width, low))
	details.Refresh()
	input.Move(fyne.NewPos(margin, y))
	input.Resize(fyne.NewSize(width, max(bottom-low-gap-y, 0)))
}

// detailsOf is the content of the details in a body laid out by approveLayout.
func detailsOf(body *fyne.Container) fyne.CanvasObject {
	return body.Objects[2].(*container.Scroll).Content
}
