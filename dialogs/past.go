package dialogs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/safetext"
	"nod/interact"
)

// Past shows what was asked, exactly, as a prompt does, and what was answered. What a file would have become it shows
// as it was shown then: what is on the disk now has nothing to do with it. Where it does not scroll, the page that it
// is on does. Aside does work on another goroutine, and then what it returns on that of the UI.
func Past(r interact.Record, page fyne.Scrollable, aside func(work func() (show func()))) fyne.CanvasObject {
	c := pastContent(r)
	if c.plan != nil {
		return newPast(newProse(c.plan), page)
	}
	s := newSheet(c.lines, c.original)
	aside(s.colour)
	return newPast(s, page)
}

// PastInput shows the whole input of a tool call that was asked about, as JSON.
func PastInput(input []byte, page fyne.Scrollable, aside func(work func() (show func()))) fyne.CanvasObject {
	s := newRawView(input)
	aside(s.colour)
	return newPast(s, page)
}

func newPast(s *sheet, page fyne.Scrollable) fyne.CanvasObject {
	s.past = true
	h := &pastWheel{sheet: s, page: page}
	h.ExtendBaseWidget(h)
	return container.NewStack(s, h)
}

// pastWheel lies over a sheet and takes nothing but the wheel: it scrolls the sheet, then the page around it.
type pastWheel struct {
	widget.BaseWidget
	sheet *sheet
	page  fyne.Scrollable
}

// CreateRenderer implements [fyne.Widget].
func (h *pastWheel) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}

// Scrolled implements [fyne.Scrollable].
func (h *pastWheel) Scrolled(ev *fyne.ScrollEvent) {
	was := h.sheet.scroll.Offset
	h.sheet.Scrolled(ev)
	if h.sheet.scroll.Offset == was {
		h.page.Scrolled(ev)
	}
}

func pastContent(r interact.Record) content {
	switch b := r.Request.Body.(type) {
	case interact.Approve:
		return pastCall(b, r.Request.Requester.Folder(), r.Answer.Shown.Diff)
	case interact.Ask:
		return pastWords(
			unnumbered("", b.Question, lineText), picks(b.Options), said(r.Answer, []string{r.Answer.Text}))
	case interact.Confirm:
		return pastWords(unnumbered("", b.Message, lineText), said(r.Answer, []string{yesOrNo(r.Answer.Confirmed)}))
	case interact.Form:
		return pastForm(b, r.Answer)
	case interact.Notify:
		return pastWords(unnumbered("", b.Title, lineKey), unnumbered("", b.Message, lineText))
	}
	return content{}
}

// pastCall shows a tool call. It looks at no file.
func pastCall(a interact.Approve, cwd, diff string) content {
	args, err := parseArguments(a.Input)
	f, isChange := fileChangeOf(args)
	if _, isPatch := patchContent(args, cwd); err != nil || isPatch || !isChange || strings.HasPrefix(a.Tool, "mcp_") {
		return newContent(a, cwd)
	}
	c := content{lines: unnumbered("", f.path, lineKey)}
	c.endMust()
	switch {
	case diff != "":
		c.original, c.lines = diff, append(c.lines, pastDiff(f.path, diff)...)
	case f.edits != nil:
		c = c.withFragments(f.path, f.edits)
		for _, e := range f.edits {
			c.original += e.new
		}
	default:
		c.original, c.lines = f.text, append(c.lines, fileText(f.path, f.text)...)
	}
	return c.withRest(f.rest)
}

// pastDiff shows a unified diff of the file at path, as the journal has it, with the numbers of its lines before and
// after.
func pastDiff(path, text string) []sheetLine {
	d := readDiff(text)
	var out []sheetLine
	file := newPatchedFile(path)
	context, changed := safetext.ContextOf(text), d.changedWords()
	width := len(strconv.Itoa(d.last))
	for i, sign := range []byte(d.signs) {
		from := d.from[i]
		if from.starts && len(out) > 0 {
			out = append(out, rule(""))
		}
		l := sheetLine{lead: string(sign) + " ", style: signStyles[sign], spans: context.Render(from.text)[0].Spans}
		if d.last > 0 {
			l.lead = fmt.Sprintf("%*s %*s %s", width, from.old, width, from.fresh, l.lead)
		}
		l.code, l.at = file.add(sign, strings.TrimSuffix(from.text, "\n"))
		l.changed = drawnAt(l.spans, changed[i])
		out = append(out, l)
	}
	file.end()
	if d.rest != "" {
		out = append(out, note(d.rest))
	}
	return out
}

// keptDiff is a unified diff that was kept.
type keptDiff struct {
	diff
	from []keptLine // of each sign
	last int        // number of a line; 0: no line has one
	rest string     // what is said of lines that were not kept
}

// keptLine is a line of a diff, with its numbers before and after; "" where it is not, or nobody knows.
type keptLine struct {
	text, old, fresh string
	starts           bool // a hunk
}

func readDiff(text string) keptDiff {
	var d keptDiff
	var signs strings.Builder
	var old, fresh, olds, freshes int
	starts, isBody := false, false
	number := func(n *int) string {
		if *n == 0 {
			return ""
		}
		d.last = max(d.last, *n)
		*n++
		return strconv.Itoa(*n - 1)
	}
	for line := range strings.Lines(text) {
		switch sign := line[0]; {
		case sign == '@':
			old, fresh, starts, isBody = 0, 0, true, true
			_, _ = fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &old, &olds, &fresh, &freshes) // else nobody knows
		case !isBody: // names the file
		case sign == '\\':
			d.rest = strings.TrimSpace(line[1:])
		case strings.IndexByte(" +-", sign) >= 0:
			l := keptLine{text: line[1:], starts: starts}
			if sign != '+' {
				l.old, d.old = number(&old), append(d.old, l.text)
			}
			if sign != '-' {
				l.fresh, d.new = number(&fresh), append(d.new, l.text)
			}
			d.from, starts = append(d.from, l), false
			signs.WriteByte(sign)
		}
	}
	d.signs = signs.String()
	return d
}

// pastWords are texts one under the other. A copy gives the first.
func pastWords(texts ...[]sheetLine) content {
	c := content{lines: slices.Concat(texts...)}
	var original []string
	for _, l := range texts[0] {
		original = append(original, l.text())
	}
	c.original = strings.Join(original, "\n")
	return c
}

func picks(options []string) []sheetLine {
	var lines []sheetLine
	for _, o := range options {
		lines = append(lines, unnumbered("- ", o, lineText)...)
	}
	return lines
}

// said is what the person answered; nothing where they did not.
func said(a interact.Answer, texts []string) []sheetLine {
	if a.Outcome != interact.Answered {
		return nil
	}
	lines := []sheetLine{rule(tr("Answer"))}
	for _, text := range texts {
		lines = append(lines, unnumbered("", text, lineText)...)
	}
	return lines
}

func yesOrNo(yes bool) string {
	if yes {
		return tr("Yes")
	}
	return tr("No")
}

func pastForm(f interact.Form, a interact.Answer) content {
	lines := unnumbered("", f.Title, lineKey)
	for _, q := range f.Questions {
		lines = append(append(lines, rule("")), unnumbered("", q.Question, lineText)...)
		for _, o := range q.Options {
			lines = append(lines, unnumbered("- ", o.Label, lineText)...)
		}
		lines = append(lines, said(a, a.Values[q.ID].Items)...)
	}
	return pastWords(lines)
}
