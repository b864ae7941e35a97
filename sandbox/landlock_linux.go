package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Landlock is what the kernel offers every program, also where namespaces are forbidden. Its rules only add: who may
// write to a folder may write to all that is in it. So places in a project cannot be kept from a command that changes
// it, and with this engine commands can only read. Metadata, such as a file's name and size, can be seen; what changes
// it, and all sockets, the filter of system calls refuses.

// leastLandlock is the first version that keeps signals and abstract sockets in.
const leastLandlock = 6

var errOnlyReads = errors.New("a command that writes can't be contained by Landlock: " +
	"it protects nothing in a writable folder")

func checkLandlock() error {
	if v := landlockVersion(); v < leastLandlock {
		return fmt.Errorf("version %d of Landlock is needed (Linux 6.12), but this machine has %d", leastLandlock, v)
	}
	return nil
}

// devices are the ones that a command has with Landlock, and figures what it may know of the machine.
var (
	devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
	figures = []string{
		"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/loadavg", "/proc/version",
		"/proc/filesystems", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/random", "/proc/sys/vm/overcommit_memory",
	}
)

// permit adds what Landlock has a profile's command reach.
func (l *layout) permit(p *Profile, init, home string) error {
	if p.Write {
		return errOnlyReads
	}
	hidden := slices.Concat(confidential(), p.Hide, []string{p.Private})
	for _, path := range slices.Concat(system, figures, []string{p.Project, init}, p.Show, p.Warm) {
		real, isLed := new(layout).follow(path, p.Project)
		info, err := os.Lstat(real)
		if err == nil && !isLed && !IsIn(home, real) && (info.IsDir() || info.Mode().IsRegular()) {
			l.show(real, info.IsDir(), hidden)
		}
	}
	for _, path := range devices {
		l.add(mount{Kind: device, To: path})
	}
	l.add(mount{Kind: bind, To: p.Temp(), Write: true})
	return nil
}

// show has all that is in a place read but what is hidden: what lies beside that is shown one by one.
func (l *layout) show(path string, isDir bool, hidden []string) {
	isAbove := func(h string) bool { return isBelow(h, path) }
	switch {
	case slices.ContainsFunc(hidden, func(h string) bool { return IsIn(path, h) }):
		return
	case !isDir || !slices.ContainsFunc(hidden, isAbove):
		l.add(mount{Kind: read, To: path})
		return
	}
	l.add(mount{Kind: list, To: path})
	entries, _ := os.ReadDir(path) // one that cannot be read is not shown
	for _, entry := range entries {
		if kind := entry.Type(); kind.IsDir() || kind.IsRegular() {
			l.show(filepath.Join(path, entry.Name()), kind.IsDir(), hidden)
		}
	}
}
