//go:build !relay

package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
	"nod/policy/config"
	"nod/policy/invisible"
)

type historyFlags struct {
	file                  string
	query                 history.Query
	since, until, project string
}

func (c *console) history() *cobra.Command {
	var flags historyFlags
	cmd := c.withJSON(&cobra.Command{
		Use:   "history",
		Short: "List requests and decisions",
		Long: `List requests and decisions, by whom and why, newest first. This only reads nod-desktop's journal, whether
nod-desktop is running or not. Times are local.

--json prints an object with entries and more. If more is true, there are older entries: to print them, use --before
with the seq of the last entry.`,
		Example: `  nod history --since 2d --outcome denied
  nod history --project . --search "git push"
  nod history show 1204`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error { return c.listHistory(ctx, flags) }),
	}, "print JSON")
	cmd.SetUsageTemplate(new(cobra.Command).UsageTemplate()) // it does something without a command, too
	cmd.PersistentFlags().StringVar(&flags.file, "file", "", "read this journal instead of nod.db")
	flags.add(cmd)
	cmd.Flags().Int64Var(&flags.query.Before, "before", 0, "only entries before the one with this `number`")
	cmd.Flags().IntVar(&flags.query.Limit, "limit", history.PageSize, "print at most this many entries, up to 1000")
	cmd.AddCommand(c.historyShow(&flags), c.historyExport(&flags), c.historyVerify(&flags), c.historyStats(&flags))
	return cmd
}

var (
	kinds = []api.Kind{
		api.KindAsk, api.KindConfirm, api.KindForm, api.KindApprove, api.KindNotify,
	}
	outcomes = append(slices.DeleteFunc(slices.Clone(api.Outcomes), func(o api.Outcome) bool { return o == api.Pending }),
		history.Sandboxed)
	deciders = []api.By{api.ByHuman, api.ByPolicy, api.ByTimeout}
	formats  = []string{"csv", "jsonl"}
)

func (f *historyFlags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&f.query.Text, "search", "", "only entries that contain all these `words`, or longer ones that "+
		"begin with them")
	set.StringVar(&f.query.Agent, "agent", "", "only of this agent")
	set.StringVar(&f.project, "project", "", "only from this `folder`")
	set.StringVar(&f.query.Session, "session", "", "only of this session")
	set.StringVar(&f.query.Tool, "tool", "", "only about this tool")
	set.StringVar(&f.query.Machine, "machine", "", "only asked on the paired machine of this `name`")
	set.StringVar(&f.query.Device, "device", "", "only answered on the device or the other desk of this `name`")
	set.StringVar((*string)(&f.query.Kind), "kind", "", "only ask, confirm, form, approve or notify")
	set.StringVar((*string)(&f.query.Outcome), "outcome", "",
		"only with this outcome, such as allowed, sandboxed or denied")
	set.StringVar((*string)(&f.query.By), "by", "", "only decided by human, policy or timeout")
	set.StringVar(&f.query.Rule, "rule", "", "only decided by the rule or saved approval with this `id`")
	set.StringVar(&f.since, "since", "", "only since this `time`: 2d or 36h ago, or 2026-11-22 or 2026-11-22T15:04")
	set.StringVar(&f.until, "until", "", "only before this `time`")
	complete(cmd, "kind", texts(kinds)...)
	complete(cmd, "outcome", texts(outcomes)...)
	complete(cmd, "by", texts(deciders)...)
}

func (f *historyFlags) picked() (q history.Query, err error) {
	q = f.query
	if q.Before < 0 || q.Limit < 0 {
		return q, wrongUsage("--before and --limit must be 0 or more")
	}
	if f.project != "" {
		if q.Project, err = filepath.Abs(f.project); err != nil {
			return q, err
		}
	}
	err = cmp.Or(oneOf("--kind", q.Kind, kinds), oneOf("--outcome", q.Outcome, outcomes), oneOf("--by", q.By, deciders))
	if err != nil {
		return q, err
	}
	now := time.Now()
	if q.Since, err = moment("--since", f.since, now); err != nil {
		return q, err
	}
	q.Until, err = moment("--until", f.until, now)
	return q, err
}

func oneOf[T ~string](flag string, value T, known []T) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return wrongUsage("%s must be one of %s, not %q", flag, strings.Join(texts(known), ", "), string(value))
}

// moment parses a time: how long ago, or a local date, with or without a time of day.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := config.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, wrongUsage("%s must be a time such as 2d, 36h, 2026-11-22 or 2026-11-22T15:04, not %q", flag, text)
}

func (f *historyFlags) read(do func(*journal.Reader) error) (err error) {
	path := f.file
	if path == "" {
		if path, err = journal.DefaultPath(); err != nil {
			return err
		}
	}
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist) && f.file != "":
		return inputError(path, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: nod-desktop creates it with the first request", path)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return do(r)
}

func (c *console) listHistory(ctx context.Context, flags historyFlags) error {
	q, err := flags.picked()
	if err != nil {
		return err
	}
	return flags.read(func(r *journal.Reader) error {
		page, err := r.Search(ctx, q)
		if err != nil {
			return err
		}
		listed := struct {
			Entries []history.Line `json:"entries"`
			More    bool           `json:"more"`
		}{append([]history.Line{}, page.Lines...), page.More}
		return c.show(listed, historyTable(page))
	})
}

func historyTable(page history.Page) string {
	rows := []string{"SEQ\tTIME\tAGENT\tPROJECT\tTOOL\tOUTCOME\tBY\tABOUT"}
	for _, l := range page.Lines {
		project, by := baseOf(l.Project), string(l.By)
		if l.Machine != "" {
			project += " on " + l.Machine
		}
		if l.Device != "" {
			by += " on " + l.Device
		}
		rows = append(rows, strings.Join([]string{
			strconv.FormatInt(l.Seq, 10), localTime(l.Settled), safeCell(agentCell(l.Requester())), safeCell(project),
			safeCell(cmp.Or(l.Tool, string(l.Kind))), words(l.Result()), safeCell(by), safeCell(shorten(l.Gist)),
		}, "\t"))
	}
	text := columns(rows)
	if page.More {
		text += fmt.Sprintf("There are older ones: nod history --before %d\n", page.Lines[len(page.Lines)-1].Seq)
	}
	return text
}

func localTime(t time.Time) string { return t.Local().Format(time.DateTime) }

// safeCell returns text that an agent chose, made safe for a table wherever that is printed.
func safeCell(text string) string { return cell(invisible.Visible(text)) }

func baseOf(folder string) string {
	if folder == "" {
		return ""
	}
	return filepath.Base(folder)
}

func shorten(text string) string {
	const most = 100 // characters
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

func (c *console) historyShow(flags *historyFlags) *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "show SEQ|ID",
		Short: "Print everything recorded about one request",
		Args:  oneArg("a number or id"),
		RunE: c.runs(func(ctx context.Context, args []string) error {
			return flags.read(func(r *journal.Reader) error { return c.showEntry(ctx, r, args[0]) })
		}),
	}, "print JSON")
}

func (c *console) showEntry(ctx context.Context, r *journal.Reader, which string) error {
	seq, err := strconv.ParseInt(which, 10, 64)
	if err != nil {
		page, err := r.Search(ctx, history.Query{ID: interact.ID(which), Limit: 1})
		if err != nil {
			return err
		}
		for _, l := range page.Lines {
			seq = l.Seq
		}
	}
	e, err := r.Entry(ctx, seq)
	if errors.Is(err, interact.ErrNotFound) {
		return wrongUsage("the history has no entry %s", which)
	}
	if err != nil {
		return err
	}
	text, err := e.JSON()
	if err != nil {
		return err
	}
	return c.show(json.RawMessage(text), describeEntry(e))
}

func describeEntry(e history.Entry) string {
	var lines []string
	line := func(name, value string) {
		if value != "" {
			lines = append(lines, name+":\t"+strings.ReplaceAll(invisible.Visible(value), "\n", "\n\t"))
		}
	}
	r, a := e.Record.Request, e.Record.Answer
	line("seq", strconv.FormatInt(e.Seq, 10))
	line("id", string(e.ID))
	line("kind", string(e.Kind))
	line("created", localTime(e.Created))
	line("settled", localTime(e.Settled))
	line("machine", e.Machine)
	line("agent", agentCell(e.Requester()))
	line("subagent", r.Requester.Subagent.Type)
	line("session", e.Session)
	line("folder", e.Project)
	line("program", interact.Caller(r.Requester.Process).Exe)
	line("tool", e.Tool)
	line("class", string(e.Class))
	line("policy", e.Record.Why.Reason)
	line("outcome", words(e.Result()))
	line("sandbox", e.Record.Answer.Confinement.Project)
	line("by", string(e.By))
	line("device", e.Device)
	line("rule", e.Rule)
	line("reason", a.Reason)
	line("scope", string(a.Scope))
	if !a.Shown.At.IsZero() {
		line("shown", localTime(a.Shown.At))
		line("armed after", after(a.Shown.Armed))
		line("decided after", after(a.Shown.Decided))
		line("with", a.Shown.With)
	}
	line("facts", strings.Join(a.Shown.Facts, "\n"))
	line("withheld", e.Withheld)
	line("hash", e.Hash)
	return columns(lines) + paragraphs(e)
}

// after formats a duration; 0 means none.
func after(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.Round(time.Millisecond).String()
}

func paragraphs(e history.Entry) string {
	var b strings.Builder
	add := func(text string) {
		if text != "" {
			b.WriteString("\n" + strings.TrimRight(invisible.Visible(text), "\n") + "\n")
		}
	}
	switch body := e.Record.Request.Body.(type) {
	case interact.Approve:
		add(body.Description)
		add(string(body.Input))
	default:
		if e.Withheld == "" || e.Withheld == history.Secret {
			add(indented(body))
		}
	}
	a := e.Record.Answer
	add(a.Shown.Diff)
	add(a.Text)
	if len(a.Values) > 0 {
		add(indented(a.Values))
	}
	return b.String()
}

func indented(v any) string {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (c *console) historyExport(flags *historyFlags) *cobra.Command {
	var format, file string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the history to a file, as CSV or JSON Lines",
		Long: `Write all entries, or those the flags select, oldest first. CSV is for spreadsheets and leaves out exact
inputs; JSON Lines contain everything recorded. Both escape text that a terminal or a spreadsheet would obey.`,
		Example: `  nod history export --since 30d -o history.csv
  nod history export | jq -r 'select(.outcome == "denied") | .record.request.body.input'`,
		Args: noArgs,
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&format, "format", "", "csv or jsonl (default: by the file name, else jsonl)")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write a new `file` instead of standard output")
	complete(cmd, "format", formats...)
	cmd.RunE = c.runs(func(ctx context.Context, _ []string) error {
		if err := oneOf("--format", format, formats); err != nil {
			return err
		}
		asCSV := format == "csv" || format == "" && strings.EqualFold(filepath.Ext(file), ".csv")
		q, err := flags.picked()
		if err != nil {
			return err
		}
		return flags.read(func(r *journal.Reader) error {
			return c.export(file, func(w io.Writer) error { return history.Write(w, asCSV, r.Entries(ctx, q)) })
		})
	})
	return cmd
}

// export calls write with a new file, or with standard output. It removes a partial file, which could be mistaken for a
// complete one.
func (c *console) export(file string, write func(io.Writer) error) error {
	if file == "" {
		return write(c.out)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return wrongUsage("%s already exists: name a new file", file)
	}
	if err != nil {
		return pathError(err)
	}
	if err = errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

type verified struct {
	OK      bool   `json:"ok"`
	Seq     int64  `json:"seq"` // of the head
	Head    string `json:"head"`
	Noted   int64  `json:"noted,omitempty"`  // number of the entry that was the head once
	Broken  int64  `json:"broken,omitempty"` // number of the entry
	Problem string `json:"problem,omitempty"`
}

func (c *console) historyVerify(flags *historyFlags) *cobra.Command {
	var head string
	cmd := c.withJSON(&cobra.Command{
		Use:   "verify",
		Short: "Check that nobody changed the history",
		Long: `Check every entry against the hash chain, and print the head: the number and the hash of the last entry.
If you keep a head elsewhere, --head checks that no entry up to it was changed, removed or added since. The exit status
is 1 if one was.`,
		Args: noArgs,
	}, "print JSON")
	cmd.Flags().StringVar(&head, "head", "", "the `hash` of an earlier head")
	cmd.RunE = c.runs(func(ctx context.Context, _ []string) error {
		if _, err := hex.DecodeString(head); err != nil || head == "" && cmd.Flags().Changed("head") {
			return wrongUsage("--head must be a hash that nod history verify printed, not %q", head)
		}
		return flags.read(func(r *journal.Reader) error { return c.verifyHistory(ctx, r, head) })
	})
	return cmd
}

func (c *console) verifyHistory(ctx context.Context, r *journal.Reader, noted string) error {
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	v := verified{OK: true, Seq: head.Seq, Head: head.Hash}
	if err := r.Verify(ctx); err != nil {
		broken, ok := errors.AsType[*journal.BrokenError](err)
		if !ok {
			return err
		}
		v.OK, v.Broken, v.Problem = false, broken.Seq, err.Error()
	}
	if noted != "" && v.OK {
		seq, err := r.Noted(ctx, noted)
		if err != nil && !errors.Is(err, interact.ErrNotFound) {
			return err
		}
		if err != nil {
			v.OK = false
			v.Problem = "no entry has the hash " + noted + ": entries have been changed or removed, or it is older than all"
		}
		v.Noted = seq
	}
	err = c.show(v, describeVerified(v))
	if !v.OK {
		err = errors.Join(&verdict{exitNo, v.Problem}, err)
	}
	return err
}

func describeVerified(v verified) string {
	if !v.OK {
		return ""
	}
	text := fmt.Sprintf("ok\nhead: %d %s\n", v.Seq, v.Head)
	if v.Noted > 0 {
		text += fmt.Sprintf("noted: %d, and nothing has changed up to it\n", v.Noted)
	}
	return text
}

func (c *console) historyStats(flags *historyFlags) *cobra.Command {
	since := "30d"
	cmd := c.withJSON(&cobra.Command{
		Use:   "stats",
		Short: "Print how often nod asked you, and how many calls passed",
		Long: `Print how often nod asked you, and how many calls passed, were denied or stayed unanswered, by day, agent,
project and tool; and how many prompts each rule and saved approval saved. In JSON, answered is the total time from
prompts to answers, in nanoseconds.`,
		Args: noArgs,
	}, "print JSON")
	cmd.Flags().StringVar(&since, "since", since, "count from this `time` on: 90d, or 2026-11-22")
	cmd.RunE = c.runs(func(ctx context.Context, _ []string) error {
		from, err := moment("--since", since, time.Now())
		if err != nil {
			return err
		}
		return flags.read(func(r *journal.Reader) error {
			in, err := r.Insights(ctx, from)
			if err != nil {
				return err
			}
			return c.show(in, describeInsights(in))
		})
	})
	return cmd
}

func describeInsights(in history.Insights) string {
	tables := []string{
		countTable("DAY", in.Days, func(n history.Count) string { return n.Day.Local().Format(time.DateOnly) }),
		countTable("AGENT", in.Agents, func(n history.Count) string { return n.Agent }),
		countTable("PROJECT", in.Projects, func(n history.Count) string { return n.Project }),
		countTable("TOOL", in.Tools, func(n history.Count) string { return n.Tool }),
	}
	if len(in.Rules) > 0 {
		rows := []string{"RULE\tSAVED\tLAST"}
		for _, r := range in.Rules {
			rows = append(rows, fmt.Sprintf("%s\t%d\t%s", safeCell(r.Rule), r.Saved, localTime(r.Last)))
		}
		tables = append(tables, columns(rows))
	}
	return strings.Join(tables, "\n")
}

func countTable(name string, counts []history.Count, of func(history.Count) string) string {
	rows := []string{name + "\tASKED\tPASSED\tDENIED\tMISSED\tTIME TO ANSWER"}
	for _, n := range counts {
		answer := time.Duration(0)
		if n.Asked > 0 {
			answer = (n.Answered / time.Duration(n.Asked)).Round(time.Second)
		}
		rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%s",
			safeCell(of(n)), n.Asked, n.Passed, n.Denied, n.Missed, cell(after(answer))))
	}
	return columns(rows)
}
