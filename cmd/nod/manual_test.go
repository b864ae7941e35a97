package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nod/version"
)

var manual = flag.String("manual", "", "write the pages of the manual into this `folder`")

// TestManual writes a page of the manual for each command. A test does, so that nod has none of it.
func TestManual(t *testing.T) {
	dir := *manual
	if dir == "" {
		dir = t.TempDir()
	}
	root := newRoot(newConsole(os.Stdin, os.Stdout, os.Stderr))
	var write func(*cobra.Command)
	write = func(cmd *cobra.Command) {
		path := filepath.Join(dir, pageName(cmd)+".1")
		if err := os.WriteFile(path, []byte(page(cmd)), 0o644); err != nil {
			t.Fatal(err)
		}
		checkPage(t, cmd, path)
		for _, sub := range available(cmd) {
			write(sub)
		}
	}
	write(root)
	for _, name := range []string{"nod", "nod-approve", "nod-agents-install"} {
		if _, err := os.Stat(filepath.Join(dir, name+".1")); err != nil {
			t.Error(err)
		}
	}
}

// overstruck is how terminals of old get bold letters: each is printed, and printed over.
var overstruck = regexp.MustCompile(".\b")

// checkPage has mandoc read the page, and looks for the options in what it understood.
func checkPage(t *testing.T, cmd *cobra.Command, path string) {
	t.Helper()
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Logf("%s is not checked: %v", filepath.Base(path), err)
		return
	}
	if out, err := exec.Command("mandoc", "-T", "lint", "-W", "warning", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := exec.Command("mandoc", "-T", "utf8", "-O", "width=100", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	text := overstruck.ReplaceAllString(string(out), "")
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !strings.Contains(text, "--"+f.Name) {
			t.Errorf("%s does not name --%s:\n%s", filepath.Base(path), f.Name, text)
		}
	})
	if !strings.Contains(text, cmd.Short) && len(cmd.Short) < 60 {
		t.Errorf("%s does not say %q:\n%s", filepath.Base(path), cmd.Short, text)
	}
}

// page is a command's page, in the man macros of roff.
func page(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	var b strings.Builder
	date := version.Get().Date
	fmt.Fprintf(&b, ".TH %s 1 %s %q nod\n", strings.ToUpper(pageName(cmd)), date.UTC().Format(time.DateOnly),
		"nod "+version.Number())
	b.WriteString(".nh\n.ad l\n") // neither hyphens nor gaps in what people copy
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	arguments := strings.TrimSpace(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath()))
	if len(available(cmd)) > 0 {
		arguments = strings.TrimSpace("[COMMAND] " + arguments)
	}
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n%s\n", roff(cmd.CommandPath()), roff(arguments))
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n" + prose(long))
	if subs := available(cmd); len(subs) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range subs {
			fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(pageName(sub)), roff(sub.Short))
		}
	}
	b.WriteString(".SH OPTIONS\n")
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { b.WriteString(option(f)) })
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n" + verbatim(strings.Split(strings.Trim(cmd.Example, "\n"), "\n")))
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(pageName(cmd.Parent())))
	} else {
		b.WriteString(".SH SEE ALSO\n.BR nod\\-desktop (1)\n")
	}
	return b.String()
}

// option is a flag with what it is for.
func option(f *pflag.Flag) string {
	if f.Hidden {
		return ""
	}
	value, usage := pflag.UnquoteUsage(f)
	name := `\fB` + roff("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		name = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + name
	}
	if value != "" {
		name += ` \fI` + roff(value) + `\fR`
	}
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
	default:
		usage += " (default: " + f.DefValue + ")"
	}
	return ".TP\n" + name + "\n" + roff(usage) + "\n"
}

// prose is text as paragraphs; indented lines stay as they are.
func prose(text string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		var asIs []string
		flush := func() {
			if len(asIs) > 0 {
				b.WriteString(verbatim(asIs))
			}
			asIs = nil
		}
		for line := range strings.Lines(paragraph) {
			line = strings.TrimRight(line, "\n")
			if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
				asIs = append(asIs, line)
				continue
			}
			flush()
			if line != "" {
				b.WriteString(roff(line) + "\n")
			}
		}
		flush()
	}
	return b.String()
}

// verbatim is lines that are not filled.
func verbatim(lines []string) string {
	var b strings.Builder
	b.WriteString(".RS 2\n.nf\n")
	for _, line := range lines {
		b.WriteString(roff(strings.TrimPrefix(line, "  ")) + "\n")
	}
	return b.String() + ".fi\n.RE\n"
}

// roff is a line of plain text.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// available are the commands under cmd that help shows.
func available(cmd *cobra.Command) []*cobra.Command {
	var subs []*cobra.Command
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			subs = append(subs, sub)
		}
	}
	return subs
}
