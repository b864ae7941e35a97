package agent

import (
	"bytes"
	"errors"
	"strings"
)

// marker is in every file that is nod's own.
const marker = "written by nod"

// Whole is a file that nod writes and removes as a whole. A file of that name that is somebody else's stays. run finds
// the command in it; nil: it has none.
func Whole(path string, text func(nod string) []byte, run func(text []byte) (Run, bool)) File {
	foreign := func(b []byte) error {
		if len(b) > 0 && !bytes.Contains(b, []byte(marker)) {
			return errors.New("is not nod's: move it away first")
		}
		return nil
	}
	return File{
		Path: path,
		Install: func(before []byte, nod string) ([]byte, error) {
			if err := foreign(before); err != nil {
				return nil, err
			}
			return text(nod), nil
		},
		Uninstall: func(now, _ []byte) ([]byte, error) {
			if len(now) == 0 || foreign(now) != nil {
				return now, nil
			}
			return nil, nil
		},
		Look: func(b []byte) (Found, error) {
			found := Found{Some: len(b) > 0}
			nod := ""
			if run != nil {
				if r, ok := run(b); ok {
					found.Runs, nod = []Run{r}, r.Nod
				}
			}
			found.All = bytes.Equal(b, text(nod))
			return found, foreign(b)
		},
	}
}

// Script is a program of nod's own that runs its hook, for an agent that runs programs without arguments.
func Script(path, agent string) File {
	const head = "#!/bin/sh\n# " + marker + "\nexec "
	f := Whole(path, func(nod string) []byte {
		return []byte(head + Command(nod, agent) + "\n")
	}, func(text []byte) (Run, bool) {
		line, _ := strings.CutPrefix(string(text), head)
		r, ok := RunOf(strings.TrimSuffix(line, "\n"), agent)
		r.Line = Quote(path)
		return r, ok
	})
	f.Program = true
	return f
}
