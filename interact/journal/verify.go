package journal

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/policy"
)

// BrokenError describes the first break of the chain.
type BrokenError struct {
	Seq     int64 // number of the entry
	Problem string
}

func (e *BrokenError) Error() string { return fmt.Sprintf("entry %d %s", e.Seq, e.Problem) }

// Verify lets SQLite check the file for damage, and checks every entry against the chain. It fails with a
// [*BrokenError] for the first entry that was changed, is missing or is misplaced. It cannot detect missing entries at
// the end: compare with a head noted elsewhere.
func (r *Reader) Verify(ctx context.Context) error {
	return r.read(ctx, func(conn *sqlite.Conn) error {
		err := query(conn, "PRAGMA main.quick_check(1)", func(s *sqlite.Stmt) error {
			if found := s.ColumnText(0); found != "ok" {
				return fmt.Errorf("the file is damaged: %s", found)
			}
			return nil
		})
		if err != nil {
			return err
		}
		c, err := readAnchor(conn)
		if err != nil {
			return err
		}
		return query(conn, "SELECT "+columns+", hash, head, body FROM entries ORDER BY seq", func(s *sqlite.Stmt) error {
			_, _, err := c.next(s)
			return err
		})
	})
}

// Noted returns the number of the entry whose hash was once noted as the head's. The error wraps [interact.ErrNotFound]
// if there is none, which [Reader.Verify] does not detect.
func (r *Reader) Noted(ctx context.Context, hash string) (seq int64, err error) {
	found := false // the number does not tell: an empty chain's is 0
	noted, err := hex.DecodeString(hash)
	if err == nil {
		err = r.read(ctx, func(conn *sqlite.Conn) error {
			return query(conn, "SELECT seq FROM entries WHERE hash = ?1 UNION ALL SELECT seq FROM anchor WHERE hash = ?1",
				func(s *sqlite.Stmt) error {
					seq, found = s.ColumnInt64(0), true
					return nil
				}, noted)
		})
	}
	if err == nil && !found {
		err = interact.ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("find the entry with hash %s: %w", hash, err)
	}
	return seq, nil
}

// chain is the position up to which a chain is verified.
type chain struct {
	seq    int64
	hash   digest
	bodies int64 // the last entry whose body may be missing
}

func readAnchor(conn *sqlite.Conn) (*chain, error) {
	var c *chain
	err := query(conn, "SELECT seq, bodies, hash FROM anchor", func(s *sqlite.Stmt) error {
		c = &chain{seq: s.ColumnInt64(0), bodies: s.ColumnInt64(1)}
		return readDigest(s, 2, &c.hash)
	})
	if err == nil && c == nil {
		err = errors.New("the journal lacks the start of its chain")
	}
	return c, err
}

// next verifies a row with the columns [columns], hash, head and body. It fails with a [*BrokenError].
func (c *chain) next(s *sqlite.Stmt) (h head, body []byte, err error) {
	line := scanLine(s)
	broken := func(problem string) (head, []byte, error) {
		return head{}, nil, &BrokenError{Seq: c.seq, Problem: problem}
	}
	c.seq++
	if line.Seq != c.seq {
		return broken("is missing")
	}
	text := blob(s, lineColumns+1)
	c.hash = c.hash.next(text)
	var kept digest
	if err := readDigest(s, lineColumns, &kept); err != nil || kept != c.hash {
		return broken("has been changed, or another has been before it: its hash is not that of the chain")
	}
	if h, err = decode(text, nil); err != nil {
		return broken("cannot be read: " + err.Error())
	}
	want := h.line()
	want.Seq = line.Seq
	body = blob(s, lineColumns+2)
	switch {
	case line != want:
		return broken("has been changed: its columns say something else than its text")
	case body != nil && interact.Digest(body) != h.Body:
		return broken("has been changed: its body is not the one that was journaled")
	case body == nil && h.Withheld != history.NotKept && c.seq > c.bodies:
		return broken("has lost its body")
	}
	return h, body, nil
}

// skip moves past a row, with the columns [columns] and hash, without verifying it. An invalid hash breaks the chain at
// the next entry.
func (c *chain) skip(s *sqlite.Stmt) error {
	c.seq = s.ColumnInt64(0)
	_ = readDigest(s, lineColumns, &c.hash)
	return nil
}

// columns are the columns of a [history.Line], and lineColumns is their number. No text in JSON can hold what instr
// looks for. The last one holds the program.
const (
	columns = `seq, id, created, settled, kind, agent, session, project, tool, class, gist, outcome, by, rule,
		machine, device, instr(head, CAST('"is_agent":true' AS BLOB)), ` + sandbox + `, CASE agent WHEN '' THEN head END`

	lineColumns = 19

	sandbox = `instr(head, CAST('"confinement":{' AS BLOB))`
)

func scanLine(s *sqlite.Stmt) history.Line {
	return history.Line{
		Seq: s.ColumnInt64(0), ID: interact.ID(s.ColumnText(1)),
		Created: time.UnixMicro(s.ColumnInt64(2)), Settled: time.UnixMicro(s.ColumnInt64(3)),
		Kind: api.Kind(s.ColumnText(4)), Agent: s.ColumnText(5), Session: s.ColumnText(6), Project: s.ColumnText(7),
		Tool: s.ColumnText(8), Class: policy.Class(s.ColumnText(9)), Gist: s.ColumnText(10),
		Outcome: api.Outcome(s.ColumnText(11)), By: api.By(s.ColumnText(12)), Rule: s.ColumnText(13),
		Machine: s.ColumnText(14), Device: s.ColumnText(15), IsAgent: s.ColumnInt(16) > 0, Sandbox: s.ColumnInt(17) > 0,
		Program: programIn(blob(s, 18)),
	}
}

// programIn returns the name of the program that asked; "" if the head is missing or cannot be read.
func programIn(text []byte) string {
	var h struct {
		Record struct {
			Request struct {
				Requester interact.Requester `json:"requester"`
			} `json:"request"`
		} `json:"record"`
	}
	_ = json.Unmarshal(text, &h)
	return h.Record.Request.Requester.Program()
}
