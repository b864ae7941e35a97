package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nod/ownfile"
	"nod/ownfile/owndata"
)

const (
	maxNamed  = 5 // paths that a sentence names
	lowDisk   = 100 << 20
	emptyDisk = 5 << 20
)

type ownFiles struct {
	foreign []string // of another owner
	links   []string
	open    []string // others can read or write them
	changed bool     // others can write some of open
	seen    int
}

func checkFiles(_ context.Context, e *exam) []Finding {
	var all ownFiles
	all.look(e.configDir(), 0o022) // it may be in a repository that others read
	all.look(e.dataDir(), 0o077)
	all.look(e.stateDir(), 0o077)
	if e.RuntimeErr == nil {
		all.look(e.Runtime, 0o077)
	}
	found := all.findings()
	if found == nil {
		found = []Finding{ok("nod's %d files and folders are private", all.seen)}
	}
	return found
}

// look checks a folder and nod's files in it for forbidden mode bits. Other checks report unreadable ones.
func (o *ownFiles) look(folder string, forbidden fs.FileMode) {
	info, err := os.Lstat(folder)
	if err != nil {
		return
	}
	o.add(folder, info, forbidden)
	if !info.IsDir() {
		return
	}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if !owndata.Is(entry) {
			continue
		}
		if info, err := entry.Info(); err == nil {
			o.add(filepath.Join(folder, entry.Name()), info, forbidden)
		}
	}
}

func (o *ownFiles) add(path string, info fs.FileInfo, forbidden fs.FileMode) {
	o.seen++
	mode := info.Mode()
	switch {
	case mode&fs.ModeSymlink != 0:
		o.links = append(o.links, path)
	case !ownfile.IsMine(info):
		o.foreign = append(o.foreign, path)
	case modesCount && (mode.IsRegular() || mode.IsDir()) && mode.Perm()&forbidden != 0:
		o.open = append(o.open, path)
		o.changed = o.changed || mode.Perm()&0o022 != 0
	}
}

func (o *ownFiles) findings() []Finding {
	var found []Finding
	if len(o.foreign) > 0 {
		found = append(found, failure(run("sudo chown -h \"$(id -un)\" %s", quoted(o.foreign)),
			"these belong to another user: %s", some(o.foreign)))
	}
	if len(o.links) > 0 {
		found = append(found, warning(run("ls -l %s", quoted(o.links)),
			"nod does not follow symbolic links: replace them by the files: %s", some(o.links)))
	}
	if len(o.open) > 0 {
		f := warning(run("chmod go-rwx %s", quoted(o.open)), "other users can read: %s", some(o.open))
		if o.changed {
			f.Status, f.Detail = failed, "other users can change nod's files: "+some(o.open)
		}
		found = append(found, f)
	}
	return found
}

func some(paths []string) string {
	if more := len(paths) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:maxNamed], ", "), more)
	}
	return strings.Join(paths, ", ")
}

func quoted(paths []string) string {
	words := make([]string, len(paths))
	for i, path := range paths {
		words[i] = quote(path)
	}
	return strings.Join(words, " ")
}

func checkDisk(_ context.Context, e *exam) []Finding {
	var closed []string
	var why error
	for _, folder := range []string{e.configDir(), e.dataDir(), e.stateDir()} {
		folder = existing(folder)
		if err := writable(folder); err != nil && !slices.Contains(closed, folder) {
			closed, why = append(closed, folder), err
		}
	}
	if closed != nil {
		return []Finding{failure(run("ls -ld %s", quoted(closed)), "nod can't write in %s: %v", some(closed), why)}
	}
	folder := existing(e.dataDir())
	free, err := freeSpace(folder)
	switch full := run("df -h %s", quote(folder)); {
	case err != nil:
		return nil // the system does not say
	case free < emptyDisk:
		return []Finding{failure(full, "the disk is full: nod can't write its history, so it asks about everything")}
	case free < lowDisk:
		return []Finding{warning(full, "only %d MB left", free>>20)}
	}
	return []Finding{ok("%.0f GB free", float64(free)/(1<<30))}
}

func existing(folder string) string {
	for {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(folder) == folder {
			return folder
		}
		folder = filepath.Dir(folder)
	}
}
