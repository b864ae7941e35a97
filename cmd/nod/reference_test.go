package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write the reference of the command line")

// TestReference has docs/cli.md say what each command's --help does.
func TestReference(t *testing.T) {
	const page = "../../docs/cli.md"
	want := reference(newRoot(newConsole(os.Stdin, os.Stdout, os.Stderr)))
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s says something else: run go test ./cmd/nod -run Reference -update", page)
	}
}

// reference is the page with all commands.
func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands of nod\n\nWhat each command of `nod` takes, as `nod help COMMAND` prints it. " +
		"[Scripts](scripts.md) shows how to use them.\n\n")
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "**%s**\n\n| command | |\n|---|---|\n", strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range available(root) {
			if cmd.GroupID == group.ID {
				contents(&b, cmd)
			}
		}
		b.WriteByte('\n')
	}
	var write func(cmd *cobra.Command)
	write = func(cmd *cobra.Command) {
		entry(&b, cmd)
		for _, sub := range available(cmd) {
			write(sub)
		}
	}
	write(root)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// contents writes rows with links to a command, and to those under it.
func contents(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "| [`%s`](#%s) | %s |\n", cmd.CommandPath(), pageName(cmd), cmd.Short)
	for _, sub := range available(cmd) {
		contents(b, sub)
	}
}

// entry writes what there is to say of one command. Its words are set as they are: as help sets them.
func entry(b *strings.Builder, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	if !cmd.HasAvailableSubCommands() {
		text += "\n\nUsage:\n  " + cmd.UseLine()
		if cmd.Example != "" {
			text += "\n\nExamples:\n" + strings.Trim(cmd.Example, "\n")
		}
		text += "\n\nFlags:\n" + strings.TrimRight(cmd.LocalFlags().FlagUsages(), "\n")
	}
	fmt.Fprintf(b, "## %s\n\n```text\n%s\n```\n\n", cmd.CommandPath(), strings.TrimSpace(text))
}
