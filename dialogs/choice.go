package dialogs

import (
	"image/color"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/interact"
)

// maxPlainChoices is the number of options up to which all are in view; more of them get a filter.
const maxPlainChoices = 8

// choice is one option: a radio button or a check box, its label, a badge, and a description under it.
type choice struct {
	widget.BaseWidget
	option  interact.Option
	multi   bool
	picked  bool
	onTap   func()
	onArrow func(step int)
	onFocus func()

	keys             *keyMap
	hovered, focused bool
}

func newChoice(keys *keyMap, o interact.Option, multi bool, onTap func()) *choice {
	c := &choice{keys: keys, option: o, multi: multi, onTap: onTap, onFocus: func() {}}
	c.ExtendBaseWidget(c)
	return c
}

func (c *choice) pick(v bool) {
	if c.picked != v {
		c.picked = v
		c.Refresh()
	}
}

// matches reports whether the option belongs to what was typed into the filter.
func (c *choice) matches(filter string) bool {
	return strings.Contains(strings.ToLower(c.option.Label+" "+c.option.Description), strings.ToLower(strings.TrimSpace(filter)))
}

// CreateRenderer implements [fyne.Widget].
func (c *choice) CreateRenderer() fyne.WidgetRenderer {
	ground := canvas.NewRectangle(nil)
	mark := widget.NewIcon(nil)
	label := newLines(plainText(c.option.Label), theme.SizeNameText, widget.MediumImportance)
	text := column(2, tight(label))
	if c.option.Recommended {
		badge := newBadge(tr("Recommended"), theme.ColorNameSuccess)
		text = column(2, container.NewBorder(nil, nil, nil, column(0, badge), tight(label)))
	}
	if c.option.Description != "" {
		text.Add(tight(newLines(plainText(c.option.Description), theme.SizeNameCaptionText, widget.LowImportance)))
	}
	line := container.NewBorder(nil, nil, container.NewVBox(container.New(fixed{width: 20, height: 20}, mark)), nil, padded(0, 6, text))
	return newPainted(container.NewStack(ground, padded(8, 10, line)), func() {
		ground.FillColor = c.ground()
		ground.CornerRadius = 7
		ground.StrokeWidth, ground.StrokeColor = 1, colorOf(c, colorHairline)
		if c.picked {
			ground.StrokeColor = colorOf(c, theme.ColorNamePrimary)
		}
		if c.focused {
			ground.StrokeWidth, ground.StrokeColor = 2, colorOf(c, theme.ColorNamePrimary)
		}
		mark.SetResource(c.mark())
		ground.Refresh()
	})
}

func (c *choice) ground() color.Color {
	switch {
	case c.picked:
		return colorOf(c, colorAccent)
	case c.hovered:
		return colorOf(c, theme.ColorNameHover)
	}
	return color.Transparent
}

func (c *choice) mark() fyne.Resource {
	name, ink := theme.IconNameRadioButton, colorMuted
	switch {
	case c.multi && c.picked:
		name, ink = theme.IconNameCheckButtonChecked, theme.ColorNamePrimary
	case c.multi:
		name = theme.IconNameCheckButton
	case c.picked:
		name, ink = theme.IconNameRadioButtonChecked, theme.ColorNamePrimary
	}
	return theme.NewColoredResource(theme.CurrentForWidget(c).Icon(name), ink)
}

// Tapped implements [fyne.Tappable].
func (c *choice) Tapped(*fyne.PointEvent) {
	takeFocus(c)
	c.onTap()
}

// TypedKey implements [fyne.Focusable].
func (c *choice) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		c.onTap()
	case fyne.KeyDown:
		c.onArrow(+1)
	case fyne.KeyUp:
		c.onArrow(-1)
	default:
		c.keys.typedKey(ev)
	}
}

// TypedRune implements [fyne.Focusable].
func (c *choice) TypedRune(rune) {}

// FocusGained implements [fyne.Focusable].
func (c *choice) FocusGained() {
	c.focused = true
	c.Refresh()
	c.onFocus()
	c.keys.gained(c)
	c.keys.reveal(c)
}

// FocusLost implements [fyne.Focusable].
func (c *choice) FocusLost() {
	c.focused = false
	c.Refresh()
	c.keys.lost(c)
}

// MouseIn implements [desktop.Hoverable].
func (c *choice) MouseIn(*desktop.MouseEvent) { c.hovered = true; c.Refresh() }

// MouseMoved implements [desktop.Hoverable].
func (c *choice) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements [desktop.Hoverable].
func (c *choice) MouseOut() { c.hovered = false; c.Refresh() }

// picker lets the human pick one or several of some options, and write another answer if none fits.
type picker struct {
	keys    *keyMap
	multi   bool
	choices []*choice // the last one is "Other" when there is one
	other   *field    // nil when only the options are offered
	filter  *field    // nil when the options are few
	preview *preview  // nil when no option has one
	object  fyne.CanvasObject
	changed func() // called when the human changes the answer
}

func newPicker(keys *keyMap, options []interact.Option, multi, offersOther bool, placeholder string) *picker {
	p := &picker{keys: keys, multi: multi, changed: func() {}}
	list := column(6)
	for _, o := range options {
		list.Add(p.addChoice(o))
	}
	p.object = list
	if len(options) > maxPlainChoices {
		p.object = p.filtered(list)
	}
	if offersOther {
		p.object = column(6, p.object, p.addOther(placeholder))
	}
	if p.preview = newPreview(options); p.preview != nil {
		p.object = column(10, p.object, p.preview.object)
	}
	return p
}

func (p *picker) addChoice(o interact.Option) *choice {
	c := newChoice(p.keys, o, p.multi, nil)
	c.onTap = func() { p.tap(c) }
	c.onArrow = func(step int) { p.move(c, step) }
	c.onFocus = func() { p.look(c.option) }
	p.choices = append(p.choices, c)
	return c
}

// addOther is the last choice, with a field that shows while it is picked.
func (p *picker) addOther(placeholder string) fyne.CanvasObject {
	c := p.addChoice(interact.Option{Label: tr("Other…")})
	p.other = newField(p.keys, false)
	p.other.SetPlaceHolder(plainText(placeholder))
	if placeholder == "" {
		p.other.SetPlaceHolder(tr("Write your own answer"))
	}
	p.other.OnChanged = func(string) { p.changed() }
	p.other.Hide()
	return column(6, c, p.other)
}

// look shows what picking o would look like, when it says so itself.
func (p *picker) look(o interact.Option) {
	if p.preview != nil {
		p.preview.show(o)
	}
}

// filtered puts a long list behind a field that narrows it down.
func (p *picker) filtered(list *fyne.Container) fyne.CanvasObject {
	scroll := container.NewVScroll(padded(6, 8, list))
	p.filter = newField(p.keys, false)
	p.filter.SetPlaceHolder(tr("Filter {{.Count}} options", values{"Count": len(p.choices)}))
	p.filter.OnChanged = func(s string) {
		for i, o := range list.Objects {
			setVisible(o, p.choices[i].matches(s))
		}
		scroll.Refresh()
		scroll.ScrollToTop()
	}
	return column(6, p.filter, newCard(theme.ColorNameBackground, colorHairline, container.New(fixed{height: 216}, scroll)))
}

// tap picks, or with several allowed turns, one choice.
func (p *picker) tap(c *choice) {
	if p.multi {
		c.pick(!c.picked)
	} else {
		for _, x := range p.choices {
			x.pick(x == c)
		}
	}
	p.changed()
	if p.other == nil {
		return
	}
	setVisible(p.other, p.otherPicked())
	p.keys.relayout()
	if p.isOther(c) && c.picked {
		p.keys.enter(p.other)
	}
}

// move puts the focus on the next visible choice in the direction of step.
func (p *picker) move(c *choice, step int) {
	for i := slices.Index(p.choices, c) + step; i >= 0 && i < len(p.choices); i += step {
		if p.choices[i].Visible() {
			takeFocus(p.choices[i])
			return
		}
	}
}

func (p *picker) isOther(c *choice) bool {
	return p.other != nil && c == p.choices[len(p.choices)-1]
}

func (p *picker) otherPicked() bool {
	return p.other != nil && p.choices[len(p.choices)-1].picked
}

// preselect picks the options with these values.
func (p *picker) preselect(chosen []string) {
	for _, c := range p.choices {
		if !p.isOther(c) {
			c.pick(slices.Contains(chosen, c.option.Value))
		}
	}
}

// answers lists the values of what is picked; for "Other", the text itself.
func (p *picker) answers() []string {
	list := []string{}
	for _, c := range p.choices {
		switch {
		case !c.picked:
		case p.isOther(c):
			list = append(list, strings.TrimSpace(p.other.Text))
		default:
			list = append(list, c.option.Value)
		}
	}
	return list
}

// focusFirst is where to go when the picker has no answer: the field of a picked "Other", else the start.
func (p *picker) focusFirst() fyne.Focusable {
	switch {
	case p.otherPicked():
		return p.other
	case p.filter != nil:
		return p.filter
	}
	return p.choices[0]
}
