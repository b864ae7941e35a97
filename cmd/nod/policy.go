//go:build !relay

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"nod/policy"
	"nod/policy/config"
	"nod/policy/shell"
)

func (c *console) policy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check, explain, test and replay rules",
		Args:  cobra.ArbitraryArgs,
		RunE:  c.needCommand,

		SuggestionsMinimumDistance: suggestDistance,
	}
	cmd.AddCommand(c.policyCheck(), c.policyExplain(), c.policyTest(), c.policyShell(), c.policyReplay())
	return cmd
}

func (c *console) policyCheck() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "check [FILE]",
		Short: "Check config.yaml",
		Long: `Read config.yaml (or FILE) as nod-desktop does, and print ok, or the error and its line. The exit status is
1 if there is an error; nod-desktop then asks about everything.`,
		Args: cobra.MaximumNArgs(1),
		RunE: c.runs(func(_ context.Context, args []string) error {
			path, err := configPath(strings.Join(args, ""))
			if err != nil {
				return err
			}
			_, err = checkConfig(path)
			r := checkedFile{File: path, OK: err == nil}
			if err == nil {
				return c.show(r, "ok\n")
			}
			if r.Problem = err.Error(); c.json {
				err = c.show(r, "")
			}
			return errors.Join(&verdict{exitNo, r.Problem}, err)
		}),
	}, "print JSON")
}

type checkedFile struct {
	File    string `json:"file"`
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"`
}

func (c *console) policyTest() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "test [FILE]",
		Short: "Test the examples of the rules in config.yaml",
		Long: `Test every example of every rule in config.yaml (or FILE) and print the results. The exit status is 1 if one
fails; nod-desktop rejects such a file.`,
		Args: cobra.MaximumNArgs(1),
		RunE: c.runs(func(_ context.Context, args []string) error {
			path, err := configPath(strings.Join(args, ""))
			if err != nil {
				return err
			}
			return c.testExamples(path)
		}),
	}, "print JSON")
}

func (c *console) testExamples(path string) error {
	results, err := config.TestExamples(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &verdict{exitNo, err.Error()}
	}
	results = append([]policy.ExampleResult{}, results...) // no examples are an empty list in JSON, too
	failed := 0
	for _, r := range results {
		if r.Problem != "" {
			failed++
		}
	}
	if err := c.show(results, describeExamples(results, failed)); err != nil || failed == 0 {
		return err
	}
	return &verdict{status: exitNo}
}

func describeExamples(results []policy.ExampleResult, failed int) string {
	var b strings.Builder
	for _, r := range results {
		mark, want := "ok  ", "match"
		if !r.Match {
			want = "no_match"
		}
		text := fmt.Sprintf("%s  %s  %s", r.Rule, want, strconv.QuoteToGraphic(r.Text))
		if r.Problem != "" {
			mark, text = "FAIL", text+": "+r.Problem
		}
		b.WriteString(mark + "  " + text + "\n")
	}
	fmt.Fprintf(&b, "%d examples, %d failed\n", len(results), failed)
	return b.String()
}

// configPath returns the named file, which must exist, or the one that nod-desktop reads.
func configPath(named string) (string, error) {
	if named == "" {
		return config.DefaultPath()
	}
	_, err := os.Stat(named)
	return named, pathError(err)
}

func (c *console) policyExplain() *cobra.Command {
	var who policy.Call
	cmd := &cobra.Command{
		Use:   "explain --tool NAME --input JSON",
		Short: "Print what the rules decide about a tool call, step by step",
		Long: `Print what the rules decide about a tool call, step by step. This reads nod-desktop's files, and works
without nod-desktop. It knows no requesting program, and only permanent saved approvals. The exit status is 0 for allow
and sandbox, and 1 otherwise.`,
		Example: `  nod policy explain --agent claude-code --tool Bash --input '{"command":"git status"}'`,
		Args:    noArgs,
	}
	flags := newCallFlags(cmd)
	cmd.Flags().StringVar(&who.Agent, "agent", policy.Script, "the agent's name for itself")
	cmd.Flags().StringVar(&who.Session, "session", "", "the agent's session")
	cmd.Flags().BoolVar(&who.Contains, "sandbox", false, "nod can run this agent's commands in the sandbox")
	cmd.Flags().StringVar(&who.CWD, "cwd", "", "`folder` the agent works in (default: the current one)")
	c.withJSON(cmd, "print JSON")
	cmd.RunE = c.runs(func(ctx context.Context, _ []string) error {
		err := flags.read(ctx, c)
		if err != nil {
			return err
		}
		if who.CWD, err = folderOr(who.CWD); err != nil {
			return err
		}
		a := flags.request
		who.Undoes = who.Contains
		who.Tool, who.Input, who.Declared = a.Tool, policy.ReadInput(a.Input), policy.Class(a.Class)
		return c.explainCall(who)
	})
	return cmd
}

func folderOr(folder string) (string, error) {
	if folder == "" {
		return os.Getwd()
	}
	return filepath.Abs(folder)
}

func openPolicy(path string) (*config.Store, error) {
	grants, err := config.GrantsPath()
	if err != nil {
		return nil, err
	}
	return config.Open(path, grants, nil)
}

type explained struct {
	Decision string   `json:"decision"` // allow, sandbox, ask or deny
	Class    string   `json:"class"`
	Rule     string   `json:"rule,omitempty"` // id of the rule, grant or built-in that decides
	Steps    []string `json:"steps"`
}

func (c *console) explainCall(call policy.Call) error {
	path, err := config.DefaultPath()
	if err != nil {
		return err
	}
	store, err := openPolicy(path)
	if err != nil {
		return err
	}
	d, steps := store.Explain(call)
	r := explained{Decision: string(d.Effect), Class: string(d.Class), Rule: d.Rule, Steps: steps}
	var text strings.Builder
	for _, step := range steps {
		text.WriteString(oneLine(step) + "\n")
	}
	if err := c.show(r, text.String()); err != nil {
		return err
	}
	if !d.Effect.Permits() {
		return &verdict{status: exitNo}
	}
	return nil
}

func (c *console) policyShell() *cobra.Command {
	return &cobra.Command{
		Use:   "shell",
		Short: "Say whether shell commands only read",
		Long: `Read JSON lines {"command": "…", "trusted": true|false} from standard input, and write for each one line
{"read_only": …, "programs": […], "reason": "…"}, in the same order. Runs nothing and opens no file. trusted means that
the folder's git repository names no programs. Any other line counts as not read-only.`,
		Args: noArgs,
		RunE: c.runs(func(context.Context, []string) error { return c.readCommands() }),
	}
}

type verdictLine struct {
	ReadOnly bool     `json:"read_only"`
	Programs []string `json:"programs"`
	Reason   string   `json:"reason"`
}

func (c *console) readCommands() error {
	in := bufio.NewReader(c.in)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err := c.printReply(judgeLine(line)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
	}
}

// judgeLine judges one line. Reading a file that keeps secrets needs a prompt, whatever program reads it.
func judgeLine(line []byte) verdictLine {
	var in struct {
		Command *string `json:"command"`
		Trusted bool    `json:"trusted"`
	}
	if err := json.Unmarshal(line, &in); err != nil || in.Command == nil {
		return verdictLine{Reason: `The line is not {"command": "…", "trusted": true|false}.`}
	}
	if !utf8.Valid(line) { // the decoder would replace what is not
		return verdictLine{Reason: "The command is not valid UTF-8."}
	}
	return judgeCommand(*in.Command, in.Trusted)
}

func judgeCommand(command string, trusted bool) verdictLine {
	a := shell.Analyze(command)
	v := verdictLine{ReadOnly: a.ReadOnly, Programs: a.Programs, Reason: strings.Join(a.Reasons, " ")}
	refuse := func(format string, args ...any) {
		if v.ReadOnly {
			v.ReadOnly, v.Reason = false, fmt.Sprintf(format, args...)
		}
	}
	for _, folder := range a.Folders {
		refuse("It changes to %q, which is not a folder below this one.", folder)
	}
	for _, folder := range a.Repositories {
		if folder != "" || !trusted {
			refuse("Nobody has looked whether the git repository there names programs.")
		}
	}
	if a.Remotes {
		refuse("Nobody has looked whether the addresses that it prints hold a password or token.")
	}
	for _, p := range a.Parts {
		for _, access := range p.Accesses {
			if policy.Leaks(access) || shell.Special(access.Path) {
				refuse("%q may contain keys, passwords or tokens.", access.Path)
			}
		}
	}
	return v
}
