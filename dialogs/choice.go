package dialogs

import (
	"cmp"
	"image/color"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/prompt"
)

const maxPlainChoices = 8

// choice is one option: a radio button or a check box, its label, a badge, and a description under it.
type choice struct {
	hoverBase
	picker *picker
	option api.Option
	digit  rune // the key that picks it; 0 for none
	picked bool
}

func (c *choice) pick(v bool) {
	if c.picked != v {
		c.picked = v
		c.Refresh()
	}
}

func (c *choice) matches(filter string) bool {
	text := strings.ToLower(c.option.Label + " " + c.option.Description)
	return strings.Contains(text, strings.ToLower(strings.TrimSpace(filter)))
}

func (c *choice) CreateRenderer() fyne.WidgetRenderer {
	ground := canvas.NewRectangle(nil)
	mark := widget.NewIcon(nil)
	label := Lines(prompt.PlainText(c.option.Label), theme.SizeNameText, widget.MediumImportance)
	text := Column(2, Tight(label))
	if c.option.Recommended {
		badge := Badge(tr("Recommended"), theme.ColorNameSuccess)
		text = Column(2, container.NewBorder(nil, nil, nil, Column(0, badge), Tight(label)))
	}
	if c.option.Description != "" {
		text.Add(Tight(Lines(prompt.Explanation(c.option.Description), theme.SizeNameCaptionText, widget.LowImportance)))
	}
	left := Row(6, Sized(20, 20, mark))
	if c.digit != 0 {
		left = Row(6, Words(string(c.digit), theme.SizeNameCaptionText, ColorMuted), left)
	}
	line := beside(left, 6, text)
	return newPainted(container.NewStack(ground, Padded(8, 10, line)), func() {
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
	name, ink := theme.IconNameRadioButton, ColorMuted
	switch {
	case c.picker.multi && c.picked:
		name, ink = theme.IconNameCheckButtonChecked, theme.ColorNamePrimary
	case c.picker.multi:
		name = theme.IconNameCheckButton
	case c.picked:
		name, ink = theme.IconNameRadioButtonChecked, theme.ColorNamePrimary
	}
	return theme.NewColoredResource(theme.CurrentForWidget(c).Icon(name), ink)
}

func (c *choice) Tapped(*fyne.PointEvent) {
	takeFocus(c)
	c.picker.tap(c)
}

func (c *choice) TypedKey(ev *fyne.KeyEvent) {
	c.w.noteTyping()
	switch ev.Name {
	case fyne.KeySpace:
		c.w.pressing(func() { c.picker.tap(c) })()
	case fyne.KeyReturn, fyne.KeyEnter:
		c.w.pressing(func() { c.picker.enter(c) })()
	case fyne.KeyDown:
		c.picker.move(c, +1)
	case fyne.KeyUp:
		c.picker.move(c, -1)
	default:
		c.w.typedKey(ev)
	}
}

func (c *choice) TypedRune(r rune) {
	i := slices.IndexFunc(c.picker.choices, func(x *choice) bool { return x.digit == r })
	if i < 0 {
		return
	}
	c.w.pressing(func() {
		takeFocus(c.picker.choices[i])
		c.picker.tap(c.picker.choices[i])
	})()
}

func (c *choice) FocusGained() {
	c.hoverBase.FocusGained()
	c.picker.look(c)
	c.w.reveal(c)
}

// picker lets the user pick one or several options, or write another answer.
type picker struct {
	w       *window
	multi   bool
	choices []*choice // including last
	last    *choice   // "Other"; nil when only the options are offered
	other   *field    // shown while last is picked
	filter  *field    // nil when the options are few
	list    *lazyColumn
	preview *preview // nil when no option has one
	object  fyne.CanvasObject
	changed func() // called when the user changes the answer
	next    func() // moves on to what follows the question
}

func newPicker(w *window, options []api.Option, multi, offersOther bool, placeholder string) *picker {
	p := &picker{w: w, multi: multi}
	if len(options) > maxPlainChoices {
		p.object = p.filtered(options)
	} else {
		list := Column(6)
		for _, o := range options {
			list.Add(p.addChoice(o))
		}
		p.object = list
	}
	if offersOther {
		p.object = Column(6, p.object, p.addOther(placeholder))
	}
	if p.preview = newPreview(w, options); p.preview != nil {
		p.object = Column(10, p.object, p.preview.object)
	}
	return p
}

func (p *picker) addChoice(o api.Option) *choice {
	c := &choice{picker: p, option: o}
	c.extend(c, p.w)
	p.choices = append(p.choices, c)
	if p.list == nil {
		c.digit = rune('0' + len(p.choices))
	}
	return c
}

func (p *picker) addOther(placeholder string) fyne.CanvasObject {
	p.last = p.addChoice(api.Option{Label: tr("Other…")})
	p.other = newField(p.w, cmp.Or(prompt.PlainText(placeholder), tr("Write your own answer")), false)
	p.other.onEnter(func() { p.next() })
	p.other.onArrow(fyne.KeyUp, func() { takeFocus(p.last) })
	p.other.OnChanged = func(string) { p.changed() }
	p.other.Hide()
	return Column(6, p.last, p.other)
}

func (p *picker) look(c *choice) {
	if p.preview != nil {
		p.preview.show(c.option)
	}
	if p.list != nil && c != p.last {
		p.list.scroll.reveal(c)
	}
}

func (p *picker) filtered(options []api.Option) fyne.CanvasObject {
	const height, line = 37, 17 // height of a choice, and of its description
	p.list = newLazyColumn(6, 6, 8)
	for _, o := range options {
		guess := float32(height)
		if o.Description != "" {
			guess += line
		}
		p.list.add(p.addChoice(o), guess)
	}
	p.filter = newField(p.w, tr("Filter {{.Count}} options", values{"Count": len(options)}), false)
	p.filter.onEnter(func() { p.enterFilter() })
	p.filter.onArrow(fyne.KeyDown, func() { p.moveFrom(-1, +1) })
	p.filter.OnChanged = func(s string) {
		p.list.filter(func(i int) bool { return p.choices[i].matches(s) })
	}
	view := Sized(0, 216, p.list.scroll.Scroll)
	return Column(6, p.filter, Card(theme.ColorNameBackground, view))
}

func (p *picker) tap(c *choice) {
	if p.multi {
		c.pick(!c.picked)
	} else {
		for _, x := range p.choices {
			x.pick(x == c)
		}
	}
	p.changed()
	if p.last == nil {
		return
	}
	SetVisible(p.other, p.last.picked)
	p.w.fit()
	if c == p.last && c.picked {
		p.w.enter(p.other)
	}
}

// enter moves on to the next question. If only one option may be picked, it picks c first.
func (p *picker) enter(c *choice) {
	if !p.multi && !c.picked {
		p.tap(c)
	}
	if c.picked && c == p.last && p.other.Text == "" {
		p.w.enter(p.other)
		return
	}
	p.next()
}

func (p *picker) enterFilter() {
	var left []*choice
	for i, r := range p.list.rows {
		if !r.hidden {
			left = append(left, p.choices[i])
		}
	}
	if len(left) == 1 && !p.multi {
		p.enter(left[0])
		return
	}
	p.moveFrom(-1, +1)
}

func (p *picker) move(c *choice, step int) {
	if !p.moveFrom(slices.Index(p.choices, c), step) && step < 0 && p.filter != nil {
		p.w.enter(p.filter)
	}
}

func (p *picker) moveFrom(index, step int) bool {
	for i := index + step; i >= 0 && i < len(p.choices); i += step {
		if p.list != nil && i < len(p.list.rows) {
			if p.list.rows[i].hidden {
				continue
			}
			p.list.show(i)
		}
		takeFocus(p.choices[i])
		return true
	}
	return false
}

func (p *picker) preselect(chosen []string) {
	for _, c := range p.choices {
		if c != p.last {
			c.pick(slices.Contains(chosen, c.option.Value))
		}
	}
}

func (p *picker) answers() []string {
	list := []string{}
	for _, c := range p.choices {
		switch {
		case !c.picked:
		case c == p.last:
			list = append(list, strings.TrimSpace(p.other.Text))
		default:
			list = append(list, c.option.Value)
		}
	}
	return list
}

func (p *picker) focusFirst() fyne.Focusable {
	switch {
	case p.last != nil && p.last.picked:
		return p.other
	case p.filter != nil:
		return p.filter
	}
	return p.choices[max(slices.IndexFunc(p.choices, func(c *choice) bool { return c.picked }), 0)]
}

// preview shows the preview of an option below the list: code or a text sketch, which must keep its columns.
type preview struct {
	w      *window
	title  *words
	text   *fyne.Container
	object fyne.CanvasObject
	height float32 // of the tallest preview, so that nothing moves when another one is shown
}

const maxPreview, maxPreviewLines = 200, 20

func newPreview(w *window, options []api.Option) *preview {
	i := slices.IndexFunc(options, func(o api.Option) bool { return o.Preview != "" })
	if i < 0 {
		return nil
	}
	p := &preview{w: w, title: Words("", theme.SizeNameCaptionText, ColorMuted), text: container.NewStack()}
	p.object = Card(ColorPaper, Padded(8, 10, Column(6, p.title, p.text)))
	lines := 1
	for _, o := range options {
		lines = max(lines, 1+strings.Count(strings.TrimRight(o.Preview, "\n"), "\n"))
	}
	sample := newPreviewText(w, strings.Repeat("x\n", min(lines, maxPreviewLines)))
	p.height = min(sample.text.wanted(), maxPreview)
	p.show(options[i])
	return p
}

func (p *preview) show(o api.Option) {
	if o.Preview == "" {
		return
	}
	p.title.set(tr("Preview of {{.Option}}", values{"Option": prompt.PlainText(o.Label)}))
	p.text.Objects = []fyne.CanvasObject{Sized(0, p.height, newPreviewText(p.w, o.Preview))}
	p.text.Refresh()
}

func newPreviewText(w *window, text string) *sheet {
	text = strings.TrimRight(text, "\n")
	s := newSheet(prompt.Unnumbered(" ", text, prompt.LineText), text)
	s.untracked, s.pad = true, 0
	s.attach(w, nil)
	s.scroll.Direction = container.ScrollBoth
	return s
}
