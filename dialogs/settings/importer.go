package settings

import (
	"context"
	"errors"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/assets"
	"nod/dialogs"
	"nod/dialogs/safetext"
	"nod/policy"
	"nod/policy/imports"
)

// importer shows what of the agents' own permission rules nod can take over, and takes it over when the person
// says so.
type importer struct {
	part
	rules  func() []policy.Rule // those that are there already
	closed func()
	folder *textField // of a project whose files are looked at, too
	add    *button
	found  []policy.Rule
}

// imported is what was found of one agent.
type imported struct {
	agent  string
	files  []imports.File
	result imports.Result
	more   int // rules that are left for the next time
	err    error
}

func newImporter(w *Window, rules func() []policy.Rule, closed func()) *importer {
	i := &importer{part: newPart(w), rules: rules, closed: closed}
	i.folder = newTextField(w, false)
	i.folder.SetPlaceHolder(lang.L("~/src/shop (also the rules of this project)"))
	i.folder.OnSubmitted = func(string) { i.look() }
	i.add = mainButton(lang.L("Add these rules"), theme.ConfirmIcon(), i.save)
	i.add.Disable()
	foot := dialogs.Padded(10, 20, container.NewBorder(nil, nil, nil,
		container.NewHBox(newButton(lang.L("Cancel"), closed), i.add), i.problem.content))
	look := container.NewHBox(browseButton(w, func(folder string) {
		i.folder.SetText(folder)
		i.look()
	}), newButton(lang.L("Look"), i.look))
	i.content = container.NewBorder(nil, footOf(foot), nil, nil,
		page(header(lang.L("Import rules"), lang.L("Rules from the permission files of Claude Code, Codex "+
			"and Gemini CLI. No allow gets broader and no deny narrower; what nod can't express is left "+
			"out.")),
			container.NewBorder(nil, nil, nil, look, i.folder), i.body))
	i.look()
	return i
}

// look reads the agents' files, which takes a moment.
func (i *importer) look() {
	setContent(i.body, muted(lang.L("looking…")))
	typed, rules := i.folder.Text, i.rules()
	fetch(&i.work, func(context.Context) ([]imported, error) {
		return findRules(i.win.opts.Machine, typed, rules)
	}, i.show)
}

func findRules(machine func() (agent.Machine, error), typed string, rules []policy.Rule) ([]imported, error) {
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
		if err := checkFolder(folder); errors.Is(err, errMissing) {
			return nil, errors.New(lang.L("That folder doesn't exist."))
		} else if err != nil {
			return nil, err
		}
	}
	var all []imported
	for _, a := range registry.WithRules() {
		one := imported{agent: a.Name}
		one.files, one.err = a.Rules.Find(a.Folder(m), folder)
		if one.err == nil && len(one.files) == 0 {
			continue
		}
		if one.err == nil {
			one.result, one.err = a.Rules.Translate(a.Name, one.files, rules)
		}
		if one.more = len(one.result.Rules) - rowsShown; one.more > 0 {
			one.result.Rules = one.result.Rules[:rowsShown] // nobody adds what they cannot see
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
	setContent(i.body, rows)
}

// importedSection shows what becomes of one agent's rules.
func importedSection(one imported) fyne.CanvasObject {
	if one.err != nil {
		problem := newRemark(widget.DangerImportance)
		problem.complain(one.err)
		return section(one.agent, "", dialogs.Padded(10, 14, problem.content))
	}
	var rows []fyne.CanvasObject
	for _, r := range one.result.Rules {
		rows = append(rows, badged(effectWidth, effectBadge(r.Effect), ruleWords(r)))
	}
	note := func(n int, text string) {
		if n > 0 {
			rows = append(rows, emptyRow(lang.L(text, map[string]any{"Count": n})))
		}
	}
	note(one.more, "{{.Count}} more: add these, then import again")
	note(one.result.Present, "{{.Count}} rules are there already")
	for _, l := range one.result.Left[:min(len(one.result.Left), rowsShown)] {
		where := fmt.Sprintf("%s:%d", safetext.Line(l.File, 80), l.Line)
		rows = append(rows, badged(74, dialogs.Badge(lang.L("left out"), dialogs.ColorMuted),
			dialogs.Column(4, paragraph(safetext.Line(l.Text, quoteLimit), widget.MediumImportance),
				muted(safetext.Line(assets.Reason(l.Reason), 2*quoteLimit)+" · "+where))))
	}
	note(len(one.result.Left)-rowsShown, "and {{.Count}} more")
	if len(rows) == 0 {
		rows = append(rows, emptyRow(lang.L("Its files hold no rules.")))
	}
	return section(one.agent, "", rows...)
}

func (i *importer) save() {
	i.add.Disable()
	i.win.change(adding(i.found...), func(err error) {
		i.problem.complain(err)
		i.add.Enable()
		if err == nil {
			i.closed()
		}
	})
}
