//go:build !linux && !darwin

package peer

import (
	"github.com/shirou/gopsutil/v4/process"

	"nod/api"
)

// hasEnded checks the start time as well as the id. A process that can no longer be seen has ended.
func hasEnded(p api.Parent) bool {
	proc, err := process.NewProcess(p.PID)
	if err != nil {
		return true
	}
	started, err := proc.CreateTime()
	return err != nil || started != p.Started.UnixMilli()
}
