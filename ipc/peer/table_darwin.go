package peer

import (
	"time"

	"golang.org/x/sys/unix"

	"nod/api"
)

// zombie is the state of a process that has ended but that its parent has not waited for: SZOMB of <sys/proc.h>.
const zombie = 5

// hasEnded checks the start time as well as the id. A process that can no longer be seen has ended.
func hasEnded(p api.Parent) bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", int(p.PID))
	if err != nil || info.Proc.P_stat == zombie {
		return true
	}
	started := info.Proc.P_starttime
	return time.Unix(started.Sec, int64(started.Usec)*1000).UnixMilli() != p.Started.UnixMilli()
}
