package dialogs

import (
	"fyne.io/fyne/v2"

	"nod/interact"
)

// inputView is the primary block of an approval: the exact input of the tool call.
type inputView struct {
	object   fyne.CanvasObject
	warnings []string
	facts    []fact
	onSeen   func()
}

func newInputView(a interact.Approve, cwd string) *inputView {
	return &inputView{object: newRawView(a.Input)}
}

// Object is what to put into the window.
func (v *inputView) Object() fyne.CanvasObject { return v.object }

// AllSeen reports whether the whole input has been in view.
func (v *inputView) AllSeen() bool { return true }

// OnSeen sets what is called, once, when the whole input has been in view.
func (v *inputView) OnSeen(f func()) { v.onSeen = f }

// Warnings are sentences to show above the input.
func (v *inputView) Warnings() []string { return v.warnings }

// Facts are what nod worked out from the input.
func (v *inputView) Facts() []fact { return v.facts }

// Stale reports whether a file that the view was made from has changed since.
func (v *inputView) Stale() bool { return false }

// AgentSays is the input's own description, for the "agent says" line when the request has none.
func (v *inputView) AgentSays() string { return "" }
