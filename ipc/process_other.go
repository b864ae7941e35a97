//go:build !linux

package ipc

import (
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"nod/interact"
)

// readProcess reads what the operating system knows of a process and its ancestors. Everything may end
// while it is read, so the start time is compared before and after, and with the time at which the
// connection was accepted: a process id that was given to another process meanwhile is an error. What the
// platform does not tell stays empty.
func readProcess(pid int32, accepted time.Time) (interact.Process, error) {
	proc, err := process.NewProcess(pid)
	if err != nil {
		return interact.Process{}, err
	}
	before, err := proc.CreateTime() // milliseconds since 1970
	if err != nil {
		return interact.Process{}, err
	}
	started := time.UnixMilli(before)
	if started.After(accepted.Add(time.Second)) { // the clocks need not agree to the last digit
		return interact.Process{}, errRecycled
	}
	p := interact.Process{PID: pid, Started: started}
	p.Exe, _ = proc.Exe()
	p.CWD, _ = proc.Cwd()
	p.Parents = readParents(proc, before)
	// A fresh look, because a process.Process remembers its start time.
	again, err := process.NewProcess(pid)
	if err != nil {
		return interact.Process{}, err
	}
	if after, err := again.CreateTime(); err != nil || after != before {
		return interact.Process{}, errRecycled
	}
	return p, nil
}

// readParents follows the chain of parents up, nearest first. It ends where a parent is younger than its
// child: that is another process under a used id.
func readParents(child *process.Process, started int64) []interact.Parent {
	var parents []interact.Parent
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
		parents = append(parents, interact.Parent{PID: parent.Pid, Name: nameOf(exe, comm), Exe: exe})
		child, started = parent, at
	}
	return parents
}
