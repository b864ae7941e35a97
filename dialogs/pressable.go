package dialogs

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
)

// pressable is content that a click, Enter or Space presses.
type pressable struct {
	hoverBase
	content fyne.CanvasObject
	press   func()
	reveal  func(fyne.CanvasObject) // called when it gets the focus
}

// NewPressable returns content that calls press when it is pressed, and reveal when it gets the focus.
func NewPressable(content fyne.CanvasObject, press func(), reveal func(fyne.CanvasObject)) fyne.CanvasObject {
	p := &pressable{content: content, press: press, reveal: reveal}
	p.extend(p, nil)
	return p
}

func (p *pressable) CreateRenderer() fyne.WidgetRenderer {
	ground := canvas.NewRectangle(color.Transparent)
	return newPainted(container.NewStack(ground, p.content), func() {
		ground.FillColor, ground.StrokeWidth = color.Transparent, 0
		if p.hovered || p.focused {
			ground.FillColor = colorOf(p, theme.ColorNameHover)
		}
		if p.focused {
			ground.StrokeColor, ground.StrokeWidth = colorOf(p, theme.ColorNamePrimary), 1.5
		}
		ground.Refresh()
	})
}

func (p *pressable) FocusGained() {
	p.hoverBase.FocusGained()
	p.reveal(p)
}

func (p *pressable) Tapped(*fyne.PointEvent) { p.press() }

func (p *pressable) TypedKey(ev *fyne.KeyEvent) {
	if presses(ev) {
		p.press()
	} else {
		p.passOn(ev)
	}
}
