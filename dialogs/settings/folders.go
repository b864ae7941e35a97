package settings

import (
	"errors"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/policy/config"
)

// textList is a list of the configuration, of folders or of other texts, with a field to add one.
type textList struct {
	part
	entry  *controls.TextField
	add    *controls.Button
	browse *controls.Button // hidden unless it is a list of folders
	none   string           // shown while the list is empty
	of     func(*config.Config) *[]string
}

func newTextList(w *Window, example, none string, of func(*config.Config) *[]string) *textList {
	l := &textList{part: newPart(w), none: none, of: of}
	l.entry = controls.NewTextField(w.typedShortcut, false)
	l.entry.SetPlaceHolder(example)
	l.entry.OnSubmitted = func(string) { l.save() }
	l.entry.OnChanged = func(string) { l.problem.Say("") }
	l.add = controls.NewIconButton(lang.L("Add"), theme.ContentAddIcon(), l.save)
	l.browse = browseButton(w, func(folder string) {
		l.entry.SetText(folder)
		l.save()
	})
	l.browse.Hide()
	l.content = dialogs.Column(9,
		container.NewBorder(nil, nil, nil, container.NewHBox(l.browse, l.add), l.entry),
		l.problem.Content, l.body)
	return l
}

func newFolderList(w *Window, example, none string, of func(*config.Config) *[]string) *textList {
	l := newTextList(w, example, none, of)
	l.browse.Show()
	return l
}

func newFoldersPage(w *Window) *textList {
	l := newFolderList(w, "~/src",
		lang.L("None: agents may read everywhere except where secrets are. Add a folder, and nod asks about everything "+
			"outside it."),
		func(c *config.Config) *[]string { return &c.Policy.TrustedRoots })
	l.content = page(dialogs.Column(9,
		header(lang.L("Trusted folders"), lang.L("Agents may read in these folders without asking. Files "+
			"with keys or passwords are asked about everywhere. Git repositories need no trust: nod "+
			"reads their configuration and asks when it names a program.")),
		l.content))
	return l
}

func (l *textList) refresh(s operator.State) {
	texts, editable := *l.of(&s.Config), s.Problem == ""
	if !l.drawn.changed(texts, editable) {
		return
	}
	controls.Enable(editable, l.add, l.browse, l.entry)
	controls.SetContent(l.body, listOf(texts,
		func(text string) fyne.CanvasObject { return l.row(text, editable) }, l.none))
}

func (l *textList) row(text string, editable bool) fyne.CanvasObject {
	remove := controls.QuietButton("", theme.DeleteIcon(), func() {
		l.win.change(func(c *config.Config) error {
			*l.of(c) = with(*l.of(c), text, false)
			return nil
		}, l.problem.Complain)
	})
	controls.Enable(editable, remove)
	words := controls.Exact(safetext.Line(text, controls.QuoteLimit), theme.SizeNameText)
	return dialogs.Padded(6, 14, controls.Besides(8, words, remove))
}

func (l *textList) save() {
	text := strings.TrimSpace(l.entry.Text)
	if l.browse.Visible() {
		folder, err := typedFolder(text)
		if err != nil {
			l.problem.Complain(err)
			return
		}
		text = folder
	}
	l.win.change(func(c *config.Config) error {
		list := l.of(c)
		if slices.Contains(*list, text) {
			return errors.New(lang.L("This is already in the list."))
		}
		*list = append(*list, text)
		return nil
	}, func(err error) {
		l.problem.Complain(err)
		if err == nil {
			l.entry.SetText("")
		}
	})
}
