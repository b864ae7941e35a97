package files

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The manual's page of nod-desktop has every flag that main defines, and no other.
func TestManualHasEveryFlag(t *testing.T) {
	source, err := os.ReadFile("../../main.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("nod-desktop.1")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(page), `\-`, "-")
	defined := regexp.MustCompile(`pflag\.\w+\((?:&[\w.]+, )?"([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(defined) < 4 {
		t.Fatalf("main.go defines only %q", defined)
	}
	flags := map[string]bool{}
	for _, d := range defined {
		flags["--"+d[1]] = true
		if !regexp.MustCompile(`(?m)^\.TP\n\.B[RI]* --` + d[1] + `\b`).MatchString(text) {
			t.Errorf("nod-desktop.1 does not explain --%s", d[1])
		}
	}
	for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(text, -1) {
		if !flags[flag] {
			t.Errorf("nod-desktop.1 has %s, main.go has not", flag)
		}
	}
}
