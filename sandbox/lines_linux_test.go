package sandbox_test

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Of how many lines one is tried, and where they are: TestAsOrdinaryUser has all tried, of a copy.
var (
	every = flag.Int("lines", 3, "try each n-th of the lines that do not only read")
	red   = flag.String("red", "../policy/shell/testdata", "the folder of the lines that do not only read")
)

var redFiles = []string{"shell-red.tsv", "red3.tsv"}

// What was once found to pass for reading does nothing more where commands can only read: no file
// changes, no secret shows, and nobody is reached.
func TestLinesThatDoNotOnlyRead(t *testing.T) { inEach(t, "", refusesLines) }

func refusesLines(t *testing.T, w *world) {
	w.profile.Write, w.profile.Absent = false, nil
	var to target
	heard := w.listeners(&to)
	w.profile.Hide = append(w.profile.Hide, w.project+"/socket")
	before := w.everything()
	lines, next := redLines(t), make(chan string)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for line := range next {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second) // some never end
				out, _, _ := w.runIn(ctx, w.command("bash", "-c", line))
				cancel()
				if strings.Contains(out, canary) {
					t.Errorf("%s\nshows a secret: %.300s", line, out)
				}
			}
		})
	}
	for i := 0; i < len(lines); i += *every {
		next <- lines[i]
	}
	close(next)
	all.Wait()
	after := w.everything()
	for path, was := range before {
		if is := after[path]; is != was {
			t.Errorf("%s is %s, was %s", path, is, was)
		}
		delete(after, path)
	}
	for path := range after {
		t.Errorf("%s was made", path)
	}
	if reached := heard(); len(reached) > 0 {
		t.Errorf("reached: %q", reached)
	}
}

// redLines are the lines that were found.
func redLines(t *testing.T) (lines []string) {
	t.Helper()
	for _, name := range redFiles {
		text, err := os.ReadFile(filepath.Join(*red, name))
		if err != nil {
			t.Fatal(err)
		}
		for row := range strings.Lines(string(text)) {
			line, _, isRow := strings.Cut(row, "\t")
			if isRow && line != "command" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) < 400 {
		t.Fatalf("%d lines", len(lines))
	}
	return lines
}

// everything is what there is of the world, with what stands in it.
func (w *world) everything() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if path == w.profile.Private {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		out[path] = entry.Type().String()
		if entry.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[path] = fmt.Sprintf("%x", sha256.Sum256(text))
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}
