package dialogs

import (
	"cmp"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

type buttonLook int

const (
	plainButton  buttonLook = iota // grey
	quietButton                    // no ground until the pointer is over it
	strongButton                   // the affirmative: in the accent's colour once it is ready
	linkButton                     // small, in the accent's colour
)

// compactPad is the padding above and below the text of a button if room is scarce. The padding at its sides is twice
// that.
const compactPad = 5

// button is nod's button. Unlike Fyne's it shows a ring when it has the focus and keeps the focus when it is clicked.
// If it allows something, only a chord presses it.
type button struct {
	hoverBase
	text, hint string
	note       string             // its state, in place of the hint
	icon       fyne.ThemeIconName // "" for none
	trailing   bool               // the icon is behind the text
	look       buttonLook
	ready      bool   // a strong button that is not ready looks pale
	danger     bool   // a strong button that is not the default choice: red on grey
	compact    bool   // shows no hint, but still the note
	chordOnly  string // the only keys that press it; "" when plain ones do
	onTap      func()
	onResize   func() // its minimum size has changed
}

func newButton(w *window, text string, onTap func()) *button {
	b := &button{text: text, onTap: onTap, onResize: func() {}, ready: true}
	b.extend(b, w)
	return b
}

// newDecision returns a button that answers the request. No plain key presses an affirmative one, only its chord.
func newDecision(w *window, text, hint string, look buttonLook, onTap func()) *button {
	b := newButton(w, text, onTap)
	b.hint, b.look = hint, look
	if look == strongButton {
		b.chordOnly, b.ready = hint, false
	}
	return b
}

// newLink returns a small button without a ground.
func newLink(w *window, text string, onTap func()) *button {
	b := newButton(w, text, onTap)
	b.look = linkButton
	return b
}

func newIconButton(w *window, text string, icon fyne.ThemeIconName, onTap func()) *button {
	b := newButton(w, text, onTap)
	b.icon, b.look = icon, quietButton
	return b
}

func (b *button) setText(s string) {
	if b.text != s {
		b.text = s
		b.Refresh()
	}
}

func (b *button) setReady(v bool, note string) {
	if b.ready == v && b.note == note {
		return
	}
	resized := b.note != note
	b.ready, b.note = v, note
	b.Refresh()
	if resized {
		b.onResize()
	}
}

func (b *button) setCompact(v bool) {
	if b.compact != v {
		b.compact = v
		b.Refresh()
	}
}

func (b *button) CreateRenderer() fyne.WidgetRenderer {
	ground, ring := canvas.NewRectangle(nil), canvas.NewRectangle(nil)
	label, small := canvas.NewText("", nil), canvas.NewText("", nil)
	label.TextStyle.Bold = b.look == plainButton || b.look == strongButton
	image := widget.NewIcon(nil)
	icon := Sized(18, 18, image)
	content := Row(7, icon, label, small)
	if b.trailing {
		content = Row(7, label, small, icon)
	}
	v, h := float32(8), float32(14)
	margins := &layout.CustomPaddedLayout{}
	size := theme.SizeNameText
	switch b.look {
	case quietButton:
		v, h = 6, 8
	case linkButton:
		v, h, size = 0, 4, theme.SizeNameCaptionText
	}
	padded := container.New(margins, container.NewCenter(content))
	return newPainted(container.NewStack(ground, ring, padded), func() {
		v, h := v, h
		if b.compact {
			v, h = min(v, compactPad), min(h, 2*compactPad)
		}
		*margins = layout.CustomPaddedLayout{TopPadding: v, BottomPadding: v, LeftPadding: h, RightPadding: h}
		th := theme.CurrentForWidget(b)
		fill, ink := b.colors()
		ground.FillColor, ground.CornerRadius = fill, th.Size(theme.SizeNameButtonRadius)
		ring.FillColor, ring.CornerRadius = color.Transparent, ground.CornerRadius
		drawRing(ring, b.focused, 2, b.ringColor())
		label.Text, label.Color, label.TextSize = b.text, ink, th.Size(size)
		small.Text, small.Color = cmp.Or(b.note, b.hint), b.hintColor(fill, ink)
		small.TextSize = th.Size(theme.SizeNameCaptionText)
		SetVisible(label, b.text != "")
		SetVisible(small, b.note != "" || b.hint != "" && !b.compact)
		SetVisible(icon, b.icon != "")
		if b.icon != "" {
			image.SetResource(theme.NewColoredResource(th.Icon(b.icon), b.iconColor()))
		}
		for _, o := range []fyne.CanvasObject{ground, ring, label, small} {
			o.Refresh()
		}
	})
}

func (b *button) colors() (fill, ink color.Color) {
	page, text := colorOf(b, ColorSunken), colorOf(b, theme.ColorNameForeground)
	switch {
	case b.danger && b.ready:
		fill, ink = colorOf(b, theme.ColorNameButton), colorOf(b, theme.ColorNameError)
	case b.danger:
		return colorOf(b, theme.ColorNameButton), colorOf(b, ColorMuted)
	case b.look == strongButton && b.ready:
		fill, ink = colorOf(b, theme.ColorNamePrimary), colorOf(b, theme.ColorNameForegroundOnPrimary)
	case b.look == strongButton:
		return mix(page, colorOf(b, theme.ColorNamePrimary), 0.16), colorOf(b, ColorMuted)
	case b.look == linkButton && !b.hovered:
		return color.Transparent, colorOf(b, theme.ColorNameHyperlink)
	case b.look == linkButton:
		return colorOf(b, colorAccent), colorOf(b, theme.ColorNameHyperlink)
	case !b.ready:
		return colorOf(b, theme.ColorNameButton), colorOf(b, ColorMuted)
	case b.look == quietButton && !b.hovered:
		return color.Transparent, colorOf(b, theme.ColorNameForeground)
	case b.look == quietButton:
		return mix(page, text, 0.09), text
	default:
		fill, ink = colorOf(b, theme.ColorNameButton), text
	}
	if b.hovered {
		fill = mix(fill, text, 0.08)
	}
	return fill, ink
}

func (b *button) hintColor(fill, ink color.Color) color.Color {
	if !b.ready || fill == color.Transparent {
		return ink
	}
	return mix(fill, ink, 0.85)
}

func (b *button) ringColor() color.Color {
	if b.look == strongButton && b.ready && !b.danger {
		return colorOf(b, theme.ColorNameForeground)
	}
	return colorOf(b, theme.ColorNamePrimary)
}

func (b *button) iconColor() fyne.ThemeColorName {
	if b.look == strongButton && b.ready {
		return theme.ColorNameForegroundOnPrimary
	}
	if b.look == strongButton {
		return ColorMuted
	}
	return theme.ColorNameForeground
}

func (b *button) Tapped(*fyne.PointEvent) {
	takeFocus(b)
	b.onTap()
}

func (b *button) TypedKey(ev *fyne.KeyEvent) {
	if !presses(ev) {
		b.passOn(ev)
		return
	}
	do := b.onTap
	if b.chordOnly != "" {
		do = func() {
			b.w.page.showNotice(tr("A single key can't allow: press {{.Keys}}.", values{"Keys": b.chordOnly}))
		}
	}
	if b.w != nil {
		do = b.w.pressing(do)
	}
	do()
}

func (b *button) AccessibilityLabel() string { return b.text }

func (b *button) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

func presses(ev *fyne.KeyEvent) bool {
	return ev.Name == fyne.KeySpace || isEnter(ev)
}

func SetVisible(o fyne.CanvasObject, v bool) {
	if v {
		o.Show()
		return
	}
	o.Hide()
}
