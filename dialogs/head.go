package dialogs

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/safetext"
	"nod/interact"
	"nod/policy"
)

// maxName is the number of characters of an agent's name, or of its label for a button, that are shown.
const maxName = 40

// head is the top of a prompt: who wants what, how far that is verified, and where in the queue this is. It takes two
// lines, whatever a requester calls itself and what it asks for.
type head struct {
	object fyne.CanvasObject
	queue  *button
	more   *button

	stripe  *surface        // the colour of the prompt
	tile    *surface        // the icon on a tint of it
	line    *fyne.Container // all but the stripe
	icon    *widget.Icon
	margins *layout.CustomPaddedLayout
}

func newHead(w *window, e *entry) *head {
	r := e.request
	h := &head{
		queue: newIconButton(w, "", "", func() { w.openQueue(e) }),
		more:  newIconButton(w, "", theme.IconNameMoreHorizontal, func() { w.openMore(e) }),
	}
	stripe := stripeOf(e)
	text := Column(3, newSentence(r), newBrief(w, originOf(r.Requester)...).object)
	h.icon = widget.NewIcon(theme.NewColoredResource(theme.DefaultTheme().Icon(iconOf(r)), stripe))
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

// setColor gives the prompt another colour.
func (h *head) setColor(c fyne.ThemeColorName) {
	h.stripe.fill, h.tile.fill = c, c
	h.icon.Resource.(*theme.ThemedResource).ColorName = c
	h.stripe.Refresh()
	h.tile.Refresh()
	h.icon.Refresh()
}

// setCompact leaves the icon out.
func (h *head) setCompact(v bool) {
	setVisible(h.tile, !v)
	h.line.Layout.Layout(h.line.Objects, h.line.Size()) // whose size may stay what it was
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
	setVisible(h.queue, where != "")
	return true
}

// stripeOf is the colour of the prompt before its input is looked at: the class's for an approval, else the accent.
func stripeOf(e *entry) fyne.ThemeColorName {
	if e.request.Body.Kind() == interact.KindApprove {
		return ClassColor(e.why.Class)
	}
	return theme.ColorNamePrimary
}

func iconOf(r interact.Request) fyne.ThemeIconName {
	switch b := r.Body.(type) {
	case interact.Approve:
		return actionOf(b).icon
	case interact.Form:
		return theme.IconNameList
	case interact.Confirm:
		return theme.IconNameWarning
	}
	return theme.IconNameQuestion
}

// sentence is the layout of who wants what: the agent, what it wants, and what it wants that with. Both ends lose their
// middles where there is no room.
type sentence struct{ agent, object *elided }

// sentenceGap is between its parts, and around the object's letters.
const sentenceGap = 6

// newSentence says who wants what. The agent's name is its own claim, as the object is its own word: that stands on a
// ground of its own, in letters that nod's words never have.
func newSentence(r interact.Request) fyne.CanvasObject {
	bold := fyne.TextStyle{Bold: true}
	who := agentOf(r.Requester)
	if project := projectOf(r.Requester); project != "" {
		who += " · " + project
	}
	agent := newElidedText(who, theme.SizeNameSubHeadingText, bold, theme.ColorNameForeground)
	wish, what := wishOf(r)
	if projectOf(r.Requester) != "" {
		wish = "— " + wish
	}
	verb := newWords(wish, theme.SizeNameSubHeadingText, theme.ColorNameForeground)
	object := newElidedText(what, theme.SizeNameText, fyne.TextStyle{Monospace: true}, theme.ColorNameForeground)
	ground := newTint(theme.ColorNameForeground, 0x14, 4, Padded(0, sentenceGap, object))
	setVisible(ground, what != "")
	s := &sentence{agent: agent.Layout.(*elided), object: object.Layout.(*elided)}
	return container.New(s, agent, verb, ground)
}

// MinSize implements [fyne.Layout].
func (s *sentence) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(0, max(o[0].MinSize().Height, o[1].MinSize().Height, o[2].MinSize().Height))
}

// Layout implements [fyne.Layout].
func (s *sentence) Layout(o []fyne.CanvasObject, size fyne.Size) {
	verb := o[1].MinSize()
	room := size.Width - verb.Width - sentenceGap
	agent := s.agent.wide()
	var object float32
	if o[2].Visible() {
		room -= sentenceGap
		object = s.object.wide() + 2*sentenceGap
		object = min(object, max(room-agent, room/2))
	}
	agent = max(min(agent, room-object), 0)
	x := float32(0)
	for i, width := range []float32{agent, verb.Width, object} {
		height := o[i].MinSize().Height
		o[i].Resize(fyne.NewSize(max(width, 0), height))
		o[i].Move(fyne.NewPos(x, (size.Height-height)/2))
		x += width + sentenceGap
	}
}

// wishOf says what a request is for, and what with: the requester's own word, made safe, or "".
func wishOf(r interact.Request) (wish, object string) {
	switch b := r.Body.(type) {
	case interact.Approve:
		a := actionOf(b)
		object := safetext.Line(a.object(r), maxLabel)
		if object == "" {
			return tr(cmp.Or(a.bare, a.wish)), ""
		}
		return tr(a.wish), object
	case interact.Confirm:
		return tr("asks you to confirm"), ""
	case interact.Form:
		if n := len(b.Questions); n > 1 {
			return tr("has {{.Count}} questions", values{"Count": n}), ""
		}
	}
	return tr("has a question"), ""
}

// agentOf is the name to call the requester by.
func agentOf(who interact.Requester) string {
	switch {
	case who.Agent != "":
		return safetext.Line(cmp.Or(who.Title, who.Agent), maxName)
	case who.Program() != "":
		return safetext.Line(who.Program(), maxName)
	}
	return tr("Unknown program")
}

// projectOf is the name of the folder that the requester works in; "" for one that says nothing.
func projectOf(who interact.Requester) string { return safetext.Line(who.Project(), maxName) }

// action is what a prompt says of what a tool call is about to do.
type action struct {
	wish   string
	bare   string                        // instead, when it is not known what with
	object func(interact.Request) string // what with, in the requester's own word
	icon   fyne.ThemeIconName
}

// actions are what is said of each.
var actions = map[interact.Action]action{
	interact.UsesTool:    {"wants to use the tool", "", toolOf, theme.IconNameSettings},
	interact.RunsCommand: {"wants to run", "wants to run a command", programsOf, theme.IconNameComputer},
	interact.EditsFile:   {"wants to edit", "wants to edit a file", fileOf, theme.IconNameDocumentCreate},
	interact.EditsFiles:  {"wants to edit files", "", noObject, theme.IconNameDocumentCreate},
	interact.WritesFile:  {"wants to write", "wants to write a file", fileOf, theme.IconNameDocumentSave},
	interact.Fetches:     {"wants to reach", "wants to reach the network", placeOf, theme.IconNameStorage},
	interact.OpensURL:    {"wants to open in your browser", "", placeOf, theme.IconNameStorage},
	interact.CarriesOut:  {"wants to carry out this plan", "", noObject, theme.IconNameList},
}

func noObject(interact.Request) string { return "" }

func toolOf(r interact.Request) string { return r.Body.(interact.Approve).Tool }

// programsOf names the programs that a command starts, as far as reading it tells.
func programsOf(r interact.Request) string {
	args, _ := parseArguments(r.Body.(interact.Approve).Input)
	if _, command, ok := args.text(commandKeys...); ok {
		return programsIn(command)
	}
	for _, key := range commandKeys {
		if words, ok := args.list(key); ok {
			return words[0]
		}
	}
	return ""
}

// fileOf is a file as seen from the folder that the requester works in.
func fileOf(r interact.Request) string {
	path := r.Gist()
	if !filepath.IsAbs(path) {
		return path
	}
	if inside, err := filepath.Rel(r.Requester.Folder(), path); err == nil && filepath.IsLocal(inside) {
		return inside
	}
	return home(filepath.Clean(path))
}

// placeOf is the host of an address, or the address where programs might disagree about that.
func placeOf(r interact.Request) string {
	host, _ := hostOf(r.Gist())
	return cmp.Or(host, r.Gist())
}

func actionOf(a interact.Approve) action {
	what := a.Action()
	if what == interact.CarriesOut && !isPlan(a) { // it cannot be shown as one
		what = interact.UsesTool
	}
	return actions[what]
}

// originOf is what the operating system knows of the requester, and apart from it what it claims.
func originOf(who interact.Requester) []briefPart {
	p := who.Process
	if p.PID == 0 {
		return []briefPart{originPart(tr("not verified"), theme.ColorNameWarning, place(who.CWD))}
	}
	caller := interact.Caller(p)
	exe := caller.Exe
	if exe == "" {
		exe = tr("unknown program")
	}
	facts := place(fmt.Sprintf("%s (pid %d)", home(exe), caller.PID))
	if p.CWD != "" {
		facts = place(home(p.CWD)) + " · " + facts
	}
	parts := []briefPart{originPart(tr("verified"), theme.ColorNameSuccess, facts)}
	var claims []string
	if who.CWD != "" && filepath.Clean(who.CWD) != filepath.Clean(p.CWD) {
		claims = append(claims, tr("it works in {{.Folder}}", values{"Folder": place(home(who.CWD))}))
	}
	if who.Subagent != (interact.Subagent{}) {
		name := safetext.Line(cmp.Or(who.Subagent.Type, who.Subagent.ID), maxName)
		claims = append(claims, tr("its subagent {{.Name}} asks", values{"Name": name}))
	}
	if len(claims) > 0 {
		parts = append(parts, originPart(tr("says"), ColorMuted, strings.Join(claims, " · ")))
	}
	return parts
}

func originPart(label string, c fyne.ThemeColorName, text string) briefPart {
	return newBriefPart(newWords(label, theme.SizeNameCaptionText, c).bold(), text, widget.LowImportance)
}

// place makes a path, which a requester may have chosen, safe to show.
func place(path string) string { return safetext.Line(home(path), maxLabel) }

// home writes ~ for the home folder.
func home(path string) string {
	dir, err := os.UserHomeDir()
	if err != nil || dir == "" || dir == "/" {
		return path
	}
	if path == dir {
		return "~"
	}
	if rest, inside := strings.CutPrefix(path, dir+"/"); inside {
		return "~/" + rest
	}
	return path
}

// summaryOf is one line on a request, for the list of the queue.
func summaryOf(r interact.Request) string {
	gist := safetext.Line(r.Gist(), 60)
	if b, ok := r.Body.(interact.Approve); ok && b.Action() != interact.RunsCommand {
		return safetext.Line(b.Tool, maxName) + "  " + gist
	}
	return gist
}

// className is a class in a person's words.
func className(c policy.Class) string {
	return cmp.Or(map[policy.Class]string{
		policy.ReadOnly: tr("Only reads"), policy.Write: tr("Writes"), policy.Execute: tr("Runs programs"),
		policy.Network: tr("Uses the network"), policy.Destructive: tr("Deletes or destroys"),
	}[c], tr("Unknown effect"))
}
