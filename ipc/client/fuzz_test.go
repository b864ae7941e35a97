package client

import (
	"encoding/json"
	"net/textproto"
	"reflect"
	"testing"

	"nod/api"
)

// FuzzReplies reads any bytes as every kind of reply. None may panic; an error comes without a reply; and
// what is taken for an allow must be one to a reader that knows nothing of ours.
func FuzzReplies(f *testing.F) {
	for _, seed := range []string{
		`{"decision":"allow","outcome":"allowed","reason":"","by":"human","scope":"once","shown_sha256":"x"}`,
		`{"decision":"deny","reason":"no","by":"policy","rule":"r","shown_sha256":"x"}`,
		`{"decision":"deny","decision":"allow","reason":"","by":"human","shown_sha256":"x"}`,
		`{"Decision":"allow","reason":"","by":"human","shown_sha256":"x"}`,
		`{"decision":"allow","reason":"","by":"timeout","shown_sha256":"x"}`,
		`{"answer":["a","b"]}`, `{"answers":{"a":"x","b":[]}}`, `{"confirmed":true,"defaulted":false}`, `{"sent":true}`,
		`{"id":"1","kind":"ask","status":"answered","answer":{"answer":"x"}}`,
		`{"id":"1","kind":"approve","status":"timed_out","answer":{"code":"INTERACT_TIMEOUT"}}`,
		`{"id":"1","status":"pending","url":"/v1/requests/1"}`,
		`{"requests":[{"id":"1","kind":"ask","status":"pending","created":"2026-01-02T03:04:05Z",` +
			`"deadline":"2026-01-02T03:05:05Z"}]}`,
		`{"status":"ok","version":"1","pending":0}`,
		`{"code":"RATE_LIMITED","title":"x","detail":"y","param":"z","outcome":"unavailable"}`,
		`{"answer":null}`, `{}`, `[]`, `{"a":{"b":[`, "\xff", `{"decision":"allow"} {}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if a := expectWhole[api.ApproveReply](t, text); a.Allowed() {
			expectAllow(t, a, text)
		}
		expectWhole[api.AskReply](t, text)
		expectWhole[api.ConfirmReply](t, text)
		expectWhole[api.FormReply](t, text)
		expectWhole[api.NotifyReply](t, text)
		expectWhole[api.EvaluateReply](t, text)
		expectWhole[api.ListReply](t, text)
		expectWhole[api.HealthReply](t, text)
		if reply, err := Answer(expectWhole[api.RequestReply](t, text)); reply == nil && err == nil {
			t.Error("neither a reply nor an error")
		}
		later := &response{status: 202, header: textproto.MIMEHeader{"Content-Type": {"application/json"}}}
		if answered(later, text) == nil || parseProblem(&response{status: 400}, text) == nil {
			t.Error("a reply without an answer is no error")
		}
	})
}

// expectWhole reads text as a reply and expects nothing of one beside an error.
func expectWhole[T any](t *testing.T, text []byte) T {
	t.Helper()
	reply, err := parse[T](text)
	if err != nil && !reflect.ValueOf(reply).IsZero() {
		t.Errorf("reply %+v and error %v", reply, err)
	}
	return reply
}

// expectAllow reads text the way the standard library does.
func expectAllow(t *testing.T, a api.ApproveReply, text []byte) {
	t.Helper()
	var plain map[string]any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatalf("allowed, and not JSON: %v", err)
	}
	if plain["decision"] != "allow" || (plain["by"] != "human" && plain["by"] != "policy") {
		t.Errorf("allowed by %v", plain)
	}
	if a.Decision != api.Allow || a.Outcome != api.Allowed {
		t.Errorf("allowed: %+v", a)
	}
}
