package documents

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// leftOut is a line that stands for lines of a file that an excerpt leaves out.
const leftOut = "…"

// checkGo compiles a whole file, or finds an excerpt in the file that it is from.
func (c *checker) checkGo(b Block) error {
	if len(b.Options) == 0 {
		return c.compile(b)
	}
	file, is := strings.CutPrefix(b.Options[0], "from=")
	if !is || len(b.Options) > 1 {
		return fmt.Errorf("go has no option %q: want from=FILE", strings.Join(b.Options, " "))
	}
	source, err := os.ReadFile(filepath.Join(c.root, file))
	if err != nil {
		return err
	}
	return excerpt(b.Text, string(source), file)
}

// excerpt finds the lines of an excerpt in a file, in their order. How far they are indented does not count.
func excerpt(text, source, file string) error {
	lines := trimmed(source)
	for part := range parts(trimmed(text)) {
		at := find(part, lines)
		if at < 0 {
			return fmt.Errorf("%s has no such lines, or not in this order: %q", file, part[0])
		}
		lines = lines[at+len(part):]
	}
	return nil
}

// parts yields the lines between those that stand for what is left out.
func parts(lines []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for len(lines) > 0 {
			end := slices.Index(lines, leftOut)
			if end < 0 {
				end = len(lines)
			}
			if end > 0 && !yield(lines[:end]) {
				return
			}
			lines = lines[min(end+1, len(lines)):]
		}
	}
}

func trimmed(text string) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return lines
}

// find returns where a few lines follow each other in others, or -1.
func find(few, lines []string) int {
	for i := range lines {
		if len(lines[i:]) >= len(few) && slices.Equal(lines[i:i+len(few)], few) {
			return i
		}
	}
	return -1
}

// compile builds a file as a package of nod's module, which it lies in only for the compiler.
func (c *checker) compile(b Block) error {
	dir, err := os.MkdirTemp("", "nod-documents-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root, err := filepath.Abs(c.root)
	if err != nil {
		return err
	}
	source, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	place := filepath.Join(root, "document", "main.go")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {place: source}})
	if err != nil {
		return err
	}
	err = errors.Join(os.WriteFile(source, []byte(b.Text), 0o600), os.WriteFile(overlay, text, 0o600))
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", os.DevNull, "./document")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
