package asking

import (
	"strings"
	"testing"
	"time"

	"nod/api"
	"nod/assets"
	"nod/interact"
	"nod/ipc/operator"
)

func pendingApproval(id interact.ID, agent string) interact.Request {
	body := interact.Approve{Tool: "Bash", Input: []byte(`{"command":"npm test\n&& x"}`)}
	who := interact.Requester{Agent: agent, IsAgent: true, CWD: "/src/my_shop",
		Process: api.Process{Exe: "/usr/bin/node"}}
	return interact.Request{ID: id, Requester: who, Body: body}
}

func TestTrayState(t *testing.T) {
	waiting := []interact.Request{pendingApproval("1", "a")}
	tests := []struct {
		name string
		s    snapshot
		want assets.TrayState
	}{
		{"idle", snapshot{}, assets.Idle},
		{"ask about everything is no state of its own", snapshot{AskEverything: true}, assets.Idle},
		{"waiting", snapshot{Pending: waiting}, assets.Waiting},
		{"snoozed", snapshot{Snoozed: waiting}, assets.Waiting},
		{"paused", snapshot{Pause: operator.Pause{On: true}}, assets.Paused},
		{"paused while somebody waits", snapshot{Pending: waiting, Pause: operator.Pause{On: true}}, assets.Waiting},
		{"away, and nobody came since", snapshot{Away: 1}, assets.Idle},
		{"away, and somebody came since", snapshot{Away: 1, Missed: 1}, assets.Waiting},
		{"hooks that point nowhere", snapshot{Hooks: "Hooks"}, assets.Broken},
		{"broken before all else", snapshot{Pending: waiting, Pause: operator.Pause{On: true}, Broken: true}, assets.Broken},
	}
	for _, tt := range tests {
		if got := tt.s.state(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// outline writes a menu as one line per item.
func outline(items []menuItem) string {
	var lines []string
	for _, i := range items {
		switch {
		case i.Label == "":
			lines = append(lines, "--")
		case i.Do == nil:
			lines = append(lines, "("+i.Label+")")
		case i.Checked:
			lines = append(lines, "x "+i.Label)
		default:
			lines = append(lines, i.Label)
		}
	}
	return strings.Join(lines, "\n")
}

// fakeActions are actions that all exist.
var fakeActions = trayActions{
	Show: func(operator.View) {}, ShowNews: func() {}, AskAgain: func() {}, Quit: func() {},
}

func TestTrayMenu(t *testing.T) {
	now := time.Date(2026, 3, 2, 14, 0, 0, 0, time.Local)
	const pauseMenu = "Pause for 15 minutes\nPause for 30 minutes\nPause for 1 hour\nPause until I'm back\n--"
	tests := []struct {
		name string
		s    snapshot
		want []string
	}{
		{"idle", snapshot{}, []string{
			"(No requests waiting)", "--", pauseMenu, "Ask about everything", "--", "History…", "Settings…", "--", "Quit"}},
		{"waiting", snapshot{Pending: []interact.Request{
			pendingApproval("1", "claude-code"),
			{Requester: interact.Requester{Process: api.Process{Exe: "/usr/bin/codex"}},
				Body: api.Ask{Question: "rm -rf?"}},
		}}, []string{
			"(2 requests waiting)", "--", "Claude Code · my__shop: npm test‹newline›&& x", "The program codex: rm -rf?", "--",
			pauseMenu, "Ask about everything", "--", "History…", "Settings…", "--", "Quit"}},
		{"snoozed", snapshot{Snoozed: []interact.Request{pendingApproval("1", "a"), pendingApproval("2", "b")}}, []string{
			"(2 snoozed)", "--", "Snoozed: a · my__shop: npm test‹newline›&& x",
			"Snoozed: b · my__shop: npm test‹newline›&& x", "--",
			pauseMenu, "Ask about everything", "--", "History…", "Settings…", "--", "Quit"}},
		{"paused", snapshot{Pause: operator.Pause{On: true, Until: now.Add(time.Hour)}}, []string{
			"(Paused until 15:00)", "--", "Resume", "--", "Ask about everything", "--", "History…", "Settings…", "--", "Quit"}},
		{"a machine", snapshot{Machines: 1}, []string{
			"(No requests waiting · 1 machine connected)", "--", pauseMenu, "Ask about everything", "--",
			"History…", "Settings…", "--", "Quit"}},
		{"machines and a pause", snapshot{Machines: 3, Pause: operator.Pause{On: true}}, []string{
			"(Paused · 3 machines connected)", "--", "Resume", "--", "Ask about everything", "--",
			"History…", "Settings…", "--", "Quit"}},
		{"ask about everything", snapshot{AskEverything: true}, []string{
			"(No requests waiting)", "--", pauseMenu, "x Ask about everything", "--", "History…", "Settings…", "--", "Quit"}},
		{"the sandbox", snapshot{Contains: true}, []string{
			"(No requests waiting)", "--", pauseMenu, "Ask about everything", "--", "Sandbox runs…", "History…",
			"Settings…", "--", "Quit"}},
		{"away", snapshot{Away: 1, Missed: 3}, []string{
			"(Away: 3 requests skipped)", "--", "I'm back", "--",
			pauseMenu, "Ask about everything", "--", "History…", "Settings…", "--", "Quit"}},
		{"back", snapshot{News: news{waited: 3, missed: 1, passed: 12, denied: 2}}, []string{
			"(No requests waiting)", "--", "While you were away: 3 waited, 1 timed out, 12 passed, 2 denied", "--",
			pauseMenu, "Ask about everything", "--", "History…", "Settings…", "--", "Quit"}},
		{"broken", snapshot{Broken: true}, []string{
			"(The policy file has an error: nod asks about everything)", "--", pauseMenu, "(Ask about everything)", "--",
			"History…", "Settings…", "--", "Quit"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, want := outline(tt.s.menu(fakeActions, now)), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("menu:\n%s\n\nwant:\n%s", got, want)
			}
		})
	}
}

func TestTrayMenuListsTenAndCountsTheRest(t *testing.T) {
	var s snapshot
	for range 13 {
		s.Pending = append(s.Pending, pendingApproval("x", "a"))
	}
	got := outline(s.menu(fakeActions, time.Now()))
	if n := strings.Count(got, "a · my__shop: npm test"); n != 10 {
		t.Errorf("%d requests listed, want 10", n)
	}
	if !strings.Contains(got, "and 3 more…") {
		t.Errorf("the rest is not counted:\n%s", got)
	}
}

func TestTrayMenuActions(t *testing.T) {
	var shown interact.ID
	var paused operator.Pause
	var askEverything, quit bool
	do := trayActions{
		Show:          func(v operator.View) { shown = v.Request },
		Pause:         func(p operator.Pause) { paused = p },
		AskEverything: func(on bool) { askEverything = on },
		Quit:          func() { quit = true },
	}
	s := snapshot{Pending: []interact.Request{pendingApproval("1", "a"), pendingApproval("2", "b")}}
	menu := s.menu(do, time.Now())
	click := func(label string) {
		t.Helper()
		for _, i := range menu {
			if i.Label == label {
				i.Do()
				return
			}
		}
		t.Fatalf("no item %q", label)
	}
	if click("b · my__shop: npm test‹newline›&& x"); shown != "2" {
		t.Errorf("showed %q, want 2", shown)
	}
	if click("Ask about everything"); !askEverything {
		t.Error("did not ask about everything")
	}
	if click("Quit"); !quit {
		t.Error("did not quit")
	}
	if click("Pause for 1 hour"); !paused.On || paused.Until.Before(time.Now().Add(59*time.Minute)) {
		t.Errorf("paused %+v, want an hour", paused)
	}
}

func TestNothingAnAgentWritesGetsIntoTheMenuUnspelled(t *testing.T) {
	s := snapshot{Pending: []interact.Request{pendingApproval("1", "a\n\u202e{{.Count}}")}}
	label := s.menu(fakeActions, time.Now())[2].Label
	if strings.ContainsAny(label, "\n\u202e") || !strings.Contains(label, "{{.Count}}") {
		t.Errorf("label %q", label)
	}
}
