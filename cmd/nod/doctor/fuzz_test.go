package doctor

import (
	"strings"
	"testing"
)

// Whatever is in autostart entries is read without a crash, and one line of it.
func FuzzFiles(f *testing.F) {
	f.Add("ExecStart=\"/opt/100%% nod/nod-desktop\" --background\nX-Nod-Managed=true\n", "ExecStart")
	f.Add("TryExec=/opt/a\\\\b/nod\n", "TryExec")
	f.Fuzz(func(t *testing.T, text, key string) {
		if program := programOf(text, key); key == "ExecStart" && strings.Contains(program, "\n") {
			t.Errorf("program %q", program)
		}
	})
}
