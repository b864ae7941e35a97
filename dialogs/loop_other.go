//go:build ci || !linux

package dialogs

// LoopWaits says whether Fyne's event loop waits for events. Else it polls for them.
const LoopWaits = false

func beginDo() {}

func endDo(bool) {}

func wakeLoop() {}
