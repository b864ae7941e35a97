package programs

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there a program is known by its name, not by its mode")
	}
	const name = "nod-dialogs"
	for _, tt := range []struct {
		title   string
		self    string   // the folder of the program that looks
		there   []string // the programs that exist
		inPATH  string
		want    string
		missing bool
	}{
		{title: "built", self: "bin", there: []string{"bin/" + name}, want: "bin/" + name},
		{title: "installed", self: "usr/bin", there: []string{"usr/lib/nod/" + name}, want: "usr/lib/nod/" + name},
		{title: "from lib to bin", self: "usr/lib/nod", there: []string{"usr/bin/" + name}, want: "usr/bin/" + name},
		{
			title: "beside comes first", self: "usr/bin", there: []string{"usr/lib/nod/" + name, "usr/bin/" + name},
			want: "usr/bin/" + name,
		},
		{
			title: "beside comes before PATH", self: "bin", inPATH: "other", there: []string{"bin/" + name, "other/" + name},
			want: "bin/" + name,
		},
		{title: "in PATH", self: "bin", inPATH: "other", there: []string{"other/" + name}, want: "other/" + name},
		{title: "nowhere", self: "bin", there: []string{"else/" + name}, missing: true},
	} {
		t.Run(tt.title, func(t *testing.T) {
			root := t.TempDir()
			for _, path := range append(tt.there, filepath.Join(tt.self, "nod")) {
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", filepath.Join(root, tt.inPATH))
			got, err := find(name, filepath.Join(root, tt.self, "nod"))
			if tt.missing {
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("found %s, %v", got, err)
				}
				return
			}
			if want := filepath.Join(root, tt.want); err != nil || got != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
}

// What is in the place of the program and cannot run is not it.
func TestFindWantsAProgram(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "nod"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "")
	if got, err := find("nod", filepath.Join(dir, "nod-desktop")); err == nil {
		t.Errorf("found %s", got)
	}
}
