package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"nod/api"
)

// HookCall is one call of an agent's hook. Its fields are as in [nod/ipc/hooks.Call].
type HookCall struct {
	Agent, Event   string
	Payload        []byte
	Version        string
	Headless, Gate bool
	Limit          time.Duration
	Shell          bool

	// Looks makes nod-desktop find out Gate and Limit, by reading the agent's settings where this process's environment
	// says they are. The call then fails with a [*Problem] if the two processes do not see the same files.
	Looks bool
}

// ShellVariable is the variable that nod sets to the id of the process when it runs a command for an agent.
const ShellVariable = "NOD_SHELL"

// isRunByNod reports whether nod has run this process, or its parent, for an agent.
func isRunByNod() bool {
	id, err := strconv.Atoi(os.Getenv(ShellVariable))
	return err == nil && (id == os.Getpid() || id == os.Getppid())
}

// MaxPayload is the most bytes that a hook reads from its agent.
const MaxPayload = 1 << 20

// FailedFlag is the flag of nod hook for handing over from the program that asked nod-desktop to the one that knows
// what each agent does without an answer.
const FailedFlag = "failed"

// NewHookCall returns the call of an agent's hook. Claude Code's environment for hooks says how it was started ("cli"
// is its terminal), and which release it is: claude-code_2-1-330_harness.
func NewHookCall(agent, event string, payload []byte) HookCall {
	entry := os.Getenv("CLAUDE_CODE_ENTRYPOINT")
	version, _, _ := strings.Cut(strings.TrimPrefix(os.Getenv("AI_AGENT"), "claude-code_"), "_")
	return HookCall{
		Agent: agent, Event: event, Payload: payload, Version: strings.ReplaceAll(version, "-", "."),
		Headless: entry != "" && entry != "cli", Shell: isRunByNod(),
	}
}

// EventOf reads the event's name from a payload, or from the readable part of it: agents put the name in a field before
// what a model writes. Without one it returns [api.NoEvent].
func EventOf(payload io.Reader) string {
	d := jsontext.NewDecoder(payload, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	texts := map[string]string{}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() == '"' {
		name, _ := d.ReadToken()
		field := name.String()
		if d.PeekKind() != '"' {
			err = d.SkipValue()
			continue
		}
		var text jsontext.Token
		if text, err = d.ReadToken(); err != nil {
			break
		}
		if _, isTwice := texts[field]; isTwice { // the agent may mean either
			text = jsontext.String("")
		}
		texts[field] = text.String()
	}
	for _, field := range []string{"hook_event_name", "type", "event_type", "hookEventName", "event", "hookName"} {
		if texts[field] != "" {
			return texts[field]
		}
	}
	return api.NoEvent
}

// SettingsVariables are the environment variables that say where agents have their settings.
var SettingsVariables = []string{
	"CLAUDE_CONFIG_DIR", "CLINE_DIR", "CODEX_HOME", "COPILOT_HOME", "CRUSH_GLOBAL_CONFIG", "GEMINI_CLI_HOME",
	"KIMI_CODE_HOME", "LETTA_HOME", "QWEN_HOME", "XDG_CONFIG_HOME",
}

// query returns what nod-desktop must know about a call besides its payload.
func (h HookCall) query() url.Values {
	query := url.Values{}
	set := func(name, value string, isWanted bool) {
		if isWanted {
			query.Set(name, value)
		}
	}
	set("headless", "1", h.Headless)
	set("gate", "1", h.Gate)
	set("shell", "1", h.Shell)
	set("version", h.Version, h.Version != "")
	set("limit", h.Limit.String(), h.Limit > 0)
	if home, _ := os.UserHomeDir(); h.Looks { // without one, nobody knows what the agent's settings say
		env := url.Values{"HOME": {home}}
		for _, name := range SettingsVariables {
			if value := os.Getenv(name); value != "" {
				env.Set(name, value)
			}
		}
		query.Set("settings", env.Encode())
	}
	return query
}

// Hook passes on the payload of an agent's hook and returns the agent's own reply; nil is "no decision".
func (c *Client) Hook(ctx context.Context, h HookCall) ([]byte, error) {
	at := url.URL{
		Path: "/v1/hooks/" + url.PathEscape(h.Agent) + "/" + url.PathEscape(h.Event), RawQuery: h.query().Encode(),
	}
	text, err := c.call(ctx, request{
		method: post, path: at.String(), body: json.RawMessage(h.Payload), key: newKey(), isWaiting: true,
	})
	if err != nil || len(text) == 0 {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, badReply("not JSON")
	}
	return bytes.TrimSpace(text), nil
}
