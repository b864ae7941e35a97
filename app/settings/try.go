package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/safetext"
	"nod/policy"
)

// tryBox shows what the policy says of a call that the person makes up. Nobody is asked and nothing runs.
type tryBox struct {
	content fyne.CanvasObject
	store   Store

	agent, tool *widget.SelectEntry
	input, cwd  *escEntry
	result      *fyne.Container
}

func newTryBox(store Store) *tryBox {
	b := &tryBox{store: store, result: container.NewStack()}
	b.agent = widget.NewSelectEntry([]string{"claude-code", "codex", "gemini-cli", "opencode"})
	b.tool = widget.NewSelectEntry([]string{"Bash", "Read", "Write", "Edit", "Grep", "WebFetch"})
	b.input, b.cwd = newEscEntry(true, nil), newEscEntry(false, nil)
	b.input.SetMinRowsVisible(3)
	b.input.TextStyle.Monospace = true
	b.agent.SetText("claude-code")
	b.tool.SetText("Bash")
	b.input.SetPlaceHolder("git status")
	b.cwd.SetPlaceHolder("~/src/shop")
	for _, e := range []*widget.Entry{&b.agent.Entry, &b.tool.Entry, &b.input.Entry, &b.cwd.Entry} {
		e.OnChanged = func(string) { b.decide() }
	}
	b.content = dialogs.Column(14,
		header(lang.L("Try a call"), lang.L("What would nod say? Nothing runs and nobody is asked.")),
		captioned(lang.L("Agent"), b.agent),
		captioned(lang.L("Tool"), b.tool),
		captioned(lang.L("Input: a command, a file, or JSON"), b.input),
		captioned(lang.L("Works in"), b.cwd),
		b.result)
	return b
}

func captioned(name string, input fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Column(3, dialogs.Words(name, theme.SizeNameCaptionText, dialogs.ColorMuted), input)
}

// decide shows the decision on what is typed.
func (b *tryBox) decide() {
	call, err := b.call()
	if err != nil {
		b.result.Objects = []fyne.CanvasObject{muted(err.Error())}
		b.result.Refresh()
		return
	}
	decision, steps := b.store.Explain(call)
	b.result.Objects = []fyne.CanvasObject{verdict(decision, steps, call, b.store.Parts(call))}
	b.result.Refresh()
}

// call is what is typed. The agent's own program is taken to ask: nothing is verified here.
func (b *tryBox) call() (policy.Call, error) {
	tool := strings.TrimSpace(b.tool.Text)
	if tool == "" {
		return policy.Call{}, errors.New(lang.L("Name a tool."))
	}
	input, err := tryInput(tool, b.input.Text)
	if err != nil {
		return policy.Call{}, err
	}
	cwd := strings.TrimSpace(b.cwd.Text)
	if home := homeDir(); home != "" && (cwd == "~" || strings.HasPrefix(cwd, "~/")) {
		cwd = home + cwd[1:]
	}
	return policy.Call{Agent: strings.TrimSpace(b.agent.Text), Tool: tool, Input: input, CWD: cwd}, nil
}

// tryInput is the JSON that a tool would be called with: what is typed when that is an object, else an object
// with the typed text as the tool's one main argument.
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
	e.SetEscapeHTML(false) // it is shown to the person
	err := e.Encode(map[string]string{mainArgument(tool): typed})
	return bytes.TrimSpace(b.Bytes()), err
}

// mainArgument is the key under which the common tools take what they are about.
func mainArgument(tool string) string {
	switch {
	case slices.Contains([]string{"Read", "Write", "Edit", "MultiEdit", "read_file", "write_file", "replace"}, tool):
		return "file_path"
	case slices.Contains([]string{"WebFetch", "web_fetch", "webfetch"}, tool):
		return "url"
	case slices.Contains([]string{"Grep", "Glob", "grep", "glob"}, tool):
		return "pattern"
	}
	return "command"
}

// verdict shows a decision, and what led there.
func verdict(d policy.Decision, steps []string, call policy.Call, parts []policy.CommandPart) fyne.CanvasObject {
	lines := dialogs.Column(8,
		dialogs.Row(8, dialogs.Badge(effectName(d.Effect), dialogs.EffectColor(d.Effect)),
			dialogs.Badge(className(d.Class), dialogs.ClassColor(d.Class))),
		dialogs.Tight(dialogs.Lines(sentenceCase(d.Reason), theme.SizeNameText, widget.MediumImportance)))
	if list := dialogs.Parts(parts); list != nil {
		lines.Add(list)
	}
	if d.Rule != "" {
		lines.Add(fact(lang.L("Decided by"), d.Rule))
	}
	lines.Add(fact(lang.L("Input"), safetext.Line(string(call.Input), quoteLimit)))
	lines.Add(dialogs.Words(lang.L("How nod got there"), theme.SizeNameCaptionText, dialogs.ColorMuted))
	for _, step := range steps {
		lines.Add(dialogs.Tight(dialogs.Lines("· "+safetext.Line(step, 2*quoteLimit), theme.SizeNameCaptionText, widget.MediumImportance)))
	}
	return dialogs.Card(theme.ColorNameBackground, dialogs.Padded(12, 12, lines))
}

func fact(name, value string) fyne.CanvasObject {
	text := dialogs.Lines(value, theme.SizeNameCaptionText, widget.MediumImportance)
	text.TextStyle.Monospace = true
	text.Wrapping = fyne.TextWrapBreak
	return dialogs.Column(1, dialogs.Words(name, theme.SizeNameCaptionText, dialogs.ColorMuted), dialogs.Tight(text))
}

// sentenceCase makes the first letter large and ends with a full stop.
func sentenceCase(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.ToSlash(home)
}
