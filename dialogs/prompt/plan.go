package prompt

import (
	"fmt"
	"slices"
	"strings"

	"nod/interact"
)

// ExitPlanMode is the tool with which Claude Code asks whether to carry out a plan.
const ExitPlanMode = interact.ExitPlanMode

// MaxMarkdownBytes is how long a text is at most, in bytes, that is shown as Markdown. A longer one is shown as it is.
const MaxMarkdownBytes = 64 << 10

// IsPlan reports whether a asks to carry out a plan that can be shown as one.
func IsPlan(a interact.Approve) bool {
	if a.Tool != ExitPlanMode {
		return false
	}
	args, err := parseArguments(a.Input)
	_, ok := planOf(a, args)
	return err == nil && ok
}

func planOf(a interact.Approve, args arguments) (plan string, ok bool) {
	_, plan, ok = args.text("plan")
	return plan, ok && a.Tool == ExitPlanMode && strings.TrimSpace(plan) != "" && len(a.Input) <= MaxMarkdownBytes
}

// planContent has a plan shown as it is meant to be read, beside what else the input holds.
func planContent(a interact.Approve, args arguments, _ Places) (Content, bool) {
	plan, ok := planOf(a, args)
	if !ok {
		return Content{}, false
	}
	c := Content{Lines: fieldLines(args), Original: plan, Facts: []Fact{sizeFact(plan)}}
	c.Plan = plan
	for _, field := range args.without("plan") {
		text, _ := field.value()
		c.Beside += fmt.Sprintf("%s: %s\n", field.key, text)
	}
	return c, true
}

// PlanWays are the two ways in which an agent can carry out a plan, by their places among what it suggests: it asks for
// each edit, or lets the edits pass.
func PlanWays(a interact.Approve) (ask, pass int, ok bool) {
	ask = slices.Index(a.Suggestions, interact.AskForEdits)
	pass = slices.Index(a.Suggestions, interact.LetEditsPass)
	return ask, pass, ask >= 0 && pass >= 0
}
