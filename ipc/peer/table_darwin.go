package peer

import (
	"time"

	"golang.org/x/sys/unix"

	"nod/api"
)

// zombie is the state of a process that has ended, and whose parent has not asked how: SZOMB of <sys/proc.h>.
const zombie = 5

// hasEnded looks at the start as well as at the id. A process that nobody can see any longer has ended.
func hasEnded(p api.Parent) bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", int(p.PID))
	if err != nil || info.Proc.P_stat == zombie {
		return true
	}
	started := info.Proc.P_starttime
	return time.Unix(started.Sec, int64(started.Usec)*1000).UnixMilli() != p.Started.UnixMilli()
}
