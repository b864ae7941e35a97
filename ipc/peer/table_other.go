//go:build !linux && !darwin

package peer

import (
	"github.com/shirou/gopsutil/v4/process"

	"nod/api"
)

// hasEnded looks at the start as well as at the id. A process that nobody can see any longer has ended.
func hasEnded(p api.Parent) bool {
	proc, err := process.NewProcess(p.PID)
	if err != nil {
		return true
	}
	started, err := proc.CreateTime()
	return err != nil || started != p.Started.UnixMilli()
}
