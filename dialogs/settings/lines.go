package settings

import (
	"errors"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/ipc/operator"
	"nod/policy/config"
)

// lineList lists the machines that nod connects to by a command, and adds such machines.
type lineList struct {
	part
	page *machinesPage
	kind *controls.Select
	host *controls.TextField
	add  *controls.Button
}

var lineKinds = []string{config.MachineSSH, config.MachineDocker, config.MachinePodman}

func newLineList(p *machinesPage) *lineList {
	l := &lineList{part: newPart(p.win), page: p}
	l.host = controls.NewTextField(p.win.typedShortcut, false)
	l.host.OnSubmitted = func(string) { l.save() }
	l.host.OnChanged = func(string) { l.problem.Say("") }
	l.kind = controls.NewSelect(lineKinds, func(kind string) {
		l.problem.Say("")
		if kind == config.MachineSSH {
			l.host.SetPlaceHolder("me@build-1")
			return
		}
		l.host.SetPlaceHolder(lang.L("name of the container"))
	})
	l.kind.SetSelected(config.MachineSSH)
	l.add = controls.NewIconButton(lang.L("Add"), theme.ContentAddIcon(), l.save)
	l.content = dialogs.Column(9,
		header(lang.L("Connections"), lang.L("nod keeps these connections open with your own ssh, "+
			"docker or podman, and starts nod relay there. The machine needs nod installed, and then asks to join.")),
		// Not NewBorder: Tab follows the order of the objects.
		container.New(layout.NewBorderLayout(nil, nil, l.kind, l.add), l.kind, l.host, l.add), l.problem.Content, l.body)
	return l
}

func (l *lineList) draw() {
	controls.Enable(l.page.editable, l.kind, l.host, l.add)
	if !l.drawn.changed(l.page.machines, l.page.editable, l.page.peers.Lines) {
		return
	}
	controls.SetContent(l.body, listOf(l.page.machines, l.row, lang.L("None.")))
}

func (l *lineList) row(m config.Machine) fyne.CanvasObject {
	remove := controls.QuietButton("", theme.DeleteIcon(), func() {
		l.win.change(func(c *config.Config) error {
			c.Remote.Machines = with(c.Remote.Machines, m, false)
			return nil
		}, l.problem.Complain)
	})
	controls.Enable(l.page.editable, remove)
	return dialogs.Padded(6, 14, controls.Besides(8, l.words(m), remove))
}

func (l *lineList) words(m config.Machine) fyne.CanvasObject {
	head := container.NewHBox(dialogs.BoldWords(cleaned(m.String()), theme.SizeNameText, theme.ColorNameForeground))
	words := dialogs.Column(3, head)
	lines := l.page.peers.Lines
	i := slices.IndexFunc(lines, func(line operator.Line) bool { return line.Name == m.String() })
	if i < 0 {
		return words
	}
	state, color := stateOf(lines[i].State, time.Now())
	head.Add(dialogs.Badge(state, color))
	if lines[i].Problem != "" {
		words.Add(dialogs.Tight(dialogs.Lines(problemOf(lines[i].State), theme.SizeNameCaptionText,
			widget.WarningImportance)))
	}
	return words
}

func (l *lineList) save() {
	m := config.Machine{Kind: l.kind.Selected, Host: strings.TrimSpace(l.host.Text)}
	if m.Host == "" {
		l.problem.Complain(errors.New(lang.L("Enter a host or a container first.")))
		return
	}
	l.win.change(func(c *config.Config) error {
		if slices.Contains(c.Remote.Machines, m) {
			return errors.New(lang.L("This connection is already in the list."))
		}
		c.Remote.Machines = append(slices.Clone(c.Remote.Machines), m)
		if c.Validate() != nil {
			return errors.New(lang.L("Enter an ssh host (me@build-1) or a container's name."))
		}
		return nil
	}, func(err error) {
		l.problem.Complain(err)
		if err == nil {
			l.host.SetText("")
		}
	})
}
