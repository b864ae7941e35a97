package tree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLicences(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{
		"LICENSE", "font/LICENSE_Noto.txt", "COPYING.md", "c/NOTICE", // these are passed on
		"license.go", "licensed.txt", "testdata/LICENSE", ".github/LICENSE", "vendor/x/LICENSE", "_examples/LICENSE",
	} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Module{Path: "example.com/m", Dir: dir}.Licences()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"LICENSE", "font/LICENSE_Noto.txt", "COPYING.md", "c/NOTICE"} {
		if string(got[want]) != want {
			t.Errorf("%s: %q", want, got[want])
		}
	}
	if len(got) != 4 {
		t.Errorf("there are %d: %q", len(got), got)
	}
	if _, err := (Module{Path: "example.com/m", Dir: t.TempDir()}).Licences(); err == nil {
		t.Error("a module without a licence passes")
	}
}

// A licence is printed once, for all that it is of.
func TestThirdParty(t *testing.T) {
	var modules []Module
	for _, name := range []string{"a", "b"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("do what you like\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		modules = append(modules, Module{Path: name, Version: "v1.0.0", Dir: dir})
	}
	text, err := thirdParty(modules)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "do what you like"); n != 1 {
		t.Errorf("the licence is there %d times", n)
	}
	for _, want := range []string{"\na v1.0.0: LICENSE\nb v1.0.0: LICENSE\n", "\nGo go1."} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}

func TestWhatCannotBeBuilt(t *testing.T) {
	for p, root := range map[Platform]string{
		{"windows", "arm64"}: "../..", {"plan9", "386"}: "../..",
		{"linux", "arm64"}: t.TempDir(), // without the libraries that scripts/sysroot fetches
	} {
		if p == Host {
			continue
		}
		_, err := Build{Root: root}.Program("nod-dialogs", p)
		if missing := (*MissingError)(nil); !errors.As(err, &missing) || missing.Platform != p {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// What is installed is complete and in order: programs, and what a desktop, a shell and man read.
func TestTree(t *testing.T) {
	_, err := os.Stat(filepath.Join("../../build/programs", Host.String(), "nod-dialogs"))
	if err != nil || Host.OS != "linux" {
		t.Skip("run make package first, on Linux: ", err)
	}
	all, err := Of(Build{Root: "../..", Version: "(devel)", Tags: "migrated_fynedo,release"}, Host)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := all.Write(dir); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range all {
		paths = append(paths, f.Path)
		if len(f.Data) == 0 {
			t.Errorf("%s is empty", f.Path)
		}
	}
	if !slices.IsSorted(paths) {
		t.Error("the files are in no order")
	}
	for _, want := range []string{
		"bin/nod", "bin/nod-desktop", "lib/nod/nod-cli", "lib/nod/nod-dialogs", "lib/systemd/user/nod-desktop.service",
		"share/icons/hicolor/16x16/apps/io.nod.Desktop.png", "share/icons/hicolor/512x512/apps/io.nod.Desktop.png",
		"share/man/man1/nod.1", "share/man/man1/nod-agents-install.1", "share/man/man1/nod-desktop.1",
		"share/doc/nod/LICENSE", "share/doc/nod/THIRD-PARTY",
	} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, check := range [][]string{
		{"desktop-file-validate", "share/applications/io.nod.Desktop.desktop"},
		{"bash", "-n", "share/bash-completion/completions/nod"},
		{"zsh", "-n", "share/zsh/site-functions/_nod"},
		{"fish", "-n", "share/fish/vendor_completions.d/nod.fish"},
		{"mandoc", "-T", "lint", "-W", "warning", "share/man/man1/nod-desktop.1"},
	} {
		if _, err := exec.LookPath(check[0]); err != nil {
			t.Log(err)
			continue
		}
		cmd := exec.Command(check[0], check[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%q: %v\n%s", check, err, out)
		}
	}
}
