package settings

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/test"

	"nod/agents/gemini"
	"nod/agents/registry"
	"nod/assets"
	"nod/dialogs/dialogstest"
	"nod/interact"
)

// onAgents opens the settings on the page of the agents, and returns the card of one.
func onAgents(t *testing.T, o *fakeOperator, theme, agent string) (*Window, *agentCard, string) {
	t.Helper()
	w := openWindow(t, o, theme)
	m, err := w.opts.Machine()
	if err != nil {
		t.Fatal(err)
	}
	w.tabs.selectIndex(onAgentsPage)
	return w, w.cardOf(t, agent), m.Home
}

func (w *Window) cardOf(t *testing.T, agent string) *agentCard {
	t.Helper()
	i := slices.IndexFunc(w.agents.cards, func(c *agentCard) bool { return c.agent.Name == agent })
	if i < 0 {
		t.Fatalf("no card for %s", agent)
	}
	return w.agents.cards[i]
}

func TestAnAgentIsSetUpAndRemoved(t *testing.T) {
	_, c, home := onAgents(t, somebody(), "light", "claude-code")
	path := filepath.Join(home, ".claude", "settings.json")
	if !c.check.Disabled() || !c.remove.Disabled() || c.setUp.Disabled() {
		t.Error("an agent that is not set up can be removed or checked, or not set up")
	}
	test.Tap(c.setUp)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the settings were changed before the user agreed: %v", err)
	}
	test.Tap(buttonIn(t, c.body, "Cancel"))
	if len(c.body.Objects) != 0 {
		t.Error("cancelled, but still there")
	}
	test.Tap(c.setUp)
	test.Tap(buttonIn(t, c.body, "Set up"))
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "claude-code") {
		t.Fatalf("%v: %s", err, text)
	}
	if !c.status.Installed || c.remove.Disabled() || c.check.Disabled() || !c.setUp.Disabled() {
		t.Errorf("after it was set up: %+v", c.status)
	}
	test.Tap(c.remove)
	test.Tap(buttonIn(t, c.body, "Remove"))
	if c.status.Installed || c.status.Partly {
		t.Errorf("after it was removed: %+v", c.status)
	}
}

// What nod cannot do for an agent names the switch that helps as the card does, in each language.
func TestLimitsNameTheSwitch(t *testing.T) {
	for _, language := range []string{"en", "zh-CN"} {
		dialogstest.Speak(t, language)
		for _, a := range registry.Installable() {
			for _, limit := range a.Limits {
				limit = assets.Reason(limit)
				if strings.Contains(limit, "agents.strict") && !strings.Contains(limit, lang.L("Deny while nod isn't running")) {
					t.Errorf("%s names only the key: %s", a.Name, limit)
				}
			}
		}
	}
}

// A change that the user agreed to is made, whatever they press meanwhile.
func TestAnAgreedSetUpIsNotForgotten(t *testing.T) {
	_, c, home := onAgents(t, somebody(), "light", "claude-code")
	test.Tap(c.setUp)
	agree := buttonIn(t, c.body, "Set up")
	var jobs []func()
	c.working.Aside = func(f func()) { jobs = append(jobs, f) } // slow
	test.Tap(c.setUp)
	test.Tap(agree)
	test.Tap(c.setUp)
	for len(jobs) > 0 {
		next := jobs[0]
		jobs = jobs[1:]
		next()
	}
	if _, err := os.Stat(filepath.Join(home, ".claude", "settings.json")); err != nil {
		t.Errorf("agreed to, and forgotten: %v", err)
	}
}

func TestGeminiIsAskedThroughNodAloneOnlyOnRequest(t *testing.T) {
	w, c, _ := onAgents(t, somebody(), "light", "gemini-cli")
	test.Tap(c.setUp)
	test.Tap(buttonIn(t, c.body, "Set up"))
	m, err := w.opts.Machine()
	if err != nil {
		t.Fatal(err)
	}
	gate := gemini.Agent.Gate(m).Path
	if _, err := os.Stat(gate); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("its own prompts were switched off unasked: %v", err)
	}
	test.Tap(c.setUp) // there is one more thing to switch on
	checkIn(t, c.body).SetChecked(true)
	test.Tap(buttonIn(t, c.body, "Set up"))
	if _, err := os.Stat(gate); err != nil || !c.status.Gate {
		t.Errorf("%v, %+v", err, c.status)
	}
}

// hooked puts hooks into an agent's settings that run this nod command.
func (c *agentCard) hooked(t *testing.T, nod string) {
	t.Helper()
	m, err := c.win.opts.Machine()
	m.Nod = nod
	changes, installErr := c.agent.Install(m, false)
	err = errors.Join(err, installErr)
	for _, change := range changes {
		err = errors.Join(err, change.Apply())
	}
	if err != nil {
		t.Fatal(err)
	}
	c.look()
}

// Hooks with a missing command are reported and repaired; those that run another nod are reported.
func TestHooksThatPointNowhereAreRepaired(t *testing.T) {
	_, c, home := onAgents(t, somebody(), "light", "claude-code")
	c.hooked(t, goneNod)
	want := "Its hooks run a nod command that fails, so nod isn't asked: " + goneNod + " does not exist"
	if !says(c.notes, want) {
		t.Errorf("it does not say %q", want)
	}
	if c.setUp.Disabled() || c.setUp.Text != "Repair…" || c.remove.Disabled() {
		t.Errorf("the button says %q", c.setUp.Text)
	}
	test.Tap(c.setUp)
	test.Tap(buttonIn(t, c.body, "Repair"))
	text, err := os.ReadFile(filepath.Join(home, ".claude", "settings.json"))
	if err != nil || strings.Contains(string(text), goneNod) || says(c.notes, "can't be run") || !c.setUp.Disabled() {
		t.Errorf("%v, %+v:\n%s", err, c.status, text)
	}
	c.hooked(t, "/opt/nod/bin/nod")
	const other = "Its hooks run another nod command: /opt/nod/bin/nod"
	if !c.status.Installed || says(c.notes, "can't be run") || !says(c.notes, other) {
		t.Errorf("other: %+v", c.status)
	}
	if c.setUp.Disabled() || c.setUp.Text != "Set up…" {
		t.Errorf("the button says %q", c.setUp.Text)
	}
	c.hooked(t, "/opt/\u202eevil\x1b[31m/nod")
	if !says(c.notes, "evil") || says(c.notes, "\u202e") || says(c.notes, "\x1b") {
		t.Error("the other command is not shown, or not escaped")
	}
}

// An unreadable file is reported on its card, and not changed.
func TestSettingsThatCannotBeReadAreSaid(t *testing.T) {
	_, c, home := onAgents(t, somebody(), "light", "claude-code")
	path := filepath.Join(home, ".claude", "settings.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	test.Tap(c.setUp)
	if !c.problem.Content.Visible() || !strings.Contains(c.problem.Label.Text, "settings.json") {
		t.Errorf("problem %q", c.problem.Label.Text)
	}
	if text, _ := os.ReadFile(path); string(text) != "{" {
		t.Errorf("the file is now %q", text)
	}
}

// A version that nod was not tested with, and settings that cut nod off, are said; what nod cannot do is a press away.
func TestAnAgentsRemarks(t *testing.T) {
	w, c, home := onAgents(t, somebody(), "light", "gemini-cli")
	if !says(c.notes, "99.0.0 is newer") {
		t.Error("it does not say that the version is untested")
	}
	if claude := w.cardOf(t, "claude-code"); says(claude.notes, "newer") || says(claude.notes, "off after") {
		t.Error("Claude Code is tested, and not cut off")
	}
	if c.limitsRow.Visible() {
		t.Error("the limits are open before anybody asked")
	}
	test.Tap(c.limits)
	if !c.limitsRow.Visible() {
		t.Error("the limits are still closed")
	}
	test.Tap(c.limits)
	if c.limitsRow.Visible() {
		t.Error("the limits are still open")
	}
	path := filepath.Join(home, ".gemini", "settings.json")
	test.Tap(c.setUp)
	checkIn(t, c.body).SetChecked(true)
	test.Tap(buttonIn(t, c.body, "Set up"))
	text, err := os.ReadFile(path)
	if err != nil || says(c.notes, "off after") || !c.setUp.Disabled() {
		t.Fatalf("set up: %v, %+v", err, c.status)
	}
	short := strings.ReplaceAll(string(text), "600000", "60000")
	if err := os.WriteFile(path, []byte(short), 0o600); err != nil {
		t.Fatal(err)
	}
	c.look()
	if !says(c.notes, "off after 60 s") {
		t.Error("it does not say that it is cut off")
	}
	test.Tap(c.setUp) // puts it right
	test.Tap(buttonIn(t, c.body, "Set up"))
	if says(c.notes, "off after") || !c.setUp.Disabled() {
		t.Errorf("still cut off: %+v", c.status)
	}
}

func TestStrictIsSaved(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onAgentsPage)
	c := w.agents.cards[0]
	test.Tap(c.strict.check)
	if got := o.config().Agents.Strict; !slices.Equal(got, []string{"claude-code"}) {
		t.Errorf("strict: %q", got)
	}
	test.Tap(c.strict.check)
	if got := o.config().Agents.Strict; len(got) != 0 {
		t.Errorf("strict: %q", got)
	}
}

func TestContactText(t *testing.T) {
	now := time.Date(2026, 3, 2, 15, 4, 0, 0, time.Local)
	for want, k := range map[string]interact.Contact{
		"No calls since nod started": {},
		"Last call just now":         {Calls: 1, Last: now},
		"Last call 5 min ago · 2 passed by the rules · 1 denied by you": {Calls: 9,
			Passed: 2, Denied: 1, Last: now.Add(-5 * time.Minute)},
		"Last call 12:04 · 1 denied by the rules · 3 allowed by you · 1 undecided": {Calls: 9,
			Refused: 1, Allowed: 3, Undecided: 1, Last: now.Add(-3 * time.Hour)},
	} {
		if got := contactText(k, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Hooks that a setting switches off are reported, and the badge does not say that the agent asks through nod.
func TestHooksThatAreSwitchedOffAreSaid(t *testing.T) {
	_, c, home := onAgents(t, somebody(), "light", "claude-code")
	m, err := c.win.opts.Machine()
	if err != nil {
		t.Fatal(err)
	}
	c.hooked(t, m.Nod)
	path := filepath.Join(home, ".claude", "settings.json")
	text, err := os.ReadFile(path)
	if err != nil || says(c.notes, "switched off") {
		t.Fatalf("%v, or said to be switched off", err)
	}
	off := strings.Replace(string(text), "{", `{"disableAllHooks": true,`, 1)
	if err := os.WriteFile(path, []byte(off), 0o600); err != nil {
		t.Fatal(err)
	}
	c.look()
	const want = "Hooks are switched off in ~/.claude/settings.json (disableAllHooks): nod isn't asked. Remove that key."
	state, _ := c.stateText()
	if !says(c.notes, want) || state != "hooks are off" {
		t.Errorf("state %q, or it does not say %q", state, want)
	}
}
