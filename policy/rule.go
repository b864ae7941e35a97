package policy

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nod/policy/invisible"
	"nod/policy/shell"
)

const maxField = 4096

// A FieldError says which field of a rule or of the configuration is wrong, and what is wanted.
type FieldError struct {
	Key     string // as in the file: "effect" of a rule, "policy.rules[3].effect" of a configuration
	Problem string
}

func (e *FieldError) Error() string { return e.Key + ": " + e.Problem }

// Validate reports the first thing that is wrong with a rule on its own, as a [*FieldError].
func (r Rule) Validate() error {
	for _, check := range []func(Rule) *FieldError{
		checkID, checkEffect, checkTexts, checkMatchers, checkRun, checkArgs, checkExampleCount,
	} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

func checkID(r Rule) *FieldError {
	switch {
	case r.ID == "":
		return &FieldError{"id", "missing: want a name that no other rule has"}
	case len(r.ID) > 64 || strings.Trim(r.ID, idLetters) != "" || strings.IndexAny(r.ID[:1], "._-") == 0:
		return &FieldError{"id", fmt.Sprintf("%q: want up to 64 letters, digits, dots, dashes and underscores, "+
			"a letter or digit first", r.ID)}
	}
	return nil
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

func checkEffect(r Rule) *FieldError {
	if r.Effect == "" {
		return &FieldError{"effect", "missing: want allow, sandbox, ask or deny"}
	}
	if problem := CheckOneOf(r.Effect, Allow, Sandbox, Ask, Deny); problem != "" {
		return &FieldError{"effect", problem}
	}
	return nil
}

type ruleText struct {
	key, text string
	check     func(string) string // says what is wrong with the text, unless it is empty; nil: any will do
}

func (r Rule) texts() []ruleText {
	texts := []ruleText{
		{"agent", r.Agent, nil}, {"program", r.Program, checkPattern}, {"tool", r.Tool, nil},
		{"class", string(r.Class), checkClass}, {"path", r.Path, checkPattern}, {"command", r.Command, nil},
		{"cwd", r.CWD, checkPattern}, {"session", r.Session, nil}, {"mcp_server", r.Server, checkServer},
		{"host", r.Host, checkHost}, {"expires", r.Expires, checkExpires}, {"note", r.Note, nil},
	}
	for i, run := range r.Run {
		texts = append(texts, ruleText{fmt.Sprintf("run[%d]", i), run, nil})
	}
	for i, arg := range r.Args {
		texts = append(texts,
			ruleText{fmt.Sprintf("args[%d].field", i), arg.Field, nil},
			ruleText{fmt.Sprintf("args[%d].value", i), arg.Value, nil})
	}
	for _, e := range r.Examples.all() {
		texts = append(texts, ruleText{e.key, e.Text, nil})
	}
	return texts
}

func checkTexts(r Rule) *FieldError {
	for _, f := range r.texts() {
		problem := ""
		switch {
		case len(f.text) > maxField:
			problem = fmt.Sprintf("too long: want at most %d bytes", maxField)
		case invisible.In(f.text):
			problem = fmt.Sprintf("%+q holds a character that cannot be seen: remove it", f.text)
		case f.check != nil && f.text != "":
			problem = f.check(f.text)
		}
		if problem != "" {
			return &FieldError{f.key, problem}
		}
	}
	return nil
}

// The problems that name keys, which the settings put in words of their own.
const (
	MatchesAll = "the rule would match every call: want at least one of " +
		"agent, program, tool, class, path, command, run, cwd, session, mcp_server, host, args"
	NotContained = "only commands run in the sandbox: want a rule without host and mcp_server"
	NotByRun     = "a rule that allows commands bounds them by agent, program, tool, cwd and session only"
)

func checkMatchers(r Rule) *FieldError {
	tool := r.Tool
	if r.Effect.Permits() && strings.Trim(tool, "*") == "" {
		tool = "" // allowing any tool is no restriction
	}
	if r.Effect == Sandbox && cmp.Or(r.Host, r.Server) != "" {
		return &FieldError{"effect", NotContained}
	}
	text := cmp.Or(r.Agent, r.Program, tool, string(r.Class), r.Path, r.Command, r.CWD, r.Session, r.Server, r.Host)
	if text == "" && len(r.Args) == 0 && len(r.Run) == 0 {
		return &FieldError{"effect", MatchesAll}
	}
	return nil
}

func checkClass(text string) string {
	if Class(text) == oldWrite {
		return ""
	}
	return CheckOneOf(Class(text), Classes...)
}

const maxRun = 100

func checkRun(r Rule) *FieldError {
	switch {
	case len(r.Run) == 0:
		return nil
	case len(r.Run) > maxRun:
		return &FieldError{"run", fmt.Sprintf("%d of them: want at most %d", len(r.Run), maxRun)}
	case r.Effect.Permits() && (cmp.Or(r.Path, r.Command, r.Host, r.Server) != "" || len(r.Args) > 0):
		return &FieldError{"run", NotByRun}
	}
	for i, text := range r.Run {
		if _, err := shell.ParsePattern(text); err != nil {
			return &FieldError{fmt.Sprintf("run[%d]", i), fmt.Sprintf("%q: %s", text, err)}
		}
	}
	return nil
}

const maxRules = 20_000

// Problems lists what is wrong with a policy, except for examples that fail, by the keys of a configuration.
func (p Policy) Problems() []*FieldError {
	isClass := func(c Class) string { return CheckOneOf(c, Classes...) }
	found := slices.Concat(
		checkList("policy.auto_allow", p.AutoAllow, isClass),
		CheckAgents("policy.trusted_agents", p.TrustedAgents),
		checkList("policy.trusted_roots", p.TrustedRoots, checkPattern),
		checkList("policy.sandbox.projects", p.Sandbox.Projects, checkProject),
		checkList("policy.sandbox.hosts", p.Sandbox.Hosts, checkHost))
	if len(p.Rules) > maxRules {
		problem := fmt.Sprintf("%d rules: want at most %d", len(p.Rules), maxRules)
		return append(found, &FieldError{"policy.rules", problem})
	}
	taken := make(map[string]int, len(p.Rules))
	for i, r := range p.Rules {
		var field *FieldError
		first, isTaken := taken[r.ID]
		switch {
		case errors.As(r.Validate(), &field):
		case isTaken:
			problem := fmt.Sprintf("%q is also the id of rules[%d]: want one that no other rule has", r.ID, first)
			field = &FieldError{"id", problem}
		default:
			taken[r.ID] = i
			continue
		}
		found = append(found, &FieldError{fmt.Sprintf("policy.rules[%d].%s", i, field.Key), field.Problem})
	}
	return found
}

// checkProject requires a single folder that does not contain the home folder.
func checkProject(folder string) string {
	abs, ok := absolute(folder, "", homeFolder())
	switch {
	case !ok || !filepath.IsAbs(abs) || strings.ContainsAny(folder, "*?[{") || invisible.In(folder):
		return fmt.Sprintf("%q: want the absolute path of a folder without wildcards, or ~/ and one", folder)
	case isWithin(fold(homeFolder()), fold(filepath.Clean(abs))):
		return fmt.Sprintf("%q holds your home folder: want a folder with a project in it", folder)
	}
	return ""
}

// Normalize replaces old names of classes, and sets lists without elements to nil.
func (p *Policy) Normalize() {
	for i, class := range p.AutoAllow {
		if class == oldWrite {
			p.AutoAllow[i] = Write
		}
	}
	p.Sandbox.Projects, p.Sandbox.Hosts = orNil(p.Sandbox.Projects), orNil(p.Sandbox.Hosts)
	for i, r := range p.Rules {
		if r.Class == oldWrite {
			p.Rules[i].Class = Write
		}
		p.Rules[i].Run, p.Rules[i].Args = orNil(r.Run), orNil(r.Args)
		p.Rules[i].Examples = Examples{orNil(r.Examples.Match), orNil(r.Examples.NoMatch)}
	}
}

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// CheckOneOf says what is wrong with a value that is not one of the known ones; "" if it is one.
func CheckOneOf[T ~string](value T, known ...T) string {
	if !slices.Contains(known, value) {
		return fmt.Sprintf("%q: want %s", value, OrList(known))
	}
	return ""
}

// CheckAgents lists what is wrong with the names of agents in a list of the configuration.
func CheckAgents(key string, agents []string) []*FieldError {
	return checkList(key, agents, checkAgent)
}

// checkList returns the problems of a list in the configuration. Each item may appear only once.
func checkList[T ~string](key string, items []T, check func(T) string) (found []*FieldError) {
	for i, item := range items {
		problem := check(item)
		if problem == "" && slices.Contains(items[:i], item) {
			problem = fmt.Sprintf("%q appears twice: remove one of them", item)
		}
		if problem != "" {
			found = append(found, &FieldError{fmt.Sprintf("%s[%d]", key, i), problem})
		}
	}
	return found
}

func checkAgent(name string) string {
	switch {
	case name == "" || len(name) > 200:
		return "want the name that the agent gives itself, at most 200 bytes"
	case invisible.In(name):
		return fmt.Sprintf("%+q holds a character that cannot be seen: remove it", name)
	}
	return ""
}
