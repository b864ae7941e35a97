package journal

import (
	"cmp"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// What can be wrong: a [ProblemError]'s Trouble.
const (
	Full       = "full"       // the disk is
	Locked     = "locked"     // another program works on it
	ReadOnly   = "read-only"  // it is, or the disk
	unwritable = "unwritable" // the disk fails
	SetAside   = "set aside"  // damaged or not nod's: it was moved to Path and replaced
	Gone       = "gone"       // removed or replaced while nod ran
)

// ProblemError describes a problem with the journal's file.
type ProblemError struct {
	Trouble string
	Path    string
	Err     error // nil: there is no more to say
}

func (e *ProblemError) Unwrap() error { return e.Err }

// Error formats the problem in one or two sentences for people.
func (e *ProblemError) Error() string {
	switch e.Trouble {
	case Full:
		return fmt.Sprintf("the disk is full: nod cannot write its history %s and allows nothing unasked", e.Path)
	case Locked:
		return fmt.Sprintf("another program holds nod's history %s: until it lets go nothing is allowed unasked", e.Path)
	case ReadOnly:
		return fmt.Sprintf("nod's history %s is read-only: until nod can write it, nothing is allowed unasked", e.Path)
	case SetAside:
		return fmt.Sprintf("nod's history could not be read (%v): a new one has begun, the old one is %s", e.Err, e.Path)
	case Gone:
		return fmt.Sprintf("nod's history %s was moved or replaced while nod ran", e.Path)
	}
	return fmt.Sprintf("nod cannot write its history %s and allows nothing unasked: %v", e.Path, e.Err)
}

// problems are the journal's current problems, and the losses since nod started.
type problems struct {
	write error // nothing can be written
	file  error // another file was begun
}

func (p problems) worst() error { return cmp.Or(p.write, p.file) }

// Problem returns the journal's current problem as a [*ProblemError] for people, or nil. A problem with writing ends
// when writing works again; losses remain until nod restarts.
func (j *Journal) Problem() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.problems.worst()
}

func (j *Journal) isHealthy() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closing.Err() == nil && j.problems.write == nil
}

func (j *Journal) report(change func(*problems)) {
	j.mu.Lock()
	old := j.problems.worst()
	change(&j.problems)
	problem := j.problems.worst()
	j.mu.Unlock()
	if text(old) == text(problem) {
		return
	}
	if problem != nil {
		j.opts.Log.Error("journal", "problem", problem)
	}
	j.opts.Changed.Send()
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (j *Journal) failed(err error) {
	if err != nil {
		err = &ProblemError{Trouble: troubleOf(err), Path: j.path, Err: err}
	}
	j.report(func(p *problems) { p.write = err })
}

func troubleOf(err error) string {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull:
		return Full
	case sqlite.ResultBusy, sqlite.ResultLocked:
		return Locked
	case sqlite.ResultReadOnly:
		return ReadOnly
	}
	return unwritable
}
