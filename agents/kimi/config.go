package kimi

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"nod/agents/agent"
)

// events are the events of nod's [[hooks]], at the end of Kimi Code's config.toml, where they belong to no other table.
var events = []agent.Event{
	{Name: preToolUse, Decides: true}, {Name: "Stop"}, {Name: "UserPromptSubmit"}, {Name: "Interrupt"},
	{Name: "SessionEnd"},
}

type hook struct {
	Event   string `toml:"event"`
	Command string `toml:"command"`
	Timeout int    `toml:"timeout"`
}

// hookKeys are the keys that a hook may have: on any other key Kimi Code drops all hooks.
var hookKeys = []string{"event", "matcher", "command", "timeout"}

func addHooks(before []byte, nod string) ([]byte, error) {
	found, err := lookForHooks(before)
	if err != nil || found.All && found.Runs[0].Nod == nod {
		return before, err
	}
	rest, err := without(before)
	if err != nil {
		return nil, err
	}
	end := lineEnd(before)
	var b strings.Builder
	b.Write(rest)
	if len(rest) > 0 && !bytes.HasSuffix(rest, []byte("\n")) {
		b.WriteString(end)
	}
	for _, e := range events {
		if b.Len() > 0 {
			b.WriteString(end)
		}
		text, err := toml.Marshal(hook{e.Name, agent.Command(nod, name), int(agent.HookTimeout / time.Second)})
		if err != nil {
			return nil, err
		}
		b.WriteString(strings.ReplaceAll("[[hooks]]\n"+string(text), "\n", end))
	}
	after := []byte(b.String())
	if found, err := lookForHooks(after); err != nil || !found.All {
		return nil, errors.Join(errors.New("nod can't add its hooks: write the hooks as [[hooks]] tables"), err)
	}
	return after, nil
}

func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func removeHooks(now, kept []byte) ([]byte, error) {
	rest, err := without(now)
	switch {
	case err != nil:
		return nil, err
	case bytes.Equal(rest, now):
		return now, nil
	case len(bytes.TrimSpace(rest)) == 0 && kept == nil:
		return nil, nil
	}
	return rest, nil
}

// lookForHooks finds nod's hooks. It refuses a file for which Kimi Code would drop them.
func lookForHooks(text []byte) (agent.Found, error) {
	all, err := read(text)
	if err != nil {
		return agent.Found{}, err
	}
	list, err := hooksOf(all)
	if err != nil {
		return agent.Found{}, err
	}
	var found agent.Found
	here := map[string]int{}
	for _, keys := range list {
		if key := unknownKey(keys); key != "" {
			return agent.Found{}, fmt.Errorf("a hook has the key %q, which makes Kimi Code drop all hooks: remove it", key)
		}
		if !isOurs(keys) {
			continue
		}
		found.Some = true
		event, _ := keys["event"].(string)
		limit := limitOf(keys)
		if slices.Contains(events, agent.Event{Name: event, Decides: true}) && (found.Limit == 0 || limit < found.Limit) {
			found.Limit = limit
		}
		line, _ := keys["command"].(string)
		run, ok := agent.RunOf(line, name)
		if ok && !slices.Contains(found.Runs, run) {
			found.Runs = append(found.Runs, run)
		}
		if ok && keys["matcher"] == nil && limit == agent.HookTimeout {
			here[event]++
		}
	}
	missing := func(e agent.Event) bool { return here[e.Name] != 1 }
	found.All = len(here) == len(events) && !slices.ContainsFunc(events, missing) && len(found.Runs) == 1
	return found, nil
}

func unknownKey(keys map[string]any) string {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(hookKeys, key) {
			return key
		}
	}
	return ""
}

func limitOf(keys map[string]any) time.Duration {
	switch n := keys["timeout"].(type) {
	case int64:
		return time.Duration(n) * time.Second
	case float64:
		return time.Duration(n * float64(time.Second))
	}
	return 30 * time.Second
}

func isOurs(keys map[string]any) bool {
	line, _ := keys["command"].(string)
	return agent.IsOurs(line, name)
}

func read(text []byte) (map[string]any, error) {
	all := map[string]any{}
	if err := toml.Unmarshal(text, &all); err != nil {
		if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := wrong.Position()
			err = fmt.Errorf("line %d: %w", line, err)
		}
		return nil, fmt.Errorf("is not TOML that nod can edit: %w", err)
	}
	return all, nil
}

func hooksOf(all map[string]any) ([]map[string]any, error) {
	list, ok := all["hooks"].([]any)
	if all["hooks"] != nil && !ok {
		return nil, errors.New("hooks: want [[hooks]] tables")
	}
	var found []map[string]any
	for _, item := range list {
		keys, ok := item.(map[string]any)
		if !ok {
			return nil, errors.New("hooks: want [[hooks]] tables")
		}
		found = append(found, keys)
	}
	return found, nil
}

// without returns a settings file without nod's hooks: without their lines, and the empty one before each. Comments
// between them stay.
func without(text []byte) ([]byte, error) {
	all, err := read(text)
	if err != nil {
		return nil, err
	}
	list, err := hooksOf(all)
	if err != nil || !slices.ContainsFunc(list, isOurs) {
		return text, nil // it has nothing of nod's
	}
	rest := cut(text, list)
	left, err := read(rest)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, isOurs)
	got, err := hooksOf(left)
	delete(all, "hooks")
	delete(left, "hooks")
	if err != nil || !reflect.DeepEqual(all, left) || !slices.EqualFunc(list, got, sameHook) {
		return nil, errors.New("nod can't remove its hooks alone: remove their [[hooks]] tables by hand")
	}
	return rest, nil
}

func sameHook(a, b map[string]any) bool { return reflect.DeepEqual(a, b) }

func cut(text []byte, list []map[string]any) []byte {
	gone := map[int]bool{} // by line
	ours, n := false, 0
	for _, e := range expressions(text) {
		if e.kind != unstable.KeyValue {
			ours = false
		}
		if e.kind == unstable.ArrayTable && e.key == "hooks" && n < len(list) {
			ours, n = isOurs(list[n]), n+1
		}
		if ours {
			gone[e.line] = true
		}
	}
	return cutLines(text, gone)
}

func cutLines(text []byte, gone map[int]bool) []byte {
	var rest [][]byte
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		n := len(rest)
		switch {
		case !gone[i+1]:
			rest = append(rest, line)
		case n > 0 && len(bytes.TrimSpace(rest[n-1])) == 0:
			rest = rest[:n-1]
		}
	}
	return bytes.Join(rest, nil)
}

type expression struct {
	kind  unstable.Kind
	key   string // without what comes after a dot
	line  int
	value unstable.Range // of a plain value
}

func expressions(text []byte) []expression {
	var p unstable.Parser
	p.Reset(text)
	var all []expression
	for p.NextExpression() {
		node := p.Expression()
		key := node.Key()
		if !key.Next() {
			continue
		}
		e := expression{kind: node.Kind, line: p.Shape(key.Node().Raw).Start.Line}
		if key.IsLast() {
			e.key = string(key.Node().Data)
		}
		if node.Kind == unstable.KeyValue {
			e.value = node.Value().Raw
		}
		all = append(all, e)
	}
	return all
}

// mode is the key that says what Kimi Code asks about; with auto it asks about nothing.
const (
	mode = "default_permission_mode"
	auto = `"auto"`
)

// gateAt switches Kimi Code's own prompt off. Then nod is the only gate, and must deny what was not allowed.
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
