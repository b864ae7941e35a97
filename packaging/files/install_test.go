// Package files holds what is installed as it lies here, and the tests of install.sh.
package files

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// archive is an unpacked archive with these files beside install.sh, each with its own name as its text.
func archive(t *testing.T, files ...string) (script string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{"install.sh", "io.nod.Desktop.desktop", "nod-desktop.service"} {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		to := map[string]string{
			"install.sh":             "install.sh",
			"io.nod.Desktop.desktop": "share/applications/io.nod.Desktop.desktop",
			"nod-desktop.service":    "lib/systemd/user/nod-desktop.service",
		}[f]
		write(t, filepath.Join(dir, to), string(text), 0o755)
	}
	for _, f := range files {
		write(t, filepath.Join(dir, f), f, 0o755)
	}
	return filepath.Join(dir, "install.sh")
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// sh runs a script of the shell that is stricter than most, where there is one.
func sh(t *testing.T, env []string, script string, args ...string) (string, error) {
	t.Helper()
	shell := "sh"
	if _, err := exec.LookPath("dash"); err == nil {
		shell = "dash"
	}
	cmd := exec.Command(shell, append([]string{script}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func must(t *testing.T, env []string, script string, args ...string) {
	t.Helper()
	if out, err := sh(t, env, script, args...); err != nil {
		t.Fatalf("%s %s: %v\n%s", script, args, err, out)
	}
}

// files lists what is below dir, folders with a slash.
func files(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if d.IsDir() {
			name += "/"
		}
		all = append(all, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func TestInstallInAHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "wïth spâce")
	env := []string{"HOME=" + home}
	prefix := filepath.Join(home, ".local")
	write(t, filepath.Join(prefix, "share/mine"), "mine", 0o644)
	first := archive(t, "bin/nod", "bin/nod-desktop", "lib/nod/nod-dialogs", "share/doc/nod/old/OLD")
	must(t, env, first)
	want := "bin/ bin/nod bin/nod-desktop lib/ lib/nod/ lib/nod/install.sh lib/nod/installed lib/nod/nod-dialogs " +
		"share/ share/applications/ share/applications/io.nod.Desktop.desktop share/doc/ share/doc/nod/ " +
		"share/doc/nod/old/ share/doc/nod/old/OLD share/mine share/systemd/ share/systemd/user/ " +
		"share/systemd/user/nod-desktop.service"
	if got := files(t, prefix); got != want {
		t.Fatalf("installed\n%s, want\n%s", got, want)
	}
	for file, line := range map[string]string{
		"share/applications/io.nod.Desktop.desktop": `Exec="` + prefix + `/bin/nod-desktop"`,
		"share/systemd/user/nod-desktop.service":    `ExecStart="` + prefix + `/bin/nod-desktop" --background`,
	} {
		text, err := os.ReadFile(filepath.Join(prefix, file))
		if err != nil || !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("%s does not say %s: %v\n%s", file, line, err, text)
		}
	}
	for file, mode := range map[string]fs.FileMode{"bin/nod": 0o755, "share/systemd/user/nod-desktop.service": 0o644} {
		if info, err := os.Stat(filepath.Join(prefix, file)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}

	// The next version lacks a file.
	must(t, env, archive(t, "bin/nod", "bin/nod-desktop", "lib/nod/nod-dialogs"))
	want = strings.ReplaceAll(want, " share/doc/nod/old/OLD", "")
	if got := files(t, prefix); got != want {
		t.Errorf("after the upgrade\n%s, want\n%s", got, want)
	}

	// The archive is gone: the copy knows where it is.
	write(t, filepath.Join(prefix, "bin/mine"), "mine", 0o755)
	must(t, env, filepath.Join(prefix, "lib/nod/install.sh"), "uninstall")
	if got := files(t, prefix); got != "bin/ bin/mine share/ share/mine" {
		t.Errorf("after the removal: %s", got)
	}
}

func TestInstallUnderDestdir(t *testing.T) {
	dest := t.TempDir()
	env := []string{"PREFIX=/opt/nod/", "DESTDIR=" + dest}
	script := archive(t, "bin/nod", "bin/nod-desktop")
	must(t, env, script, "install")
	text, err := os.ReadFile(filepath.Join(dest, "opt/nod/lib/systemd/user/nod-desktop.service"))
	if err != nil || !strings.Contains(string(text), `ExecStart="/opt/nod/bin/nod-desktop"`) {
		t.Errorf("%v\n%s", err, text)
	}
	must(t, env, script, "uninstall")
	if got := files(t, dest); got != "opt/ opt/nod/" {
		t.Errorf("left: %s", got)
	}
}

// The program that is replaced runs on.
func TestInstallOverARunningProgram(t *testing.T) {
	prefix := t.TempDir()
	env := []string{"PREFIX=" + prefix}
	script := archive(t, "bin/nod")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(filepath.Dir(script), "bin/nod"), string(program), 0o755)
	must(t, env, script)
	running := exec.Command(filepath.Join(prefix, "bin/nod"), "600")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = running.Process.Kill(); _ = running.Wait() }()
	must(t, env, archive(t, "bin/nod"))
	if text, err := os.ReadFile(filepath.Join(prefix, "bin/nod")); err != nil || string(text) != "bin/nod" {
		t.Errorf("not replaced: %v", err)
	}
}

func TestInstallRefuses(t *testing.T) {
	taken := t.TempDir()
	write(t, filepath.Join(taken, "bin/nod"), "somebody else's", 0o755)
	linked := t.TempDir()
	write(t, filepath.Join(linked, "bin/other"), "", 0o644)
	if err := os.Symlink("/nowhere/nod", filepath.Join(linked, "bin/nod")); err != nil {
		t.Fatal(err)
	}
	noFolder := filepath.Join(t.TempDir(), "file")
	write(t, noFolder, "", 0o644)
	for _, tt := range []struct {
		prefix, says string
		args         []string
	}{
		{prefix: "relative", says: "absolute"},
		{prefix: "/", says: "absolute"},
		{prefix: "/a/../b", says: ".."},
		{prefix: "/a/..", says: ".."},
		{prefix: `/a"b`, says: "quotes"},
		{prefix: "/a'b", says: "quotes"},
		{prefix: `/a\b`, says: "quotes"},
		{prefix: "/a$HOME", says: "quotes"},
		{prefix: "/a|b", says: "quotes"},
		{prefix: "/a%b", says: "quotes"},
		{prefix: "/a\nb", says: "control"},
		{prefix: taken, says: filepath.Join(taken, "bin/nod")},
		{prefix: linked, says: filepath.Join(linked, "bin/nod")},
		{prefix: noFolder, says: "where you may"},
		{prefix: t.TempDir(), args: []string{"uninstall"}, says: "was not installed"},
		{prefix: t.TempDir(), args: []string{"remove"}, says: "usage"},
		{prefix: t.TempDir(), args: []string{"install", "me"}, says: "usage"},
	} {
		script := archive(t, "bin/nod")
		out, err := sh(t, []string{"PREFIX=" + tt.prefix, "HOME=/nowhere"}, script, tt.args...)
		if err == nil || !strings.Contains(out, tt.says) {
			t.Errorf("PREFIX=%q %q: %v\n%s", tt.prefix, tt.args, err, out)
		}
	}
	if text, err := os.ReadFile(filepath.Join(taken, "bin/nod")); err != nil || string(text) != "somebody else's" {
		t.Errorf("a program of somebody else's was replaced: %s, %v", text, err)
	}
}

// An installation that breaks off can be removed, and tried again.
func TestInstallBreaksOff(t *testing.T) {
	prefix := t.TempDir()
	env := []string{"PREFIX=" + prefix}
	write(t, filepath.Join(prefix, "share"), "in the way of a folder", 0o644)
	script := archive(t, "bin/nod", "share/doc/nod/LICENSE")
	if out, err := sh(t, env, script); err == nil || !strings.Contains(out, "not wholly installed") {
		t.Fatalf("%v\n%s", err, out)
	}
	must(t, env, script, "uninstall")
	if got := files(t, prefix); got != "share" {
		t.Errorf("left: %s", got)
	}
	if err := os.Remove(filepath.Join(prefix, "share")); err != nil {
		t.Fatal(err)
	}
	must(t, env, script)
	must(t, env, script, "uninstall")
	if got := files(t, prefix); got != "" {
		t.Errorf("left: %s", got)
	}
}

// An installation that was killed can be removed, and tried again.
func TestInstallKilled(t *testing.T) {
	script := archive(t, "bin/nod", "lib/nod/nod-dialogs", "share/doc/nod/LICENSE")
	killer := t.TempDir()
	mv, err := exec.LookPath("mv")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(killer, "mv"),
		"#!/bin/sh\n"+mv+" \"$@\"\ncase $* in */lib/nod/nod-dialogs) kill -KILL 0 ;; esac\n", 0o755)
	for _, then := range []string{"install", "uninstall"} {
		prefix := t.TempDir()
		env := []string{"PREFIX=" + prefix}
		killed := exec.Command("sh", script)
		killed.Env = append(env, "PATH="+killer+":"+os.Getenv("PATH"))
		killed.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if out, err := killed.CombinedOutput(); killed.ProcessState.Success() {
			t.Fatalf("not killed: %v\n%s", err, out)
		}
		want := "bin/ bin/nod lib/ lib/nod/ lib/nod/installed.new lib/nod/nod-dialogs"
		if got := files(t, prefix); got != want {
			t.Fatalf("when it was killed: %s, want %s", got, want)
		}
		must(t, env, script, then)
		if then == "install" {
			must(t, env, script, "uninstall")
		}
		if got := files(t, prefix); got != "" {
			t.Errorf("%s, after it was killed: left: %s", then, got)
		}
	}
}
