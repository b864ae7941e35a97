package dialogs

import (
	"encoding/json"
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
	times  *words // "× 3" when identical requests are answered together

	tile    *surface // the icon
	title   *widget.Label
	margins *layout.CustomPaddedLayout
}

func newHead(keys *keyMap, e *entry, openQueue, openMore func()) *head {
	r := e.request()
	h := &head{
		queue: newIconButton(keys, "", "", openQueue),
		more:  newIconButton(keys, "", theme.IconNameMoreHorizontal, openMore),
		times: newWords("", theme.SizeNameText, colorMuted).bold(),
	}
	stripe := stripeOf(e)
	h.title = newLines(sentenceOf(r), theme.SizeNameSubHeadingText, widget.MediumImportance)
	h.title.TextStyle.Bold = true
	text := column(6, tight(h.title))
	for _, line := range factLines(r.Requester) {
		text.Add(line)
	}
	h.tile = newSurface(stripe, padded(8, 8, container.New(fixed{width: 22, height: 22}, widget.NewIcon(
		theme.NewColoredResource(theme.DefaultTheme().Icon(iconOf(r)), stripe)))))
	h.tile.alpha, h.tile.radius = 0x22, 9
	h.margins = &layout.CustomPaddedLayout{}
	line := container.New(&sides{gap: 12}, column(0, h.tile), text, column(0, row(4, h.times, h.queue, h.more)))
	h.object = column(0,
		newSurface(stripe, container.New(fixed{height: 4})),
		newSurface(colorSunken, container.New(h.margins, line)),
		newRule(),
	)
	h.queue.Hide()
	h.times.Hide()
	h.setCompact(false)
	return h
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

// setPosition shows the place in the queue, and how many identical requests this prompt stands for.
// It reports whether that changed anything.
func (h *head) setPosition(place, of, same int) bool {
	where, times := "", ""
	if of > 1 {
		where = tr("{{.Place}} of {{.Count}} ›", values{"Place": place, "Count": of})
	}
	if same > 1 {
		times = fmt.Sprintf("× %d", same)
	}
	if h.queue.text == where && h.times.text.Text == times {
		return false
	}
	h.queue.setText(where)
	h.times.set(times)
	setVisible(h.queue, where != "")
	setVisible(h.times, times != "")
	return true
}

// stripeOf is the colour of the prompt: the class's for an approval, else the accent.
func stripeOf(e *entry) fyne.ThemeColorName {
	if e.request().Body.Kind() == interact.KindApprove {
		return classColor(e.why.Class)
	}
	return theme.ColorNamePrimary
}

func iconOf(r interact.Request) fyne.ThemeIconName {
	switch b := r.Body.(type) {
	case interact.Approve:
		return deedOf(b).icon
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
		return tr(deedOf(b).sentence, who)
	case interact.Confirm:
		return tr("{{.Agent}} asks you to confirm", who)
	case interact.Form:
		return tr("{{.Agent}} has some questions", who)
	}
	return tr("{{.Agent}} asks", who)
}

// agentOf is the name to call the requester by.
func agentOf(who interact.Requester) string {
	switch {
	case who.Agent != "":
		return safetext.Line(who.Agent, maxName)
	case who.Process.Caller().Exe != "":
		return safetext.Line(filepath.Base(who.Process.Caller().Exe), maxName)
	}
	return tr("Somebody")
}

// deed is what a tool call is about to do, as far as the names of its input's fields tell.
type deed struct {
	sentence string
	icon     fyne.ThemeIconName
}

var deeds = []struct {
	fields []string // the input has them all
	deed   deed
}{
	{[]string{"command"}, deed{"{{.Agent}} wants to run a command", theme.IconNameComputer}},
	{[]string{"cmd"}, deed{"{{.Agent}} wants to run a command", theme.IconNameComputer}},
	{[]string{"file_path", "old_string"}, deed{"{{.Agent}} wants to edit a file", theme.IconNameDocumentCreate}},
	{[]string{"filePath", "oldString"}, deed{"{{.Agent}} wants to edit a file", theme.IconNameDocumentCreate}},
	{[]string{"file_path", "edits"}, deed{"{{.Agent}} wants to edit a file", theme.IconNameDocumentCreate}},
	{[]string{"patch"}, deed{"{{.Agent}} wants to edit files", theme.IconNameDocumentCreate}},
	{[]string{"file_path", "content"}, deed{"{{.Agent}} wants to write a file", theme.IconNameDocumentSave}},
	{[]string{"filePath", "content"}, deed{"{{.Agent}} wants to write a file", theme.IconNameDocumentSave}},
	{[]string{"url"}, deed{"{{.Agent}} wants to reach the network", theme.IconNameStorage}},
}

func deedOf(a interact.Approve) deed {
	if isPlan(a) {
		return deed{"{{.Agent}} wants to carry out this plan", theme.IconNameList}
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(a.Input, &fields) == nil {
		for _, d := range deeds {
			if hasAll(fields, d.fields) {
				return d.deed
			}
		}
	}
	return deed{"{{.Agent}} wants to use the tool {{.Tool}}", theme.IconNameSettings}
}

func hasAll(fields map[string]json.RawMessage, names []string) bool {
	for _, n := range names {
		if _, has := fields[n]; !has {
			return false
		}
	}
	return true
}

// factLines say what the operating system knows of the requester, and apart from it what it claims.
func factLines(who interact.Requester) []fyne.CanvasObject {
	p := who.Process
	if p.PID == 0 {
		return []fyne.CanvasObject{factLine(tr("not verified"), theme.ColorNameWarning, place(who.CWD))}
	}
	caller := p.Caller()
	exe := caller.Exe
	if exe == "" {
		exe = tr("unknown program")
	}
	facts := place(fmt.Sprintf("%s (pid %d)", home(exe), caller.PID))
	if p.CWD != "" {
		facts = place(home(p.CWD)) + " · " + facts
	}
	lines := []fyne.CanvasObject{factLine(tr("verified"), theme.ColorNameSuccess, facts)}
	if who.CWD != "" && filepath.Clean(who.CWD) != filepath.Clean(p.CWD) {
		lines = append(lines, factLine(tr("says"), colorMuted, tr("it works in {{.Folder}}", values{"Folder": place(home(who.CWD))})))
	}
	return lines
}

func factLine(badge string, c fyne.ThemeColorName, text string) fyne.CanvasObject {
	l := newLines(text, theme.SizeNameCaptionText, widget.MediumImportance)
	return container.NewBorder(nil, nil, column(0, newBadge(badge, c)), nil, padded(0, 8, tight(l)))
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
	switch b := r.Body.(type) {
	case interact.Approve:
		return safetext.Line(b.Tool, maxName) + "  " + safetext.Line(mainPart(b.Input), 60)
	case interact.Ask:
		return safetext.Line(b.Question, 60)
	case interact.Confirm:
		return safetext.Line(b.Message, 60)
	case interact.Form:
		if b.Title != "" {
			return safetext.Line(b.Title, 60)
		}
		return safetext.Line(b.Questions[0].Question, 60)
	}
	return ""
}

// mainPart is what a tool's input is mostly about, as far as the names of its fields tell; else all of it.
func mainPart(input json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(input, &fields) == nil {
		for _, name := range []string{"command", "cmd", "file_path", "filePath", "path", "url", "plan"} {
			if s, ok := fields[name].(string); ok {
				return s
			}
		}
	}
	return string(input)
}

// className is a class in a person's words.
func className(c policy.Class) string {
	switch c {
	case policy.ReadOnly:
		return tr("only reads")
	case policy.Write:
		return tr("writes")
	case policy.Execute:
		return tr("runs programs")
	case policy.Network:
		return tr("uses the network")
	case policy.Destructive:
		return tr("deletes or destroys")
	}
	return tr("unknown effect")
}
