package dialogs

import (
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"nod/interact"
	"nod/policy"
)

// exitPlanMode is the tool with which Claude Code asks whether to carry out a plan.
const exitPlanMode = interact.ExitPlanMode

// isPlan reports whether a asks to carry out a plan that can be shown as one.
func isPlan(a interact.Approve) bool {
	if a.Tool != exitPlanMode {
		return false
	}
	args, err := parseArguments(a.Input)
	_, ok := planOf(a, args)
	return err == nil && ok
}

func planOf(a interact.Approve, args arguments) (plan string, ok bool) {
	_, plan, ok = args.text("plan")
	return plan, ok && a.Tool == exitPlanMode && strings.TrimSpace(plan) != "" && len(a.Input) <= maxMarkdownBytes
}

// planContent shows a plan as it is meant to be read, and under it, exactly, what else the input holds.
func planContent(a interact.Approve, args arguments, _ string) (content, bool) {
	plan, ok := planOf(a, args)
	if !ok {
		return content{}, false
	}
	c := content{lines: fieldLines(args), original: plan, facts: []fact{sizeFact(plan)}}
	blocks := []fyne.CanvasObject{newMarkdown(plan)}
	if rest := args.without("plan"); len(rest) > 0 {
		var fields strings.Builder
		for _, field := range rest {
			text, _ := field.value()
			fmt.Fprintf(&fields, "%s: %s\n", field.key, text)
		}
		blocks = append(blocks, proseLabel(tr("with")), codeBlock(fields.String()))
	}
	c.plan = blocksColumn(blocks...)
	return c, true
}

// planEdits is the button that approves a plan and lets the edits that it takes pass, beside the one that has the agent
// ask for each: where the agent can do both, approving says which.
func (a *approvePage) planEdits() []fyne.CanvasObject {
	ask := slices.Index(a.body.Suggestions, interact.AskForEdits)
	pass := slices.Index(a.body.Suggestions, interact.LetEditsPass)
	if ask < 0 || pass < 0 {
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
