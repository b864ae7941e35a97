package ipc

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// eventStream is the body of a stream of events, as a test reads it.
type eventStream struct {
	t     testing.TB
	lines *bufio.Scanner
}

// next returns the next line that does not only say how far the reader is.
func (s eventStream) next() string {
	s.t.Helper()
	for s.lines.Scan() {
		if line := s.lines.Text(); line != "" && !strings.HasPrefix(line, "id: ") {
			return line
		}
	}
	return fmt.Sprint("the end: ", s.lines.Err())
}

// expect reads these lines.
func (s eventStream) expect(want ...string) {
	s.t.Helper()
	for _, line := range want {
		if got := s.next(); got != line {
			s.t.Errorf("got  %s\nwant %s", got, line)
		}
	}
}

// follow reads events after the one with this id.
func (d *fixture) follow(after string) eventStream {
	d.t.Helper()
	r := d.request(http.MethodGet, "/v1/events", "")
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := d.socket.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { resp.Body.Close() })
	if media := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || media != "text/event-stream" {
		d.t.Fatalf("%d %s", resp.StatusCode, media)
	}
	return eventStream{d.t, bufio.NewScanner(resp.Body)}
}

// What is pending comes first, then what happens: with the body that the request itself has.
func TestEvents(t *testing.T) {
	d := open(t)
	first := d.post("/v1/ask", `{"question":"First?","detach":true}`).body["id"]
	s := d.follow("")
	s.expect("event: pending", fmt.Sprintf(`data: {"id":%q,"kind":"ask","status":"pending"}`, first))
	second := d.post("/v1/approve", `{"tool":"Bash","input":{},"detach":true}`).body["id"]
	s.expect("event: pending", fmt.Sprintf(`data: {"id":%q,"kind":"approve","status":"pending"}`, second))
	gone := d.do(d.request(http.MethodDelete, fmt.Sprint("/v1/requests/", first), ""))
	s.expect("event: settled", "data: "+strings.TrimSpace(gone.text))
	if again := d.get(fmt.Sprint("/v1/requests/", first)); again.text != gone.text {
		t.Errorf("the request is %s, the event said %s", again.text, gone.text)
	}
	d.policy.Set("Bash", "allow")
	d.broker.Reconsider()
	s.expect("event: settled")
	if data := s.next(); !strings.Contains(data, `"status":"allowed"`) || !strings.Contains(data, `"decision":"allow"`) {
		t.Errorf("the event says %s", data)
	}
	d.follow("1").expect("event: reset", "data: {}")
}

// A reader that was hung up on goes on after the last id that it has.
func TestEventsGoOn(t *testing.T) {
	d := open(t)
	s := d.follow("")
	one := d.post("/v1/ask", `{"question":"One?","detach":true}`).body["id"]
	var ids []string
	for len(ids) < 2 && s.lines.Scan() {
		if id, ok := strings.CutPrefix(s.lines.Text(), "id: "); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	d.do(d.request(http.MethodDelete, fmt.Sprint("/v1/requests/", one), ""))
	d.post("/v1/ask", `{"question":"Two?","detach":true}`)
	settled := d.follow(ids[1])
	settled.expect("event: settled")
	settled.next()
	settled.expect("event: pending")
	all := d.follow(ids[0])
	all.expect("event: settled") // that it came is overtaken
}

func TestEventsRefused(t *testing.T) {
	d := open(t)
	for _, id := range []string{"x", "-1", "0", "1.5", strings.Repeat("9", 30)} {
		r := d.request(http.MethodGet, "/v1/events", "")
		r.Header.Set("Last-Event-ID", id)
		d.do(r).want(t, 400, map[string]any{"code": "INTERACT_INVALID_PARAM", "param": "Last-Event-ID"})
	}
	for range maxFollowing {
		d.follow("")
	}
	g := d.get("/v1/events")
	g.want(t, 429, map[string]any{"code": "RATE_LIMITED"})
	if g.header.Get("Retry-After") == "" {
		t.Error("nobody says when to come back")
	}
}

// A stream says now and then that it lives, leaves a reader that does not read, and ends in order when nod does.
func TestEventsOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveTimed(t)
		began := time.Now()
		body := c.follow()
		lines := bufio.NewScanner(body)
		for range 3 {
			for lines.Scan() && lines.Text() != "" {
			}
		}
		if took := time.Since(began); took != 2*beatEvery {
			t.Errorf("three signs of life in %v", took)
		}
		time.Sleep(time.Hour)
		if _, err := io.Copy(io.Discard, body); err == nil {
			t.Error("who has not read for an hour was still served")
		}
		ended := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, c.follow())
			ended <- err
		}()
		time.Sleep(beatEvery - time.Second) // longer than a reader has time for what was written last
		c.end()
		if err := <-ended; err != nil {
			t.Errorf("the stream broke off when nod ended: %v", err)
		}
	})
}

// follow reads events.
func (c *timedServer) follow() io.Reader {
	c.t.Helper()
	conn := c.dial("GET /v1/events HTTP/1.1\r\nHost: localhost:7463\r\nAuthorization: Bearer token\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.Body
}
