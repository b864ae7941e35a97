package dialogs

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	strict "github.com/go-json-experiment/json"

	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
)

// A page keeps what was typed into it for as long as its request is pending, in sight or not. A draft is the same
// outside of the window, so that it outlives that too: a page that is made anew takes it in.

// draft is what the person has typed and picked in a prompt, and not sent.
type draft struct {
	Answers map[string]typed `json:"answers,omitempty"` // by question; what has no name is under ""
	At      string           `json:"at,omitempty"`      // the one that was answered last, of a form
	Choice  *draftChoice     `json:"choice,omitempty"`  // of an approval, whose reason is an answer
}

// draftChoice is how the person was about to decide.
type draftChoice struct {
	Refusing   bool         `json:"refusing,omitempty"` // the reason was open
	Scope      policy.Scope `json:"scope,omitempty"`
	Cover      policy.Cover `json:"cover,omitempty"`
	Suggestion int          `json:"suggestion,omitempty"`
}

// typed is what was typed or picked to answer one question.
type typed struct {
	Text  string   `json:"text,omitempty"`  // also of an "Other" that is not picked
	Picks []string `json:"picks,omitempty"` // values of options
	Other bool     `json:"other,omitempty"` // "Other" is picked
}

// answerInput is what a question is answered with.
type answerInput interface {
	typed() typed
	takes(t typed) bool // whether a person can have typed it here
	restore(t typed)    // what it takes
}

// draftDelay is how long what is typed waits for more of it, before it is kept.
const draftDelay = 500 * time.Millisecond

// readDraft reads a draft. Only one that this nod has written is one.
func readDraft(data []byte) (d draft, ok bool) {
	isSound := len(data) <= operator.MaxDraft && strict.Unmarshal(data, &d, strict.RejectUnknownMembers(true)) == nil
	return d, isSound
}

// draft is what there is to keep of the page.
func (p *page) draft() []byte {
	d := draft{Answers: map[string]typed{}, At: p.at, Choice: p.choice()}
	for id, in := range p.inputs {
		d.Answers[id] = in.typed()
	}
	data, err := json.Marshal(d)
	if err != nil { // texts and numbers never fail
		panic(err)
	}
	return data
}

// restore takes in what was typed into an earlier page of the same request. It changes nothing about what the person
// has to do to send it. What is no draft of this request is dropped.
func (p *page) restore(data []byte) {
	p.blank = p.draft()
	p.saved = p.blank
	d, ok := readDraft(data)
	if !ok || !p.takes(d) {
		return
	}
	for id, t := range d.Answers {
		p.inputs[id].restore(t)
	}
	if d.Choice != nil {
		p.choose(*d.Choice)
	}
	p.at = d.At
	p.saved = p.draft()
}

// takes reports whether a person can have typed a draft into this page.
func (p *page) takes(d draft) bool {
	for id, t := range d.Answers {
		if in := p.inputs[id]; in == nil || !in.takes(t) {
			return false
		}
	}
	return (d.At == "" || p.inputs[d.At] != nil) && (d.Choice == nil || p.choose != nil)
}

// edited has what is typed kept soon, together with what follows at once.
func (p *page) edited() {
	if p.draftDue {
		return
	}
	p.draftDue = true
	p.w.p.after(draftDelay, func() {
		p.draftDue = false
		p.saveDraft()
	})
}

// saveDraft has what is typed kept, unless it is already, or the request is over.
func (p *page) saveDraft() {
	prompter := p.w.p
	if prompter.options.SaveDraft == nil || prompter.queue.find(p.entry.request.ID) != p.entry {
		return
	}
	d := p.draft()
	if bytes.Equal(d, p.saved) || len(d) > operator.MaxDraft {
		return
	}
	p.saved = d
	if bytes.Equal(d, p.blank) {
		d = nil
	}
	prompter.options.SaveDraft(p.entry.request.ID, d)
}

// typed implements [answerInput].
func (f *field) typed() typed { return typed{Text: f.Text} }

// takes implements [answerInput].
func (f *field) takes(t typed) bool { return len(t.Picks) == 0 && !t.Other && f.holds(t.Text) }

// holds reports whether a text can be in the field.
func (f *field) holds(text string) bool {
	return interact.Clip(text) == text && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\t' && (r != '\n' || f.oneLine)
	})
}

// restore implements [answerInput].
func (f *field) restore(t typed) {
	f.SetText(t.Text)
	f.atEnd = true
}

// typed implements [answerInput].
func (p *picker) typed() (t typed) {
	for _, c := range p.choices {
		switch {
		case c == p.last:
			t.Text, t.Other = p.other.Text, c.picked
		case c.picked:
			t.Picks = append(t.Picks, c.option.Value)
		}
	}
	return t
}

// takes implements [answerInput].
func (p *picker) takes(t typed) bool {
	for _, value := range t.Picks {
		if !slices.ContainsFunc(p.choices, func(c *choice) bool { return c != p.last && c.option.Value == value }) {
			return false
		}
	}
	picked := len(t.Picks)
	if t.Other {
		picked++
	}
	if p.last == nil && (t.Other || t.Text != "") || !p.multi && picked > 1 {
		return false
	}
	return p.last == nil || p.other.holds(t.Text)
}

// restore implements [answerInput].
func (p *picker) restore(t typed) {
	p.preselect(t.Picks)
	if p.last != nil {
		p.last.pick(t.Other)
		p.other.restore(typed{Text: t.Text})
		setVisible(p.other, t.Other)
	}
}

// draftChoice is how the person is about to decide.
func (a *approvePage) draftChoice() *draftChoice {
	return &draftChoice{a.refusing, a.keep.scope, a.keep.cover, a.keep.suggestion}
}

// choose takes that in. What can no longer be kept, because the rules have changed, is once again.
func (a *approvePage) choose(c draftChoice) {
	k := keep{scope: c.Scope, cover: c.Cover, suggestion: c.Suggestion}
	if a.page.scope != nil && slices.Contains(a.offered(), k) {
		a.keep = k
		a.showScope()
	}
	a.refusing = c.Refusing
	a.showRefusing()
}
