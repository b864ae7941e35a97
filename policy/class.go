package policy

import (
	"slices"
	"strings"
)

// oldWrite is what callers and files may still call [Write].
const oldWrite Class = "mutating"

// known returns the class by its name of today; what is no class is [Unknown].
func (c Class) known() Class {
	if c == oldWrite {
		return Write
	}
	return Classes[c.care()]
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

// IsStricter reports whether an effect is stricter than another.
func (e Effect) IsStricter(than Effect) bool { return e.strictness() < than.strictness() }

// strictness orders effects: deny before ask before allow.
func (e Effect) strictness() int { return max(slices.Index([]Effect{Deny, Ask, Allow}, e), 0) }

// classify returns the class that counts for a tool: the stricter of what the caller declares (empty: it
// says nothing) and what nod's catalogue knows. A caller makes its own call stricter, never laxer. Only
// where nod knows nothing of the tool, and the human trusts the agent to classify, the declaration stands
// alone; never for a shell, which runs whatever it is told, and never for an MCP tool, whose server chose
// both its name and its description.
func classify(agent, tool string, declared Class, trusted bool) Class {
	tells := declared != ""
	known, ok := lookup(agent, tool)
	switch {
	case ok && tells:
		return Stricter(known.class, declared.known())
	case tells && trusted && !isMCP(tool) && !isShell(tool):
		return declared.known()
	}
	return known.class
}

// OrList reads "a, b or c", for a message about what is wanted.
func OrList[T ~string](items []T) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = string(item)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
