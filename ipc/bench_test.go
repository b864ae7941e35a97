package ipc

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nod/policy"
)

// BenchmarkApprove is a tool call that a rule allows, through the socket, beside a bare handler that decodes and
// encodes as much JSON: the difference is nod's. It reports the time that half of the calls and 99 of 100 stay
// under, in µs, on 1 and on 16 connections that are kept, and on one that is new for each call, as for a hook.
func BenchmarkApprove(b *testing.B) {
	d := open(b)
	d.level.Set(slog.LevelInfo) // as people run it
	d.policy.Set("Bash", policy.Allow)
	bare := filepath.Join(b.TempDir(), "bare")
	l, err := net.Listen("unix", bare)
	if err != nil {
		b.Skip(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(echoJSON)}
	go server.Serve(l)
	b.Cleanup(func() { server.Close() })
	text := post("/v1/approve", samples["/v1/approve"], len(samples["/v1/approve"]))
	text = strings.Replace(text, "localhost:7463", strings.TrimPrefix(d.endpoint.URL, "http://"), 1)
	text = strings.Replace(text, "Bearer token", "Bearer "+d.endpoint.Token, 1)
	for _, connections := range []int{1, 16} {
		b.Run(fmt.Sprintf("nod/%d", connections), func(b *testing.B) { load(b, d.endpoint.Socket, text, connections, true) })
		b.Run(fmt.Sprintf("bare/%d", connections), func(b *testing.B) { load(b, bare, text, connections, true) })
	}
	b.Run("nod/fresh", func(b *testing.B) { load(b, d.endpoint.Socket, text, 1, false) })
	b.Run("bare/fresh", func(b *testing.B) { load(b, bare, text, 1, false) })
}

// echoJSON reads an approval into what it holds and replies with as much as nod does.
func echoJSON(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tool, Class, CWD, Session string
		Input                     json.RawMessage
		Timeout                   float64
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]string{
		"id": "01900000-0000-7000-8000-000000000000", "outcome": "allowed", "decision": "allow", "reason": in.Tool,
		"by":   "policy",
		"rule": "test:Bash", "shown_sha256": strings.Repeat("0", 64),
	})
}

// load sends b.N requests to a socket over so many connections at once. It does so without [http.Client], whose own
// goroutines would be most of what is measured.
func load(b *testing.B, socket, request string, connections int, keep bool) {
	turns := make(chan struct{}, b.N)
	for range b.N {
		turns <- struct{}{}
	}
	close(turns)
	var mu sync.Mutex
	var took []time.Duration
	var group sync.WaitGroup
	b.ResetTimer()
	for range connections {
		group.Go(func() {
			mine, err := sendAll(socket, request, turns, keep)
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	group.Wait()
	b.StopTimer()
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	micros := func(part int) float64 { return float64(took[len(took)*part/100]) / float64(time.Microsecond) }
	b.ReportMetric(micros(50), "p50-µs")
	b.ReportMetric(micros(99), "p99-µs")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// sendAll sends one request for each turn and says how long each took.
func sendAll(socket, request string, turns <-chan struct{}, keep bool) (took []time.Duration, err error) {
	var conn net.Conn
	var replies *bufio.Reader
	for range turns {
		started := time.Now()
		if conn == nil || !keep {
			if conn, err = net.Dial("unix", socket); err != nil {
				return nil, err
			}
			defer conn.Close() // a second time for those that are not kept
			replies = bufio.NewReader(conn)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			return nil, err
		}
		resp, err := http.ReadResponse(replies, nil)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"allow"`) {
			return nil, fmt.Errorf("%d %s %v", resp.StatusCode, text, err)
		}
		took = append(took, time.Since(started))
		if !keep {
			conn.Close()
		}
	}
	return took, nil
}
