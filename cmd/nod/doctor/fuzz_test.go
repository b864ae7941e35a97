package doctor

import (
	"strings"
	"testing"
	"time"
)

// Whatever is in the log and in autostart entries is read without a crash, and one line of it.
func FuzzFiles(f *testing.F) {
	f.Add("time=2026-11-22T11:00:00.000Z level=ERROR msg=new\n", "ExecStart")
	f.Add("ExecStart=\"/opt/100%% nod/nod-desktop\" --background\nX-Nod-Managed=true\n", "ExecStart")
	f.Add("TryExec=/opt/a\\\\b/nod\n", "TryExec")
	f.Fuzz(func(t *testing.T, text, key string) {
		if count, last := countErrors([]byte(text), time.Time{}); count == 0 && last != "" || strings.Contains(last, "\n") {
			t.Errorf("%d errors, the last: %q", count, last)
		}
		if program := programOf(text, key); key == "ExecStart" && strings.Contains(program, "\n") {
			t.Errorf("program %q", program)
		}
	})
}
