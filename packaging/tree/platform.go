package tree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Platform is what a program is built for.
type Platform struct{ OS, Arch string }

// Host is the platform that this runs on.
var Host = Platform{runtime.GOOS, runtime.GOARCH}

// Platforms are those that nod is released for.
var Platforms = []Platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
	{"windows", "arm64"},
}

// MissingError says why a program cannot be built here.
type MissingError struct {
	Platform Platform
	Why      string
}

func (e *MissingError) Error() string { return fmt.Sprintf("%s: %s", e.Platform, e.Why) }

// String is the platform as names of files have it.
func (p Platform) String() string { return p.OS + "-" + p.Arch }

func (p Platform) exe() string {
	if p.OS == "windows" {
		return ".exe"
	}
	return ""
}

// sysroot is where scripts/sysroot puts the libraries of another architecture.
func sysroot(root string) (string, error) { return filepath.Abs(filepath.Join(root, ".cache/arm64")) }

// compiler returns what has go build compile C for the platform.
func (p Platform) compiler(root string) (env []string, err error) {
	switch p {
	case Host:
		return nil, nil
	case Platform{"windows", "amd64"}:
		return p.cross("x86_64-w64-mingw32-gcc")
	case Platform{"linux", "arm64"}:
		dir, err := sysroot(root)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
			return nil, &MissingError{p, "its libraries are not in .cache/arm64: make release gets them on Debian"}
		}
		env, err := p.cross("aarch64-linux-gnu-gcc", "--sysroot="+dir)
		return append(env, "PKG_CONFIG_SYSROOT_DIR="+dir,
			"PKG_CONFIG_LIBDIR="+dir+"/usr/lib/aarch64-linux-gnu/pkgconfig:"+dir+"/usr/share/pkgconfig"), err
	case Platform{"windows", "arm64"}:
		return nil, &MissingError{p, "Debian has no C compiler for it"}
	}
	return nil, &MissingError{p, "its compiler and libraries are on such a machine only"}
}

func (p Platform) cross(compiler string, args ...string) ([]string, error) {
	if _, err := exec.LookPath(compiler); err != nil {
		return nil, &MissingError{p, compiler + " is not installed"}
	}
	return []string{"CC=" + strings.Join(append([]string{compiler}, args...), " ")}, nil
}

// emulator returns what runs the platform's programs here, which may be nothing; ok is false when they do not run.
func (p Platform) emulator(root string) (command []string, ok bool) {
	switch p {
	case Host:
		return nil, true
	case Platform{"linux", "arm64"}:
		dir, err := sysroot(root)
		command = []string{"qemu-aarch64", "-L", dir}
		if err != nil {
			return nil, false
		}
	case Platform{"windows", "amd64"}:
		command = []string{"wine"}
	default:
		return nil, false
	}
	_, err := exec.LookPath(command[0])
	return command, err == nil
}

// Try runs a program that was built for the platform far enough to see that it is linked and says its version. It
// reports false where the platform's programs do not run here.
func (b Build) Try(program string, p Platform) (bool, error) {
	command, ok := p.emulator(b.Root)
	if !ok {
		return false, nil
	}
	name := strings.TrimSuffix(filepath.Base(program), p.exe())
	says := map[string]struct{ arg, want string }{
		"nod":         {"--version", "nod " + b.Version}, // says nod-cli, which is built beside it
		"nod-cli":     {"--version", "nod " + b.Version},
		"nod-desktop": {"--version", "nod-desktop " + b.Version},
		"nod-dialogs": {"", "nod-dialogs is started by nod-desktop"}, // it has nothing to say to a user
	}[name]
	command = append(command, program)
	if says.arg != "" {
		command = append(command, says.arg)
	}
	out, _ := exec.Command(command[0], command[1:]...).CombinedOutput() // nod-dialogs ends with an error
	if !strings.Contains(string(out), says.want) {
		return false, fmt.Errorf("%s says %q, not %q", strings.Join(command, " "), out, says.want)
	}
	return true, nil
}
