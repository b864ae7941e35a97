package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"nod/api"
	"nod/ipc/client"
)

// tells returns a handler that streams these texts, one for each connection, and then ends the connection: in order
// where the text ends with "end", else as a nod-desktop does that dies. It notes after what each wants to go on.
func tells(after *[]string, texts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/health" {
			says(200, "application/json", `{"status":"ok","version":"1","pending":0}`)(w, r)
			return
		}
		*after = append(*after, r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream")
		text, inOrder := strings.CutSuffix(texts[0], "end")
		texts = texts[1:]
		io.WriteString(w, text)
		http.NewResponseController(w).Flush()
		if !inOrder {
			panic(http.ErrAbortHandler)
		}
	}
}

func event(id, kind, status string) string {
	const text = "id: %s\nevent: %s\ndata: {\"id\":%q,\"kind\":\"ask\",\ndata: \"status\":%q}\n\n"
	return fmt.Sprintf(text, id, kind, testID, status)
}

// followed spells what a client reads.
func followed(ctx context.Context, c *client.Client, after string) (words []string, err error) {
	for e, err := range c.Events(ctx, after) {
		if err != nil {
			return words, err
		}
		words = append(words, strings.TrimSpace(fmt.Sprint(e.ID, " ", e.Type, " ", e.Request.Status)))
	}
	return words, nil
}

func TestEvents(t *testing.T) {
	pending, settled := event("5", "pending", "pending"), event("6", "settled", "answered")
	standing := strings.TrimPrefix(pending, "id: 5\n")
	tests := []struct {
		name  string
		texts []string
		want  string
		after string // what the connections went on after
		fails bool
	}{
		{"in order", []string{pending + settled + "end"}, "5 pending pending, 6 settled answered", "4", false},
		{"what stands has no id", []string{standing + "id: 9\n\nend"}, "4 pending pending", "4", false},
		{"too slow", []string{pending, settled + "end"}, "5 pending pending, 6 settled answered", "4 5", false},
		{
			"too slow after a sign of life", []string{pending + "id: 8\n\n", settled + "end"},
			"5 pending pending, 6 settled answered", "4 8", false,
		},
		{
			"half an event", []string{pending + settled[:40], settled + "end"},
			"5 pending pending, 6 settled answered", "4 5", false,
		},
		{"reset", []string{"event: reset\ndata: {}\n\n" + standing + "end"}, "4 reset, 4 pending pending", "4", false},
		{"signs of life and comments", []string{": x\n\nid: 7\n\n\n\nend"}, "", "4", false},
		{"a type that nobody knows", []string{"event: new\ndata: x\n\n" + settled + "end"}, "6 settled answered", "4", false},
		{"hung up on before anything came", []string{""}, "", "4", true},
		{"not JSON", []string{"event: settled\ndata: x\n\nend"}, "", "4", true},
		{"contradicts itself", []string{event("5", "pending", "answered") + "end"}, "", "4", true},
		{"settled and pending", []string{event("5", "settled", "pending") + "end"}, "", "4", true},
		{"endless", []string{"data: " + strings.Repeat("x", 9<<20)}, "", "4", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var after []string
			c := clientOf(t, tells(&after, test.texts...))
			c.Dir = t.TempDir()
			words, err := followed(t.Context(), c, "4")
			if got := strings.Join(words, ", "); got != test.want || (err != nil) != test.fails {
				t.Errorf("got %s, %v", got, err)
			}
			if got := strings.Join(after, " "); got != test.after {
				t.Errorf("went on after %s, want %s", got, test.after)
			}
		})
	}
}

func TestEventsRefused(t *testing.T) {
	c := clientOf(t, says(429, "application/problem+json", `{"code":"RATE_LIMITED"}`))
	_, err := followed(t.Context(), c, "")
	if p, ok := errors.AsType[*client.Problem](err); !ok || p.Code != api.CodeRateLimited {
		t.Errorf("error %v", err)
	}
	c = clientOf(t, says(200, "application/json", `{}`))
	if _, err := followed(t.Context(), c, ""); err == nil {
		t.Error("JSON is no stream")
	}
}

// Who has read enough hangs up, and a context ends the stream with its cause.
func TestEventsEnd(t *testing.T) {
	var after []string
	c := clientOf(t, tells(&after, event("5", "pending", "pending")+event("6", "settled", "answered")+"end"))
	for e, err := range c.Events(t.Context(), "") {
		if err != nil || e.ID != "5" {
			t.Errorf("got %+v, %v", e, err)
		}
		break
	}
	hung := make(chan struct{})
	c = clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush()
		close(hung)
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() { <-hung; cancel(enough) }()
	if _, err := followed(ctx, c, ""); !errors.Is(err, enough) {
		t.Errorf("error %v", err)
	}
}

// FuzzEvents: whatever a server streams, a client ends, and hands on nothing that contradicts itself.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{
		event("5", "pending", "pending"), "event: reset\ndata: {}\n\n", ": \r\n\r\nid\n\n", "data\ndata:\n\n", "\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var after []string
		c := clientOf(t, tells(&after, text+"end"))
		for e, err := range c.Events(t.Context(), "1") {
			if err == nil && e.Type != api.EventReset && (e.Type == api.EventPending) != (e.Request.Status == api.Pending) {
				t.Errorf("%q became %+v", text, e)
			}
		}
	})
}
