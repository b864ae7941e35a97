package app

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps the signals of a terminal from the windows: nod ends them itself.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// endGroup does nothing: nod follows no upgrade here.
func endGroup(*exec.Cmd) {}
