//go:build linux

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"nod/api"
	"nod/interact"
)

// audit holds what three parties say against each other: the callers, the user and the journal.
type audit struct {
	stories []*story
	entries map[interact.ID][]interact.Record // of the journal: one each, when all is well
	notes   map[interact.ID][]note            // of the stand-in
	about   map[string][]interact.ID          // entries by the token of their story

	drafts   int // that came back with their prompts
	findings map[finding]int
	report   []string
}

// finding is a kind of what must not be.
type finding string

// The findings.
const (
	lost      finding = "lost"
	doubled   finding = "twice"
	undecided finding = "allowed undecided"
	disagrees finding = "disagrees"
)

// storyTokens are in all that a story asks.
var storyTokens = regexp.MustCompile(`tok[0-9]{6}`)

func newAudit(stories []*story, records []interact.Record, notes []note) *audit {
	a := &audit{
		stories: stories, entries: map[interact.ID][]interact.Record{}, notes: map[interact.ID][]note{},
		about: map[string][]interact.ID{}, findings: map[finding]int{},
	}
	for _, r := range records {
		a.entries[r.Request.ID] = append(a.entries[r.Request.ID], r)
		text, err := json.Marshal(r.Request)
		if token := storyTokens.FindString(string(text)); err == nil && token != "" {
			a.about[token] = append(a.about[token], r.Request.ID)
		}
	}
	for _, n := range notes {
		a.notes[n.ID] = append(a.notes[n.ID], n)
	}
	return a
}

// readNotes reads the notes of the stand-in.
func readNotes(path string) (notes []note, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for line := range strings.Lines(string(text)) {
		var n note
		switch err := json.NewDecoder(strings.NewReader(strings.TrimSuffix(line, "\n"))).Decode(&n); err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF: // the stand-in was killed as it wrote, and did not do what it announced
			continue
		default:
			return nil, fmt.Errorf("%s: %q: %w", path, line, err)
		}
		notes = append(notes, n)
	}
	return notes, err
}

// check holds all against all.
func (a *audit) check() {
	for id, entries := range a.entries {
		if len(entries) > 1 {
			a.find(doubled, id, "%d entries in the journal", len(entries))
		}
		for _, e := range entries {
			a.checkEntry(id, e.Answer)
		}
	}
	for id, notes := range a.notes {
		a.checkNotes(id, notes)
		a.checkDrafts(id, notes)
	}
	for _, s := range a.stories {
		a.checkStory(s)
	}
}

// checkEntry holds an outcome in the journal against what the user and the policy said.
func (a *audit) checkEntry(id interact.ID, answer interact.Answer) {
	switch {
	case answer.By == api.ByHuman:
		mark := markOf(answer)
		if !slices.ContainsFunc(a.notes[id], func(n note) bool {
			return n.What == gives && n.Mark == mark && n.Outcome == answer.Outcome
		}) {
			a.find(undecided, id, "the journal has %s by the user, mark %q, who gave no such answer", answer.Outcome, mark)
		}
	case answer.Outcome == api.Allowed && (answer.By != api.ByPolicy || answer.Rule == ""):
		a.find(undecided, id, "the journal has it allowed by %q, rule %q", answer.By, answer.Rule)
	}
}

// markOf is the mark that an answer carries. In one of the phone's it is what was written, if anything was.
func markOf(a interact.Answer) string {
	if a.Device == "" {
		return strings.Join(a.Shown.Facts, " ")
	}
	words := a.Reason + a.Text
	for _, v := range a.Values {
		words += strings.Join(v.Items, " ")
	}
	return words
}

// checkNotes holds what the user did with a request against its entry.
func (a *audit) checkNotes(id interact.ID, notes []note) {
	entry, isKept := a.entryOf(id)
	taken := slices.DeleteFunc(slices.Clone(notes), func(n note) bool { return n.What != isTaken })
	if !isKept {
		// What a relay has ended while the desk was dead is not in the desk's journal, if nobody's answer was taken.
		if !isOfRelay(id) || len(taken) > 0 {
			a.find(lost, id, "the user saw it, and the journal has no outcome")
		}
		return
	}
	if len(taken) > 1 {
		a.find(doubled, id, "%d answers were taken", len(taken))
	}
	for _, n := range taken {
		if n.Mark != markOf(entry.Answer) {
			a.find(lost, id, "the answer %s was taken; the journal has %s, mark %q", n.Mark, entry.Answer.Outcome,
				markOf(entry.Answer))
		}
	}
}

// isOfRelay reports whether a request of the journal came through a relay: the desk gives it an ID of another version.
func isOfRelay(id interact.ID) bool { return uuid.MustParse(string(id)).Version() == 8 }

// checkDrafts fails when a prompt came back without what was saved of its draft. What was typed and not yet saved when
// a process was killed may be there or not.
func (a *audit) checkDrafts(id interact.ID, notes []note) {
	typed, saved := []string{""}, 0
	for _, n := range notes {
		at := slices.Index(typed, n.Mark)
		switch n.What {
		case types:
			typed = append(typed, n.Mark)
		case isSaved:
			saved = max(saved, at)
		case isShown:
			if at < saved {
				a.find(lost, id, "the draft %s was saved; the prompt came back with %q", typed[saved], n.Mark)
			}
			a.drafts += min(at, 1)
		}
	}
}

// entryOf is what the journal says of a request, first.
func (a *audit) entryOf(id interact.ID) (interact.Record, bool) {
	if len(a.entries[id]) == 0 {
		return interact.Record{}, false
	}
	return a.entries[id][0], true
}

// checkStory holds what callers were told against the journal.
func (a *audit) checkStory(s *story) {
	var decided []interact.ID
	for _, id := range a.about[s.token] {
		if e, _ := a.entryOf(id); e.Answer.By == api.ByHuman {
			decided = append(decided, id)
		}
	}
	if len(decided) > 1 {
		a.find(doubled, decided[0], "the user decided %d requests of one story: %v", len(decided), decided)
	}
	for _, r := range s.replies {
		switch {
		case s.manner == hook:
			a.checkHook(s, r)
		case r.err != nil:
			a.checkFailure(s, r)
		case r.id != "" && r.outcome != api.Pending && s.remote:
			a.checkRemote(s, r, decided)
		case r.id != "" && r.outcome != api.Pending:
			a.checkReply(s, r, decided)
		default:
			a.find(disagrees, r.id, "%s has no end: %v", s.token, r)
		}
	}
}

// checkFailure looks at a reply that is no answer: a patient caller gets one, whatever happens.
func (a *audit) checkFailure(s *story, r reply) {
	if !s.isPatient() || isRefusal(r.err) {
		return
	}
	id := r.id
	if ids := a.about[s.token]; id == "" && len(ids) > 0 {
		id = ids[0]
	}
	a.find(lost, id, "the caller of %s got no answer: %v", s.token, r.err)
}

// checkReply holds a reply against the entry of its request.
func (a *audit) checkReply(s *story, r reply, decided []interact.ID) {
	entry, isKept := a.entryOf(r.id)
	answer := entry.Answer
	switch {
	case !isKept:
		a.find(lost, r.id, "%s was told %v; the journal has no outcome", s.token, r)
	case r.outcome != answer.Outcome || r.by != "" && r.by != answer.By:
		a.find(disagrees, r.id, "%s was told %v; the journal has %s by %s", s.token, r, answer.Outcome, answer.By)
	case s.policy != "" && answer.Outcome != api.Unavailable && // it came while nod ended
		(answer.Outcome != s.policy || answer.By != api.ByPolicy):
		a.find(disagrees, r.id, "%s is for the policy: %s; the journal has %s by %s",
			s.token, s.policy, answer.Outcome, answer.By)
	case r.by == api.ByHuman && !carries(r, s.kind, answer):
		a.find(disagrees, r.id, "%s was told %v; the journal has %+v", s.token, r, answer)
	case s.isPatient() && len(decided) > 0 && !slices.Contains(decided, r.id):
		a.find(lost, decided[0], "%s was told %v; the user had answered another request of it", s.token, r)
	}
}

// checkRemote holds a reply from a relay, whose IDs are not the desk's, against all entries of its story.
func (a *audit) checkRemote(s *story, r reply, decided []interact.ID) {
	var has []interact.Answer
	for _, id := range a.about[s.token] {
		e, _ := a.entryOf(id)
		has = append(has, e.Answer)
	}
	switch {
	case !isDecision(r.outcome):
		if s.isPatient() && len(decided) > 0 {
			a.find(lost, decided[0], "%s was told %v; the user had answered", s.token, r)
		}
	case !slices.ContainsFunc(has, func(got interact.Answer) bool {
		return r.outcome == got.Outcome && (r.by == "" || r.by == got.By) &&
			(r.by != api.ByHuman || carries(r, s.kind, got))
	}):
		a.find(lost, r.id, "%s was told %v; the journal has %+v", s.token, r, has)
	}
}

// isDecision reports whether somebody decided so, or the policy did.
func isDecision(o api.Outcome) bool {
	return slices.Contains([]api.Outcome{api.Allowed, api.Denied, api.Answered, api.Dismissed}, o)
}

// carries reports whether a reply is the answer that the journal has.
func carries(r reply, kind api.Kind, answer interact.Answer) bool {
	switch mark := markOf(answer); {
	case kind == api.KindConfirm:
		return r.value == fmt.Sprint(answer.Confirmed)
	case kind == api.KindApprove && answer.Outcome != api.Denied:
		return r.value == ""
	default:
		return r.value == mark
	}
}

// checkHook holds the reply of a hook, which names no request, against all entries of its story.
func (a *audit) checkHook(s *story, r reply) {
	var outcomes []api.Outcome
	for _, id := range a.about[s.token] {
		e, _ := a.entryOf(id)
		outcomes = append(outcomes, e.Answer.Outcome)
	}
	switch isDecided := slices.Contains(outcomes, api.Allowed) || slices.Contains(outcomes, api.Denied); {
	case r.err != nil:
		a.find(lost, "", "the hook of %s got no answer: %v", s.token, r.err)
	case r.outcome == "" && isDecided:
		a.find(lost, a.about[s.token][0], "the hook of %s got no decision; the journal has %v", s.token, outcomes)
	case r.outcome != "" && !slices.Contains(outcomes, r.outcome):
		a.find(undecided, "", "the hook of %s got %s; the journal has %v", s.token, r.outcome, outcomes)
	}
}

// find notes a finding, with the whole story of the request.
func (a *audit) find(f finding, id interact.ID, format string, args ...any) {
	a.findings[f]++
	if len(a.report) >= 20 { // more would say no more
		return
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: request %s: %s\n", f, id, fmt.Sprintf(format, args...))
	for _, s := range a.stories {
		isTold := slices.ContainsFunc(s.replies, func(r reply) bool { return r.id == id && id != "" })
		if isTold || slices.Contains(a.about[s.token], id) || strings.Contains(text.String(), s.token) {
			fmt.Fprintf(&text, "  %s %s (%s), policy %q\n", s.token, s.kind, s.manner, s.policy)
			for _, line := range s.lines {
				fmt.Fprintf(&text, "    %s\n", line)
			}
			for _, id := range a.about[s.token] {
				e, _ := a.entryOf(id)
				fmt.Fprintf(&text, "    journal: %s created %s: %+v\n", id, e.Request.Created.Format("15:04:05.000"), e.Answer)
			}
		}
	}
	for _, n := range a.notes[id] {
		fmt.Fprintf(&text, "    %s the user, process %d: %s %s %s\n",
			n.At.Format("15:04:05.000"), n.PID, n.What, n.Mark, n.Outcome)
	}
	a.report = append(a.report, text.String())
}

// summary counts what was found, and what came of the requests.
func (a *audit) summary() string {
	outcomes := map[string]int{}
	relayed, byPhone := 0, 0
	for id, entries := range a.entries {
		for _, e := range entries {
			outcomes[strings.TrimSpace(fmt.Sprintf("%s %s", e.Answer.Outcome, e.Answer.By))]++
			if isOfRelay(id) {
				relayed++
			}
			if e.Answer.Device != "" {
				byPhone++
			}
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d requests asked, %d outcomes in the journal, %d through the relay, %d by the phone:\n",
		len(a.stories), len(a.entries), relayed, byPhone)
	for _, o := range slices.Sorted(maps.Keys(outcomes)) {
		fmt.Fprintf(&text, "  %-22s %d\n", o, outcomes[o])
	}
	fmt.Fprintf(&text, "%d drafts came back; lost %d, twice %d, allowed undecided %d, disagreeing %d",
		a.drafts, a.findings[lost], a.findings[doubled], a.findings[undecided], a.findings[disagrees])
	return text.String()
}
