package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/policy"
)

const (
	maxPage  = 1000 // entries
	maxAsked = 32   // words of a query that count
	maxSeq   = math.MaxInt64
)

// fieldsOf yields the non-empty fields that a query can ask for, each with a letter.
func fieldsOf(l history.Line) iter.Seq2[rune, string] {
	sandboxed := ""
	if l.Sandbox {
		sandboxed = string(history.Sandboxed)
	}
	return func(yield func(rune, string) bool) {
		for _, f := range []struct {
			name  rune
			value string
		}{
			{'a', l.Agent}, {'p', l.Project}, {'s', l.Session}, {'t', l.Tool}, {'r', l.Rule},
			{'k', string(l.Kind)}, {'o', string(l.Outcome)}, {'o', sandboxed}, {'b', string(l.By)},
			{'m', l.Machine}, {'d', l.Device},
		} {
			if f.value != "" && !yield(f.name, f.value) {
				return
			}
		}
	}
}

// token returns a word without letters that represents a field's value among an entry's words. It is a hash, so results
// must be checked.
func token(field rune, value string) string {
	h := fnv.New32a()
	h.Write(utf8.AppendRune(nil, field))
	h.Write([]byte(value))
	sum := rune(h.Sum32() >> 1) // a rune has a sign
	const private = 0xF0000
	return string([]rune{private + sum>>16&0xFFFF, private + sum&0xFFFF})
}

type filter struct {
	history.Query
	wanted []string
}

func newFilter(q history.Query) filter {
	f := filter{Query: q}
	for w := range words(q.Text) {
		if len(f.wanted) == maxAsked {
			break
		}
		f.wanted = append(f.wanted, w)
	}
	return f
}

// match returns f as an FTS5 expression in which every word is quoted; it is empty if f has no words.
func (f filter) match() string {
	var terms []string
	for _, w := range f.wanted {
		term := `"` + w + `"`
		if utf8.RuneCountInString(w) < maxWord {
			term += "*"
		}
		terms = append(terms, term)
	}
	asked := history.Line{
		Agent: f.Agent, Project: f.Project, Session: f.Session, Tool: f.Tool, Rule: f.Rule, Kind: f.Kind,
		Outcome: f.Outcome, By: f.By, Machine: f.Machine, Device: f.Device,
	}
	for field, value := range fieldsOf(asked) {
		terms = append(terms, `"`+token(field, value)+`"`)
	}
	if f.Asked {
		terms = append(terms, notPassed())
	}
	return strings.Join(terms, " AND ")
}

// notPassed returns an FTS5 expression for entries that did not pass without asking. It lists them, because FTS5 has no
// NOT without an AND.
func notPassed() string {
	var any []string
	add := func(l history.Line) {
		for field, value := range fieldsOf(l) {
			any = append(any, `"`+token(field, value)+`"`)
		}
	}
	add(history.Line{By: api.ByHuman})
	for _, o := range api.Outcomes {
		if o != api.Allowed {
			add(history.Line{Outcome: o})
		}
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

// The parts of the statements that find entries. No part of a query becomes part of a statement.
const (
	fromIndex   = "FROM idx.words AS w CROSS JOIN entries ON seq = w.rowid WHERE w.words MATCH :match AND w.rowid "
	fromEntries = "FROM entries WHERE seq "
	filters     = `BETWEEN :first AND :last
		AND (:agent = '' OR agent = :agent) AND (:project = '' OR project = :project)
		AND (:session = '' OR session = :session) AND (:tool = '' OR tool = :tool) AND (:rule = '' OR rule = :rule)
		AND (:kind = '' OR kind = :kind) AND (:by = '' OR by = :by)
		AND (NOT :asked OR outcome <> 'allowed' OR by = 'human')
		AND (:outcome = '' OR outcome = :outcome OR :outcome = 'sandboxed' AND ` + sandbox + `)
		AND (:machine = '' OR machine = :machine) AND (:device = '' OR device = :device)
		AND settled >= :since AND settled < :until ORDER BY `
)

type order string

const (
	newestFirst order = "DESC"
	oldestFirst order = "ASC"
)

var errEnough = errors.New("enough")

// find calls found for every entry that matches, with the columns [columns], hash, head and body, until found returns
// an error; it ignores [errEnough]. The index covers the entries up to at.
func (f filter) find(conn *sqlite.Conn, at int64, o order, found func(*sqlite.Stmt) error) error {
	first, last := int64(1), int64(maxSeq)
	if f.Before > 0 {
		last = f.Before - 1
	}
	if f.ID != "" {
		seq, err := number(conn, "SELECT seq FROM entries WHERE id = ?", string(f.ID))
		if err != nil || seq == 0 {
			return err
		}
		first, last, at = seq, min(seq, last), 0
	}
	old := func() error { return f.findIndexed(conn, o, min(at, last), found) }
	fresh := func() error { return f.findFresh(conn, o, max(first, at+1), last, found) }
	if o == oldestFirst {
		old, fresh = fresh, old
	}
	err := fresh()
	if err == nil {
		err = old()
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (f filter) findIndexed(conn *sqlite.Conn, o order, last int64, found func(*sqlite.Stmt) error) error {
	if last == 0 {
		return nil
	}
	first := int64(1)
	if !f.Since.IsZero() || !f.Until.IsZero() {
		since, until := f.span()
		err := query(conn, `SELECT (SELECT min(first) FROM idx.hours WHERE hour >= ?),
			(SELECT max(last) FROM idx.hours WHERE hour <= ?)`, func(s *sqlite.Stmt) error {
			first, last = s.ColumnInt64(0), min(last, s.ColumnInt64(1))
			return nil
		}, hourOf(since), hourOf(until))
		if err != nil || first == 0 || last == 0 { // NULL: nothing is in that time
			return err
		}
	}
	return f.query(conn, o, first, last, f.match(), found)
}

func (f filter) findFresh(conn *sqlite.Conn, o order, first, last int64, found func(*sqlite.Stmt) error) error {
	return f.query(conn, o, first, last, "", func(s *sqlite.Stmt) error {
		if len(f.wanted) > 0 {
			if e, _ := readEntry(s); !wordsOf(e).has(f.wanted) {
				return nil
			}
		}
		return found(s)
	})
}

// query calls found for the entries from first to last that match a full-text expression, if there is one.
func (f filter) query(
	conn *sqlite.Conn, o order, first, last int64, match string, found func(*sqlite.Stmt) error,
) error {
	since, until := f.span()
	named := map[string]any{
		":first": first, ":last": last, ":agent": f.Agent, ":project": f.Project, ":session": f.Session, ":tool": f.Tool,
		":rule": f.Rule, ":kind": string(f.Kind), ":outcome": string(f.Outcome), ":by": string(f.By),
		":asked": f.Asked, ":machine": f.Machine, ":device": f.Device,
		":since": since.UnixMicro(), ":until": until.UnixMicro(),
	}
	from, by := fromEntries, "seq "
	if match != "" {
		from, by = fromIndex, "w.rowid " // SQLite would sort by the other
		named[":match"] = match
	}
	return sqlitex.Execute(conn, "SELECT "+columns+", hash, head, body "+from+filters+by+string(o),
		&sqlitex.ExecOptions{Named: named, ResultFunc: found})
}

var (
	beginning = time.UnixMicro(math.MinInt64)
	end       = time.UnixMicro(math.MaxInt64)
)

func (f filter) span() (since, until time.Time) {
	since, until = beginning, end
	if !f.Since.IsZero() {
		since = f.Since
	}
	if !f.Until.IsZero() {
		until = f.Until
	}
	return since, until
}

// indexed returns the last entry in the index, or 0 if this journal has none. A transaction must read it first, so that
// the journal has everything that the index has.
func (r *Reader) indexed(conn *sqlite.Conn) (int64, error) {
	if r.indexDamaged.Load() {
		return 0, nil
	}
	at, err := readState(conn, "idx")
	version := int64(0)
	if err == nil {
		version, err = number(conn, "PRAGMA idx.user_version")
	}
	if err != nil || version != indexVersion {
		return 0, nil // there is no index, or none of use: all is found without, only not as fast
	}
	is, err := at.isOf(conn)
	if err != nil || !is {
		return 0, err
	}
	return at.seq, nil
}

// readIndexed is [Reader.read] with the last indexed entry. If the index is damaged, it calls do again without it.
func (r *Reader) readIndexed(ctx context.Context, do func(conn *sqlite.Conn, at int64) error) error {
	try := func() error {
		return r.read(ctx, func(conn *sqlite.Conn) error {
			at, err := r.indexed(conn)
			if err != nil {
				return err
			}
			return do(conn, at)
		})
	}
	err := try()
	if isDamage(err) && !r.indexDamaged.Swap(true) {
		err = try()
	}
	return err
}

// Search returns a page of the entries that match, newest first.
func (r *Reader) Search(ctx context.Context, q history.Query) (page history.Page, err error) {
	limit := min(cmp.Or(max(q.Limit, 0), history.PageSize), maxPage)
	err = r.readIndexed(ctx, func(conn *sqlite.Conn, at int64) error {
		page = history.Page{}
		return newFilter(q).find(conn, at, newestFirst, func(s *sqlite.Stmt) error {
			if page.More = len(page.Lines) == limit; page.More {
				return errEnough
			}
			page.Lines = append(page.Lines, scanLine(s))
			return nil
		})
	})
	if err != nil {
		return history.Page{}, fmt.Errorf("search the history: %w", err)
	}
	return page, nil
}

// Entry returns the entry with this number. The error wraps [interact.ErrNotFound] if there is none.
func (r *Reader) Entry(ctx context.Context, seq int64) (e history.Entry, err error) {
	err = r.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT "+columns+", hash, head, body FROM entries WHERE seq = ?", func(s *sqlite.Stmt) error {
			e, err = readEntry(s)
			return err
		}, seq)
	})
	if err == nil && e.Seq == 0 {
		err = interact.ErrNotFound
	}
	if err != nil {
		return history.Entry{}, fmt.Errorf("read entry %d of the history: %w", seq, err)
	}
	return e, nil
}

// readEntry reads a row with the columns [columns], hash, head and body. With an error it returns only the columns.
func readEntry(s *sqlite.Stmt) (history.Entry, error) {
	e := history.Entry{Line: scanLine(s)}
	var hash digest
	if err := readDigest(s, lineColumns, &hash); err != nil {
		return e, err
	}
	e.Hash = hash.String()
	body := blob(s, lineColumns+2)
	h, err := decode(blob(s, lineColumns+1), body)
	if err != nil {
		return e, fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	e.Record, e.Withheld = h.Record, h.Withheld
	if body == nil && e.Withheld != history.NotKept {
		e.Withheld = history.Expired
	}
	return e, nil
}

// Entries yields all entries that match, oldest first, until an error occurs. It ignores q.Limit.
func (r *Reader) Entries(ctx context.Context, q history.Query) iter.Seq2[history.Entry, error] {
	return func(yield func(history.Entry, error) bool) {
		last := int64(0)
		err := r.readIndexed(ctx, func(conn *sqlite.Conn, at int64) error {
			return newFilter(q).find(conn, at, oldestFirst, func(s *sqlite.Stmt) error {
				e, err := readEntry(s)
				if err != nil || e.Seq <= last { // that far it came before the index turned out to be damaged
					return err
				}
				if last = e.Seq; !yield(e, nil) {
					return errEnough
				}
				return nil
			})
		})
		if err != nil {
			yield(history.Entry{}, fmt.Errorf("read the history: %w", err))
		}
	}
}

// Past yields the user's decisions on calls with a known input, oldest first, until an error occurs.
func (r *Reader) Past(ctx context.Context) iter.Seq2[policy.Past, error] {
	return func(yield func(policy.Past, error) bool) {
		for e, err := range r.Entries(ctx, history.Query{Kind: api.KindApprove, By: api.ByHuman}) {
			if past, ok := pastOf(e); (ok || err != nil) && !yield(past, err) {
				return
			}
		}
	}
}

func pastOf(e history.Entry) (policy.Past, bool) {
	effects := map[api.Outcome]policy.Effect{api.Allowed: policy.Allow, api.Denied: policy.Deny}
	effect, isDecision := effects[e.Outcome]
	approve, ok := e.Record.Request.Body.(interact.Approve)
	isRemote := e.Record.Request.Requester.IsRemote() // its files are elsewhere
	if !ok || !isDecision || isRemote || e.Sandbox || e.Withheld != "" {
		return policy.Past{}, false
	}
	return policy.Past{Call: approve.Call(e.Record.Request.Requester), Effect: effect}, true
}
