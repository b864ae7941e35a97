//go:build !linux

package peer

import (
	"context"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"nod/api"
)

// readProcess reads what the operating system tells about a process, and its ancestors as long as more returns true for
// the last one read, or all if more is nil. It fails if the process id was given to another process since the
// connection was accepted.
func readProcess(pid int32, accepted time.Time, more func(api.Parent) bool) (api.Process, error) {
	proc, err := process.NewProcess(pid)
	if err != nil {
		return api.Process{}, err
	}
	before, err := proc.CreateTime() // milliseconds since 1970
	if err != nil {
		return api.Process{}, err
	}
	started := time.UnixMilli(before)
	if started.After(accepted.Add(time.Second)) { // the clocks need not agree to the last digit
		return api.Process{}, errRecycled
	}
	p := api.Process{PID: pid, Started: started}
	p.Exe, _ = proc.Exe()
	p.CWD, _ = proc.Cwd()
	p.Parents = readParents(proc, before, more)
	// Read it again, because a process.Process remembers its start time.
	again, err := process.NewProcess(pid)
	if err != nil {
		return api.Process{}, err
	}
	if after, err := again.CreateTime(); err != nil || after != before {
		return api.Process{}, errRecycled
	}
	return p, nil
}

// readParents follows the chain of parents up, nearest first. It ends where a parent is younger than its child, because
// that is another process with a reused id.
func readParents(child *process.Process, started int64, more func(api.Parent) bool) []api.Parent {
	var parents []api.Parent
	for len(parents) < maxParents {
		parent, err := child.Parent()
		if err != nil || parent.Pid == child.Pid {
			break
		}
		at, err := parent.CreateTime()
		if err != nil || at > started {
			break
		}
		exe, _ := parent.Exe()
		comm, _ := parent.Name()
		parents = append(parents, api.Parent{
			PID: parent.Pid, Name: nameOf(exe, comm), Exe: exe, Started: time.UnixMilli(at),
		})
		if more != nil && !more(parents[len(parents)-1]) {
			break
		}
		child, started = parent, at
	}
	return parents
}

// arguments returns the arguments of a process, or none if they cannot be read.
func arguments(pid int32) []string {
	proc, err := process.NewProcess(pid)
	if err != nil {
		return nil
	}
	args, _ := proc.CmdlineSlice()
	return args
}

func leadsTerminal(int32) bool { return false }

// SharesFiles reports whether a process has the same files under the same paths as this one. Here every process has.
func SharesFiles(int32) bool { return true }

func awaitEnd(ctx context.Context, p api.Parent) bool { return pollEnd(ctx, p) }

// Runs reports whether a process runs the file that has the path of its executable. Here it always does.
func Runs(api.Parent) bool { return true }
