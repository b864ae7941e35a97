package history

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
)

type series struct {
	name   string
	color  fyne.ThemeColorName
	values []float64
}

// chart draws values over days as stacked bars.
type chart struct {
	widget.BaseWidget
	labels []string
	series []series // one above the other
}

const (
	chartHeight = 150
	chartSteps  = 3    // lines above the base line, each with its number
	barShare    = 0.64 // of the width of a day
	maxLabels   = 10   // below a chart
)

func newChart(labels []string, all ...series) *chart {
	c := &chart{labels: labels, series: all}
	c.ExtendBaseWidget(c)
	return c
}

// top returns the end of the axis: a round number, no less than any bar, and at least 3, so that labels are whole.
func (c *chart) top() float64 {
	most := 3.0
	for i := range c.labels {
		sum := 0.0
		for _, one := range c.series {
			sum += one.values[i]
		}
		most = max(most, sum)
	}
	for step := 1.0; ; step *= 10 {
		for _, n := range []float64{1, 2, 5} {
			if chartSteps*n*step >= most {
				return chartSteps * n * step
			}
		}
	}
}

func shortNumber(n float64) string {
	if n >= 10_000 {
		return strconv.FormatFloat(n/1000, 'f', -1, 64) + "k"
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

func (c *chart) CreateRenderer() fyne.WidgetRenderer {
	r := &chartRenderer{chart: c}
	r.draw(fyne.NewSize(0, 0))
	return r
}

type chartRenderer struct {
	chart   *chart
	objects []fyne.CanvasObject
}

func (r *chartRenderer) MinSize() fyne.Size { return fyne.NewSize(240, chartHeight) }

func (r *chartRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *chartRenderer) Destroy() {}

func (r *chartRenderer) Layout(size fyne.Size) { r.draw(size) }

func (r *chartRenderer) Refresh() {
	r.draw(r.chart.Size())
	canvas.Refresh(r.chart)
}

// draw makes all objects for a size.
func (r *chartRenderer) draw(size fyne.Size) {
	r.objects = nil
	c, top := r.chart, r.chart.top()
	letters := r.text(shortNumber(top)).MinSize()
	r.objects = nil
	left, half := letters.Width+8, letters.Height/2
	y := func(value float64) float32 { // leaves half a line at the top, and a line of labels below
		return half + max(size.Height-3*half-4, 0)*(1-float32(value/top))
	}
	for i := range chartSteps + 1 {
		value := top * float64(i) / chartSteps
		r.box(theme.ColorNameSeparator, left, y(value), size.Width-left, 1)
		label := r.text(shortNumber(value))
		label.Move(fyne.NewPos(left-8-label.MinSize().Width, y(value)-half))
	}
	day := (size.Width - left) / float32(max(len(c.labels), 1))
	every := (len(c.labels) + maxLabels - 1) / maxLabels
	for i, name := range c.labels {
		x, sum := left+float32(i)*day, 0.0
		for _, one := range c.series {
			foot := y(sum)
			sum += one.values[i]
			r.box(one.color, x+day*(1-barShare)/2, y(sum), day*barShare, foot-y(sum))
		}
		if i%every == 0 && i+every/2 < len(c.labels) {
			label := r.text(name)
			wide := label.MinSize().Width
			label.Move(fyne.NewPos(min(x+(day-wide)/2, size.Width-wide), size.Height-2*half))
		}
	}
}

func (r *chartRenderer) box(color fyne.ThemeColorName, x, y, width, height float32) {
	if height <= 0 {
		return
	}
	box := canvas.NewRectangle(theme.ColorForWidget(color, r.chart))
	box.Resize(fyne.NewSize(width, height))
	box.Move(fyne.NewPos(x, y))
	r.objects = append(r.objects, box)
}

func (r *chartRenderer) text(words string) *canvas.Text {
	text := canvas.NewText(words, theme.ColorForWidget(dialogs.ColorMuted, r.chart))
	text.TextSize = theme.SizeForWidget(theme.SizeNameCaptionText, r.chart)
	text.Resize(text.MinSize())
	r.objects = append(r.objects, text)
	return text
}
