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
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/policy/config"
)

// foldersPage says where agents may read without asking.
type foldersPage struct {
	part
	entry    *textField
	add      *button
	browse   *button
	question *fyne.Container // whether to add a folder that does not exist
}

func newFoldersPage(w *Window) *foldersPage {
	p := &foldersPage{part: newPart(w), question: container.NewStack()}
	p.entry = newTextField(w, false)
	p.entry.SetPlaceHolder("~/src")
	p.entry.OnSubmitted = func(string) { p.save() }
	p.entry.OnChanged = func(string) { p.say(nil) }
	p.add = newIconButton(lang.L("Add"), theme.ContentAddIcon(), p.save)
	p.browse = browseButton(w, func(folder string) {
		p.entry.SetText(folder)
		p.save()
	})
	p.content = page(dialogs.Column(9,
		header(lang.L("Trusted folders"), lang.L("Agents may read in these folders without asking. Files "+
			"with keys or passwords are asked about everywhere. Git repositories need no trust: nod "+
			"reads their configuration and asks when it names a program.")),
		container.NewBorder(nil, nil, nil, container.NewHBox(p.browse, p.add), p.entry),
		p.problem.content, p.question, p.body))
	return p
}

// say shows what is wrong with what is typed; nil: nothing is.
func (p *foldersPage) say(err error) {
	p.problem.complain(err)
	setContent(p.question)
}

// refresh shows what is saved.
func (p *foldersPage) refresh(s operator.State) {
	folders, editable := s.Config.Policy.TrustedRoots, s.Problem == ""
	if !p.drawn.changed(folders, editable) {
		return
	}
	enable(editable, p.add, p.browse, p.entry)
	var rows []fyne.CanvasObject
	for _, f := range folders {
		rows = append(rows, p.row(f, editable))
	}
	if len(folders) == 0 {
		rows = append(rows, emptyRow(lang.L("None: agents may read everywhere except where secrets are. Add "+
			"a folder, and nod asks about everything outside it.")))
	}
	setContent(p.body, card(rows...))
}

func (p *foldersPage) row(folder string, editable bool) fyne.CanvasObject {
	remove := quietButton("", theme.DeleteIcon(), func() {
		p.win.change(func(c *config.Config) error {
			c.Policy.TrustedRoots = with(c.Policy.TrustedRoots, folder, false)
			return nil
		}, p.say)
	})
	enable(editable, remove)
	text := exact(safetext.Line(folder, quoteLimit), theme.SizeNameText)
	return dialogs.Padded(6, 14, container.New(besides{gap: 8}, text, remove))
}

// save adds the folder that is typed, if it exists.
func (p *foldersPage) save() {
	typed := p.entry.Text
	folder, err := typedFolder(typed)
	if err != nil {
		p.say(err)
		return
	}
	p.work.do(func(context.Context) func() {
		err := checkFolder(folder)
		return func() {
			switch {
			case p.entry.Text != typed: // it is another folder by now
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

// ask asks whether to add a folder that does not exist.
func (p *foldersPage) ask(folder string) {
	p.say(nil)
	words := paragraph(lang.L("{{.Folder}} doesn't exist. Add it anyway?",
		map[string]any{"Folder": safetext.Line(folder, quoteLimit)}), widget.WarningImportance)
	setContent(p.question, container.New(besides{gap: 12}, words, container.NewHBox(
		newButton(lang.L("Add anyway"), func() { p.trust(folder) }),
		quietButton(lang.L("Cancel"), nil, func() { p.say(nil) }))))
}

// trust adds a folder.
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
