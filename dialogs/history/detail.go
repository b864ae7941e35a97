package history

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/assets"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
	"nod/interact"
	"nod/interact/history"
	"nod/policy"
)

type detail struct {
	win     *Window
	content fyne.CanvasObject
	body    *fyne.Container
	page    *container.Scroll
	actions *actions
	changes *changes
	work    controls.Worker
	entry   history.Entry // as last shown
	raw     bool          // shows the whole input as JSON instead of as a prompt does
}

func newDetail(w *Window) *detail {
	d := &detail{win: w, body: container.NewStack(), work: controls.Worker{Aside: w.Aside}}
	d.page = container.NewVScroll(dialogs.Padded(14, 16, d.body))
	d.actions, d.changes = newActions(w), newChanges(w, d.page)
	d.content = container.NewBorder(nil, d.actions.content, nil, nil, d.page)
	d.clear()
	return d
}

func (d *detail) say(s string, i widget.Importance) {
	l := dialogs.Lines(s, theme.SizeNameText, i)
	l.Alignment = fyne.TextAlignCenter
	d.actions.set(history.Entry{})
	d.changes.set(history.Entry{})
	controls.SetContent(d.body, container.NewVBox(dialogs.Padded(60, 20, l)))
}

// clear shows no entry.
func (d *detail) clear() {
	d.work.Drop()
	d.entry = history.Entry{}
	d.say(lang.L("Select an entry."), widget.LowImportance)
}

func (d *detail) open(seq int64) {
	d.work.Drop()
	controls.Fetch(&d.work, func(ctx context.Context) (history.Entry, error) {
		return d.win.opts.Operator.Entry(ctx, seq)
	}, func(e history.Entry, err error) {
		if err != nil {
			d.say(err.Error(), widget.DangerImportance)
			return
		}
		d.show(e)
	})
}

func (d *detail) show(e history.Entry) {
	d.entry, d.raw = e, false
	d.actions.set(e)
	d.changes.set(e)
	d.draw()
	d.page.ScrollToTop()
}

func (d *detail) draw() {
	e := d.entry
	parts := []fyne.CanvasObject{d.head(e)}
	if note := withheld(e.Withheld); note != "" {
		parts = append(parts, controls.Paragraph(note, widget.WarningImportance))
	}
	parts = append(parts, d.input(e))
	for i, s := range []detailSection{d.why(e), who(e.Record.Request), times(e.Record), d.proof(e)} {
		if len(s.rows) > 0 {
			parts = append(parts, dialogs.Column(5, append([]fyne.CanvasObject{sectionName(s.name)}, s.rows...)...))
		}
		if i == 0 {
			parts = append(parts, d.changes.content)
		}
	}
	controls.SetContent(d.body, dialogs.Column(14, parts...))
}

func sectionName(s string) fyne.CanvasObject {
	return dialogs.Words(s, theme.SizeNameCaptionText, dialogs.ColorMuted).Bold()
}

func (d *detail) head(e history.Entry) fyne.CanvasObject {
	v := verdictOf(e.Result(), e.By)
	at := e.Line.Settled.Local().Format(time.DateTime)
	about := sessionName(e.Line) + " · " + toolName(e.Line) + " · " + at
	if device := answeredOn(e.Device); device != "" {
		about += " · " + device
	}
	words := dialogs.Column(3, controls.Bold(v.sentence, theme.SizeNameSubHeadingText), controls.Muted(about))
	badge := dialogs.Badge(v.word, v.color)
	return container.NewBorder(nil, nil, nil, container.NewVBox(badge), words)
}

func withheld(why string) string {
	switch why {
	case "":
		return ""
	case history.Secret:
		return lang.L("Values that look like secrets were replaced by digests.")
	case history.NotKept:
		return lang.L("Your settings keep no exact inputs.")
	case history.Expired:
		return lang.L("The exact input is no longer kept.")
	}
	return lang.L("The exact input is missing: {{.Why}}", map[string]any{"Why": safetext.Line(string(why), nameLimit)})
}

func (d *detail) input(e history.Entry) fyne.CanvasObject {
	approve, isCall := e.Record.Request.Body.(interact.Approve)
	if isCall && len(approve.Input) == 0 {
		return controls.Exact(safetext.Line(e.Gist, textLimit), theme.SizeNameText)
	}
	copyAll := controls.QuietButton(lang.L("Copy everything"), theme.ContentCopyIcon(), d.copy)
	buttons := dialogs.Row(4, copyAll)
	var shown fyne.CanvasObject
	switch {
	case isCall && d.raw:
		shown = dialogs.PastLines(prompt.RawLines(approve.Input), string(approve.Input), d.page, d.win.draw)
		buttons.Add(controls.QuietButton(lang.L("As shown"), nil, d.toggle))
	case isCall:
		shown = dialogs.Past(e.Record, d.page, d.win.draw)
		buttons.Add(controls.QuietButton(lang.L("Whole input (JSON)"), nil, d.toggle))
	default:
		shown = dialogs.Past(e.Record, d.page, d.win.draw)
	}
	return dialogs.Column(4, shown, container.NewHBox(buttons))
}

func (d *detail) toggle() {
	d.raw = !d.raw
	d.draw()
}

func (d *detail) copy() {
	text, err := json.MarshalIndent(d.entry, "", "  ")
	if err != nil {
		d.win.Fail(err)
		return
	}
	d.win.App.Clipboard().SetContent(string(text))
}

type detailSection struct {
	name string
	rows []fyne.CanvasObject
}

func (s *detailSection) add(name, value string) {
	if value != "" {
		s.rows = append(s.rows, fact(name, value))
	}
}

const factWidth = 128

// fact returns a row with a name and a value. The value cannot be selected, because it would be a Tab stop that handles
// no key.
func fact(name, value string) fyne.CanvasObject {
	l := dialogs.Lines(value, theme.SizeNameCaptionText, widget.MediumImportance)
	label := dialogs.Lines(name, theme.SizeNameCaptionText, widget.LowImportance)
	return container.NewBorder(nil, nil, dialogs.Sized(factWidth, 0, dialogs.Tight(label)), nil, dialogs.Tight(l))
}

func (d *detail) why(e history.Entry) detailSection {
	r, s := e.Record, detailSection{name: lang.L("Why")}
	if r.Why.Class != "" {
		class := dialogs.Badge(controls.ClassName(r.Why.Class), dialogs.ClassColor(r.Why.Class))
		s.rows = append(s.rows, container.NewHBox(class))
	}
	s.add(lang.L("Policy"), safetext.Line(assets.Reason(r.Why.Reason), textLimit))
	if rule := e.Rule; rule != "" {
		link := controls.QuietButton(lang.L("Show"), theme.NavigateNextIcon(), func() { d.win.opts.Rule(rule) })
		others := controls.QuietButton(lang.L("Its decisions"), nil, func() {
			d.win.entries.set(history.Query{Rule: rule})
		})
		row := fact(lang.L("Rule"), safetext.Line(rule, nameLimit))
		buttons := dialogs.Row(4, others)
		if !strings.Contains(rule, ":") { // else it is a reason of nod itself, or a class
			buttons.Objects = append([]fyne.CanvasObject{link}, buttons.Objects...)
		}
		s.rows = append(s.rows, controls.Besides(8, row, buttons))
	}
	s.add(lang.L("Could change"), couldChange(r.Answer.Confinement))
	if approve, isCall := r.Request.Body.(interact.Approve); isCall {
		s.add(lang.L("Agent says"), safetext.Line(approve.Description, textLimit))
	}
	facts := strings.ReplaceAll(strings.Join(r.Answer.Shown.Facts, " · "), "−", "-") // which every font has
	s.add(lang.L("Facts shown"), safetext.Line(facts, textLimit))
	s.add(lang.L("Reason given"), safetext.Line(r.Answer.Reason, textLimit))
	if r.Answer.Scope != "" && r.Answer.Scope != policy.Once {
		s.add(lang.L("Kept"), controls.ScopeName(r.Answer.Scope))
	}
	return s
}

func couldChange(c policy.Confinement) string {
	project := map[string]any{"Project": safetext.Line(prompt.FromHome(c.Project), pathLimit)}
	switch {
	case c == policy.Confinement{}:
		return ""
	case !c.Write:
		return lang.L("nothing")
	case !c.Git:
		return lang.L("files in {{.Project}}", project)
	}
	return lang.L("files in {{.Project}}, and its git repository", project)
}

func who(r interact.Request) detailSection {
	s, q := detailSection{name: lang.L("Who")}, r.Requester
	verified, home := lang.L("Verified"), prompt.FromHome
	if !q.IsAgent {
		verified = lang.L("Its program")
	}
	if q.IsRemote() {
		machine := safetext.Line(q.Machine, nameLimit)
		s.add(lang.L("Machine"), machine)
		verified = lang.L("reported by {{.Machine}}", map[string]any{"Machine": machine})
		home = func(path string) string { return path } // the home folder of the user is on this machine
	}
	if q.Process.PID == 0 {
		s.add(verified, lang.L("nothing: nod could not identify the caller"))
	} else {
		caller := interact.Caller(q.Process)
		s.add(verified, safetext.Line(fmt.Sprintf("%s (pid %d)", home(caller.Exe), caller.PID), textLimit))
		var chain []string
		for _, p := range q.Process.Parents {
			chain = append(chain, p.Name)
		}
		s.add(lang.L("Started by"), safetext.Line(strings.Join(chain, ", "), textLimit))
		s.add(lang.L("Works in"), safetext.Line(home(q.Process.CWD), textLimit))
	}
	s.add(lang.L("Calls itself"), safetext.Line(q.Agent, textLimit))
	s.add(lang.L("Its session"), safetext.Line(q.Session, textLimit))
	s.add(lang.L("Its subagent"), safetext.Line(strings.TrimSpace(q.Subagent.Type+" "+q.Subagent.ID), textLimit))
	if q.CWD != "" && filepath.Clean(q.CWD) != filepath.Clean(q.Process.CWD) {
		s.add(lang.L("Says it works in"), safetext.Line(home(q.CWD), textLimit))
	}
	return s
}

func times(r interact.Record) detailSection {
	s := detailSection{name: lang.L("When")}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			s.add(name, t.Local().Format(time.DateTime))
		}
	}
	at(lang.L("Asked"), r.Request.Created)
	shown := r.Answer.Shown
	at(lang.L("Shown"), shown.At)
	if shown.Armed > 0 && r.Request.Body.Kind() == api.KindApprove {
		s.add(lang.L("Allow enabled"), lang.L("after {{.Time}}", map[string]any{"Time": duration(shown.Armed)}))
	}
	if shown.Decided > 0 {
		text := lang.L("after {{.Time}}", map[string]any{"Time": duration(shown.Decided)})
		switch shown.With {
		case "keys":
			text += ", " + lang.L("with the keyboard")
		case "mouse":
			text += ", " + lang.L("with the mouse")
		}
		s.add(lang.L("Decided"), text)
	}
	at(lang.L("Ended"), r.Answer.At)
	return s
}

func (d *detail) proof(e history.Entry) detailSection {
	s := detailSection{name: lang.L("Entry {{.Number}}", map[string]any{"Number": e.Seq})}
	s.add(lang.L("Request"), safetext.Line(string(e.ID), nameLimit))
	s.add(lang.L("Input's SHA-256"), safetext.Line(e.Record.Answer.ShownSHA256, 80))
	s.add(lang.L("Entry's hash"), safetext.Line(e.Hash, 80))
	if session := e.Session; session != "" {
		s.rows = append(s.rows, container.NewHBox(controls.QuietButton(lang.L("Everything in this session"), nil, func() {
			d.win.entries.set(history.Query{Session: session})
		})))
	}
	return s
}
