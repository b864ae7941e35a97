//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// memory is what a process has in memory.
type memory struct {
	resident     float64 // bytes
	proportional float64 // bytes, of each shared page only this process's part
}

func memoryOf(pid int) (m memory, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return m, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kB float64
		if _, err := fmt.Sscanf(lines.Text(), "Rss: %f kB", &kB); err == nil {
			m.resident = kB * 1024
		}
		if _, err := fmt.Sscanf(lines.Text(), "Pss: %f kB", &kB); err == nil {
			m.proportional = kB * 1024
		}
	}
	if m.resident == 0 {
		return m, fmt.Errorf("no Rss in %s", f.Name())
	}
	return m, nil
}

// work is what a process has done so far.
type work struct {
	processor time.Duration
	wakeups   int // how often one of its threads went to sleep, and so was woken
}

// workOf sums up the threads of a process. Those that have ended are not in the sum: at rest none ends.
func workOf(pid int) (w work, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(threads) == 0 {
		return w, fmt.Errorf("process %d has ended", pid)
	}
	for _, thread := range threads {
		text, err := os.ReadFile(filepath.Join(thread, "schedstat"))
		if err != nil {
			return w, err
		}
		onProcessor, _, _ := strings.Cut(string(text), " ") // in nanoseconds
		spent, err := strconv.ParseInt(onProcessor, 10, 64)
		if err != nil {
			return w, fmt.Errorf("%s/schedstat: %w", thread, err)
		}
		w.processor += time.Duration(spent)
		sleeps, err := strconv.Atoi(field(filepath.Join(thread, "status"), "voluntary_ctxt_switches"))
		if err != nil {
			return w, fmt.Errorf("%s/status: %w", thread, err)
		}
		w.wakeups += sleeps
	}
	return w, nil
}
