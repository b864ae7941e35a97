package registry

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nod/agents/agent"
	"nod/agents/jsonl"
	"nod/policy/replay"
)

const maxProbed = 50

var errNoTranscript = errors.New("not a transcript that nod can read")

// Transcripts returns the transcripts among files, and among all *.jsonl in and below folders; it does not follow
// symbolic links below a folder. Without paths it returns those where the agents keep them. A path that cannot be read
// is a [*fs.PathError], and a named file that is not a transcript is one with [errNoTranscript]; in folders such files
// are skipped.
func Transcripts(paths []string) ([]replay.File, error) {
	if len(paths) == 0 {
		m, err := agent.Here()
		if err != nil {
			return nil, err
		}
		for _, a := range with(hasTranscripts) {
			folder := a.Transcripts.Folder(m)
			if _, err := os.Stat(folder); err == nil {
				paths = append(paths, folder)
			}
		}
	}
	found := map[string]replay.File{}
	for _, path := range paths {
		root, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			isNamed := name == root
			if err != nil || entry.IsDir() || !isNamed && (!entry.Type().IsRegular() || filepath.Ext(name) != ".jsonl") {
				return err
			}
			f, err := probe(name)
			if errors.Is(err, errNoTranscript) && !isNamed {
				return nil
			}
			found[name] = f
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	byName := func(a, b replay.File) int { return strings.Compare(a.Name, b.Name) }
	return slices.SortedFunc(maps.Values(found), byName), nil
}

func probe(name string) (replay.File, error) {
	info, err := os.Stat(name) // opening a pipe would wait for its other end
	if err != nil {
		return replay.File{}, err
	}
	unknown := &fs.PathError{Op: "read", Path: name, Err: errNoTranscript}
	if !info.Mode().IsRegular() {
		return replay.File{}, unknown
	}
	open := func() (io.ReadCloser, error) { return os.Open(name) }
	file, err := open()
	if err != nil {
		return replay.File{}, err
	}
	defer file.Close()
	lines := jsonl.NewReader(file)
	for range maxProbed {
		line := lines.One()
		for _, a := range with(hasTranscripts) {
			if line != nil && a.Transcripts.Is(line) {
				return replay.File{
					Name: name, Size: info.Size(), At: info.ModTime(), Open: open, Read: a.Transcripts.Read,
				}, nil
			}
		}
	}
	if err := lines.Err(); err != nil {
		return replay.File{}, err
	}
	return replay.File{}, unknown
}

func hasTranscripts(a agent.Agent) bool { return a.Transcripts != nil }
