package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"nod/policy"
)

// policy returns the command for the policy file.
func (c *console) policy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check the file with the rules",
		Args:  cobra.ArbitraryArgs,
		RunE:  c.needCommand,

		SuggestionsMinimumDistance: suggestDistance,
	}
	cmd.AddCommand(c.policyCheck())
	return cmd
}

// policyCheck returns the command that says whether nod-desktop would take a configuration.
func (c *console) policyCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Print ok, or what is wrong with config.yaml",
		Long: `Read config.yaml (or FILE) as nod-desktop does, and print ok, or what is wrong with it, with the line.
The exit status is 1 when something is wrong; nod-desktop then asks about everything.`,
		Args: cobra.MaximumNArgs(1),
		RunE: runs(func(_ context.Context, args []string) error {
			path, err := configPath(args)
			if err != nil {
				return err
			}
			if err := checkConfig(path); err != nil {
				return &verdict{exitNo, err.Error()}
			}
			return c.print("ok\n")
		}),
	}
}

// configPath is the file that args name, which must be there, or the one that nod-desktop reads.
func configPath(args []string) (string, error) {
	if len(args) == 0 {
		return policy.DefaultPath()
	}
	if _, err := os.Stat(args[0]); err != nil {
		return "", &inputError{args[0], why(err)}
	}
	return args[0], nil
}

// checkConfig returns what is wrong with the configuration. That there is none is fine: the defaults hold.
func checkConfig(path string) error {
	_, err := policy.Check(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
