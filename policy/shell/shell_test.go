package shell

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sample is one line of a file in testdata: command, verdict, reason.
type sample struct {
	command  string
	readOnly bool
	trusted  bool // read-only only in a trusted folder
	reason   string
}

// readSamples reads a file of tab-separated samples with a head line. A command that starts with @go: is
// followed by a Go string literal.
func readSamples(t testing.TB, file string) []sample {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")[1:] {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 || fields[1] != "read_only" && fields[1] != "not_read_only" {
			t.Fatalf("%s:%d: want command, verdict and reason, got %q", file, i+2, line)
		}
		s := sample{command: fields[0], readOnly: fields[1] == "read_only", reason: fields[2]}
		s.trusted = strings.HasPrefix(s.reason, "[trusted-repo]")
		if literal, ok := strings.CutPrefix(s.command, "@go:"); ok {
			if s.command, err = strconv.Unquote(literal); err != nil {
				t.Fatalf("%s:%d: %v", file, i+2, err)
			}
		}
		out = append(out, s)
	}
	return out
}

// harmless reports whether a command only reads, below the folder where it starts; trusted says that the git
// repository there names no programs.
func harmless(a Analysis, trusted bool) bool {
	elsewhere := func(folder string) bool { return folder != "" || !trusted }
	return a.ReadOnly && !a.Remotes && len(a.Folders) == 0 && !slices.ContainsFunc(a.Repositories, elsewhere)
}

// sampleFiles are the files of samples.
var sampleFiles = []string{"testdata/shell.tsv", "testdata/more.tsv", "testdata/red3.tsv"}

// allSamples are the samples of all files.
func allSamples(t testing.TB) (all []sample) {
	for _, file := range sampleFiles {
		all = append(all, readSamples(t, file)...)
	}
	return all
}

// accepted are the commands of the samples that are read-only in a trusted folder.
func accepted(t testing.TB) []string {
	var out []string
	for _, s := range allSamples(t) {
		if s.readOnly {
			out = append(out, s.command)
		}
	}
	return out
}

func TestSamples(t *testing.T) {
	for _, file := range sampleFiles {
		samples := readSamples(t, file)
		t.Logf("%s: %d samples", file, len(samples))
		for _, s := range samples {
			for _, trusted := range []bool{true, false} {
				want := s.readOnly && (trusted || !s.trusted)
				got := Analyze(s.command)
				if harmless(got, trusted) != want {
					t.Errorf("%s: %q, trusted %v: harmless is %v, want %v (%s); reasons %q",
						file, s.command, trusted, !want, want, s.reason, got.Reasons)
				}
				if got.ReadOnly != (len(got.Reasons) == 0) {
					t.Errorf("%s: Analyze(%q, %v) is read-only %v with reasons %q",
						file, s.command, trusted, got.ReadOnly, got.Reasons)
				}
			}
		}
	}
}
