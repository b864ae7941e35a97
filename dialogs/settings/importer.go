package settings

import (
	"context"
	"errors"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/assets"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/policy"
	"nod/policy/imports"
)

// importer shows which of the agents' own permission rules nod can take over, and adds them if the user agrees.
type importer struct {
	part
	rules  func() []policy.Rule // returns the existing rules
	closed func()
	folder *controls.TextField // a project whose files are also read
	choice *chooser
}

type imported struct {
	agent  string
	files  []imports.File
	result imports.Result
	more   int // number of rules left for the next time
	err    error
}

func newImporter(w *Window, rules func() []policy.Rule, closed func()) *importer {
	i := &importer{part: newPart(w), rules: rules, closed: closed}
	i.folder = controls.NewTextField(w.typedShortcut, false)
	i.folder.SetPlaceHolder(lang.L("~/src/shop (also the rules of this project)"))
	i.folder.OnSubmitted = func(string) { i.look() }
	i.choice = newChooser(w, i.added)
	foot := dialogs.Padded(10, 20, container.NewBorder(nil, nil, nil,
		container.NewHBox(controls.NewButton(lang.L("Cancel"), closed), i.choice.add), i.problem.Content))
	look := container.NewHBox(browseButton(w, func(folder string) {
		i.folder.SetText(folder)
		i.look()
	}), controls.NewButton(lang.L("View"), i.look))
	i.content = container.NewBorder(nil, controls.FootOf(foot), nil, nil,
		controls.Page(controls.Header(lang.L("Import rules"), lang.L("Rules from the permission files of Claude Code, "+
			"Codex and Gemini CLI. No allow rule gets broader and no deny rule narrower; nod skips rules it can't express.")),
			container.NewBorder(nil, nil, nil, look, i.folder), i.body))
	i.look()
	return i
}

func (i *importer) look() {
	controls.SetContent(i.body, controls.Muted(lang.L("looking…")))
	typed, rules := i.folder.Text, i.rules()
	controls.Fetch(&i.work, func(context.Context) ([]imported, error) {
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
			return nil, errors.New(lang.L("This folder doesn't exist."))
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
			one.result.Rules = one.result.Rules[:rowsShown] // only what the user can see is added
		}
		rules = append(rules[:len(rules):len(rules)], one.result.Rules...)
		all = append(all, one)
	}
	return all, nil
}

func (i *importer) show(all []imported, err error) {
	i.problem.Complain(err)
	var found []policy.Rule
	for _, one := range all {
		found = append(found, one.result.Rules...)
	}
	i.choice.offer(found)
	i.choice.keep(func(r policy.Rule) bool { return !r.Effect.Permits() }) // the user chooses what allows more
	rows := dialogs.Column(controls.SectionGap)
	for _, one := range all {
		rows.Add(i.section(one))
	}
	if len(all) == 0 && err == nil {
		rows.Add(controls.Card(controls.EmptyRow(lang.L("No agent has a rules file here."))))
	}
	controls.SetContent(i.body, rows)
}

func (i *importer) section(one imported) fyne.CanvasObject {
	if one.err != nil {
		problem := controls.NewRemark(widget.DangerImportance)
		problem.Complain(one.err)
		return controls.Section(one.agent, "", dialogs.Padded(10, 14, problem.Content))
	}
	var rows []fyne.CanvasObject
	for _, r := range one.result.Rules {
		rows = append(rows, i.choice.row(r, ruleWords(r)))
	}
	note := func(n int, text string) {
		if n > 0 {
			rows = append(rows, controls.EmptyRow(lang.L(text, map[string]any{"Count": n})))
		}
	}
	note(one.more, "{{.Count}} more: add some of these, then import again")
	note(one.result.Present, "Already there: {{.Count}}")
	for _, l := range one.result.Left[:min(len(one.result.Left), rowsShown)] {
		where := fmt.Sprintf("%s:%d", safetext.Line(l.File, 80), l.Line)
		rows = append(rows, controls.Badged(74, dialogs.Badge(lang.L("left out"), dialogs.ColorMuted),
			dialogs.Column(4, controls.Paragraph(safetext.Line(l.Text, controls.QuoteLimit), widget.MediumImportance),
				controls.Muted(safetext.Line(assets.Reason(l.Reason), 2*controls.QuoteLimit)+" · "+where))))
	}
	note(len(one.result.Left)-rowsShown, "and {{.Count}} more")
	if len(rows) == 0 {
		rows = append(rows, controls.EmptyRow(lang.L("Its files contain no rules.")))
	}
	return controls.Section(one.agent, "", rows...)
}

func (i *importer) added(_ []policy.Rule, err error) {
	i.problem.Complain(err)
	if err == nil {
		i.closed()
	}
}
