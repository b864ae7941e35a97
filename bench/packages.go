//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"nod/bench/report"
)

const packagesHow = "The Go benchmarks of nod's packages (`go test -bench`), as they are: most have no peer. " +
	"They tell whether a change made something slower."

// packages runs the Go benchmarks.
func (b *bench) packages() ([]report.Figure, error) {
	long := "50ms"
	if b.quick {
		long = "1x"
	}
	folders, err := withBenchmarks("..")
	if err != nil {
		return nil, err
	}
	args := []string{"test", "-tags", "ci", "-run", "^$", "-bench", ".", "-benchtime", long}
	cmd := exec.CommandContext(b.ctx, "go", append(args, folders...)...)
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go test -bench: %w\n%s%s", err, out, failed.Bytes())
	}
	return readBenchmarks(bytes.NewReader(out))
}

// withBenchmarks lists the folders of a module with benchmarks in them, as go test wants them.
func withBenchmarks(root string) (folders []string, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (err == nil || strings.HasPrefix(e.Name(), ".")) {
				return fs.SkipDir // a module of its own, or no code
			}
			return nil
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("\nfunc Benchmark")) {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if name := "./" + folder; !slices.Contains(folders, name) {
			folders = append(folders, name)
		}
		return err
	})
	return folders, err
}

// readBenchmarks reads what go test -bench prints: a figure for the time of each benchmark.
func readBenchmarks(r io.Reader) (figures []report.Figure, err error) {
	lines := benchfmt.NewReader(r, "go test -bench")
	for lines.Scan() {
		switch line := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			err = errors.Join(err, line)
		case *benchfmt.Result:
			seconds, timed := line.Value("sec/op")
			if !timed {
				continue
			}
			_, name, _ := strings.Cut(line.GetConfig("pkg"), "/") // nod/
			figures = append(figures, report.Figure{
				Name: name + ": " + benchmarkName(line.Name), Unit: report.Seconds, Value: seconds, Samples: line.Iters,
			})
		}
	}
	return figures, errors.Join(err, lines.Err())
}

// processors is the number of them, which go test appends to the name of a benchmark.
var processors = regexp.MustCompile(`-[0-9]+$`)

// benchmarkName is the name of a benchmark without that number, with the blanks that it was written with.
func benchmarkName(n benchfmt.Name) string {
	return strings.ReplaceAll(processors.ReplaceAllString(n.String(), ""), "_", " ")
}
