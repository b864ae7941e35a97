//go:build !linux && !darwin && !windows

package peer

import (
	"context"

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

func awaitEnd(ctx context.Context, p api.Parent) bool { return pollEnd(ctx, p) }
