package settings

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/controls"
	"nod/dialogs/dialogstest"
	"nod/ipc/operator"
	"nod/policy"
)

// answer presses a button of the question on top.
func (w *Window) answer(text string) {
	dialogstest.Walk(w.Win.Canvas().Overlays().Top(), func(found fyne.CanvasObject) {
		if b, isButton := found.(*widget.Button); isButton && b.Text == text {
			test.Tap(b)
		}
	})
}

// The settings open also while something that the user did before they closed them is not done.
func TestOpensWhileAnActionIsUnderWay(t *testing.T) {
	w := openWindow(t, somebody(), "light")
	shown := 0
	w.opts.Shown = func() { shown++ }
	aside := w.Aside
	w.Aside = func(func()) {}
	w.Act(func(context.Context) error { return nil }, func(error) {})
	w.Aside = aside
	w.close()
	w.Show(false)
	if shown != 1 {
		t.Errorf("shown %d times", shown)
	}
}

func TestASwitchIsSaved(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onAllow)
	test.Tap(w.allow.classes[policy.Network].check)
	w.answer("Stop asking")
	if got := o.config().Policy.AutoAllow; !slices.Equal(got, []policy.Class{policy.ReadOnly, policy.Network}) {
		t.Errorf("passes: %q", got)
	}
	test.Tap(w.allow.classes[policy.Network].check)
	o.isAs(t, fewRules())
}

// A failure to save is reported, and the saved value is shown.
func TestASwitchThatCannotBeSavedGoesBack(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onAllow)
	o.refuse = errors.New("disk on fire")
	r := w.allow.classes[policy.Network]
	test.Tap(r.check)
	w.answer("Stop asking")
	if r.check.Checked || shownBy(r.Problem) != "disk on fire" {
		t.Errorf("on %v, says %q", r.check.Checked, shownBy(r.Problem))
	}
	if w.Banner.Content.Visible() {
		t.Error("it is said twice")
	}
	o.refuse = nil
	test.Tap(r.check)
	w.answer("Stop asking")
	if !r.check.Checked || w.Banner.Content.Visible() {
		t.Errorf("on %v, banner %v", r.check.Checked, w.Banner.Content.Visible())
	}
	w.tabs.selectIndex(onGeneral)
	test.Tap(w.general.autostart.check)
	if w.general.autostart.check.Checked || shownBy(w.general.autostart.Problem) == "" {
		t.Error("nothing says that nod cannot start with the session")
	}
}

func TestAPageTakesTheRoomOfWhatIsHidden(t *testing.T) {
	w, o := few(t)
	at, size := w.tabs.content.Position(), w.tabs.content.Size()
	o.state.Problem, o.state.Undos = "config.yaml:2: this is not YAML", []operator.Undo{{ID: 1, Text: "no-prod"}}
	w.Fetch()
	if got := w.tabs.content.Size(); got.Height >= size.Height {
		t.Fatalf("a problem and an undo leave the page %v", got)
	}
	o.state.Problem, o.state.Undos = "", nil
	w.Fetch()
	if got := w.tabs.content; got.Position() != at || got.Size() != size {
		t.Errorf("the page is at %v, %v large, want %v and %v", got.Position(), got.Size(), at, size)
	}
}

func TestThePauseIsStartedAndEnded(t *testing.T) {
	w, o := few(t)
	r := w.general.pause
	pick := func(option string) {
		r.pick.SetSelected(option)
	}
	pick("Pause for 1 hour")
	if until := time.Until(o.state.Pause.Until); !o.state.Pause.On || until < 59*time.Minute || until > time.Hour {
		t.Fatalf("paused: %+v", o.state.Pause)
	}
	if want := "Paused until " + o.state.Pause.Until.Format("15:04"); r.pick.Selected != want {
		t.Errorf("shows %q, want %q", r.pick.Selected, want)
	}
	o.refuse = errors.New("no way")
	pick("Resume")
	if !o.state.Pause.On || shownBy(r.Problem) != "no way" || r.pick.SelectedIndex() != 0 {
		t.Errorf("refused: says %q, shows %q", shownBy(r.Problem), r.pick.Selected)
	}
	o.refuse = nil
	pick("Resume")
	if o.state.Pause.On || r.pick.Selected != "Not paused" {
		t.Errorf("resumed: %+v, shows %q", o.state.Pause, r.pick.Selected)
	}
	pick("Pause until I'm back")
	if !o.state.Pause.On || !o.state.Pause.Until.IsZero() || r.pick.Selected != "Paused" {
		t.Errorf("until the user is back: %+v, shows %q", o.state.Pause, r.pick.Selected)
	}
}

// A change that conflicts with another one is applied to its result.
func TestAChangeMeetsAnother(t *testing.T) {
	w, o := few(t)
	o.meanwhile = func() {
		o.state.Config.Policy.Rules = append(o.rules(), policy.Rule{ID: "other", Effect: policy.Ask, Tool: "T"})
	}
	test.Tap(w.general.onTop.check)
	if o.config().Prompt.OnTop || len(o.rules()) != 2 {
		t.Errorf("the configuration is %+v", o.config())
	}
}

func TestARuleIsAdded(t *testing.T) {
	w, o := few(t)
	w.allow.refresh(w.state)
	w.allow.edit(policy.Rule{})
	e := w.allow.editor
	e.effect.SetSelected(controls.EffectName(policy.Allow))
	e.texts["tool"].SetText("Bash")
	e.texts["command"].SetText("make test ")
	e.texts["id"].SetText("tests")
	test.Tap(e.save)
	if w.allow.editor != nil {
		t.Error("the editor stayed open")
	}
	want := fewRules()
	want.Policy.Rules = append(want.Policy.Rules,
		policy.Rule{ID: "tests", Effect: policy.Allow, Tool: "Bash", Command: "make test "})
	o.isAs(t, want)
}

func TestABadRuleIsNotSaved(t *testing.T) {
	tests := map[string]struct {
		fill map[string]string
		at   string // the field that complains
	}{
		"matches everything": {map[string]string{"id": "x"}, "effect"},
		"no name":            {map[string]string{"id": "", "tool": "Bash"}, "id"},
		"a name twice":       {map[string]string{"id": "no-prod", "tool": "Bash"}, "id"},
		"a broken pattern":   {map[string]string{"id": "x", "path": "~/src/["}, "path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, o := few(t)
			w.tabs.selectIndex(onAllow)
			w.allow.edit(policy.Rule{})
			e := w.allow.editor
			for key, text := range tt.fill {
				e.texts[key].SetText(text)
			}
			if shownBy(e.wrong[tt.at]) != "" {
				t.Error("it complains before the user is done")
			}
			test.Tap(e.save)
			if shownBy(e.wrong[tt.at]) == "" {
				t.Errorf("nothing is said at %s", tt.at)
			}
			e.submit() // as if the check had come back too late
			if w.allow.editor == nil {
				t.Error("the editor closed")
			}
			o.isAs(t, fewRules())
		})
	}
}

// What Save finds wrong is scrolled into view.
func TestAComplaintIsInView(t *testing.T) {
	for name, tt := range map[string]struct{ key, text string }{
		"a bad name":     {"id", "no such name"},
		"missing folder": {"cwd", "/no/such/folder/**"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := few(t)
			w.tabs.selectIndex(onAllow)
			w.allow.edit(policy.Rule{})
			e := w.allow.editor
			e.texts["tool"].SetText("Bash")
			e.texts[tt.key].SetText(tt.text)
			var later []func()
			w.After = func(_ time.Duration, f func()) { later = append(later, f) }
			test.Tap(e.save)
			w.Win.Resize(fyne.NewSize(900, 601)) // which lays it out
			for _, f := range later {
				f()
			}
			d, remark := fyne.CurrentApp().Driver(), e.wrong[tt.key].Content
			end := d.AbsolutePositionForObject(remark).Y + remark.Size().Height
			if foot := d.AbsolutePositionForObject(e.foot).Y; shownBy(e.wrong[tt.key]) == "" || end > foot {
				t.Errorf("%q ends at %v, below the foot at %v", shownBy(e.wrong[tt.key]), end, foot)
			}
		})
	}
}

// The hints of fields of several lines break only between words.
func TestHintsAreWhole(t *testing.T) {
	w, _ := few(t)
	w.tabs.selectIndex(onAllow)
	w.allow.edit(policy.Rule{})
	w.Win.Resize(fyne.NewSize(900, 600))
	for key, field := range w.allow.editor.texts {
		for line := range strings.Lines(field.PlaceHolder) {
			width := fyne.MeasureText(line, theme.TextSize(), fyne.TextStyle{}).Width
			if room := field.Size().Width - 4*theme.InnerPadding(); field.MultiLine && width > room {
				t.Errorf("%s: %q is %v wide, want at most %v", key, line, width, room)
			}
		}
	}
}

// What is wrong with a rule is said by the names of the form, and in the user's language.
func TestProblemsOfARuleAreTranslated(t *testing.T) {
	w, _ := few(t)
	w.tabs.selectIndex(onAllow)
	long := strings.Repeat("x", 5000)
	tests := []struct {
		fill map[string]string
		want string // in English
	}{
		{nil, "The rule would match every call. Fill in at least one field from Tool to Session."},
		{map[string]string{"effect": "sandbox", "host": "a.com"},
			"Only commands run in the sandbox. Leave Host and MCP server empty."},
		{map[string]string{"effect": "allow", "run": "make", "host": "a.com"},
			"To allow by Runs, leave Command, Files, Host, Fields and MCP server empty."},
		{map[string]string{"id": ""}, "missing: want a name"},
		{map[string]string{"id": "no such name"}, `"no such name": want up to 64 letters`},
		{map[string]string{"id": "no-prod"}, "another rule has this name"},
		{map[string]string{"note": long}, "too long"},
		{map[string]string{"agent": "a\u202e"}, "cannot be seen"},
		{map[string]string{"path": "~/src/["}, "is no pattern"},
		{map[string]string{"cwd": "src"}, "starts nowhere"},
		{map[string]string{"mcp_server": "a b"}, "want the name of an MCP server"},
		{map[string]string{"host": "A"}, "want a host"},
		{map[string]string{"args": "= x"}, "want the name of a field"},
		{map[string]string{"args": "x ="}, "want a text"},
		{map[string]string{"tool": "x", "expires": "soon"}, "want a day"},
		{map[string]string{"run": "a | b"}, "write one command"},
		{map[string]string{"run": strings.Repeat("make\n", 101)}, "101 of them"},
		{map[string]string{"tool": "Bash", "command": "a", "examples.match": "b"}, `"b": the rule does not match it`},
		{map[string]string{"tool": "Bash", "command": "a", "examples.no_match": "a"}, "the rule matches it"},
		{map[string]string{"tool": "Bash", "examples.match": "{"}, "not a tool call"},
		{map[string]string{"tool": "Bash", "examples.match": strings.Repeat("a\n", 21)}, "21 of them"},
	}
	for _, language := range []string{"en", "zh-CN"} {
		dialogstest.Speak(t, language)
		for _, tt := range tests {
			w.allow.edit(policy.Rule{})
			e := w.allow.editor
			for key, text := range tt.fill {
				if key == "effect" {
					e.effect.SetSelected(controls.EffectName(policy.Effect(text)))
					continue
				}
				e.texts[key].SetText(text)
			}
			test.Tap(e.save)
			said := e.says.Text
			for _, remark := range e.wrong {
				said += shownBy(remark)
			}
			switch isSaid := strings.Contains(said, tt.want); {
			case language == "en" && !isSaid:
				t.Errorf("%q: says %q, want %q", tt.fill, said, tt.want)
			case language != "en" && (isSaid || strings.Contains(said, "want") || said == ""):
				t.Errorf("%q: says %q in Chinese", tt.fill, said)
			}
		}
	}
}

// An error of a field is shown once the user has left it, until it is corrected.
func TestAFieldComplainsOnceItWasLeft(t *testing.T) {
	w, _ := few(t)
	w.tabs.selectIndex(onAllow)
	w.allow.edit(policy.Rule{})
	e := w.allow.editor
	for key, r := range e.wrong {
		if shownBy(r) != "" {
			t.Errorf("a new rule starts with a complaint at %s: %q", key, shownBy(r))
		}
	}
	if e.says.Importance == widget.DangerImportance {
		t.Errorf("a new rule starts with %q", e.says.Text)
	}
	if want := "Choose what the rule applies to."; e.says.Text != want {
		t.Errorf("a new rule says %q, want %q", e.says.Text, want)
	}
	w.Win.Canvas().Focus(e.texts["path"])
	e.texts["path"].SetText("~/src/[")
	if want := "Files: \"~/src/[\" is no pattern"; !strings.HasPrefix(e.says.Text, want) {
		t.Errorf("the foot says %q, want %q", e.says.Text, want)
	}
	if shownBy(e.wrong["path"]) != "" {
		t.Error("it complains while the user types")
	}
	w.Win.Canvas().Focus(e.texts["host"])
	if shownBy(e.wrong["path"]) == "" {
		t.Error("it does not complain after the field was left")
	}
	e.texts["path"].SetText("~/src/*")
	if shownBy(e.wrong["path"]) != "" {
		t.Errorf("it complains about what was mended: %q", shownBy(e.wrong["path"]))
	}
}

// Missing paths of a rule are pointed out once.
func TestARuleForNothingIsSavedAnyway(t *testing.T) {
	there := t.TempDir()
	missing := filepath.Join(there, "shpo")
	for name, tt := range map[string]struct{ key, text, at string }{
		"a folder of files":        {"path", missing + "/**", "path"},
		"a folder to work in":      {"cwd", filepath.Join(missing, "x"), "cwd"},
		"a program":                {"program", missing + "/nod", "program"},
		"files in a folder":        {"path", there + "/*.go", ""},
		"a new file":               {"path", filepath.Join(there, ".env"), ""},
		"files anywhere":           {"path", "**/.env", ""},
		"folders that begin alike": {"cwd", there + "/sh*", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, o := few(t)
			w.tabs.selectIndex(onAllow)
			w.allow.edit(policy.Rule{})
			e := w.allow.editor
			e.texts["id"].SetText("x")
			e.texts[tt.key].SetText(tt.text)
			test.Tap(e.save)
			if tt.at != "" {
				if said := shownBy(e.wrong[tt.at]); !strings.Contains(said, "doesn't exist") {
					t.Errorf("says %q", said)
				}
				o.isAs(t, fewRules())
				test.Tap(buttonIn(t, e.content, "Save anyway"))
			}
			o.rule(t, "x")
		})
	}
}

func TestEditingKeepsThePlace(t *testing.T) {
	w, o := few(t)
	o.state.Config.Policy.Rules = append(o.rules(), policy.Rule{ID: "second", Effect: policy.Ask, Tool: "T"})
	w.tabs.selectIndex(onAllow)
	w.allow.edit(w.state.Config.Policy.Rules[0])
	w.allow.editor.texts["note"].SetText("ask Grace first")
	o.meanwhile = func() { o.state.Config.Policy.Rules[0].Disabled = true }
	test.Tap(w.allow.editor.save)
	if got := o.rules(); len(got) != 2 || got[0].ID != "no-prod" || got[0].Note != "ask Grace first" || !got[0].Disabled {
		t.Errorf("rules %+v", got)
	}
}

func TestARuleIsSwitchedOffAndRemoved(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onAllow)
	test.Tap(checkIn(t, w.allow.rules.body))
	if !o.rule(t, "no-prod").Disabled {
		t.Error("it is on")
	}
	o.refuse = errors.New("disk on fire")
	test.Tap(checkIn(t, w.allow.rules.body))
	if checkIn(t, w.allow.rules.body).Checked {
		t.Error("what could not be saved is shown as saved")
	}
	o.refuse = nil
	test.Tap(buttonsIn(w.allow.rules.body, "")[1]) // behind the pencil
	if len(o.rules()) != 0 {
		t.Errorf("rules %+v", o.rules())
	}
}

// A broken file is shown and cannot be edited over.
func TestABrokenFile(t *testing.T) {
	o := somebody()
	o.state.Config.Policy = policy.Policy{}
	o.state.Problem = `config.yaml:2: "alow" is no effect`
	w := openWindow(t, o, "light")
	if !strings.Contains(test.RenderToMarkup(w.Win.Canvas()), "alow") {
		t.Error("the mistake is not shown")
	}
	w.tabs.selectIndex(onAllow)
	if !w.allow.classes[policy.Write].check.Disabled() || !w.allow.rules.add.Disabled() {
		t.Error("a switch works")
	}
	w.allow.edit(policy.Rule{})
	w.allow.refresh(w.state)
	w.allow.editor.texts["tool"].SetText("Bash")
	if !w.allow.editor.save.Disabled() {
		t.Error("a rule can be saved")
	}
	w.tabs.selectIndex(onSuggestions)
	if !buttonIn(t, w.suggestions.body, "Add").Disabled() {
		t.Error("a suggestion can be added")
	}
	o.state.Problem = ""
	w.Fetch()
	if w.Banner.Content.Visible() || buttonIn(t, w.suggestions.body, "Add").Disabled() {
		t.Error("it stays broken after it was mended")
	}
}

func TestGeneralIsCheckedAndSaved(t *testing.T) {
	w, o := few(t)
	e := w.general.timeout
	e.SetText("soon")
	e.commit()
	if shownBy(e.Problem) == "" {
		t.Error("nothing is said")
	}
	o.isAs(t, fewRules())
	o.refuse = errors.New("disk on fire")
	e.SetText("2m")
	e.commit()
	if e.Text != "2m" && e.Text != "2 minutes" || shownBy(e.Problem) != "disk on fire" {
		t.Errorf("shows %q, says %q", e.Text, shownBy(e.Problem))
	}
	o.refuse = nil
	e.commit() // once more
	if got := o.config().Prompt.Timeout; got.Minutes() != 2 {
		t.Errorf("saved %v", got)
	}
	for typed, want := range map[string]float64{
		"5 minutes": 5, "1 minute": 1, "1 Hour 30 min": 90, "120 seconds": 2, "10 分钟": 10, "1h30m": 90,
	} {
		e.SetText(typed)
		e.commit()
		if got := o.config().Prompt.Timeout.Minutes(); got != want || shownBy(e.Problem) != "" {
			t.Errorf("%q: %v minutes, want %v; says %q", typed, got, want, shownBy(e.Problem))
		}
	}
}

// What was refused is gone when the window is opened again, and what is saved is shown.
func TestReopeningShowsWhatIsSaved(t *testing.T) {
	w, o := few(t)
	for _, tt := range []struct {
		page        int
		entry       *controls.TextField
		problem     *controls.Remark
		typed, want string
	}{
		{onGeneral, &w.general.timeout.TextField, w.general.timeout.Problem, "abc", "5 minutes"},
		{onMachines, w.machines.lines.entry, w.machines.lines.problem, "-o x", ""},
		{onMachines, w.machines.lines.entry, w.machines.lines.problem, "", ""},
	} {
		w.tabs.selectIndex(tt.page)
		w.Win.Canvas().Focus(tt.entry.Self.(fyne.Focusable))
		tt.entry.SetText(tt.typed)
		if tt.entry.OnSubmitted(tt.typed); tt.typed != tt.want && shownBy(tt.problem) == "" {
			t.Errorf("nothing is said about %q", tt.typed)
		}
		w.Show(false)
		if tt.entry.Text != tt.typed {
			t.Errorf("what the user types is lost while the window is open: %q", tt.entry.Text)
		}
		w.close()
		w.Show(false)
		if tt.entry.Text != tt.want || shownBy(tt.problem) != "" {
			t.Errorf("%q: shows %q, says %q", tt.typed, tt.entry.Text, shownBy(tt.problem))
		}
	}
	o.isAs(t, fewRules())
}

// A class that does more than read passes only once the user has confirmed that.
func TestSwitchingProtectionOffIsConfirmed(t *testing.T) {
	for _, class := range policy.Classes {
		if class == policy.ReadOnly {
			continue
		}
		w, o := few(t)
		w.tabs.selectIndex(onAllow)
		check := w.allow.classes[class].check
		for _, tt := range []struct {
			button string
			want   bool
		}{{"Cancel", false}, {"Stop asking", true}} {
			test.Tap(check)
			w.answer(tt.button)
			if got := slices.Contains(o.config().Policy.AutoAllow, class); got != tt.want || check.Checked != tt.want {
				t.Errorf("%s, %s: saved %v, shown %v", class, tt.button, got, check.Checked)
			}
		}
	}
}

// A setting that needs a restart says so.
func TestARestartIsAskedFor(t *testing.T) {
	w, o := few(t)
	if w.general.restart.Content.Visible() {
		t.Error("asked for at once")
	}
	o.state.Restart = true
	test.Tap(w.general.onTop.check)
	if !w.general.restart.Content.Visible() {
		t.Error("not asked for")
	}
}

// A rule is shown in its editor, a saved approval in the list; a removed one is reported as such.
func TestARuleIsShown(t *testing.T) {
	w := openWindow(t, somebody(), "light")
	w.ShowRule("no-push")
	if w.tabs.selected != onAllow || w.allow.editor == nil || w.allow.editor.was != "no-push" {
		t.Errorf("on page %d, editing %v", w.tabs.selected, w.allow.editor)
	}
	w.ShowRule("3")
	if w.tabs.selected != onAnswers {
		t.Errorf("on page %d for a saved approval", w.tabs.selected)
	}
	w.ShowRule("gone")
	if markup := test.RenderObjectToMarkup(w.Banner.Content); !strings.Contains(markup, "gone is no longer there") {
		t.Errorf("says %s", markup)
	}
}
