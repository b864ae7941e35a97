//go:build linux

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inNamespace says, in the environment of this test, that its mounts and processes end with it.
const inNamespace = "NOD_TEST_NAMESPACE"

// isolate runs this program again with mounts and processes of its own, which the system takes away however it ends. It
// returns only when that is not possible.
func isolate() error {
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		return fmt.Errorf("%w: install util-linux", err)
	}
	// The first process there is a shell: what its parent has left is taken to be asked for by nobody.
	args := append([]string{"unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child",
		"--mount-proc", "bash", "-c", `"$@"; exit $?`, "init"}, os.Args...)
	return syscall.Exec(unshare, args, append(os.Environ(), inNamespace+"=1"))
}

// suite is the release of Debian that the packages are tested on.
const suite = "bookworm"

// The user of a root, who is nobody in particular.
const personID = 1000

// root is a Debian that has nothing but its own base, sudo, and a user who may use that.
type root struct {
	t    *testing.T
	ctx  context.Context
	path string
	home string // of the user, there as here
}

// newRoot makes a root. Its files are in memory. dir is a folder that is in the root, too, and has the user's home.
func newRoot(ctx context.Context, t *testing.T, dir, home string) *root {
	t.Helper()
	cache, err := filepath.Abs("../.cache/packaged")
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(cache, "archives"), 0o755))
	base := filepath.Join(cache, suite+"-"+runtime.GOARCH+".tar")
	if _, err := os.Stat(base); errors.Is(err, fs.ErrNotExist) {
		makeBase(ctx, t, base)
	}
	r := &root{t: t, ctx: ctx, path: inMemory(t), home: home}
	r.host("tar", "-xf", base, "-C", r.path)
	r.bind("/proc", "/sys", "/dev", "/tmp/.X11-unix", dir)
	r.bindAt(filepath.Join(cache, "archives"), "/var/cache/apt/archives")
	r.host("cp", "/etc/resolv.conf", filepath.Join(r.path, "etc/resolv.conf"))
	r.admin("useradd", "--uid", strconv.Itoa(personID), "--home-dir", home, "--shell", "/bin/bash", "person")
	r.write("/etc/sudoers.d/person", "person ALL=(ALL) NOPASSWD: ALL\n", 0o440)
	r.write("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755) // nothing is started
	r.write("/etc/apt/apt.conf.d/90test",
		"APT::Get::Assume-Yes \"true\";\nBinary::apt::APT::Keep-Downloaded-Packages \"true\";\n", 0o644)
	r.admin("apt-get", "-qq", "update")
	return r
}

// makeBase makes the archive that every root is made of. It downloads about 50 MB.
func makeBase(ctx context.Context, t *testing.T, base string) {
	t.Helper()
	dir := inMemory(t)
	r := &root{t: t, ctx: ctx}
	r.host("debootstrap", "--variant=minbase", "--include=sudo,ca-certificates", suite, dir, mirror())
	r.host("tar", "-cf", base+".new", "-C", dir, ".")
	must(t, os.Rename(base+".new", base))
}

// inMemory returns a folder for files that end with the test. Nothing in it is ever deleted one by one: other folders
// of this machine may be shown in it.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "nod-root-")
	must(t, err)
	must(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=755"))
	t.Cleanup(func() {
		if err := errors.Join(syscall.Unmount(dir, syscall.MNT_DETACH), os.Remove(dir)); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// mirror is where this machine has its own packages from, if it is a Debian.
func mirror() string {
	const usual = "http://deb.debian.org/debian"
	for _, path := range []string{"/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(text)) {
			if strings.HasPrefix(field, "http") && strings.HasSuffix(strings.TrimSuffix(field, "/"), "/debian") {
				return field
			}
		}
	}
	return usual
}

// bind shows folders of this machine in the root.
func (r *root) bind(paths ...string) {
	r.t.Helper()
	for _, path := range paths {
		r.bindAt(path, path)
	}
}

func (r *root) bindAt(path, there string) {
	r.t.Helper()
	there = filepath.Join(r.path, there)
	must(r.t, os.MkdirAll(there, 0o755))
	must(r.t, syscall.Mount(path, there, "", syscall.MS_BIND|syscall.MS_REC, ""))
}

// host runs a program of this machine, and returns what it prints.
func (r *root) host(name string, args ...string) string {
	r.t.Helper()
	return r.output(exec.CommandContext(r.ctx, name, args...))
}

// admin runs a program in the root as its administrator, without a terminal.
func (r *root) admin(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.ctx, "chroot", append([]string{r.path}, args...)...)
	cmd.Env = append(adminEnv, "HOME=/root")
	return r.output(cmd)
}

// adminEnv has package managers ask nothing.
var adminEnv = []string{"PATH=" + rootPath, "DEBIAN_FRONTEND=noninteractive", "LANG=C.UTF-8"}

const rootPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func (r *root) output(cmd *exec.Cmd) string {
	r.t.Helper()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("%q: %v\n%s%s", cmd.Args, err, out, said.String())
	}
	return string(out)
}

// person turns cmd, which is one of the desktop's person here, into one of the user in the root.
func (r *root) person(cmd *exec.Cmd) *exec.Cmd {
	id := strconv.Itoa(personID)
	args := []string{"chroot", "--userspec=" + id + ":" + id, "--groups=" + id, r.path, "/usr/bin/env", "-i"}
	args = append(append(args, "-C", cmd.Dir), cmd.Env...)
	args = append(args, "PATH="+rootPath, "USER=person", "LOGNAME=person", "DEBIAN_FRONTEND=noninteractive")
	inside := exec.Command("chroot")
	inside.Args = append(args, cmd.Args...)
	inside.Stdin = cmd.Stdin
	return inside
}

// write makes a file in the root.
func (r *root) write(path, text string, mode fs.FileMode) {
	r.t.Helper()
	path = filepath.Join(r.path, path)
	must(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(r.t, os.WriteFile(path, []byte(text), mode))
	must(r.t, os.Chmod(path, mode))
}

// files lists what is in the root, but for what its package manager and others keep for themselves and what is shown
// there of this machine.
func (r *root) files() map[string]bool {
	r.t.Helper()
	all := map[string]bool{}
	must(r.t, filepath.WalkDir(r.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside := strings.TrimPrefix(path, r.path)
		switch inside {
		case "/proc", "/sys", "/dev", "/tmp", "/run", "/var/cache", "/var/log", "/var/lib/apt", "/var/lib/dpkg":
			return fs.SkipDir
		}
		all[inside] = true
		return nil
	}))
	return all
}

// snapshot is what a folder has: the text of its files, by path.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside := strings.TrimPrefix(path, dir)
		switch {
		case d.Type().IsRegular():
			text, err := os.ReadFile(path)
			all[inside] = string(text)
			return err
		default:
			all[inside] = d.Type().String()
			return nil
		}
	}))
	return all
}

// packagePatience is how long a package manager may take, which downloads what it installs.
const packagePatience = 10 * time.Minute
