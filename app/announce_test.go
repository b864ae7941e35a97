package app

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"nod/interact"
)

func TestAnnounce(t *testing.T) {
	question := func(id interact.ID, agent, exe string) interact.Request {
		who := interact.Requester{Agent: agent, Process: interact.Process{Exe: exe}}
		return interact.Request{ID: id, Requester: who, Body: interact.Ask{}}
	}
	claude, codex := question("1", "nice words", "/usr/bin/claude"), question("2", "", "/usr/bin/codex")
	unknown := question("3", "claude", "")

	synctest.Test(t, func(t *testing.T) {
		var said []string
		enabled, looking := true, false
		a := newAnnouncer(t.Context(),
			func(_ context.Context, s string, _ interact.Level) { said = append(said, s) },
			func() bool { return enabled }, func() bool { return looking })
		step := func(what, want string, waiting ...interact.Request) {
			t.Helper()
			said = nil
			a.look(waiting)
			time.Sleep(announceAfter)
			synctest.Wait()
			if got := ""; len(said) > 0 {
				if got = said[0]; got != want || len(said) > 1 {
					t.Errorf("%s: said %q, want %q", what, said, want)
				}
			} else if want != "" {
				t.Errorf("%s: said nothing, want %q", what, want)
			}
		}
		step("one waits", "A request from claude waits for your answer.", claude)
		step("it still waits", "", claude)
		step("one more", "2 requests wait for your answer, the newest from codex.", claude, codex)
		step("one is answered", "", codex)
		step("none", "")
		step("an agent's own name is not believed", "A request from an unknown program waits for your answer.", unknown)
		step("none", "")
		looking = true
		step("the person looks at it", "", claude)
		looking = false
		step("and away again", "", claude)
		enabled = false
		step("switched off", "", codex)
		enabled = true

		said = nil
		a.look([]interact.Request{claude})
		a.look(nil) // answered within the time
		time.Sleep(announceAfter)
		synctest.Wait()
		if len(said) > 0 {
			t.Errorf("announced what had been answered: %q", said)
		}
	})
}
