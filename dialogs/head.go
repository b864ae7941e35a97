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

// head is the top of a prompt: who wants what, how far that is verified, and where in the queue this is.
type head struct {
	object fyne.CanvasObject
	queue  *button
	more   *button

	stripe  *surface // the colour of the prompt
	tile    *surface // the icon on a tint of it
	icon    *widget.Icon
	title   *widget.Label
	margins *layout.CustomPaddedLayout
}

func newHead(w *window, e *entry) *head {
	r := e.request
	h := &head{
		queue: newIconButton(w, "", "", func() { w.openQueue(e) }),
		more:  newIconButton(w, "", theme.IconNameMoreHorizontal, func() { w.openMore(e) }),
	}
	stripe := stripeOf(e)
	h.title = Lines(sentenceOf(r), theme.SizeNameSubHeadingText, widget.MediumImportance)
	h.title.TextStyle.Bold = true
	text := Column(6, Tight(h.title))
	for _, line := range factLines(r.Requester) {
		text.Add(line)
	}
	h.icon = widget.NewIcon(theme.NewColoredResource(theme.DefaultTheme().Icon(iconOf(r)), stripe))
	h.tile = newTint(stripe, 0x22, 9, Padded(8, 8, container.New(fixed{width: 22, height: 22}, h.icon)))
	h.stripe = newTint(stripe, 0xff, 0, container.New(fixed{height: 4}))
	h.margins = &layout.CustomPaddedLayout{}
	line := container.New(&sides{gap: 12}, Column(0, h.tile), text, Column(0, Row(4, h.queue, h.more)))
	h.object = Column(0,
		h.stripe,
		Surface(ColorSunken, container.New(h.margins, line)),
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

// setCompact leaves the icon out and makes the sentence smaller.
func (h *head) setCompact(v bool) {
	setVisible(h.tile, !v)
	size, v4, h2 := theme.SizeNameSubHeadingText, float32(12), float32(18)
	if v {
		size, v4, h2 = theme.SizeNameText, 6, 12
	}
	*h.margins = layout.CustomPaddedLayout{TopPadding: v4, BottomPadding: v4, LeftPadding: h2, RightPadding: h2}
	if h.title.SizeName != size {
		h.title.SizeName = size
		h.title.Refresh()
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

// stripeOf is the colour of the prompt: that of its risk for an approval, else the accent.
func stripeOf(e *entry) fyne.ThemeColorName {
	if e.request.Body.Kind() == interact.KindApprove {
		return riskColor(e.why.Class, e.facts())
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

// sentenceOf says who wants what. The agent's name is its own claim; all other words are nod's.
func sentenceOf(r interact.Request) string {
	who := values{"Agent": agentOf(r.Requester)}
	switch b := r.Body.(type) {
	case interact.Approve:
		who["Tool"] = safetext.Line(b.Tool, maxName)
		return tr(actionOf(b).sentence, who)
	case interact.Confirm:
		return tr("{{.Agent}} asks you to confirm", who)
	case interact.Form:
		if who["Count"] = len(b.Questions); len(b.Questions) > 1 {
			return tr("{{.Agent}} has {{.Count}} questions", who)
		}
	}
	return tr("{{.Agent}} has a question", who)
}

// agentOf is the name to call the requester by.
func agentOf(who interact.Requester) string {
	switch {
	case who.Agent != "":
		return safetext.Line(who.Agent, maxName)
	case interact.Caller(who.Process).Exe != "":
		return safetext.Line(filepath.Base(interact.Caller(who.Process).Exe), maxName)
	}
	return tr("Somebody")
}

// action is what a prompt says of what a tool call is about to do.
type action struct {
	sentence string
	icon     fyne.ThemeIconName
}

// actions are the sentence and the icon of each.
var actions = map[interact.Action]action{
	interact.UsesTool:    {"{{.Agent}} wants to use the tool {{.Tool}}", theme.IconNameSettings},
	interact.RunsCommand: {"{{.Agent}} wants to run a command", theme.IconNameComputer},
	interact.EditsFile:   {"{{.Agent}} wants to edit a file", theme.IconNameDocumentCreate},
	interact.EditsFiles:  {"{{.Agent}} wants to edit files", theme.IconNameDocumentCreate},
	interact.WritesFile:  {"{{.Agent}} wants to write a file", theme.IconNameDocumentSave},
	interact.Fetches:     {"{{.Agent}} wants to reach the network", theme.IconNameStorage},
	interact.OpensURL:    {"{{.Agent}} wants to open an address in your browser", theme.IconNameStorage},
	interact.CarriesOut:  {"{{.Agent}} wants to carry out this plan", theme.IconNameList},
}

func actionOf(a interact.Approve) action {
	what := a.Action()
	if what == interact.CarriesOut && !isPlan(a) { // it cannot be shown as one
		what = interact.UsesTool
	}
	return actions[what]
}

// factLines say what the operating system knows of the requester, and apart from it what it claims.
func factLines(who interact.Requester) []fyne.CanvasObject {
	p := who.Process
	if p.PID == 0 {
		return []fyne.CanvasObject{factLine(tr("not verified"), theme.ColorNameWarning, place(who.CWD))}
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
	lines := []fyne.CanvasObject{factLine(tr("verified"), theme.ColorNameSuccess, facts)}
	var claims []string
	if who.CWD != "" && filepath.Clean(who.CWD) != filepath.Clean(p.CWD) {
		claims = append(claims, tr("it works in {{.Folder}}", values{"Folder": place(home(who.CWD))}))
	}
	if who.Subagent != (interact.Subagent{}) {
		name := safetext.Line(cmp.Or(who.Subagent.Type, who.Subagent.ID), maxName)
		claims = append(claims, tr("its subagent {{.Name}} asks", values{"Name": name}))
	}
	if len(claims) > 0 {
		lines = append(lines, factLine(tr("says"), ColorMuted, strings.Join(claims, " · ")))
	}
	return lines
}

func factLine(badge string, c fyne.ThemeColorName, text string) fyne.CanvasObject {
	l := Lines(text, theme.SizeNameCaptionText, widget.MediumImportance)
	return beside(Badge(badge, c), 8, Tight(l))
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
	if b, ok := r.Body.(interact.Approve); ok {
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
