package controls

import (
	"context"

	"nod/dialogs"
)

// A job runs off the UI goroutine. The function it returns then runs on the UI goroutine, unless ctx has ended.
type job func(ctx context.Context) (done func())

// Worker does one job at a time. Of the jobs that it gets meanwhile it does only the last one. Use it only on the UI
// goroutine.
type Worker struct {
	Aside  func(func())
	ctx    context.Context // of the current job; nil while idle
	cancel context.CancelFunc
	next   job
}

// Do does a job after the current one.
func (k *Worker) Do(j job) {
	if k.ctx != nil {
		k.next = j
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.ctx, k.cancel = ctx, cancel
	k.Aside(func() {
		done := j(ctx)
		dialogs.Do(func() {
			wanted := ctx.Err() == nil
			cancel()
			k.ctx = nil
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

// Busy reports whether a job has not delivered its result yet.
func (k *Worker) Busy() bool { return k.next != nil || k.ctx != nil && k.ctx.Err() == nil }

// Drop cancels the current job and forgets the next one.
func (k *Worker) Drop() {
	k.next = nil
	if k.ctx != nil {
		k.cancel()
	}
}

// Fetch makes the worker run get after the current job, and shows the result.
func Fetch[T any](k *Worker, get func(context.Context) (T, error), show func(T, error)) {
	k.Do(func(ctx context.Context) func() {
		got, err := get(ctx)
		return func() { show(got, err) }
	})
}
