package history

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/interact/history"
)

var formats = []history.Format{history.CSV, history.JSONL}

// exporter is the card that writes the matching entries to a file.
type exporter struct {
	win     *Window
	query   func() history.Query
	content fyne.CanvasObject
	path    *controls.TextField
	format  *controls.Select
	write   *controls.Button
	result  *controls.Remark
	wrong   *controls.Remark
	work    controls.Worker
}

func newExporter(w *Window, query func() history.Query) *exporter {
	e := &exporter{win: w, query: query, result: controls.NewRemark(widget.MediumImportance),
		wrong: controls.NewRemark(widget.DangerImportance)}
	e.work.Aside = w.Aside
	e.path = controls.NewTextField(w.typedShortcut, false)
	e.path.OnSubmitted = func(string) { e.export() }
	e.path.Escape = e.hide
	e.format = controls.NewSelect([]string{"CSV", "JSON Lines"}, func(string) { e.rename() })
	e.write = controls.MainButton(lang.L("Export"), nil, e.export)
	cancel := controls.NewButton(lang.L("Cancel"), func() { e.hide() })
	row := container.NewBorder(nil, nil, nil, dialogs.Row(8, controls.Wide(120, e.format), e.write, cancel), e.path)
	e.content = dialogs.Card(dialogs.ColorPaper, dialogs.Padded(8, 10, dialogs.Column(6,
		controls.Muted(lang.L("Exports all matching entries to a new file, with the exact inputs.")),
		row, e.wrong.Content, e.result.Content)))
	e.content.Hide()
	return e
}

func (e *exporter) toggle() {
	if e.hide() {
		return
	}
	e.result.Say("")
	e.wrong.Say("")
	e.path.SetText(filepath.Join("~", "nod-history-"+e.win.now().Format("2006-01-02-150405")+".csv"))
	e.format.SetSelectedIndex(0)
	e.content.Show()
	e.win.entries.content.Refresh()
	e.win.win.Canvas().Focus(e.path)
}

func (e *exporter) hide() bool {
	was := e.content.Visible()
	e.work.Drop()
	e.content.Hide()
	e.win.entries.content.Refresh()
	return was
}

func (e *exporter) rename() {
	if i := e.format.SelectedIndex(); i >= 0 {
		e.path.SetText(strings.TrimSuffix(e.path.Text, filepath.Ext(e.path.Text)) + "." + string(formats[i]))
	}
}

func (e *exporter) export() {
	if e.work.Busy() {
		return
	}
	e.wrong.Say("")
	e.result.Say("")
	path, format, q := e.path.Text, formats[max(e.format.SelectedIndex(), 0)], e.query()
	e.write.Disable()
	e.win.After(searchDelay, func() {
		if e.work.Busy() {
			e.result.Say(lang.L("Writing…"))
		}
	})
	start := time.Now()
	controls.FetchLatest(&e.work, func(ctx context.Context) (int, error) {
		return e.win.opts.Operator.Export(ctx, q, controls.OnDisk(strings.TrimSpace(path)), format)
	}, func(n int, err error) {
		e.write.Enable()
		e.wrong.Complain(err)
		e.result.Say("")
		if err == nil {
			e.result.Say(lang.L("Wrote {{.Count}} entries in {{.Time}}.",
				map[string]any{"Count": n, "Time": duration(time.Since(start))}))
		}
	})
}
