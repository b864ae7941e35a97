package settings

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"nod/agents/registry"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/policy/config"
)

type attentionPage struct {
	part     // its body has a row for each agent that can be muted
	settings settingList
	appear   *choiceRow
	hours    *savedEntry
	days     *daysRow
	mutes    map[string]*checkRow
}

func newAttentionPage(w *Window) *attentionPage {
	p := &attentionPage{part: newPart(w), days: newDays(w), mutes: map[string]*checkRow{}}
	ways := []option{
		{config.AppearFocused, lang.L("take focus")},
		{config.AppearUnfocused, lang.L("show without focus")},
		{config.AppearInTray, lang.L("wait in the tray")},
	}
	p.appear = newChoiceRow(w, controlWidth, lang.L("New prompts"),
		lang.L("Allow never works before the prompt has focus."), ways,
		func(c *config.Config) *string { return &c.Prompt.Appear })
	p.hours = newSavedEntry(w, lang.L("Quiet hours"), lang.L("For example, 22:00-07:00. Leave empty for none."),
		func(c *config.Config) string { return c.Notifications.QuietHours }, setHours)
	p.content = page(
		p.settings.section(lang.L("Prompts"), "", p.appear),
		p.settings.section(lang.L("Notifications"), "",
			newSwitch(w, lang.L("Notify about pending prompts"), lang.L("Tells you when a prompt waits and you're looking "+
				"elsewhere. Shows the agent and its folder, nothing it wrote. Click to open the prompt."),
				func(c *config.Config) *bool { return &c.Notifications.Prompts }),
			newSwitch(w, lang.L("Show agents' notices"), lang.L("Messages that agents send with nod notify."),
				func(c *config.Config) *bool { return &c.Notifications.Notices }),
			newSwitch(w, lang.L("Sound"), lang.L("If your desktop plays sounds for notifications."),
				func(c *config.Config) *bool { return &c.Notifications.Sound })),
		p.settings.section(lang.L("Do not disturb"),
			lang.L("No notifications, no sounds; prompts wait in the tray."),
			newSwitch(w, lang.L("Do not disturb now"), lang.L("Until you switch it off."),
				func(c *config.Config) *bool { return &c.Notifications.DoNotDisturb }),
			p.hours, p.days),
		dialogs.Column(9, header(lang.L("Muted agents"),
			lang.L("Prompts from these agents always wait in the tray.")), p.body),
	)
	return p
}

func (p *attentionPage) refresh(s operator.State) {
	p.settings.refresh(s)
	p.listAgents(s)
	for _, row := range p.mutes {
		row.refresh(s)
	}
}

func (p *attentionPage) listAgents(s operator.State) {
	names := slices.AppendSeq(slices.Clone(s.Config.Notifications.Muted), maps.Keys(s.Contacts))
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if !p.drawn.changed(names) {
		return
	}
	clear(p.mutes)
	controls.SetContent(p.body, listOf(names, func(name string) fyne.CanvasObject {
		row := newMember(p.win, safetext.Line(registry.Title(name), maxAgentName), "", name,
			func(c *config.Config) *[]string { return &c.Notifications.Muted })
		p.mutes[name] = row
		return row.Content
	}, lang.L("No agent has asked yet.")))
}

const maxAgentName = 60

// daysRow is a setting for days of the week. None selected means all.
type daysRow struct {
	*settingRow
	rows map[string]*checkRow // as in [config.Days]
}

func newDays(w *Window) *daysRow {
	names := [7]string{lang.L("Sun"), lang.L("Mon"), lang.L("Tue"), lang.L("Wed"), lang.L("Thu"), lang.L("Fri"),
		lang.L("Sat")}
	all := &daysRow{rows: map[string]*checkRow{}}
	list := container.NewGridWithColumns(4)
	for i := range config.Days {
		day := (i + 1) % 7 // weeks start on Monday
		row := newMember(w, "", "", config.Days[day],
			func(c *config.Config) *[]string { return &c.Notifications.QuietDays })
		row.check.Text = names[day]
		all.rows[config.Days[day]] = row
		list.Add(row.check)
	}
	all.settingRow = newSettingRow(lang.L("Quiet days"),
		lang.L("Days on which quiet hours begin. Choose none for every day."),
		list)
	return all
}

func (r *daysRow) refresh(s operator.State) {
	for _, row := range r.rows {
		row.refresh(s)
	}
}

func setHours(c *config.Config, typed string) error {
	c.Notifications.QuietHours = strings.TrimSpace(typed)
	if c.Notifications.QuietHours == "" {
		return nil
	}
	if _, _, err := config.ParseHours(typed); err != nil {
		return errors.New(lang.L("Enter two times, such as 22:00-07:00."))
	}
	return nil
}
