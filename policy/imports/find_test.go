package imports

import "testing"

func TestProjectOf(t *testing.T) {
	s := &Source{Folder: ".claude"}
	for path, want := range map[string]string{
		"/cfg/settings.json":                      "/cfg",
		"/home/ann/.claude/settings.json":         "",
		"/home/ann/.claude/settings.local.json":   "/home/ann",
		"/home/ann/.claude/rules/a.json":          "",
		"/home/ann/shop/.claude/settings.json":    "/home/ann/shop",
		"/home/ann/shop/.claude/rules/x.json":     "/home/ann/shop",
		"/home/ann/Downloads/settings.json":       "/home/ann/Downloads",
		"/home/ann/.claude/shop/.claude/set.json": "/home/ann/.claude/shop",
	} {
		if got := s.projectOf(path, "/home/ann/.claude"); got != want {
			t.Errorf("%s belongs to %q, want %q", path, got, want)
		}
	}
	if got := s.projectOf("/cfg/settings.json", "/cfg"); got != "" {
		t.Errorf("settings that were moved belong to %q", got)
	}
}
