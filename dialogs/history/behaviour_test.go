package history

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/controls"
	"nod/dialogs/dialogstest"
	"nod/interact"
	"nod/interact/history"
	"nod/ipc/operator"
	"nod/policy"
	"nod/sandbox/snapshot"
)

// live is [dialogstest.Live] for this window.
func live(t *testing.T, o *fakeOperator, f func(w *Window, ui func(func()))) {
	dialogstest.Live(t, func(t *testing.T) *Window { return newTestWindow(t, o, "light") }, f)
}

// tap presses the first visible button under o with that text.
func tap(t *testing.T, o fyne.CanvasObject, text string) {
	t.Helper()
	var found *controls.Button
	dialogstest.Walk(o, func(o fyne.CanvasObject) {
		if b, ok := o.(*controls.Button); ok && found == nil && strings.Contains(b.Text, text) {
			found = b
		}
	})
	if found == nil || found.Disabled() {
		t.Fatalf("no button says %q, or it is off: %v", text, found)
	}
	test.Tap(found)
}

// says reports whether o contains text.
func says(o fyne.CanvasObject, text string) bool {
	return strings.Contains(test.RenderObjectToMarkup(o), text)
}

// press sends a key to the focused widget, else to the window.
func (w *Window) press(names ...fyne.KeyName) {
	for _, name := range names {
		if focused, ok := w.Win.Canvas().Focused().(desktop.Keyable); ok {
			focused.KeyDown(&fyne.KeyEvent{Name: name})
		}
		w.repeat(name)
	}
}

// repeat is what a key that is held down does.
func (w *Window) repeat(name fyne.KeyName) {
	key := &fyne.KeyEvent{Name: name}
	if focused := w.Win.Canvas().Focused(); focused != nil {
		focused.TypedKey(key)
		return
	}
	w.Win.Canvas().OnTypedKey()(key)
}

// What is found for older words never takes the place of what is found for newer ones, whichever comes first, and
// nobody goes on looking for it.
func TestSearchAsYouType(t *testing.T) {
	o := somebody()
	live(t, o, func(w *Window, ui func(func())) {
		ui(func() { w.Show(history.Query{}) })
		o.stop("g")
		o.stop("gi")
		for _, text := range []string{"g", "gi", "git p"} {
			ui(func() { w.entries.search.SetText(text) })
		}
		if rows := len(w.entries.list.rows); rows != 2 { // a heading, and the one that was pushed
			t.Errorf("%d rows", rows)
		}
		if !slices.Equal(o.ended, []string{"g", "gi"}) {
			t.Errorf("given up: %q", o.ended)
		}
		o.stop("slow")
		ui(func() { w.entries.search.SetText("slow") })
		if len(w.entries.list.rows) != 2 || says(w.entries.content, "Searching…") {
			t.Error("what was found went before there was anything else")
		}
		ui(w.close)
		if !slices.Contains(o.ended, "slow") {
			t.Error("it goes on looking for a window that is closed")
		}
	})
}

// What is settled meanwhile comes into view at once, but never moves what the user looks at.
func TestTheListFollows(t *testing.T) {
	o := &fakeOperator{count: 1000}
	live(t, o, func(w *Window, ui func(func())) {
		var l *entryList
		wants := func(newest, chosen int64) {
			t.Helper()
			first, row := l.rows[1], l.rows[l.selected()]
			if first.line.Seq != newest || l.chosen != chosen || row.line.Seq != chosen {
				t.Errorf("the first entry is %d, chosen is %d, selected is %d", first.line.Seq, l.chosen, row.line.Seq)
			}
		}
		settle := func() {
			o.count++
			w.Added()
			synctest.Wait()
		}
		ui(func() {
			w.Show(history.Query{})
			w.Win.Resize(fyne.NewSize(900, 600))
			l = w.entries.list
		})
		ui(func() { l.Select(3) })
		wants(1000, 999)
		settle()
		wants(1001, 999)

		ui(func() { l.ScrollToOffset(500) })
		settle()
		settle()
		time.Sleep(10 * renewDelay)
		ui(func() {})
		if wants(1001, 999); l.GetScrollOffset() != 500 {
			t.Errorf("scrolled to %v", l.GetScrollOffset())
		}
		asked := len(o.queries)
		ui(l.ScrollToTop)
		time.Sleep(renewDelay)
		ui(func() {})
		if wants(1003, 999); len(o.queries) != asked+1 || l.GetScrollOffset() != 0 {
			t.Errorf("asked %d times, scrolled to %v", len(o.queries)-asked, l.GetScrollOffset())
		}

		ui(w.close)
		settle()
		time.Sleep(10 * renewDelay)
		ui(func() {})
		if len(o.queries) != asked+1 {
			t.Error("a window that is closed asks for more")
		}
	})
}

// What the user scrolls to while new entries are on their way stays in view.
func TestScrollingWhileTheListFollows(t *testing.T) {
	o := &fakeOperator{count: 1000}
	w := openTestWindow(t, o, "light")
	l := w.entries.list
	var late []func()
	l.next.Aside = func(f func()) { late = append(late, f) }
	w.After = func(_ time.Duration, f func()) { late = append(late, f) }
	step := func() { // to the next look at the list
		now := late
		late = nil
		for _, f := range now {
			f()
		}
	}
	o.count++
	w.Added()
	l.ScrollToOffset(500)
	step()
	if got := l.GetScrollOffset(); got != 500 || l.rows[1].line.Seq != 1000 {
		t.Errorf("scrolled to %v, the first entry is %d", got, l.rows[1].line.Seq)
	}
	l.ScrollToTop()
	step()
	if step(); l.rows[1].line.Seq != 1001 {
		t.Errorf("back at the top, the first entry is %d", l.rows[1].line.Seq)
	}
}

// The window reacts while the operator does not answer.
func TestNothingWaitsForTheOperator(t *testing.T) {
	o := somebody()
	live(t, o, func(w *Window, ui func(func())) {
		o.stop("")
		ui(func() { w.Show(history.Query{}) })
		time.Sleep(searchDelay)
		ui(func() {})
		if !w.Visible() || !says(w.entries.content, "Searching…") {
			t.Error("nobody says that it searches")
		}
		ui(w.close)
	})
}

func TestAMillionEntries(t *testing.T) {
	o := &fakeOperator{count: 1_000_000}
	w := openTestWindow(t, o, "light")
	l := w.entries.list
	for len(l.rows) < 20*history.PageSize {
		was := len(l.rows)
		l.ScrollTo(was - 1)
		if len(l.rows) == was {
			t.Fatalf("nothing follows row %d", was)
		}
	}
	seen, last := 0, int64(1_000_001)
	for _, r := range l.rows {
		if !r.heading {
			seen, last = seen+1, r.line.Seq
		}
	}
	if seen%history.PageSize != 0 || l.end > last {
		t.Errorf("%d entries, the last is %d", seen, last)
	}
}

func TestGroups(t *testing.T) {
	line := func(seq int64, hours int, session string) history.Line {
		return history.Line{Seq: seq, Agent: "a", Session: session, Settled: testNow.Add(-time.Duration(hours) * time.Hour)}
	}
	lines := []history.Line{line(9, 0, "x"), line(8, 1, "y"), line(7, 2, "x"), line(6, 20, "x"), line(5, 21, "y")}
	outline := func(rows []row) string {
		var b strings.Builder
		for _, r := range rows {
			switch {
			case r.day:
				b.WriteString(" | " + r.line.Session + ":")
			case r.heading:
				b.WriteString(" " + r.line.Session + ":")
			default:
				fmt.Fprint(&b, r.line.Seq)
			}
		}
		return b.String()
	}
	var l entryList
	l.add(lines)
	first := len(l.rows)
	if got := outline(l.rows); got != " | x:97 y:8 | x:6 y:5" {
		t.Errorf("rows%s", got)
	}
	l.add([]history.Line{line(4, 22, "y"), line(3, 23, "x")})
	if got := outline(l.rows[first:]); got != "4 x:3" {
		t.Errorf("the next page goes on with%s", got)
	}
}

// A requester that names no agent is named by its program, as in its prompt, and each program has a heading.
func TestProgramsAreNamed(t *testing.T) {
	o := somebody()
	for i, exe := range []string{"/usr/bin/python3.11", "/usr/bin/make", ""} {
		who := interact.Requester{CWD: "/src/shop", Process: api.Process{PID: 7, Exe: exe}}
		o.entries = append([]history.Entry{entryOf(int64(100+i), 0, who, bash("ls"), interact.Answer{})}, o.entries...)
	}
	w := openTestWindow(t, o, "light")
	for i, want := range []string{"Unknown program · shop", "The program make · shop", "The program python3.11 · shop"} {
		if r := w.entries.list.rows[2*i]; !r.heading || sessionName(r.line) != want {
			t.Errorf("the heading says %q, want %q", sessionName(r.line), want)
		}
	}
}

func TestFilters(t *testing.T) {
	o := somebody()
	w := openTestWindow(t, o, "light")
	e := w.entries
	e.choices[0].SetSelected("Codex")
	e.choices[3].SetSelected("Denied by rule")
	e.times.SetSelected("Today")
	want := history.Query{Agent: "codex", Outcome: api.Denied, By: api.ByPolicy, Since: startOfDay(testNow)}
	if got := o.asked(); got != want || len(e.list.rows) != 2 {
		t.Errorf("asked %+v, found %d rows", got, len(e.list.rows))
	}
	e.open(12)
	e.search.SetText("make")
	if !says(e.content, "Nothing found.") || !says(e.content, "Select an entry.") || e.detail.actions.content.Visible() {
		t.Error("nobody says that nothing was found, or an entry can still be decided about")
	}
	w.entries.set(history.Query{Rule: "tests", Session: "a1"})
	if len(e.list.rows) != 2 || e.search.Text != "" || e.choices[0].Selected != "Any agent" {
		t.Errorf("%d rows, searching %q of %q", len(e.list.rows), e.search.Text, e.choices[0].Selected)
	}
	for _, chip := range []string{"Session a1", "Decided by tests"} {
		tap(t, e.chips, chip)
	}
	if got := o.asked(); got != (history.Query{}) || e.chips.Visible() {
		t.Errorf("asked %+v", got)
	}
	e.times.SetSelected("Last hour")
	e.asked.SetChecked(true)
	if got := o.asked(); got != (history.Query{Asked: true, Since: testNow.Add(-time.Hour)}) {
		t.Errorf("asked %+v", got)
	}
}

// TestReturnWhileSearching leads to what the search finds, not to what the list shows before.
func TestReturnWhileSearching(t *testing.T) {
	w := openTestWindow(t, somebody(), "light")
	l := w.entries.list
	var fetches []func()
	l.next.Aside = func(f func()) { fetches = append(fetches, f) }
	w.entries.search.SetText("install.sh")
	w.press(fyne.KeyReturn)
	if l.chosen != 0 || w.Win.Canvas().Focused() == l {
		t.Fatalf("Return selects entry %d, which the search does not find", l.chosen)
	}
	for len(fetches) > 0 {
		next := fetches[0]
		fetches = fetches[1:]
		next()
	}
	if l.chosen != 7 || w.Win.Canvas().Focused() != l {
		t.Errorf("Return does not lead to what the search has found, but to entry %d", l.chosen)
	}
}

// What went wrong stays on screen, also when it came faster than the word that nod is searching.
func TestAnErrorStays(t *testing.T) {
	o := somebody()
	w := openTestWindow(t, o, "light")
	var late []func()
	w.After = func(_ time.Duration, f func()) { late = append(late, f) }
	w.entries.list.next.Aside = func(f func()) { late = append([]func(){f}, late...) }
	o.err = errors.New("disk full")
	w.entries.search.SetText("make")
	for _, f := range late {
		f()
	}
	if !says(w.entries.status.Content, "disk full") || w.entries.empty.Text != "" {
		t.Errorf("it is not said what went wrong, but %q", w.entries.empty.Text)
	}
}

func TestKeys(t *testing.T) {
	o := somebody()
	w := openTestWindow(t, o, "light")
	l := w.entries.list
	at := func(want int64) {
		t.Helper()
		if l.chosen != want || w.entries.detail.entry.Seq != want {
			t.Errorf("on entry %d, shown is %d, want %d", l.chosen, w.entries.detail.entry.Seq, want)
		}
	}
	w.press(fyne.KeyReturn)
	if w.Win.Canvas().Focused() != l {
		t.Fatal("Return does not lead to what was found")
	}
	at(12)
	w.press(fyne.KeyDown, fyne.KeyDown, fyne.KeyDown, fyne.KeyDown)
	at(9) // over a heading
	w.press(fyne.KeyUp)
	at(8)
	w.press(fyne.KeyEnd)
	at(3)
	w.press(fyne.KeyHome)
	at(12)
	w.press(fyne.KeyPageDown)
	if l.chosen >= 10 {
		t.Errorf("a page down is entry %d", l.chosen)
	}
	w.press(fyne.KeyPageUp)
	at(12)
	w.Shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault})
	if w.Win.Canvas().Focused() != w.entries.search {
		t.Error("the search has not the focus")
	}
	test.Type(w.entries.search, "make")
	w.seek()
	test.Type(w.entries.search, "git") // in place of it
	if w.entries.search.Text != "git" {
		t.Errorf("searching %q", w.entries.search.Text)
	}
	w.press(fyne.KeyEscape)
	if w.entries.search.Text != "" || !w.Visible() {
		t.Errorf("after Escape: searching %q", w.entries.search.Text)
	}
	w.press(fyne.KeyEscape)
	if w.Visible() {
		t.Error("it stays open")
	}
}

func TestWindowFitsASmallScreen(t *testing.T) {
	w := openTestWindow(t, somebody(), "light")
	w.entries.open(10)
	if m := w.Win.Content().MinSize(); m.Width > 890 || m.Height > 560 {
		t.Errorf("it needs %v", m)
	}
}

// Tab stops only at widgets that show the focus and pass Escape on.
func TestTabOrder(t *testing.T) {
	w := openTestWindow(t, somebody(), "light")
	w.entries.open(11)
	w.layOut()
	first, stops := w.Win.Canvas().Focused(), 0
	for next := fyne.Focusable(nil); next != first; stops++ {
		w.Win.Canvas().(interface{ FocusNext() }).FocusNext()
		next = w.Win.Canvas().Focused()
		if kind := fmt.Sprintf("%T", next); strings.HasPrefix(kind, "*widget.") {
			t.Errorf("stop %d is a %s", stops, kind)
		}
	}
	if stops != 15 {
		t.Errorf("%d stops", stops)
	}
}

// The texts of the buttons below an entry fit the narrowest window.
func TestTheNarrowestWindow(t *testing.T) {
	w := openTestWindow(t, somebody(), "light")
	w.entries.open(10)
	w.Win.Resize(w.Win.Content().MinSize().AddWidthHeight(2*theme.Padding(), 2*theme.Padding()))
	for _, b := range w.entries.detail.actions.buttons {
		if got, needs := b.Size().Width, b.MinSize().Width; got < needs {
			t.Errorf("%q has %v of %v", b.Text, got, needs)
		}
	}
}

// Random keys, taps and news leave the window as it should be: with a focus that is in view, and with the
// detail of what is chosen.
func TestMonkey(t *testing.T) {
	keys := []fyne.KeyName{
		fyne.KeyUp, fyne.KeyDown, fyne.KeyPageUp, fyne.KeyPageDown, fyne.KeyHome, fyne.KeyEnd, fyne.KeyReturn, fyne.KeySpace,
		fyne.KeyEscape, fyne.KeyF5, fyne.KeyBackspace, fyne.KeyLeft, fyne.KeyRight,
	}
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			o := somebody()
			w := openTestWindow(t, o, "light")
			var did []string
			for range 150 {
				did = append(did, w.monkey(o, random, keys))
				if !w.Visible() {
					w.Show(history.Query{})
				}
				if problem := w.problem(); problem != "" {
					t.Fatalf("%s after %q", problem, did)
				}
			}
		})
	}
}

// monkey performs and describes one random action.
func (w *Window) monkey(o *fakeOperator, random *rand.Rand, keys []fyne.KeyName) string {
	c := w.Win.Canvas()
	switch random.IntN(6) {
	case 0:
		c.(interface{ FocusNext() }).FocusNext()
		return "Tab"
	case 1:
		c.(interface{ FocusPrevious() }).FocusPrevious()
		return "Shift+Tab"
	case 2:
		if focused := c.Focused(); focused != nil {
			focused.TypedRune(rune("git ("[random.IntN(5)]))
		}
		return "a letter"
	case 3:
		chords := []desktop.CustomShortcut{
			{KeyName: fyne.KeyW, Modifier: fyne.KeyModifierShortcutDefault},
			{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault},
		}
		chord := chords[random.IntN(len(chords))]
		w.Shortcut(&chord)
		return chord.ShortcutName()
	case 4:
		newest := o.entries[0]
		newest.Seq, newest.Session = newest.Seq+1, fmt.Sprint("a", random.IntN(3))
		o.entries = append([]history.Entry{newest}, o.entries...)
		w.Added()
		return "news"
	}
	key := keys[random.IntN(len(keys))]
	w.press(key)
	return string(key)
}

// problem says what is wrong with the window; "" for nothing.
func (w *Window) problem() string {
	l := w.entries.list
	focused, _ := w.Win.Canvas().Focused().(fyne.CanvasObject)
	switch {
	case focused != nil && !focused.Visible():
		return fmt.Sprintf("a hidden %T has the focus", focused)
	case l.chosen != 0 && w.entries.detail.entry.Seq != l.chosen:
		return fmt.Sprintf("entry %d is shown, chosen is %d", w.entries.detail.entry.Seq, l.chosen)
	case w.Win.Content().MinSize().Width > 890:
		return fmt.Sprintf("it needs %v", w.Win.Content().MinSize())
	}
	return ""
}

// Deceptive text of an agent is never drawn literally, nor used as a template.
func TestAgentsTextIsHostile(t *testing.T) {
	const evil = "a\u202e\n{{.Count}}"
	who := interact.Requester{
		Agent: evil, Session: evil, CWD: "/" + evil, Subagent: interact.Subagent{ID: evil},
		Process: api.Process{
			PID: 1, Exe: "/" + evil, CWD: "/" + evil, Parents: []api.Parent{{Name: evil, Exe: "/x"}},
		},
	}
	a := interact.Answer{Outcome: api.Denied, By: api.ByHuman, Rule: evil, Reason: evil,
		Shown: interact.Shown{Facts: []string{evil}, Diff: evil}}
	o := somebody()
	for i, body := range []interact.Body{
		call(evil, map[string]any{evil: evil}), api.Ask{Question: evil, Options: []string{evil}},
		api.Form{Title: evil, Questions: []api.Question{{ID: "q", Question: evil}}},
		api.Confirm{Message: evil}, api.Notify{Title: evil, Message: evil},
	} {
		e := entryOf(int64(100-i), 1, who, body, a)
		e.Record.Why.Reason, e.Withheld = evil, evil
		o.entries = append([]history.Entry{e}, o.entries...)
	}
	w := openTestWindow(t, o, "light")
	w.Win.Resize(fyne.NewSize(900, 2000))
	look := func() {
		t.Helper()
		if markup := test.RenderObjectToMarkup(w.Win.Content()); strings.Contains(markup, "\u202e") ||
			strings.Contains(markup, "no value") || !strings.Contains(markup, "{{.Count}}") {
			t.Errorf("it is drawn as it is")
		}
	}
	for i := range 5 {
		w.entries.open(int64(100 - i))
		look()
	}
	w.entries.set(history.Query{Session: evil, Rule: evil, Agent: evil, Project: evil, Tool: evil})
	look()
}

func TestDecideAboutACallOfThePast(t *testing.T) {
	effectOf := func(o *fakeOperator, id string) policy.Effect {
		i := slices.IndexFunc(o.rules(), func(r policy.Rule) bool { return r.ID == id })
		if i < 0 {
			return ""
		}
		return o.rules()[i].Effect
	}
	tests := []struct {
		name         string
		named        string // the rule that there is for entry 7
		entry        int64
		press        string
		says         string
		rule         string
		before, then policy.Effect
	}{
		{"deny what was allowed", "", 12, "Always deny", "This rule will be saved as",
			"deny-go-test-go-vet", "", policy.Deny},
		{"ask about what was denied", "no-pipes", 7, "Always ask", "The rule no-pipes will change to", "no-pipes",
			policy.Deny, policy.Ask},
		{"ask about what a rule denied by its name", "deny-pipes", 7, "Always ask",
			"This rule will replace deny-pipes, as ask-curl-https-example-com:", "ask-curl-https-example-com", "", policy.Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := somebody()
			if tt.entry == 7 { // as the rule is made for such a call
				o.state.Config.Policy.Rules[1].CWD, o.state.Config.Policy.Rules[1].ID = blog, tt.named
			}
			w := openTestWindow(t, o, "light")
			w.entries.open(tt.entry)
			foot := w.entries.detail.actions.content
			tap(t, foot, tt.press)
			if effectOf(o, tt.rule) != tt.before || !says(foot, tt.says) {
				t.Errorf("before it is saved: %q; %v", effectOf(o, tt.rule), says(foot, tt.says))
			}
			tap(t, foot, "Save")
			isLeft := tt.named != tt.rule && effectOf(o, tt.named) != ""
			if effectOf(o, tt.rule) != tt.then || isLeft || !says(foot, "Saved.") {
				t.Errorf("saved: %+v", o.rules())
			}
			tap(t, foot, "Close")
		})
	}
}

// A key that is held down on a button does not also press the one that then gets the focus.
func TestAHeldKeySavesNothing(t *testing.T) {
	o := somebody()
	w := openTestWindow(t, o, "light")
	w.entries.open(12)
	w.Win.Canvas().Focus(w.entries.detail.actions.buttons[2])
	before := len(o.rules())
	w.press(fyne.KeyReturn)
	w.repeat(fyne.KeyReturn)
	if len(o.rules()) != before {
		t.Error("a rule is saved that nobody has read")
	}
	if w.press(fyne.KeyReturn); len(o.rules()) != before+1 {
		t.Error("a key does not save it")
	}
}

// held is a clipboard with this text.
type held string

func (h held) Content() string { return string(h) }
func (held) SetContent(string) {}

// A field takes no text from the clipboard that would freeze the window.
func TestAPasteIsLimited(t *testing.T) {
	w := openTestWindow(t, somebody(), "light")
	for text, want := range map[string]string{"word": "word", strings.Repeat("word ", 2_000_000): ""} {
		w.entries.search.SetText("")
		w.entries.search.TypedShortcut(&fyne.ShortcutPaste{Clipboard: held(text)})
		if w.entries.search.Text != want {
			t.Errorf("%d bytes: the field has %d", len(text), len(w.entries.search.Text))
		}
	}
}

func TestWhatIsNotSaved(t *testing.T) {
	o := somebody()
	w := openTestWindow(t, o, "light")
	foot := w.entries.detail.actions.content
	w.entries.open(7)
	tap(t, foot, "Always deny")
	o.state.Config.Policy.Rules = append(o.rules(),
		policy.Rule{ID: "deny-curl-https-example-com", Effect: policy.Ask, Tool: "x"})
	tap(t, foot, "Save")
	if !says(foot, "The rules have changed") || len(o.rules()) != 4 {
		t.Errorf("a rule of that name was written over: %+v", o.rules())
	}
	tap(t, foot, "Close")
	w.entries.open(8)
	tap(t, foot, "Always allow")
	if !says(foot, "nod doesn't offer this rule") {
		t.Error("what cannot be seen may run")
	}
	w.press(fyne.KeyEscape)
	if !w.Visible() || says(foot, "nod doesn't offer this rule") {
		t.Error("Escape does not leave the card")
	}
	o.refuse = errors.New("disk on fire")
	w.entries.open(10)
	tap(t, foot, "Always deny")
	tap(t, foot, "Save")
	if !says(foot, "disk on fire") {
		t.Error("nobody says why it was not saved")
	}
	o.entries[2].Withheld = history.Secret
	w.entries.open(10)
	for _, b := range w.entries.detail.actions.buttons {
		if !b.Disabled() {
			t.Errorf("%q can be pressed without the exact input", b.Text)
		}
	}
	w.entries.open(9)
	if foot.Visible() {
		t.Error("a rule can be made for a question")
	}
}

// To be asked again about what a saved approval lets pass, that is revoked, and can be had back.
func TestASavedApprovalIsRevoked(t *testing.T) {
	o := somebody()
	w := openTestWindow(t, o, "light")
	w.entries.open(5)
	foot := w.entries.detail.actions.content
	tap(t, foot, "Always ask")
	if !says(foot, "This saved approval will be revoked:") || len(o.state.Grants) != 1 {
		t.Error("it is not said before")
	}
	tap(t, foot, "Revoke")
	w.layOut()
	if len(o.state.Grants) != 0 || !says(w.Undo.Content, "Revoked: npm test") {
		t.Errorf("%d saved approvals, the foot is %s", len(o.state.Grants), test.RenderObjectToMarkup(w.Undo.Content))
	}
	w.Undo.TakeBack()
	if len(o.state.Undos) != 0 {
		t.Error("it was not had back")
	}
}

// What became of a rule is not said below another entry.
func TestAnotherEntryIsShownMeanwhile(t *testing.T) {
	o := somebody()
	w := openTestWindow(t, o, "light")
	a := w.entries.detail.actions
	w.entries.open(10)
	test.Tap(a.buttons[2])
	var late []func()
	w.Aside = func(f func()) { late = append(late, f) }
	tap(t, a.card, "Save")
	w.entries.open(11)
	o.refuse = errors.New("disk full")
	for ; len(late) > 0; late = late[1:] {
		late[0]()
	}
	if len(a.card.Objects) > 0 || !says(w.Banner.Content, "disk full") {
		t.Error("what went wrong is said below another entry, or nowhere")
	}
}

// Only an approval has an Allow.
func TestAllowIsAboutApprovals(t *testing.T) {
	w := openTestWindow(t, somebody(), "light")
	for seq, want := range map[int64]bool{10: true, 9: false} {
		w.entries.open(seq)
		if got := says(w.entries.detail.body, "Allow enabled"); got != want {
			t.Errorf("entry %d says when Allow was enabled: %v", seq, got)
		}
	}
}

func TestDetailLinks(t *testing.T) {
	o := somebody()
	w := openTestWindow(t, o, "light")
	w.Win.Resize(fyne.NewSize(900, 1400))
	shown := ""
	w.opts.Rule = func(id string) { shown = id }
	w.entries.open(12)
	tap(t, w.entries.detail.body, "Show")
	if shown != "tests" {
		t.Errorf("led to rule %q", shown)
	}
	tap(t, w.entries.detail.body, "Whole input (JSON)")
	tap(t, w.entries.detail.body, "As shown")
	tap(t, w.entries.detail.body, "Copy everything")
	if text := w.App.Clipboard().Content(); !strings.Contains(text, `"gist": "go test ./... \u0026\u0026 go vet ./..."`) {
		t.Errorf("copied %s", text)
	}
	tap(t, w.entries.detail.body, "Its decisions")
	if o.asked().Rule != "tests" {
		t.Errorf("asked %+v", o.asked())
	}
	tap(t, w.entries.detail.body, "Everything in this session")
	if o.asked().Session != "a1" {
		t.Errorf("asked %+v", o.asked())
	}
	w.entries.open(6) // a class decided
	if says(w.entries.detail.body, "NavigateNext") {
		t.Error("the settings cannot show a class as a rule")
	}
	w.entries.open(77)
	if !says(w.entries.detail.body, "entry 77 is gone") {
		t.Error("nobody says that it is gone")
	}
}

// Who asked on another machine, and what was answered elsewhere, is said and can be looked for. Nothing that would look
// at files here is offered for it.
func TestOtherMachinesAndDevices(t *testing.T) {
	w := openTestWindow(t, somebody(), "light")
	machines, devices := w.entries.choices[4], w.entries.choices[5]
	if w.entries.elsewhere.Visible() {
		t.Error("there is something to choose from without any other machine or device")
	}
	w.opts.Operator = reaching()
	w.entries.enter()
	if !w.entries.elsewhere.Visible() {
		t.Fatal("there is nothing to choose from")
	}
	machines.SetSelected("build-1")
	if got := w.entries.list.query.Machine; got != "build-1" || len(w.entries.list.rows) != 3 { // with the heading
		t.Errorf("the query is for %q and finds %d rows", got, len(w.entries.list.rows))
	}
	devices.SetSelected("Pixel")
	if got := w.entries.list.query.Device; got != "Pixel" || len(w.entries.list.rows) != 2 {
		t.Errorf("the query is for %q and finds %d rows", got, len(w.entries.list.rows))
	}
	if r := w.entries.list.rows[0]; sessionName(r.line) != "Claude Code · shop · on build-1" {
		t.Errorf("the heading says %q", sessionName(r.line))
	}
	w.entries.open(14)
	var said []string
	dialogstest.Walk(w.entries.detail.content, func(o fyne.CanvasObject) {
		if l, ok := o.(*widget.Label); ok {
			said = append(said, l.Text)
		}
	})
	all := strings.Join(said, "\n")
	for _, want := range []string{"answered on Pixel", "reported by build-1", "/usr/bin/claude (pid 4711)"} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %q:\n%s", want, all)
		}
	}
	if strings.Contains(all, "Verified") {
		t.Error("what another machine reports counts as verified")
	}
	for _, b := range w.entries.detail.actions.buttons {
		if !b.Disabled() {
			t.Errorf("%q is offered for files of another machine", b.Text)
		}
	}
}

// What is taken back is what was shown last, and only after it was: by the keyboard, too.
func TestTakeBack(t *testing.T) {
	o := somebody()
	w := openTestWindow(t, o, "light")
	c := w.entries.detail.changes
	w.entries.open(12)
	if c.content.Visible() {
		t.Error("an entry without changes shows some")
	}
	w.entries.open(6)
	w.tap("Take back…")
	if !says(c.plan, "cart.go: it has changed since") || len(o.taken) > 0 {
		t.Errorf("what stays is not shown before anything is done: %q", o.taken)
	}
	w.press(fyne.KeyEscape)
	if len(c.plan.Objects) > 0 || !w.Visible() {
		t.Error("Escape leaves the plan")
	}
	w.tap("Take back…")
	o.plan.Digest, o.plan.Left, o.plan.Conflicts = "cd", 0, nil
	w.press(fyne.KeyReturn)
	if !slices.Equal(o.taken, []string{"ab"}) || says(c.plan, "stay as they are") || !says(c.plan, "Delete") {
		t.Errorf("the new plan is not shown: %q", o.taken)
	}
	o.left = []snapshot.Conflict{{Path: "logo.png", Why: "no\u202espace"}}
	w.press(fyne.KeyReturn)
	if !slices.Equal(o.taken, []string{"ab", "cd"}) || !says(c.plan, "logo.png: no‹U+202E›space") {
		t.Errorf("taken back: %q", o.taken)
	}
	if !says(c.content, "Taken back") || !says(c.content, "Bring back…") {
		t.Error("it cannot be brought back")
	}
	o.plan, o.left = operator.TakeBack{}, nil
	w.tap("Bring back…")
	if !says(c.plan, "Nothing to take back.") {
		t.Error("a plan that does nothing does not say so")
	}
	o.err = errors.New("git is gone")
	w.tap("Bring back…")
	if !says(c.plan, "git is gone") {
		t.Error("what went wrong is not shown")
	}
	o.err = nil
	w.entries.open(12)
	if len(o.taken) != 2 || c.content.Visible() {
		t.Error("another entry shows the changes of the last one")
	}
}

// What the user wants to see of the changes comes, whatever they press before it has.
func TestChangesThatComeLate(t *testing.T) {
	o := somebody()
	changed := o.changed[6]
	changed.Files = append(changed.Files, snapshot.Change{Path: "shop.go", Kind: snapshot.Changed, Added: 1})
	o.changed[6] = changed
	w := openTestWindow(t, o, "light")
	var late []func()
	w.Aside = func(f func()) { late = append(late, f) }
	arrive := func() {
		for ; len(late) > 0; late = late[1:] {
			late[0]()
		}
	}
	c := w.entries.detail.changes
	c.work.Aside, c.asking.Aside = w.Aside, w.Aside
	w.entries.open(6)
	w.press(fyne.KeyEscape) // clears the search
	arrive()
	for range 3 {
		w.tap("Show")
	}
	w.tap("Take back…")
	w.press(fyne.KeyEscape) // takes that back
	arrive()
	shown := 0
	dialogstest.Walk(c.content, func(o fyne.CanvasObject) {
		if _, isDiff := o.(*container.Scroll); isDiff {
			shown++
		}
	})
	if want := 3; shown != want || len(c.plan.Objects) > 0 {
		t.Errorf("%d differences are shown, want %d; plan: %v", shown, want, c.plan.Objects)
	}
}

// The tray leads to what ran in the sandbox.
func TestShowsWhatRanInTheSandbox(t *testing.T) {
	o := somebody()
	w := openTestWindow(t, o, "light")
	w.Show(history.Query{Outcome: history.Sandboxed})
	if asked := o.asked(); asked.Outcome != history.Sandboxed || w.entries.choices[3].Selected != "In the sandbox" {
		t.Errorf("asked for %+v, and it says %q", asked, w.entries.choices[3].Selected)
	}
}

// open shows an entry as a click on its row does.
func (p *entriesPage) open(seq int64) {
	p.list.chosen = seq
	p.detail.open(seq)
	p.list.mark()
}
