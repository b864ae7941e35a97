package ipc

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"nod/policy"
)

// BenchmarkApprove is a tool call that a rule allows, through the socket, beside what net/http costs for as
// much JSON: the difference is nod's. A hook opens a connection for each call, so both are measured.
func BenchmarkApprove(b *testing.B) {
	d := open(b)
	d.policy.Set("Bash", policy.Allow)
	echo := filepath.Join(b.TempDir(), "echo")
	l, err := net.Listen("unix", echo)
	if err != nil {
		b.Skip(err)
	}
	bare := &http.Server{Handler: http.HandlerFunc(echoJSON)}
	go bare.Serve(l)
	b.Cleanup(func() { bare.Close() })
	for _, kind := range []struct {
		name string
		cold bool
	}{{"kept", false}, {"fresh", true}} {
		b.Run("allowed/"+kind.name, func(b *testing.B) { d.hammer(b, d.endpoint.Socket, kind.cold) })
		b.Run("bare/"+kind.name, func(b *testing.B) { d.hammer(b, echo, kind.cold) })
	}
}

func echoJSON(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(in)
}

// hammer sends one approval after another to a socket, each on a fresh connection or all on one.
func (d *door) hammer(b *testing.B, socket string, cold bool) {
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: cold,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	defer client.CloseIdleConnections()
	body := samples["/v1/approve"]
	for b.Loop() {
		r := d.request("POST", "/v1/approve", body)
		resp, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || socket == d.endpoint.Socket && !strings.Contains(string(text), `"allow"`) {
			b.Fatalf("%d %s %v", resp.StatusCode, text, err)
		}
	}
}
