package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
	"nod/policy"
	"nod/policy/shell"
)

// riskColor is the colour of an approval: that of its worst fact or, if no fact needs attention, of its class.
func riskColor(c policy.Class, facts []prompt.Fact) fyne.ThemeColorName {
	if level := prompt.Worst(facts); level > shell.Note && c != policy.Destructive {
		return levelColor(level)
	}
	return ClassColor(c)
}

func levelColor(l shell.Level) fyne.ThemeColorName {
	return [...]fyne.ThemeColorName{ColorMuted, theme.ColorNameWarning, theme.ColorNameError}[l]
}

// factBadge is a fact, of which the colour is not all that tells its level.
func factBadge(f prompt.Fact) fyne.CanvasObject {
	if f.Level == shell.Note {
		return Badge(f.Text, ColorMuted)
	}
	icon, alpha := theme.IconNameWarning, uint8(0x22)
	if f.Level == shell.Danger {
		icon, alpha = theme.IconNameError, 0x38
	}
	c := levelColor(f.Level)
	image := widget.NewIcon(theme.NewColoredResource(theme.DefaultTheme().Icon(icon), c))
	text := newWords(f.Text, theme.SizeNameCaptionText, c).bold()
	return newTint(c, alpha, 6, Padded(2, 6, Row(4, container.New(fixed{width: 14, height: 14}, image), text)))
}

func (a *approvePage) factBadges() []fyne.CanvasObject {
	var all []fyne.CanvasObject
	for _, group := range a.input.FactGroups() {
		var badges []fyne.CanvasObject
		for _, f := range group.Facts {
			if f == a.input.Class {
				badges = append(badges, a.classBadge())
			} else {
				badges = append(badges, factBadge(f))
			}
		}
		if group.Heading != "" {
			badges = headed(group.Heading, badges)
		}
		all = append(all, badges...)
	}
	return all
}

func (a *approvePage) classBadge() fyne.CanvasObject {
	color := ClassColor(a.entry.why.Class)
	if prompt.Worst(a.input.AllFacts()) > a.input.Class.Level { // green beside red would look harmless
		color = ColorMuted
	}
	return Badge(a.input.Class.Text, color)
}

// headed puts a heading before the first badge, so that it never stands at the end of a line.
func headed(text string, badges []fyne.CanvasObject) []fyne.CanvasObject {
	if len(badges) == 0 {
		return nil
	}
	const widest = 130
	words := newElidedText(text+":", theme.SizeNameCaptionText, fyne.TextStyle{}, ColorMuted)
	words.Layout.(*elided).widest = widest
	first := Row(6, container.NewCenter(words), badges[0])
	return append([]fyne.CanvasObject{first}, badges[1:]...)
}

// maxDangers is the number of dangerous parts listed at first; one if there is little room.
const maxDangers = 4

// showFacts shows the dangers of the input, as badges and as a list of its dangerous parts.
func (a *approvePage) showFacts() {
	a.rows.set(a.badges, a.factBadges())
	a.jumps = nil
	for _, p := range a.input.Dangers {
		jump := newButton(a.w, p.Text(), func() { a.jumpTo(p) })
		jump.look, jump.icon = linkButton, theme.IconNameError
		a.jumps = append(a.jumps, container.NewHBox(jump))
	}
	a.others = newButton(a.w, "", func() {
		a.allJumps = true
		a.foldJumps()
		a.w.changed()
	})
	a.others.look = linkButton
	a.facts.Objects = append([]fyne.CanvasObject{a.badges}, a.jumps...)
	a.facts.Add(container.NewHBox(a.others))
	a.foldJumps()
	a.facts.Refresh()
}

// foldJumps hides the dangerous parts that do not fit, and says how many.
func (a *approvePage) foldJumps() {
	shown := maxDangers
	if a.compact {
		shown = 1
	}
	if a.allJumps || len(a.jumps) <= shown {
		shown = len(a.jumps)
	}
	for i, o := range a.jumps {
		SetVisible(o, i < shown)
	}
	if shown < len(a.jumps) {
		a.others.setText(tr("+{{.Count}} more", values{"Count": len(a.jumps) - shown}))
	}
	SetVisible(a.facts.Objects[len(a.facts.Objects)-1], shown < len(a.jumps))
}

func (a *approvePage) jumpTo(p prompt.Danger) {
	if a.rawShown {
		a.toggleRaw()
	}
	block := a.input.block
	block.jumpTo(block.positionOf(p.At))
}
