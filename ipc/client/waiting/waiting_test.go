package waiting

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/endpoint"
)

// TestBounded: a nod-desktop that hangs keeps nobody for ever.
func TestBounded(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		time.Second:    time.Second + grace,
		0:              api.MaxSeconds*time.Second + grace,
		48 * time.Hour: api.MaxSeconds*time.Second + grace,
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, cancel := Bounded(context.Background(), timeout)
			defer cancel()
			<-ctx.Done()
			if took := time.Since(start); took != want || context.Cause(ctx) != ErrHung {
				t.Errorf("time-out %s: ended after %s, want %s (%v)", timeout, took, want, context.Cause(ctx))
			}
		})
	}
}

// TestPayloadWithoutEnd: an agent that does not end a payload is denied, as far as the exit status can.
func TestPayloadWithoutEnd(t *testing.T) {
	const isHook = "NOD_TEST_IS_HOOK"
	if os.Getenv(isHook) != "" {
		payloadPatience = 10 * time.Millisecond
		_, _ = Payload(os.Stdin)
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$")
	cmd.Env, cmd.Stdin = append(os.Environ(), isHook+"=1"), r
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "did not end") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestGiveUp: whoever can ask in another way does so some time after nod-desktop has died.
func TestGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := &client.Client{Endpoint: endpoint.Endpoint{URL: "http://127.0.0.1:1"}}
		ctx, cancel := context.WithCancel(context.Background())
		GiveUp(cl, cancel)
		cl.Lost()
		time.Sleep(restartTime - time.Millisecond)
		if synctest.Wait(); ctx.Err() != nil {
			t.Error("it gave up while nod-desktop may be starting")
		}
		time.Sleep(time.Millisecond)
		if synctest.Wait(); ctx.Err() == nil {
			t.Error("it waits on")
		}
	})
}

// TestWhileAlive: a nod-desktop that hangs is told from a user who takes their time.
func TestWhileAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := time.Now().Add(time.Minute)
		until, stop := context.WithCancel(context.Background())
		defer stop()
		ctx := WhileAlive(until, func(ctx context.Context) (struct{}, error) {
			if time.Now().Before(hangs) {
				return struct{}{}, client.ErrNotRunning // it went away, and may come back
			}
			<-ctx.Done()
			return struct{}{}, ctx.Err()
		})
		<-ctx.Done()
		if late := time.Since(hangs); late > 2*grace || context.Cause(ctx) != ErrHung {
			t.Errorf("ended %v after it hung: %v", late, context.Cause(ctx))
		}
	})
}
