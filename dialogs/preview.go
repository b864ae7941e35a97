package dialogs

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"nod/api"
	"nod/dialogs/prompt"
)

// preview shows the preview of an option below the list: code or a text sketch, which must keep its columns.
type preview struct {
	w      *window
	title  *words
	text   *fyne.Container
	object fyne.CanvasObject
	height float32 // of the tallest preview, so that nothing moves when another one is shown
}

const maxPreview, maxPreviewLines = 200, 20

// newPreview shows the preview of the first option that has one; nil if none has.
func newPreview(w *window, options []api.Option) *preview {
	i := slices.IndexFunc(options, func(o api.Option) bool { return o.Preview != "" })
	if i < 0 {
		return nil
	}
	p := &preview{w: w, title: newWords("", theme.SizeNameCaptionText, ColorMuted), text: container.NewStack()}
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
	p.text.Objects = []fyne.CanvasObject{container.New(fixed{height: p.height}, newPreviewText(p.w, o.Preview))}
	p.text.Refresh()
}

// newPreviewText returns a sheet that breaks only very long lines, with a mark.
func newPreviewText(w *window, text string) *sheet {
	text = strings.TrimRight(text, "\n")
	s := newSheet(prompt.Unnumbered(" ", text, prompt.LineText), text)
	s.untracked, s.pad = true, 0
	s.attach(w, nil)
	s.scroll.Direction = container.ScrollBoth
	return s
}
