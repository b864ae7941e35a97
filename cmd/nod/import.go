//go:build !relay

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/policy/config"
	"nod/policy/imports"
	"nod/policy/invisible"
)

func (c *console) policyImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import AGENT [FILE…]",
		Short: "Import an agent's permission rules, as far as nod can express them",
		Long: `Translate an agent's permission rules: those in FILE, or in the files that the agent reads in this folder.
Prints the new rules, and the rules it leaves out with the reason, and asks before it changes config.yaml. No allow rule
gets broader and no deny rule narrower: the import leaves out rules that nod can't express. nod-desktop shows the change
and asks you to accept it, as with every change from outside.`,
		Example:   "  nod policy import claude-code",
		ValidArgs: registry.Names(registry.WithRules()),
		Args:      cobra.ArbitraryArgs,
	}
	cmd.RunE = c.runs(func(_ context.Context, args []string) error {
		if len(args) == 0 {
			return wrongUsage("needs an agent: %s", strings.Join(registry.Names(registry.WithRules()), ", "))
		}
		a, err := registry.Find(registry.WithRules(), args[0])
		if err != nil {
			return wrongUsage("%v", err)
		}
		return c.importRules(a, args[1:])
	})
	return c.withJSON(c.withYes(cmd), "print JSON; without --yes nothing is changed")
}

func (c *console) importRules(a agent.Agent, paths []string) error {
	files, err := importFiles(a, paths)
	if err != nil {
		return err
	}
	store, err := openPolicy()
	if err != nil {
		return err
	}
	if err := store.Err(); err != nil {
		return &verdict{exitNo, err.Error()}
	}
	found, err := a.Rules.Translate(a.Name, files, store.Config().Policy.Rules)
	if err != nil {
		return &verdict{exitNo, err.Error()}
	}
	text, err := describeImport(found, len(files))
	if err != nil {
		return err
	}
	if err := c.show(found, text); err != nil || len(found.Rules) == 0 || (c.json && !c.yes) {
		return err
	}
	if err := c.consent(); err != nil {
		return err
	}
	if err := store.Update(func(cfg *config.Config) error {
		cfg.Policy.Rules = append(cfg.Policy.Rules, found.Rules...)
		return nil
	}); err != nil {
		return err
	}
	if c.json {
		return nil
	}
	return c.print("done; a running nod-desktop shows the change and asks you to accept it\n")
}

// importFiles opens the files that were named, or those that the agent would read here.
func importFiles(a agent.Agent, paths []string) ([]imports.File, error) {
	m, err := machine()
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		folder, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("find the current folder: %w", err)
		}
		return a.Rules.Find(a.Folder(m), folder)
	}
	files, err := a.Rules.Open(paths, a.Folder(m))
	return files, pathError(err)
}

// describeImport says what would be added as it would stand in the file, and what is left out.
func describeImport(found imports.Result, files int) (string, error) {
	var b strings.Builder
	if files == 0 {
		b.WriteString("no file with rules was found\n")
	}
	if len(found.Rules) > 0 {
		text, err := yaml.Marshal(found.Rules)
		if err != nil {
			return "", fmt.Errorf("write the rules as YAML: %w", err)
		}
		fmt.Fprintf(&b, "to add:\n%s", text)
	} else {
		b.WriteString("nothing to add\n")
	}
	if found.Present > 0 {
		fmt.Fprintf(&b, "there already: %d\n", found.Present)
	}
	if len(found.Left) > 0 {
		b.WriteString("left out:\n")
	}
	for _, l := range found.Left {
		fmt.Fprintf(&b, "%s:%d: %s\n    %s\n",
			invisible.Visible(filepath.ToSlash(l.File)), l.Line, invisible.Visible(l.Text), invisible.Visible(l.Reason))
	}
	return b.String(), nil
}
