package dialogs

import "fyne.io/fyne/v2"

// Do runs f on the UI goroutine, soon even while the loop waits for the display. It is safe for concurrent use.
func Do(f func()) {
	beginDo()
	fyne.Do(func() {
		defer endDo()
		f()
	})
	wakeLoop()
}
