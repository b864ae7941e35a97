package ownprocess

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetFiles makes the system drop the pages of program and library files from this process's memory; most were needed
// only at the start. Pages needed again are read from the files. It leaves mappings alone that have pages which differ
// from the file, because those would be lost.
func forgetFiles() {
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer smaps.Close()
	var start, end uintptr // of the mapping that the lines are about; 0: of none that can be forgotten
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		field := strings.Fields(lines.Text())
		switch {
		case len(field) == 6 && strings.HasPrefix(field[5], "/"):
			start = 0
			if field[1] == "r-xp" || field[1] == "r--p" {
				_, _ = fmt.Sscanf(field[0], "%x-%x", &start, &end)
			}
		case len(field) > 1 && strings.Contains(field[0], "-"):
			start = 0
		case len(field) != 3 || start == 0:
		case field[0] == "Anonymous:" && field[1] != "0":
			start = 0
		case field[0] == "Swap:" && field[1] == "0":
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_DONTNEED)
		}
	}
}
