package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// A grant ends by either clock: the monotonic one stands still while the machine sleeps, the wall clock can be set.
func TestGrantEndsByEitherClock(t *testing.T) {
	now := time.Now()
	g := Grant{Expires: now.Add(quarterHour)}
	for name, tt := range map[string]struct {
		at   time.Time
		want bool
	}{
		"before":         {now.Add(quarterHour - 1), false},
		"at its end":     {now.Add(quarterHour), true},
		"after sleeping": {now.Round(0).Add(quarterHour), true},
	} {
		if got := g.IsOver(tt.at); got != tt.want {
			t.Errorf("%s: over %v, want %v", name, got, tt.want)
		}
	}
}

func TestProgram(t *testing.T) {
	for want, programs := range map[string][]string{
		"/usr/bin/claude":   {"/usr/bin/nod", "/bin/sh", "/usr/bin/claude", "/usr/bin/bash"},
		"/usr/bin/curl":     {"/usr/bin/curl", "/bin/bash", "/usr/bin/claude"},
		`C:\x\claude.exe`:   {`C:\x\nod.exe`, `C:\Windows\cmd.exe`, `C:\x\claude.exe`},
		"/usr/bin/node":     {"", "/usr/bin/env", "/usr/bin/node"},
		"/tmp/nod-imposter": {"/tmp/nod-imposter", "/usr/bin/claude"},
		"":                  {"/bin/sh", "/usr/bin/zsh"},
	} {
		if got := (Call{Programs: programs}).program(); got != want {
			t.Errorf("%q: %q, want %q", programs, got, want)
		}
	}
}

// The canonical form does not depend on the order of fields or on space, and tells everything else apart.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":[true,null,"x"]}`, `{"b":{"d":1,"c":2},"a":1e5}`, `{"a":"\u0041<>&"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := ReadInput(data)
		first, err := canonical(data)
		if err != nil || read.problem != "" || read.isHidden {
			return
		}
		again, err := canonical(first)
		if err != nil || !slices.Equal(first, again) {
			t.Fatalf("%q, then %q (%v)", first, again, err)
		}
	})
}

var fuzzTool = tool{class: Unknown, paths: spelling{marked: true, encoded: true}, fields: map[string]meaning{
	"command": commandField, "cmd": commandField, "file_path": writeField, "include": onlyField, "pattern": globField,
	"input": patchField, "url": urlField, "edits.path": readField, "workdir": folderField, "files": filesField,
}}

// The walk over an input finds in it what encoding/json finds, and never fails on what that accepts.
func FuzzInput(f *testing.F) {
	for _, s := range []string{
		`{"file_path":"/a","edits":[{"path":"b"},["c"]]}`, `{"command":"x","cmd":"y"}`, `{"a\u0062":"\ud800"}`,
		` { } `, `[{}]`, `{"a":1,"a":2}`, `{"paths":["a",["b"],{"path":"c"}],"n":-1.5e3}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := ReadInput(data)
		var in input
		in.read(&read, fuzzTool)
		var object map[string]json.RawMessage
		isObject := json.Unmarshal(data, &object) == nil && object != nil
		if isObject != read.IsObject() || !isObject && in.problem == "" {
			t.Fatalf("%q: no problem with what is no object", data)
		}
		if !isObject || in.problem != "" || read.isHidden {
			return
		}
		var command string
		isText := json.Unmarshal(object["command"], &command) == nil && object["command"] != nil &&
			object["command"][0] == '"'
		if _, other := object["cmd"]; !other && isText && (!in.isRun || in.command != command) {
			t.Fatalf("%q: command %q, want %q", data, in.command, command)
		}
		var path string
		if json.Unmarshal(object["file_path"], &path) == nil && path != "" && strings.TrimSpace(path) != "" &&
			!slices.ContainsFunc(in.named, func(n namedPath) bool { return n.path == path }) {
			t.Fatalf("%q: paths %+v lack %q", data, in.named, path)
		}
	})
}
