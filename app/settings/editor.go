package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/policy"
)

// editor is the form for one rule. It says what is wrong as the person types, and what the rule will do.
type editor struct {
	content fyne.CanvasObject
	was     string // id of the rule that is edited; empty for a new one
	others  []string
	base    policy.Rule // what the form does not show
	change  change
	closed  func()

	effect *widget.RadioGroup
	class  *widget.Select
	texts  map[string]*escEntry // by key of the file
	wrong  map[string]*remark   // the same
	says   *widget.Label
	save   *widget.Button
}

var (
	effects = []policy.Effect{policy.Allow, policy.Ask, policy.Deny}
	// ruleKeys are the text fields, in the order of the form.
	ruleKeys = []string{"tool", "run", "command", "path", "host", "args", "cwd", "agent", "program", "mcp_server", "session", "expires",
		"id", "note", "examples.match", "examples.no_match"}
	// linesKeys are those with one thing to a line.
	linesKeys = []string{"run", "command", "args", "examples.match", "examples.no_match"}
)

// newEditor makes the form for r, which is new when it has no id. Closed is called when the person is done.
func newEditor(r policy.Rule, rules []policy.Rule, change change, closed func()) *editor {
	e := &editor{was: r.ID, base: r, change: change, closed: closed,
		texts: map[string]*escEntry{}, wrong: map[string]*remark{}}
	for _, other := range rules {
		if other.ID != r.ID {
			e.others = append(e.others, other.ID)
		}
	}
	if r.ID == "" {
		r.Effect, r.ID = policy.Ask, freeID(e.others)
	}
	e.build()
	e.fill(r)
	e.check()
	return e
}

// freeID is a short id that no rule has.
func freeID(taken []string) string {
	for n := 1; ; n++ {
		if id := fmt.Sprintf("rule-%d", n); !slices.Contains(taken, id) {
			return id
		}
	}
}

func (e *editor) build() {
	var names []string
	for _, effect := range effects {
		names = append(names, effectName(effect))
	}
	e.effect = widget.NewRadioGroup(names, func(string) { e.check() })
	e.effect.Horizontal, e.effect.Required = true, true
	classes := []string{lang.L("Any")}
	for _, c := range policy.Classes {
		classes = append(classes, className(c))
	}
	e.class = widget.NewSelect(classes, func(string) { e.check() })
	e.says = dialogs.Lines("", theme.SizeNameText, widget.MediumImportance)
	e.save = widget.NewButtonWithIcon(lang.L("Save rule"), theme.ConfirmIcon(), e.submit)
	e.save.Importance = widget.HighImportance

	heading := lang.L("New rule")
	if e.was != "" {
		heading = lang.L("Edit rule")
	}
	form := []fyne.CanvasObject{e.line(lang.L("Effect"), "effect", e.effect)}
	for _, key := range ruleKeys {
		form = append(form, e.textLine(key))
		if key == "tool" {
			form = append(form, e.line(lang.L("Class"), "class", e.class))
		}
	}
	foot := dialogs.Padded(10, 20, container.New(besides{gap: 16}, dialogs.Column(2, dialogs.Tight(e.says)),
		container.NewHBox(widget.NewButton(lang.L("Cancel"), e.closed), e.save)))
	e.content = container.NewBorder(nil, dialogs.Surface(theme.ColorNameBackground, container.NewVBox(dialogs.Rule(), foot)), nil, nil,
		page(header(heading, lang.L("A rule applies to calls that match all that you fill in; what you leave empty matches everything.")),
			dialogs.Column(12, form...)))
}

// textLine is a line of the form with a text to type.
func (e *editor) textLine(key string) fyne.CanvasObject {
	names := map[string][2]string{
		"tool":              {lang.L("Tool"), lang.L("Bash, or mcp__github__* for many")},
		"command":           {lang.L("Command"), lang.L("git status (exactly this, to the letter)")},
		"run":               {lang.L("Runs"), lang.L("go test (what starts like this, also within a command line; one to a line)")},
		"path":              {lang.L("Files"), "~/src/**"},
		"host":              {lang.L("Host"), lang.L("example.com, or *.example.com for all below it")},
		"args":              {lang.L("Fields"), lang.L("branch = release/*   (one to a line)")},
		"cwd":               {lang.L("Works in"), "~/src/shop/**"},
		"agent":             {lang.L("Agent"), lang.L("claude-code (as it calls itself)")},
		"program":           {lang.L("Program"), lang.L("/usr/bin/claude (verified by nod)")},
		"mcp_server":        {lang.L("MCP server"), lang.L("github (of tools named mcp__github__…)")},
		"session":           {lang.L("Session"), lang.L("one session, by the agent's own name for it")},
		"expires":           {lang.L("Until"), "2030-12-31"},
		"examples.match":    {lang.L("Matches"), lang.L("examples, one to a line: a command, or a call as JSON")},
		"examples.no_match": {lang.L("Not"), lang.L("examples of what it must not match")},
		"id":                {lang.L("Name"), lang.L("letters, digits, dots and dashes")},
		"note":              {lang.L("Note"), lang.L("why, for you to remember")},
	}
	t := newEscEntry(slices.Contains(linesKeys, key), e.closed)
	t.SetPlaceHolder(names[key][1])
	if t.MultiLine {
		t.SetMinRowsVisible(2)
	}
	t.OnChanged = func(string) { e.check() }
	e.texts[key] = t
	return e.line(names[key][0], key, t)
}

func (e *editor) line(name, key string, input fyne.CanvasObject) fyne.CanvasObject {
	e.wrong[key] = newRemark(widget.DangerImportance)
	label := container.New(topLeft{width: 92}, dialogs.Padded(9, 0, dialogs.Words(name, theme.SizeNameText, theme.ColorNameForeground)))
	return container.NewBorder(nil, nil, label, nil, dialogs.Column(2, input, e.wrong[key].content))
}

func (e *editor) fill(r policy.Rule) {
	e.effect.SetSelected(effectName(r.Effect))
	e.class.SetSelectedIndex(slices.Index(policy.Classes, r.Class) + 1)
	for key, value := range map[string]string{
		"tool": r.Tool, "command": r.Command, "path": r.Path, "cwd": r.CWD,
		"agent": r.Agent, "program": r.Program, "id": r.ID, "note": r.Note,
		"host": r.Host, "mcp_server": r.Server, "session": r.Session, "expires": r.Expires, "args": argLines(r.Args), "run": strings.Join(r.Run, "\n"),
		"examples.match": strings.Join(r.Examples.Match, "\n"), "examples.no_match": strings.Join(r.Examples.NoMatch, "\n"),
	} {
		e.texts[key].SetText(value)
	}
}

// rule is what the form says.
func (e *editor) rule() policy.Rule {
	r := e.base
	r.ID, r.Note = e.text("id"), e.text("note")
	r.Agent, r.Program, r.Tool = e.text("agent"), e.text("program"), e.text("tool")
	r.Path, r.CWD = e.text("path"), e.text("cwd")
	r.Command = e.texts["command"].Text // byte for byte: a blank at the end counts
	r.Host, r.Server, r.Session, r.Expires = e.text("host"), e.text("mcp_server"), e.text("session"), e.text("expires")
	r.Run = lines(e.texts["run"].Text)
	r.Args = argsOf(e.texts["args"].Text)
	r.Examples = policy.Examples{Match: lines(e.texts["examples.match"].Text), NoMatch: lines(e.texts["examples.no_match"].Text)}
	r.Class, r.Effect = "", ""
	if i := e.class.SelectedIndex(); i > 0 {
		r.Class = policy.Classes[i-1]
	}
	if i := slices.Index(e.effect.Options, e.effect.Selected); i >= 0 {
		r.Effect = effects[i]
	}
	return r
}

// argLines writes matchers of fields one to a line.
func argLines(args []policy.Arg) string {
	var all []string
	for _, a := range args {
		all = append(all, a.Field+" = "+a.Value)
	}
	return strings.Join(all, "\n")
}

func argsOf(text string) []policy.Arg {
	var args []policy.Arg
	for _, line := range lines(text) {
		field, value, _ := strings.Cut(line, "=")
		args = append(args, policy.Arg{Field: strings.TrimSpace(field), Value: strings.TrimSpace(value)})
	}
	return args
}

// lines are those that say something.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

func (e *editor) text(key string) string { return strings.TrimSpace(e.texts[key].Text) }

// check shows what is wrong with the form, or what the rule will do.
func (e *editor) check() {
	if len(e.texts) < len(ruleKeys) { // the form is being built
		return
	}
	r := e.rule()
	err := e.validate(r)
	for _, l := range e.wrong {
		l.say("")
	}
	if err == nil {
		e.say(sentence(r)+".", widget.MediumImportance)
		e.save.Enable()
		return
	}
	e.save.Disable()
	var at *policy.FieldError
	if !errors.As(err, &at) || e.wrong[lineKey(at.Key)] == nil {
		e.say(err.Error(), widget.LowImportance)
		return
	}
	e.wrong[lineKey(at.Key)].say(at.Problem)
	e.say("", widget.LowImportance)
}

func (e *editor) validate(r policy.Rule) error {
	if slices.Contains(e.others, r.ID) {
		return &policy.FieldError{Key: "id", Problem: lang.L("another rule has this name")}
	}
	if err := r.Validate(); err != nil {
		return err
	}
	return r.CheckExamples()
}

// lineKey is the line of the form that a key of the file belongs to.
func lineKey(key string) string {
	line, _, _ := strings.Cut(key, "[")
	return line
}

func (e *editor) say(s string, i widget.Importance) {
	e.says.Importance = i
	e.says.SetText(s)
}

// submit saves the rule in the place it had, or at the end.
func (e *editor) submit() {
	r := e.rule()
	if e.validate(r) != nil {
		return
	}
	err := e.change(func(c *policy.Config) error {
		i := slices.IndexFunc(c.Policy.Rules, func(old policy.Rule) bool { return old.ID == e.was })
		if e.was == "" || i < 0 { // a rule that was removed from the file meanwhile comes back
			c.Policy.Rules = append(c.Policy.Rules, r)
			return nil
		}
		c.Policy.Rules[i] = r
		return nil
	})
	if err != nil {
		e.say(err.Error(), widget.DangerImportance)
		return
	}
	e.closed()
}

// refresh follows the store: what cannot be saved must not look as if it could.
func (e *editor) refresh(editable bool) {
	if !editable {
		e.save.Disable()
		return
	}
	e.check()
}

// focus starts in the field that a rule is mostly about.
func (e *editor) focus() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(e.texts["tool"]); c != nil {
		c.Focus(e.texts["tool"])
	}
}
