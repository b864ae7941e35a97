package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"nod/packaging/tree"
)

// contents says what a release consists of.
type contents struct {
	programs []string // built for it
	rows     [][4]string
	lacks    []string
	makeup   []string
}

// add takes note of a file of the release. The state says whether its programs were run.
func (c *contents) add(path, what, state string) {
	size := "?"
	if info, err := os.Stat(path); err == nil {
		size = megabytes(info.Size())
	}
	c.rows = append(c.rows, [4]string{filepath.Base(path), what, size, state})
}

// lack takes note of what a platform is without, and of what was built for it all the same.
func (c *contents) lack(p tree.Platform, why string, built []string) {
	line := fmt.Sprintf("all of nod for %s is not built: %s", p, why)
	if len(built) > 1 {
		line += fmt.Sprintf(" (its %s build, but there is nothing to start without the windows)", programs(built))
	}
	c.lacks = append(c.lacks, line)
}

// made takes note of what makes up a package: each part as it is installed and, roughly, what it adds.
func (c *contents) made(p tree.Platform, t tree.Tree) {
	var rest []byte
	part := func(name string, data []byte) {
		c.makeup = append(c.makeup, fmt.Sprintf("| %s | %s | %s | %s |", p, name, megabytes(int64(len(data))), packed(data)))
	}
	for _, f := range t {
		if f.Mode == 0o755 {
			part(f.Path, f.Data)
		} else {
			rest = append(rest, f.Data...)
		}
	}
	part("manual, completions, icons, licences", rest)
}

func packed(data []byte) string {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		return "?"
	}
	_, _ = w.Write(data) // cannot fail in memory
	_ = w.Close()
	return megabytes(int64(b.Len()))
}

// text is the list in Markdown.
func (c *contents) text(version string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# nod %s\n\n| file | what | size | its programs |\n|---|---|---:|---|\n", version)
	for _, row := range c.rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row[:], " | "))
	}
	b.WriteString("\nRun: each program was started on the machine that made this.")
	b.WriteString(" Only built: nothing there runs it.\n")
	if len(c.lacks) > 0 {
		fmt.Fprintf(&b, "\n- %s\n", strings.Join(c.lacks, "\n- "))
	}
	b.WriteString("\nWhat makes up a package:\n\n| platform | part | installed | compressed |\n|---|---|---:|---:|\n")
	b.WriteString(strings.Join(c.makeup, "\n") + "\n")
	return b.Bytes()
}

func megabytes(n int64) string { return fmt.Sprintf("%.2f MB", float64(n)/1e6) }

// programs names programs for a user.
func programs(paths []string) string {
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return strings.Join(names, ", ")
}
