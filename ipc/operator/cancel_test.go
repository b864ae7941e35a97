package operator

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"nod/interact"
	"nod/policy"
)

// slowOperator works on suggestions until nobody wants them any more.
type slowOperator struct {
	Operator
	ended chan error
}

func (o *slowOperator) Suggest(ctx context.Context) ([]policy.Suggestion, error) {
	<-ctx.Done()
	o.ended <- ctx.Err()
	return nil, ctx.Err()
}

// A call that is given up in one process ends in the other.
func TestACallIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slowOperator{ended: make(chan error, 1)}
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		s := Serve(fromClient, toClient, o, "1", slog.New(slog.DiscardHandler))
		c, err := Connect(t.Context(), fromServer, toServer, "1", Events{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			_, err := c.Suggest(ctx)
			gone <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller got %v", err)
		}
		if err := <-o.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the other process ended with %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		s.Close()
	})
}

// waitingOperator is one whose answers wait, as for a machine that does not respond.
type waitingOperator struct{ recorder }

func (*waitingOperator) Answer(ctx context.Context, _ Answer) error {
	<-ctx.Done()
	return ctx.Err()
}

// As many answers as there can be do not hold up the windows' other calls, for one of which the UI goroutine waits.
func TestAnswersHoldNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := connect(t, &waitingOperator{}, "1")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range interact.MaxPending {
			go func() { _ = c.Answer(ctx, Answer{}) }()
		}
		synctest.Wait()
		if err := c.Report(ctx, Screen{}); err != nil {
			t.Error(err)
		}
	})
}
