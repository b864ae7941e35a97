package policy

import (
	"testing"

	"nod/policy/shell"
)

// What a call says of itself is never laxer than its text, and nothing of it is looked up on this disk.
func TestTextClassAndRisks(t *testing.T) {
	const claude = "claude-code"
	for name, tt := range map[string]struct {
		agent, tool, input string
		declared           Class
		want               Class
		worst              shell.Level
	}{
		"a tool that looks":     {claude, "Read", `{"file_path":"/a"}`, "", ReadOnly, shell.Note},
		"a tool that writes":    {claude, "Write", `{"file_path":"/w/a","content":"x"}`, ReadOnly, Write, shell.Note},
		"it declares more":      {claude, "Read", `{"file_path":"/a"}`, Destructive, Destructive, shell.Note},
		"declared alone":        {"bot", "Peek", `{"a":"b"}`, ReadOnly, Unknown, shell.Note},
		"a shell":               {claude, "Bash", `{"command":"ls"}`, ReadOnly, Unknown, shell.Note},
		"a shell's words":       {claude, "Bash", `{"command":"cp a ~/.bashrc"}`, "", Unknown, shell.Danger},
		"what it writes":        {claude, "Bash", `{"command":"echo a >> .git/hooks/pre-push"}`, "", Unknown, shell.Danger},
		"what it deletes":       {claude, "Bash", `{"command":"rm -rf /"}`, "", Unknown, shell.Caution},
		"keys":                  {claude, "Write", `{"file_path":"/home/b/.ssh/id_ed25519"}`, "", Write, shell.Danger},
		"keys that are read":    {claude, "Read", `{"file_path":"/home/b/.ssh/id_ed25519"}`, "", ReadOnly, shell.Note},
		"a profile":             {claude, "Edit", `{"file_path":"/home/b/x/../.bashrc"}`, "", Write, shell.Danger},
		"in the folder":         {claude, "Write", `{"file_path":".git/hooks/pre-commit"}`, "", Write, shell.Danger},
		"on Windows":            {claude, "Write", `{"file_path":"C:\\w\\.git\\hooks\\pre-commit"}`, "", Write, shell.Danger},
		"no JSON":               {claude, "Read", `{`, "", ReadOnly, shell.Note},
		"a command, too":        {claude, "Read", `{"file_path":"/a","command":"rm -rf /"}`, "", ReadOnly, shell.Caution},
		"words naming a folder": {claude, "Write", `{"file_path":"/w/a","content":"/root/.bashrc"}`, "", Write, shell.Note},
	} {
		call := Call{
			Agent: tt.agent, Tool: tt.tool, Declared: tt.declared, CWD: "/home/b/w", Input: ReadInput([]byte(tt.input)),
		}
		if got := TextClass(call, ReadOnly); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		worst, found := shell.Note, TextRisks(call)
		for _, r := range found {
			worst = max(worst, r.Level)
		}
		if worst != tt.worst {
			t.Errorf("%s: %+v, want level %v", name, found, tt.worst)
		}
	}
}
