package dialogs

import (
	"fyne.io/fyne/v2"

	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy"
)

// planBlocks draws a plan as it is meant to be read, and under it, exactly, what else the input holds.
func planBlocks(w *window, c prompt.Content) fyne.CanvasObject {
	blocks := []fyne.CanvasObject{newMarkdown(w, c.Plan)}
	if c.Beside != "" {
		blocks = append(blocks, proseLabel(tr("with")), codeBlock(c.Beside))
	}
	return blocksColumn(blocks...)
}

// planEdits is the button that approves a plan and lets the edits that it takes pass, beside the one that has the agent
// ask for each: where the agent can do both, approving says which.
func (a *approvePage) planEdits() []fyne.CanvasObject {
	ask, pass, ok := prompt.PlanWays(a.body)
	if !ok {
		return nil
	}
	carryOut := func(suggestion int) func() {
		return func() {
			answer := a.answer(interact.Allowed)
			answer.Scope, answer.Suggestion = policy.Once, suggestion+1
			a.w.finish(a.page, answer)
		}
	}
	a.yes.setText(tr("Approve, ask for each edit"))
	a.page.affirm, a.affirmOtherwise = carryOut(ask), carryOut(pass)
	hint := commandName() + "+Shift+Enter"
	a.otherwise = newDecision(a.w, tr("Approve, let edits pass"), hint, plainButton, a.w.affirmOtherwise)
	a.otherwise.chordOnly = hint
	return []fyne.CanvasObject{a.otherwise}
}
