package claude

import (
	"path"
	"slices"
	"strings"

	"nod/ipc/hooks"
	"nod/policy"
)

// Claude Code protects some files from every change that was not approved at its own prompt. Measured with 2.1.197
// and 2.1.330, an allow in reply to PreToolUse does not help, except in bypassPermissions:
//
//   - In dontAsk it refuses the change, whatever a hook says, and so does 2.1.197 with -p.
//   - In auto, and in 2.1.330 in a plan, its classifier judges the change before the user is asked. What that refuses
//     stays refused when the model tries again. 2.1.330 asks about what passes if the reply to
//     PreToolUse was "ask", even with -p; 2.1.197 never asks.

// The names of those files, and of folders whose whole content is protected.
var (
	protectedNames = []string{
		".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".profile", ".zshenv", ".zlogin",
		".zlogout", ".bash_login", ".bash_aliases", ".bash_logout", ".envrc", ".ripgreprc", ".mcp.json", ".claude.json",
		".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".pnp.loader.mjs", ".pnp.js", ".pnp.data.json", ".pnpmfile.cjs",
		"bunfig.toml", ".bunfig.toml", ".bazelrc", ".bazelversion", ".bazeliskrc", ".pre-commit-config.yaml", "lefthook.yml",
		".lefthook.yml", "lefthook.yaml", ".lefthook.yaml", "gradle-wrapper.properties", "maven-wrapper.properties",
		".devcontainer.json", "pyrightconfig.json",
	}
	protectedFolders = []string{
		".git", ".vscode", ".idea", ".claude", ".husky", ".cargo", ".devcontainer", ".yarn", ".mvn",
	}
)

func isProtected(file string) bool {
	file = strings.ReplaceAll(strings.ToLower(file), "/.claude/worktrees/", "/worktrees/")
	return slices.Contains(protectedNames, path.Base(file)) || strings.Contains(file+"/", "/.config/git/") ||
		slices.ContainsFunc(strings.Split(file, "/"), func(name string) bool {
			return slices.Contains(protectedFolders, name)
		})
}

func changesProtected(call policy.Call) bool {
	return slices.ContainsFunc(policy.Changes(call), isProtected)
}

func (p Payload) policyCall() policy.Call {
	return policy.Call{Agent: name, CWD: p.CWD, Tool: p.ToolName, Input: policy.ReadInput(p.ToolInput)}
}

// Why nod does not ask about such a change.
const (
	refusedInDontAsk = "Claude Code protects this file and refuses to change it in the mode dontAsk, even after an " +
		"allow in nod, so nod did not ask: start Claude Code in another mode"
	refusedHeadless = "Claude Code before 2.1.330 protects this file and refuses to change it with -p, even after an " +
		"allow in nod, so nod did not ask: update Claude Code, or start it in a terminal"
	refusedByClassifier = "Claude Code's classifier refused to change this file, which it protects, and an allow in nod " +
		"has no effect on that: start Claude Code in another mode than auto"
)

// judgesProtected reports whether Claude Code's classifier judges such changes, and asks about those that pass.
func (p Payload) judgesProtected(version string) bool {
	return followsHeadless(version) && slices.Contains([]string{"auto", "plan"}, p.PermissionMode)
}

// futile says why an allow of the call would have no effect; "" if it has one. Claude Code's own rules that deny apply
// in every mode, those that ask wherever it has a prompt or sends PermissionRequest instead.
func (p Payload) futile(c hooks.Call) string {
	mute := p.PermissionMode == "dontAsk" || c.Headless && !followsHeadless(c.Version)
	call := p.policyCall()
	if c.Agent == name && (c.Headless || !p.followsAlways(c.Version)) { // otherwise it says so itself before nod asks
		if effect, advice := ownRules.Rule(call); effect == policy.Deny || effect == policy.Ask && mute {
			return advice
		}
	}
	switch {
	case p.PermissionMode == "dontAsk" && changesProtected(call):
		return refusedInDontAsk
	case mute && slices.Contains(askingModes, p.PermissionMode) && changesProtected(call):
		return refusedHeadless
	}
	return ""
}
