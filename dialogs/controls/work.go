package controls

import (
	"context"

	"fyne.io/fyne/v2"
)

// A job runs off the UI goroutine. The function it returns then runs on the UI goroutine, unless ctx has ended.
type job func(ctx context.Context) (done func())

// Worker does one job at a time. Of the jobs that it gets meanwhile it does only the last. Use it only on the UI
// goroutine.
type Worker struct {
	Aside  func(func())
	Cancel context.CancelFunc // nil while idle
	next   job
}

// Do does a job after the current one.
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

// Fetch makes the worker run get, and shows the result.
func Fetch[T any](k *Worker, get func(context.Context) (T, error), show func(T, error)) {
	k.Do(func(ctx context.Context) func() {
		got, err := get(ctx)
		return func() { show(got, err) }
	})
}

// Drop cancels the current job and forgets the next one.
func (k *Worker) Drop() {
	k.next = nil
	if k.Cancel != nil {
		k.Cancel()
	}
}

// Latest does one job at a time. A new job cancels the current one, whose result is not shown. Use it only on the UI
// goroutine.
type Latest struct {
	Aside  func(func())
	cancel context.CancelFunc // nil while idle
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

// Busy reports whether a job is running.
func (l *Latest) Busy() bool { return l.cancel != nil }

// Drop cancels the current job.
func (l *Latest) Drop() {
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
}

// FetchLatest runs get in place of the current job, and shows the result.
func FetchLatest[T any](l *Latest, get func(context.Context) (T, error), show func(T, error)) {
	l.Do(func(ctx context.Context) func() {
		got, err := get(ctx)
		return func() { show(got, err) }
	})
}
