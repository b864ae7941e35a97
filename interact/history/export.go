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

// Format is one in which entries leave nod.
type Format string

// The formats.
const (
	CSV   Format = "csv"   // for spreadsheets: a row for each entry, without the exact input
	JSONL Format = "jsonl" // for programs: a line for each entry, with all that is kept
)

// Write writes entries in a format until there is an error, and returns their number. It escapes control and hidden
// characters, and text that a spreadsheet would take for a formula.
func Write(w io.Writer, f Format, entries iter.Seq2[Entry, error]) (n int, err error) {
	out, write := bufio.NewWriter(w), writeLine
	if f == CSV {
		write = writeRow
		_ = writeCells(out, header) // an error stays
	}
	for e, err := range entries {
		if err != nil {
			return n, err
		}
		if err := write(out, e); err != nil {
			return n, fmt.Errorf("write entry %d: %w", e.Seq, err)
		}
		n++
	}
	if err := out.Flush(); err != nil {
		return n, fmt.Errorf("write the history: %w", err)
	}
	return n, nil
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
		string(e.By), e.Rule, e.Record.Answer.Reason, string(e.Withheld), e.Hash, e.Machine, e.Device,
	})
}

// writeCells writes a row as RFC 4180 has it. All cells are quoted.
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

// formula matches where a spreadsheet could begin a formula: at the beginning of a cell, and after other countries'
// separators.
var formula = regexp.MustCompile("(^|[\n\t;])([ \u3000]*)([=+@＝＋＠－-])")

func cell(text string) string { return formula.ReplaceAllString(invisible.Visible(text), "$1$2'$3") }

type exported struct {
	Line
	Withheld Withheld        `json:"withheld,omitempty"`
	Hash     string          `json:"hash"`
	Record   interact.Record `json:"record"`
}

// readable is an approval with its exact input as text.
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
