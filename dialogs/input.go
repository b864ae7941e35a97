package dialogs

import (
	"nod/dialogs/prompt"
	"nod/interact"
)

// inputView is the main block of an approval: what the tool call would do, from its exact input.
type inputView struct {
	block *sheet // shows it, and tracks how much of it has been in view
	prompt.Content
}

func newInputView(w *window, r interact.Request) *inputView {
	v := &inputView{Content: prompt.Assess(r)}
	if v.Plan != "" {
		v.block = newProse(planBlocks(w, v.Content))
		v.Content = v.Noted(v.Lines, false)
		return v
	}
	v.block = newSheet(v.Lines, v.Original)
	if v.Must > 0 && !v.block.capped {
		v.block.mustRead = v.Must
	}
	v.Content = v.Noted(v.block.lines, v.block.capped)
	return v
}
