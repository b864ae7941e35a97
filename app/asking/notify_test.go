package asking

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"nod/api"
	"nod/interact"
)

// paper keeps what it shows.
type paper struct {
	err    error // what show returns
	hang   chan struct{}
	bodies []string
}

func (p *paper) show(text func(markup bool) string, _ string) error {
	if p.hang != nil {
		<-p.hang
	}
	p.bodies = append(p.bodies, text(true))
	return p.err
}

func aNotice(message string) interact.Request {
	return interact.Request{
		Requester: interact.Requester{Agent: "helper", Process: api.Process{Exe: "/usr/bin/claude"}},
		Body:      api.Notify{Message: message},
	}
}

func TestNotifySentOnlyWhenTheDesktopTookIt(t *testing.T) {
	tests := []struct {
		name    string
		paper   *paper
		enabled bool
		want    bool
	}{
		{"taken", &paper{}, true, true},
		{"service fails", &paper{err: errors.New("no such method")}, true, false},
		{"switched off", &paper{}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNotifier(tt.paper.show, func(interact.Request) bool { return tt.enabled }, slog.New(slog.DiscardHandler))
			if got := n.notify(t.Context(), aNotice("done")); got != tt.want {
				t.Errorf("sent = %v, want %v", got, tt.want)
			}
			if len(tt.paper.bodies) > 0 && !tt.enabled {
				t.Error("the desktop was called")
			}
		})
	}
}

func always(interact.Request) bool { return true }

func TestHangingServiceHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &paper{hang: make(chan struct{})}
		n := newNotifier(m.show, always, slog.New(slog.DiscardHandler))
		if n.notify(t.Context(), aNotice("hangs")) {
			t.Error("sent by a service that hangs")
		}
		for range notifyQueue {
			if n.notify(t.Context(), aNotice("queued")) {
				t.Error("sent while the service hangs")
			}
		}
		close(m.hang)
		synctest.Wait()
		if len(m.bodies) != 1 {
			t.Errorf("%d notices came late, want only the one under way", len(m.bodies)-1)
		}
		if !n.notify(t.Context(), aNotice("after")) {
			t.Error("not sent although the service has recovered")
		}
	})
}

func TestNoticeText(t *testing.T) {
	claude := interact.Requester{Agent: "claude-code", IsAgent: true, CWD: "/src/shop",
		Process: api.Process{Exe: "/usr/bin/node"}}
	tests := []struct {
		name   string
		who    interact.Requester
		notice api.Notify
		want   string
	}{
		{"plain", claude, api.Notify{Message: "Tests pass."}, "From: Claude Code · shop — Tests pass."},
		{"heading", claude, api.Notify{Title: "CI", Message: "green"}, "From: Claude Code · shop — CI: green"},
		{"line ends", claude, api.Notify{Message: "\n3 failed:\r\n  a_test\n\nb_test\n"},
			"From: Claude Code · shop — 3 failed:\n  a_test\n\nb_test"},
		{"many lines", claude, api.Notify{Message: strings.Repeat("x\n", 30)},
			"From: Claude Code · shop — " + strings.Repeat("x\n", noticeLines) + "…"},
		{"markup", claude, api.Notify{Message: `<a href="x">y</a> & <img src="z">`},
			"From: Claude Code · shop — &lt;a href=&#34;x&#34;&gt;y&lt;/a&gt; &amp; &lt;img src=&#34;z&#34;&gt;"},
		{"option", claude, api.Notify{Message: "--hint=string:x:y"}, "From: Claude Code · shop — --hint=string:x:y"},
		{"nobody verified", interact.Requester{Agent: "helper"}, api.Notify{Message: "hi"},
			"From: A program that calls itself helper — hi"},
		{"nobody at all", interact.Requester{}, api.Notify{Message: "hi"}, "From: Unknown program — hi"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := noticeText(interact.Request{Requester: tt.who}, tt.notice, true); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestHardenedForWindows(t *testing.T) {
	got := hardened("$(calc) `n \"@ ]]> <b>", true, "windows")
	for _, bad := range []string{"$", "`", `"`, "]]>"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q still contains %q", got, bad)
		}
	}
}

func FuzzNoticeText(f *testing.F) {
	f.Add("title", "message", "agent", "/usr/bin/x")
	f.Add("-t", "--help", "-a", "/-x")
	f.Add("<b>", "a\x1b[2Jb\r\nc\u202e\x00", "\u200b", "")
	f.Fuzz(func(t *testing.T, title, message, agent, exe string) {
		who := interact.Requester{Agent: agent, IsAgent: true, Process: api.Process{Exe: exe}}
		text := noticeText(interact.Request{Requester: who}, api.Notify{Title: title, Message: message}, true)
		if !strings.HasPrefix(text, "From: ") {
			t.Errorf("does not begin with nod's own words: %q", text)
		}
		if strings.ContainsAny(text, "<>") {
			t.Errorf("markup survived: %q", text)
		}
		for _, c := range text {
			if unicode.IsControl(c) && c != '\n' || c == 0x202e || c == 0x200b {
				t.Errorf("%U survived: %q", c, text)
			}
		}
	})
}
