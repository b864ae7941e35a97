package programs

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// tree makes files and links in a new folder: a name that ends with a slash is a folder, one with => a link.
func tree(t *testing.T, names map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if target == "" {
			err = os.WriteFile(path, []byte(name), 0o700)
		} else {
			err = os.Symlink(filepath.Join(root, filepath.FromSlash(target)), path)
		}
		if err != nil {
			t.Skip(err)
		}
	}
	return root
}

func TestLasting(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("few people may make links")
	}
	root := tree(t, map[string]string{
		"usr/bin/nod":                "",
		"opt/nod/bin/nod":            "",
		"opt/loose/nod":              "",
		"nix/store/abc-nod/bin/nod":  "",
		"profile/bin/nod":            "nix/store/abc-nod/bin/nod",
		"brew/Cellar/nod/1/bin/nod":  "",
		"brew/bin/nod":               "brew/Cellar/nod/1/bin/nod",
		"alternatives/nod":           "usr/bin/nod",
		"chain/bin/nod":              "alternatives/nod",
		"src/nod/go.mod":             "",
		"src/nod/bin/nod":            "",
		"src/nod/cmd/nod/nod":        "",
		"home/bin/nod":               "src/nod/bin/nod",
		"tmp/x/bin/nod":              "",
		"home/tmp":                   "tmp",
		"unpacked/nod-1/install.sh":  "",
		"unpacked/nod-1/bin/nod":     "",
		"unpacked/nod-2/install.sh":  "",
		"unpacked/nod-2/nod":         "",
		"home/my tools/it's/bin/nod": "",
		"folder":                     "usr/bin",
	})
	for _, test := range []struct{ program, path, want string }{
		{"usr/bin/nod", "usr/bin", "usr/bin/nod"},
		{"usr/bin/nod", "", "usr/bin/nod"}, // PREFIX/bin, though not in PATH
		{"opt/nod/bin/nod", "usr/bin", "opt/nod/bin/nod"},
		{"opt/loose/nod", "opt/loose", "opt/loose/nod"},
		{"opt/loose/nod", "usr/bin", ""},
		{"profile/bin/nod", "profile/bin", "profile/bin/nod"},
		{"nix/store/abc-nod/bin/nod", "profile/bin", "profile/bin/nod"}, // as the system says what runs
		{"nix/store/abc-nod/bin/nod", "nix/store/abc-nod/bin", ""},
		{"profile/bin/nod", "", "profile/bin/nod"}, // as it was called
		{"brew/Cellar/nod/1/bin/nod", "brew/bin", "brew/bin/nod"},
		{"brew/Cellar/nod/1/bin/nod", "", ""},
		{"usr/bin/nod", "chain/bin", "chain/bin/nod"},
		{"usr/bin/nod", "folder", "folder/nod"},
		{"src/nod/bin/nod", "src/nod/bin", ""},
		{"src/nod/cmd/nod/nod", "", ""},
		{"src/nod/bin/nod", "home/bin", ""}, // a link that leads nowhere after make clean
		{"tmp/x/bin/nod", "tmp/x/bin", ""},
		{"home/tmp/x/bin/nod", "home/tmp/x/bin", ""},
		{"unpacked/nod-1/bin/nod", "", ""},
		{"unpacked/nod-2/nod", "unpacked/nod-2", ""},
		{"home/my tools/it's/bin/nod", "", "home/my tools/it's/bin/nod"},
		{"gone/bin/nod", "gone/bin", ""},
	} {
		m := machine{passing: []string{filepath.Join(root, "tmp"), filepath.Join(root, "not there"), ""}}
		if test.path != "" {
			m.path = []string{"relative", filepath.Join(root, test.path)}
		}
		path, ok := m.lasting(filepath.Join(root, filepath.FromSlash(test.program)))
		if want := filepath.Join(root, filepath.FromSlash(test.want)); ok != (test.want != "") || ok && path != want {
			t.Errorf("%s, PATH %s: %s, %v, want %s", test.program, test.path, path, ok, test.want)
		}
	}
}

// Of a program in a folder for temporary files nod keeps a copy.
func TestATemporaryProgramIsCopied(t *testing.T) {
	program := filepath.Join(t.TempDir(), "bin", "nod")
	if path, copied := Lasting(program); path != Kept() || !copied {
		t.Errorf("%s, %v", path, copied)
	}
	if Lasts(program) || !Lasts(Kept()) {
		t.Error("the copy lasts, and nothing else")
	}
}
