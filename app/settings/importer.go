package settings

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/safetext"
	"nod/ipc/hooks/install"
	"nod/policy"
	"nod/policy/imports"
)

// importer shows what of the agents' own permission rules nod can take over, and takes it over when the person
// says so.
type importer struct {
	content fyne.CanvasObject
	machine func() (install.Machine, error)
	rules   func() []policy.Rule // those that are there already
	change  change
	aside   func(func())
	closed  func()

	folder  *escEntry // of a project whose files are looked at, too
	body    *fyne.Container
	problem *remark
	add     *widget.Button
	found   []policy.Rule
}

// imported is what was found of one agent.
type imported struct {
	agent  string
	files  []imports.File
	result imports.Result
	err    error
}

func newImporter(machine func() (install.Machine, error), rules func() []policy.Rule, change change, aside func(func()), closed func()) *importer {
	i := &importer{machine: machine, rules: rules, change: change, aside: aside, closed: closed,
		body: container.NewStack(), problem: newRemark(widget.DangerImportance)}
	i.folder = newEscEntry(false, closed)
	i.folder.SetPlaceHolder(lang.L("~/src/shop (also the rules of this project)"))
	i.folder.OnSubmitted = func(string) { i.look() }
	i.add = widget.NewButtonWithIcon(lang.L("Add these rules"), theme.ConfirmIcon(), i.save)
	i.add.Importance = widget.HighImportance
	i.add.Disable()
	foot := dialogs.Padded(10, 20, container.NewBorder(nil, nil, nil,
		container.NewHBox(widget.NewButton(lang.L("Cancel"), closed), i.add), i.problem.content))
	look := widget.NewButton(lang.L("Look"), i.look)
	i.content = container.NewBorder(nil, dialogs.Surface(theme.ColorNameBackground, container.NewVBox(dialogs.Rule(), foot)), nil, nil,
		page(header(lang.L("Import rules"), lang.L("What Claude Code, Codex and Gemini CLI have in their own permission files. No allow gets wider and no deny narrower: what nod cannot say so is left out.")),
			container.NewBorder(nil, nil, nil, look, i.folder), i.body))
	i.look()
	return i
}

// look reads the agents' files, which takes a moment.
func (i *importer) look() {
	i.body.Objects = []fyne.CanvasObject{muted(lang.L("looking…"))}
	i.body.Refresh()
	typed, rules := i.folder.Text, i.rules()
	i.aside(func() {
		found, err := findRules(i.machine, typed, rules)
		fyne.Do(func() { i.show(found, err) })
	})
}

func findRules(machine func() (install.Machine, error), typed string, rules []policy.Rule) ([]imported, error) {
	m, err := machine()
	if err != nil {
		return nil, err
	}
	folder := m.Home
	if typed != "" {
		if folder, err = typedFolder(typed); err != nil {
			return nil, err
		}
		if folder[0] == '~' {
			folder = m.Home + folder[1:]
		}
	}
	var all []imported
	for _, agent := range imports.Agents {
		one := imported{agent: agent}
		one.files, one.err = imports.Find(agent, m.Home, folder)
		if one.err == nil && len(one.files) == 0 {
			continue
		}
		if one.err == nil {
			one.result, one.err = imports.Read(agent, one.files, rules)
		}
		rules = append(rules[:len(rules):len(rules)], one.result.Rules...)
		all = append(all, one)
	}
	return all, nil
}

func (i *importer) show(all []imported, err error) {
	i.problem.complain(err)
	i.found = nil
	rows := dialogs.Column(sectionGap)
	for _, one := range all {
		i.found = append(i.found, one.result.Rules...)
		rows.Add(importedSection(one))
	}
	if len(all) == 0 && err == nil {
		rows.Add(card(emptyRow(lang.L("No agent has a file with rules here."))))
	}
	enable(len(i.found) > 0, i.add)
	i.body.Objects = []fyne.CanvasObject{rows}
	i.body.Refresh()
}

// importedSection shows what becomes of one agent's rules.
func importedSection(one imported) fyne.CanvasObject {
	if one.err != nil {
		problem := newRemark(widget.DangerImportance)
		problem.complain(one.err)
		return sectionOf(header(one.agent, ""), dialogs.Padded(10, 14, problem.content))
	}
	var rows []fyne.CanvasObject
	for _, r := range one.result.Rules {
		badge := container.New(topLeft{width: 58}, dialogs.Badge(effectName(r.Effect), dialogs.EffectColor(r.Effect)))
		words := dialogs.Column(4, dialogs.Tight(dialogs.Lines(sentence(r), theme.SizeNameText, widget.MediumImportance)), muted(aside(r)))
		rows = append(rows, dialogs.Padded(9, 12, container.NewBorder(nil, nil, badge, nil, words)))
	}
	if n := one.result.Present; n > 0 {
		rows = append(rows, emptyRow(lang.L("{{.Count}} rules are there already", map[string]any{"Count": n})))
	}
	for _, l := range one.result.Left {
		where := fmt.Sprintf("%s:%d", safetext.Line(l.File, 80), l.Line)
		rows = append(rows, dialogs.Padded(9, 12, container.NewBorder(nil, nil,
			container.New(topLeft{width: 74}, dialogs.Badge(lang.L("left out"), dialogs.ColorMuted)), nil,
			dialogs.Column(4, dialogs.Tight(dialogs.Lines(safetext.Line(l.Text, quoteLimit), theme.SizeNameText, widget.MediumImportance)),
				muted(safetext.Line(l.Reason, 2*quoteLimit)+" · "+where)))))
	}
	if len(rows) == 0 {
		rows = append(rows, emptyRow(lang.L("Its files hold no rules.")))
	}
	return sectionOf(header(one.agent, ""), rows...)
}

func (i *importer) save() {
	err := i.change(func(c *policy.Config) error {
		c.Policy.Rules = append(c.Policy.Rules, i.found...)
		return nil
	})
	i.problem.complain(err)
	if err == nil {
		i.closed()
	}
}
