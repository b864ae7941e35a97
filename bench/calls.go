//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"nod/bench/report"
	"nod/bench/sample"
)

const callsHow = "A tool call that nod-desktop allows by itself (`POST /v1/approve`: it looks up who calls, " +
	"decides, writes its journal, replies), on its Unix socket, beside a Go program that only reads the same JSON " +
	"and writes as much. Connections are kept, as an agent keeps them, or new for each call, as a hook's. The " +
	"caller writes and reads the bytes itself."

// calls measures calls that nobody is asked about.
func (b *bench) calls() (figures []report.Figure, err error) {
	d, err := b.withNod(settings)
	if err != nil {
		return nil, err
	}
	defer d.close()
	bare := filepath.Join(d.Runtime(), "bare.sock")
	if _, err := d.startReady(d.command(b.peer(serverPeer), bare), "ready"); err != nil {
		return nil, err
	}
	e, err := d.endpoint()
	if err != nil {
		return nil, err
	}
	request := d.approval(strings.TrimPrefix(e.URL, "http://"), e.Token)
	for _, c := range []struct {
		name        string
		connections int
		keep        bool
	}{
		{"allowed call, connection kept", 1, true},
		{"allowed call, 16 connections at once", 16, true},
		{"allowed call, new connection", 1, false},
	} {
		load := func(socket string) func() (sample.Times, error) {
			const batch = 320
			return func() (sample.Times, error) { return load(socket, request, c.connections, batch, c.keep) }
		}
		f, err := compare(c.name, b.times(20), sample.Subject{Name: "nod", Measure: load(e.Socket)},
			sample.Subject{Name: "a bare Go handler", Measure: load(bare)})
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	figures[0].Headline = "a call that a rule allows, over HTTP"
	return figures, nil
}

// approval is the bytes of a call that nod allows: it only reads.
func (d *desk) approval(host, token string) string {
	body := fmt.Sprintf(`{"tool":"Bash","input":{"command":"ls -la"},"agent":"claude-code","session":"s1","cwd":%q}`,
		d.project())
	return fmt.Sprintf("POST /v1/approve HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", host, token, len(body), body)
}

// load sends a request so many times to a socket over so many connections at once. It does so without [http.Client],
// whose own goroutines would be most of what is measured.
func load(socket, request string, connections, requests int, keep bool) (all sample.Times, err error) {
	turns := make(chan struct{}, requests)
	for range requests {
		turns <- struct{}{}
	}
	close(turns)
	var mu sync.Mutex // guards all and err
	var group sync.WaitGroup
	for range connections {
		group.Go(func() {
			mine, failed := sendAll(socket, request, turns, keep)
			mu.Lock()
			defer mu.Unlock()
			all, err = append(all, mine...), errors.Join(err, failed)
		})
	}
	group.Wait()
	return all, err
}

// sendAll sends one request for each turn and says how long each took.
func sendAll(socket, request string, turns <-chan struct{}, keep bool) (took sample.Times, err error) {
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
			return nil, fmt.Errorf("status %d, %q, want allow: %w", resp.StatusCode, text, err)
		}
		took = append(took, time.Since(started))
		if !keep {
			conn.Close()
		}
	}
	return took, nil
}
