package settings

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/safetext"
	"nod/ipc/hooks/install"
	"nod/policy"
)

// Contact is what came of one agent's hooks since nod was started.
type Contact struct {
	Last            time.Time // a hook of its called
	Calls           int       // of its hooks, for whatever reason
	Passed, Refused int       // let through and denied by the policy alone
	Allowed, Denied int       // by the person
	Answered        int       // questions and forms, by the person
	Undecided       int       // nobody decided
}

// Agents is what the window needs to set up coding agents.
type Agents struct {
	Machine  func() (install.Machine, error) // where to look for them and what their hooks run
	Contacts func() map[string]Contact       // by agent; those that never called are not in it
}

// checkPatience is how long the check of an agent may take.
const checkPatience = 20 * time.Second

// agentsPage sets coding agents up to ask through nod.
type agentsPage struct {
	content fyne.CanvasObject
	cards   []*agentCard
}

func newAgentsPage(a Agents, change change, aside func(func())) *agentsPage {
	p := &agentsPage{}
	rows := dialogs.Column(14, header(lang.L("Agents"), lang.L("Which coding agents ask through nod. You see every change of their settings before it is made.")))
	for _, agent := range install.All() {
		c := newAgentCard(agent, a, change, aside)
		p.cards = append(p.cards, c)
		rows.Add(c.content)
	}
	p.content = page(rows)
	return p
}

// refresh shows what is known without looking at the machine.
func (p *agentsPage) refresh(c policy.Config, editable bool) {
	for _, card := range p.cards {
		card.refresh(slices.Contains(c.Agents.Strict, card.agent.Name), editable)
	}
}

// look looks at the machine, which takes a moment.
func (p *agentsPage) look() {
	for _, card := range p.cards {
		card.look()
	}
}

// agentCard is one agent.
type agentCard struct {
	content fyne.CanvasObject
	agent   install.Agent
	source  Agents
	aside   func(func())

	version, contact *widget.Label
	title            *fyne.Container // name and badge
	badge, below     *fyne.Container // below: what is about to change, or what a check found
	setUp, remove    *widget.Button
	check            *widget.Button
	strict           *checkRow
	strictRow        *fyne.Container // is there while the agent is set up
	problem          *remark
	status           install.Status
}

func newAgentCard(a install.Agent, source Agents, change change, aside func(func())) *agentCard {
	c := &agentCard{agent: a, source: source, aside: aside,
		version: dialogs.Lines(lang.L("looking…"), theme.SizeNameCaptionText, widget.LowImportance),
		contact: dialogs.Lines("", theme.SizeNameCaptionText, widget.LowImportance),
		badge:   container.NewStack(), below: container.NewStack(), problem: newRemark(widget.DangerImportance)}
	c.setUp = widget.NewButton(lang.L("Set up…"), func() { c.plan(false) })
	c.remove = widget.NewButton(lang.L("Remove…"), c.planRemoval)
	c.check = widget.NewButton(lang.L("Check"), c.probe)
	c.strict = newCheckRow(lang.L("Deny while nod is not running"),
		lang.L("Otherwise the agent asks in its own way then."), func(on bool) error { return c.saveStrict(change, on) })
	for _, b := range []fyne.Disableable{c.setUp, c.remove, c.check} {
		b.Disable() // until the machine has been looked at
	}
	c.title = container.NewHBox(dialogs.BoldWords(a.Title, theme.SizeNameText, theme.ColorNameForeground), c.badge)
	name := dialogs.Column(3, c.title, dialogs.Tight(c.version), dialogs.Tight(c.contact))
	head := dialogs.Padded(10, 14, container.New(besides{gap: 12}, name, container.NewHBox(c.check, c.remove, c.setUp)))
	c.strictRow = dialogs.Column(0, dialogs.Rule(), c.strict.field.content)
	c.strictRow.Hide()
	c.content = dialogs.Card(dialogs.ColorSunken, dialogs.Column(0, head, dialogs.Padded(0, 14, c.problem.content), c.below, c.strictRow))
	return c
}

func (c *agentCard) saveStrict(change change, on bool) error {
	return change(func(cfg *policy.Config) error {
		kept := slices.DeleteFunc(slices.Clone(cfg.Agents.Strict), func(name string) bool { return name == c.agent.Name })
		if on {
			kept = append(kept, c.agent.Name)
		}
		cfg.Agents.Strict = kept
		return nil
	})
}

func (c *agentCard) refresh(strict, editable bool) {
	c.strict.show(strict)
	enable(editable, c.strict.check)
	c.contact.SetText(contactText(c.source.Contacts()[c.agent.Name], time.Now()))
}

// contactText says when an agent last called, and what came of its calls.
func contactText(k Contact, now time.Time) string {
	if k.Calls == 0 {
		return lang.L("No call since nod was started")
	}
	parts := []string{lang.L("Last call {{.Ago}}", map[string]any{"Ago": ago(k.Last, now)})}
	for _, p := range []struct {
		n    int
		text string
	}{
		{k.Passed, "{{.Count}} passed by the rules"}, {k.Refused, "{{.Count}} denied by the rules"},
		{k.Allowed, "{{.Count}} allowed by you"}, {k.Denied, "{{.Count}} denied by you"},
		{k.Answered, "{{.Count}} answered by you"}, {k.Undecided, "{{.Count}} undecided"},
	} {
		if p.n > 0 {
			parts = append(parts, lang.L(p.text, map[string]any{"Count": p.n}))
		}
	}
	return strings.Join(parts, " · ")
}

func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < time.Minute:
		return lang.L("just now")
	case d < time.Hour:
		return lang.L("{{.Count}} min ago", map[string]any{"Count": int(d.Minutes())})
	case d < 24*time.Hour:
		return t.In(now.Location()).Format("15:04")
	}
	return t.In(now.Location()).Format(time.DateOnly)
}

// look asks the machine about the agent.
func (c *agentCard) look() {
	c.aside(func() {
		var s install.Status
		m, err := c.source.Machine()
		if err == nil {
			s, err = c.agent.Status(m)
		}
		fyne.Do(func() { c.show(s, err) })
	})
}

func (c *agentCard) show(s install.Status, err error) {
	c.status = s
	c.problem.complain(err)
	c.version.SetText(c.foundText())
	text, color := c.stateText()
	c.badge.Objects = []fyne.CanvasObject{container.NewCenter(dialogs.Badge(text, color))}
	c.title.Refresh()
	here := s.Installed || s.Partly || s.Gate
	setVisible(c.strictRow, here)
	enable(err == nil && !s.Installed, c.setUp) // also when it is not found: a session's PATH is not that of a shell
	enable(err == nil && here, c.remove)
	enable(err == nil && here, c.check)
	if s.CanGate && s.Installed && !s.Gate { // there is one more thing to switch on
		c.setUp.Enable()
	}
}

func (c *agentCard) foundText() string {
	switch {
	case c.status.Program == "":
		return lang.L("Not found in this session's PATH; it can be set up all the same")
	case c.status.Version == "":
		return safetext.Line(c.status.Program, quoteLimit)
	}
	return lang.L("Version {{.Version}}", map[string]any{"Version": safetext.Line(c.status.Version, 40)}) + " · " + safetext.Line(c.status.Program, quoteLimit)
}

func (c *agentCard) stateText() (string, fyne.ThemeColorName) {
	switch {
	case c.status.Installed && c.status.Gate:
		return lang.L("asks through nod alone"), theme.ColorNameSuccess
	case c.status.Installed:
		return lang.L("asks through nod"), theme.ColorNameSuccess
	case c.status.Partly:
		return lang.L("set up in part"), theme.ColorNameWarning
	}
	return lang.L("not set up"), dialogs.ColorMuted
}

// plan shows what setting the agent up would change.
func (c *agentCard) plan(gate bool) {
	var extra fyne.CanvasObject
	if c.status.CanGate {
		only := widget.NewCheck(lang.L("Ask through nod alone: switch its own prompts off"), func(on bool) { c.plan(on) })
		only.Checked = gate
		extra = dialogs.Column(2, only, muted(lang.L("Without this it goes on asking in its terminal, and nod only denies what your rules deny. With it each call is asked about once, by nod; but if nod's hook is killed, it goes on as if you had allowed.")))
	}
	c.propose(func(m install.Machine) ([]install.Change, error) { return c.agent.Install(m, gate) }, lang.L("Set up"), c.agent.After(), extra)
}

// planRemoval shows what taking nod out would change.
func (c *agentCard) planRemoval() {
	c.propose(c.agent.Uninstall, lang.L("Remove"), "", nil)
}

// propose shows changes, and makes them when the person says so.
func (c *agentCard) propose(changesOn func(install.Machine) ([]install.Change, error), verb, after string, extra fyne.CanvasObject) {
	m, err := c.source.Machine()
	var changes []install.Change
	if err == nil {
		changes, err = changesOn(m)
	}
	c.problem.complain(err)
	if err != nil {
		c.close()
		return
	}
	rows := dialogs.Column(10)
	if extra != nil {
		rows.Add(extra)
	}
	for _, ch := range changes {
		rows.Add(dialogs.Column(4, muted(safetext.Line(fromHome(ch.Path, m.Home), quoteLimit)),
			container.New(exactHeight(diffHeight), dialogs.Diff(string(ch.Before), string(ch.After), nil))))
	}
	if len(changes) == 0 {
		rows.Add(muted(lang.L("There is nothing to change.")))
	}
	do := widget.NewButton(verb, func() { c.apply(changes, after) })
	do.Importance = widget.HighImportance
	enable(len(changes) > 0, do)
	rows.Add(container.NewHBox(do, quietButton(lang.L("Cancel"), nil, c.close)))
	c.open(rows)
}

// fromHome writes ~ for the home folder.
func fromHome(path, home string) string {
	if rest, inside := strings.CutPrefix(path, home+string(filepath.Separator)); inside && home != "" {
		return filepath.Join("~", rest)
	}
	return path
}

// diffHeight is the height of a difference; a longer one scrolls.
const diffHeight = 190

func (c *agentCard) apply(changes []install.Change, after string) {
	for _, change := range changes {
		if err := change.Apply(); err != nil {
			c.problem.complain(err)
			return
		}
	}
	c.close()
	if after != "" {
		c.open(muted(after))
	}
	c.look()
}

// probe checks each step of the way from the agent to nod.
func (c *agentCard) probe() {
	c.open(muted(lang.L("looking…")))
	c.aside(func() {
		ctx, cancel := context.WithTimeout(context.Background(), checkPatience)
		defer cancel()
		m, err := c.source.Machine()
		steps := []install.Step{{What: lang.L("this machine"), Err: err}}
		if err == nil {
			steps = c.agent.Check(ctx, m)
		}
		fyne.Do(func() { c.report(steps) })
	})
}

func (c *agentCard) report(steps []install.Step) {
	rows := dialogs.Column(4)
	for _, s := range steps {
		mark, importance, text := "✓ ", widget.MediumImportance, s.What
		if s.Err != nil {
			mark, importance, text = "✗ ", widget.DangerImportance, s.What+": "+s.Err.Error()
		}
		rows.Add(dialogs.Tight(dialogs.Lines(mark+text, theme.SizeNameCaptionText, importance)))
	}
	c.open(dialogs.Column(8, rows, container.NewHBox(quietButton(lang.L("Close"), nil, c.close))))
}

func (c *agentCard) open(o fyne.CanvasObject) {
	c.below.Objects = []fyne.CanvasObject{dialogs.Padded(8, 14, o)}
	c.below.Refresh()
	c.content.Refresh()
}

func (c *agentCard) close() {
	c.below.Objects = nil
	c.below.Refresh()
	c.content.Refresh()
}

// exactHeight gives its only object exactly that height.
type exactHeight float32

func (h exactHeight) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(objects[0].MinSize().Width, float32(h))
}

func (h exactHeight) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }
