package journal_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
)

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// random is the n-th entry of a journal in which much is alike.
func random(r *rand.Rand, n int) interact.Record {
	rec := approval(n)
	rec.Request.Created = start.Add(time.Duration(n)*37*time.Minute + time.Duration(r.IntN(90)-30)*time.Hour)
	who := &rec.Request.Requester
	who.Agent, who.IsAgent = pick(r, "claude-code", "codex", ""), r.IntN(2) == 0
	who.Session = fmt.Sprintf("s%d", n/20)
	who.CWD = pick(r, "/src/shop", "/src/Größe", "/home/me")
	word := func() string {
		return pick(r, "make", "Makefile", "git", "go", "gopher", "naïve", "ＡＢＣ", "文件", "42", "a-b_c", `"OR"`, "NEAR(",
			"internationalization", "internationalizations", "*", "\x00", "col:", "über", "İstanbul", "ß",
			`"is_agent":true`, `"confinement":{`)
	}
	command := strings.Join([]string{word(), word(), word()}, pick(r, " ", "/", "\n", ""))
	switch r.IntN(8) {
	case 0:
		rec.Request.Body = api.Ask{Question: command}
	case 1:
		rec.Request.Body = api.Notify{Message: command}
	default:
		input, _ := json.Marshal(map[string]any{"command": command, "timeout": n})
		rec.Request.Body = interact.Approve{Tool: pick(r, "Bash", "Write"), Input: input}
	}
	rec.Why.Rule = pick(r, "", "r1", "r2")
	rec = settled(rec, pick(r, api.Allowed, api.Denied, api.TimedOut, api.Cancelled))
	rec.Answer.By = pick(r, api.ByHuman, api.ByPolicy, api.ByTimeout, "")
	rec.Answer.Rule = rec.Why.Rule
	if rec.Answer.Outcome == api.Allowed && r.IntN(2) == 0 {
		rec.Answer.Confinement.Project = who.CWD
	}
	who.Machine, rec.Answer.Device = pick(r, "", "", "build-1", "build-2"), pick(r, "", "", "Pixel")
	return rec
}

// whole is all that the journal has, newest first, read without any index.
func whole(tb testing.TB, r *journal.Reader) (all []history.Entry) {
	tb.Helper()
	head, err := r.Head(tb.Context())
	must(tb, err)
	for seq := head.Seq; seq > 0; seq-- {
		e, err := r.Entry(tb.Context(), seq)
		if errors.Is(err, interact.ErrNotFound) {
			return all // older ones are gone
		}
		must(tb, err)
		all = append(all, e)
	}
	return all
}

// picks is what [journal.Reader.Search] promises, in other words.
func picks(q history.Query, e history.Entry) bool {
	text := journal.Words(e)
	asked := 0
	for word := range journal.Split(q.Text) {
		if asked++; asked > 32 { // more do not count
			break
		}
		if !slices.ContainsFunc(text, func(w string) bool { return strings.HasPrefix(w, word) }) {
			return false
		}
	}
	is := func(want, is string) bool { return want == "" || want == is }
	isOutcome := is(string(q.Outcome), string(e.Outcome)) || is(string(q.Outcome), string(e.Result()))
	return is(q.Agent, e.Agent) && is(q.Project, e.Project) && is(q.Session, e.Session) && is(q.Tool, e.Tool) &&
		is(q.Machine, e.Machine) && is(q.Device, e.Device) &&
		is(q.Rule, e.Rule) && is(string(q.Kind), string(e.Kind)) && isOutcome &&
		is(string(q.By), string(e.By)) && (!q.Asked || e.Outcome != api.Allowed || e.By == api.ByHuman) &&
		(q.Since.IsZero() || !e.Settled.Before(q.Since)) &&
		(q.Until.IsZero() || e.Settled.Before(q.Until)) && (q.Before == 0 || e.Seq < q.Before)
}

// find is what [journal.Reader.Search] must return of all entries.
func find(q history.Query, all []history.Entry) (page history.Page) {
	limit := cmp.Or(q.Limit, history.PageSize)
	for _, e := range all {
		if !picks(q, e) {
			continue
		}
		if len(page.Lines) == limit {
			page.More = true
			break
		}
		page.Lines = append(page.Lines, e.Line)
	}
	return page
}

func randomQuery(r *rand.Rand) (q history.Query) {
	maybe := func(set func()) {
		if r.IntN(4) == 0 {
			set()
		}
	}
	maybe(func() { q.Machine = pick(r, "build-1", "build-2", "build") })
	maybe(func() { q.Device = pick(r, "Pixel", "pixel") })
	if r.IntN(2) == 0 {
		q.Text = pick(r, "m", "ma", "make", "makefile", "g go", "GOPHER", "naive", "abc", "文", "件文", "4", "b", "or", "near(",
			"internationali", "internationalization", "internationalizationx", "*", `"`, "col:", "uber", "istanbul", "ss", "ß",
			"zzz", "command", "claude g", "src sh", "größe")
	}
	maybe(func() { q.Agent = pick(r, "claude-code", "codex", "nobody") })
	maybe(func() { q.Session = pick(r, "s0", "s3", "s99") })
	maybe(func() { q.Project = pick(r, "/src/shop", "/src/Größe", "/src") })
	maybe(func() { q.Tool = pick(r, "Bash", "Write", "bash") })
	maybe(func() { q.Rule = pick(r, "r1", "r2", "r3") })
	maybe(func() { q.Kind = pick(r, api.KindApprove, api.KindAsk) })
	maybe(func() { q.Outcome = pick(r, api.Allowed, history.Sandboxed, api.Denied, api.Withdrawn) })
	maybe(func() { q.By = pick(r, api.ByHuman, api.ByPolicy) })
	maybe(func() { q.Asked = true })
	maybe(func() { q.Since = start.Add(time.Duration(r.IntN(300)-50) * time.Hour) })
	maybe(func() { q.Until = start.Add(time.Duration(r.IntN(300)-50) * time.Hour) })
	maybe(func() { q.Before = r.Int64N(100) })
	maybe(func() { q.Limit = 1 + r.IntN(20) })
	return q
}

func TestSearchAgainstAModel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	path := file(t)
	j := healthy(t, path)
	for n := range 60 {
		must(t, j.Settle(t.Context(), random(r, n)))
	}
	must(t, j.Index(t.Context()))
	for n := range 20 { // the index does not cover them
		must(t, j.Settle(t.Context(), random(r, 60+n)))
	}
	all := whole(t, j.Reader)
	if at := j.Indexed(t); at < 60 {
		t.Fatalf("the index covers %d entries", at)
	}
	for range 250 {
		q := randomQuery(r)
		got, err := j.Search(t.Context(), q)
		must(t, err)
		if want := find(q, all); !slices.Equal(got.Lines, want.Lines) || got.More != want.More {
			t.Fatalf("%+v:\ngot  %v\nwant %v", q, seqs(got), seqs(want))
		}
	}
}

func seqs(p history.Page) (seqs []int64) {
	for _, l := range p.Lines {
		seqs = append(seqs, l.Seq)
	}
	return seqs
}

// Who asked on another machine, or answered on a device, is found by that, with the index and without.
func TestMachinesAndDevicesAreFound(t *testing.T) {
	j := healthy(t, file(t))
	for n, from := range []struct{ machine, device string }{
		{"", ""}, {"build-1", ""}, {"build-1", "Pixel"}, {"other", ""}, {"", "Pixel"},
	} {
		r := settled(approval(n), api.Allowed)
		r.Request.Requester.Machine, r.Answer.Device = from.machine, from.device
		must(t, j.Settle(t.Context(), r))
	}
	check := func() {
		t.Helper()
		for _, c := range []struct {
			q    history.Query
			want []int64
		}{
			{history.Query{Machine: "build-1"}, []int64{3, 2}},
			{history.Query{Device: "Pixel"}, []int64{5, 3}},
			{history.Query{Machine: "build-1", Device: "Pixel"}, []int64{3}},
			{history.Query{Machine: "build"}, nil},
			{history.Query{Text: "other"}, []int64{4}},
			{history.Query{Text: "pixel"}, []int64{5, 3}},
		} {
			page, err := j.Search(t.Context(), c.q)
			must(t, err)
			var got []int64
			for _, l := range page.Lines {
				got = append(got, l.Seq)
			}
			same(t, got, c.want)
		}
		facets, err := j.Facets(t.Context())
		must(t, err)
		same(t, facets.Machines, []string{"build-1", "other"})
		same(t, facets.Devices, []string{"Pixel"})
	}
	check()
	must(t, j.Index(t.Context()))
	check()
}

// What was decided about files of another machine says nothing about those of this one.
func TestThePastOfOtherMachinesMakesNoRule(t *testing.T) {
	j := healthy(t, file(t))
	for n, machine := range []string{"", "build-1"} {
		r := settled(approval(n), api.Allowed)
		r.Answer.By = api.ByHuman
		r.Request.Requester.Machine = machine
		must(t, j.Settle(t.Context(), r))
	}
	n := 0
	for _, err := range j.Past(t.Context()) {
		must(t, err)
		n++
	}
	if n != 1 {
		t.Errorf("%d decisions are for rules, want the one of this machine", n)
	}
}
