package settings

import (
	"reflect"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/policy"
)

const (
	pageWidth    = 640 // maximum width of text
	controlWidth = 190
	sectionGap   = 22
)

func page(sections ...fyne.CanvasObject) fyne.CanvasObject {
	column := container.New(atMost(pageWidth), dialogs.Column(sectionGap, sections...))
	return container.NewVScroll(dialogs.Padded(16, 20, column))
}

func section(heading, hint string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Column(9, header(heading, hint), card(rows...))
}

func header(heading, hint string, behind ...fyne.CanvasObject) fyne.CanvasObject {
	words := dialogs.Column(3, dialogs.Words(heading, theme.SizeNameSubHeadingText, theme.ColorNameForeground).Bold())
	if hint != "" {
		words.Add(controls.Muted(hint))
	}
	if len(behind) == 0 {
		return words
	}
	return container.NewBorder(nil, nil, nil, container.NewCenter(container.NewHBox(behind...)), words)
}

func card(rows ...fyne.CanvasObject) fyne.CanvasObject {
	var all []fyne.CanvasObject
	for i, r := range rows {
		if i > 0 {
			all = append(all, dialogs.Rule())
		}
		all = append(all, r)
	}
	return dialogs.Card(dialogs.ColorSunken, dialogs.Column(0, all...)) // once, since each Add lays out all
}

// listOf returns a card with a row for each value, or with the sentence none.
func listOf[T any](all []T, row func(T) fyne.CanvasObject, none string) fyne.CanvasObject {
	if len(all) == 0 {
		return card(emptyRow(none))
	}
	return card(each(all, row)...)
}

// each returns the results of f for all values.
func each[T, U any](values []T, f func(T) U) []U {
	var all []U
	for _, v := range values {
		all = append(all, f(v))
	}
	return all
}

// settingRow is a row: the name of a setting, its explanation and its problem, and its control at the right.
type settingRow struct {
	Content fyne.CanvasObject
	Problem *controls.Remark
}

func (f *settingRow) row() *settingRow { return f }

func newSettingRow(name, hint string, control fyne.CanvasObject) *settingRow {
	f := &settingRow{Problem: controls.NewRemark(widget.DangerImportance)}
	words := dialogs.Column(2, dialogs.Words(name, theme.SizeNameText, theme.ColorNameForeground))
	if hint != "" {
		words.Add(controls.Muted(hint))
	}
	words.Add(f.Problem.Content)
	f.Content = dialogs.Padded(10, 14, controls.Besides(16, words, control))
	return f
}

type atMost float32

func (w atMost) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

func (w atMost) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	width := min(size.Width, float32(w))
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[0].Move(fyne.NewPos((size.Width-width)/2, 0))
}

func topLeft(width float32, o fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Sized(width, 0, container.NewHBox(container.NewVBox(o)))
}

func badged(e policy.Effect, words fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Padded(9, 12, withEffect(e, words))
}

func withEffect(e policy.Effect, words fyne.CanvasObject) fyne.CanvasObject {
	return container.NewBorder(nil, nil, topLeft(70, controls.EffectBadge(e)), nil, words)
}

func emptyRow(text string) fyne.CanvasObject {
	return dialogs.Padded(12, 14, controls.Paragraph(text, widget.LowImportance))
}

// drawn remembers the values that a list was drawn from, so that its rows and their focus are kept while the values
// stay the same.
type drawn []any

func (d *drawn) changed(values ...any) bool {
	changed := !reflect.DeepEqual(*d, drawn(values))
	*d = values
	return changed
}
