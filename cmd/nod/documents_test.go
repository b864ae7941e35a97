package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nod/e2e/documents"
)

// TestDocumentsNameWhatThereIs checks that each command line of nod in the documents has subcommands and flags that
// exist, and that those which nobody runs have the arguments that they need.
func TestDocumentsNameWhatThereIs(t *testing.T) {
	all, err := documents.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		commands, _ := d.Commands("nod") // the documents' own test reports what cannot be parsed
		for _, c := range commands {
			if c.Words[0] != "nod" {
				continue
			}
			if err := understand(c); err != nil {
				t.Errorf("%s:%d: %s: %v", d.Path, c.Line, strings.Join(c.Words, " "), err)
			}
		}
		for _, s := range d.Spans {
			if err := knowFlag(s.Text); err != nil {
				t.Errorf("%s:%d: %v", d.Path, s.Line, err)
			}
		}
	}
}

// placeholder is a word that stands for others.
var placeholder = regexp.MustCompile(`^(…|[A-Z][A-Z_-]*…?)$`)

// understand returns why nod would refuse a command line.
func understand(c documents.Command) error {
	words := slices.DeleteFunc(slices.Clone(c.Words[1:]), func(word string) bool { return c.InText && word == "…" })
	root := newRoot(newConsole(nil, nil, nil))
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	switch args := cmd.Flags().Args(); {
	case cmd.HasSubCommands() && len(args) > 0 && !placeholder.MatchString(args[0]):
		return fmt.Errorf("%s has no command %q", cmd.CommandPath(), args[0])
	case !c.InText && !cmd.HasSubCommands():
		return cmd.ValidateArgs(args)
	}
	return nil
}

// othersFlags are flags of other programs, which the documents name in sentences.
var othersFlags = []string{
	"--allow-all-tools", "--bare", "--disable", "--eval", "--exec", "--permission-mode", "--permission-prompt-tool",
	"--pure", "--purge", "--safe-mode", "--setting-sources", "--settings", "--user", "--yolo",
}

// knowFlag returns an error if code in a sentence is a flag that nobody has.
func knowFlag(code string) error {
	first, _, _ := strings.Cut(code, " ")
	name, _, _ := strings.Cut(strings.TrimPrefix(first, "--"), "=")
	if !strings.HasPrefix(first, "--") || name == "" || slices.Contains(othersFlags, "--"+name) {
		return nil
	}
	if slices.Contains(flagsOf(newRoot(newConsole(nil, nil, nil))), name) || desktopHas(name) {
		return nil
	}
	return fmt.Errorf("nothing of nod's has a flag --%s: if another program has, add it to othersFlags", name)
}

// flagsOf are the flags of a command, and of those under it.
func flagsOf(cmd *cobra.Command) []string {
	var names []string
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, sub := range cmd.Commands() {
		names = append(names, flagsOf(sub)...)
	}
	return names
}

// desktopHas reports whether nod-desktop has a flag.
func desktopHas(name string) bool {
	source, err := os.ReadFile("../../main.go")
	return err == nil && strings.Contains(string(source), fmt.Sprintf("%q", name))
}

func TestUnderstand(t *testing.T) {
	for _, test := range []struct {
		line   string
		inText bool
		want   string
	}{
		{line: "nod ask Which?"},
		{line: "nod agents check claude-code"},
		{line: "nod history --since 2d --outcome denied"},
		{line: "nod acp -- gemini --acp"},
		{line: "nod ask", want: "needs a question"},
		{line: "nod ask Which one?", want: "put text with spaces in quotes"},
		{line: "nod agents install claude codex", want: "an agent, not 2 arguments: put text with spaces in quotes"},
		{line: "nod asks Which?", want: `no command "asks"`},
		{line: "nod ask Which? --colour red", want: "unknown flag"},
		{line: "nod agents chek claude-code", want: `no command "chek"`},
		{line: "nod ask --option", want: "needs an argument"},
		{line: "nod ask", inText: true},
		{line: "nod agents …", inText: true},
		{line: "nod agents COMMAND", inText: true},
		{line: "nod approve … --detach", inText: true},
		{line: "nod agents chek", inText: true, want: `no command "chek"`},
		{line: "nod approve … --detached", inText: true, want: "unknown flag"},
	} {
		err := understand(documents.Command{Words: strings.Fields(test.line), InText: test.inText})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.line, err, test.want)
		}
	}
	for code, known := range map[string]bool{
		"--hold 50s": true, "--json": true, "--background": true, "--yolo": true, "--": true, "-p": true,
		"--holds": false, "--only-gates=yes": false,
	} {
		if err := knowFlag(code); (err == nil) != known {
			t.Errorf("%s: %v, want known: %v", code, err, known)
		}
	}
}
