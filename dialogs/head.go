package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

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
	stripe := stripeOf(e)
	text := Column(3, newSentence(said), newBrief(w, originParts(said.Origin)...).object)
	h.icon = widget.NewIcon(theme.NewColoredResource(theme.DefaultTheme().Icon(iconOf(e.request)), stripe))
	h.tile = newTint(stripe, 0x22, 9, Padded(8, 8, container.New(fixed{width: 22, height: 22}, h.icon)))
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

// setPosition shows the place in the queue. It reports whether that changed anything.
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

func stripeOf(e *entry) fyne.ThemeColorName {
	if e.request.Body.Kind() == interact.KindApprove {
		return ClassColor(e.why.Class)
	}
	return theme.ColorNamePrimary
}

func iconOf(r interact.Request) fyne.ThemeIconName {
	switch b := r.Body.(type) {
	case interact.Approve:
		return icons[prompt.ActionOf(b)]
	case interact.Form:
		return theme.IconNameList
	case interact.Confirm:
		return theme.IconNameWarning
	}
	return theme.IconNameQuestion
}

// sentence is the layout of who wants what. The names lose their middles where there is no room.
type sentence struct{ agent, machine, object *elided }

// sentenceGap is the distance between its parts, and around the text of the object.
const sentenceGap = 6

// newSentence says who wants what. The object has a background and a typeface that nod's own words never have.
func newSentence(said prompt.Head) fyne.CanvasObject {
	bold := fyne.TextStyle{Bold: true}
	who, wish := said.Agent, said.Wish
	if said.Project != "" {
		who, wish = who+" · "+said.Project, "— "+wish
	}
	agent := newElidedText(who, theme.SizeNameSubHeadingText, bold, theme.ColorNameForeground)
	verb := newWords(wish, theme.SizeNameSubHeadingText, theme.ColorNameForeground)
	object := newElidedText(said.Object, theme.SizeNameText, fyne.TextStyle{Monospace: true}, theme.ColorNameForeground)
	ground := newTint(theme.ColorNameForeground, 0x14, 4, Padded(0, sentenceGap, object))
	SetVisible(ground, said.Object != "")
	machine := newElidedText(said.Machine, theme.SizeNameText, bold, theme.ColorNamePrimary)
	sign := newTint(theme.ColorNamePrimary, 0x22, 4, Padded(0, sentenceGap, machine))
	SetVisible(sign, said.Machine != "")
	s := &sentence{agent.Layout.(*elided), machine.Layout.(*elided), object.Layout.(*elided)}
	return container.New(s, agent, sign, verb, ground)
}

func (s *sentence) MinSize(o []fyne.CanvasObject) fyne.Size {
	var height float32
	for _, each := range o {
		height = max(height, each.MinSize().Height)
	}
	return fyne.NewSize(0, height)
}

func (s *sentence) Layout(o []fyne.CanvasObject, size fyne.Size) {
	verb := o[2].MinSize()
	room := size.Width - verb.Width - sentenceGap
	agent := s.agent.wide()
	var machine, object float32
	if o[1].Visible() {
		room -= sentenceGap
		machine = min(s.machine.wide()+2*sentenceGap, max(room/3, 0))
		room -= machine
	}
	if o[3].Visible() {
		room -= sentenceGap
		object = s.object.wide() + 2*sentenceGap
		object = min(object, max(room-agent, room/2))
	}
	agent = max(min(agent, room-object), 0)
	x := float32(0)
	for i, width := range []float32{agent, machine, verb.Width, object} {
		if !o[i].Visible() {
			continue
		}
		height := o[i].MinSize().Height
		o[i].Resize(fyne.NewSize(max(width, 0), height))
		o[i].Move(fyne.NewPos(x, (size.Height-height)/2))
		x += width + sentenceGap
	}
}

var icons = map[interact.Action]fyne.ThemeIconName{
	interact.UsesTool: theme.IconNameSettings, interact.RunsCommand: theme.IconNameComputer,
	interact.EditsFile: theme.IconNameDocumentCreate, interact.EditsFiles: theme.IconNameDocumentCreate,
	interact.WritesFile: theme.IconNameDocumentSave, interact.Fetches: theme.IconNameStorage,
	interact.OpensURL: theme.IconNameStorage, interact.CarriesOut: theme.IconNameList,
}

func originParts(origin []prompt.Origin) []briefPart {
	var parts []briefPart
	for _, o := range origin {
		label := newWords(o.Label, theme.SizeNameCaptionText, originColors[o.From]).bold()
		parts = append(parts, newBriefPart(label, o.Text, widget.LowImportance))
	}
	return parts
}

var originColors = map[prompt.Source]fyne.ThemeColorName{
	prompt.Verified: theme.ColorNameSuccess, prompt.Unverified: theme.ColorNameWarning,
	prompt.Reported: theme.ColorNamePrimary, prompt.Claimed: ColorMuted, prompt.Program: ColorMuted,
}
