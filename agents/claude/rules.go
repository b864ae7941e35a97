package claude

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"nod/policy"
	"nod/policy/imports"
)

type entry struct{ imports.Entry }

func readRules(f imports.File) ([]*imports.Entry, error) {
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
	var entries []*imports.Entry
	for _, m := range permissions {
		effect := policy.Effect(m.name)
		if effect != policy.Allow && effect != policy.Ask && effect != policy.Deny {
			entries = append(entries, &imports.Entry{
				Text: "permissions." + m.name, Line: m.line, Effect: policy.Allow, Rank: imports.SameRank,
				Reason: "this is not a rule: it applies in Claude Code only",
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
			e := &entry{imports.Entry{
				Text: fmt.Sprintf("%s %s", effect, literal.String()), Line: line, Effect: effect, Rank: imports.SameRank,
			}}
			e.readRule(literal.String(), f.Project)
			entries = append(entries, &e.Entry)
		}
	}
	return entries, nil
}

type member struct {
	name  string
	value hujson.Value
	line  int
}

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
			return nil, fmt.Errorf("line %d: %s%s appears twice", line, under, name)
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
	ruleReads = []string{"Read", "Grep", "Glob"}
	ruleEdits = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}
	ruleFiles = slices.Concat(ruleReads, ruleEdits)
)

// readRule translates "Tool" or "Tool(what)".
func (e *entry) readRule(text, project string) {
	tool, what, narrowed := strings.Cut(text, "(")
	if narrowed {
		var closed bool
		what, closed = strings.CutSuffix(what, ")")
		narrowed = what != "" && (what != "*" || (e.Effect == policy.Allow && tool != "Bash"))
		if !closed {
			e.Reason, tool = "the bracket is not closed", "*"
		}
	}
	e.Touches = ruleTouches(tool, what)
	switch {
	case e.Reason != "":
	case tool == "" || strings.Trim(tool, toolLetters) != "":
		e.Reason, e.Touches = "this names no tool", imports.Always
	case narrowed:
		e.readNarrow(tool, what, project)
	default:
		e.readTool(tool, project)
	}
}

const toolLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*"

func (e *entry) readNarrow(tool, what, project string) {
	switch {
	case tool == "Bash" && isPrefix(what):
		e.AddRun("claude", tool, project, rulePrefix(what))
	case tool == "Bash" && (e.Effect != policy.Allow || strings.ContainsAny(what, "*\\") || strings.HasSuffix(what, ":")):
		e.Reason = imports.PrefixReason(e.Effect)
	case tool == "Bash":
		e.Add("claude-bash-"+what, policy.Rule{Tool: tool, Command: what, CWD: imports.Inside(project)})
	case tool == "Read", tool == "Edit":
		e.readPath(tool, what, project)
	case e.Effect != policy.Allow && slices.Contains(ruleReads, tool):
		e.readPath("Read", what, project)
	case e.Effect != policy.Allow && slices.Contains(ruleEdits, tool):
		e.readPath("Edit", what, project)
	case slices.Contains(ruleFiles, tool):
		e.Reason = "Claude Code itself only honors Read(…) and Edit(…) for paths"
	case tool == "WebFetch" && strings.HasPrefix(what, "domain:"):
		e.readDomain(strings.TrimPrefix(what, "domain:"), project)
	default:
		e.Reason = fmt.Sprintf("nod's rules can't express the arguments of %s", tool)
	}
}

func isPrefix(what string) bool {
	prefix := rulePrefix(what)
	return prefix != what && prefix != "" && !strings.ContainsAny(prefix, "*\\:")
}

func rulePrefix(what string) string {
	if prefix, ok := strings.CutSuffix(what, ":*"); ok {
		return prefix
	}
	return strings.TrimSuffix(what, " *")
}

// readDomain translates a host that may be fetched from. To deny also holds for all below it.
func (e *entry) readDomain(host, project string) {
	hosts := []string{host}
	switch {
	case e.Effect != policy.Allow && project != "":
		e.Reason = projectDeny
		return
	case e.Effect != policy.Allow && !strings.HasPrefix(host, "*."):
		hosts = append(hosts, "*."+host)
	}
	for _, h := range hosts {
		r := policy.Rule{ID: "x", Effect: e.Effect, Tool: "WebFetch", Host: h, CWD: imports.Inside(project)}
		if h == "" || r.Validate() != nil {
			e.Drop("nod's rules take a host in small letters, or *. before one")
			return
		}
		e.Add("claude-fetch-"+h, r)
	}
}

const projectDeny = imports.OfProject + "; Claude Code keeps to it itself"

// readTool translates the name of a tool alone. What a project says holds for its sessions, wherever
// they work; nod knows the folder of each call only, so a deny would be narrower.
func (e *entry) readTool(tool, project string) {
	server := strings.HasPrefix(tool, "mcp__") && strings.Count(tool, "__") == 1
	switch {
	case e.Effect != policy.Allow && project != "":
		e.Reason = projectDeny
		return
	case e.Effect == policy.Allow && (server || strings.Contains(tool, "*")):
		e.Reason = "it allows many tools at once: nod's rules allow one tool each"
		return
	case server:
		tool += "__*"
	}
	for _, name := range ruleGroup(tool, e.Effect) {
		e.Add("claude-"+name, policy.Rule{Tool: name, CWD: imports.Inside(project)})
	}
}

// ruleGroup is the tools that the name of one stands for in a rule. An allow holds for those only that it
// surely means.
func ruleGroup(tool string, effect policy.Effect) []string {
	switch {
	case effect != policy.Allow:
		return ruleMeans(tool)
	case tool == "Edit":
		return []string{"Edit", "Write"}
	}
	return []string{tool}
}

// ruleMeaning is every tool that a deny of one may hold for, where that is not itself alone: Monitor follows the
// rules of Bash, and Agent was called Task before.
var ruleMeaning = map[string][]string{
	"Edit": ruleEdits, "Read": ruleReads, "Bash": {"Bash", "Monitor"},
	"Agent": {"Agent", "Task"}, "Task": {"Agent", "Task"},
}

func ruleMeans(tool string) []string {
	if tools := ruleMeaning[tool]; tools != nil {
		return tools
	}
	return []string{tool}
}

// readPath translates a pattern that Claude Code reads as git does those of .gitignore.
func (e *entry) readPath(tool, what, project string) {
	if !isPlainPattern(what) {
		e.Reason = "nod's path patterns cannot say this"
		return
	}
	name := "claude-" + tool + "-" + what
	if e.Effect != policy.Allow {
		e.denyPath(tool, name, widePath(what))
		return
	}
	path, cwd := narrowPath(what, project)
	if path == "" {
		e.Reason = "it is relative to the agent's working folder: rules need an absolute path"
		return
	}
	for _, t := range ruleGroup(tool, e.Effect) {
		e.Add(strings.Replace(name, tool, t, 1), policy.Rule{Tool: t, Path: path, CWD: cwd})
	}
}

// denyPath covers every way to the path: a deny for reading also holds for commands and for editing,
// one for editing holds for commands unless they only read.
func (e *entry) denyPath(tool, name, path string) {
	if tool == "Read" {
		e.Add(name, policy.Rule{Path: path})
		return
	}
	e.Add(name, policy.Rule{Class: policy.Write, Path: path})
	e.Add(name+"-by-command", policy.Rule{Class: policy.Unknown, Path: path})
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
		return "/" + strings.TrimLeft(p, "/"), imports.Inside(project)
	case strings.HasPrefix(p, "~/"):
		return p, imports.Inside(project)
	case project == "":
		return "", ""
	case p[0] == '/':
		return imports.Below(project, p[1:]), imports.Inside(project)
	}
	p = strings.TrimPrefix(p, "./")
	if !strings.Contains(p, "/") {
		p = "**/" + p
	}
	return imports.Below(project, p), policy.EscapeGlob(filepath.ToSlash(project))
}

// ruleTouches says which allows a deny of Tool(what) may take something from. A command is touched when
// the first word of the deny is anywhere in it, since Claude Code looks into compound commands. Rules for
// files also hold for commands that handle them.
func ruleTouches(tool, what string) func(policy.Rule) bool {
	if strings.Contains(tool, "*") {
		return imports.Always
	}
	files := slices.Contains(ruleFiles, tool)
	word, _, _ := strings.Cut(what, " ")
	word, _, _ = strings.Cut(word, "*")
	word = strings.TrimSuffix(word, ":")
	return func(r policy.Rule) bool {
		switch {
		case tool == "Bash" && len(r.Run) > 0 && isPrefix(what):
			return imports.TakesFrom(rulePrefix(what), r)
		case tool == "Bash" && (r.Tool == "Bash" || r.Tool == "Monitor"):
			return r.Command == "" || strings.Contains(r.Command, word)
		case files:
			return r.Tool == "Bash" || r.Tool == "Monitor" || slices.Contains(ruleFiles, r.Tool)
		case strings.HasPrefix(tool, "mcp__"):
			return r.Tool == tool || strings.HasPrefix(r.Tool, tool+"__")
		}
		return slices.Contains(ruleMeans(tool), r.Tool)
	}
}
