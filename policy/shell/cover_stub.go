package shell

import (
	"slices"
	"strings"
)

// Pattern stands in for the pattern of a command until the real one is there.
type Pattern struct {
	Words []string `json:"words"`
	Flags []string `json:"flags,omitempty"`
	Exact bool     `json:"exact,omitempty"`
}

// String is the pattern as a person writes it.
func (t Pattern) String() string { return strings.Join(append(slices.Clone(t.Words), t.Flags...), " ") }
