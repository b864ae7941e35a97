package settings

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

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
	entry *escEntry
	add   *widget.Button
}

func newFoldersPage(w *Window) *foldersPage {
	p := &foldersPage{part: newPart(w)}
	p.entry = newEscEntry(false, nil)
	p.entry.SetPlaceHolder("~/src")
	p.entry.OnSubmitted = func(string) { p.save() }
	p.entry.OnChanged = func(string) { p.problem.say("") }
	p.add = widget.NewButtonWithIcon(lang.L("Add folder"), theme.ContentAddIcon(), p.save)
	p.content = page(dialogs.Column(9,
		header(lang.L("Trusted folders"), lang.L("Agents may read here without asking. Git needs no trust: nod looks at "+
			"the configuration of each repository, and asks when it names a program. Files that hold keys or passwords are "+
			"asked about everywhere.")),
		container.NewBorder(nil, nil, nil, p.add, p.entry), p.problem.content, p.body))
	return p
}

// refresh shows what is saved.
func (p *foldersPage) refresh(s operator.State) {
	folders, editable := s.Config.Policy.TrustedRoots, s.Problem == ""
	if !p.drawn.changed(folders, editable) {
		return
	}
	enable(editable, p.add, p.entry)
	var rows []fyne.CanvasObject
	for _, f := range folders {
		rows = append(rows, p.row(f, editable))
	}
	if len(folders) == 0 {
		rows = append(rows, emptyRow(lang.L("None: agents may read everywhere but where secrets are. Add a folder to have "+
			"everything outside asked about.")))
	}
	setContent(p.body, card(rows...))
}

func (p *foldersPage) row(folder string, editable bool) fyne.CanvasObject {
	remove := quietButton("", theme.DeleteIcon(), func() {
		p.win.change(func(c *config.Config) error {
			c.Policy.TrustedRoots = with(c.Policy.TrustedRoots, folder, false)
			return nil
		}, p.problem.complain)
	})
	enable(editable, remove)
	text := exact(safetext.Line(folder, quoteLimit), theme.SizeNameText)
	return dialogs.Padded(6, 14, container.New(besides{gap: 8}, text, remove))
}

// save adds the folder that is typed.
func (p *foldersPage) save() {
	typed := p.entry.Text
	folder, err := typedFolder(typed)
	if err != nil {
		p.problem.complain(err)
		return
	}
	p.win.change(func(c *config.Config) error {
		if slices.Contains(c.Policy.TrustedRoots, folder) {
			return errors.New(lang.L("This folder is in the list already."))
		}
		c.Policy.TrustedRoots = append(c.Policy.TrustedRoots, folder)
		return nil
	}, func(err error) {
		p.problem.complain(err)
		if err == nil && p.entry.Text == typed {
			p.entry.SetText("")
		}
	})
}

// typedFolder is a folder as the policy file takes it.
func typedFolder(typed string) (string, error) {
	folder := strings.TrimSpace(typed)
	if folder == "~" || strings.HasPrefix(folder, "~/") {
		return strings.TrimRight(folder, "/"), nil
	}
	if !filepath.IsAbs(folder) {
		return "", errors.New(lang.L("Want a whole path, such as /srv/code or ~/src."))
	}
	return filepath.Clean(folder), nil
}
