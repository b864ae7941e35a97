// Package prefix reads what Claude Code passes to the program that CLAUDE_CODE_SHELL_PREFIX names: commands of its tool
// Bash, which nod runs in the sandbox, and its hooks and MCP servers, which nod runs unchanged.
package prefix

import (
	"path/filepath"
	"strings"
)

// Command is a command of the tool Bash.
type Command struct {
	Text     string // as the model wrote it
	Snapshot string // the script with the user's shell functions that runs first; empty: none
	Folder   string // the file into which the shell writes its folder at the end
	Shell    string // bash or zsh
}

// Read reads the line that Claude Code 2.1.197 to 2.1.332 gives a shell for its tool Bash:
//
//	source SNAPSHOT 2>/dev/null || true && … && eval 'COMMAND' < /dev/null && pwd -P >| /tmp/claude-1234-cwd
//
// ok is false for any other text. What precedes eval is Claude Code's own, and contains nothing of the model's.
func Read(text string) (c Command, ok bool) {
	if sourced, found := strings.CutPrefix(text, "source "); found {
		snapshot, rest := unquote(sourced)
		if !filepath.IsAbs(snapshot) || !strings.HasPrefix(rest, " 2>/dev/null || true && ") {
			return Command{}, false
		}
		c.Snapshot = snapshot
	}
	_, quoted, found := strings.Cut(text, "&& eval ")
	if !found {
		return Command{}, false
	}
	c.Text, text = unquote(quoted)
	file, found := strings.CutPrefix(strings.TrimPrefix(text, " < /dev/null"), " && pwd -P >| ")
	if !found {
		return Command{}, false
	}
	c.Folder, text = unquote(file)
	if c.Text == "" || text != "" || !isFolderFile(c.Folder) {
		return Command{}, false
	}
	if c.Shell = "bash"; strings.HasPrefix(filepath.Base(c.Snapshot), "snapshot-zsh-") {
		c.Shell = "zsh"
	}
	return c, true
}

func isFolderFile(path string) bool {
	name, isOne := strings.CutPrefix(filepath.Base(path), "claude-")
	id, ends := strings.CutSuffix(name, "-cwd")
	return filepath.IsAbs(path) && isOne && ends && strings.Trim(id, hexadecimal) == ""
}

const hexadecimal = "0123456789abcdef"

// unquote reads the first word of a command line, without expansions, and returns what follows it. If the word contains
// an expansion, it returns the part before that.
func unquote(text string) (word, rest string) {
	var b strings.Builder
	for text != "" {
		switch c := text[0]; {
		case c == '\'':
			quoted, after, closed := strings.Cut(text[1:], "'")
			if !closed {
				return b.String(), text
			}
			b.WriteString(quoted)
			text = after
		case strings.HasPrefix(text, `"'"`):
			b.WriteByte('\'')
			text = text[3:]
		case c == '\\' && len(text) > 1 && text[1] != '\n':
			b.WriteByte(text[1])
			text = text[2:]
		case strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
			text = text[1:]
		default:
			return b.String(), text
		}
	}
	return b.String(), ""
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"
