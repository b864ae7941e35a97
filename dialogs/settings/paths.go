package settings

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"
	"github.com/rymdport/portal/filechooser"

	"nod/dialogs"
	"nod/dialogs/prompt"
)

func typedFolder(folder string) (string, error) {
	if folder == "~" || strings.HasPrefix(folder, "~/") {
		return strings.TrimRight(folder, "/"), nil
	}
	if !filepath.IsAbs(folder) {
		return "", errors.New(lang.L("Enter a full path, such as /srv/code or ~/src."))
	}
	return filepath.Clean(folder), nil
}

// chooseFolder lets the user choose a folder, in the desktop's dialog if there is one, else in Fyne's.
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
	d.Show()
	d.Resize(w.Win.Canvas().Size())
}
