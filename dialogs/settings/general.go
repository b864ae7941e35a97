package settings

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/prompt"
	"nod/ipc/operator"
	"nod/policy/config"
)

type setting interface {
	row() *settingRow
	refresh(operator.State) // shows the saved value
}

type settingList []setting

func (l *settingList) section(heading, hint string, settings ...setting) fyne.CanvasObject {
	*l = append(*l, settings...)
	return section(heading, hint, each(settings, func(s setting) fyne.CanvasObject { return s.row().Content })...)
}

func (l settingList) refresh(s operator.State) {
	for _, one := range l {
		one.refresh(s)
	}
}

type generalPage struct {
	part
	settings  settingList
	timeout   *savedEntry
	pause     *pauseRow
	onTop     *checkRow
	autostart *autostartRow
	restart   *controls.Remark
}

func newGeneralPage(w *Window) *generalPage {
	p := &generalPage{part: newPart(w), restart: controls.NewRemark(widget.WarningImportance)}
	p.timeout = newDuration(w, lang.L("Time to answer"),
		lang.L("How long a request waits for you unless it sets its own limit. No answer never means Allow."),
		time.Second, 24*time.Hour, func(c *config.Config) *time.Duration { return &c.Prompt.Timeout })
	p.onTop = newSwitch(w, lang.L("Keep prompts above other windows"), lang.L("If the desktop allows it."),
		func(c *config.Config) *bool { return &c.Prompt.OnTop })
	p.autostart = newAutostartRow(w)
	p.pause = newPauseRow(w)
	p.content = page(
		p.settings.section(lang.L("Asking"), "", p.pause, p.timeout,
			newDuration(w, lang.L("Allow button delay"),
				lang.L("How long a prompt must be visible and unchanged before Allow works, so that no stray "+
					"click allows anything."),
				700*time.Millisecond, 10*time.Second, func(c *config.Config) *time.Duration { return &c.Prompt.ArmAfter }),
			newDuration(w, lang.L("Time to undo"),
				lang.L("How long you can restore a revoked approval or a deleted rule. 0 seconds: not at all."),
				0, time.Minute, func(c *config.Config) *time.Duration { return &c.Prompt.Undo }),
			p.onTop),
		p.settings.section(lang.L("Appearance"), "",
			newChoiceRow(w, controlWidth, lang.L("Theme"), "",
				[]option{{"system", lang.L("System default")}, {"light", lang.L("Light")}, {"dark", lang.L("Dark")}},
				func(c *config.Config) *string { return &c.Look.Theme }),
			newChoiceRow(w, controlWidth, lang.L("Language"), lang.L("Takes effect after a restart."),
				[]option{{"system", lang.L("System default")}, {"en", "English"}, {"zh-CN", "简体中文"}},
				func(c *config.Config) *string { return &c.Look.Language })),
		p.settings.section(lang.L("Start"), "", p.autostart,
			newSavedEntry(w, lang.L("Port"),
				lang.L("The port agents connect to. 0 picks a free one at every start. Takes effect after a restart."),
				portOf, setPort)),
		p.restart.Content,
	)
	return p
}

func (p *generalPage) refresh(s operator.State) {
	p.settings.refresh(s)
	p.restart.Say("")
	if s.Restart {
		p.restart.Say(lang.L("Restart nod for this to take effect."))
	}
}

var units = strings.NewReplacer("seconds", "s", "second", "s", "sec", "s", "minutes", "m", "minute", "m", "min", "m",
	"hours", "h", "hour", "h", "days", "d", "day", "d", "秒", "s", "分钟", "m", "小时", "h", "天", "d", " ", "")

func newDuration(w *Window, name, hint string, least, most time.Duration,
	of func(*config.Config) *time.Duration) *savedEntry {
	set := func(c *config.Config, typed string) error {
		d, err := config.ParseDuration(units.Replace(strings.ToLower(typed)))
		if err != nil {
			return errors.New(lang.L("Enter a time such as 5 minutes, 1h30m or 90 days."))
		}
		if d < least || d > most {
			return errors.New(lang.L("Between {{.Least}} and {{.Most}}.",
				map[string]any{"Least": prompt.Spelled(least), "Most": prompt.Spelled(most)}))
		}
		*of(c) = d
		return nil
	}
	return newSavedEntry(w, name, hint, func(c *config.Config) string { return prompt.Spelled(*of(c)) }, set)
}

func newSwitch(w *Window, name, hint string, of func(*config.Config) *bool) *checkRow {
	r := newCheckRow(name, hint, func(on bool, done func(error)) {
		w.change(func(c *config.Config) error { *of(c) = on; return nil }, done)
	})
	r.is = func(c *config.Config) bool { return *of(c) }
	return r
}

func newMember[T comparable](w *Window, name, hint string, x T, of func(*config.Config) *[]T) *checkRow {
	r := newCheckRow(name, hint, func(on bool, done func(error)) {
		w.change(func(c *config.Config) error { *of(c) = with(*of(c), x, on); return nil }, done)
	})
	r.is = func(c *config.Config) bool { return slices.Contains(*of(c), x) }
	return r
}

// checkRow is an on/off setting. It shows a change immediately and, if that could not be saved, the saved value again.
type checkRow struct {
	*settingRow
	check *controls.Check
	is    func(*config.Config) bool // returns the saved value
	on    bool                      // last shown value
	warns bool                      // show a warning while it is on

	confirm func(answer func(yes bool)) // asks before it is switched on; nil: without asking
}

func newCheckRow(name, hint string, set func(on bool, done func(error))) *checkRow {
	r := &checkRow{}
	r.check = controls.NewCheck("", func(on bool) {
		if on == r.on {
			return // changed by nod, not by the user
		}
		r.on = on
		change := func(yes bool) {
			if !yes {
				r.show(!on)
				return
			}
			set(on, func(err error) {
				r.Problem.Complain(err)
				if err != nil {
					r.show(!on)
				}
			})
		}
		if on && r.confirm != nil {
			r.confirm(change)
			return
		}
		change(true)
	})
	r.settingRow = newSettingRow(name, hint, r.check)
	return r
}

func (r *checkRow) refresh(s operator.State) {
	r.show(r.is(&s.Config))
	controls.Enable(s.Problem == "", r.check)
}

func (r *checkRow) show(on bool) {
	r.on = on
	r.check.SetChecked(on)
}

// autostartRow sets whether nod starts at login. This is not in the configuration.
type autostartRow struct {
	*checkRow
	known operator.Autostart // last shown state
}

func newAutostartRow(w *Window) *autostartRow {
	return &autostartRow{checkRow: newCheckRow(lang.L("Start at login"),
		lang.L("Keeps nod running whenever you're logged in."), func(on bool, done func(error)) {
			w.Act(func(ctx context.Context) error { return w.opts.Operator.SetAutostart(ctx, on) }, done)
		})}
}

func (r *autostartRow) refresh(s operator.State) {
	r.show(s.Autostart.On)
	if s.Autostart != r.known { // keep showing a failure
		r.known = s.Autostart
		r.Problem.Say(s.Autostart.Problem)
	}
}

// pauseRow starts and ends a pause. Its first option is the current state, the others are what the user can do.
type pauseRow struct {
	*settingRow
	pick  *controls.Select
	known *operator.Pause // last shown state
}

func newPauseRow(w *Window) *pauseRow {
	r := &pauseRow{}
	r.pick = controls.NewSelect(nil, func(string) {
		if i := r.pick.SelectedIndex(); i > 0 {
			w.Act(func(ctx context.Context) error { return w.opts.Operator.Pause(ctx, r.choice(i)) }, r.Problem.Complain)
		}
	})
	r.settingRow = newSettingRow(lang.L("Pause"),
		lang.L("While nod is paused, nobody can ask you anything. Rules still apply."),
		dialogs.Sized(controlWidth, 0, r.pick))
	return r
}

func (r *pauseRow) choice(i int) operator.Pause {
	spans := []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour}
	switch {
	case r.known.On:
		return operator.Pause{}
	case i > len(spans):
		return operator.Pause{On: true}
	}
	return operator.Pause{On: true, Until: time.Now().Add(spans[i-1])}
}

func (r *pauseRow) refresh(s operator.State) {
	p := s.Pause
	if r.known != nil && r.known.On == p.On && r.known.Until.Equal(p.Until) && r.pick.SelectedIndex() == 0 {
		return
	}
	r.known = &p
	switch {
	case !p.On:
		r.pick.Options = []string{lang.L("Not paused"), lang.L("Pause for 15 minutes"), lang.L("Pause for 30 minutes"),
			lang.L("Pause for 1 hour"), lang.L("Pause until I'm back")}
	case p.Until.IsZero():
		r.pick.Options = []string{lang.L("Paused"), lang.L("Resume")}
	default:
		r.pick.Options = []string{lang.L("Paused until {{.Time}}", map[string]any{"Time": p.Until.Local().Format("15:04")}),
			lang.L("Resume")}
	}
	r.pick.SetSelectedIndex(0)
	r.pick.Refresh()
}

type option struct{ value, name string }

type choiceRow struct {
	*settingRow
	pick    *controls.Select
	options []option
	of      func(*config.Config) *string
	value   string // last shown value
}

func newChoiceRow(w *Window, width float32, name, hint string, options []option,
	of func(*config.Config) *string) *choiceRow {
	r := &choiceRow{of: of}
	r.pick = controls.NewSelect(nil, func(string) {
		if i := r.pick.SelectedIndex(); i >= 0 && r.options[i].value != r.value {
			value := r.options[i].value
			r.value = value
			w.change(func(c *config.Config) error { *of(c) = value; return nil }, r.Problem.Complain)
		}
	})
	r.offer(options)
	r.settingRow = newSettingRow(name, hint, dialogs.Sized(width, 0, r.pick))
	return r
}

func (r *choiceRow) offer(options []option) {
	r.options, r.pick.Options = options, each(options, func(o option) string { return o.name })
	r.pick.SetSelectedIndex(slices.IndexFunc(options, func(o option) bool { return o.value == r.value }))
	r.pick.Refresh()
}

func (r *choiceRow) refresh(s operator.State) {
	controls.Enable(s.Problem == "", r.pick)
	r.value = *r.of(&s.Config)
	r.pick.SetSelectedIndex(slices.IndexFunc(r.options, func(o option) bool { return o.value == r.value }))
}

func setPort(c *config.Config, port string) error {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n != 0 && n < 1024 {
		return errors.New(lang.L("A number from 1024 to 65535, or 0."))
	}
	host, _, err := net.SplitHostPort(c.IPC.Address)
	if err == nil {
		c.IPC.Address = net.JoinHostPort(host, port)
	}
	return err
}

func portOf(c *config.Config) string {
	_, port, _ := net.SplitHostPort(c.IPC.Address)
	return port
}

// savedEntry is a text setting. It is saved on Enter, or when it loses the focus. Escape restores the saved text. An
// invalid text is reported only then, and is not saved.
type savedEntry struct {
	controls.TextField
	*settingRow
	win    *Window
	config config.Config // the saved configuration
	saved  string        // the saved text
	get    func(*config.Config) string
	set    func(*config.Config, string) error // fails if the text is invalid
}

func newSavedEntry(w *Window, name, hint string, get func(*config.Config) string,
	set func(*config.Config, string) error) *savedEntry {
	e := &savedEntry{TextField: controls.TextField{Shortcut: w.Shortcut}, win: w, get: get, set: set}
	e.Self = e
	e.Escape = func() bool {
		changed := e.Text != e.saved
		e.restore()
		return changed
	}
	w.fields = append(w.fields, e.restore)
	e.Left = e.commit
	e.Wrapping = fyne.TextWrapOff
	e.ExtendBaseWidget(e)
	e.OnChanged = func(s string) {
		if e.check(s) == nil {
			e.Problem.Say("")
		}
	}
	e.OnSubmitted = func(string) { e.commit() }
	e.settingRow = newSettingRow(name, hint, dialogs.Sized(controlWidth, 0, e))
	return e
}

func (e *savedEntry) refresh(s operator.State) {
	controls.Enable(s.Problem == "", e)
	writing := e.Text != e.saved
	e.config, e.saved = s.Config, e.get(&s.Config)
	if !writing && e.Text != e.saved {
		e.SetText(e.saved)
	}
}

func (e *savedEntry) restore() {
	e.SetText(e.saved)
	e.Problem.Say("")
}

func (e *savedEntry) check(text string) error {
	c := e.config
	return e.set(&c, text)
}

func (e *savedEntry) commit() {
	text, was := e.Text, e.saved
	if text == was {
		return
	}
	if err := e.check(text); err != nil {
		e.Problem.Complain(err)
		return
	}
	e.saved = text
	e.win.change(func(c *config.Config) error { return e.set(c, text) }, func(err error) {
		if err != nil {
			e.saved = was
			e.Problem.Complain(err)
		}
	})
}
