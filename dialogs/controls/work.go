package controls

import (
	"context"

	"fyne.io/fyne/v2"
)

// A job runs off the UI goroutine. What it returns then runs on the UI goroutine, unless ctx has ended.
type job func(ctx context.Context) (done func())

// A worker does one job at a time, and of those that it is given meanwhile only the last. It belongs to the UI
// goroutine.
type Worker struct {
	Aside  func(func())
	Cancel context.CancelFunc // nil: idle
	next   job
}

func (k *Worker) Do(j job) {
	if k.Cancel != nil {
		k.next = j
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.Cancel = cancel
	k.Aside(func() {
		done := j(ctx)
		fyne.Do(func() {
			wanted := ctx.Err() == nil
			cancel()
			k.Cancel = nil
			if wanted {
				done()
			}
			if next := k.next; next != nil {
				k.next = nil
				k.Do(next)
			}
		})
	})
}

// Fetch has get run by the worker, and shows what came of it.
func Fetch[T any](k *Worker, get func(context.Context) (T, error), show func(T, error)) {
	k.Do(func(ctx context.Context) func() {
		got, err := get(ctx)
		return func() { show(got, err) }
	})
}

// Drop gives up what the worker is at.
func (k *Worker) Drop() {
	k.next = nil
	if k.Cancel != nil {
		k.Cancel()
	}
}
