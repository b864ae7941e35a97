package snapshot

import "golang.org/x/sys/unix"

// limitMemory keeps a process from having more than [maxMemory].
func limitMemory(pid int) {
	_ = unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: maxMemory, Max: maxMemory}, nil) // fails only if it has ended
}
