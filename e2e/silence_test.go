//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"nod/e2e/desktop"
)

// A drive is a released agent in one of its modes, in the middle of what its model has it do: it makes one file after
// another, each when the test says so.
type drive struct {
	*nod
	*transcript
	agent  string // as nod knows it
	config string // nod's
	calls  int    // that the model made

	again   func(i int) *call // starts the agent anew for each call; nil: one makes them all
	process *call             // without a terminal
	asking  func() bool       // the agent itself asks the user
	agree   func()            // to what it asks
	at      int               // where the results of the running call are in the transcript
}

// A silence is a way in which nobody decides.
type silence struct {
	name    string
	before  func(*drive) // what is done before the call
	happens func(*drive) // what is done once nod's window is up; nil: no window need come up
	after   func(*drive)
	outcome string // what nod says of the request; "": nothing while it is dead
}

// What the cells of the table say of a call that nobody decided.
const (
	isDenied = "denied" // it did not run
	isAsked  = "asks"   // it did not run until the agent had asked the user itself
	isNone   = "–"      // nod did not ask, and it did not run: the agent itself refused it, or nod
	hasRun   = "RAN"    // it ran
)

// What the user presses to decide.
const (
	allow = "ctrl+Return"
	deny  = "ctrl+d"
)

// lapse has prompts time out soon.
const lapse = "NOD_PROMPT_TIMEOUT=2s"

// endings are the silences that somebody brings about, lapses those of which the time ends.
var (
	endings = []silence{
		{name: "Escape", happens: func(d *drive) { d.armed(); d.press("Escape") }, outcome: "dismissed"},
		{name: "closed", happens: func(d *drive) { d.armed(); d.closePrompt() }, outcome: "dismissed"},
		{name: "paused", before: func(d *drive) { d.picks("Pause until I'm back") },
			after:   func(d *drive) { d.picks("Resume") },
			outcome: "unavailable"},
		{name: "window killed", happens: (*drive).killWindows, outcome: "unavailable"},
		{name: "nod gone", happens: (*drive).removeNod, after: func(d *drive) { d.restart(); d.forgets() }},
		{name: "nod killed", happens: func(d *drive) { // and started again: then its prompt comes back
			d.killNod()
			d.await("the windows to end with nod", func() bool { return !d.isShown() })
			d.restart(lapse)
			d.prompt()
			d.armed()
			d.press("Escape")
		}, after: func(d *drive) { d.restart(lapse) }, outcome: "dismissed"},
	}
	lapses = []silence{
		{name: "time-out", outcome: "timed_out"},
		{name: "quiet", before: func(d *drive) { d.mutes(d.agent) }, after: func(d *drive) { d.mutes() },
			outcome: "timed_out"},
		{name: "away", after: func(d *drive) { // after two that timed out
			all := d.outcomes()
			if len(all) > 0 && all[len(all)-1] == "unavailable" { // else nobody was asked, or the agent names no session
				d.picks("I'm back")
			}
		}},
	}
)

// asksToTouch has the user asked about every touch, in whichever tool.
const asksToTouch = settings + `
policy:
  rules:
    - {id: touch, effect: ask, run: [touch]}
    - {id: commands, effect: ask, tool: run_commands}
`

// touched is the file that call number i makes.
func touched(i int) string { return fmt.Sprintf("made-%d.txt", i) }

// touches is the script of a model that makes a file with each call, in the words of its agent.
func touches[C any](call func(command string) C) []C {
	var script []C
	for i := range 2 + len(endings) + len(lapses) {
		script = append(script, call("touch "+touched(i)))
	}
	return script
}

// A row is what was seen of an agent in a mode, as the table has it.
type silenceRow struct {
	Agent, Version, Mode string
	Silences, Cells      []string
	Again                []int // second prompts after an allow, a denial and a silence
}

// sees drives an agent through everything that a user can do and not do, and prints what came of it.
func (d *drive) sees(version, mode string) {
	d.t.Helper()
	row := silenceRow{Agent: d.agent, Version: version, Mode: mode, Again: make([]int, 3)}
	for i, key := range []string{allow, deny} {
		got, again := d.cell(silence{name: key, happens: func(d *drive) { d.armed(); d.press(key) }})
		switch {
		case got == isNone:
		case i == 0 && got != hasRun && got != isAsked:
			d.t.Errorf("allowed: %s, want that it runs", got)
		case i == 1 && got != isDenied:
			d.t.Errorf("denied: %s", got)
		}
		row.Again[i] = again
	}
	for _, s := range endings {
		row.Again[2] += d.column(&row, s)
	}
	for _, s := range lapses {
		row.Again[2] += d.column(&row, s)
	}
	text, err := json.Marshal(row)
	must(d.t, err)
	d.t.Logf("silence: %s", text)
}

// column adds a cell to a row, and returns how often the call was asked about again.
func (d *drive) column(row *silenceRow, s silence) int {
	d.t.Helper()
	got, again := d.cell(s)
	if got == hasRun {
		d.t.Errorf("%s: the call ran, though nobody decided", s.name)
	}
	row.Silences, row.Cells = append(row.Silences, s.name), append(row.Cells, got)
	return again
}

// cell makes a call, has a silence happen and returns what came of it, and how many second prompts there were.
func (d *drive) cell(s silence) (got string, again int) {
	d.t.Helper()
	i := d.calls
	d.calls++
	if s.before != nil {
		s.before(d)
	}
	known := len(d.outcomes())
	d.begin(i)
	windows := 0
	for own := 0; ; {
		switch d.next(s.happens != nil) {
		case nodAsks:
			windows++
			s.happens(d)
			d.await("nod's window to go", func() bool { return !d.isShown() })
			continue
		case itselfAsks:
			own++
			if _, err := os.Stat(d.made(i)); err == nil {
				d.t.Errorf("%s: the call ran before the agent asked about it", s.name)
			}
			d.agree()
			continue
		}
		asked := d.outcomes()[known:]
		got = d.came(i, own, windows+len(asked))
		d.t.Logf("%s: %s, %d windows, %d prompts of its own, nod says %v; the model reads %.300q",
			s.name, got, windows, own, asked, d.last(i))
		if s.outcome != "" && len(asked) > 0 && slices.Index(asked, s.outcome) < 0 {
			d.t.Errorf("%s: nod says %v, want %s", s.name, asked, s.outcome)
		}
		if again = windows + own - 1; own > 0 && s.name != allow && s.name != deny { // how it goes on after silence
			again--
		}
		break
	}
	if s.after != nil {
		s.after(d)
	}
	return got, max(again, 0)
}

// came is what came of call number i, once the model has read so or the agent has ended.
func (d *drive) came(i, own, asked int) string {
	_, err := os.Stat(d.made(i))
	switch ran := err == nil; {
	case own > 0 && ran:
		return isAsked
	case ran:
		return hasRun
	case asked == 0:
		return isNone
	}
	return isDenied
}

func (d *drive) made(i int) string { return filepath.Join(d.project(), touched(i)) }

func (d *drive) last(i int) string {
	if d.again != nil {
		i = 0
	}
	text, _ := d.resultOf(i)
	return text
}

// begin has the model make call number i.
func (d *drive) begin(i int) {
	d.t.Helper()
	if d.again == nil {
		d.turn(i)
		d.at = i
		return
	}
	d.turn(0)
	d.process, d.at = d.again(i), 0
}

// What an agent does next with a call.
type does int

const (
	isDone     does = iota // the model has read what came of it, or the agent has ended
	nodAsks                // nod has a window up
	itselfAsks             // nod does not, and the agent asks the user itself
)

// settles is how long an agent must show its own prompt after nod's answer: some show it before, and take it away then.
const settles = 3 * time.Second

// next waits for what the agent does next. A window is waited for only where something is to be done with it.
func (d *drive) next(window bool) (what does) {
	d.t.Helper()
	var since time.Time
	d.await("the agent to go on", func() bool {
		if _, ok := d.resultOf(d.at); ok || d.hasEnded() { // or it did what a model does not read
			what = isDone
			return true
		}
		if window && d.isShown() {
			what = nodAsks
			return true
		}
		switch {
		case d.isPending() || d.asking == nil || !d.asking():
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > settles:
			what = itselfAsks
			return true
		}
		return false
	})
	return what
}

// await waits until something is so, for as long as a test may take.
func (d *drive) await(what string, met func() bool) {
	d.t.Helper()
	for end := time.After(2 * patience); !met(); {
		select {
		case <-end:
			d.t.Fatalf("waited in vain for %s", what)
		case <-time.After(5 * lookAgain):
		}
	}
}

// hasEnded reports whether the process that makes one call only has ended, or any that runs no terminal.
func (d *drive) hasEnded() bool {
	if d.process == nil {
		return false
	}
	select {
	case <-d.process.ended:
		return true
	default:
		return false
	}
}

// isShown reports whether nod's prompt is drawn and has the keyboard.
func (d *drive) isShown() bool {
	all, err := d.Screen.Windows()
	i := slices.IndexFunc(all, func(w desktop.Window) bool { return w.Title == promptTitle && w.Active })
	if err != nil || i < 0 {
		return false
	}
	drawn, err := d.drawn(all[i].Area)
	return err == nil && drawn
}

// isPending reports whether nod waits for the user. One that is dead does not.
func (d *drive) isPending() bool {
	w, err := d.wire()
	if err != nil {
		return false
	}
	_, text, err := w.do(d.ctx, http.MethodGet, "/v1/health", nil)
	return err == nil && !strings.Contains(string(text), `"pending":0`)
}

// outcomes lists what came of all approvals that were not for the rules alone.
func (d *drive) outcomes() (all []string) {
	log, err := os.ReadFile(d.logPath())
	must(d.t, err)
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "msg=settled") && strings.Contains(line, "kind=approve") &&
			!strings.Contains(line, "by=policy") {
			_, after, _ := strings.Cut(line, "outcome=")
			outcome, _, _ := strings.Cut(after, " ")
			all = append(all, outcome)
		}
	}
	return all
}

// picks picks an entry of the tray's menu, once it is there.
func (d *drive) picks(label string) {
	d.t.Helper()
	d.await(label, func() bool { return d.ActivateTrayItem(d.ctx, label) == nil })
	d.await(label+" to be heard", func() bool { // which takes the entry away
		items, err := d.TrayMenu()
		return err == nil && !slices.ContainsFunc(items, func(i desktop.MenuItem) bool { return i.Label == label })
	})
}

// mutes has the agents' prompts wait in the tray.
func (d *drive) mutes(agents ...string) {
	d.t.Helper()
	const read = `msg="configuration read"`
	count := func() int {
		log, err := os.ReadFile(d.logPath())
		must(d.t, err)
		return strings.Count(string(log), read)
	}
	before := count()
	d.writeConfig(d.config + "\nnotifications:\n  muted: [" + strings.Join(agents, ", ") + "]\n")
	d.await("nod to read its configuration", func() bool { return count() > before })
}

// killWindows kills the windows with the prompt on screen until nod gives up on that prompt.
func (d *drive) killWindows() {
	d.t.Helper()
	old := d.windowsProcess()
	must(d.t, syscall.Kill(old, syscall.SIGKILL))
	must(d.t, syscall.Kill(d.another(old), syscall.SIGKILL))
}

func (d *drive) killNod() {
	d.t.Helper()
	must(d.t, d.cmd.Process.Kill())
	<-d.ended
}

// removeNod kills nod, and has nobody wait for the next: where it listened is gone, as after half a minute.
func (d *drive) removeNod() {
	d.t.Helper()
	must(d.t, d.cmd.Process.Signal(syscall.SIGSTOP)) // or it would write the file anew
	must(d.t, os.Remove(filepath.Join(d.Runtime(), "nod", "endpoint.json")))
	d.killNod()
}

// forgets closes the prompts that nod has taken up again though nobody waits for an answer any more.
func (d *drive) forgets() {
	d.t.Helper()
	d.await("nothing to be pending", func() bool {
		if d.isShown() {
			d.press("Escape") // which counts once the window has been in view for a moment
		}
		return !d.isPending()
	})
}

// restart starts nod-desktop, with more in its environment, unless it runs like that.
func (d *drive) restart(env ...string) {
	d.t.Helper()
	if !isClosed(d.ended) {
		if len(env) == 0 || slices.Contains(d.cmd.Env, env[0]) {
			return
		}
		d.killNod()
	}
	cmd := d.program("nod-desktop", "--background")
	cmd.Env = append(cmd.Env, env...)
	d.startProgram(cmd)
	_, err := d.TrayIcon(d.ctx)
	must(d.t, err)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// newDrive makes a drive of a desktop on which nod and the agent are set up.
func newDrive(n *nod, agent string, m *transcript) *drive {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 10*patience)
	n.t.Cleanup(cancel)
	n.ctx = ctx
	config, err := os.ReadFile(n.configPath())
	must(n.t, err)
	return &drive{nod: n, transcript: m.paced(), agent: agent, config: string(config)}
}

// inTerminal has the agent run in a terminal, where its own prompt says a text and a key agrees.
func (d *drive) inTerminal(term *terminal, asks, key string) *drive {
	term.ctx = d.ctx
	d.asking = func() bool { return strings.Contains(term.text(), asks) }
	d.agree = func() { term.says(key, asks) }
	return d
}
