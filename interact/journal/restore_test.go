package journal_test

import (
	"slices"
	"testing"

	"nod/api"
	"nod/interact"
	"nod/interact/journal"
	"nod/policy/config"
)

// restored are the ids of what a journal gives to the next process.
func restored(t *testing.T, j *journal.Journal, settled int) (open, last []interact.ID) {
	t.Helper()
	waiting, known, err := j.Restore(t.Context(), settled)
	must(t, err)
	for _, r := range waiting {
		open = append(open, r.Request.ID)
	}
	for _, r := range known {
		last = append(last, r.Request.ID)
	}
	return open, last
}

func ids(from, to int) (all []interact.ID) {
	for n := from; n < to; n++ {
		all = append(all, approval(n).Request.ID)
	}
	return all
}

func TestRestoreLeavesOutWhatCannotBeAskedAgain(t *testing.T) {
	const second = " WHERE id LIKE '%2'"
	for name, change := range map[string]string{
		"no JSON":            "x'ff'",
		"no request":         "x'7b7d'",
		"of an unknown kind": `cast(replace(record, '"approve"', '"x"') AS BLOB)`,
		"of another":         "(SELECT record FROM pending WHERE id LIKE '%1')",
		"with an answer":     `cast('{"answer":{"outcome":"allowed"},' || substr(record, 2) AS BLOB)`,
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			j := healthy(t, path)
			must(t, j.Settle(t.Context(), settled(approval(0), api.Allowed)))
			for n := 1; n < 4; n++ {
				must(t, j.Open(t.Context(), approval(n)))
			}
			must(t, j.Close())
			tamper(t, path, "UPDATE pending SET record = "+change+second)
			open, last := restored(t, healthy(t, path), 10)
			same(t, open, slices.Concat(ids(1, 2), ids(3, 4)))
			same(t, last, ids(0, 1))
		})
	}
}

// An answer that was changed, or has another before it than it had, is none.
func TestRestoreTakesOnlyWhatTheChainHolds(t *testing.T) {
	const allow = "UPDATE entries SET head = cast(replace(head, 'denied', 'allowed') AS BLOB) WHERE seq = "
	for name, c := range map[string]struct {
		script string
		first  int // of the answers that count
	}{
		"untouched":             {"", 2},
		"head changed":          {allow + "6", 6},
		"head and hash changed": {"UPDATE entries SET head = x'7b7d', hash = randomblob(32) WHERE seq = 6", 7},
		"body changed": {
			"UPDATE entries SET body = cast(replace(body, 'build', 'other') AS BLOB) WHERE seq = 6", 6,
		},
		"hash of no length":     {"UPDATE entries SET hash = x'' WHERE seq = 6", 6},
		"one missing":           {"DELETE FROM entries WHERE seq = 6", 7},
		"the last changed":      {allow + "10", 10},
		"what is older changed": {allow + "1", 2},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			j := healthy(t, path)
			for n := range 10 { // the first entry is number 1
				must(t, j.Settle(t.Context(), settled(approval(n), api.Denied)))
			}
			must(t, j.Open(t.Context(), approval(10)))
			must(t, j.Close())
			tamper(t, path, c.script)
			open, last := restored(t, healthy(t, path), 8)
			same(t, open, ids(10, 11))
			same(t, last, ids(c.first, 10))
		})
	}
}

// What the user said is delivered word for word or not at all.
func TestRestoreTakesNoAnswerThatIsNotKept(t *testing.T) {
	secret := "ghp_" + "k3J8dQz1XvB6nM0pLs7RtYw2HcFa9GeUiO4q" // in parts: no scanner finds it
	ask, form := api.Ask{Question: "which?"}, api.Form{}
	value := func(s string) interact.Answer {
		return interact.Answer{Values: map[string]api.Value{"q": interact.TextValue(s)}}
	}
	for name, c := range map[string]struct {
		body       interact.Body
		answer     interact.Answer
		keepInputs bool
		want       bool
	}{
		"text":                   {ask, interact.Answer{Text: "blue"}, true, true},
		"secret question":        {api.Ask{Question: "is it " + secret + "?"}, interact.Answer{Text: "yes"}, true, true},
		"secret text":            {ask, interact.Answer{Text: secret}, true, false},
		"text that is not kept":  {ask, interact.Answer{Text: "blue"}, false, false},
		"value":                  {form, value("x"), true, true},
		"secret value":           {form, value(secret), true, false},
		"value that is not kept": {form, value("x"), false, false},
		"confirmed, not kept":    {api.Confirm{Message: "sure?"}, interact.Answer{Confirmed: true}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			kept := config.Default().History
			kept.KeepInputs = c.keepInputs
			j := open(t, file(t), journal.Options{Config: func() config.History { return kept }})
			r := settled(approval(0), api.Answered)
			r.Request.Body, r.Answer.Text = c.body, c.answer.Text
			r.Answer.Values, r.Answer.Confirmed = c.answer.Values, c.answer.Confirmed
			must(t, j.Settle(t.Context(), r))
			_, last, err := j.Restore(t.Context(), 10)
			must(t, err)
			if len(last) != 1 {
				t.Fatalf("%d records", len(last))
			}
			want := interact.Answer{Outcome: api.Cancelled}
			if c.want {
				want = c.answer
				want.Outcome = api.Answered
			}
			got := last[0].Answer
			same(t, interact.Answer{
				Outcome: got.Outcome, Text: got.Text, Values: got.Values, Confirmed: got.Confirmed,
			}, want)
		})
	}
}
