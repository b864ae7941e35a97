package programs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"

	"github.com/adrg/xdg"

	"nod/ownfile"
)

// Kept returns the path of the copy of nod that nod keeps for the hooks of agents. Next to it are a copy of nod-cli and
// a link to nod-desktop.
func Kept() string { return filepath.Join(xdg.DataHome, "nod", "bin", name(front)) }

// IsKept reports whether path is that of the copy.
func IsKept(path string) bool { return path == Kept() }

func name(program string) string {
	if runtime.GOOS == "windows" {
		return program + ".exe"
	}
	return program
}

// Keep makes nod's copy one of program, completely or not at all. It does nothing if it is one already, unless others
// could have changed it.
func Keep(program string) error {
	if IsKept(program) {
		return nil
	}
	if err := keep(program, Kept()); err != nil {
		return fmt.Errorf("keep a copy of nod for the hooks of agents: %w", err)
	}
	return nil
}

// Refresh is [Keep] if there is a copy.
func Refresh(program string) error {
	if !exists(Kept()) {
		return nil
	}
	return Keep(program)
}

// IsCurrent reports whether the copy that nod keeps is one of program.
func IsCurrent(program string) bool {
	for source, copied := range parts(program, Kept()) {
		if same, err := isCopy(source, copied); err != nil || !same {
			return false
		}
	}
	return true
}

// parts yields the files that make up the command at program, each with the path of its copy; the one that is called
// comes last. A nod for machines without a desktop is a single file.
func parts(program, copied string) iter.Seq2[string, string] {
	return func(yield func(source, copied string) bool) {
		other, err := near(cli, program)
		if err == nil && other != "" && !yield(other, filepath.Join(filepath.Dir(copied), name(cli))) {
			return
		}
		yield(program, copied)
	}
}

func keep(program, copied string) error {
	if err := ownFolder(filepath.Dir(copied)); err != nil {
		return err
	}
	if err := linkDesktop(program, copied); err != nil {
		return err
	}
	for source, to := range parts(program, copied) {
		if err := makeCopy(source, to); err != nil {
			return err
		}
	}
	return nil
}

func makeCopy(program, copied string) error {
	if same, err := isCopy(program, copied); same || err != nil {
		return err
	}
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	if err := ownfile.Write(copied, text, 0o700); err != nil {
		return err
	}
	return os.Chtimes(copied, info.ModTime(), info.ModTime())
}

// ownFolder creates a folder that no other user can change.
func ownFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !ownfile.IsMine(info):
		return fmt.Errorf("%s is not a folder of yours: move it away", path)
	case info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows":
		return nil
	}
	return os.Chmod(path, 0o700)
}

// isCopy reports whether copied is a copy of a program that no other user can change: with the same size and time, else
// with the same bytes.
func isCopy(program, copied string) (bool, error) {
	source, err := os.Stat(program)
	if err != nil {
		return false, err
	}
	now, err := os.Lstat(copied)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if CheckKept(copied) != nil || now.Size() != source.Size() {
		return false, nil
	}
	if now.ModTime().Equal(source.ModTime()) {
		return true, nil
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return false, err
	}
	kept, err := ownfile.ReadPlain(copied, now.Size())
	return err == nil && bytes.Equal(text, kept), nil
}

// CheckKept returns an error unless a program is as nod put it there: a plain file that no other user can change.
func CheckKept(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular() || !ownfile.IsMine(info):
		return fmt.Errorf("%s is not a plain file of yours", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o122 != 0o100:
		return fmt.Errorf("other users can change %s, or it is not executable (mode %04o)", path, info.Mode().Perm())
	}
	return nil
}

// linkDesktop lets the copy find the nod-desktop next to the program. Without one the copy looks in PATH.
func linkDesktop(program, copied string) error {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return err
	}
	link := filepath.Join(filepath.Dir(copied), name("nod-desktop"))
	desktop := filepath.Join(filepath.Dir(real), name("nod-desktop"))
	if now, err := os.Readlink(link); err == nil && now == desktop || !exists(desktop) {
		return nil
	}
	if err := ownfile.Remove(link); err != nil {
		return err
	}
	if err := os.Symlink(desktop, link); err != nil && runtime.GOOS != "windows" && !errors.Is(err, fs.ErrExist) {
		return err // Windows lets few people make links
	}
	return nil
}
