package client

import (
	"encoding/json"
	"net/http"
	"testing"

	"nod/interact"
	"nod/policy"
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
		`{"requests":[{"id":"1","kind":"ask","status":"pending","created":"2026-01-02T03:04:05Z","deadline":"2026-01-02T03:05:05Z"}]}`,
		`{"status":"ok","version":"1","pending":0}`,
		`{"code":"RATE_LIMITED","title":"x","detail":"y","param":"z","outcome":"unavailable"}`,
		`{"answer":null}`, `{}`, `[]`, `{"a":{"b":[`, "\xff", `{"decision":"allow"} {}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := parseApprove(text)
		expectWhole(t, a.Raw, err)
		if a.Allowed() {
			expectAllow(t, a, text)
		}
		ask, err := parseAsk(text)
		expectWhole(t, ask.Raw, err)
		confirm, err := parseConfirm(text)
		expectWhole(t, confirm.Raw, err)
		form, err := parseForm(text)
		expectWhole(t, form.Raw, err)
		notify, err := parseNotify(text)
		expectWhole(t, notify.Raw, err)
		evaluate, err := parseEvaluate(text)
		expectWhole(t, evaluate.Raw, err)
		list, err := parseRequests(text)
		expectWhole(t, list.Raw, err)
		health, err := parseHealth(text)
		expectWhole(t, health.Raw, err)
		r, err := parseRequest(text)
		expectWhole(t, r.Raw, err)
		if reply, err := r.Reply(); (reply == nil) && err == nil {
			t.Error("neither a reply nor an error")
		}
		if parsePending(text) == nil || parseProblem(&http.Response{StatusCode: 400}, text) == nil {
			t.Error("a reply without an answer is no error")
		}
	})
}

func expectWhole(t *testing.T, raw []byte, err error) {
	t.Helper()
	if (raw == nil) != (err != nil) {
		t.Errorf("reply %q and error %v", raw, err)
	}
}

// expectAllow reads text the way the standard library does.
func expectAllow(t *testing.T, a ApproveReply, text []byte) {
	t.Helper()
	var plain map[string]any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatalf("allowed, and not JSON: %v", err)
	}
	if plain["decision"] != "allow" || (plain["by"] != "human" && plain["by"] != "policy") {
		t.Errorf("allowed by %v", plain)
	}
	if a.Decision != policy.Allow || a.Outcome != interact.Allowed {
		t.Errorf("allowed: %+v", a)
	}
}
