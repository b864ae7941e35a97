package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/endpoint"
)

// A request that joins another one by its key waits as long as that one, whose time-out may be longer.
func TestPatience(t *testing.T) {
	awayFrom(t, "", false)
	dir, err := endpoint.Dir()
	if err != nil {
		t.Fatal(err)
	}
	e := endpoint.Endpoint{
		URL: "http://127.0.0.1:1", Socket: filepath.Join(dir, "none"), Token: endpoint.NewToken(), PID: 1, Version: "test",
	}
	if err := endpoint.Ensure(dir); err != nil {
		t.Fatal(err)
	}
	if err := endpoint.Write(dir, e); err != nil {
		t.Fatal(err)
	}
	for key, longest := range map[string]time.Duration{"": time.Minute, "k": 25 * time.Hour} {
		c, q := &console{}, api.ConfirmRequest{Common: api.Common{IdempotencyKey: key}}
		f := c.newRequestFlags(new(cobra.Command), &q.Common)
		f.timeout, f.common.IdempotencyKey = time.Second, key
		var left time.Duration
		_ = request(t.Context(), c, f, &q, func(
			_ *client.Client, ctx context.Context, _ api.ConfirmRequest,
		) (api.ConfirmReply, error) {
			end, _ := ctx.Deadline()
			left = time.Until(end)
			return api.ConfirmReply{}, context.Canceled
		})
		if left <= longest/25 || left > longest {
			t.Errorf("key %q: waits for %v", key, left)
		}
	}
}
