//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// statePath is where the desktop that is up can be found, from the folder that make runs in.
var statePath = filepath.Join("build", "desktop.json")

// state tells of the desktop that is up.
type state struct {
	PID     int      `json:"pid"`     // of the program that keeps it up
	Session []string `json:"session"` // the environment of programs on it
}

func (s state) value(name string) string {
	for _, v := range s.Session {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func (s state) display() string { return s.value("DISPLAY") }

// write tells others of the desktop. The file leads to the screen, so it is its owner's alone.
func (s state) write() error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(statePath), 0o755); err != nil {
		return err
	}
	return os.WriteFile(statePath, text, 0o600)
}

func removeState() { _ = os.Remove(statePath) } // a file that stays is found to be stale

// readState finds the desktop that is up. A file that a killed process left behind does not count: the
// process it names must run this same program.
func readState() (state, error) {
	var s state
	text, err := os.ReadFile(statePath)
	if errors.Is(err, os.ErrNotExist) {
		return s, errors.New("make run starts one")
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: %w", statePath, err)
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", s.PID))
	if err != nil || strings.TrimSpace(string(name)) != filepath.Base(os.Args[0]) {
		return s, fmt.Errorf("%s is stale: make run starts one", statePath)
	}
	return s, nil
}
