package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"nod/interact/journal"
)

func checkHistory(ctx context.Context, e *exam) []Finding {
	return append([]Finding{e.verifyHistory(ctx)}, e.setAside()...)
}

func (e *exam) verifyHistory(ctx context.Context) Finding {
	path := e.historyPath()
	var entries, bytes int64
	err := e.readHistory(func(r *journal.Reader) (err error) {
		if entries, bytes, err = r.Size(ctx); err != nil {
			return err
		}
		return r.Verify(ctx)
	})
	broken, isBroken := errors.AsType[*journal.BrokenError](err)
	size := fmt.Sprintf("%d entries, %.1f MB", entries, float64(bytes)/(1<<20))
	switch {
	case e.health.History != "":
		return failure(run("nod log"), "%s", e.health.History)
	case errors.Is(err, fs.ErrNotExist):
		return ok("no requests yet")
	case isBroken:
		return failure(run("nod history verify; nod history show %d", broken.Seq),
			"another program changed it: %v", broken)
	case errors.Is(err, fs.ErrPermission):
		return failure(run("ls -ld %s %s", quote(filepath.Dir(path)), quote(path)), "it cannot be read: %v", err)
	case errors.Is(err, context.DeadlineExceeded) && entries > 0:
		return ok("%s, too many to verify here; run: nod history verify", size)
	case errors.Is(err, context.DeadlineExceeded):
		return warning(run("nod history verify"), "reading it took longer than %s: another program may lock it", patience)
	case err != nil:
		return failure(run("mv %s %s && nod stop; nod start", quote(path), quote(path+".damaged")),
			"%s is not reliable: %v", path, err)
	}
	return ok("%s, none changed or missing", size)
}

func (e *exam) setAside() []Finding {
	entries, _ := os.ReadDir(e.dataDir())
	var found []Finding
	for _, entry := range entries {
		path := filepath.Join(e.dataDir(), entry.Name())
		info, err := entry.Info()
		isAside, _ := filepath.Match("nod.db.[0-9]*[0-9e]", entry.Name()) // the file or its -queue, not its -wal and -shm
		if !isAside || err != nil {
			continue
		}
		f := warning(run("rm %s", quote(path)), "nod moved a history that it could not read to %s (%.1f MB): delete "+
			"it when you no longer need it", path, float64(info.Size())/(1<<20))
		f.ID = "history-aside"
		found = append(found, f)
	}
	return found
}
