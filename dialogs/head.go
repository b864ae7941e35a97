package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
)

// head is the top of a prompt: who wants what, how far that is verified, and the place in the queue.
type head struct {
	object fyne.CanvasObject
	queue  *button
	more   *button

	stripe  *surface        // the colour of the prompt
	tile    *surface        // the icon on a tint of it
	line    *fyne.Container // everything except the stripe
	icon    *widget.Icon
	margins *layout.CustomPaddedLayout
}

func newHead(w *window, e *entry) *head {
	said := e.view().Head
	h := &head{
		queue: newIconButton(w, "", "", func() { w.openQueue(e) }),
		more:  newIconButton(w, "", theme.IconNameMoreHorizontal, func() { w.openMore(e) }),
	}
	stripe := theme.ColorNamePrimary
	if e.request.Body.Kind() == api.KindApprove {
		stripe = ClassColor(e.why.Class)
	}
	var parts []briefPart
	for _, o := range said.Origin {
		label := Words(o.Label, theme.SizeNameCaptionText, originColors[o.From]).Bold()
		parts = append(parts, newBriefPart(label, o.Text, widget.LowImportance))
	}
	text := Column(3, newSentence(said), newBrief(w, parts...).object)
	h.icon = widget.NewIcon(theme.NewColoredResource(theme.DefaultTheme().Icon(iconOf(e.request, said)), stripe))
	h.tile = newTint(stripe, 0x22, 9, Padded(8, 8, Sized(22, 22, h.icon)))
	h.stripe = newTint(stripe, 0xff, 0, container.New(fixed{height: 4}))
	h.margins = &layout.CustomPaddedLayout{LeftPadding: sideMargin, RightPadding: sideMargin}
	h.line = container.New(&sides{gap: 12}, Column(0, h.tile), text, Column(0, Row(4, h.queue, h.more)))
	h.object = Column(0,
		h.stripe,
		Surface(ColorSunken, container.New(h.margins, h.line)),
		Rule(),
	)
	h.queue.Hide()
	h.setCompact(false)
	return h
}

func (h *head) setColor(c fyne.ThemeColorName) {
	h.stripe.fill, h.tile.fill = c, c
	h.icon.Resource.(*theme.ThemedResource).ColorName = c
	h.stripe.Refresh()
	h.tile.Refresh()
	h.icon.Refresh()
}

func (h *head) setCompact(v bool) {
	SetVisible(h.tile, !v)
	h.line.Layout.Layout(h.line.Objects, h.line.Size()) // its size may stay the same
	h.margins.TopPadding, h.margins.BottomPadding = 10, 10
	if v {
		h.margins.TopPadding, h.margins.BottomPadding = 5, 6
	}
}

func (h *head) setPosition(place, of int) bool {
	where := ""
	if of > 1 {
		where = tr("{{.Place}} of {{.Count}} ›", values{"Place": place, "Count": of})
	}
	if h.queue.text == where {
		return false
	}
	h.queue.setText(where)
	SetVisible(h.queue, where != "")
	return true
}

func iconOf(r interact.Request, said prompt.Head) fyne.ThemeIconName {
	switch r.Body.(type) {
	case interact.Approve:
		return icons[said.Action]
	case api.Form:
		return theme.IconNameList
	case api.Confirm:
		return theme.IconNameWarning
	}
	return theme.IconNameQuestion
}

// sentence is the layout of who wants what, in one row or two. Names lose their middles only if they are longer than a
// row.
type sentence struct {
	agent, machine, object *elided
	names                  []string // of the agent, with its project and, where that helps, without
	width                  float32  // when it was last laid out
}

const sentenceGap = 6

// newSentence shows who wants what. The object has a background and a typeface that nod's own words never have.
func newSentence(said prompt.Head) fyne.CanvasObject {
	bold := fyne.TextStyle{Bold: true}
	who, wish := said.Agent, said.Wish
	if said.Project != "" {
		who, wish = who+" · "+said.Project, "— "+wish
	}
	agent := newElidedText(who, theme.SizeNameSubHeadingText, bold, theme.ColorNameForeground)
	verb := Words(wish, theme.SizeNameSubHeadingText, theme.ColorNameForeground)
	object := newElidedText(said.Object, theme.SizeNameText, fyne.TextStyle{Monospace: true}, theme.ColorNameForeground)
	ground := newTint(theme.ColorNameForeground, 0x14, 4, Padded(0, sentenceGap, object))
	SetVisible(ground, said.Object != "")
	machine := newElidedText(said.Machine, theme.SizeNameText, bold, theme.ColorNamePrimary)
	sign := newTint(theme.ColorNamePrimary, 0x22, 4, Padded(0, sentenceGap, machine))
	SetVisible(sign, said.Machine != "")
	s := &sentence{
		agent: agent.Layout.(*elided), machine: machine.Layout.(*elided), object: object.Layout.(*elided),
		names: []string{who, said.Agent}, width: minPageWidth,
	}
	return container.New(s, agent, sign, verb, ground)
}

func (s *sentence) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(0, s.place(o, s.width))
}

func (s *sentence) Layout(o []fyne.CanvasObject, size fyne.Size) {
	s.width = size.Width
	s.place(o, size.Width)
}

// place puts the parts into one row, if necessary without the project, which the origin also shows. If that would
// shorten a name, it puts what is wanted below who wants it.
func (s *sentence) place(o []fyne.CanvasObject, width float32) (height float32) {
	widths := []float32{0, 0, o[2].MinSize().Width, 0}
	if o[1].Visible() {
		widths[1] = s.machine.wide() + 2*sentenceGap
	}
	if o[3].Visible() {
		widths[3] = s.object.wide() + 2*sentenceGap
	}
	for _, name := range s.names {
		s.agent.text = name
		if widths[0] = s.agent.wide(); widths[0]+widths[1]+widths[2]+widths[3]+3*sentenceGap <= width {
			return s.row(o, widths, 0, width)
		}
	}
	s.agent.text = s.names[0]
	widths[0] = s.agent.wide()
	height = s.row(o[:2], widths[:2], 0, width)
	return height + s.row(o[2:], widths[2:], height, width)
}

func (s *sentence) row(o []fyne.CanvasObject, widths []float32, y, width float32) (height float32) {
	for _, each := range o {
		height = max(height, each.MinSize().Height)
	}
	x := float32(0)
	for i, each := range o {
		if !each.Visible() {
			continue
		}
		wide := min(widths[i], max(width-x, 0))
		if i == 0 && len(o) > 1 && o[1].Visible() {
			wide = min(wide, max(width-min(widths[1], width/2)-sentenceGap, 0))
		}
		each.Resize(fyne.NewSize(wide, each.MinSize().Height))
		each.Move(fyne.NewPos(x, y+(height-each.MinSize().Height)/2))
		x += wide + sentenceGap
	}
	return height
}

var icons = map[interact.Action]fyne.ThemeIconName{
	interact.UsesTool: theme.IconNameSettings, interact.RunsCommand: theme.IconNameComputer,
	interact.EditsFile: theme.IconNameDocumentCreate, interact.EditsFiles: theme.IconNameDocumentCreate,
	interact.WritesFile: theme.IconNameDocumentSave, interact.Fetches: theme.IconNameStorage,
	interact.OpensURL: theme.IconNameStorage, interact.CarriesOut: theme.IconNameList,
	interact.ReachesOut: theme.IconNameStorage,
}

var originColors = map[prompt.Source]fyne.ThemeColorName{
	prompt.Verified: theme.ColorNameSuccess, prompt.Unverified: theme.ColorNameWarning,
	prompt.Reported: theme.ColorNamePrimary, prompt.Other: ColorMuted,
}
