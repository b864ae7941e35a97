package settings

import (
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/ipc/operator"
	"nod/policy/config"
)

// lineList lists the machines that nod connects to by a command, and adds such machines.
type lineList struct {
	*listEditor[config.Machine]
	page *machinesPage
	kind *controls.Select
}

var lineKinds = []string{config.MachineSSH, config.MachineDocker, config.MachinePodman}

func newLineList(p *machinesPage) *lineList {
	l := &lineList{page: p}
	l.listEditor = newListEditor(p.win, lang.L("None."),
		func(c *config.Config) *[]config.Machine { return &c.Remote.Machines }, l.machine, l.words)
	l.kind = controls.NewSelect(lineKinds, func(kind string) {
		l.problem.Say("")
		if kind == config.MachineSSH {
			l.entry.SetPlaceHolder("me@build-1")
			return
		}
		l.entry.SetPlaceHolder(lang.L("name of the container"))
	})
	l.kind.SetSelected(config.MachineSSH)
	l.content = dialogs.Column(9,
		header(lang.L("Connections"), lang.L("nod keeps these connections open with your own ssh, "+
			"docker or podman, and starts nod relay there. The machine needs nod installed, and then asks to join.")),
		// Not NewBorder: Tab follows the order of the objects.
		container.New(layout.NewBorderLayout(nil, nil, l.kind, l.add), l.kind, l.entry, l.add), l.problem.Content, l.body)
	return l
}

func (l *lineList) draw() {
	controls.Enable(l.page.editable, l.kind)
	l.show(l.page.machines, l.page.editable, l.page.peers.Lines)
}

func (l *lineList) words(m config.Machine) fyne.CanvasObject {
	lines := l.page.peers.Lines
	i := slices.IndexFunc(lines, func(line operator.Line) bool { return line.Name == m.String() })
	if i < 0 {
		return nameRow(m.String())
	}
	words := dialogs.Column(3, nameRow(m.String(), stateBadge(lines[i].State)))
	if lines[i].Problem != "" {
		words.Add(controls.Small(problemOf(lines[i].State), widget.WarningImportance))
	}
	return words
}

func (l *lineList) machine(host string) (config.Machine, error) {
	m, c := config.Machine{Kind: l.kind.Selected, Host: host}, config.Default()
	c.Remote.Machines = []config.Machine{m}
	switch {
	case host == "":
		return m, errors.New(lang.L("Enter a host or a container first."))
	case c.Validate() != nil:
		return m, errors.New(lang.L("Enter an ssh host (me@build-1) or a container's name."))
	}
	return m, nil
}
