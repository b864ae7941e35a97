//go:build unix

package app

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps the signals of a terminal from the windows: nod ends them itself.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends whatever a command with an [ownGroup] has left running.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // else nothing is left
	}
}
