package dialogs

import "nod/dialogs/prompt"

// inputView is the main block of an approval: what the tool call would do, from its exact input.
type inputView struct {
	block *sheet // shows it, and tracks how much of it has been in view
	prompt.View
}

func newInputView(w *window, said prompt.View) *inputView {
	v := &inputView{View: said}
	if v.Plan != "" {
		v.block = newProse(planBlocks(w, v.Content))
		return v
	}
	v.block = newSheet(v.Lines, v.Original)
	v.block.capped = v.TooLong
	if v.Must > 0 && !v.TooLong {
		v.block.mustRead = v.Must
	}
	return v
}
