package peer

import "testing"

func TestHasLine(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want bool
	}{
		{[]string{"sh", "-c", "nod hook codex"}, true},
		{[]string{"bash", "-lc", "nod hook codex"}, true},
		{[]string{"bash", "-c", "-l", "nod hook codex"}, true},
		{[]string{"bash", "-euxo", "pipefail", "-c", "make"}, true},
		{[]string{"bash", "-o", "pipefail", "+O", "extglob", "-c", "make"}, true},
		{[]string{"bash", "--norc", "--rcfile", "/etc/rc", "-c", "make"}, true},
		{[]string{"fish", "--command", "make"}, true},
		{[]string{"cmd.exe", "/d", "/s", "/c", "make"}, true},
		{[]string{"powershell.exe", "-NoProfile", "-NonInteractive", "-Command", "make"}, true},
		{[]string{"powershell.exe", "-NonInteractive", "-File", "deploy.ps1"}, false},
		{[]string{"sh"}, false},
		{[]string{"-bash"}, false},
		{[]string{"zsh", "-il"}, false},
		{[]string{"bash", "-C"}, false},
		{[]string{"sh", "deploy", "-c", "fast"}, false},
		{[]string{"bash", "-e", "deploy", "-c", "fast"}, false},
		{[]string{"bash", "-o", "pipefail", "deploy", "-c"}, false},
		{[]string{"sh", "-s", "--", "-c"}, false},
		{[]string{"sh", "-"}, false},
		{[]string{"sh", "-o"}, false},
		{nil, false},
	} {
		if got := hasLine(tt.args); got != tt.want {
			t.Errorf("hasLine(%q) = %v", tt.args, got)
		}
	}
}
