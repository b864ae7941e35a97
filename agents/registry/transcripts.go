package registry

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"nod/agents/agent"
	"nod/agents/jsonl"
	"nod/policy/replay"
)

// maxProbed is how many lines of a file are read to find one that the agent writes.
const maxProbed = 50

// Transcripts returns the transcripts where the agents keep them: those among *.jsonl in their folders and below.
// Symbolic links there are not followed.
func Transcripts() (found []replay.File, err error) {
	m, err := agent.Here()
	if err != nil {
		return nil, err
	}
	for _, a := range with(func(a agent.Agent) bool { return a.Transcripts != nil }) {
		root, err := filepath.EvalSymlinks(filepath.Join(a.Folder(m), a.Transcripts.Folder))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || filepath.Ext(name) != ".jsonl" {
				return err
			}
			f, is, err := probe(name, a.Transcripts)
			if is {
				found = append(found, f)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func probe(name string, t *agent.Transcripts) (f replay.File, is bool, err error) {
	open := func() (io.ReadCloser, error) { return os.Open(name) }
	file, err := os.Open(name)
	if err != nil {
		return f, false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return f, false, err
	}
	lines := jsonl.NewReader(file)
	for range maxProbed {
		if t.Is(lines.Next()) {
			return replay.File{Name: name, Size: info.Size(), At: info.ModTime(), Open: open, Read: t.Read}, true, nil
		}
	}
	return f, false, lines.Err()
}
