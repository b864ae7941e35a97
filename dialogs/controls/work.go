package controls

import (
	"context"

	"fyne.io/fyne/v2"
)

// A job runs off the UI goroutine. What it returns then runs on the UI goroutine, unless ctx has ended.
type job func(ctx context.Context) (done func())

// A Worker does one job at a time, and of those that it is given meanwhile only the last. It belongs to the UI
// goroutine.
type Worker struct {
	Aside  func(func())
	Cancel context.CancelFunc // nil: idle
	next   job
}

// Do does a job once what it is at is done.
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

// Latest does one job. Another one that it is given meanwhile ends it, and nothing is shown of what came of it. It
// belongs to the UI goroutine.
type Latest struct {
	Aside  func(func())
	cancel context.CancelFunc // nil: idle
}

// Do does a job now.
func (l *Latest) Do(j job) {
	l.Drop()
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.Aside(func() {
		done := j(ctx)
		fyne.Do(func() {
			if ctx.Err() == nil {
				l.Drop()
				done()
			}
		})
	})
}

// Busy reports whether it is at a job.
func (l *Latest) Busy() bool { return l.cancel != nil }

// Drop gives up what it is at.
func (l *Latest) Drop() {
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
}

// FetchLatest has get run, in place of what ran before, and shows what came of it.
func FetchLatest[T any](l *Latest, get func(context.Context) (T, error), show func(T, error)) {
	l.Do(func(ctx context.Context) func() {
		got, err := get(ctx)
		return func() { show(got, err) }
	})
}
