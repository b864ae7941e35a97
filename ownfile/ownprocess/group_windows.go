package ownprocess

import (
	"os/exec"
	"syscall"
)

// OwnGroup starts a command in its own process group, which a terminal's signals do not reach.
func OwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// EndGroup does nothing, because nod does not follow upgrades here.
func EndGroup(*exec.Cmd) {}
