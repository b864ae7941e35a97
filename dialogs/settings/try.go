package settings

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/assets"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/policy"
)

// tryPage shows the decision of the policy on a call that the user enters. Nothing is asked or run.
type tryPage struct {
	part
	agent, tool *selectField
	input, cwd  *controls.TextField
}

func newTryPage(w *Window) *tryPage {
	b := &tryPage{part: newPart(w)}
	b.agent = newSelectField(w.typedShortcut, "claude-code", "codex", "gemini-cli", "opencode")
	b.tool = newSelectField(w.typedShortcut, "Bash", "Read", "Write", "Edit", "Grep", "WebFetch")
	b.input, b.cwd = controls.NewTextField(w.typedShortcut, true), controls.NewTextField(w.typedShortcut, false)
	b.input.SetMinRowsVisible(3)
	b.input.TextStyle.Monospace = true
	b.agent.SetText("claude-code")
	b.tool.SetText("Bash")
	b.input.SetPlaceHolder("git status")
	b.cwd.SetPlaceHolder("~/src/shop")
	for _, e := range []*widget.Entry{&b.agent.Entry, &b.tool.Entry, &b.input.Entry, &b.cwd.Entry} {
		e.OnChanged = func(string) { b.decide() }
	}
	b.content = page(dialogs.Column(14,
		header(lang.L("Try a call"), lang.L("See what nod would decide. Nothing runs and nobody is asked.")),
		container.NewGridWithColumns(2, captioned(lang.L("Agent"), b.agent), captioned(lang.L("Tool"), b.tool)),
		captioned(lang.L("Input: a command, a file, or JSON"), b.input),
		captioned(lang.L("Works in"), b.cwd),
		b.body))
	return b
}

func captioned(name string, input fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Column(3, dialogs.Words(name, theme.SizeNameCaptionText, dialogs.ColorMuted), input)
}

type attempt struct{ agent, tool, input, cwd string }

func (b *tryPage) typed() attempt {
	return attempt{b.agent.Text, b.tool.Text, b.input.Text, b.cwd.Text}
}

func (b *tryPage) refresh(operator.State) { b.decide() }

func (b *tryPage) decide() {
	typed := b.typed()
	b.work.Do(func(ctx context.Context) func() {
		call, err := typed.call()
		var trial operator.Trial
		if err == nil {
			trial, err = b.win.opts.Operator.Try(ctx, call)
		}
		return func() {
			switch {
			case b.typed() != typed: // a newer decision is coming
			case err != nil:
				controls.SetContent(b.body, controls.Muted(err.Error()))
			default:
				controls.SetContent(b.body, verdict(trial, call))
			}
		}
	})
}

// call returns the entered call, as if the agent's own program asked: nothing is verified here.
func (a attempt) call() (policy.Call, error) {
	tool := strings.TrimSpace(a.tool)
	if tool == "" {
		return policy.Call{}, errors.New(lang.L("Name a tool."))
	}
	input, err := tryInput(tool, a.input)
	if err != nil {
		return policy.Call{}, err
	}
	return policy.Call{
		Agent: strings.TrimSpace(a.agent), Tool: tool, Input: policy.ReadInput(input),
		CWD: onDisk(strings.TrimSpace(a.cwd)),
	}, nil
}

// tryInput returns the JSON input of a tool: typed if that is an object, else typed as the tool's main argument.
func tryInput(tool, typed string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(typed)
	if strings.HasPrefix(trimmed, "{") {
		var object map[string]any
		if err := json.Unmarshal([]byte(trimmed), &object); err != nil {
			return nil, errors.New(lang.L("Not JSON yet: {{.Problem}}", map[string]any{"Problem": err.Error()}))
		}
		return json.RawMessage(trimmed), nil
	}
	if trimmed == "" {
		return json.RawMessage("{}"), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // for display
	err := e.Encode(map[string]string{cmp.Or(mainArguments[tool], "command"): typed})
	return bytes.TrimSpace(b.Bytes()), err
}

// mainArguments are the keys of the main arguments of common tools; all others take a command.
var mainArguments = map[string]string{
	"Read": "file_path", "Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path",
	"read_file": "file_path", "write_file": "file_path", "replace": "file_path",
	"WebFetch": "url", "web_fetch": "url", "webfetch": "url",
	"Grep": "pattern", "Glob": "pattern", "grep": "pattern", "glob": "pattern",
}

func verdict(t operator.Trial, call policy.Call) fyne.CanvasObject {
	d := t.Decision
	lines := dialogs.Column(8,
		dialogs.Row(8, controls.EffectBadge(d.Effect),
			dialogs.Badge(controls.ClassName(d.Class), dialogs.ClassColor(d.Class))),
		controls.Paragraph(sentenceCase(assets.Reason(d.Reason)), widget.MediumImportance))
	if list := dialogs.Parts(t.Parts); list != nil {
		lines.Add(list)
	}
	if d.Rule != "" {
		lines.Add(fact(lang.L("Decided by"), d.Rule))
	}
	lines.Add(fact(lang.L("Input"), safetext.Line(call.Input.String(), controls.QuoteLimit)))
	lines.Add(dialogs.Words(lang.L("How nod decided"), theme.SizeNameCaptionText, dialogs.ColorMuted))
	for _, step := range t.Steps {
		said := "· " + safetext.Line(assets.Reason(step), 2*controls.QuoteLimit)
		lines.Add(dialogs.Tight(dialogs.Lines(said, theme.SizeNameCaptionText, widget.MediumImportance)))
	}
	return dialogs.Card(dialogs.ColorSunken, dialogs.Padded(12, 14, lines))
}

func fact(name, value string) fyne.CanvasObject {
	return dialogs.Column(1, dialogs.Words(name, theme.SizeNameCaptionText, dialogs.ColorMuted),
		controls.Exact(value, theme.SizeNameCaptionText))
}

func sentenceCase(s string) string {
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	return controls.Stop(string(unicode.ToUpper(first)) + s[size:])
}

// selectField is a text field with a list of suggested texts.
type selectField struct {
	widget.SelectEntry
	shortcut func(fyne.Shortcut) bool // runs a shortcut of the window; reports whether there is one
}

// newSelectField returns a text field with a list of options.
func newSelectField(shortcut func(fyne.Shortcut) bool, options ...string) *selectField {
	e := &selectField{shortcut: shortcut}
	e.ExtendBaseWidget(e)
	e.SetOptions(options)
	e.Wrapping = fyne.TextWrapOff
	return e
}

func (e *selectField) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		dialogs.PassOn(e, k)
		return
	}
	e.SelectEntry.TypedKey(k)
}

func (e *selectField) TypedShortcut(s fyne.Shortcut) {
	if !e.shortcut(s) {
		e.SelectEntry.TypedShortcut(s)
	}
}

func (e *selectField) FocusGained() {
	e.SelectEntry.FocusGained()
	controls.Reveal(e)
}

func (e *selectField) CreateRenderer() fyne.WidgetRenderer {
	return dialogs.NewField(e.SelectEntry.CreateRenderer(), controls.ScrollAround(e))
}
