package history

import (
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
)

// rowHeight is the height of every row. With different heights Fyne would add up those of a million rows.
const rowHeight = 42

type rowView struct {
	widget.BaseWidget
	bar        *canvas.Rectangle
	what, meta *widget.Label // of an entry
	clock      *canvas.Text
	outcome    *canvas.Text
	day, who   *widget.Label // of a heading
	entry      *fyne.Container
	heading    fyne.CanvasObject
}

func oneLine(size fyne.ThemeSizeName) *widget.Label {
	l := widget.NewLabel("")
	l.SizeName, l.Truncation = size, fyne.TextTruncateEllipsis
	return l
}

func newRowView() *rowView {
	v := &rowView{
		bar: canvas.NewRectangle(color.Transparent), clock: canvas.NewText("", nil), outcome: canvas.NewText("", nil),
		what: oneLine(theme.SizeNameText), meta: oneLine(theme.SizeNameCaptionText),
		day: oneLine(theme.SizeNameText), who: oneLine(theme.SizeNameCaptionText),
	}
	v.bar.CornerRadius = 2
	v.meta.Importance, v.who.Importance = widget.LowImportance, widget.LowImportance
	v.day.TextStyle.Bold = true
	v.clock.Alignment, v.outcome.Alignment = fyne.TextAlignTrailing, fyne.TextAlignTrailing
	words := dialogs.Column(1, dialogs.Tight(v.what), dialogs.Tight(v.meta))
	v.entry = container.NewStack( // whose layouts ask no theme for a padding
		container.New(layout.NewCustomPaddedLayout(3, 3, 6, 0), container.NewHBox(dialogs.Sized(4, 0, v.bar))),
		container.New(layout.NewCustomPaddedLayout(0, 0, 18, 6),
			controls.Besides(8, words, dialogs.Column(2, v.clock, v.outcome))))
	v.heading = dialogs.Padded(0, 6, dialogs.Column(1, dialogs.Tight(v.day), dialogs.Tight(v.who)))
	v.heading.Hide()
	v.ExtendBaseWidget(v)
	return v
}

func (v *rowView) show(r row, now time.Time) {
	dialogs.SetVisible(v.heading, r.heading)
	dialogs.SetVisible(v.entry, !r.heading)
	if r.heading {
		day := ""
		if r.day {
			day = dayName(r.line.Settled, now)
		}
		setText(v.day, day)
		setText(v.who, sessionName(r.line))
		return
	}
	said := verdictOf(r.line.Result(), r.line.By)
	setText(v.what, safetext.Line(r.line.Gist, gistLimit))
	meta := toolName(r.line)
	if device := answeredOn(r.line.Device); device != "" {
		meta += " · " + device
	}
	setText(v.meta, meta)
	v.bar.FillColor = theme.ColorForWidget(said.color, v)
	v.bar.Refresh()
	v.set(v.clock, r.line.Settled.Local().Format("15:04"), dialogs.ColorMuted)
	v.set(v.outcome, said.word, said.color)
	v.Refresh()
}

func (v *rowView) set(t *canvas.Text, s string, c fyne.ThemeColorName) {
	t.Text, t.Color, t.TextSize = s, theme.ColorForWidget(c, v), theme.SizeForWidget(theme.SizeNameCaptionText, v)
	t.Refresh()
}

func (v *rowView) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(dialogs.Sized(200, rowHeight, container.NewStack(v.entry, v.heading)))
}

func setText(l *widget.Label, s string) {
	if l.Text != s {
		l.SetText(s)
	}
}
