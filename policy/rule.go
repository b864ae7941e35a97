package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nod/policy/shell"
)

// maxField is how long a field of a rule may be, in bytes.
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
		const want = "want up to 64 letters, digits, dots, dashes and underscores, a letter or digit first"
		return &FieldError{"id", fmt.Sprintf("%q: %s", r.ID, want)}
	}
	return nil
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

func checkEffect(r Rule) *FieldError {
	if r.Effect == "" {
		return &FieldError{"effect", "missing: want allow, ask or deny"}
	}
	if effects := []Effect{Allow, Ask, Deny}; !slices.Contains(effects, r.Effect) {
		return &FieldError{"effect", fmt.Sprintf("%q: want %s", r.Effect, OrList(effects))}
	}
	return nil
}

// A ruleText is a text of a rule.
type ruleText struct {
	key, text string
	check     func(string) string // says what is wrong with the text, unless it is empty; nil: any will do
}

// texts are all of them but for id and effect.
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
		texts = append(texts, ruleText{e.Key, e.Text, nil})
	}
	return texts
}

// checkTexts refuses what a person who reads the rule would not see, and what means nothing in its field.
func checkTexts(r Rule) *FieldError {
	for _, f := range r.texts() {
		problem := ""
		switch {
		case len(f.text) > maxField:
			problem = fmt.Sprintf("too long: want at most %d bytes", maxField)
		case hasHidden(f.text):
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

func checkMatchers(r Rule) *FieldError {
	tool := r.Tool
	if r.Effect == Allow && strings.Trim(tool, "*") == "" {
		tool = "" // a rule that allows whatever the tool says no more than one that allows everything
	}
	text := cmp.Or(r.Agent, r.Program, tool, string(r.Class), r.Path, r.Command, r.CWD, r.Session, r.Server, r.Host)
	if text == "" && len(r.Args) == 0 && len(r.Run) == 0 {
		return &FieldError{"effect", "the rule would match every call: want at least one of " +
			"agent, program, tool, class, path, command, run, cwd, session, mcp_server, host, args"}
	}
	return nil
}

func checkClass(text string) string {
	if Class(text) == oldWrite {
		return ""
	}
	return CheckOneOf(Class(text), Classes...)
}

// maxRun is how many commands one rule may name.
const maxRun = 100

func checkRun(r Rule) *FieldError {
	switch {
	case len(r.Run) == 0:
		return nil
	case len(r.Run) > maxRun:
		return &FieldError{"run", fmt.Sprintf("%d of them: want at most %d", len(r.Run), maxRun)}
	case r.Effect == Allow && cmp.Or(r.Path, r.Command, r.Host, r.Server) != "" || r.Effect == Allow && len(r.Args) > 0:
		return &FieldError{"run", "a rule that allows commands bounds them by agent, program, tool, cwd and session only"}
	}
	for i, text := range r.Run {
		if _, err := shell.ParsePattern(text); err != nil {
			return &FieldError{fmt.Sprintf("run[%d]", i), fmt.Sprintf("%q: %s", text, err)}
		}
	}
	return nil
}
