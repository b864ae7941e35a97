package peer

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"nod/api"
)

// Here nod reads about processes from /proc and not through gopsutil, which serves the other platforms: a tool call
// that a rule allows has no other notable delay, and a chain of six processes takes 40 µs this way but 300 µs through
// the library.

// ticksPerSecond is the unit of start times in /proc: USER_HZ, 100 on every architecture that Go runs on.
const ticksPerSecond = 100

// stat is a part of /proc/PID/stat.
type stat struct {
	comm     string // as the process calls itself: a claim
	isZombie bool   // it has ended, and its parent has not asked how
	parent   int32
	session  int32  // process id of the session's leader
	terminal int64  // device number of the session's terminal; 0: none
	started  uint64 // ticks since boot
}

// readProcess reads what the kernel knows about a process, and its ancestors as long as more returns true for the last
// one read, or all if more is nil. It fails if the process id was given to another process since the connection was
// accepted.
func readProcess(pid int32, accepted time.Time, more func(api.Parent) bool) (api.Process, error) {
	before, err := readStat(pid)
	if err != nil {
		return api.Process{}, err
	}
	if before.started > ticksAt(accepted) {
		return api.Process{}, errRecycled
	}
	p := api.Process{
		PID:     pid,
		Exe:     readLink(pid, "exe"),
		CWD:     readLink(pid, "cwd"),
		Started: timeOf(before.started),
		Parents: readParents(before, more),
	}
	after, err := readStat(pid)
	if err != nil {
		return api.Process{}, err
	}
	if after.started != before.started {
		return api.Process{}, errRecycled
	}
	return p, nil
}

// readParents follows the chain of parents up, nearest first. It ends where a parent is younger than its child, because
// that is another process with a reused id.
func readParents(child stat, more func(api.Parent) bool) []api.Parent {
	parents := make([]api.Parent, 0, 8)
	for len(parents) < maxParents && child.parent > 0 {
		s, err := readStat(child.parent)
		if err != nil || s.started > child.started {
			break
		}
		exe := readLink(child.parent, "exe")
		parents = append(parents, api.Parent{
			PID: child.parent, Name: nameOf(exe, s.comm), Exe: exe, Started: timeOf(s.started),
		})
		if more != nil && !more(parents[len(parents)-1]) {
			break
		}
		child = s
	}
	return parents
}

func readStat(pid int32) (stat, error) {
	fd, err := unix.Open(procPath(pid, "stat"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return stat{}, err
	}
	defer unix.Close(fd)
	var buf [1024]byte // a line of 52 numbers and a name of at most 64 bytes
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return stat{}, err
	}
	return parseStat(buf[:n])
}

// SharesFiles reports whether a process has the same files under the same paths as this one. It returns false if that
// is unknown.
func SharesFiles(pid int32) bool {
	here := ownMounts()
	return here != "" && here == readLink(pid, mounts)
}

const mounts = "ns/mnt"

// ownMounts returns this process's mount namespace, which it never leaves.
var ownMounts = sync.OnceValue(func() string { return readLink(int32(os.Getpid()), mounts) })

// Runs reports whether a process runs the file that has the path of its executable here. A program that can mount
// files, as in its own namespace, can have any path.
func Runs(p api.Parent) bool {
	if SharesFiles(p.PID) {
		return true
	}
	running, err := os.Stat(procPath(p.PID, "exe"))
	if err != nil {
		return false
	}
	there, err := os.Stat(p.Exe)
	return err == nil && os.SameFile(running, there)
}

// parseStat parses "PID (COMM) STATE PPID …", in which COMM may contain anything, even parentheses.
func parseStat(line []byte) (stat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return stat{}, errors.New("stat: no name")
	}
	field := bytes.Fields(line[end+1:]) // from the third on
	const state, parent, session, terminal, started = 0, 4 - 3, 6 - 3, 7 - 3, 22 - 3
	if len(field) <= started {
		return stat{}, errors.New("stat: cut short")
	}
	ppid, noParent := strconv.ParseInt(string(field[parent]), 10, 32)
	sid, noSession := strconv.ParseInt(string(field[session]), 10, 32)
	tty, noTerminal := strconv.ParseInt(string(field[terminal]), 10, 64)
	ticks, noStart := strconv.ParseUint(string(field[started]), 10, 64)
	return stat{
		comm: string(line[open+1 : end]), isZombie: bytes.ContainsAny(field[state], "ZX"),
		parent: int32(ppid), session: int32(sid), terminal: tty, started: ticks,
	}, errors.Join(noParent, noSession, noTerminal, noStart)
}

// readLink resolves /proc/PID/exe or cwd, or returns "" if this process may not. The kernel marks a file that was
// removed or replaced since with " (deleted)". readLink keeps the mark, so that no rule treats it as the file that now
// has the name.
func readLink(pid int32, name string) string {
	var buf [unix.PathMax]byte
	n, err := unix.Readlink(procPath(pid, name), buf[:])
	if err != nil || n == len(buf) {
		return ""
	}
	return string(buf[:n])
}

func procPath(pid int32, name string) string {
	return "/proc/" + strconv.Itoa(int(pid)) + "/" + name
}

func ticksAt(t time.Time) uint64 {
	since := sinceBoot() - time.Since(t)
	if since < 0 {
		return 0
	}
	// Rounded up, because what started within the same tick may have started before.
	return uint64(since/(time.Second/ticksPerSecond)) + 1
}

func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// bootTime returns when the machine started, as a date. It is read once, so that a process always has the same start
// time, even after the clock was set.
var bootTime = sync.OnceValue(func() time.Time { return time.Now().Add(-sinceBoot()).Truncate(time.Second) })

func timeOf(ticks uint64) time.Time {
	return bootTime().Add(time.Duration(ticks) * (time.Second / ticksPerSecond))
}
