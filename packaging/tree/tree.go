// Package tree lays out nod as it is installed on Linux, below the folder that is /usr in a package and PREFIX of make
// install:
//
//	bin/nod, bin/nod-desktop                   what people and sessions start
//	lib/nod/nod-cli, lib/nod/nod-dialogs       what those two start
//	lib/systemd/user/nod-desktop.service       not enabled: nod starts with the session once the user says so
//	share/applications, share/icons/hicolor    for menus and docks
//	share/bash-completion, share/fish, share/zsh
//	share/man/man1                             nod(1), one page for each of its commands, and nod-desktop(1)
//	share/doc/nod                              licences: nod's, and those of what is linked into it
package tree

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// File is a regular file to install.
type File struct {
	Path string // below the prefix, with slashes
	Mode fs.FileMode
	Data []byte
}

// Tree is a list of files, sorted by path.
type Tree []File

// Of is nod for a platform, with all that is installed beside its programs.
func Of(b Build, p Platform) (Tree, error) {
	var t Tree
	var programs []string
	for _, at := range []string{"lib/nod/nod-cli", "bin/nod", "bin/nod-desktop", "lib/nod/nod-dialogs"} {
		program, err := b.Program(path.Base(at), p)
		if err != nil {
			return nil, err
		}
		programs = append(programs, program)
		if err := t.copy(program, at, 0o755); err != nil {
			return nil, err
		}
	}
	for _, add := range []func() error{
		func() error { return t.addFiles(b.Root) },
		func() error { return t.addCompletions(b) },
		func() error { return t.addManual(b) },
		func() error { return t.addLicences(b.Root, "share/doc/nod/", programs) },
	} {
		if err := add(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(t, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return t, nil
}

// Bare is what is used where it was unpacked: programs and licences side by side.
func Bare(root string, programs []string) (Tree, error) {
	var t Tree
	for _, program := range programs {
		if err := t.copy(program, filepath.Base(program), 0o755); err != nil {
			return nil, err
		}
	}
	err := t.addLicences(root, "", programs)
	return t, err
}

// Installer returns t with the script that installs it.
func (t Tree) Installer(b Build) (Tree, error) {
	t = slices.Clone(t)
	return t, t.copy(filepath.Join(b.Root, "packaging/files/install.sh"), "install.sh", 0o755)
}

// Write writes the files below dir, in which it leaves nothing else.
func (t Tree) Write(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, f := range t {
		to := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, f.Data, f.Mode); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) add(to string, data []byte, mode fs.FileMode) {
	*t = append(*t, File{Path: to, Mode: mode, Data: data})
}

func (t *Tree) copy(from, to string, mode fs.FileMode) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	t.add(to, data, mode)
	return nil
}

// addFiles adds what lies in the repository as it is installed.
func (t *Tree) addFiles(root string) error {
	files := [][2]string{
		{"packaging/files/io.nod.Desktop.desktop", "share/applications/io.nod.Desktop.desktop"},
		{"packaging/files/nod-desktop.service", "lib/systemd/user/nod-desktop.service"},
		{"assets/src/app.svg", "share/icons/hicolor/scalable/apps/io.nod.Desktop.svg"},
	}
	icons, err := filepath.Glob(filepath.Join(root, "assets/hicolor/*.png"))
	if err != nil {
		return err
	}
	for _, icon := range icons {
		size := strings.TrimSuffix(filepath.Base(icon), ".png")
		files = append(files, [2]string{
			"assets/hicolor/" + size + ".png", fmt.Sprintf("share/icons/hicolor/%sx%[1]s/apps/io.nod.Desktop.png", size),
		})
	}
	for _, f := range files {
		if err := t.copy(filepath.Join(root, f[0]), f[1], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// addCompletions adds what nod prints for each shell.
func (t *Tree) addCompletions(b Build) error {
	for shell, to := range map[string]string{
		"bash": "share/bash-completion/completions/nod",
		"zsh":  "share/zsh/site-functions/_nod",
		"fish": "share/fish/vendor_completions.d/nod.fish",
	} {
		script, err := b.run("completion", shell)
		if err != nil {
			return err
		}
		t.add(to, script, 0o644)
	}
	return nil
}
