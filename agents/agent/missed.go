package agent

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// missed is the error of the latest session that called tools, by the agent's own transcripts, and of which nothing
// came to nod. Only sessions count that began to call after nod was started and its hooks were last written: an agent
// keeps the hooks that it started with. It is nil when there is none, or nobody can tell.
func (a Agent) missed(m Machine, s Status) error {
	if a.Transcripts == nil || m.Came == nil {
		return nil
	}
	since, came, err := m.Came()
	info, failed := os.Stat(s.File)
	if err != nil || failed != nil {
		return nil
	}
	if info.ModTime().After(since) {
		since = info.ModTime()
	}
	var last unheard
	folder := filepath.Join(a.Folder(m), a.Transcripts.Folder)
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) != ".jsonl" {
			return nil // what cannot be read tells nothing
		}
		if info, err := entry.Info(); err != nil || !info.ModTime().After(since) {
			return nil
		}
		u := a.first(path)
		if u.at.After(since) && !came(a.Name, u.session) && u.at.After(last.at) {
			last = u
		}
		return nil
	})
	if last.at.IsZero() {
		return nil
	}
	last.folder = strings.Replace(last.folder, m.Home+string(filepath.Separator), "~"+string(filepath.Separator), 1)
	return last
}

// unheard is the first call of a session of which nothing came to nod.
type unheard struct {
	session, folder string
	at              time.Time
}

func (u unheard) Error() string {
	return fmt.Sprintf("A session in %s called tools at %s, and nothing of it came to nod: "+
		"its hooks were switched off, or not trusted.", u.folder, u.at.Local().Format("15:04"))
}

// first is the first call in a transcript; at no time when there is none.
func (a Agent) first(path string) (u unheard) {
	file, err := os.Open(path)
	if err != nil {
		return u
	}
	defer file.Close()
	for at, call := range a.Transcripts.Read(file).Calls() {
		return unheard{call.Session, call.CWD, at}
	}
	return u
}
