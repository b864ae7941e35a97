//go:build unix

package ownprocess

import (
	"os/exec"
	"syscall"
)

// OwnGroup starts a command in its own process group, which a terminal's signals do not reach.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// EndGroup ends whatever is still running in the process group of a command with [OwnGroup].
func EndGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // else nothing is left
	}
}
