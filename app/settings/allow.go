package settings

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/ipc/hooks/install"
	"nod/policy"
)

// allowPage says what passes without asking: classes of tools and the person's rules.
// To its right a call can be tried against all of it.
type allowPage struct {
	content fyne.CanvasObject
	left    *fyne.Container // the lists, or the editor in their place
	lists   fyne.CanvasObject
	store   Store
	change  change

	ask     *checkRow
	classes map[policy.Class]*checkRow
	rules   *ruleList
	try     *tryBox
	editor  *editor   // nil while no rule is edited
	imports *importer // nil while nothing is imported

	machine func() (install.Machine, error)
	aside   func(func())
}

// tryWidth is the width of the box that tries calls.
const tryWidth = 310

func newAllowPage(store Store, machine func() (install.Machine, error), change change, aside func(func())) *allowPage {
	p := &allowPage{store: store, change: change, machine: machine, aside: aside, classes: map[policy.Class]*checkRow{}}
	p.rules = newRuleList(p.edit, p.takeOver, change)
	p.try = newTryBox(store)
	p.ask = newCheckRow(lang.L("Ask about everything"), lang.L("Every allow becomes a question. Denials stay."), p.saveAskEverything)
	p.lists = page(
		card(p.ask.field.content),
		section(lang.L("Pass without asking"), lang.L("By what a tool does, as nod knows it. A rule of yours can still ask or deny."), p.classRows()...),
		p.rules.content,
	)
	p.left = container.NewStack(p.lists)
	side := dialogs.Surface(dialogs.ColorSunken, container.New(exactWidth(tryWidth), container.NewVScroll(dialogs.Padded(16, 18, p.try.content))))
	p.content = container.NewBorder(nil, nil, nil, side, p.left)
	return p
}

func (p *allowPage) classRows() []fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, c := range policy.Classes {
		r := newCheckRow(className(c), explain(c), func(on bool) error { return p.saveClass(c, on) })
		p.classes[c] = r
		rows = append(rows, r.field.content)
	}
	return rows
}

// explain says what to switch a class on means.
func explain(c policy.Class) string {
	switch c {
	case policy.ReadOnly:
		return lang.L("Looks at files and lists, changes nothing. Never files that hold secrets.")
	case policy.Write:
		return lang.L("Changes files. An agent that may write unasked can change anything you can.")
	case policy.Execute:
		return lang.L("Runs programs. A program can do everything that you can do: on is as good as no nod.")
	case policy.Network:
		return lang.L("Talks to other computers. What an agent has read can leave this machine.")
	case policy.Destructive:
		return lang.L("Deletes or overwrites for good. There is no way back.")
	}
	return lang.L("Tools that nod does not know. They can do anything.")
}

func (p *allowPage) saveClass(c policy.Class, on bool) error {
	return p.change(func(cfg *policy.Config) error {
		kept := slices.DeleteFunc(slices.Clone(cfg.Policy.AutoAllow), func(x policy.Class) bool { return x == c })
		if on {
			kept = append(kept, c)
		}
		cfg.Policy.AutoAllow = kept
		return nil
	})
}

func (p *allowPage) saveAskEverything(on bool) error {
	return p.change(func(cfg *policy.Config) error { cfg.Policy.AskEverything = on; return nil })
}

// refresh shows what is saved.
func (p *allowPage) refresh(editable bool) {
	cfg := p.store.Config().Policy
	p.ask.show(cfg.AskEverything)
	enable(editable, p.ask.check)
	for c, r := range p.classes {
		on := slices.Contains(cfg.AutoAllow, c)
		r.show(on)
		warn(r.field, on && c != policy.ReadOnly)
		enable(editable, r.check)
	}
	p.rules.show(cfg.Rules, editable)
	p.try.decide()
	if p.editor != nil {
		p.editor.refresh(editable)
	}
}

// warn marks a class that is on and dangerous.
func warn(f *field, on bool) {
	if !on {
		f.problem.say("")
		return
	}
	f.problem.label.Importance = widget.WarningImportance
	f.problem.say(lang.L("These calls happen without you."))
}

// edit opens the editor for a rule, or for a new one when r has no id.
func (p *allowPage) edit(r policy.Rule) {
	p.editor = newEditor(r, p.store.Config().Policy.Rules, p.change, p.escape)
	p.left.Objects = []fyne.CanvasObject{p.editor.content}
	p.left.Refresh()
	p.editor.focus()
}

// takeOver shows what agents' own rules come to.
func (p *allowPage) takeOver() {
	p.imports = newImporter(p.machine, func() []policy.Rule { return p.store.Config().Policy.Rules }, p.change, p.aside, p.escape)
	p.left.Objects = []fyne.CanvasObject{p.imports.content}
	p.left.Refresh()
}

// escape closes the editor or the import without saving.
func (p *allowPage) escape() {
	if p.editor == nil && p.imports == nil {
		return
	}
	p.editor, p.imports = nil, nil
	p.left.Objects = []fyne.CanvasObject{p.lists}
	p.left.Refresh()
}

// exactWidth gives its only object exactly that width.
type exactWidth float32

func (w exactWidth) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(float32(w), objects[0].MinSize().Height)
}

func (w exactWidth) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// quietButton is a button of second rank.
func quietButton(text string, icon fyne.Resource, tapped func()) *widget.Button {
	b := widget.NewButtonWithIcon(text, icon, tapped)
	b.Importance = widget.LowImportance
	return b
}

// emptyRow says that a list has nothing in it.
func emptyRow(text string) fyne.CanvasObject {
	return dialogs.Padded(12, 14, dialogs.Tight(dialogs.Lines(text, theme.SizeNameText, widget.LowImportance)))
}
