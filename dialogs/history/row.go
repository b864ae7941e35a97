package history

import (
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/safetext"
)

// rowHeight is that of every row: otherwise Fyne would add up the heights of a million rows.
const rowHeight = 46

// gapless is nod's theme without the gap that Fyne leaves between rows, where a click would select none.
type gapless struct{}

func (gapless) Color(n fyne.ThemeColorName, v fyne.ThemeVariant) color.Color {
	return ownTheme().Color(n, v)
}
func (gapless) Font(s fyne.TextStyle) fyne.Resource     { return ownTheme().Font(s) }
func (gapless) Icon(n fyne.ThemeIconName) fyne.Resource { return ownTheme().Icon(n) }

func (gapless) Size(n fyne.ThemeSizeName) float32 {
	if n == theme.SizeNamePadding {
		return 0
	}
	return ownTheme().Size(n)
}

func ownTheme() fyne.Theme { return fyne.CurrentApp().Settings().Theme() }

type rowView struct {
	widget.BaseWidget
	bar        *canvas.Rectangle
	what, meta *widget.Label // of an entry
	clock      *canvas.Text
	outcome    *canvas.Text
	day, who   *widget.Label // of a heading
	colour     fyne.ThemeColorName
	entry      *fyne.Container
	heading    fyne.CanvasObject
}

func newRowView() *rowView {
	v := &rowView{
		bar: canvas.NewRectangle(color.Transparent), clock: canvas.NewText("", nil), outcome: canvas.NewText("", nil),
		what: dialogs.OneLine("", theme.SizeNameText), meta: dialogs.OneLine("", theme.SizeNameCaptionText),
		day: dialogs.OneLine("", theme.SizeNameText), who: dialogs.OneLine("", theme.SizeNameCaptionText),
		colour: dialogs.ColorMuted,
	}
	v.meta.Importance, v.who.Importance = widget.LowImportance, widget.LowImportance
	v.day.TextStyle.Bold = true
	v.clock.Alignment, v.outcome.Alignment = fyne.TextAlignTrailing, fyne.TextAlignTrailing
	left := dialogs.Column(1, dialogs.Tight(v.what), dialogs.Tight(v.meta))
	v.entry = container.New(rowLayout{}, v.bar, left, v.clock, v.outcome)
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
	v.clock.Text, v.outcome.Text, v.colour = r.line.Settled.Local().Format("15:04"), said.word, said.color
	v.Refresh()
}

func (v *rowView) CreateRenderer() fyne.WidgetRenderer {
	return rowRenderer{v, container.NewStack(v.entry, v.heading)}
}

type rowRenderer struct {
	view *rowView
	all  *fyne.Container
}

func (r rowRenderer) MinSize() fyne.Size           { return fyne.NewSize(200, rowHeight) }
func (r rowRenderer) Layout(size fyne.Size)        { r.all.Resize(size) }
func (r rowRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.all} }
func (r rowRenderer) Destroy()                     {}
func (r rowRenderer) color(n fyne.ThemeColorName, t *canvas.Text) {
	t.Color = theme.ColorForWidget(n, r.view)
	t.TextSize = theme.SizeForWidget(theme.SizeNameCaptionText, r.view)
	t.Refresh()
}

func (r rowRenderer) Refresh() {
	r.color(dialogs.ColorMuted, r.view.clock)
	r.color(r.view.colour, r.view.outcome)
	r.view.bar.FillColor, r.view.bar.CornerRadius = theme.ColorForWidget(r.view.colour, r.view), 2
	r.view.bar.Refresh()
	entry := r.view.entry
	entry.Layout.Layout(entry.Objects, entry.Size()) // the widths of time and outcome have changed
}

// setText changes the text of a label if it differs, since refreshing is slow.
func setText(l *widget.Label, s string) {
	if l.Text != s {
		l.SetText(s)
	}
}

// rowLayout places a bar, two lines, and at the right a time above an outcome.
type rowLayout struct{}

func (rowLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, rowHeight) }

func (rowLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const bar, gap, side = 4, 8, 6
	clock, outcome := o[2].MinSize(), o[3].MinSize()
	right := max(clock.Width, outcome.Width) + gap
	o[0].Move(fyne.NewPos(side, 3))
	o[0].Resize(fyne.NewSize(bar, size.Height-6))
	left := float32(side + bar + gap)
	height := o[1].MinSize().Height
	o[1].Move(fyne.NewPos(left, (size.Height-height)/2))
	o[1].Resize(fyne.NewSize(max(size.Width-left-right-side, 0), height))
	for i, at := range []float32{size.Height/2 - clock.Height - 1, size.Height/2 + 1} {
		m := o[2+i].MinSize()
		o[2+i].Move(fyne.NewPos(size.Width-side-m.Width, at))
		o[2+i].Resize(m)
	}
}
