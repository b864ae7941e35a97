package doctor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	recent  = 24 * time.Hour
	maxTail = 2 << 20 // bytes of the log to examine

	maxError = 300 // bytes of a reported error
)

func checkLog(_ context.Context, e *exam) []Finding {
	path := filepath.Join(e.stateDir(), "nod.log")
	var found []Finding
	if info, err := os.Lstat(filepath.Join(e.stateDir(), "crash.log.1")); err == nil &&
		e.Now().Sub(info.ModTime()) < recent && info.Size() > 0 {
		trace := filepath.Join(e.stateDir(), "crash.log.1")
		f := failure(run("less %s", quote(trace)), "nod-desktop crashed within the last day: see %s", trace)
		f.ID = "crash"
		found = append(found, f)
	}
	text, err := tail(path)
	if errors.Is(err, fs.ErrNotExist) {
		return found
	}
	if err != nil {
		return append(found, warning(run("ls -l %s", quote(path)), "it cannot be read: %v", err))
	}
	count, last := countErrors(text, e.Now().Add(-recent))
	if count > 0 {
		return append(found, warning(run("nod log"), "errors within the last day: %d; the last: %s", count, last))
	}
	return append(found, ok("no errors within the last day"))
}

func tail(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a plain file")}
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-maxTail), maxTail))
}

// judged are beginnings of errors whose cause another check examines.
var judged = []string{`msg="configuration is broken`, `msg="the policy file has an error`, "msg=journal "}

func countErrors(log []byte, since time.Time) (count int, last string) {
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, maxTail+1)
	for lines.Scan() {
		stamp, rest, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "time="), " ")
		at, err := time.Parse(time.RFC3339Nano, stamp)
		text, isError := strings.CutPrefix(rest, "level=ERROR ")
		isJudged := slices.ContainsFunc(judged, func(msg string) bool { return strings.HasPrefix(text, msg) })
		if err == nil && isError && !isJudged && at.After(since) {
			count, last = count+1, text[:min(len(text), maxError)]
		}
	}
	return count, strings.ToValidUTF8(last, "")
}
