package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"time"

	"nod/interact"
	"nod/policy/invisible"
)

// Write writes entries until an error occurs: as CSV one row each, for spreadsheets and without the exact input, else
// one line of JSON each with everything that is kept. It escapes control and hidden characters, and text that a
// spreadsheet would treat as a formula.
func Write(w io.Writer, asCSV bool, entries iter.Seq2[Entry, error]) error {
	out, write := bufio.NewWriter(w), writeLine
	if asCSV {
		write = writeRow
		_ = writeCells(out, header) // an error stays
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		if err := write(out, e); err != nil {
			return fmt.Errorf("write entry %d: %w", e.Seq, err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

func writeLine(out *bufio.Writer, e Entry) error {
	text, err := e.JSON()
	if err == nil {
		_, err = out.Write(append(text, '\n'))
	}
	return err
}

var header = []string{
	"seq", "id", "kind", "created", "settled", "agent", "session", "project", "tool", "class", "gist", "outcome", "by",
	"rule", "reason", "withheld", "hash", "machine", "device",
}

func writeRow(out *bufio.Writer, e Entry) error {
	return writeCells(out, []string{
		strconv.FormatInt(e.Seq, 10), string(e.ID), string(e.Kind), e.Created.Format(time.RFC3339),
		e.Settled.Format(time.RFC3339), e.Agent, e.Session, e.Project, e.Tool, string(e.Class), e.Gist, string(e.Result()),
		string(e.By), e.Rule, e.Record.Answer.Reason, e.Withheld, e.Hash, e.Machine, e.Device,
	})
}

// writeCells writes a row as in RFC 4180. It quotes all cells.
func writeCells(out *bufio.Writer, cells []string) error {
	for i, c := range cells {
		if i > 0 {
			out.WriteByte(',') // an error stays
		}
		out.WriteString(`"` + strings.ReplaceAll(cell(c), `"`, `""`) + `"`)
	}
	_, err := out.WriteString("\r\n")
	return err
}

// formula matches where a spreadsheet could begin a formula: at the start of a cell, and after separators.
var formula = regexp.MustCompile("(^|[\n\t;])([ \u3000]*)([=+@＝＋＠－-])")

func cell(text string) string { return formula.ReplaceAllString(invisible.Visible(text), "$1$2'$3") }

type exported struct {
	Line
	Withheld string          `json:"withheld,omitempty"`
	Hash     string          `json:"hash"`
	Record   interact.Record `json:"record"`
}

type readable struct {
	interact.Approve
	Input string `json:"input"`
}

// JSON formats e as one line of JSON for other programs.
func (e Entry) JSON() ([]byte, error) {
	out := exported{e.Line, e.Withheld, e.Hash, e.Record}
	if a, ok := e.Record.Request.Body.(interact.Approve); ok {
		out.Record.Request.Body = readable{a, string(a.Input)}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		return nil, fmt.Errorf("encode entry %d: %w", e.Seq, err)
	}
	return []byte(invisible.Visible(strings.TrimSuffix(b.String(), "\n"))), nil
}
