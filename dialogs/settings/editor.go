package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/assets"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/policy"
	"nod/policy/config"
)

// editor is the form for one rule. It describes the rule while the user types. It shows an error of a field only after
// the user has left the field or pressed Save.
type editor struct {
	part
	was      string          // id of the edited rule; "" for a new one
	taken    map[string]bool // names of the other rules
	base     policy.Rule     // fields that the form does not show
	closed   func()
	editable bool

	effect *widget.RadioGroup
	class  *controls.Select
	labels map[string]string              // by key of the policy file
	texts  map[string]*controls.TextField // by key, too
	wrong  map[string]*controls.Remark    // by key, too
	says   *widget.Label
	save   *controls.Button
	foot   fyne.CanvasObject // contains save

	done    map[string]bool // fields that the user has left
	pressed bool            // Save was pressed since the last change
	anyway  bool            // the user was told what does not exist
}

var effects = []policy.Effect{policy.Allow, policy.Sandbox, policy.Ask, policy.Deny}

// formLine is a text field of the form, and one of the three kinds of parts of a rule that it edits.
type formLine struct {
	key, name, hint string
	text            *string
	list            *[]string     // one per line
	args            *[]policy.Arg // one per line
}

func formLines(r *policy.Rule) []formLine {
	return []formLine{
		{key: "tool", text: &r.Tool, name: lang.L("Tool"), hint: lang.L("Bash, or mcp__github__* for many")},
		{key: "run", list: &r.Run, name: lang.L("Runs"),
			hint: lang.L("go test (commands that start like this;\nalso inside a command line; one per line)")},
		{key: "command", text: &r.Command, name: lang.L("Command"),
			hint: lang.L("git status (exactly this command)")},
		{key: "path", text: &r.Path, name: lang.L("Files"), hint: "~/src/**"},
		{key: "host", text: &r.Host, name: lang.L("Host"), hint: lang.L("example.com, or *.example.com for its " +
			"subdomains")},
		{key: "args", args: &r.Args, name: lang.L("Fields"), hint: lang.L("branch = release/*   (one per line)")},
		{key: "cwd", text: &r.CWD, name: lang.L("Works in"), hint: "~/src/shop/**"},
		{key: "agent", text: &r.Agent, name: lang.L("Agent"), hint: lang.L("claude-code (as it calls itself)")},
		{key: "program", text: &r.Program, name: lang.L("Program"), hint: lang.L("/usr/bin/claude (verified by nod)")},
		{key: "mcp_server", text: &r.Server, name: lang.L("MCP server"),
			hint: lang.L("github (for tools named mcp__github__…)")},
		{key: "session", text: &r.Session, name: lang.L("Session"),
			hint: lang.L("one session, by the agent's name for it")},
		{key: "expires", text: &r.Expires, name: lang.L("Until"), hint: "2030-12-31"},
		{key: "id", text: &r.ID, name: lang.L("Name"), hint: lang.L("letters, digits, dots and dashes")},
		{key: "note", text: &r.Note, name: lang.L("Note"), hint: lang.L("a note to yourself")},
		{key: "examples.match", list: &r.Examples.Match, name: lang.L("Matches"),
			hint: lang.L("examples, one per line: a command, or a call as JSON")},
		{key: "examples.no_match", list: &r.Examples.NoMatch, name: lang.L("Not"),
			hint: lang.L("examples of what it must not match")},
	}
}

func (l formLine) verbatim() bool { return l.key == "command" }

func (l formLine) get() string {
	switch {
	case l.text != nil:
		return *l.text
	case l.list != nil:
		return strings.Join(*l.list, "\n")
	}
	return strings.Join(each(*l.args, func(a policy.Arg) string { return a.Field + " = " + a.Value }), "\n")
}

func (l formLine) set(typed string) {
	switch {
	case l.verbatim():
		*l.text = typed
	case l.text != nil:
		*l.text = strings.TrimSpace(typed)
	case l.list != nil:
		*l.list = lines(typed)
	default:
		*l.args = argsOf(typed)
	}
}

func newEditor(w *Window, r policy.Rule, rules []policy.Rule, closed func()) *editor {
	e := &editor{part: newPart(w), was: r.ID, base: r, closed: closed, editable: true,
		taken: map[string]bool{}, done: map[string]bool{},
		labels: map[string]string{}, texts: map[string]*controls.TextField{}, wrong: map[string]*controls.Remark{}}
	for _, other := range rules {
		e.taken[other.ID] = other.ID != r.ID
	}
	if r.ID == "" {
		r.Effect, r.ID = policy.Ask, freeID(e.taken)
	}
	e.build(r)
	e.check()
	return e
}

func freeID(taken map[string]bool) string {
	for n := 1; ; n++ {
		if id := fmt.Sprintf("rule-%d", n); !taken[id] {
			return id
		}
	}
}

func (e *editor) build(r policy.Rule) {
	e.effect = widget.NewRadioGroup(each(effects, controls.EffectName), nil)
	e.effect.Horizontal, e.effect.Required = true, true
	e.effect.SetSelected(controls.EffectName(r.Effect))
	e.effect.OnChanged = func(string) { e.changed() }
	e.class = controls.NewSelect(append([]string{lang.L("Any")}, each(policy.Classes, controls.ClassName)...), nil)
	e.class.SetSelectedIndex(slices.Index(policy.Classes, r.Class) + 1)
	e.class.OnChanged = func(string) { e.changed() }
	e.says = dialogs.Lines("", theme.SizeNameText, widget.MediumImportance)
	e.save = controls.MainButton(lang.L("Save rule"), theme.ConfirmIcon(), e.press)

	heading := lang.L("New rule")
	if e.was != "" {
		heading = lang.L("Edit rule")
	}
	form := []fyne.CanvasObject{e.line(lang.L("Effect"), "effect", e.effect)}
	for _, l := range formLines(&r) {
		form = append(form, e.textLine(l))
		if l.key == "tool" {
			form = append(form, e.line(lang.L("Class"), "class", e.class))
		}
	}
	e.foot = dialogs.Padded(10, 20, controls.Besides(16, dialogs.Column(2, dialogs.Tight(e.says)),
		container.NewHBox(controls.NewButton(lang.L("Cancel"), nil, e.closed), e.save)))
	e.content = container.NewBorder(nil, controls.FootOf(e.foot), nil, nil,
		page(header(heading, lang.L("A rule applies to calls that match everything you fill in. "+
			"Empty fields match anything.")),
			dialogs.Column(12, form...)))
}

func (e *editor) textLine(l formLine) fyne.CanvasObject {
	t := controls.NewTextField(e.win.Shortcut, l.text == nil || l.verbatim())
	t.SetPlaceHolder(l.hint)
	if t.MultiLine {
		t.SetMinRowsVisible(2)
	}
	t.SetText(l.get())
	t.OnChanged = func(string) { e.changed() }
	t.Left = func() {
		e.done[l.key] = true
		e.check()
	}
	e.texts[l.key] = t
	return e.line(l.name, l.key, t)
}

func (e *editor) line(name, key string, input fyne.CanvasObject) fyne.CanvasObject {
	e.labels[key], e.wrong[key] = name, controls.NewRemark(widget.DangerImportance)
	label := dialogs.Padded(9, 0, dialogs.Words(name, theme.SizeNameText, theme.ColorNameForeground))
	return container.NewBorder(nil, nil, topLeft(92, label), nil,
		dialogs.Column(2, input, e.wrong[key].Content))
}

func (e *editor) rule() policy.Rule {
	r := e.base
	for _, l := range formLines(&r) {
		l.set(e.texts[l.key].Text)
	}
	r.Class, r.Effect = "", ""
	if i := e.class.SelectedIndex(); i > 0 {
		r.Class = policy.Classes[i-1]
	}
	if i := slices.Index(e.effect.Options, e.effect.Selected); i >= 0 {
		r.Effect = effects[i]
	}
	return r
}

func argsOf(text string) []policy.Arg {
	var args []policy.Arg
	for _, line := range lines(text) {
		field, value, _ := strings.Cut(line, "=")
		args = append(args, policy.Arg{Field: strings.TrimSpace(field), Value: strings.TrimSpace(value)})
	}
	return args
}

func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

func (e *editor) changed() {
	e.pressed, e.anyway = false, false
	e.nameSave(lang.L("Save rule"))
	e.check()
}

func (e *editor) check() {
	r := e.rule()
	e.work.Do(func(context.Context) func() {
		err := e.validate(r)
		return func() { e.show(r, err) }
	})
}

// show shows the result of checking r, without errors that should not show yet.
func (e *editor) show(r policy.Rule, err error) {
	for _, l := range e.wrong {
		l.Say("")
	}
	controls.Enable(e.editable, e.save)
	if err == nil {
		e.say(controls.Stop(controls.Sentence(r)), widget.MediumImportance)
		return
	}
	at, isField := errors.AsType[*policy.FieldError](err)
	if !isField {
		e.say(err.Error(), widget.LowImportance)
		return
	}
	key := fieldOf(at)
	line, problem := e.wrong[key], problemIn(at)
	switch {
	case line == nil:
		e.say(problem, widget.DangerImportance)
	case e.pressed || e.done[key]:
		line.Say(problem)
		e.say("", widget.LowImportance)
	case at.Problem == policy.MatchesAll:
		e.say(lang.L("Choose what the rule applies to."), widget.LowImportance)
	default:
		e.say(lang.L("{{.Field}}: {{.Problem}}", map[string]any{"Field": e.labels[key], "Problem": problem}),
			widget.LowImportance)
	}
}

// fieldOf returns the key of the field of the form that an error is about.
func fieldOf(e *policy.FieldError) string {
	key, _, _ := strings.Cut(e.Key, "[")
	return key
}

// problemIn says what is wrong with a field, by the names of the form and in the user's language.
func problemIn(e *policy.FieldError) string {
	switch e.Problem {
	case policy.MatchesAll:
		return lang.L("The rule would match every call. Fill in at least one field from Tool to Session.")
	case policy.NotContained:
		return lang.L("Only commands run in the sandbox. Leave Host and MCP server empty.")
	case policy.NotByRun:
		return lang.L("To allow by Runs, leave Command, Files, Host, Fields and MCP server empty.")
	}
	said := assets.Reason(e.Problem)
	if text, problem, isQuoted := strings.Cut(e.Problem, `": `); isQuoted && said == e.Problem {
		return text + `": ` + assets.Reason(problem)
	}
	return said
}

// validate returns what is wrong with a rule. It may read the disk, so it runs off the UI goroutine.
func (e *editor) validate(r policy.Rule) error {
	if e.taken[r.ID] {
		return &policy.FieldError{Key: "id", Problem: lang.L("another rule has this name")}
	}
	if err := r.Validate(); err != nil {
		return err
	}
	return r.CheckExamples()
}

func (e *editor) say(s string, i widget.Importance) {
	e.says.Importance = i
	e.says.SetText(s)
}

// press saves the rule if it is valid. It first points out files and folders that do not exist.
func (e *editor) press() {
	r := e.rule()
	e.pressed = true
	e.work.Do(func(context.Context) func() {
		err := e.validate(r)
		var missing map[string]string
		if err == nil && !e.anyway {
			missing = missingOf(r)
		}
		return func() {
			e.show(r, err)
			at, isField := errors.AsType[*policy.FieldError](err)
			switch {
			case isField && e.wrong[fieldOf(at)] != nil:
				e.win.Reveal(e.wrong[fieldOf(at)].Content)
			case err != nil:
			case len(missing) > 0:
				e.point(missing)
			default:
				e.submit()
			}
		}
	})
}

func missingOf(r policy.Rule) map[string]string {
	found := map[string]string{}
	for key, pattern := range map[string]string{"path": r.Path, "cwd": r.CWD, "program": r.Program} {
		if missing := missingIn(pattern); pattern != "" && missing != "" {
			found[key] = missing
		}
	}
	return found
}

// missingIn returns the folder that a pattern needs and that does not exist: the one before its first wildcard or,
// without one, the parent folder. It returns "" if nothing is missing, or if that is unknown.
func missingIn(pattern string) string {
	plain := pattern
	if i := strings.IndexAny(pattern, "*?[{"); i >= 0 {
		plain = pattern[:i]
	}
	folder := filepath.ToSlash(filepath.Dir(plain)) // of /srv/code/ it is /srv/code
	onDisk := folder
	if onDisk == "~" || strings.HasPrefix(onDisk, "~/") {
		onDisk = policy.DefaultPlaces().Home + onDisk[1:]
	}
	if _, err := os.Stat(onDisk); filepath.IsAbs(onDisk) && errors.Is(err, fs.ErrNotExist) {
		return folder
	}
	return ""
}

// point shows next to the fields what does not exist. The next Save saves the rule anyway.
func (e *editor) point(missing map[string]string) {
	for key, folder := range missing {
		e.wrong[key].Say(lang.L("{{.Folder}} doesn't exist.",
			map[string]any{"Folder": safetext.Line(folder, controls.QuoteLimit)}))
		e.win.Reveal(e.wrong[key].Content)
	}
	e.anyway = true
	e.nameSave(lang.L("Save anyway"))
}

func (e *editor) nameSave(name string) {
	if e.save.Text != name {
		e.save.SetText(name)
		e.foot.Refresh()
	}
}

func (e *editor) submit() {
	r := e.rule()
	e.win.change(func(c *config.Config) error {
		if err := e.validate(r); err != nil {
			return err
		}
		i := slices.IndexFunc(c.Policy.Rules, func(old policy.Rule) bool { return old.ID == e.was })
		if e.was == "" || i < 0 { // also if the rule was removed from the file meanwhile
			c.Policy.Rules = append(c.Policy.Rules, r)
			return nil
		}
		r.Disabled = c.Policy.Rules[i].Disabled // the form does not show it, and it may have been switched off meanwhile
		c.Policy.Rules[i] = r
		return nil
	}, func(err error) {
		if err != nil {
			e.say(err.Error(), widget.DangerImportance)
			return
		}
		e.closed()
	})
}

func (e *editor) refresh(editable bool) {
	if editable != e.editable {
		e.editable = editable
		e.check()
	}
}
