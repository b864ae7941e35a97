package history

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/go-analyze/charts"
	"github.com/golang/freetype/truetype"

	"nod/dialogs"
	"nod/dialogs/controls"
)

// series are the values of one kind, one for each label.
type series struct {
	name   string
	color  fyne.ThemeColorName
	values []float64
}

// chart draws values over days as bars. It is drawn off the UI goroutine, in the pixels, colours and letters of the
// screen that it is on; all of its words are beside it, in the person's language.
type chart struct {
	widget.BaseWidget
	labels []string
	series []series // one above the other

	image *canvas.Image
	work  controls.Latest
	drawn sketch // as last drawn, or about to be
}

// sketch is what a drawing depends on beside the values.
type sketch struct {
	width, height int // pixels
	letters       float64
	ink, grid     color.Color
	ground        color.Color
}

const chartHeight = 150

func newChart(w *Window, labels []string, all ...series) *chart {
	c := &chart{labels: labels, series: all, image: canvas.NewImageFromImage(nil)}
	c.work.Aside = w.run
	c.image.FillMode, c.image.ScaleMode = canvas.ImageFillStretch, canvas.ImageScalePixels
	c.ExtendBaseWidget(c)
	return c
}

// draw has the chart drawn for its size.
func (c *chart) draw() {
	on := fyne.CurrentApp().Driver().CanvasForObject(c)
	size := c.Size()
	if on == nil || size.Width < 1 || size.Height < 1 {
		return
	}
	scale := on.Scale()
	s := sketch{
		width: int(math.Round(float64(size.Width * scale))), height: int(math.Round(float64(size.Height * scale))),
		letters: float64(theme.SizeForWidget(theme.SizeNameCaptionText, c) * scale),
		ink:     theme.ColorForWidget(dialogs.ColorMuted, c), grid: theme.ColorForWidget(theme.ColorNameSeparator, c),
		ground: theme.ColorForWidget(dialogs.ColorSunken, c),
	}
	if s == c.drawn {
		return
	}
	c.drawn = s
	var colors []color.Color
	for _, one := range c.series {
		colors = append(colors, theme.ColorForWidget(one.color, c))
	}
	controls.FetchLatest(&c.work, func(context.Context) (image.Image, error) {
		return c.paint(s, colors)
	}, func(img image.Image, err error) {
		if err != nil {
			fyne.LogError("draw a chart", err)
			return
		}
		c.image.Image = img
		c.image.Refresh()
	})
}

// pointsPerPixel is how the library counts the size of letters.
const pointsPerPixel = 72.0 / 92

// paint draws the chart.
func (c *chart) paint(s sketch, colors []color.Color) (image.Image, error) {
	font, err := truetype.Parse(theme.DefaultTextFont().Content()) // nothing but digits is written
	if err != nil {
		return nil, err
	}
	palette := make([]charts.Color, len(colors))
	for i, one := range colors {
		palette[i] = chartColor(one)
	}
	look := charts.MakeTheme(charts.ThemeOption{
		AxisStrokeColor: chartColor(s.grid), AxisSplitLineColor: chartColor(s.grid), TextColor: chartColor(s.ink),
		BackgroundColor: chartColor(s.ground), SeriesColors: palette,
	})
	p := charts.NewPainter(charts.PainterOptions{Width: s.width, Height: s.height, Font: font, Theme: look})
	letters := charts.FontStyle{Font: font, FontSize: s.letters * pointsPerPixel, FontColor: chartColor(s.ink)}
	x := charts.XAxisOption{Labels: c.sparse(), LabelFontStyle: letters, LabelCount: len(c.labels)}
	y := []charts.YAxisOption{{
		LabelFontStyle: letters, LabelCount: 4, Min: charts.Ptr(0.0), Max: charts.Ptr(c.top()),
		ValueFormatter: shortNumber,
	}}
	values := make([][]float64, len(c.series))
	for i, one := range c.series {
		values[i] = one.values
	}
	o := charts.NewBarChartOptionWithData(values)
	o.Theme, o.XAxis, o.YAxis, o.StackSeries = look, x, y, charts.Ptr(true)
	o.Padding = charts.NewBox(4, int(s.letters), int(s.letters), 4)
	if err := p.BarChart(o); err != nil {
		return nil, err
	}
	text, err := p.Bytes()
	if err != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(text))
}

// maxLabels is how many labels fit under a chart.
const maxLabels = 10

// sparse are the labels that are written: so many that none runs into another.
func (c *chart) sparse() []string {
	labels := make([]string, len(c.labels))
	every := (len(labels) + maxLabels - 1) / maxLabels
	for i := range labels {
		if i%every == 0 && i+every/2 < len(labels) {
			labels[i] = c.labels[i]
		}
	}
	return labels
}

// top is where the axis ends: a round number that is no less than any value, and at least 3, so that no label of a
// count is a fraction.
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
			if 3*n*step >= most {
				return 3 * n * step
			}
		}
	}
}

// shortNumber writes a number of an axis.
func shortNumber(n float64) string {
	if n >= 10_000 {
		return strconv.FormatFloat(n/1000, 'f', -1, 64) + "k"
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

func chartColor(c color.Color) charts.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return charts.Color{R: n.R, G: n.G, B: n.B, A: n.A}
}

// CreateRenderer implements [fyne.Widget].
func (c *chart) CreateRenderer() fyne.WidgetRenderer { return chartRenderer{c} }

type chartRenderer struct{ chart *chart }

func (r chartRenderer) MinSize() fyne.Size           { return fyne.NewSize(240, chartHeight) }
func (r chartRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.chart.image} }
func (r chartRenderer) Refresh()                     { r.chart.draw() }
func (r chartRenderer) Destroy()                     { r.chart.work.Drop() }

func (r chartRenderer) Layout(size fyne.Size) {
	r.chart.image.Resize(size)
	r.chart.draw()
}
