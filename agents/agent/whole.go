package agent

import (
	"bytes"
	"errors"
)

// marker is in every file that is nod's own.
const marker = "written by nod"

// Whole is a file that nod writes and removes as a whole. A file of that name that is somebody else's stays.
func Whole(path string, text func(nod string) []byte) File {
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
		Look: func(b []byte, nod string) (Found, error) {
			return Found{Some: len(b) > 0, All: bytes.Equal(b, text(nod))}, foreign(b)
		},
	}
}

// Script is a program of nod's own that runs its hook, for an agent that runs programs without arguments.
func Script(path, agent string) File {
	f := Whole(path, func(nod string) []byte {
		return []byte("#!/bin/sh\n# " + marker + "\nexec " + Command(nod, agent) + "\n")
	})
	f.Program = true
	return f
}
