package hooks

// readGeneric serves every agent that nod has no file for: it sends Claude Code's payload and understands
// Claude Code's reply. PreToolUse asks the human, too, for such an agent may have no prompt of its own.
func readGeneric(c Call) (step, error) {
	c.Headless = true
	return readClaude(c)
}
