package settings

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"github.com/rymdport/portal/filechooser"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/policy"
)

// typedFolder converts a typed folder to the form of the policy file.
func typedFolder(typed string) (string, error) {
	folder := strings.TrimSpace(typed)
	if folder == "~" || strings.HasPrefix(folder, "~/") {
		return strings.TrimRight(folder, "/"), nil
	}
	if !filepath.IsAbs(folder) {
		return "", errors.New(lang.L("Enter a full path, such as /srv/code or ~/src."))
	}
	return filepath.Clean(folder), nil
}

// onDisk replaces the ~ of a path by the home folder.
func onDisk(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.ToSlash(policy.DefaultPlaces().Home) + path[1:]
	}
	return path
}

// errMissing says that a path does not exist.
var errMissing = errors.New("that does not exist")

// checkFolder returns why a path is not a folder: [errMissing] if it does not exist. It may take a moment.
func checkFolder(path string) error {
	info, err := os.Stat(onDisk(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errMissing
	case err == nil && !info.IsDir():
		return errors.New(lang.L("That is a file. Choose a folder."))
	}
	return err
}

// missingIn returns the part of a pattern that must exist and does not: the folder before its first wildcard or,
// without one, the parent folder. It returns "" if nothing is missing, or that is unknown.
func missingIn(pattern string) string {
	folder, isPlain := pattern, true
	if i := strings.IndexAny(pattern, "*?[{"); i >= 0 {
		folder, isPlain = pattern[:i], false
	}
	if isPlain || !strings.HasSuffix(folder, "/") {
		folder = filepath.ToSlash(filepath.Dir(folder))
	}
	if !filepath.IsAbs(onDisk(folder)) {
		return ""
	}
	if errors.Is(checkFolder(folder), errMissing) {
		return strings.TrimRight(folder, "/")
	}
	return ""
}

func browseButton(w *Window, chosen func(folder string)) *controls.Button {
	return controls.NewIconButton(lang.L("Browse…"), theme.FolderOpenIcon(), func() { w.chooseFolder(chosen) })
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
				chosen(fromHome(folder, policy.DefaultPlaces().Home))
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
			w.banner.Fail(err)
		case folder != nil:
			chosen(fromHome(folder.Path(), policy.DefaultPlaces().Home))
		}
	}, w.win)
	d.Show()
	d.Resize(w.win.Canvas().Size())
}
