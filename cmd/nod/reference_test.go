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

// TestReference has docs/cli.md name every command.
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

// reference is the page that names all commands.
func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n`nod help COMMAND` explains a command and its flags, with examples. So does " +
		"`man nod-COMMAND`, where a package\ninstalled nod. [Scripts](scripts.md) has the exit statuses.\n")
	for _, group := range root.Groups() {
		title := strings.TrimSuffix(group.Title, ":")
		fmt.Fprintf(&b, "\n## %s\n\n| command | what it does |\n|---|---|\n", title)
		for _, cmd := range available(root) {
			if cmd.GroupID == group.ID {
				rows(&b, cmd)
			}
		}
	}
	return b.String()
}

// rows writes a row for a command, or for each of those under it that it needs.
func rows(b *strings.Builder, cmd *cobra.Command) {
	under := available(cmd)
	if cmd.Name() == "completion" {
		under = nil // a command for each shell
	}
	if cmd.Runnable() || len(under) == 0 {
		usage := strings.TrimSuffix(cmd.UseLine(), " [flags]")
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(usage, "|", `\|`), cmd.Short)
	}
	for _, sub := range under {
		rows(b, sub)
	}
}
