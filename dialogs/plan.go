package dialogs

import (
	"fyne.io/fyne/v2"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/policy"
)

// planBlocks renders a plan as Markdown and, below it, shows the rest of the input exactly.
func planBlocks(w *window, c prompt.Content) fyne.CanvasObject {
	blocks := []fyne.CanvasObject{newMarkdown(w, c.Plan)}
	if c.Beside != "" {
		blocks = append(blocks, proseLabel(tr("with")), codeBlock(c.Beside))
	}
	return blocksColumn(blocks...)
}

// planEdits returns the button that approves a plan with its edits; nil if the agent does not offer that choice.
func (a *approvePage) planEdits() []fyne.CanvasObject {
	ask, pass, ok := prompt.PlanWays(a.body)
	if !ok {
		return nil
	}
	a.askForEdits, a.letEditsPass = ask+1, pass+1
	a.yes.setText(tr("Approve, ask for each edit"))
	hint := commandName() + "+Shift+Enter"
	a.alternative = newDecision(a.w, tr("Approve, allow edits"), hint, plainButton, a.w.affirmAlternative)
	a.alternative.chordOnly = hint
	return []fyne.CanvasObject{a.alternative}
}

func (a *approvePage) affirmAlternative() { a.carryOut(a.letEditsPass) }

func (a *approvePage) carryOut(suggestion int) {
	answer := a.answer(api.Allowed)
	answer.Scope, answer.Suggestion = policy.Once, suggestion
	a.w.finish(a.page, answer)
}
