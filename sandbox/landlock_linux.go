package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The kernel offers Landlock to every program, even where namespaces are forbidden. Its rules only add: a process that
// may write to a folder may write to everything in it. So places in a project cannot be protected from a command that
// changes it, and with this engine commands can only read. They can see metadata, such as a file's name and size; the
// filter of system calls refuses what changes it, and all sockets.

// leastLandlock is the first version that confines signals and abstract sockets.
const leastLandlock = 6

var errOnlyReads = errors.New("a command that writes can't be contained by Landlock: " +
	"it protects nothing in a writable folder")

func checkLandlock() error {
	if v := landlockVersion(); v < leastLandlock {
		return fmt.Errorf("version %d of Landlock is needed (Linux 6.12), but this machine has %d", leastLandlock, v)
	}
	return nil
}

// devices are the devices that a command has with Landlock, and figures what it may know about the machine.
var (
	devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
	figures = []string{
		"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/loadavg", "/proc/version",
		"/proc/filesystems", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/random", "/proc/sys/vm/overcommit_memory",
	}
)

// permit adds what a profile's command may reach with Landlock.
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

// show makes everything in a place readable except what is hidden: what is next to that is shown one by one.
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
