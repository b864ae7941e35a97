package policy

import (
	"fmt"
	"slices"
	"strings"
)

// ParseClass reads a class as callers and files spell it. "mutating" is accepted and means [Write].
func ParseClass(s string) (Class, error) {
	if s == "mutating" {
		return Write, nil
	}
	if c := Class(s); slices.Contains(Classes, c) {
		return c, nil
	}
	return Unknown, fmt.Errorf("unknown class %q: want %s", s, orList(Classes))
}

// Stricter returns the class of the two that needs more care. What is no class counts as [Unknown].
func Stricter(a, b Class) Class {
	return Classes[max(a.care(), b.care())]
}

// care is the class's place in [Classes].
func (c Class) care() int {
	if i := slices.Index(Classes, c); i >= 0 {
		return i
	}
	return len(Classes) - 1
}

// strictness orders effects: deny before ask before allow.
func (e Effect) strictness() int {
	switch e {
	case Allow:
		return 2
	case Ask:
		return 1
	}
	return 0
}

// Classify returns the class that counts for a tool: the stricter of what the caller declares (empty: it
// says nothing) and what nod's catalogue knows. A caller makes its own call stricter, never laxer. Only
// where nod knows nothing of the tool, and the human trusts the agent to classify, the declaration stands
// alone; never for a shell, which runs whatever it is told, and never for an MCP tool, whose server chose
// both its name and its description.
func Classify(agent, tool string, declared Class, trusted bool) Class {
	if declared != "" {
		declared, _ = ParseClass(string(declared))
	}
	known, ok := lookup(agent, tool)
	switch {
	case ok && declared == "":
		return known.class
	case ok:
		return Stricter(known.class, declared)
	case declared != "" && trusted && !isMCP(tool) && !isShell(tool):
		return declared
	}
	return Unknown
}

// orList reads "a, b or c".
func orList[T ~string](items []T) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = string(item)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
