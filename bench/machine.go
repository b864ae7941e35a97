//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"nod/bench/report"
)

// compared are the modules that nod is compared with.
var compared = []string{"modernc.org/sqlite", "zombiezen.com/go/sqlite"}

// machine says what the figures depend on.
func (b *bench) machine() []report.Fact {
	facts := []report.Fact{
		{Name: "Processor", Value: fmt.Sprintf("%s, %d cores", field("/proc/cpuinfo", "model name"), runtime.NumCPU())},
		{Name: "Memory", Value: memoryOfMachine()},
		{Name: "System", Value: field("/etc/os-release", "PRETTY_NAME") + ", Linux " + line("/proc/sys/kernel/osrelease")},
		{Name: "Load at the start", Value: line("/proc/loadavg")},
		{Name: "nod", Value: said(filepath.Join(b.bin, "nod"), "--version")},
		{Name: "Go", Value: runtime.Version()},
	}
	info, _ := debug.ReadBuildInfo() // a program of a module always has it
	for _, m := range info.Deps {
		for _, path := range compared {
			if m.Path == path {
				facts = append(facts, report.Fact{Name: path, Value: m.Version})
			}
		}
	}
	for _, name := range []string{"zenity", "yad"} { // without a display they do not say
		facts = append(facts, report.Fact{Name: name, Value: said("dpkg-query", "--show", "--showformat=${Version}", name)})
	}
	return facts
}

func memoryOfMachine() string {
	var kB float64
	if _, err := fmt.Sscanf(field("/proc/meminfo", "MemTotal"), "%f kB", &kB); err != nil {
		return "unknown"
	}
	return report.Bytes.Format(kB * 1024)
}

// field is the value of a name in one of the system's files; "unknown" when it is not there.
func field(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, found := strings.Cut(lines.Text(), ":")
		if !found {
			key, value, found = strings.Cut(lines.Text(), "=")
		}
		if found && strings.TrimSpace(key) == name {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return "unknown"
}

func line(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// said is the first line of what a program prints.
func said(program string, args ...string) string {
	out, err := exec.Command(program, args...).Output()
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || first == "" {
		return "unknown"
	}
	return first
}
