package asking

import (
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact"
)

// announced is an announcer and what it says.
type announced struct {
	*announcer
	t        *testing.T
	said     []*announcement
	off      map[string]bool // agents whose requests the user does not want to hear of
	inTray   bool
	focused  bool
	followed interact.ID
}

func newAnnounced(t *testing.T) *announced {
	a := &announced{t: t, off: map[string]bool{}}
	a.announcer = &announcer{
		ctx:     t.Context(),
		post:    func(n *announcement) { a.said = append(a.said, n) },
		wanted:  func(r interact.Request) bool { return !a.off[r.Requester.Agent] },
		hidden:  func(interact.Request) bool { return a.inTray },
		looking: func() bool { return a.focused },
		sound:   func() bool { return true },
		show:    func(id interact.ID) { a.followed = id },
	}
	return a
}

// step makes these the pending requests, and wants that to be said within d: a text, gone for one that is taken away,
// or nothing.
func (a *announced) step(what, want string, d time.Duration, pending ...interact.Request) {
	a.t.Helper()
	a.said = nil
	a.look(pending)
	synctest.Wait() // what is said at once
	time.Sleep(d)
	synctest.Wait()
	got := ""
	for _, n := range a.said {
		switch {
		case n == nil:
			got += "gone"
		case n.fresh != n.sound:
			a.t.Errorf("%s: sound %v, fresh %v", what, n.sound, n.fresh)
		case n.fresh:
			got += "new: " + n.text(false)
		default:
			got += n.text(false)
		}
	}
	if got != want {
		a.t.Errorf("%s: said %q, want %q", what, got, want)
	}
}

func TestAnnounce(t *testing.T) {
	question := func(id interact.ID, agent string) interact.Request {
		who := interact.Requester{Agent: agent, IsAgent: true, CWD: "/src/shop",
			Process: api.Process{Exe: "/usr/bin/node"}}
		return interact.Request{ID: id, Requester: who, Body: api.Ask{}}
	}
	claude, codex, gemini := question("1", "claude-code"), question("2", "codex"), question("3", "gemini-cli")
	const (
		one   = "Claude Code · shop has a question"
		two   = "Codex · shop has a question\nand 1 more is waiting"
		three = "Gemini CLI · shop has a question\nand 2 more are waiting"
	)
	tests := map[string]func(a *announced){
		"one, two and none": func(a *announced) {
			a.step("one", "new: "+one, announceAfter, claude)
			a.step("it still waits", "", announceAfter, claude)
			a.step("one more", "new: "+two, announceAfter, claude, codex)
			a.step("a third", "new: "+three, announceAfter, claude, codex, gemini)
			a.said[0].open()
			if a.followed != gemini.ID {
				a.t.Errorf("leads to %q", a.followed)
			}
			a.step("the first is answered", "Gemini CLI · shop has a question\nand 1 more is waiting", 0, codex, gemini)
			a.step("the one it names is answered", "Codex · shop has a question", 0, codex)
			a.step("all are", "gone", 0)
			a.step("none", "", announceAfter)
		},
		"three at a time": func(a *announced) {
			a.step("three", "new: "+three, announceAfter, claude, codex, gemini)
		},
		"answered within the time": func(a *announced) {
			a.step("one", "", announceAfter/2, claude)
			a.step("none", "", announceAfter)
		},
		"the user looks at it": func(a *announced) {
			a.focused = true
			a.step("one", "", announceAfter, claude)
			a.focused = false
			a.step("and away again", "", announceAfter, claude)
			a.step("one more", "new: "+two, announceAfter, claude, codex)
		},
		"the user comes to look": func(a *announced) {
			a.step("one", "new: "+one, announceAfter, claude)
			a.seen()
			if len(a.said) != 2 || a.said[1] != nil {
				a.t.Error("the notification stays")
			}
			a.step("it is answered", "", announceAfter)
		},
		"in the tray": func(a *announced) {
			a.inTray = true
			a.step("one", "new: "+one, 0, claude)
			a.inTray = false
			a.step("one in a window", "", announceAfter/2, claude, codex)
			a.inTray = true
			a.step("one in the tray", "new: "+three, 0, claude, codex, gemini)
		},
		"muted": func(a *announced) {
			a.off["codex"] = true
			a.step("one", "", announceAfter, codex)
			a.step("another agent", "new: "+one, announceAfter, codex, claude)
			a.off["claude-code"] = true
			a.step("which is muted, too", "gone", 0, codex, claude)
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(newAnnounced(t)) })
		})
	}
}
