package settings

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"nod/policy"
)

// change saves a change of the configuration.
type change func(func(*policy.Config) error) error

// generalPage says how nod asks, looks and starts.
type generalPage struct {
	content fyne.CanvasObject
	opts    Options
	change  change
	started policy.Config // as it was when nod started: what needs a restart to count

	timeout, armAfter, port *savedEntry
	onTop                   *checkRow
	prompts, notices        *checkRow
	autostart               *checkRow
	theme, language         *choiceRow
	restart                 *remark
}

func newGeneralPage(o Options, change change) *generalPage {
	p := &generalPage{opts: o, change: change, started: o.Store.Config()}
	p.makeAsking()
	p.makeSurroundings()
	p.restart = newRemark(widget.WarningImportance)
	p.content = page(
		section(lang.L("Asking"), "", p.timeout.field.content, p.armAfter.field.content, p.onTop.field.content),
		section(lang.L("Notifications"), "", p.prompts.field.content, p.notices.field.content),
		section(lang.L("Look"), "", p.theme.field.content, p.language.field.content),
		section(lang.L("Start"), "", p.autostart.field.content, p.port.field.content),
		p.restart.content,
	)
	return p
}

func (p *generalPage) makeAsking() {
	p.timeout = newSavedEntry(lang.L("Time to answer"),
		lang.L("How long a request waits for you when it does not say so itself. Silence never allows anything."),
		durationCheck(time.Second, 24*time.Hour),
		p.saveDuration(func(c *policy.Config) *time.Duration { return &c.Prompt.Timeout }))
	p.armAfter = newSavedEntry(lang.L("Pause before Allow works"),
		lang.L("A prompt must be visible and unchanged this long, so that no click meant for something else allows anything."),
		durationCheck(700*time.Millisecond, 10*time.Second),
		p.saveDuration(func(c *policy.Config) *time.Duration { return &c.Prompt.ArmAfter }))
	p.onTop = p.newSwitch(lang.L("Keep prompts above other windows"), lang.L("Where the desktop allows it."),
		func(c *policy.Config) *bool { return &c.Prompt.OnTop })
	p.port = newSavedEntry(lang.L("Port"),
		lang.L("Where agents on this machine reach nod. 0 picks a free port at each start. Counts after a restart."),
		checkPort, p.savePort)
}

func (p *generalPage) makeSurroundings() {
	p.prompts = p.newSwitch(lang.L("Announce waiting prompts"),
		lang.L("A notification when a prompt waits and you look elsewhere. It never contains an agent's words."),
		func(c *policy.Config) *bool { return &c.Notifications.Prompts })
	p.notices = p.newSwitch(lang.L("Pass on agents' notices"),
		lang.L("What agents send with nod notify."),
		func(c *policy.Config) *bool { return &c.Notifications.Notices })
	p.theme = p.newChoice(lang.L("Theme"), "",
		[]option{{"system", lang.L("As the system")}, {"light", lang.L("Light")}, {"dark", lang.L("Dark")}},
		func(c *policy.Config) *string { return &c.Look.Theme })
	p.language = p.newChoice(lang.L("Language"), lang.L("Counts after a restart."),
		[]option{{"system", lang.L("As the system")}, {"en", "English"}, {"zh-CN", "简体中文"}},
		func(c *policy.Config) *string { return &c.Look.Language })
	p.autostart = newCheckRow(lang.L("Start with the session"), lang.L("So that agents find nod whenever you are logged in."), p.setAutostart)
}

// refresh shows what is saved.
func (p *generalPage) refresh(editable bool) {
	c := p.opts.Store.Config()
	p.timeout.show(formatDuration(c.Prompt.Timeout))
	p.armAfter.show(formatDuration(c.Prompt.ArmAfter))
	p.port.show(portOf(c.IPC.Address))
	p.onTop.show(c.Prompt.OnTop)
	p.prompts.show(c.Notifications.Prompts)
	p.notices.show(c.Notifications.Notices)
	p.theme.show(c.Look.Theme)
	p.language.show(c.Look.Language)
	on, err := p.opts.Autostart.Enabled()
	p.autostart.show(on)
	p.autostart.field.problem.complain(err)
	enable(editable, p.timeout, p.armAfter, p.port, p.onTop.check, p.prompts.check, p.notices.check, p.theme.pick, p.language.pick)
	if c.IPC.Address != p.started.IPC.Address || c.Look.Language != p.started.Look.Language {
		p.restart.say(lang.L("Start nod again for this to count."))
	} else {
		p.restart.say("")
	}
}

func (p *generalPage) setAutostart(on bool) error {
	if on {
		return p.opts.Autostart.Enable()
	}
	return p.opts.Autostart.Disable()
}

func (p *generalPage) saveDuration(of func(*policy.Config) *time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil {
			return err
		}
		return p.change(func(c *policy.Config) error { *of(c) = d; return nil })
	}
}

func (p *generalPage) savePort(port string) error {
	return p.change(func(c *policy.Config) error {
		host, _, err := net.SplitHostPort(c.IPC.Address)
		if err != nil {
			return err
		}
		c.IPC.Address = net.JoinHostPort(host, port)
		return nil
	})
}

func (p *generalPage) newSwitch(name, hint string, of func(*policy.Config) *bool) *checkRow {
	return newCheckRow(name, hint, func(on bool) error {
		return p.change(func(c *policy.Config) error { *of(c) = on; return nil })
	})
}

func (p *generalPage) newChoice(name, hint string, options []option, of func(*policy.Config) *string) *choiceRow {
	return newChoiceRow(name, hint, options, func(value string) error {
		return p.change(func(c *policy.Config) error { *of(c) = value; return nil })
	})
}

// checkRow is something to switch on and off.
type checkRow struct {
	field   *field
	check   *widget.Check
	showing bool // the check is being set by nod, not by the person
	on      bool // as saved
}

func newCheckRow(name, hint string, set func(bool) error) *checkRow {
	r := &checkRow{}
	r.check = widget.NewCheck("", func(on bool) {
		if r.showing || on == r.on {
			return
		}
		err := set(on)
		r.field.problem.complain(err)
		if err != nil {
			r.show(r.on)
			return
		}
		r.on = on
	})
	r.field = newField(name, hint, r.check)
	return r
}

func (r *checkRow) show(on bool) {
	r.on, r.showing = on, true
	r.check.SetChecked(on)
	r.showing = false
}

// option is one value of a setting, and its name.
type option struct{ value, name string }

// choiceRow is something to choose from a few.
type choiceRow struct {
	field   *field
	pick    *widget.Select
	options []option
	showing bool
}

func newChoiceRow(name, hint string, options []option, set func(string) error) *choiceRow {
	r := &choiceRow{options: options}
	var names []string
	for _, o := range options {
		names = append(names, o.name)
	}
	r.pick = widget.NewSelect(names, func(string) {
		if i := r.pick.SelectedIndex(); !r.showing && i >= 0 {
			r.field.problem.complain(set(options[i].value))
		}
	})
	r.field = newField(name, hint, container.New(wide{controlWidth}, r.pick))
	return r
}

func (r *choiceRow) show(value string) {
	r.showing = true
	r.pick.SetSelectedIndex(slices.IndexFunc(r.options, func(o option) bool { return o.value == value }))
	r.showing = false
}

// durationCheck accepts a time such as 90s or 5m, within bounds.
func durationCheck(least, most time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil {
			return errors.New(lang.L("Write a time such as 700ms, 90s, 5m or 1h30m."))
		}
		if d < least || d > most {
			return errors.New(lang.L("Between {{.Least}} and {{.Most}}.",
				map[string]any{"Least": formatDuration(least), "Most": formatDuration(most)}))
		}
		return nil
	}
}

// formatDuration writes a time without the zero minutes and seconds that Go adds.
func formatDuration(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(s) - len(zero) + 1; n > 0 && s[n-1:] == zero {
			s = s[:n]
		}
	}
	return s
}

func checkPort(s string) error {
	if n, err := strconv.ParseUint(s, 10, 16); err != nil || n != 0 && n < 1024 {
		return errors.New(lang.L("A number from 1024 to 65535, or 0."))
	}
	return nil
}

func portOf(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return port
}
