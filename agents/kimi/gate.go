package kimi

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"

	"nod/agents/agent"
)

// mode is the key that says what Kimi Code asks about, and auto the value for nothing.
const (
	mode = "default_permission_mode"
	auto = `"auto"`
)

// gateAt switches Kimi Code's own prompt off in its settings. While it is so, nod is the only gate, and must deny what
// nobody allowed.
func gateAt(path string) agent.File {
	return agent.File{
		Path:      path,
		Install:   func(before []byte, _ string) ([]byte, error) { return closeGate(before) },
		Uninstall: openGate,
		Look: func(text []byte) (agent.Found, error) {
			is, err := isAuto(text)
			return agent.Found{Some: is, All: is}, err
		},
	}
}

func isAuto(text []byte) (bool, error) {
	all, err := read(text)
	return all[mode] == "auto", err
}

// closeGate puts the mode in the place of what is there, or before all tables.
func closeGate(before []byte) ([]byte, error) {
	is, err := isAuto(before)
	if err != nil || is {
		return before, err
	}
	after := slices.Concat([]byte(mode+" = "+auto+lineEnd(before)), before)
	if e, ok := modeIn(before); ok {
		after = withValue(before, e, []byte(auto))
	}
	if is, err := isAuto(after); err != nil || !is {
		return nil, errors.Join(fmt.Errorf("%s cannot be set: set it to %s", mode, auto), err)
	}
	return after, nil
}

// openGate puts back what was there before nod came.
func openGate(now, kept []byte) ([]byte, error) {
	e, ok := modeIn(now)
	if is, err := isAuto(now); err != nil || !is || !ok {
		return now, err
	}
	if was, ok := modeIn(kept); ok {
		return withValue(now, e, kept[was.value.Offset:was.value.Offset+was.value.Length]), nil
	}
	rest := cutLines(now, map[int]bool{e.line: true})
	if kept == nil && len(bytes.TrimSpace(rest)) == 0 {
		return nil, nil
	}
	return rest, nil
}

// modeIn finds the mode before all tables.
func modeIn(text []byte) (expression, bool) {
	for _, e := range expressions(text) {
		if e.kind != unstable.KeyValue {
			break
		}
		if e.key == mode {
			return e, e.value.Length > 0
		}
	}
	return expression{}, false
}

func withValue(text []byte, e expression, value []byte) []byte {
	end := e.value.Offset + e.value.Length
	return slices.Concat(text[:e.value.Offset], value, text[end:])
}
