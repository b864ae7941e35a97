//go:build !relay

package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nod/agents/registry"
	"nod/policy"
	"nod/policy/replay"
)

type replayFlags struct {
	config         string
	asked, sandbox bool
}

func (c *console) policyReplay() *cobra.Command {
	var flags replayFlags
	cmd := &cobra.Command{
		Use:   "replay [FILE|FOLDER…]",
		Short: "Print what nod would have decided about the calls in agents' transcripts",
		Long: `Read the session transcripts of Claude Code and Codex, and print what nod would have done with every tool call:
passed, asked or denied. FILE is a transcript; FOLDER is searched for *.jsonl transcripts, subfolders included. Without
either, nod reads the agents' folders: ~/.claude/projects and ~/.codex/sessions, or those that CLAUDE_CONFIG_DIR and
CODEX_HOME name.

nod decides by its configuration, or by the one in --config, and by the files on disk now. Rules on programs match no
call, because transcripts name no programs, and saved approvals don't count. The prompts "with always" are those left if
you choose Always wherever you can. The agents themselves may have asked nod about fewer calls.

Nothing is sent, run or written.

--sandbox decides as if every project's commands ran in the sandbox wherever they can.

--json prints one object. calls is the sum of passed, asked and denied; in_sandbox counts the passed calls that ran in
the sandbox; asked_with_always counts the prompts left if you choose Always. agents and projects hold the same numbers
by name; asked_list holds every distinct call that nod asks about, with the reason and how often (times,
times_with_always); files, skipped_lines and questions (calls that ask the user, counted nowhere else) say what nod
read.

Suggestions, in nod's settings, has rules that would have spared most prompts.`,
		Example: `  nod policy replay
  nod policy replay --asked ~/.claude/projects/-home-me-src-shop`,
		Args: cobra.ArbitraryArgs,
	}
	cmd.RunE = c.runs(func(ctx context.Context, args []string) error { return c.replay(ctx, args, flags) })
	cmd.Flags().StringVar(&flags.config, "config", "", "decide by this `file` instead of config.yaml")
	c.withJSON(cmd, "print JSON")
	cmd.Flags().BoolVar(&flags.asked, "asked", false, "list the calls that nod asks about, with the reason")
	cmd.Flags().BoolVar(&flags.sandbox, "sandbox", false,
		"decide as if all projects' commands ran in the sandbox")
	return cmd
}

func (c *console) replay(ctx context.Context, paths []string, flags replayFlags) error {
	sim, err := simulation(flags.config)
	if err != nil {
		return err
	}
	if flags.sandbox {
		sim.InSandbox()
	}
	files, err := registry.Transcripts(paths)
	if err != nil {
		return pathError(err)
	}
	report, err := replay.Run(ctx, files, sim, replay.Options{})
	if err != nil {
		return err
	}
	return c.show(report, describeReport(report, flags.asked))
}

func simulation(path string) (*policy.Simulation, error) {
	path, err := configPath(path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	store, err := openPolicy(path)
	if err != nil {
		return nil, err
	}
	sim, err := store.Simulate()
	if err != nil {
		return nil, &verdict{exitNo, err.Error()}
	}
	return sim, nil
}

func describeReport(r *replay.Report, asked bool) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %s%s\n", count(r.Files, "transcript"), count(r.Calls, "tool call"), leftOut(r))
	if r.Calls > 0 {
		b.WriteByte('\n')
		writeCounts(&b, r)
		if r.Contained > 0 {
			fmt.Fprintf(&b, "\nPassed in the sandbox: %d.\n", r.Contained)
		}
		fmt.Fprintf(&b, "\nA user who answers \"always\" where it is offered sees %s: %.1f in 100 calls.\n",
			count(r.Always, "prompt"), r.PerHundred())
	}
	if asked {
		writeAsked(&b, r)
	}
	return b.String()
}

func leftOut(r *replay.Report) string {
	var parts []string
	if r.Questions > 0 {
		parts = append(parts, count(r.Questions, "question"))
	}
	if r.Skipped > 0 {
		parts = append(parts, count(r.Skipped, "broken line"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; not counted: " + strings.Join(parts, ", ")
}

func writeCounts(b *bytes.Buffer, r *replay.Report) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(c replay.Counts, name string) {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t  %s\n", c.Calls, c.Passed, c.Asked, c.Denied, c.Always, oneLine(name))
	}
	fmt.Fprintln(w, "calls\tpassed\tasked\tdenied\twith always\t")
	row(r.Counts, "all")
	for _, p := range slices.Concat(r.Agents, r.Projects) {
		row(p.Counts, p.Name)
	}
	_ = w.Flush() // to memory
}

func writeAsked(b *bytes.Buffer, r *replay.Report) {
	for _, a := range r.List {
		fmt.Fprintf(b, "\n%d× %s: %s\n    %s\n", a.Times, oneLine(a.Tool), oneLine(a.Call), oneLine(a.Reason))
	}
	if r.Left > 0 {
		fmt.Fprintf(b, "\nand %s more\n", count(r.Left, "call"))
	}
}
