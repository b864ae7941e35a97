package imports

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"nod/policy"
)

// readClaude reads the permissions of a settings.json of Claude Code.
func readClaude(f File) ([]*entry, error) {
	root, err := hujson.Parse(f.Text)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	settings, err := members(f.Text, root, "")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(settings, func(m member) bool { return m.name == "permissions" })
	if i < 0 {
		return nil, nil
	}
	permissions, err := members(f.Text, settings[i].value, "permissions.")
	if err != nil {
		return nil, err
	}
	var entries []*entry
	for _, m := range permissions {
		effect := policy.Effect(m.name)
		if effect != policy.Allow && effect != policy.Ask && effect != policy.Deny {
			entries = append(entries, &entry{
				text: "permissions." + m.name, line: m.line, effect: policy.Allow, rank: sameRank,
				reason: "this is no rule: it holds in Claude Code only",
			})
			continue
		}
		list, ok := m.value.Value.(*hujson.Array)
		if !ok {
			return nil, fmt.Errorf("line %d: permissions.%s: want a list", m.line, effect)
		}
		for _, item := range list.Elements {
			line := lineAt(f.Text, item)
			literal, ok := item.Value.(hujson.Literal)
			if !ok || literal.Kind() != '"' {
				return nil, fmt.Errorf("line %d: permissions.%s: want texts", line, effect)
			}
			e := &entry{text: fmt.Sprintf("%s %s", effect, literal.String()), line: line, effect: effect, rank: sameRank}
			e.readClaudeRule(literal.String(), f.Project)
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// member is a field of an object.
type member struct {
	name  string
	value hujson.Value
	line  int
}

// members lists the fields of an object. Of a field that is there twice nobody knows which counts.
func members(text []byte, v hujson.Value, under string) ([]member, error) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("line %d: want a JSON object", lineAt(text, v))
	}
	var list []member
	seen := map[string]bool{}
	for _, m := range object.Members {
		name, line := m.Name.Value.(hujson.Literal).String(), lineAt(text, m.Name)
		if seen[name] {
			return nil, fmt.Errorf("line %d: %s%s is there twice", line, under, name)
		}
		seen[name] = true
		list = append(list, member{name, m.Value, line})
	}
	return list, nil
}

func lineAt(text []byte, v hujson.Value) int {
	return 1 + bytes.Count(text[:v.StartOffset], []byte("\n"))
}

// The tools of Claude Code that its rules for reading and for editing files hold for.
var (
	claudeReads = []string{"Read", "Grep", "Glob"}
	claudeEdits = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}
	claudeFiles = slices.Concat(claudeReads, claudeEdits)
)

// readClaudeRule translates "Tool" or "Tool(what)".
func (e *entry) readClaudeRule(text, project string) {
	tool, what, narrowed := strings.Cut(text, "(")
	if narrowed {
		var closed bool
		what, closed = strings.CutSuffix(what, ")")
		narrowed = what != "" && (what != "*" || (e.effect == policy.Allow && tool != "Bash"))
		if !closed {
			e.reason, tool = "the bracket is not closed", "*"
		}
	}
	e.touches = claudeTouches(tool, what)
	switch {
	case e.reason != "":
	case tool == "" || strings.Trim(tool, toolLetters) != "":
		e.reason, e.touches = "this names no tool", always
	case narrowed:
		e.readClaudeNarrow(tool, what, project)
	default:
		e.readClaudeTool(tool, project)
	}
}

const toolLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*"

func (e *entry) readClaudeNarrow(tool, what, project string) {
	switch {
	case tool == "Bash" && isPrefix(what):
		e.addRun("claude", tool, project, claudePrefix(what))
	case tool == "Bash" && (e.effect != policy.Allow || strings.ContainsAny(what, "*\\") || strings.HasSuffix(what, ":")):
		e.reason = prefixReason(e.effect)
	case tool == "Bash":
		e.add("claude-bash-"+what, policy.Rule{Tool: tool, Command: what, CWD: inside(project)})
	case tool == "Read", tool == "Edit":
		e.readClaudePath(tool, what, project)
	case e.effect != policy.Allow && slices.Contains(claudeReads, tool):
		e.readClaudePath("Read", what, project)
	case e.effect != policy.Allow && slices.Contains(claudeEdits, tool):
		e.readClaudePath("Edit", what, project)
	case slices.Contains(claudeFiles, tool):
		e.reason = "Claude Code itself heeds only Read(…) and Edit(…) for paths"
	case tool == "WebFetch" && strings.HasPrefix(what, "domain:"):
		e.readClaudeDomain(strings.TrimPrefix(what, "domain:"), project)
	default:
		e.reason = fmt.Sprintf("nod has no rule for what %s is used with", tool)
	}
}

// isPrefix reports whether a rule for commands is for all that begin with some words: "go test:*" or "go test *".
func isPrefix(what string) bool {
	prefix := claudePrefix(what)
	return prefix != what && prefix != "" && !strings.ContainsAny(prefix, "*\\:")
}

func claudePrefix(what string) string {
	if prefix, ok := strings.CutSuffix(what, ":*"); ok {
		return prefix
	}
	return strings.TrimSuffix(what, " *")
}

// readClaudeDomain translates a host that may be fetched from. To deny also holds for all below it.
func (e *entry) readClaudeDomain(host, project string) {
	hosts := []string{host}
	switch {
	case e.effect != policy.Allow && project != "":
		e.reason = projectDeny
		return
	case e.effect != policy.Allow && !strings.HasPrefix(host, "*."):
		hosts = append(hosts, "*."+host)
	}
	for _, h := range hosts {
		r := policy.Rule{ID: "x", Effect: e.effect, Tool: "WebFetch", Host: h, CWD: inside(project)}
		if h == "" || r.Validate() != nil {
			e.rules, e.names, e.reason = nil, nil, "nod's rules take a host in small letters, or *. before one"
			return
		}
		e.add("claude-fetch-"+h, r)
	}
}

// projectDeny is why a deny of a project is left out.
const projectDeny = ofProject + "; Claude Code keeps to it itself"

// readClaudeTool translates the name of a tool alone. What a project says holds for its sessions, wherever
// they work; nod knows the folder of each call only, so a deny would be narrower.
func (e *entry) readClaudeTool(tool, project string) {
	server := strings.HasPrefix(tool, "mcp__") && strings.Count(tool, "__") == 1
	switch {
	case e.effect != policy.Allow && project != "":
		e.reason = projectDeny
		return
	case e.effect == policy.Allow && (server || strings.Contains(tool, "*")):
		e.reason = "it allows many tools at once: nod's rules allow them one by one"
		return
	case server:
		tool += "__*"
	}
	for _, name := range claudeGroup(tool, e.effect) {
		e.add("claude-"+name, policy.Rule{Tool: name, CWD: inside(project)})
	}
}

// claudeGroup is the tools that the name of one stands for in a rule. An allow holds for those only that it
// surely means.
func claudeGroup(tool string, effect policy.Effect) []string {
	switch {
	case effect != policy.Allow:
		return claudeMeans(tool)
	case tool == "Edit":
		return []string{"Edit", "Write"}
	}
	return []string{tool}
}

// claudeMeaning is every tool that a deny of one may hold for, where that is not itself alone: Monitor follows the
// rules of Bash, and Agent was called Task before.
var claudeMeaning = map[string][]string{
	"Edit": claudeEdits, "Read": claudeReads, "Bash": {"Bash", "Monitor"},
	"Agent": {"Agent", "Task"}, "Task": {"Agent", "Task"},
}

func claudeMeans(tool string) []string {
	if tools := claudeMeaning[tool]; tools != nil {
		return tools
	}
	return []string{tool}
}

// readClaudePath translates a pattern that Claude Code reads as git does those of .gitignore.
func (e *entry) readClaudePath(tool, what, project string) {
	if !isPlainPattern(what) {
		e.reason = "nod's path patterns cannot say this"
		return
	}
	name := "claude-" + tool + "-" + what
	if e.effect != policy.Allow {
		e.denyClaudePath(tool, name, widePath(what))
		return
	}
	path, cwd := narrowPath(what, project)
	if path == "" {
		e.reason = "it is relative to whatever folder the agent works in: nod's rules want a path that starts somewhere"
		return
	}
	for _, t := range claudeGroup(tool, e.effect) {
		e.add(strings.Replace(name, tool, t, 1), policy.Rule{Tool: t, Path: path, CWD: cwd})
	}
}

// denyClaudePath covers every way to the path: a deny for reading also holds for commands and for editing,
// one for editing holds for commands unless they only read.
func (e *entry) denyClaudePath(tool, name, path string) {
	if tool == "Read" {
		e.add(name, policy.Rule{Path: path})
		return
	}
	e.add(name, policy.Rule{Class: policy.Write, Path: path})
	e.add(name+"-by-command", policy.Rule{Class: policy.Unknown, Path: path})
}

// isPlainPattern refuses what .gitignore and nod read differently.
func isPlainPattern(p string) bool {
	parts := strings.Split(strings.TrimPrefix(p, "./"), "/")
	return p == strings.TrimSpace(p) && !strings.ContainsAny(p, `\[]{}`) && !strings.ContainsAny(p[:1], "!#") &&
		strings.Trim(p, "./") != "" && !strings.Contains(p[1:], "//") &&
		!slices.Contains(parts, "..") && !slices.Contains(parts, ".") && (p[0] != '~' || strings.HasPrefix(p, "~/"))
}

// widePath is a pattern for every place that the original may mean.
func widePath(p string) string {
	if strings.HasPrefix(p, "//") {
		return "/" + strings.TrimLeft(p, "/")
	}
	if strings.HasPrefix(p, "~/") || strings.HasPrefix(p, "**/") || p == "**" {
		return p
	}
	return "**/" + strings.TrimLeft(strings.TrimPrefix(p, "./"), "/")
}

// narrowPath is a pattern for places that the original surely means, and the folder in which it does; or
// nothing when there are none. A pattern that does not start with a slash counts from the current folder.
func narrowPath(p, project string) (path, cwd string) {
	switch {
	case strings.HasPrefix(p, "//"):
		return "/" + strings.TrimLeft(p, "/"), inside(project)
	case strings.HasPrefix(p, "~/"):
		return p, inside(project)
	case project == "":
		return "", ""
	case p[0] == '/':
		return below(project, p[1:]), inside(project)
	}
	p = strings.TrimPrefix(p, "./")
	if !strings.Contains(p, "/") {
		p = "**/" + p
	}
	return below(project, p), policy.EscapeGlob(filepath.ToSlash(project))
}

// inside is the pattern of a project's folder and all in it, or nothing when there is no project.
func inside(project string) string {
	if project == "" {
		return ""
	}
	return below(project, "**")
}

func below(project, p string) string {
	return strings.TrimSuffix(policy.EscapeGlob(filepath.ToSlash(project)), "/") + "/" + p
}

func (e *entry) add(name string, r policy.Rule) {
	e.rules, e.names = append(e.rules, r), append(e.names, name)
}

func always(policy.Rule) bool { return true }

// claudeTouches says which allows a deny of Tool(what) may take something from. A command is touched when
// the first word of the deny is anywhere in it, since Claude Code looks into compound commands. Rules for
// files also hold for commands that handle them.
func claudeTouches(tool, what string) func(policy.Rule) bool {
	if strings.Contains(tool, "*") {
		return always
	}
	files := slices.Contains(claudeFiles, tool)
	word, _, _ := strings.Cut(what, " ")
	word, _, _ = strings.Cut(word, "*")
	word = strings.TrimSuffix(word, ":")
	return func(r policy.Rule) bool {
		switch {
		case tool == "Bash" && len(r.Run) > 0 && isPrefix(what):
			return takesFrom(claudePrefix(what), r)
		case tool == "Bash" && (r.Tool == "Bash" || r.Tool == "Monitor"):
			return r.Command == "" || strings.Contains(r.Command, word)
		case files:
			return r.Tool == "Bash" || r.Tool == "Monitor" || slices.Contains(claudeFiles, r.Tool)
		case strings.HasPrefix(tool, "mcp__"):
			return r.Tool == tool || strings.HasPrefix(r.Tool, tool+"__")
		}
		return slices.Contains(claudeMeans(tool), r.Tool)
	}
}
