//go:build !relay

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"nod/agents/registry"
	"nod/policy"
	"nod/policy/replay"
)

type replayFlags struct {
	config         string
	asked, suggest bool
	sandbox        bool
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
read. With --suggest, suggest.rules holds rules as in config.yaml, with how many calls each spares.`,
		Example: `  nod policy replay
  nod policy replay --asked ~/.claude/projects/-home-me-src-shop
  nod policy replay --suggest`,
		Args: cobra.ArbitraryArgs,
	}
	cmd.RunE = c.runs(func(ctx context.Context, args []string) error { return c.replay(ctx, args, flags) })
	cmd.Flags().StringVar(&flags.config, "config", "", "decide by this `file` instead of config.yaml")
	c.withJSON(cmd, "print JSON")
	cmd.Flags().BoolVar(&flags.asked, "asked", false, "list the calls that nod asks about, with the reason")
	cmd.Flags().BoolVar(&flags.suggest, "suggest", false,
		"print a few rules that would have spared most prompts, as YAML to review and add")
	cmd.Flags().BoolVar(&flags.sandbox, "sandbox", false,
		"decide as if all projects' commands ran in the sandbox")
	cmd.MarkFlagsMutuallyExclusive("asked", "suggest")
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
	files, err := transcripts(paths)
	if err != nil {
		return err
	}
	bar := c.progress(files, flags.suggest)
	report, err := replay.Run(ctx, files, sim, replay.Options{
		Suggest: flags.suggest, Progress: func(n int64) { _ = bar.Add64(n) },
	})
	_ = bar.Exit() // its line is cleared; that it cannot be is nothing to fail for
	switch {
	case err != nil:
		return err
	case flags.suggest && !c.json:
		return c.printSuggestions(report)
	}
	return c.show(report, describeReport(report, flags.asked))
}

// simulation decides by the configuration at path, or by the one that nod-desktop reads.
func simulation(path string) (*policy.Simulation, error) {
	var args []string
	if path != "" {
		args = []string{path}
	}
	path, err := configPath(args)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	store, err := openPolicyAt(path)
	if err != nil {
		return nil, err
	}
	sim, err := store.Simulate()
	if err != nil {
		return nil, &verdict{exitNo, err.Error()}
	}
	return sim, nil
}

// transcripts finds those that are named, or those of all agents.
func transcripts(paths []string) ([]replay.File, error) {
	if len(paths) > 0 {
		files, err := registry.Transcripts(paths)
		return files, pathError(err)
	}
	return registry.AllTranscripts()
}

// progress returns a bar on standard error, which nobody sees where that is no terminal.
func (c *console) progress(files []replay.File, twice bool) *progressbar.ProgressBar {
	err, isFile := c.err.(*os.File)
	var size int64
	for _, f := range files {
		size += f.Size
	}
	if twice {
		size *= 2
	}
	return progressbar.NewOptions64(size, progressbar.OptionSetWriter(c.err), progressbar.OptionShowBytes(true),
		progressbar.OptionSetVisibility(isFile && isTerminal(err)),
		progressbar.OptionSetDescription("reading transcripts"), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth())
}

// describeReport lays out the numbers and, when asked to, every call that is asked about.
func describeReport(r *replay.Report, asked bool) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %s%s\n", count(r.Files, "transcript"), count(r.Calls, "tool call"), leftOut(r))
	if r.Calls > 0 {
		b.WriteByte('\n')
		writeCounts(&b, r)
		if r.Contained > 0 {
			fmt.Fprintf(&b, "\nOf what passed, %s in the sandbox.\n", runs(r.Contained))
		}
		fmt.Fprintf(&b, "\nA person who answers \"always\" where it is offered sees %s: %.1f in 100 calls.\n",
			count(r.Always, "prompt"), r.PerHundred())
	}
	if asked {
		writeAsked(&b, r)
	}
	return b.String()
}

// leftOut says what of the transcripts is not counted.
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
	for _, p := range r.Agents {
		row(p.Counts, p.Name)
	}
	for _, p := range r.Projects {
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

// printSuggestions prints YAML: rules to add, and what speaks for them in comments.
func (c *console) printSuggestions(r *replay.Report) error {
	if len(r.Rules.Rules) == 0 {
		return c.print(fmt.Sprintf("# %s in %s: no rule would have spared many of them\n",
			count(r.Asked, "prompt"), count(r.Calls, "call")))
	}
	var part struct {
		Policy struct {
			Rules []policy.Rule `yaml:"rules"`
		} `yaml:"policy"`
	}
	for _, s := range r.Rules.Rules {
		part.Policy.Rules = append(part.Policy.Rules, s.Rule)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Look at these rules, and add to policy.rules in config.yaml those that you want.
# Without them nod asks about %d of %d calls, with all of them about %d.
# For a person who answers "always" where it is offered, these are %d and %d.
`, r.Asked, r.Calls, r.Rules.Asked, r.Always, r.Rules.Always)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(part); err != nil {
		return fmt.Errorf("write the rules as YAML: %w", err)
	}
	return c.print(b.String())
}

// oneLine keeps text on its line, safe to look at.
func oneLine(text string) string { return strings.ReplaceAll(policy.Visible(text), "\n", `\n`) }

func runs(n int) string {
	if n == 1 {
		return "1 call runs"
	}
	return fmt.Sprintf("%d calls run", n)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
