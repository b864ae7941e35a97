package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/policy/invisible"
)

// console is where a command reads and writes. It makes output to a terminal safe to display, and leaves output to a
// pipe or a file as it is.
type console struct {
	in       io.Reader
	out, err io.Writer
	terminal bool // out is one
	ran      bool // cobra found nothing wrong with the command line

	// Flags that several commands have.
	json bool // print JSON
	yes  bool // do not ask at the terminal
}

func newConsole(in, out, err *os.File) *console {
	return &console{in: in, out: out, err: err, terminal: isTerminal(out)}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// print writes text as it is, or safe to display on a terminal.
func (c *console) print(text string) error {
	if c.terminal {
		text = invisible.Visible(text)
	}
	if _, err := io.WriteString(c.out, text); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// consent asks at the terminal, unless --yes is set. Anything but y or yes is a no. It returns ctx's error if ctx ends
// first.
func (c *console) consent(ctx context.Context) error {
	if c.yes {
		return nil
	}
	fmt.Fprint(c.err, "Make these changes? [y/N] ")
	said := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(c.in).ReadString('\n')
		if err != nil {
			fmt.Fprintln(c.err)
		}
		said <- line
	}()
	select {
	case line := <-said:
		if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
			return nil
		}
		return &verdict{exitNo, "nothing changed"}
	case <-ctx.Done():
		fmt.Fprintln(c.err)
		return ctx.Err()
	}
}

func (c *console) withJSON(cmd *cobra.Command, usage string) *cobra.Command {
	cmd.Flags().BoolVar(&c.json, "json", false, usage)
	return cmd
}

func (c *console) withYes(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask")
	return cmd
}

// show writes v as indented JSON if --json is set, else text.
func (c *console) show(v any, text string) error {
	if !c.json {
		return c.print(text)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	return c.print(b.String())
}

func columns(lines []string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(lines, "\n"))
	w.Flush() // into memory: it cannot fail
	return b.String()
}

func (c *console) printReply(reply any) error {
	text, err := api.Encode(reply)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return c.print(string(text) + "\n")
}

// complain writes one line to standard error. It is for people, so it is always made safe to display.
func (c *console) complain(what, why string) {
	if what != "" && strings.HasPrefix(why, "needs ") {
		fmt.Fprintf(c.err, "nod %s %s\n", what, invisible.Visible(why))
		return
	}
	if what != "" {
		why = what + ": " + why
	}
	fmt.Fprintf(c.err, "nod: %s\n", oneLine(why))
}

func oneLine(text string) string { return strings.ReplaceAll(invisible.Visible(text), "\n", `\n`) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func texts[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}
