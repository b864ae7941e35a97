package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"zombiezen.com/go/sqlite"
)

// Trouble is what kind of thing is wrong with the file.
type Trouble string

// What can be wrong.
const (
	Full       Trouble = "full"       // the disk is
	Locked     Trouble = "locked"     // another program works on it
	Unwritable Trouble = "unwritable" // it is read-only, or the disk fails
	SetAside   Trouble = "set aside"  // it was damaged, or not nod's: Path is where it is now, and another was begun
	Gone       Trouble = "gone"       // it was taken away or replaced while nod ran
)

// ProblemError says what is wrong with the journal's file.
type ProblemError struct {
	Trouble Trouble
	Path    string
	Err     error // nil: there is no more to say
}

func (e *ProblemError) Unwrap() error { return e.Err }

// Error is a sentence or two for a person.
func (e *ProblemError) Error() string {
	switch e.Trouble {
	case Full:
		return fmt.Sprintf("the disk is full: nod cannot write its history %s and allows nothing unasked", e.Path)
	case Locked:
		return fmt.Sprintf("another program holds nod's history %s: until it lets go nothing is allowed unasked", e.Path)
	case SetAside:
		return fmt.Sprintf("nod's history could not be read (%v): a new one has begun, the old one is %s", e.Err, e.Path)
	case Gone:
		return fmt.Sprintf("nod's history %s was moved or replaced while nod ran", e.Path)
	}
	return fmt.Sprintf("nod cannot write its history %s and allows nothing unasked: %v", e.Path, e.Err)
}

var errTruncated = errors.New("it has become shorter")

// problem says what err, which came of an attempt to write, means for a person.
func (w *writer) problem(err error) error {
	if err == nil {
		return w.notice
	}
	var p *ProblemError
	if errors.As(err, &p) {
		return p
	}
	trouble := Unwritable
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull:
		trouble = Full
	case sqlite.ResultBusy, sqlite.ResultLocked:
		trouble = Locked
	}
	return &ProblemError{Trouble: trouble, Path: w.path, Err: err}
}

// note has the person know what came of an attempt to write.
func (w *writer) note(err error) {
	problem := w.problem(err)
	w.j.mu.Lock()
	old := w.j.problem
	w.j.problem = problem
	w.j.mu.Unlock()
	if text(old) == text(problem) {
		return
	}
	if problem != nil {
		w.j.opts.Log.Error("journal", "problem", problem)
	}
	w.j.opts.Changed()
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// open opens the file, and another when it is of no use.
func (w *writer) open() error {
	f, err := openFile(w.path)
	if isDamage(err) {
		if err = w.setAside(err); err == nil {
			f, err = openFile(w.path)
		}
	}
	if err != nil {
		w.failed, w.reason = time.Now(), err
		return err
	}
	w.file, w.seq, w.hash = f, f.seq, f.hash
	return nil
}

// close closes the file.
func (w *writer) close() {
	if w.file == nil {
		return
	}
	if err := w.file.conn.Close(); err != nil {
		w.j.opts.Log.Error("journal: close", "err", err)
	}
	w.file = nil
}

// ready opens the file unless it is open and still the one at its path.
func (w *writer) ready() error {
	if w.file == nil {
		if time.Since(w.failed) < reopenTime {
			return w.reason
		}
		return w.open()
	}
	info, err := os.Lstat(w.path)
	if err == nil && os.SameFile(info, w.file.info) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w.leave()
	return w.open()
}

// leave gives up a file that is no longer at its path.
func (w *writer) leave() {
	old := w.file
	w.closeReaders()
	w.close()
	if info, err := os.Stat(w.path + "-wal"); err == nil && old.log != nil && os.SameFile(info, old.log) {
		// It is of the file that is gone: SQLite would play it into the one that came.
		os.Remove(w.path + "-wal")
		os.Remove(w.path + "-shm")
	}
	w.notice = &ProblemError{Trouble: Gone, Path: w.path}
}

// closeReaders has whoever reads next open the file that is there then.
func (w *writer) closeReaders() {
	if err := w.j.Reader.reset(); err != nil {
		w.j.opts.Log.Error("journal: close what reads", "err", err)
	}
}

// replace sets a damaged file aside and begins another.
func (w *writer) replace(damage error) error {
	w.close()
	if err := w.setAside(damage); err != nil {
		w.failed, w.reason = time.Now(), err
		return err
	}
	return w.open()
}

// setAside renames the file, which is not open.
func (w *writer) setAside(damage error) error {
	w.closeReaders()
	aside := w.path + time.Now().Format(".2006-01-02T15-04-05.000000")
	for _, end := range []string{"-wal", ""} { // the log first: without it the file is a whole one of earlier
		err := os.Rename(w.path+end, aside+end)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: set it aside: %w", damage, err)
		}
	}
	os.Remove(w.path + "-shm")
	w.notice = &ProblemError{Trouble: SetAside, Path: aside, Err: damage}
	return nil
}
