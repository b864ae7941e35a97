package settings

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"github.com/rymdport/portal/filechooser"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/policy/basefile"
	"nod/policy/config"
)

type listEditor[T comparable] struct {
	part
	entry *controls.TextField
	add   *controls.Button
	none  string // shown while the list is empty
	of    func(*config.Config) *[]T
	read  func(typed string) (T, error)
	words func(T) fyne.CanvasObject // show one of the list
}

func newListEditor[T comparable](w *Window, none string, of func(*config.Config) *[]T,
	read func(typed string) (T, error), words func(T) fyne.CanvasObject) *listEditor[T] {
	l := &listEditor[T]{part: newPart(w), none: none, of: of, read: read, words: words}
	l.entry = controls.NewTextField(w.Shortcut, false)
	l.entry.OnSubmitted = func(string) { l.save() }
	l.entry.OnChanged = func(string) { l.problem.Say("") }
	l.add = controls.NewButton(lang.L("Add"), theme.ContentAddIcon(), l.save)
	w.fields = append(w.fields, func() {
		l.entry.SetText("")
		l.problem.Say("")
	})
	return l
}

// show shows a list, unless neither the list nor shown, what else its rows show, has changed.
func (l *listEditor[T]) show(list []T, editable bool, shown ...any) {
	if !l.drawn.changed(list, editable, shown) {
		return
	}
	controls.Enable(editable, l.add, l.entry)
	controls.SetContent(l.body, listOf(list, func(one T) fyne.CanvasObject { return l.row(one, editable) }, l.none))
}

func (l *listEditor[T]) row(one T, editable bool) fyne.CanvasObject {
	remove := controls.QuietButton("", theme.DeleteIcon(), func() {
		l.win.change(func(c *config.Config) error {
			*l.of(c) = with(*l.of(c), one, false)
			return nil
		}, l.problem.Complain)
	})
	controls.Enable(editable, remove)
	return dialogs.Padded(6, 14, controls.Besides(8, l.words(one), remove))
}

func (l *listEditor[T]) save() {
	typed := l.entry.Text
	one, err := l.read(strings.TrimSpace(typed))
	if err != nil {
		l.problem.Complain(err)
		return
	}
	l.win.change(func(c *config.Config) error {
		list := l.of(c)
		if slices.Contains(*list, one) {
			return errors.New(lang.L("This is already in the list."))
		}
		*list = append(slices.Clone(*list), one)
		return nil
	}, func(err error) {
		l.problem.Complain(err)
		if err == nil && l.entry.Text == typed { // else the user already types the next one
			l.entry.SetText("")
		}
	})
}

type textList struct {
	*listEditor[string]
	browse *controls.Button // nil unless it is a list of folders
}

func newTextList(w *Window, example, none string, of func(*config.Config) *[]string,
	read func(string) (string, error), buttons ...fyne.CanvasObject) *textList {
	l := &textList{listEditor: newListEditor(w, none, of, read, func(text string) fyne.CanvasObject {
		return controls.Exact(safetext.Line(text, controls.QuoteLimit), theme.SizeNameText)
	})}
	l.entry.SetPlaceHolder(example)
	l.content = dialogs.Column(9,
		container.NewBorder(nil, nil, nil, container.NewHBox(append(buttons, l.add)...), l.entry),
		l.problem.Content, l.body)
	return l
}

func newFolderList(w *Window, example, none string, of func(*config.Config) *[]string) *textList {
	var l *textList
	browse := controls.NewButton(lang.L("Browse…"), theme.FolderOpenIcon(), func() {
		w.chooseFolder(func(folder string) {
			l.entry.SetText(folder)
			l.save()
		})
	})
	l = newTextList(w, example, none, of, typedFolder, browse)
	l.browse = browse
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
	l.show(*l.of(&s.Config), s.Problem == "")
	if l.browse != nil {
		controls.Enable(s.Problem == "", l.browse)
	}
}

func typedFolder(folder string) (string, error) {
	if rest, inHome := strings.CutPrefix(folder, "~"); inHome && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		folder = home + rest
	}
	if !filepath.IsAbs(folder) {
		return "", errors.New(lang.L("Enter a full path, such as /srv/code or ~/src."))
	}
	isFolder, inTime := basefile.InTime(func() bool {
		info, err := os.Stat(folder)
		return err == nil && info.IsDir()
	})
	if inTime && !isFolder {
		return "", errors.New(lang.L("There is no such folder."))
	}
	return prompt.FromHome(filepath.Clean(folder)), nil
}

// chooseFolder lets the user choose a folder, in the desktop's dialog if possible, else in Fyne's.
func (w *Window) chooseFolder(chosen func(folder string)) {
	w.Aside(func() {
		folder, err := w.desktopFolder(lang.L("Choose a folder"))
		dialogs.Do(func() {
			switch {
			case err != nil:
				w.fyneFolder(chosen)
			case folder != "":
				chosen(prompt.FromHome(folder))
			}
		})
	})
}

// portalFolder opens the desktop's dialog. It returns "" if the user cancels, and an error if there is none.
func portalFolder(title string) (string, error) {
	chosen, err := filechooser.OpenFile("", title, &filechooser.OpenFileOptions{Directory: true})
	if err != nil || len(chosen) == 0 {
		return "", err
	}
	address, err := url.Parse(chosen[0])
	if err != nil {
		return "", err
	}
	return filepath.FromSlash(address.Path), nil
}

func (w *Window) fyneFolder(chosen func(folder string)) {
	d := dialog.NewFolderOpen(func(folder fyne.ListableURI, err error) {
		switch {
		case err != nil:
			w.Fail(err)
		case folder != nil:
			chosen(prompt.FromHome(folder.Path()))
		}
	}, w.Win)
	w.ask(d)
	d.Resize(w.Win.Canvas().Size())
}
