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
	"nod/policy"
)

// foldersPage says where agents may read without asking.
type foldersPage struct {
	content fyne.CanvasObject
	body    *fyne.Container
	entry   *escEntry
	add     *widget.Button
	problem *remark
	change  change

	folders  []string
	editable bool
	drawn    bool
}

func newFoldersPage(change change) *foldersPage {
	p := &foldersPage{change: change, body: container.NewStack(), problem: newRemark(widget.DangerImportance)}
	p.entry = newEscEntry(false, nil)
	p.entry.SetPlaceHolder("~/src")
	p.entry.OnSubmitted = func(string) { p.save() }
	p.entry.OnChanged = func(string) { p.problem.say("") }
	p.add = widget.NewButtonWithIcon(lang.L("Add folder"), theme.ContentAddIcon(), p.save)
	p.content = page(dialogs.Column(9,
		header(lang.L("Trusted folders"), lang.L("Agents may read here without asking. Git needs no trust: nod looks at the configuration of each repository, and asks when it names a program. Files that hold keys or passwords are asked about everywhere.")),
		container.NewBorder(nil, nil, nil, p.add, p.entry), p.problem.content, p.body))
	return p
}

// refresh shows what is saved.
func (p *foldersPage) refresh(folders []string, editable bool) {
	if p.drawn && editable == p.editable && slices.Equal(folders, p.folders) {
		return
	}
	p.folders, p.editable, p.drawn = slices.Clone(folders), editable, true
	enable(editable, p.add, p.entry)
	var rows []fyne.CanvasObject
	for _, f := range folders {
		rows = append(rows, p.row(f))
	}
	if len(folders) == 0 {
		rows = append(rows, emptyRow(lang.L("None: agents may read everywhere but where secrets are. Add a folder to have everything outside asked about.")))
	}
	p.body.Objects = []fyne.CanvasObject{card(rows...)}
	p.body.Refresh()
}

func (p *foldersPage) row(folder string) fyne.CanvasObject {
	text := dialogs.Lines(safetext.Line(folder, quoteLimit), theme.SizeNameText, widget.MediumImportance)
	text.TextStyle.Monospace = true
	remove := quietButton("", theme.DeleteIcon(), func() {
		p.problem.complain(p.change(func(c *policy.Config) error {
			c.Policy.TrustedRoots = slices.DeleteFunc(c.Policy.TrustedRoots, func(f string) bool { return f == folder })
			return nil
		}))
	})
	enable(p.editable, remove)
	return dialogs.Padded(6, 14, container.New(besides{gap: 8}, dialogs.Tight(text), remove))
}

// save adds the folder that is typed.
func (p *foldersPage) save() {
	folder, err := typedFolder(p.entry.Text)
	if err == nil {
		err = p.change(func(c *policy.Config) error {
			if slices.Contains(c.Policy.TrustedRoots, folder) {
				return errors.New(lang.L("This folder is in the list already."))
			}
			c.Policy.TrustedRoots = append(c.Policy.TrustedRoots, folder)
			return nil
		})
	}
	p.problem.complain(err)
	if err == nil {
		p.entry.SetText("")
	}
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
