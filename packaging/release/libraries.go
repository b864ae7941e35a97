package main

import (
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// library is a shared library that the windows need.
type library struct {
	soname string
	deb    string // the Debian package that holds it
	opened bool   // not linked: GLFW opens it while it runs
}

// libraries are all that nod-dialogs links or opens. What GLFW opens and does without is not among them.
var libraries = []library{
	{soname: "libc.so.6", deb: "libc6"},
	{soname: "libm.so.6", deb: "libc6"},
	{soname: "ld-linux-x86-64.so.2", deb: "libc6"},
	{soname: "ld-linux-aarch64.so.1", deb: "libc6"},
	{soname: "libGL.so.1", deb: "libgl1"},
	{soname: "libwayland-client.so.0", deb: "libwayland-client0"},
	{soname: "libEGL.so.1", deb: "libegl1", opened: true},
	{soname: "libGLX.so.0", deb: "libglx0", opened: true},
	{soname: "libX11.so.6", deb: "libx11-6", opened: true},
	{soname: "libX11-xcb.so.1", deb: "libx11-xcb1", opened: true},
	{soname: "libXcursor.so.1", deb: "libxcursor1", opened: true},
	{soname: "libXext.so.6", deb: "libxext6", opened: true},
	{soname: "libXi.so.6", deb: "libxi6", opened: true},
	{soname: "libXinerama.so.1", deb: "libxinerama1", opened: true},
	{soname: "libXrandr.so.2", deb: "libxrandr2", opened: true},
	{soname: "libXrender.so.1", deb: "libxrender1", opened: true},
	{soname: "libXxf86vm.so.1", deb: "libxxf86vm1", opened: true},
	{soname: "libwayland-cursor.so.0", deb: "libwayland-cursor0", opened: true},
	{soname: "libwayland-egl.so.1", deb: "libwayland-egl1", opened: true},
	{soname: "libxkbcommon.so.0", deb: "libxkbcommon0", opened: true},
}

// requires says what a package with the program needs to have installed, by format. It reads from the program what
// that is linked with and which C library it takes, and adds what it opens.
func requires(program string) (map[string][]string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	linked, err := f.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	glibc, err := glibcOf(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	for _, soname := range linked {
		if !slices.ContainsFunc(libraries, func(l library) bool { return l.soname == soname }) {
			return nil, fmt.Errorf("%s is linked with %s: say in libraries.go which package holds it", program, soname)
		}
	}
	deb, rpm := []string{"libc6 (>= " + glibc + ")"}, []string{"libc.so.6(GLIBC_" + glibc + ")(64bit)"}
	for _, l := range libraries {
		if l.deb != "libc6" && (l.opened || slices.Contains(linked, l.soname)) {
			deb, rpm = append(deb, l.deb), append(rpm, l.soname+"()(64bit)")
		}
	}
	return map[string][]string{"deb": deb, "rpm": rpm}, nil
}

// glibcOf is the oldest version of the C library that has all that the program takes from it.
func glibcOf(f *elf.File) (string, error) {
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return "", err
	}
	newest := []int{2, 0}
	for _, s := range symbols {
		if version, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok {
			var v []int
			for part := range strings.SplitSeq(version, ".") {
				n, err := strconv.Atoi(part)
				if err != nil {
					return "", fmt.Errorf("symbol %s is of version %s: %w", s.Name, s.Version, err)
				}
				v = append(v, n)
			}
			if slices.Compare(v, newest) > 0 {
				newest = v
			}
		}
	}
	return fmt.Sprintf("%d.%d", newest[0], newest[1]), nil
}
