//go:build linux

package e2e

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// children lists the processes that nod-desktop has started and that run.
func (n *nod) children() (pids []int) {
	n.t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must(n.t, err)
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil { // it has ended
			continue
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after) // from the third field of proc(5) on: state, parent
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(n.cmd.Process.Pid) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		must(n.t, err)
		pids = append(pids, pid)
	}
	return pids
}

// dialogs finds the process that has the windows: 0 when there is none.
func (n *nod) dialogs() int {
	n.t.Helper()
	for _, pid := range n.children() {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && strings.TrimSpace(string(name)) == "nod-dialogs" {
			return pid
		}
	}
	return 0
}

// resident is the memory that a process has in use, in MiB.
func (n *nod) resident(pid int) float64 {
	n.t.Helper()
	for line := range strings.Lines(n.proc(pid, "status")) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
			must(n.t, err)
			return kib / 1024
		}
	}
	n.t.Fatal("no VmRSS")
	return 0
}

func (n *nod) proc(pid int, name string) string {
	n.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	must(n.t, err)
	return string(text)
}

// TestStacksAreNotExecutable fails when the linker has taken an object without a note on its stack: it then lets all of
// a program's stacks be executed.
func TestStacksAreNotExecutable(t *testing.T) {
	for _, name := range []string{"nod", "nod-cli", "nod-desktop", "nod-dialogs"} {
		file, err := elf.Open(filepath.Join(bin, name))
		must(t, err)
		defer file.Close()
		for _, segment := range file.Progs {
			if segment.Type == elf.PT_GNU_STACK && segment.Flags&elf.PF_X != 0 {
				t.Errorf("the stack of %s can be executed", name)
			}
		}
	}
}
