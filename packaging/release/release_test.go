package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/packaging/tree"
)

var twoFiles = tree.Tree{
	{Path: "bin/nod", Mode: 0o755, Data: []byte("a program")},
	{Path: "share/doc/nod/LICENSE", Mode: 0o644, Data: []byte("a licence")},
}

func testRelease(t *testing.T) release {
	return release{
		Build: tree.Build{
			Version: "1.2.3~git20261122100000.0123abcd", Commit: "0123abcd", Date: time.Unix(1795341600, 0),
		},
		maintainer: "somebody <somebody@example.com>", to: t.TempDir(),
	}
}

func TestChoose(t *testing.T) {
	for names, want := range map[string][]tree.Platform{
		"":                          tree.Platforms,
		"linux-arm64":               {{OS: "linux", Arch: "arm64"}},
		"linux-amd64 windows-amd64": {{OS: "linux", Arch: "amd64"}, {OS: "windows", Arch: "amd64"}},
	} {
		if got, err := choose(names); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %s, %v; want %s", names, got, err, want)
		}
	}
	_, err := choose("linux-amd64 linux-arm")
	if err == nil || !strings.Contains(err.Error(), `"linux-arm"`) || !strings.Contains(err.Error(), "windows-arm64") {
		t.Errorf("a platform that there is not: %v", err)
	}
}

// Packages and archives have in them what they are made of, and nothing of when, where and by whom they are made.
func TestSameFilesMakeTheSameBytes(t *testing.T) {
	p := tree.Platform{OS: "linux", Arch: "amd64"}
	var first map[string][]byte
	for _, zone := range []string{"UTC", "Asia/Shanghai"} {
		t.Setenv("TZ", zone)
		t.Setenv("TMPDIR", t.TempDir())
		r, made := testRelease(t), map[string][]byte{}
		keep := func(path string, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if made[filepath.Base(path)], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		keep(r.pack("deb", twoFiles, p, []string{"libc6"}))
		keep(r.pack("rpm", twoFiles, p, []string{"libc.so.6(GLIBC_2.34)(64bit)"}))
		keep(r.archive("nod", twoFiles, p))
		keep(r.archive("nod", twoFiles, tree.Platform{OS: "windows", Arch: "amd64"}))
		if first == nil {
			first = made
		}
		for name, data := range made {
			if !bytes.Equal(data, first[name]) {
				t.Errorf("%s differs", name)
			}
		}
		if host, err := os.Hostname(); err == nil && len(host) > 3 {
			for name, data := range made {
				if bytes.Contains(data, []byte(host)) {
					t.Errorf("%s names the machine", name)
				}
			}
		}
	}
}

func TestTarball(t *testing.T) {
	data, err := tarball("nod-1", twoFiles, time.Unix(1795341600, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	for _, f := range twoFiles {
		h, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || h.Name != "nod-1/"+f.Path || h.FileInfo().Mode() != f.Mode || !bytes.Equal(text, f.Data) {
			t.Errorf("%+v: %q, %v", h, text, err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Unix() != 1795341600 {
			t.Errorf("%+v", h)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestZip(t *testing.T) {
	data, err := zipped("nod-1", twoFiles, time.Unix(1795341600, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range twoFiles {
		text, err := fs.ReadFile(r, "nod-1/"+f.Path)
		if err != nil || !bytes.Equal(text, f.Data) {
			t.Errorf("%s: %q, %v", f.Path, text, err)
		}
	}
}

// dpkg reads the package, and finds in it what it looks for.
func TestDeb(t *testing.T) {
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		t.Skip(err)
	}
	r := testRelease(t)
	path, err := r.pack("deb", twoFiles, tree.Platform{OS: "linux", Arch: "arm64"}, []string{"libc6 (>= 2.34)", "libgl1"})
	if err != nil {
		t.Fatal(err)
	}
	if got := filepath.Base(path); got != "nod_1.2.3~git20261122100000.0123abcd_arm64.deb" {
		t.Errorf("it is called %s", got)
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(dpkg, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	control := run("-f", path)
	for _, line := range []string{
		"Version: " + r.Version, "Architecture: arm64", "Depends: libc6 (>= 2.34), libgl1", "Maintainer: " + r.maintainer,
	} {
		if !strings.Contains(control, line+"\n") {
			t.Errorf("it lacks %q:\n%s", line, control)
		}
	}
	list := run("-c", path)
	for _, want := range []string{
		`-rwxr-xr-x root/root +9 .* \./usr/bin/nod\n`, `-rw-r--r-- root/root .* \./usr/share/doc/nod/copyright\n`,
		`-rw-r--r-- root/root .* \./usr/share/doc/nod/changelog\.gz\n`,
	} {
		if !regexp.MustCompile(want).MatchString(list) {
			t.Errorf("it lacks %s:\n%s", want, list)
		}
	}
	if got := regexp.MustCompile(`\b(pre|post)(inst|rm)\b`).FindAllString(run("-I", path), -1); !slices.Equal(got,
		[]string{"postinst", "prerm"}) {
		t.Errorf("its scripts are %q", got)
	}
}

// The profile is put where AppArmor looks if that knows what it says, and taken from there with nod, unless it is
// somebody else's.
func TestProfile(t *testing.T) {
	const own = "profile nod /opt/nod {}\n"
	for name, tt := range map[string]struct {
		parser, there         string
		installed, afterwards string
	}{
		"known":        {"exit 0", "", profile, ""},
		"upgraded":     {"exit 0", "# Written by nod's package, once.\n", profile, ""},
		"not known":    {"exit 1", "", "", ""},
		"not loaded":   {`[ "$1" = -Q ]`, "", profile, ""},
		"the user's":   {"exit 0", own, own, own},
		"no AppArmor":  {"", "", "", ""},
		"none, but it": {"", own, own, own},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := filepath.Join(dir, "etc/apparmor.d/nod")
			write := func(path, text string, mode fs.FileMode) {
				t.Helper()
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
					t.Fatal(err)
				}
			}
			write(filepath.Join(dir, "usr", profilePath), profile, 0o644)
			write(filepath.Join(dir, "etc/apparmor.d/other"), "", 0o644)
			if tt.there != "" {
				write(at, tt.there, 0o644)
			}
			if tt.parser != "" {
				write(filepath.Join(dir, "bin/apparmor_parser"), "#!/bin/sh\n"+tt.parser+"\n", 0o755)
			}
			run := func(script string, args ...string) string {
				t.Helper()
				script = strings.NewReplacer("/etc/", dir+"/etc/", "/usr/", dir+"/usr/").Replace(script)
				cmd := exec.Command("sh", append([]string{"-c", script, "script"}, args...)...)
				cmd.Env = []string{"PATH=" + dir + "/bin:/usr/bin:/bin"}
				if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
					t.Fatalf("%v: %s", err, out)
				}
				text, _ := os.ReadFile(at)
				return string(text)
			}
			if is := run(postInstall, "configure"); is != tt.installed {
				t.Errorf("installed: %q", is)
			}
			if is := run(preRemove, "upgrade"); is != tt.installed {
				t.Errorf("upgraded: %q", is)
			}
			if is := run(preRemove, "remove"); is != tt.afterwards {
				t.Errorf("removed: %q", is)
			}
		})
	}
}

// Debian's own checker warns of nothing in the package for this machine.
func TestLintian(t *testing.T) {
	lintian, err := exec.LookPath("lintian")
	if err != nil {
		t.Skip(err)
	}
	packages, err := filepath.Glob("../../build/packages/nod_*_" + tree.Host.Arch + ".deb")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Skip("run make package first")
	}
	out, err := exec.Command(lintian, append([]string{"--allow-root", "--fail-on", "error,warning"}, packages...)...).
		CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What the table says of the libraries is what Debian says, and what GLFW opens is in it, or known to be dispensable.
func TestLibraries(t *testing.T) {
	program := filepath.Join("../../build/programs", tree.Host.String(), "nod-dialogs")
	if _, err := os.Stat(program); err != nil {
		t.Skip("run make package first: ", err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	dispensable := []string{
		"libGL.so.1", "libGLX.so.0", // one of them
		"libGLESv1_CM.so.1", "libGLES_CM.so.1", "libGLESv2.so.2", "libOSMesa.so.6", "libOSMesa.so.8", "libOpenGL.so.0",
		"libdecor-0.so.0", "libvulkan.so.1",
	}
	for _, soname := range regexp.MustCompile(`lib[A-Za-z][A-Za-z0-9_-]*\.so\.[0-9]+`).FindAllString(string(data), -1) {
		known := slices.ContainsFunc(libraries, func(l library) bool { return l.soname == soname })
		if !known && !slices.Contains(dispensable, soname) {
			t.Errorf("%s is opened and in no package that nod depends on", soname)
		}
	}
	needs, err := requires(program)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("dpkg-shlibdeps"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "debian"), 0o755); err != nil {
		t.Fatal(err)
	}
	control := []byte("Source: nod\n\nPackage: nod\nArchitecture: any\n")
	if err := os.WriteFile(filepath.Join(dir, "debian/control"), control, 0o644); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	shlibdeps := exec.Command("dpkg-shlibdeps", "-O", path)
	shlibdeps.Dir, shlibdeps.Stderr = dir, t.Output()
	out, err := shlibdeps.Output()
	if err != nil {
		t.Fatal(err)
	}
	for want := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSpace(string(out)), "shlibs:Depends="), ", ") {
		name, _, _ := strings.Cut(want, " ")
		if !slices.Contains(needs["deb"], want) && !slices.Contains(needs["deb"], name) {
			t.Errorf("dpkg-shlibdeps says %s; nod depends on %s", want, needs["deb"])
		}
	}
}
