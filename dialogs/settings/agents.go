package settings

import (
	"bytes"
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/assets"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
	"nod/interact"
	"nod/ipc/operator"
	"nod/policy/config"
)

const stepLimit = 600

const checkPatience = 20 * time.Second

type agentsPage struct {
	*agentList
	content fyne.CanvasObject
	askMore *checkRow
}

func newAgentsPage(w *Window) *agentsPage {
	p := &agentsPage{agentList: newAgentList(w)}
	p.askMore = newSwitch(w, lang.L("Ask in quiet modes too"), lang.L("When an agent's mode asks less, such as "+
		"acceptEdits or auto, still ask about calls that no rule covers. Your ask rules apply in every mode."),
		func(cfg *config.Config) *bool { return &cfg.Agents.AskMore })
	p.content = page(header(lang.L("Agents"), lang.L("Coding agents that ask through nod. You see "+
		"every change to their settings first.")), p.agentList.content, card(p.askMore.Content))
	return p
}

func (p *agentsPage) refresh(s operator.State) {
	p.askMore.refresh(s)
	p.agentList.refresh(s)
}

type agentList struct {
	content *fyne.Container
	cards   []*agentCard

	looking       fyne.CanvasObject // shown while looking for agents
	found, others *fyne.Container   // cards
	more          *controls.Button  // shows or hides the other agents
	open          bool              // the others are shown
}

func newAgentList(w *Window) *agentList {
	l := &agentList{found: dialogs.Column(14), others: dialogs.Column(14), looking: controls.Muted(lang.L("looking…"))}
	l.more = controls.QuietButton("", theme.MenuExpandIcon(), func() {
		l.open = !l.open
		l.arrange()
	})
	for _, a := range registry.Installable() {
		l.cards = append(l.cards, newAgentCard(w, a, l.arrange))
	}
	l.content = dialogs.Column(14, l.looking, l.found, container.NewHBox(l.more), l.others)
	l.arrange()
	return l
}

func (l *agentList) arrange() {
	var found, others []fyne.CanvasObject
	for _, c := range l.cards {
		switch {
		case !c.looked:
		case c.isHere():
			found = append(found, c.content)
		default:
			others = append(others, c.content)
		}
	}
	looking := len(found)+len(others) < len(l.cards)
	dialogs.SetVisible(l.looking, looking)
	dialogs.SetVisible(l.more, !looking && len(others) > 0)
	dialogs.SetVisible(l.others, !looking && l.open)
	l.more.Icon = theme.MenuExpandIcon()
	if l.open {
		l.more.Icon = theme.MenuDropDownIcon()
	}
	l.more.SetText(lang.L("Other agents nod knows ({{.Count}})", map[string]any{"Count": len(others)}))
	if len(others) == len(l.cards) {
		none := lang.L("nod found no agent it knows in this session's PATH.")
		found = append(found, card(emptyRow(none)))
	}
	controls.SetContent(l.found, found...)
	controls.SetContent(l.others, others...)
	l.content.Refresh()
}

func (l *agentList) refresh(s operator.State) {
	for _, c := range l.cards {
		c.refresh(s)
	}
}

// escape closes what the cards show at the user's request. It reports whether there was any.
func (l *agentList) escape() (isUsed bool) {
	for _, c := range l.cards {
		if len(c.body.Objects) > 0 {
			c.working.Drop()
			c.close()
			isUsed = true
		}
	}
	return isUsed
}

func (l *agentList) look() {
	for _, c := range l.cards {
		c.look()
	}
}

type agentCard struct {
	part    // its work reads the agent's files; its body shows pending changes, or the result of a check
	agent   agent.Agent
	working controls.Worker // for the body

	version, contact *widget.Label
	notes            *fyne.Container   // what the user should know about it, such as why it does not ask
	limits           *controls.Button  // shows or hides limitsRow
	limitsRow        fyne.CanvasObject // what nod cannot do for it
	title            *fyne.Container   // name and badge
	badge            *fyne.Container
	setUp, remove    *controls.Button
	check            *controls.Button
	strict           *checkRow
	strictRow        *fyne.Container // shown while the agent is set up
	status           agent.Status
	looked           bool   // status, or an error, is known
	changed          func() // called after a look
}

func newAgentCard(w *Window, a agent.Agent, changed func()) *agentCard {
	c := &agentCard{part: newPart(w), agent: a, changed: changed, working: controls.Worker{Aside: w.Aside},
		badge: container.NewStack(), notes: dialogs.Column(3),
		version: dialogs.Lines(lang.L("looking…"), theme.SizeNameCaptionText, widget.LowImportance),
		contact: dialogs.Lines("", theme.SizeNameCaptionText, widget.LowImportance)}
	c.notes.Hide()
	c.setUp = controls.NewButton(c.setUpVerb()+"…", nil, func() { c.plan(false) })
	c.remove = controls.NewButton(lang.L("Remove…"), nil, func() {
		c.propose(setUpChange{verb: lang.L("Remove"), changes: c.agent.Uninstall})
	})
	c.check = controls.NewButton(lang.L("Check"), nil, c.probe)
	c.strict = newMember(w, lang.L("Deny while nod isn't running"),
		lang.L("Otherwise the agent asks in its own way."), a.Name,
		func(cfg *config.Config) *[]string { return &cfg.Agents.Strict })
	offer(false, c.setUp, c.remove, c.check) // until the agent's files have been read
	c.title = container.NewHBox(dialogs.Words(a.Title, theme.SizeNameText, theme.ColorNameForeground).Bold(), c.badge)
	name := dialogs.Column(3, c.title, dialogs.Tight(c.version), dialogs.Tight(c.contact), c.notes)
	c.limits = controls.QuietButton(lang.L("Limits"), theme.MenuExpandIcon(), c.toggleLimits)
	head := dialogs.Padded(10, 14, controls.Besides(12, name,
		container.NewHBox(c.limits, c.check, c.remove, c.setUp)))
	limits := dialogs.Column(4)
	for _, limit := range a.Limits {
		limits.Add(controls.Muted("· " + assets.Reason(limit)))
	}
	c.limitsRow = dialogs.Padded(8, 14, limits)
	c.limitsRow.Hide()
	c.strictRow = dialogs.Column(0, dialogs.Rule(), c.strict.Content)
	c.strictRow.Hide()
	c.content = dialogs.Card(dialogs.ColorSunken,
		dialogs.Column(0, head, dialogs.Padded(0, 14, c.problem.Content), c.limitsRow, c.body, c.strictRow))
	return c
}

// isHere reports whether the agent is or was on this machine. It returns true if that is unknown.
func (c *agentCard) isHere() bool {
	return c.status.Program != "" || c.isSetUp() || c.problem.Content.Visible()
}

func (c *agentCard) isSetUp() bool { return c.status.Installed || c.status.Partly || c.status.Gate }

func (c *agentCard) refresh(s operator.State) {
	c.strict.refresh(s)
	c.contact.SetText(contactText(s.Contacts[c.agent.Name], time.Now()))
}

func offer(on bool, buttons ...*controls.Button) {
	for _, b := range buttons {
		controls.Enable(on, b)
		dialogs.SetVisible(b, on)
	}
}

func (c *agentCard) toggleLimits() {
	dialogs.SetVisible(c.limitsRow, !c.limitsRow.Visible())
	c.limits.SetIcon(theme.MenuExpandIcon())
	if c.limitsRow.Visible() {
		c.limits.SetIcon(theme.MenuDropDownIcon())
	}
	c.content.Refresh()
}

// machine returns this machine with the time that nod waits for the user.
func (c *agentCard) machine() func() (agent.Machine, error) {
	wait := c.win.state.Config.Prompt.Timeout
	return func() (agent.Machine, error) {
		m, err := c.win.opts.Machine()
		m.Wait = wait
		return m, err
	}
}

func contactText(k interact.Contact, now time.Time) string {
	if k.Calls == 0 {
		return lang.L("No calls since nod started")
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
			parts = append(parts, lang.L(p.text, map[string]any{"Count": prompt.Number(p.n)}))
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

func (c *agentCard) look() {
	machine := c.machine()
	controls.Fetch(&c.work, func(context.Context) (agent.Status, error) {
		m, err := machine()
		if err != nil {
			return agent.Status{}, err
		}
		return c.agent.Status(m)
	}, c.show)
}

func (c *agentCard) show(s agent.Status, err error) {
	c.status = s
	c.problem.Complain(err)
	c.version.SetText(c.foundText())
	c.showNotes(s)
	text, color := c.stateText()
	controls.SetContent(c.badge, container.NewCenter(dialogs.Badge(text, color)))
	c.title.Refresh()
	dialogs.SetVisible(c.strictRow, c.isSetUp())
	offer(err == nil && c.isSetUp(), c.remove, c.check)
	// Even if it is not found, because a session's PATH is not that of a shell.
	more := s.CanGate && !s.Gate || s.CutOff != nil || s.Other != "" // to switch on, or to put right
	c.setUp.SetText(c.setUpVerb() + "…")
	offer(err == nil && (!s.Installed || more), c.setUp)
	c.looked = true
	c.content.Refresh()
	c.changed()
}

func (c *agentCard) showNotes(s agent.Status) {
	c.notes.Objects = nil
	add := func(text string, i widget.Importance) {
		if text != "" {
			c.notes.Add(controls.Small(text, i))
		}
	}
	add(safetext.Line(assets.Reason(s.Untested), controls.QuoteLimit), widget.LowImportance)
	if s.Other != "" {
		add(lang.L("Its hooks run another nod command: {{.Path}}",
			map[string]any{"Path": safetext.Line(s.Other, controls.QuoteLimit)}), widget.LowImportance)
	}
	add(safetext.Line(assets.Reason(s.Asking), controls.QuoteLimit), widget.LowImportance)
	for _, off := range s.Off {
		add(safetext.Line(assets.Reason(off.Error()), stepLimit), widget.DangerImportance)
	}
	if s.Dead != nil {
		add(lang.L("Its hooks run a nod command that fails, so nod isn't asked: {{.Problem}}",
			map[string]any{"Problem": safetext.Line(s.Dead.Error(), stepLimit)}), widget.DangerImportance)
	}
	if s.CutOff != nil {
		add(s.CutOff.Error(), widget.WarningImportance)
	}
	dialogs.SetVisible(c.notes, len(c.notes.Objects) > 0)
}

func (c *agentCard) setUpVerb() string {
	if c.status.Dead != nil {
		return lang.L("Repair")
	}
	return lang.L("Set up")
}

func (c *agentCard) foundText() string {
	program, version := safetext.Line(c.status.Program, controls.QuoteLimit), safetext.Line(c.status.Version, 40)
	switch {
	case program == "" && c.status.Installed:
		return lang.L("Not found in this session's PATH")
	case program == "":
		return lang.L("Not found in this session's PATH; you can still set it up")
	case version == "":
		return program
	}
	return lang.L("Version {{.Version}}", map[string]any{"Version": version}) + " · " + program
}

func (c *agentCard) stateText() (string, fyne.ThemeColorName) {
	switch {
	case c.status.Installed && c.status.Off != nil:
		return lang.L("hooks are off"), theme.ColorNameError
	case c.status.Installed && c.status.Gate:
		return lang.L("asks through nod alone"), theme.ColorNameSuccess
	case c.status.Installed:
		return lang.L("asks through nod"), theme.ColorNameSuccess
	case c.status.Dead != nil:
		return lang.L("hooks are broken"), theme.ColorNameError
	case c.status.Partly:
		return lang.L("partly set up"), theme.ColorNameWarning
	}
	return lang.L("not set up"), dialogs.ColorMuted
}

func (c *agentCard) plan(gate bool) {
	var extra fyne.CanvasObject
	if c.status.CanGate {
		only := controls.NewCheck(lang.L("Ask only through nod: turn its own prompts off"), func(on bool) { c.plan(on) })
		only.Checked = gate
		extra = dialogs.Column(2, only, controls.Muted(lang.L("Off: the agent also asks in its terminal, and nod denies "+
			"only calls your rules deny. On: only nod asks, once per call; but if nod's hook is killed, the agent "+
			"continues as if you had allowed.")))
	}
	c.propose(setUpChange{verb: c.setUpVerb(), after: c.agent.After, extra: extra,
		changes: func(m agent.Machine) ([]agent.Change, error) { return c.agent.Install(m, gate) }})
}

type setUpChange struct {
	changes func(agent.Machine) ([]agent.Change, error)
	verb    string
	after   string            // what the user has to do afterwards
	extra   fyne.CanvasObject // options; may be nil
}

func (c *agentCard) propose(p setUpChange) {
	controls.Fetch(&c.working, func(context.Context) ([]agent.Change, error) {
		m, err := c.win.opts.Machine()
		if err != nil {
			return nil, err
		}
		return p.changes(m)
	}, func(changes []agent.Change, err error) {
		c.problem.Complain(err)
		if err != nil {
			c.close()
			return
		}
		c.open(c.planned(p, changes))
	})
}

func (c *agentCard) planned(p setUpChange, changes []agent.Change) fyne.CanvasObject {
	rows := dialogs.Column(10)
	if p.extra != nil {
		rows.Add(p.extra)
	}
	for _, ch := range changes {
		lines := bytes.Count(ch.Before, []byte("\n")) + bytes.Count(ch.After, []byte("\n")) + 1
		rows.Add(dialogs.Column(4, controls.Muted(safetext.Line(prompt.FromHome(ch.Path), controls.QuoteLimit)),
			dialogs.Sized(0, min(40+20*float32(lines), diffHeight), dialogs.Diff(string(ch.Before), string(ch.After), nil))))
	}
	if len(changes) == 0 {
		rows.Add(controls.Muted(lang.L("Nothing to change.")))
	}
	var do *controls.Button
	do = controls.MainButton(p.verb, nil, func() {
		do.Disable()
		c.apply(changes, p.after, do.Enable)
	})
	controls.Enable(len(changes) > 0, do)
	rows.Add(container.NewHBox(do, controls.QuietButton(lang.L("Cancel"), nil, c.close)))
	return rows
}

const diffHeight = 190 // at most

// apply makes changes, or shows why it could not. It does not use the worker, which may drop a job for a later one.
func (c *agentCard) apply(changes []agent.Change, after string, failed func()) {
	c.win.Aside(func() {
		var err error
		for i := 0; i < len(changes) && err == nil; i++ {
			err = changes[i].Apply()
		}
		dialogs.Do(func() {
			c.problem.Complain(err)
			if err != nil {
				failed()
				return
			}
			c.close()
			if after != "" {
				c.open(controls.Muted(after))
			}
			c.look()
		})
	})
}

func (c *agentCard) probe() {
	c.open(controls.Muted(lang.L("looking…")))
	machine := c.machine()
	c.working.Do(func(ctx context.Context) func() {
		ctx, cancel := context.WithTimeout(ctx, checkPatience)
		defer cancel()
		m, err := machine()
		steps := []agent.Step{{What: lang.L("this machine"), Err: err}}
		if err == nil {
			_, steps = c.agent.Check(ctx, m)
		}
		return func() { c.report(steps) }
	})
}

func (c *agentCard) report(steps []agent.Step) {
	rows := dialogs.Column(4)
	for _, s := range steps {
		mark, importance, text := "✓ ", widget.MediumImportance, assets.Reason(s.What)
		if s.Err != nil {
			mark, importance, text = "✗ ", widget.DangerImportance, assets.Reason(s.What)+": "+assets.Reason(s.Err.Error())
		}
		rows.Add(controls.Small(mark+safetext.Line(text, stepLimit), importance))
	}
	c.open(dialogs.Column(8, rows, container.NewHBox(controls.QuietButton(lang.L("Close"), nil, c.close))))
}

func (c *agentCard) open(o fyne.CanvasObject) {
	c.fill(dialogs.Padded(8, 14, o))
	c.win.Reveal(c.body)
}

func (c *agentCard) close() { c.fill() }

func (c *agentCard) fill(objects ...fyne.CanvasObject) {
	controls.SetContent(c.body, objects...)
	c.content.Refresh()
}
