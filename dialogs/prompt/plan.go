package prompt

import (
	"fmt"
	"slices"
	"strings"

	"nod/interact"
)

// MaxMarkdownBytes is the size of the longest text shown as Markdown, in bytes. A longer one is shown as plain text.
const MaxMarkdownBytes = 64 << 10

// IsPlan reports whether a asks to carry out a plan, and the plan can be shown.
func IsPlan(a interact.Approve) bool {
	if a.Tool != interact.ExitPlanMode {
		return false
	}
	args, err := parseArguments(a.Input)
	_, ok := planOf(a, args)
	return err == nil && ok
}

func planOf(a interact.Approve, args arguments) (plan string, ok bool) {
	_, plan, ok = args.text("plan")
	return plan, ok && a.Tool == interact.ExitPlanMode && strings.TrimSpace(plan) != "" && len(a.Input) <= MaxMarkdownBytes
}

func planContent(a interact.Approve, args arguments, _ places) (Content, bool) {
	plan, ok := planOf(a, args)
	if !ok {
		return Content{}, false
	}
	c := Content{Lines: fieldLines(args), Original: plan, Plan: plan}
	for _, field := range args.without("plan") {
		text, _ := field.value()
		c.Beside += fmt.Sprintf("%s: %s\n", field.key, text)
	}
	return c, true
}

// PlanWays returns the indexes of two of the agent's suggestions: carry out the plan and ask for each edit, or let
// edits pass. ok is false if the agent does not offer both.
func PlanWays(a interact.Approve) (ask, pass int, ok bool) {
	ask = slices.Index(a.Suggestions, interact.AskForEdits)
	pass = slices.Index(a.Suggestions, interact.LetEditsPass)
	return ask, pass, ask >= 0 && pass >= 0
}
