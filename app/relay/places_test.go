package relay

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/ipc"
	"nod/ipc/endpoint"
)

func testPlaces(t *testing.T) places {
	t.Helper()
	run, err := os.MkdirTemp("", "nod") // t.TempDir is too long for the path of a socket
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(run) })
	at := places{dir: filepath.Join(run, "nod"), lock: filepath.Join(t.TempDir(), "nod", "relay.lock")}
	must(t, endpoint.Ensure(at.dir))
	return at
}

// Beside another nod of the same user there is no relay, and it is said which one that is.
func TestClaim(t *testing.T) {
	for want, health := range map[string]func(*api.HealthReply){
		"this machine has a desk of its own": nil,
		"a relay is already running":         func(h *api.HealthReply) { h.Relay = new(api.RelayHealth) },
	} {
		at := testPlaces(t)
		lock, err := claim(t.Context(), at)
		must(t, err)
		server, err := ipc.Listen(ipc.Config{
			Address: "127.0.0.1:0", Dir: at.dir, Version: "test", Log: slog.New(slog.DiscardHandler), Health: health,
			Broker: interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{}),
		})
		must(t, err)
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx) }()
		_, err = claim(t.Context(), at)
		if running, ok := errors.AsType[*runningError](err); !ok || running.pid != os.Getpid() ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		stop()
		must(t, <-served)
		lock.release()
		again, err := claim(t.Context(), at)
		must(t, err)
		again.release()
	}
}

// From two runtime folders, as with and without a session, there is still one relay.
func TestClaimFromAnotherRuntimeFolder(t *testing.T) {
	at, other := testPlaces(t), testPlaces(t)
	other.lock = at.lock
	lock, err := claim(t.Context(), at)
	must(t, err)
	defer lock.release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := claim(ctx, other); err == nil {
		t.Error("there are two")
	}
}
