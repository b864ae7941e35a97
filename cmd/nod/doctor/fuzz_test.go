package doctor

import (
	"strings"
	"testing"
)

// Whatever is in autostart entries is read without a crash.
func FuzzFiles(f *testing.F) {
	f.Add("TryExec=/opt/a\\\\b/nod\n")
	f.Fuzz(func(t *testing.T, text string) {
		if program := programOf(text); program != "" && !strings.Contains(text, "TryExec=") {
			t.Errorf("program %q", program)
		}
	})
}
