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

// A page keeps the user's text and choices while its request is pending, even when it is not shown. A draft is a copy
// outside of this process, from which a new page is restored.

type draft struct {
	Answers map[string]typed `json:"answers,omitempty"` // by question; "" if the question has no name
	At      string           `json:"at,omitempty"`      // the question of a form that was answered last
	Choice  *draftChoice     `json:"choice,omitempty"`  // of an approval; its reason is in Answers
}

type draftChoice struct {
	Refusing   bool         `json:"refusing,omitempty"` // the field for the reason was open
	Scope      policy.Scope `json:"scope,omitempty"`
	Cover      policy.Cover `json:"cover,omitempty"`
	Suggestion int          `json:"suggestion,omitempty"`
}

type typed struct {
	Text  string   `json:"text,omitempty"`  // also of "Other" while it is not picked
	Picks []string `json:"picks,omitempty"` // values of options
	Other bool     `json:"other,omitempty"` // "Other" is picked
}

type answerInput interface {
	typed() typed
	accepts(t typed) bool // whether a user can enter it here
	restore(t typed)      // t must be accepted
}

const draftDelay = 500 * time.Millisecond

// readDraft reads a draft. It reports false for anything that this version of nod did not write.
func readDraft(data []byte) (d draft, ok bool) {
	isSound := len(data) <= operator.MaxDraft && strict.Unmarshal(data, &d, strict.RejectUnknownMembers(true)) == nil
	return d, isSound
}

func (p *page) draft() []byte {
	d := draft{Answers: map[string]typed{}, At: p.lastAnswered}
	if a := p.approval; a != nil {
		d.Choice = &draftChoice{a.refusing, a.keep.scope, a.keep.cover, a.keep.suggestion}
	}
	for id, in := range p.inputs {
		d.Answers[id] = in.typed()
	}
	data, err := json.Marshal(d)
	if err != nil { // texts and numbers never fail
		panic(err)
	}
	return data
}

// restore fills in the draft of an earlier page of the same request, unless the draft does not fit the request.
func (p *page) restore(data []byte) {
	p.blank = p.draft()
	p.saved = p.blank
	d, ok := readDraft(data)
	if !ok || !p.accepts(d) {
		return
	}
	for id, t := range d.Answers {
		p.inputs[id].restore(t)
	}
	if d.Choice != nil {
		p.approval.choose(*d.Choice)
	}
	p.lastAnswered = d.At
	p.saved = p.draft()
}

func (p *page) accepts(d draft) bool {
	for id, t := range d.Answers {
		if in := p.inputs[id]; in == nil || !in.accepts(t) {
			return false
		}
	}
	return (d.At == "" || p.inputs[d.At] != nil) && (d.Choice == nil || p.approval != nil)
}

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

func (p *page) saveDraft() {
	prompter := p.w.p
	if prompter.queue.find(p.entry.request.ID) != p.entry {
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

func (f *field) typed() typed { return typed{Text: f.Text} }

func (f *field) accepts(t typed) bool { return len(t.Picks) == 0 && !t.Other && f.canHold(t.Text) }

func (f *field) canHold(text string) bool {
	return interact.Clip(text) == text && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\t' && (r != '\n' || f.oneLine)
	})
}

func (f *field) restore(t typed) {
	f.SetText(t.Text)
	f.atEnd = true
}

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

func (p *picker) accepts(t typed) bool {
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
	return p.last == nil || p.other.canHold(t.Text)
}

func (p *picker) restore(t typed) {
	p.preselect(t.Picks)
	if p.last != nil {
		p.last.pick(t.Other)
		p.other.restore(typed{Text: t.Text})
		SetVisible(p.other, t.Other)
	}
}

// choose restores a choice. If the rules no longer offer its scope, the scope stays "once".
func (a *approvePage) choose(c draftChoice) {
	k := keep{scope: c.Scope, cover: c.Cover, suggestion: c.Suggestion}
	if !a.isOnce() && slices.Contains(a.offered(), k) {
		a.keep = k
		a.showScope()
	}
	a.refusing = c.Refusing
	a.showRefusing()
}
