package dialogs

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy"
	"nod/policy/shell"
)

type approvePage struct {
	*page
	body interact.Approve

	input  *inputView
	view   *fyne.Container     // holds the input, or all of it as JSON
	facts  *fyne.Container     // what nod derived from it: headlines, other facts, and dangerous parts
	rest   *brief              // the facts that are no headlines; nil for none
	jumps  []fyne.CanvasObject // the dangerous parts
	others *button             // shows the dangerous parts that are left out
	words  *brief              // the description of the agent, and why nod asks

	allJumps bool // all dangerous parts are shown

	parts    []policy.CommandPart // of a command line
	partList *fyne.Container      // shows them

	disclosure *button
	rawShown   bool
	keep       keep // what Allow saves
	scopes     *button
	rule       *fyne.Container // holds ruleText under a heading
	ruleText   *sheet          // what a wider scope will save; nil for once
	shownRule  string          // the text in it
	memory     *fyne.Container // says how often the user allowed this today; empty for nothing to say
	why        *button
	cancel     *button // leaves the field for the reason
	reason     *field

	alternative               *button // a second affirmative, of a plan; nil for none
	askForEdits, letEditsPass int     // with it, the agent's suggestions for both, from 1
}

func newApprovePage(p *page, b interact.Approve) {
	a := &approvePage{
		page: p, body: b, keep: keep{scope: policy.Once},
		view: container.NewStack(), facts: Column(5), partList: Column(0),
	}
	p.approval, p.kind = a, a
	a.disclosure = newLink(p.w, a.disclosureText(), a.toggleRaw)
	a.buildInput(p.entry.view())
	a.assemble(a.bodyObject(), a.footObject())
}

// remote reports whether the request comes from another machine, whose files and rules nod knows only from its report.
func (a *approvePage) remote() bool { return a.entry.request.Requester.IsRemote() }

// buildInput makes the view of the input. It is called again when a file that the view compares with has changed.
func (a *approvePage) buildInput(v prompt.View) {
	a.input = newInputView(a.w, v)
	a.input.block.attach(a.w, a.w.rearm)
	a.rawShown = false
	a.setText(a.input.block)
	a.showFacts()
	a.head.setColor(riskColor(a.entry.why.Class, a.input.AllFacts()))
	a.showParts(a.partsNow())
}

func (a *approvePage) partsNow() []policy.CommandPart {
	offers := a.w.p.options.Offers(a.entry.request.ID) // in any case, since an answer is to what was read last
	if len(a.body.Input) > maxGrantInput {
		return nil
	}
	return offers.Parts
}

func (a *approvePage) showParts(parts []policy.CommandPart) {
	a.parts, a.partList.Objects = parts, nil
	if list := partList(parts); list != nil {
		if who := a.input.Reporter; who != "" {
			list = Column(2, Words(who+":", theme.SizeNameCaptionText, ColorMuted), list)
		}
		a.partList.Add(Padded(3, 0, list))
	}
	SetVisible(a.partList, len(a.partList.Objects) > 0)
}

// renew updates the parts of an approval after an answer to another prompt, or a change of the rules.
func (p *page) renew() {
	a := p.approval
	if a == nil {
		return
	}
	if parts := a.partsNow(); !slices.Equal(parts, a.parts) {
		a.showParts(parts)
		a.setKeep(a.stillKept())
	}
}

func (a *approvePage) setText(b *sheet) {
	a.text = b
	a.view.Objects = []fyne.CanvasObject{b}
	a.view.Refresh()
}

// bodyObject returns, from the top: the facts, the exact input, its parts, the agent's description, why nod asks.
func (a *approvePage) bodyObject() fyne.CanvasObject {
	var parts []briefPart
	if a.input.Says != "" {
		parts = append(parts, labelled(a.input.SaysLabel, a.input.Says))
	}
	if why := a.input.WhyBeside(a.parts); why != "" {
		parts = append(parts, labelled(a.input.WhyLabel, why))
	}
	a.words = newBrief(a.w, parts...)
	a.words.end = a.disclosure
	a.words.object.Add(a.disclosure)
	facts, list := container.NewVScroll(a.facts), container.NewVScroll(a.partList)
	return container.New(approveLayout{a}, facts, a.view, list, a.words.object)
}

func labelled(label, text string) briefPart {
	return newBriefPart(Words(label, theme.SizeNameCaptionText, ColorMuted), text, widget.MediumImportance)
}

func (a *approvePage) setCompact(v bool) {
	facts, words := 2, 5
	if v {
		facts, words = 1, 1
	}
	if a.words.maxRows = words; a.rest != nil {
		a.rest.maxRows = facts
	}
	a.foldJumps()
	a.disclosure.setText(a.disclosureText())
}

func (a *approvePage) bodyHeight() float32 {
	height := float32(2 * bodyMargin)
	for _, h := range []float32{
		a.facts.MinSize().Height, a.text.(*sheet).text.wanted(), a.partList.MinSize().Height, a.words.object.MinSize().Height,
	} {
		if h > 0 {
			height += h + bodyGap
		}
	}
	return height - bodyGap
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
	a.why.hint = CommandName() + "+R"
	a.cancel = newButton(a.w, tr("Cancel"), a.w.escape)
	a.cancel.hint = tr("Esc")
	a.scopes = newButton(a.w, "", a.chooseScope)
	a.scopes.icon, a.scopes.trailing, a.scopes.hint = theme.IconNameArrowDropDown, true, CommandName()+"+S"
	a.yes = newDecision(a.w, labels.Yes, affirmativeHint(), strongButton, a.w.affirm)
	a.yes.danger = a.isRed()
	right := []fyne.CanvasObject{a.scopes, a.yes}
	if prompt.IsPlan(a.body) {
		right = slices.Insert(right, 1, a.planEdits()...)
	}
	a.rule, a.memory = container.NewStack(), container.NewStack()
	a.showScope()
	return &foot{
		above: []fyne.CanvasObject{a.memory, a.rule, a.reason},
		left:  []fyne.CanvasObject{a.no, a.why, a.cancel},
		right: right,
	}
}

func (a *approvePage) toggleRaw() {
	a.rawShown = !a.rawShown
	a.disclosure.setText(a.disclosureText())
	if a.rawShown {
		raw := newSheet(prompt.RawLines(a.body.Input), string(a.body.Input))
		raw.attach(a.w, nil)
		a.setText(raw)
	} else {
		a.setText(a.input.block)
	}
	a.w.changed()
}

func (a *approvePage) disclosureText() string {
	if a.rawShown {
		return tr("Back from JSON")
	}
	if a.compact {
		return tr("JSON")
	}
	return tr("Whole input (JSON)")
}

// isRed reports whether the call needs special care.
func (a *approvePage) isRed() bool {
	return a.input.HasHidden || riskColor(a.entry.why.Class, a.input.AllFacts()) == theme.ColorNameError
}

func (a *approvePage) openReason() {
	if !a.why.Visible() {
		return
	}
	a.refusing = true
	a.showRefusing()
	a.edited()
	a.w.changed()
	a.w.enter(a.reason)
}

// stepBack hides the field for the reason and reports whether it was open. The text in it stays, but is not sent.
func (a *approvePage) stepBack() bool {
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

func (a *approvePage) showRefusing() {
	labels := prompt.LabelsOf(a.body)
	a.no.text, a.no.hint, a.no.look = labels.No, negativeHint(), plainButton
	if a.refusing {
		a.no.text, a.no.hint, a.no.look = labels.Send, tr("Enter"), strongButton
	}
	a.no.Refresh()
	if a.alternative != nil {
		SetVisible(a.alternative, !a.refusing)
	}
	SetVisible(a.reason, a.refusing)
	SetVisible(a.why, !a.refusing && labels.Why != "")
	SetVisible(a.cancel, a.refusing)
	SetVisible(a.yes, !a.refusing)
	SetVisible(a.scopes, !a.refusing && !a.isOnce())
	SetVisible(a.rule, !a.refusing && a.shownRule != "")
	SetVisible(a.memory, !a.refusing && a.shownRule == "" && len(a.memory.Objects) > 0)
}

// isOnce reports whether the call can only be allowed once: a plan is carried out once, and no rule can open an address
// or overrule an agent's own check.
func (a *approvePage) isOnce() bool {
	return prompt.IsPlan(a.body) || a.body.Tool == interact.OpenURL || a.body.Refused
}

func (a *approvePage) refuse() {
	answer := a.answer(api.Denied)
	if a.refusing {
		answer.Reason = strings.TrimSpace(a.reason.Text)
	}
	a.w.finish(a.page, answer)
}

// affirm allows the call. If a file or the rule to save has changed since it was shown, it shows the change instead.
func (a *approvePage) affirm() {
	switch {
	case a.askForEdits > 0:
		a.carryOut(a.askForEdits)
		return
	case a.input.Stale():
		a.entry.said = nil
		a.buildInput(a.entry.view())
		a.w.changed()
		a.showNotice(tr("The file has changed. Look again."))
		return
	}
	if _, _, rule := a.chosen(); rule != a.shownRule {
		a.showParts(a.partsNow())
		a.setKeep(a.stillKept())
		a.showNotice(tr("What Allow will save has changed. Look again."))
		return
	}
	answer := a.answer(api.Allowed)
	answer.Scope, answer.Covers, answer.Suggestion = a.keep.scope, a.keep.cover, a.keep.suggestion
	a.w.finish(a.page, answer)
}

// answer starts an answer with the digest of the input that was shown.
func (a *approvePage) answer(o api.Outcome) interact.Answer {
	answer := userAnswer(o, "")
	answer.ShownSHA256 = interact.Digest(a.body.Input)
	return answer
}

// isRead records what is in view now, and reports whether the user has scrolled through the input of an approval and,
// if Allow saves one, the rule; or through what they are to confirm.
func (p *page) isRead() bool {
	a := p.approval
	if a == nil {
		p.messageRead = p.messageRead || p.message == nil || p.message.isAtEnd()
		return p.messageRead
	}
	a.input.block.noteSeen()
	if a.ruleText != nil {
		a.ruleText.noteSeen()
	}
	return a.input.block.read && (a.ruleText == nil || a.ruleText.read)
}

// The measures of a body. When the input needs more room, its parts get at most maxParts of the body; below leastParts,
// or in a small window, they are hidden.
const (
	bodyMargin        = 10
	bodyGap, tightGap = 8, 5 // tightGap is for small windows
	leastInput        = 110
	leastRow          = 34
	maxParts          = 0.35
	leastParts        = 28
)

// The indices of the objects in a body.
const (
	factsIndex = iota
	inputIndex
	partsIndex
	wordsIndex
)

// approveLayout places facts, input, the parts of a command, and the small print from top to bottom. The
// input takes the remaining height; if that is too little, the parts scroll.
type approveLayout struct{ a *approvePage }

func (approveLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (l approveLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	input, parts := o[inputIndex], o[partsIndex].(*container.Scroll)
	if l.a.rest != nil {
		l.a.rest.object.Show()
	}
	margin, gap := float32(bodyMargin), float32(bodyGap)
	if l.a.compact {
		margin, gap = tightGap, tightGap
	}
	width := size.Width - 2*sideMargin
	y, bottom := l.around(o, width, margin, gap, size.Height-margin)
	if l.a.compact && bottom-y < leastInput && l.a.hideNotes() {
		y, bottom = l.around(o, width, margin, gap, size.Height-margin)
	}

	room := max(bottom-y, 0)
	wanted := resizeToWidth(parts.Content, width)
	text := l.a.text.(*sheet)
	l.a.w.offscreen(func() { resizeToWidth(input, width) })
	needs := text.text.wanted()
	low := min(wanted, max(room*maxParts, room-needs-gap))
	least := min(leastInput, needs-1)
	if l.a.compact {
		least = needs - 1
	}
	if wanted == 0 || low < min(wanted, leastParts) || room-low-gap < least {
		low = 0
	}
	setBounds(parts, sideMargin, bottom-low, fyne.NewSize(width, low))
	parts.Refresh()
	if low > 0 {
		bottom -= low + gap
	}
	setBounds(input, sideMargin, y, fyne.NewSize(width, max(bottom-y, 0)))
	text.scrollBack()
}

// hideNotes hides the facts that are not headlines if none of them needs attention, and reports whether it did.
func (a *approvePage) hideNotes() bool {
	_, rest := a.input.Said()
	for _, group := range rest {
		if prompt.Worst(group.Facts) > shell.Note {
			return false
		}
	}
	if len(rest) == 0 {
		return false
	}
	a.rest.object.Hide()
	return true
}

// around places the facts from y on, which scroll if they leave no room for the input, and the small print at bottom.
// It returns the remaining range.
func (l approveLayout) around(o []fyne.CanvasObject, width, y, gap, bottom float32) (top, end float32) {
	words := o[wordsIndex]
	bottom -= resizeToWidth(words, width)
	words.Move(fyne.NewPos(sideMargin, bottom))
	bottom -= gap
	height := min(resizeToWidth(l.a.facts, width), max(bottom-y-gap-leastRow, leastParts))
	setBounds(o[factsIndex], sideMargin, y, fyne.NewSize(width, height))
	if height > 0 {
		y += height + gap
	}
	return y, bottom
}

// planBlocks renders a plan as Markdown and, below it, shows the rest of the input exactly.
func planBlocks(w *window, c prompt.Content) fyne.CanvasObject {
	blocks := []fyne.CanvasObject{newMarkdown(w, c.Plan)}
	if c.Beside != "" {
		blocks = append(blocks, proseLabel(tr("with")), codeBlock(c.Beside))
	}
	return blocksColumn(blocks...)
}

// planEdits returns the button that approves a plan with its edits, or nil if the agent does not offer that choice.
func (a *approvePage) planEdits() []fyne.CanvasObject {
	ask, pass, ok := prompt.PlanWays(a.body)
	if !ok {
		return nil
	}
	a.askForEdits, a.letEditsPass = ask+1, pass+1
	a.yes.setText(tr("Approve, ask for each edit"))
	hint := CommandName() + "+Shift+Enter"
	a.alternative = newDecision(a.w, tr("Approve, allow edits"), hint, plainButton, a.w.affirmAlternative)
	a.alternative.chordOnly = hint
	return []fyne.CanvasObject{a.alternative}
}

func (a *approvePage) carryOut(suggestion int) {
	answer := a.answer(api.Allowed)
	answer.Scope, answer.Suggestion = policy.Once, suggestion
	a.w.finish(a.page, answer)
}
