package asking

import (
	"fmt"
	"os"
	"path/filepath"
)

// usageOf reads what the scheduler counts of a process and its threads.
func usageOf(pid int) usage {
	u := usage{ran: scheduled(fmt.Sprintf("/proc/%d/schedstat", pid)).ran}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // none: it has ended
	for _, t := range threads {
		u.waited += scheduled(t).waited
	}
	return u
}

// scheduled reads the usage of one thread. It is zero where the kernel does not report it.
func scheduled(path string) (u usage) {
	if data, err := os.ReadFile(path); err == nil {
		_, _ = fmt.Sscan(string(data), (*int64)(&u.ran), (*int64)(&u.waited))
	}
	return u
}
