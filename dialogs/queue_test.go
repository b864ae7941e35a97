package dialogs

import (
	"slices"
	"testing"
	"time"

	"nod/interact"
	"nod/policy"
)

// line is a queue that can be written as text.
type line struct{ queue }

func newLine(ids ...string) *line {
	l := &line{}
	for _, id := range ids {
		l.add(bash(id, "echo "+id), policy.Decision{}, nil)
	}
	return l
}

func (l *line) at(id string) *entry { return l.find(interact.ID(id)) }

// snooze snoozes an entry, or ends that.
func (l *line) snooze(id string, off bool) {
	e := l.at(id)
	r := e.request
	if r.Snoozed = (time.Time{}); off {
		r.Snoozed = time.Unix(1_900_000_000, 0)
	}
	l.retime(e, r)
}

// waitingIDs lists the requests that are not snoozed; the current one in brackets.
func (l *line) waitingIDs() []string {
	var list []string
	for _, e := range l.waiting() {
		id := string(e.request.ID)
		if e == l.current {
			id = "[" + id + "]"
		}
		list = append(list, id)
	}
	return list
}

func TestQueue(t *testing.T) {
	tests := []struct {
		name string
		do   func(l *line)
		want []string
	}{
		{"the oldest comes first", func(l *line) {}, []string{"[a]", "b", "c"}},
		{"a newer one does not take its place", func(l *line) { l.add(bash("d", "x"), policy.Decision{}, nil) },
			[]string{"[a]", "b", "c", "d"}},
		{"the next one follows", func(l *line) { l.drop("a") }, []string{"[b]", "c"}},
		{"the one after the current follows", func(l *line) { l.step(1); l.drop("b") }, []string{"a", "[c]"}},
		{"after the last the first", func(l *line) { l.step(-1); l.drop("c") }, []string{"[a]", "b"}},
		{"another one's end changes nothing", func(l *line) { l.drop("b") }, []string{"[a]", "c"}},
		{"an unknown one's neither", func(l *line) { l.drop("z") }, []string{"[a]", "b", "c"}},
		{"next", func(l *line) { l.step(1) }, []string{"a", "[b]", "c"}},
		{"round the end", func(l *line) { l.step(1); l.step(1); l.step(1) }, []string{"[a]", "b", "c"}},
		{"round the start", func(l *line) { l.step(-1) }, []string{"a", "b", "[c]"}},
		{"snoozed", func(l *line) { l.snooze("a", true) }, []string{"[b]", "c"}},
		{"all snoozed", func(l *line) {
			for _, id := range []string{"a", "b", "c"} {
				l.snooze(id, true)
			}
		}, nil},
		{"back from snoozing, in its old place, not in front of the reader", func(l *line) {
			l.snooze("a", true)
			l.snooze("a", false)
		}, []string{"a", "[b]", "c"}},
		{"back when nothing else waits", func(l *line) {
			l.snooze("b", true)
			l.drop("a")
			l.drop("c")
			l.snooze("b", false)
		}, []string{"[b]"}},
		{"all gone", func(l *line) { l.drop("b"); l.drop("a"); l.drop("c") }, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLine("a", "b", "c")
			test.do(l)
			if got := l.waitingIDs(); !slices.Equal(got, test.want) {
				t.Errorf("waits: %v, want %v", got, test.want)
			}
			if (l.current == nil) != (len(test.want) == 0) {
				t.Errorf("current: %v", l.current)
			}
		})
	}
}

func TestOfSession(t *testing.T) {
	who := func(session string, pid int32, exe string) interact.Request {
		r := bash(session+exe+string(rune('0'+pid)), "x"+session+exe+string(rune('0'+pid)))
		r.Requester.Session, r.Requester.Process.PID, r.Requester.Process.Exe = session, pid, exe
		return r
	}
	l := newLine()
	for _, r := range []interact.Request{
		who("s1", 1, "/claude"), who("s1", 2, "/claude"), who("s2", 1, "/claude"), who("s1", 1, "/evil"),
		who("", 5, "/claude"), who("", 6, "/claude"),
	} {
		l.add(r, policy.Decision{}, nil)
	}
	if got := len(l.ofSession(l.entries[0])); got != 2 {
		t.Errorf("session s1: %d entries, want 2", got)
	}
	if got := len(l.ofSession(l.entries[4])); got != 1 {
		t.Errorf("without a session: %d entries, want the one of the same process", got)
	}
}
