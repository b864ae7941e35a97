//go:build linux

package shell_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nod/policy"
	"nod/policy/shell"
)

// sandboxShells are the shells that agents run commands with, and those that read more into a word.
var sandboxShells = [][]string{
	{"bash", "-c"},
	{"bash", "-O", "globstar", "-O", "extglob", "-c"},
	{"zsh", "-f", "-c"},
	{"zsh", "-f", "-o", "extendedglob", "-c"},
	{"dash", "-c"},
}

// look says whether a command may pass unasked, where the git repositories name no programs, and if so with which
// programs and what it reads.
func look(command string) (passes bool, programs []string, accesses []shell.Access) {
	a := shell.Analyze(command)
	for _, p := range a.Parts {
		accesses = append(accesses, p.Accesses...)
		if p.Repository {
			for _, folder := range p.In {
				accesses = append(accesses, shell.Access{Path: cmp.Or(folder, "."), Kind: shell.Tree})
			}
		}
	}
	for _, access := range accesses {
		if policy.Leaks(access) {
			return false, nil, nil
		}
	}
	return a.ReadOnly && len(a.Folders) == 0, a.Programs, accesses
}

// plain matches commands that all shells read alike.
var plain = regexp.MustCompile(`^[\w ./,:%+-]*( \| [\w ./,:%+-]*)*$`)

// builtin matches commands whose program a shell may have built in, in its own way.
var builtin = regexp.MustCompile(`(^|\| )(:|\.|cd|command|dirs|echo|exit|false|getconf|hash|jobs|kill|printf|pwd|` +
	`test|times|true|type|ulimit|umask|wait|whence|where|which)( |$)`)

// optional are patterns of commands that the options of a shell may make a difference to, by the first option.
var optional = map[string]*regexp.Regexp{
	"globstar": regexp.MustCompile("(?s)[$`\\\\(]|\\*.*\\*"), "extendedglob": regexp.MustCompile("[$`\\\\(^#~]"),
}

// jobsFor makes the jobs that run a command, or none when it does not pass. It runs with every shell whose options may
// matter; one that all read alike with a single shell, or if everywhere is set and it may be built in, with every
// program of a shell once.
func jobsFor(command string, everywhere bool) []job {
	passes, programs, accesses := look(command)
	if !passes {
		return nil
	}
	shells, limit := sandboxShells, maxTime
	if everywhere { // a sample may start a program for each file, and each is traced
		limit *= 4
	}
	switch {
	case !plain.MatchString(command):
		shells = slices.DeleteFunc(slices.Clone(shells), func(words []string) bool {
			return slices.ContainsFunc(words, func(word string) bool {
				matters := optional[word]
				return matters != nil && !matters.MatchString(command)
			})
		})
	case everywhere && builtin.MatchString(command):
		shells = [][]string{shells[0], shells[2], shells[4]}
	default:
		shells = shells[len(command)%len(shells):][:1]
	}
	var out []job
	for _, words := range shells {
		out = append(out, job{Shell: words, Command: command, Programs: programs, Accesses: accesses, Limit: limit})
	}
	return out
}

// TestHarmless runs every sample that passes unasked, with every shell and the real programs, and sees that it changes
// nothing, runs nothing else, reads nothing else, reaches no network, and ends.
func TestHarmless(t *testing.T) {
	needSandbox(t)
	ran := runCommands(t, sandboxSamples(t, ""), true)
	if ran < 300 {
		t.Errorf("only %d commands pass: the samples are gone", ran)
	}
}

// TestHarmlessGenerated does the same with commands that are built at random, from the words that programs know and
// words that are read in more than one way. NOD_SANDBOX_COUNT says how many, NOD_SANDBOX_SEED which; both are numbers.
func TestHarmlessGenerated(t *testing.T) {
	needSandbox(t)
	count, seed := number(t, "NOD_SANDBOX_COUNT", 400), number(t, "NOD_SANDBOX_SEED", 1)
	g := newGenerator(learnWords(t), sandboxSamples(t, "read_only"), uint64(seed))
	ran := runCommands(t, g.generate(count), false)
	if ran < count/2 {
		t.Errorf("only %d of %d commands pass", ran, count)
	}
}

// FuzzHarmless does the same with what fuzzing makes of the samples.
func FuzzHarmless(f *testing.F) {
	needSandbox(f)
	if fuzzing := flag.Lookup("test.fuzz"); fuzzing != nil && fuzzing.Value.String() != "" {
		for _, command := range sandboxSamples(f, "read_only") {
			f.Add(command)
		}
	}
	w := worker{dir: f.TempDir()}
	f.Cleanup(w.close)
	f.Fuzz(func(t *testing.T, command string) {
		if strings.Contains(command, "sleep") {
			return
		}
		jobs := jobsFor(command, false)
		for i := range jobs {
			jobs[i].Limit = maxTime // fuzzing takes ten seconds for a crash
		}
		w.run(t, jobs)
	})
}

// number reads a number from the environment.
func number(t *testing.T, name string, without int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s is %q, not a number", name, text)
	}
	return n
}

// TestSandboxSees runs commands that do harm and holds the sandbox to seeing it.
func TestSandboxSees(t *testing.T) {
	needSandbox(t)
	box, err := openSandbox(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer box.close()
	for _, tt := range []struct{ command, finding string }{
		{"true", ""},
		{"cat a.txt", "reads " + project + "/a.txt"},
		{"cat tolink", "reads " + project + "/a.txt"},
		{"cat a.txt", "runs /usr/bin/cat"},
		{"cat .env", "shows the secret of " + project + "/.env"},
		{"echo $NOD_CANARY", "shows the secret of /environment"},
		{"tr a b </proc/1/environ", "reads /proc/1/environ"},
		{"echo x >new", "changes " + project + "/new"},
		{"echo x >new", "opens " + project + "/new for writing"},
		{"echo x >>a.txt", "changes " + project + "/a.txt"},
		{"echo x >/usr/new", "opens /usr/new for writing"},
		{"touch -d 2020-01-01 b.txt", "changes " + project + "/b.txt"},
		{"chmod 600 file", "changes " + project + "/file"},
		{"rm f", "changes " + project + "/f"},
		{"mkdir new.d", "calls mkdir(\"new.d\", 0777)"},
		{"cat a.txt >/tmp/left", "leaves 1 files in /tmp, among them left"},
		{"./gpg", "runs ./gpg"},
		{"gpg", "runs " + worldRoot + "/bin/gpg"},
		{"sh -c :", "runs /usr/bin/sh"},
		{"exec 3<>/dev/tcp/127.0.0.1/9", "calls connect("},
		{"sleep 100 & cat pipe", endless},
		{"yes", flood},
		{"awk 'BEGIN { x = sprintf(\"%600000000d\", 1) }'", greed},
		{"kill -CONT 1", "calls kill(1, SIGCONT)"},
	} {
		limit := 20 * time.Second
		if tt.finding == endless {
			limit = time.Second
		}
		got, err := box.run(job{Shell: []string{"bash", "-c"}, Command: tt.command, Limit: limit})
		if err != nil {
			t.Fatalf("%q: %v", tt.command, err)
		}
		all := strings.Join(got.Findings, "; ")
		if !strings.Contains(all, tt.finding) || tt.finding == "" && all != "" {
			t.Errorf("%q: found %q, want %q", tt.command, all, tt.finding)
		}
	}
}

// runCommands runs those of the commands that pass, in as many sandboxes as there are processors. It returns how many
// passed.
func runCommands(t *testing.T, commands []string, everywhere bool) int {
	t.Helper()
	dir := t.TempDir()
	next := make(chan []job)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			w := worker{dir: dir}
			defer w.close()
			for jobs := range next {
				w.run(t, jobs)
			}
		})
	}
	ran, times := 0, 0
	for _, command := range commands {
		if jobs := jobsFor(command, everywhere); jobs != nil {
			ran++
			times += len(jobs)
			next <- jobs
		}
	}
	close(next)
	wait.Wait()
	t.Logf("ran %d commands, %d times in all", ran, times)
	return ran
}

// worker runs commands, each in a world that no other has changed.
type worker struct {
	dir string
	box *sandbox
}

// run runs one command with several shells. A command that does not end is not run again.
func (w *worker) run(t testing.TB, jobs []job) {
	for _, j := range jobs {
		got, err := w.report(j)
		if err != nil {
			t.Errorf("%s %q: %v", strings.Join(j.Shell, " "), j.Command, err)
			return
		}
		for _, finding := range got.Findings {
			t.Errorf("%s %q %s", strings.Join(j.Shell, " "), j.Command, finding)
		}
		if slices.ContainsFunc(got.Findings, costly) {
			return
		}
	}
}

// report runs one job and throws a world that has changed away.
func (w *worker) report(j job) (got report, err error) {
	if w.box == nil {
		if w.box, err = openSandbox(w.dir); err != nil {
			return got, err
		}
	}
	got, err = w.box.run(j)
	if err != nil || got.Changed {
		w.close()
	}
	return got, err
}

func (w *worker) close() {
	if w.box != nil {
		w.box.close()
		w.box = nil
	}
}

// sandboxSamples are the commands of all files of samples with this verdict, or with any.
func sandboxSamples(t testing.TB, verdict string) []string {
	t.Helper()
	var out []string
	for _, name := range []string{"shell", "more", "shell-red", "sandbox"} {
		file := "testdata/" + name + ".tsv"
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rows, _ := strings.Cut(string(data), "\n")
		for row := range strings.Lines(rows) {
			columns := strings.Split(row, "\t")
			if verdict != "" && !slices.Contains(columns, verdict) {
				continue
			}
			command := columns[0]
			if literal, ok := strings.CutPrefix(command, "@go:"); ok {
				if command, err = strconv.Unquote(literal); err != nil {
					t.Fatal(fmt.Errorf("%s: %w", file, err))
				}
			}
			out = append(out, command)
		}
	}
	return out
}
