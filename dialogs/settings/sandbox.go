package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/ipc/operator"
	"nod/policy/config"
)

// sandboxPage says which projects' commands run in the sandbox, and what they reach there.
type sandboxPage struct {
	part
	projects, hosts *textList
	readOnly        *checkRow
}

func newSandboxPage(w *Window) *sandboxPage {
	p := &sandboxPage{part: newPart(w)}
	p.problem.Label.Importance = widget.WarningImportance
	p.projects = newFolderList(w, "~/src/shop", lang.L("None: nod asks about commands that nothing else allows."),
		func(c *config.Config) *[]string { return &c.Policy.Sandbox.Projects })
	p.hosts = newTextList(w, "registry.npmjs.org",
		lang.L("None: nod asks about each host when a command wants to reach it."),
		func(c *config.Config) *[]string { return &c.Policy.Sandbox.Hosts },
		func(typed string) (string, error) { return typed, nil })
	p.readOnly = newSwitch(w, lang.L("Commands that only read run in a read-only sandbox"),
		lang.L("In these projects. A command can't change anything there, even if nod misread it."),
		func(c *config.Config) *bool { return &c.Policy.Sandbox.ReadOnly })
	p.content = page(
		dialogs.Column(9, header(lang.L("Sandbox"), lang.L("Commands in these projects run without asking, "+
			"closed off from the rest of your computer, and agents may edit their files. nod still asks when a call "+
			"needs more.")),
			p.problem.Content, reach()),
		dialogs.Column(9, header(lang.L("Projects"), lang.L("Your rules can still ask or deny.")),
			p.projects.content),
		dialogs.Column(9, header(lang.L("Hosts"), lang.L("Hosts these commands may reach without asking. "+
			"Anything they can read can leave through a host.")), p.hosts.content),
		card(p.readOnly.Content))
	return p
}

func (p *sandboxPage) refresh(s operator.State) {
	p.problem.Say("")
	if s.Sandbox != "" {
		p.problem.Say(lang.L("This computer can't run commands in a sandbox, so nod asks about them. {{.Problem}}",
			map[string]any{"Problem": s.Sandbox}))
	}
	p.projects.refresh(s)
	p.hosts.refresh(s)
	p.readOnly.refresh(s)
}

func reach() fyne.CanvasObject {
	inside := dialogs.Card(theme.ColorNameBackground, dialogs.Padded(10, 12, dialogs.Column(6,
		dialogs.Words(lang.L("In the sandbox"), theme.SizeNameCaptionText, dialogs.ColorMuted),
		controls.Exact("npm test", theme.SizeNameText),
		dialogs.Row(4, widget.NewIcon(theme.FolderIcon()),
			dialogs.Words("~/src/shop", theme.SizeNameCaptionText, theme.ColorNameForeground)))))
	row := func(name string, color fyne.ThemeColorName, words string) fyne.CanvasObject {
		return container.NewBorder(nil, nil, topLeft(96, dialogs.Badge(name, color)), nil, controls.Muted(words))
	}
	rows := dialogs.Column(8,
		row(lang.L("Can change"), theme.ColorNameSuccess, lang.L("The project's files. You can take changes back.")),
		row(lang.L("Can read"), theme.ColorNameWarning, lang.L("Programs and libraries of this computer.")),
		row(lang.L("Out of reach"), theme.ColorNameError, lang.L("Keys and passwords, other projects, the network.")))
	return card(dialogs.Padded(14, 14, container.NewBorder(nil, nil,
		container.NewCenter(dialogs.Sized(150, 0, inside)), nil, dialogs.Padded(0, 14, rows))))
}
