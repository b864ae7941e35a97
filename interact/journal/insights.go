package journal

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"

	"nod/api"
	"nod/interact/history"
)

// maxNames limits the names in results: callers choose them.
const maxNames = 200

type sum struct {
	history.Count
	machine string // that asked
	device  string // that answered
	rule    string // that has saved the prompts; empty: none has
	entries int
	settled time.Time // the last
}

// sumOf returns the counts of one entry. A notice counts as neither asked nor answered.
func sumOf(e history.Entry) sum {
	s := sum{entries: 1, settled: e.Settled, machine: e.Machine, device: e.Device, Count: history.Count{
		Day: midnight(e.Settled), Agent: e.Agent, Project: e.Project, Tool: e.Tool,
	}}
	if e.Kind == api.KindNotify {
		return s
	}
	switch {
	case e.By == api.ByHuman:
		s.Asked = 1
		s.Answered = e.Settled.Sub(e.Created)
		if shown := e.Record.Answer.Shown; !shown.At.IsZero() {
			s.Answered = shown.Decided
		}
		s.Answered = max(0, s.Answered.Truncate(time.Microsecond))
	case e.By == api.ByPolicy && e.Outcome == api.Allowed:
		s.Passed, s.rule = 1, e.Rule
	case e.Outcome == api.TimedOut, e.Outcome == api.Unavailable:
		s.Missed = 1
	}
	if e.Outcome == api.Denied {
		s.Denied = 1
	}
	return s
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Local().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.Local)
}

// sums calls begin, and then add with sums of all entries from since on. For entries without a sum in the index it
// calls add for each.
func (r *Reader) sums(ctx context.Context, since time.Time, begin func(), add func(sum)) error {
	whole := time.Time{} // when the first whole day begins
	if !since.IsZero() {
		if whole = midnight(since); whole.Before(since) {
			whole = whole.AddDate(0, 0, 1)
		}
	}
	addEntry := func(s *sqlite.Stmt) error {
		e, _ := readEntry(s)
		add(sumOf(e))
		return nil
	}
	return r.readIndexed(ctx, func(conn *sqlite.Conn, at int64) error {
		begin()
		if at > 0 {
			if err := readSums(conn, whole, add); err != nil {
				return err
			}
			if since.Before(whole) {
				part := newFilter(history.Query{Since: since, Until: whole})
				if err := part.findIndexed(conn, oldestFirst, at, addEntry); err != nil {
					return err
				}
			}
		}
		return newFilter(history.Query{Since: since}).findFresh(conn, oldestFirst, at+1, maxSeq, addEntry)
	})
}

func readSums(conn *sqlite.Conn, from time.Time, add func(sum)) error {
	day := "" // before every other
	if !from.IsZero() {
		day = from.Format(time.DateOnly)
	}
	return query(conn, `SELECT day, agent, project, tool, rule, entries, asked, passed, denied, missed, answered, settled,
		machine, device FROM idx.sums WHERE day >= ?`, func(s *sqlite.Stmt) error {
		day, err := time.ParseInLocation(time.DateOnly, s.ColumnText(0), time.Local)
		if err == nil {
			add(readSum(s, day))
		}
		return err
	}, day)
}

func readSum(s *sqlite.Stmt, day time.Time) sum {
	return sum{
		Count: history.Count{
			Day: day, Agent: s.ColumnText(1), Project: s.ColumnText(2), Tool: s.ColumnText(3),
			Asked: s.ColumnInt(6), Passed: s.ColumnInt(7), Denied: s.ColumnInt(8), Missed: s.ColumnInt(9),
			Answered: time.Duration(s.ColumnInt64(10)) * time.Microsecond,
		},
		rule: s.ColumnText(4), entries: s.ColumnInt(5), settled: time.UnixMicro(s.ColumnInt64(11)),
		machine: s.ColumnText(12), device: s.ColumnText(13),
	}
}

type tally[K comparable] map[K]*sum

func (t tally[K]) add(key K, first history.Count, s sum) {
	all := t[key]
	if all == nil {
		all = &sum{Count: first}
		t[key] = all
	}
	all.entries += s.entries
	all.Asked += s.Asked
	all.Passed += s.Passed
	all.Denied += s.Denied
	all.Missed += s.Missed
	all.Answered += s.Answered
	if s.settled.After(all.settled) {
		all.settled = s.settled
	}
}

func most[K cmp.Ordered](t tally[K]) []K {
	keys := slices.SortedFunc(maps.Keys(t), func(a, b K) int {
		return cmp.Or(cmp.Compare(t[b].entries, t[a].entries), cmp.Compare(a, b))
	})
	return keys[:min(len(keys), maxNames)]
}

func (t tally[K]) counts(keys []K) []history.Count {
	var counts []history.Count
	for _, key := range keys {
		counts = append(counts, t[key].Count)
	}
	return counts
}

// Facets returns the values that entries have.
func (r *Reader) Facets(ctx context.Context) (history.Facets, error) {
	var of [5]tally[string]
	err := r.sums(ctx, time.Time{}, func() {
		for i := range of {
			of[i] = tally[string]{}
		}
	}, func(s sum) {
		for i, value := range [len(of)]string{s.Agent, s.Project, s.Tool, s.machine, s.device} {
			if value != "" {
				of[i].add(value, history.Count{}, s)
			}
		}
	})
	if err != nil {
		return history.Facets{}, fmt.Errorf("read the history's filters: %w", err)
	}
	return history.Facets{
		Agents: most(of[0]), Projects: most(of[1]), Tools: most(of[2]), Machines: most(of[3]), Devices: most(of[4]),
	}, nil
}

// Insights returns sums of the entries from since on, by local days.
func (r *Reader) Insights(ctx context.Context, since time.Time) (history.Insights, error) {
	var agents, projects, tools, rules tally[string]
	var days tally[int64]
	err := r.sums(ctx, since, func() {
		agents, projects, tools, rules = tally[string]{}, tally[string]{}, tally[string]{}, tally[string]{}
		days = tally[int64]{}
	}, func(s sum) {
		days.add(s.Day.Unix(), history.Count{Day: s.Day}, s)
		agents.add(s.Agent, history.Count{Agent: s.Agent}, s)
		projects.add(s.Project, history.Count{Project: s.Project}, s)
		if s.Tool != "" {
			tools.add(s.Tool, history.Count{Tool: s.Tool}, s)
		}
		if s.rule != "" {
			rules.add(s.rule, history.Count{}, s)
		}
	})
	if err != nil {
		return history.Insights{}, fmt.Errorf("add up the history: %w", err)
	}
	in := history.Insights{
		Days: days.counts(slices.Sorted(maps.Keys(days))), Agents: agents.counts(most(agents)),
		Projects: projects.counts(most(projects)), Tools: tools.counts(most(tools)),
	}
	for _, rule := range most(rules) {
		in.Rules = append(in.Rules, history.RuleCount{Rule: rule, Saved: rules[rule].Passed, Last: rules[rule].settled})
	}
	return in, nil
}
