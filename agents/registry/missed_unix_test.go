//go:build unix

package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/agents/codex"
)

// A session of which nothing came to nod is told of, if it began while nod ran and its hooks were there.
func TestMissedSessions(t *testing.T) {
	const (
		call = `{"type":"assistant","sessionId":"%s","cwd":"/srv/shop","timestamp":"%s",` +
			`"message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}`
		talk = `{"type":"user","sessionId":"%s","timestamp":"%s","message":{"content":"hi"}}`
		meta = `{"type":"session_meta","timestamp":"%[2]s",` +
			`"payload":{"id":"child","session_id":"%[1]s","cwd":"/srv/shop"}}` + "\n" +
			`{"type":"response_item","timestamp":"%[2]s","payload":{"type":"function_call","name":"exec_command",` +
			`"arguments":"{\"cmd\":\"ls\"}"}}`
	)
	const works = `if [ "$1" = --version ]; then echo nod 1; fi` + "\n"
	start := time.Now().Add(-time.Hour).Truncate(time.Second)
	for name, test := range map[string]struct {
		agent   agent.Agent
		line    string
		session string
		nod     string
		at      time.Duration // after nod was started, or the hooks were written
		noted   error
		want    bool
	}{
		"came":                {claude.Agent, call, "came", works, time.Minute, nil, false},
		"did not come":        {claude.Agent, call, "other", works, time.Minute, nil, true},
		"began before":        {claude.Agent, call, "other", works, -time.Minute, nil, false},
		"called nothing":      {claude.Agent, talk, "other", works, time.Minute, nil, false},
		"unknown":             {claude.Agent, call, "other", works, time.Minute, errors.New("no file"), false},
		"nod does not run":    {claude.Agent, call, "other", works + `[ "$1" != status ]`, time.Minute, nil, false},
		"a subagent of Codex": {codex.Agent, meta, "came", works, time.Minute, nil, false},
		"a session of Codex":  {codex.Agent, meta, "other", works, time.Minute, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine(t)
			m.Nod = filepath.Join(t.TempDir(), "nod")
			if err := os.WriteFile(m.Nod, []byte("#!/bin/sh\n"+test.nod), 0o700); err != nil {
				t.Fatal(err)
			}
			m.Came = func() (time.Time, func(agent, session string) bool, error) {
				return start.Add(-time.Hour), func(name, session string) bool {
					return name == test.agent.Name && session == "came"
				}, test.noted
			}
			install(t, test.agent, m, false)
			settings := test.agent.Settings(m).Path
			if err := os.Chtimes(settings, start, start); err != nil {
				t.Fatal(err)
			}
			at := start.Add(test.at).UTC().Format(time.RFC3339)
			path := filepath.Join(test.agent.Folder(m), test.agent.Transcripts.Folder, "x", "s.jsonl")
			write(t, path, fmt.Sprintf(test.line, test.session, at)+"\n")
			_, steps := test.agent.Check(context.Background(), m)
			var told string
			for _, s := range steps {
				if s.Err != nil && strings.Contains(s.Err.Error(), "without asking nod") {
					told = s.Err.Error()
				}
			}
			if (told != "") != test.want || test.want && !strings.Contains(told, "in /srv/shop") {
				t.Errorf("told: %q", told)
			}
		})
	}
}
