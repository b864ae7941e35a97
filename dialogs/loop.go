package dialogs

import "fyne.io/fyne/v2"

// Do runs f on the UI goroutine, soon even while the loop waits for the display. It is safe for concurrent use.
func Do(f func()) { do(f, true) }

// Answers returns a channel that is closed once the UI goroutine handles it. Unlike [Do], it starts no animations, so
// the loop then keeps waiting.
func Answers() <-chan struct{} {
	come := make(chan struct{})
	do(func() { close(come) }, false)
	return come
}

func do(f func(), moves bool) {
	beginDo()
	fyne.Do(func() {
		defer endDo(moves)
		f()
	})
	wakeLoop()
}
