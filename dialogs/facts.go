package dialogs

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
	"nod/policy"
	"nod/policy/shell"
)

// riskColor returns the colour of an approval: that of its worst fact or, if no fact needs attention, of its class.
func riskColor(c policy.Class, facts []prompt.Fact) fyne.ThemeColorName {
	if level := prompt.Worst(facts); level > shell.Note && c != policy.Destructive {
		return levelColor(level)
	}
	return ClassColor(c)
}

func levelColor(l shell.Level) fyne.ThemeColorName {
	return [...]fyne.ThemeColorName{ColorMuted, theme.ColorNameWarning, theme.ColorNameError}[l]
}

// headline shows a fact in full. Its icon also tells its level.
func headline(f prompt.Fact) fyne.CanvasObject {
	icon, importance := theme.IconNameWarning, widget.WarningImportance
	if f.Level == shell.Danger {
		icon, importance = theme.IconNameError, widget.DangerImportance
	} else if f.Level == shell.Note {
		icon, importance = theme.IconNameInfo, widget.MediumImportance
	}
	image := widget.NewIcon(theme.NewColoredResource(theme.DefaultTheme().Icon(icon), levelColor(f.Level)))
	text := Lines(f.Text, theme.SizeNameText, importance)
	text.TextStyle.Bold = true
	return beside(Sized(18, 18, image), 8, Tight(text))
}

const maxDangers = 4

func (a *approvePage) showFacts() {
	headlines, rest := a.input.Said()
	a.facts.Objects, a.rest = nil, nil
	for _, f := range headlines {
		a.facts.Add(headline(f))
	}
	if len(rest) > 0 {
		var parts []briefPart
		for _, group := range rest {
			var texts []string
			for _, f := range group.Facts {
				texts = append(texts, f.Text)
			}
			heading := group.Heading
			if heading != "" {
				heading += ":"
			}
			parts = append(parts, labelled(heading, strings.Join(texts, " · ")))
		}
		a.rest = newBrief(a.w, parts...)
		a.facts.Add(a.rest.object)
	}
	a.jumps = nil
	for _, p := range a.input.Dangers {
		jump := newLink(a.w, p.Text, func() { a.jumpTo(p.At) })
		jump.icon = theme.IconNameError
		a.jumps = append(a.jumps, container.NewHBox(jump))
	}
	a.others = newLink(a.w, "", func() {
		a.allJumps = true
		a.foldJumps()
		a.w.changed()
	})
	a.facts.Objects = append(a.facts.Objects, a.jumps...)
	a.foldJumps()
	a.facts.Refresh()
}

func (a *approvePage) foldJumps() {
	shown := maxDangers
	if a.compact {
		shown = 1
	}
	if a.allJumps || len(a.jumps) <= shown {
		shown = len(a.jumps)
	}
	for i, o := range a.jumps {
		row := o.(*fyne.Container)
		if row.Objects = row.Objects[:1]; i == shown-1 && shown < len(a.jumps) {
			a.others.setText(tr("+{{.Count}} more", values{"Count": len(a.jumps) - shown}))
			row.Add(a.others)
		}
		SetVisible(o, i < shown)
	}
}

func (a *approvePage) jumpTo(at int) {
	if a.rawShown {
		a.toggleRaw()
	}
	block := a.input.block
	block.jumpTo(block.positionOf(at))
}

const jumpAbove = 2 // lines in view above the target of a jump

func (s *sheet) jumpTo(position int) {
	if s.page != nil {
		s.page.selectText(&selection{position, s.page.lineEnd(position)})
	}
	s.scroll.scrollBy(s.text.top(position) - jumpAbove*s.lineHeight() - s.scroll.Offset.Y)
}

func (p *sheetPage) lineEnd(position int) int {
	for _, r := range p.rows {
		if r.last && r.to > position {
			return r.to
		}
	}
	return p.end
}

func (s *sheet) positionOf(offset int) int {
	position := 0
	for _, l := range s.lines {
		for _, span := range l.Spans {
			if size := len(span.Source); offset >= size {
				offset, position = offset-size, position+len(span.Text)
				continue
			}
			if span.Text != span.Source {
				offset = 0
			}
			return position + offset
		}
		if offset == 0 {
			return position
		}
		offset, position = offset-1, position+1 // its line break
	}
	return max(position-1, 0)
}
