package snapshot

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nod/ownfile"
	"nod/ownfile/ownlog"
)

// A Run is what was done in a project between two snapshots: by a command, by an edit, or by taking back another run.
type Run struct {
	Number  int       `json:"number"` // counts from 1 in each project; 0 means no run
	Time    time.Time `json:"time"`   // when it began
	Ended   time.Time `json:"ended,omitzero"`
	Agent   string    `json:"agent,omitempty"`
	Entry   string    `json:"entry,omitempty"` // id of its request in the history
	Command string    `json:"command"`         // as it is shown
	Before  ID        `json:"before"`
	After   ID        `json:"after,omitempty"`  // empty: its end is unknown, so all changes until the next run are its
	Paths   []string  `json:"paths,omitempty"`  // of an edit: the only paths it changed, with slashes, below the project
	Undoes  int       `json:"undoes,omitempty"` // the run that it took back

	Files   int `json:"files"` // that it changed
	Added   int `json:"added"` // lines
	Removed int `json:"removed"`

	Problem string `json:"problem,omitempty"` // why it is unknown what it changed

	// Another run was under way meanwhile: what either changed counts as changed by both.
	Overlaps bool `json:"overlaps,omitempty"`
}

// Note appends a run to the project's list, with a number and, if it is over, what it changed.
func (r *Repository) Note(ctx context.Context, run Run) (Run, error) {
	err := r.locked(ctx, func() (err error) {
		run, err = r.note(ctx, run)
		return err
	})
	return run, err
}

// End notes that a run is over that was noted when it began. It calls taken once the snapshot of the run's result is
// taken or has failed: later changes are not the run's.
func (r *Repository) End(ctx context.Context, run Run, taken func()) (Run, error) {
	taken = sync.OnceFunc(taken)
	defer taken()
	err := r.locked(ctx, func() (err error) {
		if run.After, err = r.take(ctx, partial); err != nil {
			return err
		}
		taken()
		run.Ended = time.Now()
		run, err = r.note(ctx, run)
		return err
	})
	return run, err
}

// note appends a run to the list. Of lines with the same number the last counts.
func (r *Repository) note(ctx context.Context, run Run) (Run, error) {
	if err := r.count(ctx, &run); err != nil {
		return run, err
	}
	if len(run.Command) > maxCommand {
		run.Command = strings.ToValidUTF8(run.Command[:maxCommand], "") + "…"
	}
	var err error
	if run.Number == 0 {
		if run.Number, err = r.number(); err != nil {
			return run, err
		}
	}
	line, err := json.Marshal(run)
	if err != nil {
		return run, err
	}
	file, err := ownlog.Open(r.runs())
	if err != nil {
		return run, fmt.Errorf("record the run in %s: %w", r.project, err)
	}
	if _, err = file.Seek(0, io.SeekEnd); err == nil {
		_, err = file.Write(append([]byte("\n"), line...)) // ends a line that a crash cut off
	}
	return run, errors.Join(err, file.Close())
}

// number returns the number of the next run. It is stored apart from the list, which can be long.
func (r *Repository) number() (int, error) {
	text, _ := os.ReadFile(r.path("number"))
	last, err := strconv.Atoi(string(text))
	if err != nil {
		runs, err := r.noted()
		if err != nil {
			return 0, err
		}
		for _, run := range runs {
			last = max(last, run.Number)
		}
	}
	return last + 1, os.WriteFile(r.path("number"), []byte(strconv.Itoa(last+1)), 0o600)
}

const maxCommand = 4 << 10

func (r *Repository) count(ctx context.Context, run *Run) error {
	run.Files, run.Added, run.Removed = 0, 0, 0
	if run.After == "" {
		return run.Before.check()
	}
	changes, err := r.ChangesOf(ctx, *run)
	run.Files = len(changes)
	for _, c := range changes {
		run.Added += c.Added
		run.Removed += c.Removed
	}
	return err
}

func (r *Repository) runs() string { return r.path("runs.jsonl") }

// maxRuns is how many bytes at the end of the list are read: what is before them is forgotten, so that the rest works.
const maxRuns = 64 << 20

// noted returns the runs in the list, oldest first. It skips lines that a crash, or maxRuns, cut off.
func (r *Repository) noted() (runs []Run, err error) {
	text, err := ownfile.ReadTail(r.runs(), maxRuns)
	if ownfile.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the runs in %s: %w", r.project, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxRuns)
	at := map[int]int{} // index by number
	for lines.Scan() {
		var run Run
		if json.Unmarshal(lines.Bytes(), &run) != nil || run.Number <= 0 {
			continue
		}
		i, isThere := at[run.Number]
		if !isThere {
			i, runs = len(runs), append(runs, run)
		}
		at[run.Number], runs[i] = i, run
	}
	return runs, lines.Err()
}

// Runs returns the noted runs, newest first. A run without an end of its own ends where the next one begins; the newest
// ends now, for which this takes a snapshot. If that fails, or a snapshot is gone, the run has a problem.
func (r *Repository) Runs(ctx context.Context) ([]Run, error) {
	runs, err := r.noted()
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	for i := range runs {
		r.conclude(ctx, &runs[i], runs)
	}
	markOverlaps(runs)
	slices.Reverse(runs)
	return runs, nil
}

// RunOf returns the newest run of a request, by the request's id in the history, as [Repository.Runs] returns it; its
// number is 0 if there is none. Once a run is taken back, that is the run that did so.
func (r *Repository) RunOf(ctx context.Context, entry string) (Run, error) {
	runs, err := r.noted()
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].Entry != entry {
			continue
		}
		run := runs[i]
		r.conclude(ctx, &run, runs)
		for _, other := range runs {
			isOther := other.Number != run.Number && !other.Ended.IsZero()
			run.Overlaps = run.Overlaps || isOther && areAtOnce(run, other)
		}
		return run, err
	}
	return Run{}, err
}

func (r *Repository) conclude(ctx context.Context, run *Run, runs []Run) {
	if run.After != "" {
		return
	}
	if err := r.endAtNext(ctx, run, runs); err != nil {
		run.Problem = err.Error()
	}
}

func (r *Repository) endAtNext(ctx context.Context, run *Run, runs []Run) (err error) {
	var next *Run
	for i := range runs {
		if n := &runs[i]; n.Time.After(run.Time) && (next == nil || n.Time.Before(next.Time)) {
			next = n
		}
	}
	if run.Ended = time.Now(); next != nil {
		run.After, run.Ended = next.Before, next.Time
	} else if err = r.locked(ctx, func() (err error) { run.After, err = r.take(ctx, partial); return err }); err != nil {
		return err
	}
	return r.count(ctx, run)
}

func markOverlaps(runs []Run) {
	for i := range runs {
		for j := i + 1; j < len(runs); j++ {
			if areAtOnce(runs[i], runs[j]) {
				runs[i].Overlaps, runs[j].Overlaps = true, true
			}
		}
	}
}

func areAtOnce(a, b Run) bool { return a.Time.Before(b.Ended) && b.Time.Before(a.Ended) }

func (r *Repository) keep(runs []Run) error {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for _, run := range runs {
		if err := lines.Encode(run); err != nil {
			return err
		}
	}
	return ownfile.Write(r.runs(), text.Bytes(), 0o600)
}
