package settings

import (
	"context"
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/policy/config"
)

type foldersPage struct {
	part
	entry    *controls.TextField
	add      *controls.Button
	browse   *controls.Button
	question *fyne.Container // asks whether to add a folder that does not exist
}

func newFoldersPage(w *Window) *foldersPage {
	p := &foldersPage{part: newPart(w), question: container.NewStack()}
	p.entry = controls.NewTextField(w.typedShortcut, false)
	p.entry.SetPlaceHolder("~/src")
	p.entry.OnSubmitted = func(string) { p.save() }
	p.entry.OnChanged = func(string) { p.say(nil) }
	p.add = controls.NewIconButton(lang.L("Add"), theme.ContentAddIcon(), p.save)
	p.browse = browseButton(w, func(folder string) {
		p.entry.SetText(folder)
		p.save()
	})
	p.content = controls.Page(dialogs.Column(9,
		controls.Header(lang.L("Trusted folders"), lang.L("Agents may read in these folders without asking. Files "+
			"with keys or passwords are asked about everywhere. Git repositories need no trust: nod "+
			"reads their configuration and asks when it names a program.")),
		container.NewBorder(nil, nil, nil, container.NewHBox(p.browse, p.add), p.entry),
		p.problem.Content, p.question, p.body))
	return p
}

// say shows what is wrong with the typed folder; nil hides it.
func (p *foldersPage) say(err error) {
	p.problem.Complain(err)
	controls.SetContent(p.question)
}

func (p *foldersPage) refresh(s operator.State) {
	folders, editable := s.Config.Policy.TrustedRoots, s.Problem == ""
	if !p.drawn.Changed(folders, editable) {
		return
	}
	controls.Enable(editable, p.add, p.browse, p.entry)
	controls.SetContent(p.body, controls.List(folders,
		func(folder string) fyne.CanvasObject { return p.row(folder, editable) },
		lang.L("None: agents may read everywhere except where secrets are. Add a folder, and nod asks about everything "+
			"outside it.")))
}

func (p *foldersPage) row(folder string, editable bool) fyne.CanvasObject {
	remove := controls.QuietButton("", theme.DeleteIcon(), func() {
		p.win.change(func(c *config.Config) error {
			c.Policy.TrustedRoots = with(c.Policy.TrustedRoots, folder, false)
			return nil
		}, p.say)
	})
	controls.Enable(editable, remove)
	text := controls.Exact(safetext.Line(folder, controls.QuoteLimit), theme.SizeNameText)
	return dialogs.Padded(6, 14, container.New(controls.Besides{Gap: 8}, text, remove))
}

func (p *foldersPage) save() {
	typed := p.entry.Text
	folder, err := typedFolder(typed)
	if err != nil {
		p.say(err)
		return
	}
	p.work.Do(func(context.Context) func() {
		err := checkFolder(folder)
		return func() {
			switch {
			case p.entry.Text != typed: // the user has typed another folder
			case errors.Is(err, errMissing):
				p.ask(folder)
			case err != nil:
				p.say(err)
			default:
				p.trust(folder)
			}
		}
	})
}

func (p *foldersPage) ask(folder string) {
	p.say(nil)
	words := controls.Paragraph(lang.L("{{.Folder}} doesn't exist. Add it anyway?",
		map[string]any{"Folder": safetext.Line(folder, controls.QuoteLimit)}), widget.WarningImportance)
	controls.SetContent(p.question, container.New(controls.Besides{Gap: 12}, words, container.NewHBox(
		controls.NewButton(lang.L("Add anyway"), func() { p.trust(folder) }),
		controls.QuietButton(lang.L("Cancel"), nil, func() { p.say(nil) }))))
}

func (p *foldersPage) trust(folder string) {
	p.win.change(func(c *config.Config) error {
		if slices.Contains(c.Policy.TrustedRoots, folder) {
			return errors.New(lang.L("This folder is in the list already."))
		}
		c.Policy.TrustedRoots = append(c.Policy.TrustedRoots, folder)
		return nil
	}, func(err error) {
		p.say(err)
		if err == nil {
			p.entry.SetText("")
		}
	})
}
