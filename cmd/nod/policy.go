//go:build !relay

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nod/policy"
	"nod/policy/config"
	"nod/policy/store"
)

func (c *console) policy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check and explain rules",
		Args:  cobra.ArbitraryArgs,
		RunE:  c.needCommand,

		SuggestionsMinimumDistance: suggestDistance,
	}
	cmd.AddCommand(c.policyCheck(), c.policyExplain())
	return cmd
}

func (c *console) policyCheck() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "check [FILE]",
		Short: "Check config.yaml",
		Long: `Read config.yaml (or FILE) as nod-desktop does, try the examples of its rules, and print ok, or the errors and
their lines. The exit status is 1 if there is an error; nod-desktop then asks about everything.`,
		Args: cobra.MaximumNArgs(1),
		RunE: c.runs(func(_ context.Context, args []string) error {
			path, err := configPath(args)
			if err != nil {
				return err
			}
			err = checkConfig(path)
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

// configPath is the file that args name, which must be there, or the one that nod-desktop reads.
func configPath(args []string) (string, error) {
	if len(args) == 0 {
		return config.DefaultPath()
	}
	_, err := os.Stat(args[0])
	return args[0], pathError(err)
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
	cmd.RunE = c.runs(func(context.Context, []string) error {
		err := flags.read(c)
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

// folderOr makes a folder absolute, or returns the current one.
func folderOr(folder string) (string, error) {
	if folder == "" {
		return os.Getwd()
	}
	return filepath.Abs(folder)
}

func openPolicy() (*store.Store, error) {
	path, err := config.DefaultPath()
	if err != nil {
		return nil, err
	}
	grants, err := store.GrantsPath()
	if err != nil {
		return nil, err
	}
	return store.Open(path, grants, nil)
}

type explained struct {
	Decision string   `json:"decision"` // allow, sandbox, ask or deny
	Class    string   `json:"class"`
	Rule     string   `json:"rule,omitempty"` // id of the rule, grant or built-in that decides
	Steps    []string `json:"steps"`
}

func (c *console) explainCall(call policy.Call) error {
	store, err := openPolicy()
	if err != nil {
		return err
	}
	d, steps := store.Explain(call)
	r := explained{Decision: string(d.Effect), Class: string(d.Class), Rule: d.Rule, Steps: steps}
	if err := c.show(r, strings.Join(append(steps, ""), "\n")); err != nil {
		return err
	}
	if !d.Effect.Permits() {
		return &verdict{status: exitNo}
	}
	return nil
}
