package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"nod/api"
	"nod/interact/history"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
	"nod/sandbox/snapshot"
)

// testNow is the time in the tests.
var testNow = time.Date(2026, 11, 20, 16, 30, 0, 0, time.UTC)

// fakeOperator is the part of a tray process that the history needs.
type fakeOperator struct {
	operator.Operator // what the history never calls panics

	entries []history.Entry // newest first
	count   int             // in place of entries: so many, made up when they are asked for
	err     error           // of every question
	refuse  error           // of every change
	changed map[int64]operator.Changed
	plan    operator.TakeBack
	left    []snapshot.Conflict // of a take-back
	taken   []string            // digests of what was taken back

	mu      sync.Mutex
	state   operator.State
	queries []history.Query
	hang    map[string]bool // questions for this text wait
	ended   []string        // texts of those that were given up
}

func (o *fakeOperator) State(context.Context) (s operator.State, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, err := json.Marshal(o.state) // a copy, made as the connection makes it
	return s, errors.Join(err, json.Unmarshal(text, &s), o.err)
}

func (o *fakeOperator) Replace(_ context.Context, base, next config.Config) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	was, _ := json.Marshal(base)
	is, _ := json.Marshal(o.state.Config)
	switch {
	case o.refuse != nil:
		return o.refuse
	case string(was) != string(is):
		return config.ErrChanged
	}
	o.state.Config = next
	return next.Validate()
}

func (o *fakeOperator) Revoke(_ context.Context, id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state.Grants = slices.DeleteFunc(o.state.Grants, func(g policy.Grant) bool { return g.ID == id })
	o.state.Undos = []operator.Undo{{ID: 1, Kind: operator.UndoRevoke, Text: "npm test", Until: testNow.AddDate(9, 0, 0)}}
	return o.refuse
}

func (o *fakeOperator) Undo(context.Context, int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state.Undos = nil
	return o.refuse
}

// stop makes searches for a text hang until they are cancelled.
func (o *fakeOperator) stop(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hang == nil {
		o.hang = map[string]bool{}
	}
	o.hang[text] = true
}

func (o *fakeOperator) History(ctx context.Context, q history.Query) (history.Page, error) {
	o.mu.Lock()
	o.queries = append(o.queries, q)
	hang := o.hang[q.Text]
	o.mu.Unlock()
	if hang {
		<-ctx.Done()
		o.mu.Lock()
		o.ended = append(o.ended, q.Text)
		o.mu.Unlock()
		return history.Page{}, ctx.Err()
	}
	if o.err != nil {
		return history.Page{}, o.err
	}
	if o.count > 0 {
		return o.madeUp(q), nil
	}
	var page history.Page
	for _, e := range o.entries {
		if q.Before != 0 && e.Seq >= q.Before || !finds(q, e) {
			continue
		}
		page.Lines = append(page.Lines, e.Line)
	}
	return page, nil
}

func finds(q history.Query, e history.Entry) bool {
	is := func(want, is string) bool { return want == "" || want == is }
	return is(q.Agent, e.Agent) && is(q.Project, e.Project) && is(q.Session, e.Session) && is(q.Tool, e.Tool) &&
		is(q.Machine, e.Machine) && is(q.Device, e.Device) &&
		is(q.Rule, e.Rule) && is(string(q.Outcome), string(e.Outcome)) && is(string(q.By), string(e.By)) &&
		(q.Since.IsZero() || !e.Settled.Before(q.Since)) && (q.Until.IsZero() || e.Settled.Before(q.Until)) &&
		strings.Contains(strings.ToLower(e.Gist), strings.ToLower(q.Text))
}

// madeUp is a page of many entries, a minute apart, in sessions of 50.
func (o *fakeOperator) madeUp(q history.Query) history.Page {
	last := o.count
	if q.Before != 0 {
		last = int(q.Before) - 1
	}
	page := history.Page{More: last > history.PageSize}
	for seq := last; seq > max(last-history.PageSize, 0); seq-- {
		page.Lines = append(page.Lines, history.Line{
			Seq: int64(seq), Kind: api.KindApprove, Agent: "codex", Session: fmt.Sprint("s", seq/50),
			Settled: testNow.Add(-time.Duration(o.count-seq) * time.Minute), Tool: "shell",
			Gist: fmt.Sprint("make ", seq), Outcome: api.Allowed, By: api.ByPolicy,
		})
	}
	return page
}

func (o *fakeOperator) Entry(_ context.Context, seq int64) (history.Entry, error) {
	i := slices.IndexFunc(o.entries, func(e history.Entry) bool { return e.Seq == seq })
	if i < 0 {
		return history.Entry{}, errors.Join(o.err, fmt.Errorf("entry %d is gone", seq))
	}
	return o.entries[i], o.err
}

func (o *fakeOperator) Changed(_ context.Context, seq int64) (operator.Changed, error) {
	return o.changed[seq], o.err
}

const someDiff = `diff --git a/cart.go b/cart.go
index 1..2 100644
--- a/cart.go
+++ b/cart.go
@@ -1,4 +1,4 @@
 package cart
 
-func Total() int { return 0 }
+func Total() int { return sum(items) }
 // the end
`

func (o *fakeOperator) Diff(context.Context, int64, string) (operator.Diff, error) {
	return operator.Diff{Text: []byte(someDiff), Cut: true}, o.err
}

func (o *fakeOperator) PlanTakeBack(context.Context, int64) (operator.TakeBack, error) {
	return o.plan, o.err
}

func (o *fakeOperator) TakeBack(_ context.Context, seq int64, digest string) ([]snapshot.Conflict, error) {
	o.taken = append(o.taken, digest)
	if digest != o.plan.Digest {
		return nil, operator.ErrChanged
	}
	if o.refuse == nil {
		c := o.changed[seq]
		c.Run.Undoes = c.Run.Number
		o.changed[seq] = c
	}
	return o.left, o.refuse
}

func (o *fakeOperator) Facets(context.Context) (f history.Facets, err error) {
	for _, e := range o.entries {
		for list, value := range map[*[]string]string{&f.Agents: e.Agent, &f.Projects: e.Project, &f.Tools: e.Tool,
			&f.Machines: e.Machine, &f.Devices: e.Device} {
			if value != "" && !slices.Contains(*list, value) {
				*list = append(*list, value)
			}
		}
	}
	return f, o.err
}

// rules are the current rules.
func (o *fakeOperator) rules() []policy.Rule {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.state.Config.Policy.Rules
}

// asked is the last query.
func (o *fakeOperator) asked() history.Query {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queries[len(o.queries)-1]
}
