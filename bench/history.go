//go:build linux

package main

import (
	"fmt"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/bench/report"
	"nod/bench/sample"
	"nod/interact/history"
	"nod/interact/journal"
)

const historyHow = "The first page of a search in the history, in this process, in a journal of 1,000,000 " +
	"entries, beside `LIKE` and `WHERE` on the same file, which read it as SQLite does without nod's " +
	"index; both must find as many lines. The files are in the cache of the system."

// searches are what a person may look for, and how SQL says it.
var searches = []struct {
	name  string
	query history.Query
	where string
}{
	{"the newest page", history.Query{}, "TRUE"},
	{"a common word", history.Query{Text: "make"}, "gist LIKE '%make%'"},
	{"one old entry", history.Query{Text: "target 12169"}, "gist LIKE '%target-12169%'"},
	{"a word that is nowhere", history.Query{Text: "nothing-has-this"}, "gist LIKE '%nothing-has-this%'"},
	{"denied commands", history.Query{Tool: "Bash", Outcome: api.Denied}, "tool = 'Bash' AND outcome = 'denied'"},
}

// history measures how soon a search has its first page.
func (b *bench) history() (figures []report.Figure, err error) {
	entries := b.entriesOfJournal()
	path, err := b.bigJournal(entries)
	if err != nil {
		return nil, err
	}
	j := openJournal(path)
	defer j.Close()
	if _, err := j.Search(b.ctx, history.Query{}); err != nil { // it has been opened now
		return nil, err
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	for _, s := range searches {
		nod, sql := b.indexed(j, s.query), scan(conn, s.where)
		if err := agree(nod, sql); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		f, err := compare(s.name, b.times(6),
			finder("nod", nod), finder("SQLite without the index", sql))
		if err != nil {
			return nil, err
		}
		if s.name == "one old entry" {
			f.Headline = "a search through 1,000,000 entries of history"
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// A find searches and returns how many lines the first page has.
type find func() (lines int, err error)

// indexed searches as the history window does.
func (b *bench) indexed(j *journal.Journal, q history.Query) find {
	return func() (int, error) {
		page, err := j.Search(b.ctx, q)
		return len(page.Lines), err
	}
}

// scan searches as SQLite does by itself.
func scan(conn *sqlite.Conn, where string) find {
	query := fmt.Sprintf("SELECT seq, created, agent, tool, gist, outcome FROM entries WHERE %s "+
		"ORDER BY seq DESC LIMIT %d", where, history.PageSize)
	return func() (lines int, err error) {
		err = sqlitex.Execute(conn, query, &sqlitex.ExecOptions{ResultFunc: func(*sqlite.Stmt) error {
			lines++
			return nil
		}})
		return lines, err
	}
}

// agree fails unless both find as many lines.
func agree(nod, sql find) error {
	mine, err := nod()
	if err != nil {
		return err
	}
	theirs, err := sql()
	if err == nil && mine != theirs {
		err = fmt.Errorf("nod finds %d lines, SQLite %d: they search for different things", mine, theirs)
	}
	return err
}

func finder(name string, f find) sample.Subject {
	return sample.Once(name, func() error {
		_, err := f()
		return err
	})
}
